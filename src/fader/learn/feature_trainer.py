"""Fits of features x aggregator to groups of queries: the trainer of our own family.

A candidate is tried with each lambda, from the strongest regulariser on, each fit starting at the weights of the last.
Leave-one-out is exact and quick where values are linear in the weights (`fader.learn.leaveoneout`); elsewhere each
query is left out by a fit that starts at the weights found without its group. Edges that are to be learned are learned
from the training queries of each fold. Knows nothing of how queries are cut into folds.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fader.aggregate.base import Aggregator
from fader.features.base import FeatureMap
from fader.learn.dataset import Dataset, DatasetSource, QueryData
from fader.learn.learner import Choice, Fold, Measured, Outcome, Trainer
from fader.learn.leaveoneout import Problem, knows_bounds, leave_one_out, polish, problem_of
from fader.learn.objective import EntityLevel, RowSums, labels_of
from fader.learn.settings import LAMBDAS
from fader.learn.train import Fit, FitSettings, fit_model
from fader.measures import AveragePrecision
from fader.rank.system import EVERY_CONTEXT, F64, I64, View

PRECISION = AveragePrecision()
# The projected gradient at which a leave-one-out fold counts as solved, relative to one query's pull.
EXACT = 1e-9


@dataclass(frozen=True)
class FeatureCandidate:
    """One way to make a model; `lambdas` are tried from the strongest regulariser on."""

    features: FeatureMap
    aggregator: Aggregator
    settings: FitSettings
    lambdas: tuple[float, ...] = LAMBDAS
    view: View = EVERY_CONTEXT

    def __str__(self) -> str:
        """Features x aggregator, with what is unusual about the contexts."""
        view = self.view
        unusual = "" if view.policy == EVERY_CONTEXT.policy else f", policy {view.policy}"
        unusual += f", window {view.window}" if view.window else ""
        unusual += f", top {view.top}" if view.top else ""
        unusual += "".join(f", {way}" for way in ("stem", "entities", "relax") if getattr(view, way))
        return f"{self.features} x {self.aggregator}{unusual}"


@dataclass(frozen=True)
class Trained:
    """A candidate with its lambda chosen, its edges fixed and its weights found."""

    features: FeatureMap
    aggregator: Aggregator
    weights: F64
    settings: FitSettings
    view: View
    fit: Fit

    def values(self, query: QueryData) -> F64:
        """What a query's entities are ranked by."""
        cells = self.features.expand(self.weights)
        best = query.best(cells)
        return self.aggregator.values(best.scores(cells), best.at)


