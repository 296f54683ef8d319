"""Exact leave-one-query-out for values that are linear in the weights, without refitting every fold from nothing.

With the pairwise loss the objective F(w) = sum_q L_q(w) + w.R w/(2 lambda^2) is convex, and the fold without query q
has F - L_q. From the solution of all queries a few Newton steps solve a fold: the Hessian stays that of the common
solution less the query's own part, corrected by what each step shows of it (BFGS; Nocedal & Wright, "Numerical
Optimization", 2006, 6.1), and bounds are kept by solving each step's quadratic problem within them. Folds go side by
side, so that each entity's cells are read once for all of them. A fold whose projected gradient does not halve with
every step is solved by itself, with its own Hessians and shortened steps. It ends when the projected gradient is as
small as asked for: the answer is that of a refit. Knows nothing of contexts, measures or the choice of lambda.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy  # its subpackages load when they are first used
from numpy.typing import NDArray

from fader.kernel import inline_kernel, kernel
from fader.learn.loss import Labels, Loss
from fader.learn.objective import EntityLevel, Sparse
from fader.learn.threads import one_blas_thread

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
SIDE_BY_SIDE = 32
MOST_HESSIANS = 1 << 25  # numbers that the Hessians of folds side by side have in all
MOST_STEPS = 100
SHORTEST = 1e-12
ROUNDING = 1e-13  # of an objective, relative
NOBODY = np.array([-1], dtype=np.int64)
# e^HELD is a double, and a pair with one value NEAR a centre and one HELD from it has a sigmoid of 0 or 1 in doubles.
HELD, NEAR = 700.0, 650.0


@dataclass(frozen=True, slots=True)
class Problem:
    """The whole objective: cells of entities, labels, the map from weights to cells, penalty; bounds are 0 or none."""

    sparse: Sparse
    labels: Labels
    expand: F64  # (cells, weights)
    penalty: F64
    free: NDArray[np.bool_]  # weights without a bound


@inline_kernel
def _curvature(a: float) -> Any:
    """The soft hinge's second derivative, stable."""
    z = math.exp(-abs(a))
    return z / ((1.0 + z) * (1.0 + z))


@kernel
def _largest(at: I64, first: int, last: int) -> Any:
    """Entities of the query that has most."""
    largest = 0
    for q in range(first, last):
        largest = max(largest, at[q + 1] - at[q])
    return largest


@kernel
def _write_rows(indptr: I64, indices: I32, data: F64, start: int, stop: int, place: I64, room: F64) -> Any:
    """The rows of one query as a matrix, laid in `room`, with a column for each cell that is in use; these cells.

    `place` is the column of a cell, -1 for all before and after.
    """
    used = np.empty(place.size, dtype=np.int64)
    columns = 0
    for k in range(indptr[start], indptr[stop]):
        if place[indices[k]] < 0:
            place[indices[k]] = columns
            used[columns] = indices[k]
            columns += 1
    rows = room[: (stop - start) * columns].reshape((stop - start, columns))
    rows[:] = 0.0
    for e in range(start, stop):
        for k in range(indptr[e], indptr[e + 1]):
            rows[e - start, place[indices[k]]] = data[k]
    for i in range(columns):
        place[used[i]] = -1
    return rows, used[:columns]


@kernel
def _reach(values: F64, label: I32, centre: F64, reach: F64) -> None:
    """e^(centre - 1 - V(b)) of the bad entities, within what doubles can hold."""
    for b in range(label.size):
        if label[b] == 0:
            for f in range(centre.size):
                reach[b, f] = math.exp(min(max(centre[f] - 1.0 - values[b, f], -HELD), HELD))


@kernel
def _norm(label: I32, weight: float) -> Any:
    """The weight of a pair, 0 where there is none."""
    good, bad = 0, 0
    for e in range(label.size):
        good += label[e] > 0
        bad += label[e] == 0
    return weight / (float(good) * float(bad)) if good > 0 and bad > 0 else 0.0


@kernel
def _pull(values: F64, label: I32, norm: float, reach: F64, pull: F64) -> None:
    """dL/dV of one query for each fold, in `pull`.

    The sigmoid of 1 + V(b) - V(g) is 1 / (1 + e^(c-1-V(b)) e^(V(g)-c)): one exponential per entity, not per pair. The
    centre c is the value of a good entity, another one where the next is too far from it. A bad one may be anywhere:
    beyond the range of doubles its sigmoid is 0 or 1 whatever it is exactly.
    """
    folds = values.shape[1]
    centre, factor, total = np.full(folds, np.inf), np.empty(folds), np.empty(folds)
    pull[:] = 0.0
    for g in range(label.size):
        if label[g] <= 0:
            continue
        if not np.abs(values[g] - centre).max() < NEAR:
            centre[:] = values[g]
            _reach(values, label, centre, reach)
        for f in range(folds):
            factor[f] = math.exp(values[g, f] - centre[f])
            total[f] = 0.0
        for b in range(label.size):
            if label[b] == 0:
                for f in range(folds):
                    s = np.divide(norm, 1.0 + reach[b, f] * factor[f])  # unlike `/`, it does not look for 0
                    pull[b, f] += s
                    total[f] += s
        for f in range(folds):
            pull[g, f] -= total[f]


