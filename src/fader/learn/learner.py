"""The contract of systems that learn.

A learner is a system with two more properties: `fit` and `is_fitted`. A fitted learner is the same value with what it
learned filled in, so that it can be written down and read back. It keeps of each query what training needs (`encode`),
and learns from that and the judgments alone. Knows nothing of how queries are cut into folds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, Self

import numpy as np

from fader.contexts.table import Contexts
from fader.errors import InputError, UsageError
from fader.learn.dataset import DatasetSource, QueryData, draw_candidates
from fader.learn.threads import Workers, in_parallel
from fader.measures import AveragePrecision, Judgments, judge
from fader.progress import Progress
from fader.rank.rerank import FirstStage
from fader.rank.system import F64, I64, System, View

PRECISION = AveragePrecision()
MOST_BAD = 2000  # bad candidates of a query that most learners are shown; they are tested on all
Measured = dict[tuple[int, float], dict[int, F64]]  # by alternative and lambda, and by group: AP of its queries


@dataclass(frozen=True)
class Example:
    """A query to learn from: what was kept of it, and its judgments, in the order of its candidates."""

    query: Any
    judgments: Judgments


class JudgedSource(DatasetSource, Protocol):
    """Judged queries of one collection, however they are matched and encoded."""

    @property
    def grades(self) -> Sequence[Mapping[Hashable, int]]: ...

    def contexts(self, i: int, view: View) -> Contexts:
        """The Contexts table of the i-th query."""
        ...

    def first_stage(self, i: int, cascade: Any) -> FirstStage | None:
        """What the first stage of a cascade leaves of the i-th query; None where only the table says it."""
        ...


class Learner(System):
    """A system that must be trained before it ranks.

    `learned` names the fields that training fills in. `values_of(encode(contexts))` of a fitted learner are the values
    by which it ranks, in the order of candidates.
    """

    @property
    @abstractmethod
    def is_fitted(self) -> bool:
        """Whether it can rank."""

    @abstractmethod
    def encode(self, contexts: Contexts) -> Any:
        """What training needs of a query, whatever was learned; has `entity`, the candidates' numbers."""

    @abstractmethod
    def take_candidates(self, query: Any, places: I64) -> Any:
        """The encoded query with some candidates only, given by their places in `entity`, ascending."""

    @property
    def encoding(self) -> Hashable:
        """Learners of the same encoding keep the same of a query."""
        return str(self)

    @abstractmethod
    def fit(self, examples: Sequence[Example], seed: int) -> Self:
        """The same system, trained; each example has a good and a bad candidate. Deterministic for a seed."""

    @abstractmethod
    def values_of(self, query: Any) -> F64:
        """Values of a query's candidates, by what was learned."""

    def prepare(
        self, source: JudgedSource, learners: Sequence[Any], seed: int, workers: Workers, progress: Progress
    ) -> Callable[[Sequence[I64]], Trainer]:
        """What fits alternatives of this learner to groups of queries; every query is encoded here, once.

        A learner with a quicker way, such as exact leave-one-out, gives a trainer of its own.
        """
        encodings = {learner.encoding: learner for learner in learners}

        def encode(i: int) -> dict[Hashable, Example]:
            table, grades = source.contexts(i, learners[0].view), source.grades[i]
            return {key: encode_example(one, table, grades, [seed, i]) for key, one in encodings.items()}

        kept = in_parallel(encode, range(len(source.ids)), workers, progress, "encoding contexts")
        examples = [[of_query[learner.encoding] for of_query in kept] for learner in learners]
        return partial(ExampleTrainer, learners, examples, seed)

    def finish(self, found: Any) -> tuple[Self, dict[str, Any]]:
        """The fitted system of what a trainer found, and what its model's provenance says of the fit."""
        return found, {}

    def check_fitted(self) -> None:
        """Refuse to rank before training."""
        if not self.is_fitted:
            raise UsageError(
                f"{self}: must be trained before it can rank; make a model with `fader train --system {self}` and give "
                "its file"
            )


def encode_example(learner: Learner, contexts: Contexts, grades: Mapping[Hashable, int], seed: Any) -> Example:
    """A query to learn from: all its good candidates, and of very many bad ones some that are drawn."""
    query = learner.encode(contexts)
    judgments = judge(query.entity, query.entity.tolist(), grades)
    places = draw_candidates(judgments, MOST_BAD, seed)
    if places.size == judgments.grades.size:
        return Example(query, judgments)
    return Example(learner.take_candidates(query, places), judgments.of(places))


