"""Fast leave-one-query-out gives what training anew without each query gives, whatever lambda and bounds are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from fader.aggregate.base import Aggregator
from fader.features.base import FeatureMap
from fader.features.bias import Bias
from fader.features.combined import feature_map
from fader.learn.feature_trainer import linear_problem
from fader.learn.leaveoneout import (
    Problem,
    free_weights,
    gradients,
    hessian_of,
    leave_one_out,
    polish,
    pulls,
    residual,
    step,
    whole_hessian,
    without,
)
from fader.learn.train import FitSettings, fit
from fader.measures import STANDARD
from fader.registry import parse
from learn.cases import F64, Judged, best_of, data_of, drawn_queries, slow_labels, summed

EXACT = 1e-10
NOBODY = np.array([-1], dtype=np.int64)
SUM, AVERAGE, MNZ = (parse("fader.aggregate", name) for name in ("sum", "average", "mnz"))
MAP = "noprox+rectangle(3x4)"
QUERIES = drawn_queries(21, queries=13, rows=26)


def problem_of(
    queries: list[Judged], features: FeatureMap, lam: float, aggregator: Aggregator = SUM, policy: str = "mention"
) -> tuple[Problem, F64]:
    """The problem of all queries and weights near its solution."""
    data, settings = data_of(queries, features, policy), FitSettings(lam=lam, rounds=1)
    w = fit(data, aggregator, settings).weights
    return linear_problem(data.best(w), aggregator, settings), w


def folds_of(problem: Problem, w: F64) -> F64:
    """Weights without each query: (weights, queries)."""
    solution = polish(problem, w, EXACT)
    queries = np.arange(problem.labels.weight.size)
    found = dict(zip(queries.tolist(), [None] * queries.size, strict=True))
    for chunk, weights in leave_one_out(problem, solution, queries, EXACT):
        for q, column in zip(chunk.tolist(), weights.T, strict=True):
            assert found[q] is None
            found[q] = column
    return np.stack([found[q] for q in queries.tolist()], axis=1)


def off(problem: Problem, w: F64, left_out: NDArray[np.int64]) -> float:
    """How far the folds are from the conditions of Karush, Kuhn and Tucker."""
    assert (w[~problem.free] >= 0).all()
    slope = gradients(problem, w, left_out)
    return float(np.abs(residual(w, slope, problem.free) / pulls(problem)[:, None]).max())


@pytest.mark.parametrize("lam", [0.03, 1.0, 30.0])
def test_every_fold_is_a_cold_refit(lam: float) -> None:
    """Weights and objective to 1e-5, measures of the left-out query to 1e-6, against scipy on vectors written out."""
    features = feature_map(MAP)
    problem, w = problem_of(QUERIES, features, lam)
    folds = folds_of(problem, w)
    matrices = [summed(q, features, w, "mention") for q in QUERIES]
    labels, penalty = [slow_labels(q) for q in QUERIES], features.penalty() / lam**2
    data = data_of(QUERIES, features, "mention")
    for q in range(len(QUERIES)):
        others = [i for i in range(len(QUERIES)) if i != q]
        part = ([matrices[i] for i in others], [labels[i] for i in others])
        least, cold = best_of(*part, "pairwise", penalty, features.start())
        fast = folds[:, q]
        assert fast == pytest.approx(cold, rel=1e-5, abs=1e-5 * np.abs(cold).max())
        again, _w = best_of(*part, "pairwise", penalty, fast)
        assert again == pytest.approx(least, rel=1e-9)
        judgments = data.queries[q].judgments
        for measure in STANDARD:
            one, two = (measure.of(np.round(matrices[q] @ v, 4), judgments) for v in (fast, cold))
            assert one == pytest.approx(two, abs=1e-6), (q, measure)


@pytest.mark.parametrize("lam", [0.3, 3.0])
def test_folds_with_weights_without_bounds(lam: float) -> None:
    """Some weights free, some from 0 on: the same as scipy, and some free ones are below 0."""
    features, queries = feature_map(MAP), QUERIES[:5]
    problem, w = problem_of(queries, features, lam)
    free = np.arange(features.size) % 2 == 0
    problem = replace(problem, free=free)
    folds = folds_of(problem, w)
    matrices, labels = [summed(q, features, w, "mention") for q in queries], [slow_labels(q) for q in queries]
    for q in range(len(queries)):
        others = [i for i in range(len(queries)) if i != q]
        _least, cold = best_of(
            [matrices[i] for i in others], [labels[i] for i in others], "pairwise", features.penalty() / lam**2,
            features.start(), free.tolist(),
        )  # fmt: skip
        assert folds[:, q] == pytest.approx(cold, rel=1e-5, abs=2e-5 * np.abs(cold).max())
    assert (folds[free] < 0).any()
    assert (folds[~free] == 0).any()


@pytest.mark.parametrize("count", [2, 3, 5, 12])
@pytest.mark.parametrize("lam", [0.01, 3.0, 1000.0])
@pytest.mark.parametrize("text", [MAP, "noprox+rectangle(5x6,regulariser=smooth)", "noprox+grid(5x6)"])
@pytest.mark.parametrize("aggregator", [SUM, MNZ, AVERAGE], ids=str)
def test_folds_are_solved_however_far_they_are_from_the_whole(
    count: int, lam: float, text: str, aggregator: Aggregator
) -> None:
    """Few queries and hardly a regulariser: each fold is far from the common solution, and solved all the same."""
    problem, w = problem_of(drawn_queries(2, count), feature_map(text), lam, aggregator, "document")
    folds = folds_of(problem, w)
    assert off(problem, folds, np.arange(count)) <= EXACT


def test_polishing_reaches_the_conditions_of_an_optimum_from_anywhere() -> None:
    """No projected gradient is left, from the start, from 0, from far off and from below the bounds."""
    features = feature_map(MAP)
    problem, w = problem_of(QUERIES, features, 1.0)
    random = np.random.default_rng(1)
    begins = [w, np.zeros(w.size), 50 * random.exponential(size=w.size), -np.ones(w.size)]
    found = [polish(problem, begin, EXACT) for begin in begins]
    for one in found:
        assert off(problem, one[:, None], NOBODY) <= EXACT
        assert one == pytest.approx(found[0], rel=1e-7, abs=1e-8)
    assert (found[0] == 0).any()
    assert (found[0] > 0).any()


def test_nothing_is_worth_anything_where_judgments_say_so() -> None:
    """All weights at 0 are a solution like any other: here every bad entity has more of everything."""
    features = feature_map("noprox(use=constant)")
    queries = []
    for query in QUERIES[:4]:
        size = {int(e): int((query.columns.entity == e).sum()) for e in np.unique(query.columns.entity)}
        least = min(size.values())
        queries.append(replace(query, grades={e: int(n == least) for e, n in size.items()}))
    problem, w = problem_of(queries, features, 1.0)
    assert polish(problem, w, EXACT).tolist() == [0.0]
    assert folds_of(problem, w).tolist() == [[0.0] * 4]


def test_a_query_that_does_not_train_leaves_the_common_solution() -> None:
    """Left out or not, it has no part in it."""
    queries = [*QUERIES[:4], replace(QUERIES[4], grades={"nowhere": 1}), *QUERIES[5:8]]
    problem, w = problem_of(queries, feature_map(MAP), 1.0)
    folds = folds_of(problem, w)
    assert folds[:, 4].tolist() == polish(problem, w, EXACT).tolist()
    assert (folds[:, 3] != folds[:, 4]).any()


def test_the_hessian_is_that_of_the_gradient() -> None:
    """Against central differences: of the whole, and of each query, which is what leaving it out takes away."""
    features = feature_map(MAP)
    problem, w = problem_of(QUERIES[:5], features, 1.0)
    w = w + 0.01
    queries, step_size = np.array([-1, 0, 1, 2, 3, 4]), 1e-6
    ahead, behind = (
        np.stack([gradients(problem, (w + s * unit)[:, None].repeat(6, axis=1), queries) for unit in np.eye(w.size)])
        for s in (step_size, -step_size)
    )
    numeric = (ahead - behind) / (2 * step_size)  # [weight moved, weight, fold]
    whole = whole_hessian(problem, w)
    size = np.abs(whole).max()
    assert numeric[:, :, 0] == pytest.approx(whole, rel=1e-5, abs=1e-8 * size)
    for q in range(5):
        own = hessian_of(problem, w, q)
        assert numeric[:, :, 1 + q] == pytest.approx(whole - own, rel=1e-5, abs=1e-8 * size)
        assert whole_hessian(without(problem, q), w) == pytest.approx(whole - own, rel=1e-9, abs=1e-12 * size)
        assert np.linalg.eigvalsh(own)[0] >= -1e-12 * size


def test_the_gradient_is_that_of_training() -> None:
    """Against the sum of dense pairs; a fold's is without its query."""
    features = feature_map(MAP)
    problem, w = problem_of(QUERIES[:5], features, 0.5)
    matrices, labels = [summed(q, features, w, "mention") for q in QUERIES[:5]], [slow_labels(q) for q in QUERIES[:5]]
    of_query = []
    for x, label in zip(matrices, labels, strict=True):
        y, total = np.array(label), np.zeros(w.size)
        for g in np.flatnonzero(y > 0):
            for b in np.flatnonzero(y == 0):
                apart = x[b] - x[g]
                total += apart / (1 + np.exp(-1 - apart @ w))
        of_query.append(total / ((y > 0).sum() * (y == 0).sum()))
    found = gradients(problem, np.stack([w, w], axis=1), np.array([-1, 2]))
    whole = sum(of_query) + features.penalty() @ w / 0.25
    assert found[:, 0] == pytest.approx(whole, rel=1e-9, abs=1e-9)
    assert found[:, 1] == pytest.approx(whole - of_query[2], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_a_step_solves_its_quadratic_problem(seed: int) -> None:
    """z minimises gradient.(z-w) + (z-w).H(z-w)/2 within the bounds: the conditions of an optimum hold at z."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 12))
    a = random.normal(size=(n, n))
    hessian = a.T @ a + 0.01 * np.eye(n)
    free = random.random(n) < 0.3
    w = np.where(free, random.normal(size=n), random.exponential(size=n) * (random.random(n) < 0.5))
    gradient = 3 * random.normal(size=n)
    z = step(hessian, w, gradient, free)
    slope = gradient + hessian @ (z - w)
    assert (z[~free] >= 0).all()
    assert np.where((z <= 0) & ~free, np.minimum(slope, 0), slope) == pytest.approx(np.zeros(n), abs=1e-8)


def test_a_hessian_that_rounding_made_indefinite_is_still_stepped_with() -> None:
    """Features of a size that leaves nothing of the regulariser: a finite step, no error."""
    x = np.array([1e9, 1e9, 1.0])
    hessian = np.outer(x, x) + 1e-9 * np.eye(3)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(hessian)
    z = step(hessian, np.ones(3), -x, np.zeros(3, dtype=bool))
    assert np.isfinite(z).all()
    assert (z >= 0).all()


def test_only_bounds_at_0_are_known() -> None:
    """Weights from 0 on, or free; a map with another bound must take the slow way."""
    assert free_weights(feature_map(MAP).bounds()).tolist() == [False] * 17
    with pytest.raises(ValueError, match="free or not negative"):
        free_weights(Bias().bounds())