@kernel
def _add_gradients(
    indptr: I64,
    indices: I32,
    data: F64,
    at: I64,
    label: I32,
    weight: F64,
    first: int,
    last: int,
    left_out: I64,
    cells: F64,
    out: F64,
) -> None:
    """Gradients by cell of the losses of some queries, but for each fold that of the query it leaves out."""
    most, folds = _largest(at, first, last), cells.shape[1]
    room, place = np.empty(most * cells.shape[0]), np.full(cells.shape[0], -1)
    reach, value_room, pull_room = np.empty((most, folds)), np.empty(most * folds), np.empty(most * folds)
    for q in range(first, last):
        start, stop = at[q], at[q + 1]
        norm = _norm(label[start:stop], weight[q])
        if norm == 0.0:
            continue
        rows, used = _write_rows(indptr, indices, data, start, stop, place, room)
        values = value_room[: (stop - start) * folds].reshape((stop - start, folds))
        pull = pull_room[: (stop - start) * folds].reshape((stop - start, folds))
        np.dot(rows, cells[used], values)
        _pull(values, label[start:stop], norm, reach, pull)
        for f in range(folds):
            if left_out[f] == q:
                pull[:, f] = 0.0
        of_query = np.dot(rows.T, pull)
        for i in range(used.size):
            for f in range(folds):
                out[used[i], f] += of_query[i, f]


@kernel
def _add_hessians(
    indptr: I64, indices: I32, data: F64, at: I64, label: I32, weight: F64, first: int, last: int, cells: F64, out: F64
) -> None:
    """Hessian by cell of the losses of some queries: sum over pairs of s' (x_b - x_g)(x_b - x_g)'.

    = sum_e r_e x_e x_e' - sum_g (y_g x_g' + x_g y_g'),  r_e = sum of s' over the pairs of e,  y_g = sum_b s' x_b
    """
    room = np.empty(_largest(at, first, last) * cells.size)
    place = np.full(cells.size, -1)
    for q in range(first, last):
        start, stop = at[q], at[q + 1]
        mine = label[start:stop]
        norm = _norm(mine, weight[q])
        if norm == 0.0:
            continue
        rows, used = _write_rows(indptr, indices, data, start, stop, place, room)
        values, good = np.dot(rows, cells[used]), np.flatnonzero(mine > 0)
        pair, y, curve = np.zeros(mine.size), np.empty((good.size, used.size)), np.zeros((mine.size, 1))
        for i in range(good.size):
            for b in range(mine.size):
                if mine[b] == 0:
                    pair[b] = norm * _curvature(1.0 + values[b] - values[good[i]])
                    curve[b, 0] += pair[b]
                    curve[good[i], 0] += pair[b]
            y[i] = np.dot(pair, rows)
        of_query = np.dot(rows.T, curve * rows)
        cross = np.dot(y.T, rows[good])
        for i in range(used.size):
            for j in range(used.size):
                out[used[i], used[j]] += of_query[i, j] - cross[i, j] - cross[j, i]


def _hessian(problem: Problem, w: F64, first: int, last: int) -> F64:
    s, labels = problem.sparse, problem.labels
    out = np.zeros((s.cells, s.cells))
    cells = problem.expand @ w
    _add_hessians(s.indptr, s.indices, s.data, s.at, labels.label, labels.weight, first, last, cells, out)
    return problem.expand.T @ out @ problem.expand


def hessian_of(problem: Problem, w: F64, query: int) -> F64:
    """Hessian of one query's loss."""
    return _hessian(problem, w, query, query + 1)


def whole_hessian(problem: Problem, w: F64) -> F64:
    """Hessian of the whole objective."""
    return _hessian(problem, w, 0, problem.labels.weight.size) + problem.penalty


def _slopes(problem: Problem, w: F64, left_out: I64, first: int, last: int) -> F64:
    s, labels = problem.sparse, problem.labels
    out = np.zeros((s.cells, w.shape[1]))
    cells = np.ascontiguousarray(problem.expand @ w)
    _add_gradients(s.indptr, s.indices, s.data, s.at, labels.label, labels.weight, first, last, left_out, cells, out)
    return problem.expand.T @ out


def gradient_of(problem: Problem, w: F64, query: int) -> F64:
    """Gradient of one query's loss."""
    return _slopes(problem, w[:, None], NOBODY, query, query + 1)[:, 0]


