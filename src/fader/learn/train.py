"""Training: the weights that minimise loss + w.R w / (2 lambda^2) within their bounds.

Values that are linear in the weights, with the pairwise loss, make a convex problem whose Hessian is cheap: Newton's
method solves it in a few steps. Everything else is left to L-BFGS-B (Byrd et al., SIAM J. Sci. Comput. 16, 1995).
Under the policy `document` the mention that counts depends on the weights: its choice is refreshed with the weights
found, until it is stable or for a bounded number of rounds. Where the problem is not convex several starts are tried
and the best is kept. The seed determines everything. Knows nothing of cross-validation, queries' texts or storage.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy  # its subpackages load when they are first used
from numpy.typing import NDArray

from fader.aggregate.base import Aggregator
from fader.aggregate.mixture import Mixture
from fader.aggregate.softcutoff import SoftCutoff
from fader.aggregate.sum import Sum
from fader.errors import InputError, UsageError
from fader.learn.cutoff import fit_decay
from fader.learn.dataset import Dataset
from fader.learn.leaveoneout import knows_bounds, objective_of, problem_of, solve
from fader.learn.loss import Loss, check_loss
from fader.learn.mixing import fit_by_turns, fit_weights
from fader.learn.objective import EntityLevel, RowSums, Values, labels_of, values_of
from fader.learn.threads import one_blas_thread

F64 = NDArray[np.float64]
SMALLEST_LAMBDA, LARGEST_LAMBDA = 1e-6, 1e6
MOST_WEIGHTS = 600  # a Hessian of more costs more than the many steps that do without
SIZES = (1.0, 0.1, 0.01, 0.001, 1e-4)


def check_lambda(lam: float) -> None:
    """Refuse a lambda that is none."""
    if not SMALLEST_LAMBDA <= lam <= LARGEST_LAMBDA:
        raise UsageError(f"lambda must be a number from {SMALLEST_LAMBDA:.6f} to {LARGEST_LAMBDA:,.0f}, not {lam}")


@dataclass(frozen=True)
class FitSettings:
    """How to train; `lam` is the lambda of the regulariser, `bad` the most bad candidates of a query (0: all)."""

    loss: str = "pairwise"
    lam: float = 1.0
    judged_only: bool = False
    rounds: int = 3
    starts: int = 2
    seed: int = 0
    bad: int = 0
    iterations: int = 300
    tolerance: float = 1e-7

    def __post_init__(self) -> None:
        check_loss(self.loss)
        check_lambda(self.lam)
        if self.rounds < 1 or self.starts < 1 or self.iterations < 1:
            raise UsageError("rounds, starts and iterations must be 1 or more")
        if self.seed < 0 or self.bad < 0:
            name, value = ("seed", self.seed) if self.seed < 0 else ("bad", self.bad)
            raise UsageError(f"{name} must be 0 or more, not {value}")


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
    """loss(V(w)) + (w - w0).R (w - w0) / (2 lambda^2), with its gradient; w0 is 0 where no base is given."""

    def __init__(self, values: Values, loss: Loss, penalty: F64, base: F64 | None = None) -> None:
        self.values, self.loss, self.penalty, self.base = values, loss, penalty, base

    def __call__(self, w: F64) -> tuple[float, F64]:
        total, gradient = self.values.loss(w, self.loss)
        away = w if self.base is None else w - self.base
        pull = self.penalty @ away
        return total + 0.5 * float(away @ pull), gradient + pull


def minimise(objective: Objective, bounds: tuple[F64, F64], start: F64, settings: FitSettings) -> Found:
    """The weights that are best near one start: by Newton's method where it is exact and cheap, else by L-BFGS-B."""
    # The power of ten that is best: contexts may be one or a million, so may values.
    start, values = min((start * size for size in SIZES), key=lambda w: objective(w)[0]), objective.values
    small = start.size <= MOST_WEIGHTS
    if small and isinstance(values, EntityLevel) and objective.loss.name == "pairwise" and knows_bounds(bounds):
        problem = problem_of(values, objective.loss.labels, objective.penalty, bounds)
        solved = solve(problem, start, settings.tolerance, settings.iterations)
        return Found(solved.weights, objective_of(problem, solved.weights), solved.steps, solved.converged)
    return descend(objective, bounds, start, settings)


def descend(objective: Objective, bounds: tuple[F64, F64], start: F64, settings: FitSettings) -> Found:
    """L-BFGS-B, in variables scaled so that the regularised curvature is about one in each."""
    scale = _scale(objective)

    def evaluate_scaled(v: F64) -> tuple[float, F64]:
        total, gradient = objective(v * scale)
        return total, gradient * scale

    limits = list(zip(bounds[0] / scale, bounds[1] / scale, strict=True))
    options = {
        "maxiter": settings.iterations,
        "maxfun": 2 * settings.iterations,
        "maxcor": 20,
        "ftol": 1e-3 * settings.tolerance,
        "gtol": settings.tolerance,
    }
    with one_blas_thread():
        found: Any = scipy.optimize.minimize(
            evaluate_scaled, start / scale, jac=True, method="L-BFGS-B", bounds=limits, options=options
        )
    return Found(np.clip(found.x * scale, *bounds), float(found.fun), int(found.nit), found.status == 0)


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
    return sparse.squares(share, values.expand)