@dataclass(frozen=True)
class Choice:
    """What inner validation found best: the number of the alternative, its lambda, mean AP of all that was tried."""

    candidate: int
    lam: float
    precision: float
    tried: dict[str, float]


@dataclass(frozen=True)
class Fold:
    """Queries to be tested by a model without the groups `left_out`, or each by a model of all other queries."""

    left_out: frozenset[int]
    choice: Choice
    tested: I64
    one_by_one: bool


@dataclass(frozen=True)
class Outcome:
    """A model that never saw a query; where all candidates were encoded, also that query and their values."""

    model: Any
    query: QueryData | None = None
    values: F64 | None = None

    @property
    def judgments(self) -> Judgments:
        assert self.query is not None
        return self.query.judgments

    @property
    def all_values(self) -> F64:
        """The values, where they are known."""
        assert self.values is not None
        return self.values


class Trainer(ABC):
    """Alternatives that are fitted to groups of queries; what cross-validation asks for."""

    splits_folds = False  # whether one-by-one folds are better run query by query

    def __init__(self, groups: Sequence[I64]) -> None:
        self.groups = groups

    def training(self, left_out: Iterable[int]) -> I64:
        """The queries of all other groups."""
        kept = [g for i, g in enumerate(self.groups) if i not in set(left_out)]
        return np.sort(np.concatenate(kept)) if kept else np.empty(0, dtype=np.int64)

    @property
    @abstractmethod
    def options(self) -> Sequence[Mapping[float, str]]:
        """Of each alternative, the values of lambda to choose among and what each choice is called."""

    @abstractmethod
    def validate(self, number: int, left_out: frozenset[int], on: Iterable[int]) -> Measured:
        """Average precision of the queries of some groups under the models of one alternative without `left_out`."""

    @abstractmethod
    def test(self, fold: Fold) -> list[tuple[int, Outcome]]:
        """An outcome for each tested query."""

    @abstractmethod
    def train(self, choice: Choice) -> Any:
        """The model of all queries."""

    @abstractmethod
    def describe(self, choice: Choice) -> dict[str, Any]:
        """A choice as reports show it."""


class ExampleTrainer(Trainer):
    """Fits of learners to encoded queries: `examples[a]` are all queries as alternative a keeps them."""

    splits_folds = True

    def __init__(
        self, learners: Sequence[Learner], examples: Sequence[Sequence[Example]], seed: int, groups: Sequence[I64]
    ) -> None:
        super().__init__(groups)
        self.learners, self.examples, self.seed = learners, examples, seed

    @property
    def options(self) -> list[dict[float, str]]:
        """An alternative has nothing more to choose."""
        return [{1.0: str(learner)} for learner in self.learners]

    def fit(self, candidate: int, queries: Iterable[int]) -> Learner:
        """An alternative trained on those of the queries that have good and bad candidates."""
        chosen = [self.examples[candidate][q] for q in queries]
        usable = [e for e in chosen if (e.judgments.grades > 0).any() and (e.judgments.grades <= 0).any()]
        if not usable:
            raise InputError("no query to train on has both a good and a bad candidate; check the judgments")
        return self.learners[candidate].fit(usable, self.seed)

    def validate(self, number: int, left_out: frozenset[int], on: Iterable[int]) -> Measured:
        model, examples = self.fit(number, self.training(left_out)), self.examples[number]

        def measure(q: int) -> float:
            return float(PRECISION.of(model.values_of(examples[q].query), examples[q].judgments))

        return {(number, 1.0): {g: np.array([measure(q) for q in self.groups[g]]) for g in on}}

    def test(self, fold: Fold) -> list[tuple[int, Outcome]]:
        every = np.arange(sum(g.size for g in self.groups))
        training = np.delete(every, fold.tested) if fold.one_by_one else self.training(fold.left_out)
        outcome = Outcome(self.fit(fold.choice.candidate, training))
        return [(int(q), outcome) for q in fold.tested]

    def train(self, choice: Choice) -> Learner:
        return self.fit(choice.candidate, range(sum(g.size for g in self.groups)))

    def describe(self, choice: Choice) -> dict[str, Any]:
        found = {"model": str(self.learners[choice.candidate])}
        return found | ({"validation AP": choice.precision} if choice.tried else {})
