"""The second stage of a cascade trained near its base: the trainer behind `rerank` with a prior.

Each lambda of the second system is tried, and 0, which keeps the base: of equal ones the one that stays nearest. Models
begin at the weights of the last smaller lambda. Queries are those that the first stage leaves: all candidates count in
a ranking, the chosen ones have contexts and train. The first stage is never trained here, so what is kept of a query
does not depend on folds. With fewer than `FEW` queries that can train nothing can be validated: the smallest lambda is
taken as it is. Knows nothing of how queries are cut into folds or matched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from fader.learn.dataset import Dataset, QueryData
from fader.learn.feature_trainer import Trained
from fader.learn.learner import Choice, Example, Fold, Measured, Outcome, Trainer
from fader.learn.nearby import NearFitter
from fader.learn.train import Fit
from fader.measures import AveragePrecision, Judgments
from fader.rank.rerank import join_values
from fader.rank.system import F64, I64

FEW = 30
ROUGH, FINE = (40, 1e-4), (150, 1e-5)  # steps at most and tolerance: to choose lambda, and for the model itself
PRECISION = AveragePrecision()
Precision = Callable[[F64, Judgments], float]


class Cascade(Protocol):
    """What is trained: a cascade with the weights that its second stage begins with."""

    @property
    def second_system(self) -> Any: ...

    @property
    def prior(self) -> tuple[float, ...]: ...


class WarmTrainer(Trainer):
    """Fits of one cascade to queries as it encodes them."""

    def __init__(
        self,
        cascade: Cascade,
        examples: Sequence[Example],
        groups: Sequence[I64],
        precision: Precision = PRECISION.of,
    ) -> None:
        super().__init__(groups)
        self.examples, self.precision = examples, precision
        self.system = cascade.second_system
        self.base = np.array(cascade.prior, dtype=np.float64)
        chosen = (example.query.choose(example.judgments) for example in examples)
        queries = tuple(replace(each.query, judgments=each.judgments) for each in chosen)
        self.data = Dataset(self.system.feature_map, self.system.view, queries)
        self.fitter = NearFitter(self.data, self.system.entity_aggregator, self.base)

    @property
    def telling(self) -> int:
        """How many queries have a good and a bad candidate among the chosen ones."""
        return sum(is_telling(query.judgments) for query in self.data.queries)

    @property
    def options(self) -> list[dict[float, str]]:
        lambdas = sorted(self.system.lambdas)
        if self.telling < FEW:
            return [{lambdas[0]: f"lambda {lambdas[0]:g}"}]
        return [{0.0: "lambda 0: the base"} | {lam: f"lambda {lam:g}" for lam in lambdas}]

    def fit(self, lam: float, weight: F64, start: F64, rough: bool) -> Trained:
        """The weights of queries that have a weight."""
        system, (iterations, tolerance) = self.system, ROUGH if rough else FINE
        settings = replace(system.settings(lam or 1.0), iterations=iterations, tolerance=tolerance)
        aggregator = system.entity_aggregator
        found = Fit(self.base, 0.0)
        if lam:
            found = self.fitter.fit(settings, weight, start)
        return Trained(self.data.features, aggregator, found.weights, settings, self.data.view, found)

    def _weigh(self, training: Iterable[int]) -> F64:
        weight = np.zeros(len(self.data))
        weight[list(training)] = 1.0
        return weight

    def values(self, model: Trained, q: int) -> F64:
        """The values of all candidates of a query."""
        known = self.examples[q].query
        again = model.values(self.data.queries[q]) if known.chosen.size else np.empty(0)
        values: F64 = join_values(known.values, known.chosen, again)[known.places]
        return values

    def measure(self, model: Trained, q: int) -> float:
        """Average precision of a query."""
        return float(self.precision(self.values(model, q), self.examples[q].judgments))

    def validate(self, number: int, left_out: frozenset[int], on: Iterable[int]) -> Measured:
        weight, start, found = self._weigh(self.training(left_out)), self.base, {}
        for lam in self.options[number]:
            model = self.fit(lam, weight, start, rough=True)
            start = model.weights
            found[number, lam] = {g: np.array([self.measure(model, q) for q in self.groups[g]]) for g in on}
        return found

    def test(self, fold: Fold) -> list[tuple[int, Outcome]]:
        model = self.fit(fold.choice.lam, self._weigh(self.training(fold.left_out)), self.base, rough=False)
        if not fold.one_by_one:
            return [(int(q), self._outcome(model, int(q))) for q in fold.tested]
        found = []
        for q in fold.tested.tolist():  # from the weights found without its group
            weight = np.ones(len(self.data))
            weight[q] = 0.0
            found.append((q, self._outcome(self.fit(fold.choice.lam, weight, model.weights, rough=False), q)))
        return found

    def train(self, choice: Choice) -> Trained:
        return self.fit(choice.lam, np.ones(len(self.data)), self.base, rough=False)

    def describe(self, choice: Choice) -> dict[str, Any]:
        found: dict[str, Any] = {"lambda": choice.lam}
        return found | ({"validation AP": choice.precision} if choice.tried else {})

    def _outcome(self, model: Trained, q: int) -> Outcome:
        return Outcome(model, self._whole(q), self.values(model, q))

    def _whole(self, q: int) -> QueryData:
        """A query with all its candidates: those that were not chosen have no contexts."""
        known, judgments, own = self.examples[q].query, self.examples[q].judgments, self.data.queries[q]
        size = np.zeros(judgments.entity.size, dtype=np.int64)
        size[np.searchsorted(judgments.entity, own.entity)] = np.diff(own.at)
        assert known.places.size == judgments.entity.size
        return replace(own, at=np.append(0, np.cumsum(size)), judgments=judgments)


def is_telling(judgments: Judgments) -> bool:
    """Whether there is a good candidate and a bad one."""
    return bool((judgments.grades > 0).any() and (judgments.grades <= 0).any())
