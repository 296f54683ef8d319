"""Systems with free parameters, and systems that learn, each tested only on queries that had no say in it.

    free parameters    the alternative with the largest mean average precision on the training queries
    learners           fitted on the training queries; which alternative, by inner validation over groups of these

Learners see a query's good candidates and some thousand of its bad ones; whoever tests ranks them all. The folds and
groups are those of features x aggregator (`fader.learn.crossvalidate`). Knows nothing of storage, texts
or reports.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.contexts.table import Contexts
from fader.errors import InputError
from fader.learn.crossvalidate import Choice, Workers, check_folds, choose, cuts, in_parallel, parse_cv
from fader.learn.learner import Example, Learner
from fader.learn.threads import cores
from fader.measures import AveragePrecision, judge
from fader.progress import Progress, Silent

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
PRECISION = AveragePrecision()
MOST_BAD = 2000  # bad candidates of a query that learners are shown; they are tested on all


def best_for_each(precision: F64, cv: str | int, seed: int) -> I64:
    """For each query the alternative that is best on its training queries: `precision` is (alternatives, queries).

    Leave-one-out: all other queries. Of equal ones the first.
    """
    n, folds = precision.shape[1], parse_cv(cv)
    check_folds(n, folds)
    if folds is None:
        return np.array([_best_without(precision, np.array([q])) for q in range(n)], dtype=np.int64)
    outer, groups = cuts(n, folds, seed)
    best = np.empty(n, dtype=np.int64)
    for fold in outer:
        tested = np.concatenate([groups[g] for g in fold])
        best[tested] = _best_without(precision, tested)
    return best


def _best_without(precision: F64, tested: I64) -> int:
    """Tested queries are taken out before anything is added up: not even rounding may depend on them."""
    return int(np.delete(precision, tested, axis=1).sum(axis=1).argmax())


@dataclass(frozen=True)
class Learned:
    """For each query a trained learner that never saw it, and what was chosen in each fold."""

    models: list[Learner]
    choices: list[dict[str, Any]] = field(default_factory=list)
    fits: int = 0


@dataclass(frozen=True)
class Trainer:
    """Fits of learners. `examples[a]` are all queries as alternative a keeps them."""

    learners: Sequence[Learner]
    examples: Sequence[Sequence[Example]]
    groups: Sequence[I64]
    seed: int

    @property
    def options(self) -> list[dict[float, str]]:
        """An alternative has nothing more to choose."""
        return [{1.0: str(learner)} for learner in self.learners]

    def training(self, left_out: Iterable[int]) -> I64:
        """The queries of all other groups."""
        kept = [g for i, g in enumerate(self.groups) if i not in set(left_out)]
        return np.sort(np.concatenate(kept))

    def fitted(self, candidate: int, queries: Iterable[int]) -> Learner:
        """An alternative trained on those of the queries that have good and bad candidates."""
        chosen = [self.examples[candidate][q] for q in queries]
        usable = [e for e in chosen if (e.judgments.grades > 0).any() and (e.judgments.grades <= 0).any()]
        if not usable:
            raise InputError("no query to train on has both a good and a bad candidate; check the judgments")
        return self.learners[candidate].fit(usable, self.seed)

    def validated(self, number: int, left_out: frozenset[int], on: Iterable[int]) -> dict[tuple[int, float], Any]:
        model, examples = self.fitted(number, self.training(left_out)), self.examples[number]
        return {(number, 1.0): {g: np.array([_precision(model, examples[q]) for q in self.groups[g]]) for g in on}}


def _precision(model: Learner, example: Example) -> float:
    return float(PRECISION.of(model.values_of(example.query), example.judgments))


def example_of(
    learner: Learner, contexts: Contexts, grades: Mapping[Hashable, int], draw: np.random.Generator
) -> Example:
    """A query to learn from: all its good candidates, and of very many bad ones some that are drawn."""
    query = learner.encode(contexts)
    judgments = judge(query.entity, query.entity.tolist(), grades)
    bad = np.flatnonzero(judgments.grades <= 0)
    if bad.size <= MOST_BAD:
        return Example(query, judgments)
    places = np.sort(np.concatenate([np.flatnonzero(judgments.grades > 0), draw.choice(bad, MOST_BAD, replace=False)]))
    return Example(learner.take_candidates(query, places), judgments.of(places))


def cross_validate_learner(
    ids: Sequence[str], learners: Sequence[Learner], examples: Sequence[Sequence[Example]], cv: str | int,
    seed: int = 0, workers: Workers = 0, progress: Progress | None = None,
) -> Learned:  # fmt: skip
    """For every query a learner that was fitted without it."""
    progress, workers, folds = progress or Silent(), workers or cores(), parse_cv(cv)
    check_folds(len(ids), folds)
    outer, groups = cuts(len(ids), folds, seed)
    trainer = Trainer(learners, examples, groups, seed)
    choices = choose(trainer, outer, workers, progress)
    jobs = _jobs(trainer, outer, choices, one_by_one=folds is None)
    fitted = in_parallel(lambda job: trainer.fitted(job[0], job[1]), jobs, workers, progress, "training")
    models = {int(q): model for model, (_number, _training, tested) in zip(fitted, jobs, strict=True) for q in tested}
    described = [
        {"model": str(learners[c.candidate]), **({"validation AP": c.precision} if c.tried else {})} for c in choices
    ]
    return Learned([models[q] for q in range(len(ids))], described, len(jobs))


def _jobs(
    trainer: Trainer, outer: Sequence[frozenset[int]], choices: Sequence[Choice], one_by_one: bool
) -> list[tuple[int, I64, I64]]:
    """(alternative, training queries, test queries) of every fit."""
    jobs = []
    for fold, choice in zip(outer, choices, strict=True):
        tested = np.concatenate([trainer.groups[g] for g in fold])
        if one_by_one:
            every = np.arange(sum(g.size for g in trainer.groups))
            jobs += [(choice.candidate, np.delete(every, q), np.array([q])) for q in tested]
        else:
            jobs.append((choice.candidate, trainer.training(fold), tested))
    return jobs


def train_learner(
    ids: Sequence[str], learners: Sequence[Learner], examples: Sequence[Sequence[Example]], seed: int = 0,
    workers: int = 0, progress: Progress | None = None,
) -> tuple[Learner, Choice]:  # fmt: skip
    """The learner of all queries; which alternative, by validation over groups of them."""
    _outer, groups = cuts(len(ids), None, seed)
    trainer = Trainer(learners, examples, groups, seed)
    choice = choose(trainer, [frozenset()], workers or cores(), progress or Silent())[0]
    return trainer.fitted(choice.candidate, range(len(ids))), choice
