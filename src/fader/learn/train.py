"""Training: the weights that minimise loss + w.R w / (2 lambda^2) within their bounds, by L-BFGS-B.

Under the policy `document` the mention that counts depends on the weights: its choice is refreshed with the weights
found, until it is stable or for a bounded number of rounds. Where the problem is not convex several starts are tried
and the best is kept. The seed determines everything. Knows nothing of cross-validation, queries' texts or storage.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from fader.aggregate.base import Aggregator
from fader.aggregate.softcutoff import SoftCutoff
from fader.aggregate.sum import Sum
from fader.errors import InputError, UsageError
from fader.features.base import FeatureMap
from fader.learn.cutoff import fit_decay
from fader.learn.dataset import Dataset
from fader.learn.loss import Loss, check_loss
from fader.learn.objective import EntityLevel, Values, labels_of, values_of
from fader.learn.onethread import one_blas_thread

F64 = NDArray[np.float64]
SMALLEST_LAMBDA, LARGEST_LAMBDA = 1e-6, 1e6
SIZES = (1.0, 0.1, 0.01, 0.001, 1e-4)


def check_lambda(lam: float) -> None:
    """Refuse a lambda that is none."""
    if not SMALLEST_LAMBDA <= lam <= LARGEST_LAMBDA:
        raise UsageError(f"lambda must be a number from {SMALLEST_LAMBDA:.6f} to {LARGEST_LAMBDA:,.0f}, not {lam}")


@dataclass(frozen=True)
class Settings:
    """How to train; `lam` is the lambda of the regulariser."""

    loss: str = "pairwise"
    lam: float = 1.0
    judged_only: bool = False
    rounds: int = 3
    starts: int = 2
    seed: int = 0
    iterations: int = 300
    tolerance: float = 1e-7

    def __post_init__(self) -> None:
        check_loss(self.loss)
        check_lambda(self.lam)
        if self.rounds < 1 or self.starts < 1 or self.iterations < 1:
            raise UsageError("rounds, starts and iterations must be 1 or more")
        if self.seed < 0:
            raise UsageError(f"seed must be 0 or more, not {self.seed}")


@dataclass(frozen=True)
class Fit:
    """Weights and how they were found: the objective of each start, rounds of refreshed choice, iterations."""

    weights: F64
    objective: float
    starts: list[float] = field(default_factory=list)
    rounds: int = 1
    stable: bool = True
    iterations: int = 0
    converged: bool = True


@dataclass(frozen=True)
class Found:
    """Where an optimiser stopped."""

    weights: F64
    objective: float
    iterations: int
    converged: bool


class Objective:
    """loss(V(w)) + w.R w / (2 lambda^2), with its gradient."""

    def __init__(self, values: Values, loss: Loss, penalty: F64) -> None:
        self.values, self.loss, self.penalty = values, loss, penalty

    def __call__(self, w: F64) -> tuple[float, F64]:
        total, gradient = self.values.loss(w, self.loss)
        pull = self.penalty @ w
        return total + 0.5 * float(w @ pull), gradient + pull


def minimise(objective: Objective, bounds: tuple[F64, F64], start: F64, settings: Settings) -> Found:
    """L-BFGS-B from one start, in variables scaled so that the regularised curvature is about one in each."""
    start = _sized(objective, start)
    scale = _scale(objective)

    def scaled(v: F64) -> tuple[float, F64]:
        total, gradient = objective(v * scale)
        return total, gradient * scale

    limits = list(zip(bounds[0] / scale, bounds[1] / scale, strict=True))
    options = {
        "maxiter": settings.iterations, "maxfun": 2 * settings.iterations, "maxcor": 20,
        "ftol": 1e-3 * settings.tolerance, "gtol": settings.tolerance,
    }  # fmt: skip
    with one_blas_thread():
        found: Any = minimize(scaled, start / scale, jac=True, method="L-BFGS-B", bounds=limits, options=options)
    return Found(np.clip(found.x * scale, *bounds), float(found.fun), int(found.nit), found.status == 0)


def _sized(objective: Objective, start: F64) -> F64:
    """The start times the power of ten that is best: contexts may be one or a million, so may values."""
    return min((start * size for size in SIZES), key=lambda w: objective(w)[0])


def _scale(objective: Objective) -> F64:
    """1/sqrt of the curvature along each weight: the penalty's, and for entity-level values that of the loss too."""
    curvature = np.diag(objective.penalty).copy()
    values = objective.values
    if isinstance(values, EntityLevel):
        curvature += _spread_of_columns(values, objective.loss)
    return 1.0 / np.sqrt(curvature)