class FeatureTrainer(Trainer):
    """Fits of candidates to judged queries."""

    def __init__(self, source: DatasetSource, candidates: Sequence[FeatureCandidate], groups: Sequence[I64]) -> None:
        super().__init__(groups)
        self.source, self.candidates = source, candidates
        self._sums: tuple[Dataset, RowSums] | None = None
        self._thin: tuple[Dataset, tuple[int, int], Dataset] | None = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy for another process knows the same, and has kept nothing."""
        return FeatureTrainer, (self.source, self.candidates, self.groups)

    def sums(self, data: Dataset) -> RowSums:
        """Sums over a dataset that all fits to it share; kept for the last dataset only."""
        last = self._sums
        if last is None or last[0] is not data:
            last = self._sums = (data, RowSums(data.features))
        return last[1]

    def to_train(self, data: Dataset, settings: FitSettings) -> Dataset:
        """A dataset with the candidates that train; kept for the last dataset only."""
        if settings.judged_only:
            return data
        with self._lock:
            drawn = (settings.bad, settings.seed)
            if self._thin is None or self._thin[0] is not data or self._thin[1] != drawn:
                self._thin = (data, drawn, data.sample_bad(*drawn))
            return self._thin[2]

    @property
    def options(self) -> list[dict[float, str]]:
        """The lambdas of each candidate."""
        return [{lam: f"{c}, lambda {lam:g}" for lam in c.lambdas} for c in self.candidates]

    def dataset(self, candidate: int, left_out: frozenset[int]) -> Dataset:
        """The dataset of a candidate; where no edges are learned it is the same for all folds."""
        c = self.candidates[candidate]
        if c.features.learns_edges:
            return self.source.dataset(c.features, c.view, self.training(left_out))
        return self.source.dataset(c.features, c.view, np.arange(len(self.source.ids)))

    def rough_fits(self, candidate: int, data: Dataset, left_out: frozenset[int]) -> Iterator[Trained]:
        """A model for each lambda, from the strongest regulariser on, each starting at the last one's weights."""
        c = self.candidates[candidate]
        start: F64 | None = None
        for lam in sorted(c.lambdas):
            model = self._fit(c, data, left_out, roughly(replace(c.settings, lam=lam)), start)
            start = model.weights
            yield model

    def fit(self, candidate: int, data: Dataset, left_out: frozenset[int], lam: float) -> Trained:
        """The model for one lambda, from all starts."""
        c = self.candidates[candidate]
        return self._fit(c, data, left_out, replace(c.settings, lam=lam), None)

    def _fit(
        self, c: FeatureCandidate, data: Dataset, left_out: frozenset[int], settings: FitSettings, start: F64 | None
    ) -> Trained:
        weight = np.zeros(len(data))
        weight[self.training(left_out)] = 1.0
        train = self.to_train(data, settings)
        found, aggregator = fit_model(train, c.aggregator, settings, weight, start, self.sums(train))
        return Trained(data.features, aggregator, found.weights, settings, c.view, found)

    def validate(self, number: int, left_out: frozenset[int], on: Iterable[int]) -> Measured:
        """Average precision of the queries of some groups under a candidate's models that left out `left_out`."""
        data = self.dataset(number, left_out)

        def measure(model: Trained, q: int) -> float:
            return PRECISION.of(model.values(data.queries[q]), data.queries[q].judgments)

        return {
            (number, model.settings.lam): {g: np.array([measure(model, q) for q in self.groups[g]]) for g in on}
            for model in self.rough_fits(number, data, left_out)
        }

    def describe(self, choice: Choice) -> dict[str, Any]:
        found = {"model": str(self.candidates[choice.candidate]), "lambda": choice.lam}
        return found | ({"validation AP": choice.precision} if choice.tried else {})

    def train(self, choice: Choice) -> Trained:
        """The model of all queries."""
        return self._fit_chosen(frozenset(), choice)[1]

    def _fit_chosen(self, left_out: frozenset[int], choice: Choice) -> tuple[Dataset, Trained]:
        data = self.dataset(choice.candidate, left_out)
        return data, self.fit(choice.candidate, data, left_out, choice.lam)

    def test(self, fold: Fold) -> list[tuple[int, Outcome]]:
        data, model = self._fit_chosen(fold.left_out, fold.choice)
        models: Iterable[tuple[int, Trained]] = ((int(q), model) for q in fold.tested)
        if fold.one_by_one:  # which mention counts was chosen without the whole group of a query
            linear = model.aggregator.linear and model.settings.loss == "pairwise"
            leave_each_out = _fast_folds if linear and knows_bounds(data.features.bounds()) else _slow_folds
            models = leave_each_out(self.to_train(data, model.settings), model, fold.tested)
        return [(q, Outcome(m, data.queries[q], m.values(data.queries[q]))) for q, m in models]


def roughly(settings: FitSettings) -> FitSettings:
    """Enough to see which candidate is better; the next lambda starts here, and chooses its mentions anew."""
    return replace(
        settings, starts=1, rounds=1, iterations=min(100, settings.iterations), tolerance=max(1e-4, settings.tolerance)
    )


def _fast_folds(data: Dataset, model: Trained, tested: I64) -> Iterator[tuple[int, Trained]]:
    problem = linear_problem(data.best(model.weights), model.aggregator, model.settings)
    solution = polish(problem, model.weights, EXACT)
    for queries, weights in leave_one_out(problem, solution, tested, EXACT):
        for q, w in zip(queries, weights.T, strict=True):
            yield int(q), replace(model, weights=np.ascontiguousarray(w))


def linear_problem(chosen: Dataset, aggregator: Aggregator, settings: FitSettings) -> Problem:
    """The convex problem of an aggregator that is linear in scores, for contexts that are chosen already."""
    labels, features = labels_of(chosen, settings.judged_only), chosen.features
    return problem_of(EntityLevel(chosen, aggregator), labels, features.penalty() / settings.lam**2, features.bounds())


def _slow_folds(data: Dataset, model: Trained, tested: I64) -> Iterator[tuple[int, Trained]]:
    """A fit for each query, from the weights found without its group and with the mentions that these chose."""
    chosen = data.best(model.weights)
    sums = RowSums(chosen.features)
    for q in tested:
        weight = np.ones(len(data))
        weight[q] = 0.0
        found, aggregator = fit_model(chosen, model.aggregator, model.settings, weight, model.weights, sums)
        yield int(q), replace(model, weights=found.weights, aggregator=aggregator, fit=found)