def fit(
    dataset: Dataset,
    aggregator: Aggregator,
    settings: FitSettings,
    weight: F64 | None = None,
    start: F64 | None = None,
    sums: RowSums | None = None,
) -> Fit:
    """Train on the queries that have a weight (all that have good and bad candidates by default).

    `sums` are what other fits on the same dataset summed.
    """
    labels = labels_of(dataset, settings.judged_only)
    if weight is not None:
        labels = labels.with_weights(labels.weight * weight)
    if not labels.weight.any():
        raise InputError("no query to train on has both a good and a bad candidate; check the judgments")
    loss = Loss(settings.loss, labels)
    if aggregator.constant:
        return Fit(dataset.features.start(), 0.0)
    if loss.has_rounds and start is None:  # objectives of different held places cannot be compared
        start = dataset.features.start()
    sums = sums or RowSums(dataset.features)
    begins = [start] if start is not None else _starts(dataset, aggregator, settings, labels.weight, sums)
    fits = [_rounds(dataset, aggregator, settings, loss, begin, sums) for begin in begins]
    best = min(fits, key=lambda f: f.objective)
    return replace(best, starts=[f.objective for f in fits])


def _rounds(
    dataset: Dataset, aggregator: Aggregator, settings: FitSettings, loss: Loss, start: F64, sums: RowSums
) -> Fit:
    """Choose the contexts that count, fit, choose again, until the choice stays."""
    penalty = dataset.features.penalty() / settings.lam**2
    bounds, weight = dataset.features.bounds(), loss.labels.weight
    found = Found(start, np.inf, 0, False)
    iterations, done, stable = 0, 0, False
    while done < settings.rounds and not stable:
        done += 1
        cells = dataset.features.expand(found.weights)  # queries that do not train are left as they are
        queries = (query.best(cells) if weight[q] else query for q, query in enumerate(dataset.queries))
        chosen = replace(dataset, queries=tuple(queries))
        values = values_of(chosen, aggregator, weight, sums)
        if loss.has_rounds:
            loss.hold(values.values(found.weights, weight))
        found = minimise(Objective(values, loss, penalty), bounds, found.weights, settings)
        iterations += found.iterations
        cells = dataset.features.expand(found.weights)
        stable = not loss.has_rounds and all(  # queries that train, and only they, have a say
            dataset.queries[q].best(cells).same_rows(chosen.queries[q]) for q in np.flatnonzero(weight)
        )
    return Fit(found.weights, found.objective, [], done, stable, iterations, found.converged)


def _starts(dataset: Dataset, aggregator: Aggregator, settings: FitSettings, weight: F64, sums: RowSums) -> list[F64]:
    """Where to begin: the feature map's own start; where the problem is not convex also the weights that are best for
    the sum, and drawn ones."""
    own = dataset.features.start()
    if aggregator.convex or settings.starts == 1:
        return [own]
    begins = [own, fit(dataset, Sum(), replace(settings, starts=1, rounds=1), weight, sums=sums).weights]
    draw = np.random.default_rng(settings.seed)
    while len(begins) < settings.starts:
        begins.append(own * draw.lognormal(0.0, 1.0, own.size))
    return begins[: settings.starts]


def fit_model(
    dataset: Dataset,
    aggregator: Aggregator,
    settings: FitSettings,
    weight: F64 | None = None,
    start: F64 | None = None,
    sums: RowSums | None = None,
) -> tuple[Fit, Aggregator]:
    """Weights, and the aggregator with what it learns itself: the soft cutoff's decay, for the weights of the sum;
    a mixture's weights, together with those of the features."""
    if isinstance(aggregator, Mixture):
        return fit_by_turns(
            aggregator,
            lambda mixture, begin: fit(dataset, mixture, settings, weight, begin, sums),
            lambda mixture, w: fit_weights(dataset, mixture, settings.loss, settings.judged_only, w, weight),
            start,
        )
    if not isinstance(aggregator, SoftCutoff):
        return fit(dataset, aggregator, settings, weight, start, sums), aggregator
    found = fit(dataset, Sum(), settings, weight, start, sums)
    return found, replace(aggregator, decay=_decay(dataset, aggregator, settings, found.weights, weight))


def _decay(
    dataset: Dataset, aggregator: SoftCutoff, settings: FitSettings, w: F64, weight: F64 | None
) -> tuple[float, ...]:
    labels = labels_of(dataset, settings.judged_only)
    cells = dataset.features.expand(w)
    problems = []
    for q in np.flatnonzero(labels.weight * (1.0 if weight is None else weight)):
        best = dataset.queries[q].best(cells)
        label = labels.label[labels.at[q] : labels.at[q + 1]]
        problems.append((aggregator.deciles(best.scores(cells), best.at), label > 0, label == 0))
    return tuple(float(d) for d in fit_decay(problems, settings.lam).decay)