def gradients(problem: Problem, w: F64, left_out: I64) -> F64:
    """Gradient of each fold's objective: columns of `w` are folds, `left_out` their queries (-1: none)."""
    return _slopes(problem, w, left_out, 0, problem.labels.weight.size) + problem.penalty @ w


def step(hessian: F64, w: F64, gradient: F64, free: NDArray[np.bool_]) -> F64:
    """The weights z that minimise gradient.(z-w) + (z-w).H(z-w)/2 with z >= 0 where there is a bound.

    The bounds at work are guessed to be those at w; where that guess fails the problem is solved by non-negative least
    squares on the Cholesky factor.
    """
    moving = free | (w > 0) | (gradient < 0)
    z = w.copy()
    z[~moving] = 0.0
    part = hessian[np.ix_(moving, moving)]
    z[moving] = w[moving] - scipy.linalg.cho_solve((_factor(part), False), gradient[moving])
    slope = gradient + hessian @ (z - w)
    if (z[~free] >= 0).all() and (slope[~moving] >= -1e-12 * np.abs(gradient).max(initial=1.0)).all():
        return z
    return _solve_bounded(hessian, w, gradient, free)


def _factor(hessian: F64) -> F64:
    """U with U'U = H; where rounding has made H indefinite, of one with a slightly larger diagonal."""
    try:
        return np.asarray(scipy.linalg.cholesky(hessian))
    except scipy.linalg.LinAlgError:
        return np.asarray(scipy.linalg.cholesky(hessian + 1e-10 * np.diag(np.diag(hessian))))


def _solve_bounded(hessian: F64, w: F64, gradient: F64, free: NDArray[np.bool_]) -> F64:
    """|U z - t|^2 with U'U = H; a free weight is the difference of two that are not negative."""
    upper = _factor(hessian)
    target = upper @ w - scipy.linalg.solve_triangular(upper, gradient, trans="T")
    columns = np.hstack([upper, -upper[:, free]])
    found, _rest = scipy.optimize.nnls(columns, target, maxiter=50 * columns.shape[1])
    z: F64 = found[: w.size].copy()
    z[free] -= found[w.size :]
    return z


def residual(w: F64, gradient: F64, free: NDArray[np.bool_]) -> F64:
    """The projected gradient, a column a fold: 0 at the solution."""
    at_bound = (w <= 0) & ~free[:, None]
    return np.where(at_bound, np.minimum(gradient, 0.0), gradient)


@kernel
def _largest_cells(indptr: I64, indices: I32, data: F64, at: I64, weight: F64, out: F64) -> None:
    for q in range(weight.size):
        if weight[q] != 0.0:
            for k in range(indptr[at[q]], indptr[at[q + 1]]):
                out[indices[k]] = max(out[indices[k]], abs(data[k]))


def pulls(problem: Problem) -> F64:
    """About the most that one query can pull at each weight, 1 at least: what a gradient is large or small against."""
    s, largest = problem.sparse, np.zeros(problem.sparse.cells)
    _largest_cells(s.indptr, s.indices, s.data, s.at, problem.labels.weight, largest)
    return np.maximum(1.0, np.abs(problem.expand).T @ largest)


def without(problem: Problem, query: int) -> Problem:
    """The problem of the fold that leaves out a query."""
    weight = problem.labels.weight.copy()
    weight[query] = 0.0
    return replace(problem, labels=problem.labels.with_weights(weight))


@dataclass(frozen=True, slots=True)
class Solved:
    """Where Newton's method stopped, and whether the gradient was small enough there, or as small as can be."""

    weights: F64
    steps: int
    converged: bool


def polish(problem: Problem, w: F64, tolerance: float) -> F64:
    """The exact solution from any weights."""
    return solve(problem, w, tolerance).weights


def solve(problem: Problem, w: F64, tolerance: float, most_steps: int = MOST_STEPS) -> Solved:
    """Full Newton steps from any weights, each shortened until the objective falls enough.

    It ends where the projected gradient is below the tolerance, relative to `pulls`, or as small as rounding allows.
    """
    with one_blas_thread():  # matrices of one query are too small for the threads of BLAS
        return _solve(problem, w, tolerance, most_steps)


def _solve(problem: Problem, w: F64, tolerance: float, most_steps: int) -> Solved:
    pull = pulls(problem)
    w = np.where(problem.free, w, np.maximum(w, 0.0))
    last, fall, steps = np.inf, np.inf, 0
    while True:
        slope = gradients(problem, w[:, None], NOBODY)[:, 0]
        size = np.abs(residual(w[:, None], slope[:, None], problem.free)[:, 0] / pull).max()
        if size <= tolerance or (fall <= ROUNDING and size > 0.5 * last):
            return Solved(w, steps, True)
        if steps == most_steps:
            return Solved(w, steps, False)
        last, steps = size, steps + 1
        target = step(whole_hessian(problem, w), w, slope, problem.free)
        w, fall = _shorten_step(problem, w, target, slope)