def _spread_of_columns(values: EntityLevel, loss: Loss) -> F64:
    """About the loss's curvature along each weight: the mean square distance of good from bad entities' features.

    Soft hinge has a curvature of 1/4 at most; cells are taken for independent, which is enough for a scale.
    """
    labels, sparse = loss.labels, values.sparse
    of_query = np.repeat(np.arange(labels.weight.size), np.diff(labels.at))
    good = labels.label > 0
    count = np.bincount(of_query[good], minlength=labels.weight.size)
    others = np.diff(labels.at) - count
    share = np.where(good, 1.0 / np.maximum(count, 1)[of_query], 1.0 / np.maximum(others, 1)[of_query])
    share *= labels.weight[of_query] * 0.1
    return sparse.squares(share, expand_matrix(values.features))


def fit(
    dataset: Dataset,
    aggregator: Aggregator,
    settings: Settings,
    weight: F64 | None = None,
    start: F64 | None = None,
) -> Fit:
    """Train on the queries that have a weight (all that have good and bad candidates by default)."""
    labels = labels_of(dataset, settings.judged_only)
    if weight is not None:
        labels = labels.weighted(labels.weight * weight)
    if not labels.weight.any():
        raise InputError("no query to train on has both a good and a bad candidate; check the judgments")
    loss = Loss(settings.loss, labels)
    if aggregator.constant:
        return Fit(dataset.features.start(), 0.0)
    if loss.has_rounds and start is None:  # objectives of different held places cannot be compared
        start = dataset.features.start()
    begins = [start] if start is not None else _starts(dataset, aggregator, settings, labels.weight)
    fits = [_rounds(dataset, aggregator, settings, loss, begin) for begin in begins]
    best = min(fits, key=lambda f: f.objective)
    return replace(best, starts=[f.objective for f in fits])


def _rounds(dataset: Dataset, aggregator: Aggregator, settings: Settings, loss: Loss, start: F64) -> Fit:
    """Choose the contexts that count, fit, choose again, until the choice stays."""
    penalty = dataset.features.penalty() / settings.lam**2
    bounds = dataset.features.bounds()
    chosen = dataset.best(start)
    found = Found(start, np.inf, 0, False)
    iterations, done, stable = 0, 0, False
    while done < settings.rounds and not stable:
        done += 1
        values = values_of(chosen, aggregator)
        if loss.has_rounds:
            loss.hold(values.values(found.weights, loss.labels.weight))
        found = minimise(Objective(values, loss, penalty), bounds, found.weights, settings)
        iterations += found.iterations
        before, chosen = chosen, dataset.best(found.weights)
        stable = not loss.has_rounds and _same(before, chosen, loss.labels.weight)
    return Fit(found.weights, found.objective, [], done, stable, iterations, found.converged)


def _same(a: Dataset, b: Dataset, weight: F64) -> bool:
    """Whether the queries that train, and only they have a say, have the same rows."""
    return all(a.queries[q].same_rows(b.queries[q]) for q in np.flatnonzero(weight))


def _starts(dataset: Dataset, aggregator: Aggregator, settings: Settings, weight: F64) -> list[F64]:
    """Where to begin: the feature map's own start; where the problem is not convex also the weights that are best for
    the sum, and drawn ones."""
    own = dataset.features.start()
    if aggregator.convex or settings.starts == 1:
        return [own]
    begins = [own, fit(dataset, Sum(), replace(settings, starts=1, rounds=1), weight).weights]
    draw = np.random.default_rng(settings.seed)
    while len(begins) < settings.starts:
        begins.append(own * draw.lognormal(0.0, 1.0, own.size))
    return begins[: settings.starts]


def fit_model(
    dataset: Dataset, aggregator: Aggregator, settings: Settings, weight: F64 | None = None, start: F64 | None = None
) -> tuple[Fit, Aggregator]:
    """Weights, and the aggregator with what it learns itself: the soft cutoff's decay, for the weights of the sum."""
    if not isinstance(aggregator, SoftCutoff):
        return fit(dataset, aggregator, settings, weight, start), aggregator
    found = fit(dataset, Sum(), settings, weight, start)
    return found, replace(aggregator, decay=_decay(dataset, aggregator, settings, found.weights, weight))


def _decay(
    dataset: Dataset, aggregator: SoftCutoff, settings: Settings, w: F64, weight: F64 | None
) -> tuple[float, ...]:
    labels = labels_of(dataset, settings.judged_only)
    cells = dataset.features.expand(w)
    problems = []
    for q in np.flatnonzero(labels.weight * (1.0 if weight is None else weight)):
        best = dataset.queries[q].best(cells)
        label = labels.label[labels.at[q] : labels.at[q + 1]]
        problems.append((aggregator.deciles(best.scores(cells), best.at), label > 0, label == 0))
    return tuple(float(d) for d in fit_decay(problems, settings.lam).decay)


def expand_matrix(features: FeatureMap) -> F64:
    """`expand` as a matrix: (cells, weights)."""
    return np.stack([features.expand(row) for row in np.eye(features.size)], axis=1)