def objective_of(problem: Problem, w: F64) -> float:
    """The loss of all queries and the penalty."""
    loss = Loss("pairwise", problem.labels)
    values = problem.sparse.times(problem.expand @ w, problem.labels.weight)
    return loss(values)[0] + 0.5 * float(w @ problem.penalty @ w)


def _shorten_step(problem: Problem, w: F64, target: F64, slope: F64) -> tuple[F64, float]:
    """As far towards the target as the objective falls by a share of what its slope says (Armijo), and that fall."""
    here, fall, share = objective_of(problem, w), float(slope @ (w - target)), 1.0
    rounding = ROUNDING * max(1.0, abs(here))
    while share > SHORTEST:
        tried = w + share * (target - w)
        if objective_of(problem, tried) <= here - 1e-4 * share * fall + rounding:
            return tried, fall / max(1.0, abs(here))
        share *= 0.5
    return w, 0.0


def update_hessian(hessian: F64, moved: F64, change: F64) -> F64:
    """The Hessian corrected so that it maps a move to the change of slope that came of it (the BFGS update)."""
    curve, image = float(moved @ change), hessian @ moved
    known = float(moved @ image)
    if curve <= ROUNDING * known or known <= 0.0:
        return hessian
    return hessian + np.outer(change, change / curve) - np.outer(image, image / known)


@dataclass(frozen=True, slots=True)
class _Whole:
    """The solution of all queries and what is known there; `pull` is that of `pulls`."""

    w: F64
    slope: F64
    hessian: F64
    pull: F64


def leave_one_out(problem: Problem, solution: F64, queries: I64, tolerance: float) -> Iterator[tuple[I64, F64]]:
    """Weights without each of some queries, some folds at a time: (queries, weights with a column a fold)."""
    with one_blas_thread():  # matrices of one query are too small for the threads of BLAS
        slope = gradients(problem, solution[:, None], NOBODY)[:, 0]
        whole = _Whole(solution, slope, whole_hessian(problem, solution), pulls(problem))
    together = max(1, min(SIDE_BY_SIDE, MOST_HESSIANS // solution.size**2))
    for first in range(0, queries.size, together):
        chunk = queries[first : first + together]
        with one_blas_thread():
            folds = _folds(problem, whole, chunk, tolerance)
        yield chunk, folds


def _folds(problem: Problem, whole: _Whole, queries: I64, tolerance: float) -> F64:
    w = np.repeat(whole.w[:, None], queries.size, axis=1)
    slope = whole.slope[:, None] - np.stack([gradient_of(problem, whole.w, int(q)) for q in queries], axis=1)
    hessians = [whole.hessian - hessian_of(problem, whole.w, int(q)) for q in queries]
    better, last = w.copy(), np.full(queries.size, np.inf)
    moving = np.flatnonzero(problem.labels.weight[queries] != 0)
    while True:
        sizes = np.abs(residual(w, slope, problem.free) / whole.pull[:, None]).max(axis=0)
        moving = moving[~(sizes[moving] <= tolerance)]
        for f in moving[~(sizes[moving] <= 0.5 * last[moving])]:  # the Hessian at hand is too far off
            w[:, f] = polish(without(problem, int(queries[f])), better[:, f], tolerance)
        moving = moving[sizes[moving] <= 0.5 * last[moving]]
        if not moving.size:
            return w
        better[:, moving], last[moving], before = w[:, moving], sizes[moving], slope[:, moving]
        for f in moving:
            w[:, f] = step(hessians[f], w[:, f], slope[:, f], problem.free)
        slope[:, moving] = gradients(problem, w[:, moving], queries[moving])
        for f, change in zip(moving, (slope[:, moving] - before).T, strict=True):
            hessians[f] = update_hessian(hessians[f], w[:, f] - better[:, f], change)


def knows_bounds(bounds: tuple[F64, F64]) -> bool:
    """Whether every weight is free or not negative: other bounds are not known here."""
    low, high = bounds
    return bool(((low == 0) | np.isneginf(low)).all() and np.isposinf(high).all())


def free_weights(bounds: tuple[F64, F64]) -> NDArray[np.bool_]:
    """Which weights have no bound."""
    if not knows_bounds(bounds):
        raise ValueError("exact Newton steps know weights that are free or not negative only")
    return ~np.isfinite(bounds[0])


def problem_of(values: EntityLevel, labels: Labels, penalty: F64, bounds: tuple[F64, F64]) -> Problem:
    """The convex problem of values that are linear in the weights."""
    return Problem(values.sparse, labels, values.expand, penalty, free_weights(bounds))
