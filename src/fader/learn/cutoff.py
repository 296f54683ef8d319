"""The decay D of a soft cutoff, learned from judged entities while the scores of contexts stay fixed.

    minimise  D(0)/lambda + sum_q 1/(|G_q||B_q|) sum_{g,b} max(0, 1 + V(b) - V(g)),   V = A D
    over      D(0) >= D(1) >= ... >= D(B-1) >= 0

A linear program (the paper's, section "Training a soft cutoff by rank") with a slack for each of perhaps millions of
pairs. It is solved exactly by cutting planes instead: there is one slack h_q a query, and the query's hinge loss is
known by its tangents h_q >= alpha + beta . D at the decays tried so far, until the linear program, which is a lower
bound, meets the true loss. A tangent takes one sort of the query's entities: pairs are counted, never listed.
Kelley, "The cutting-plane method for solving convex programs", J. SIAM 1960; Joachims, "Training linear SVMs in
linear time", KDD 2006. The linear programs are solved by HiGHS (Huangfu & Hall, Math. Programming Computation 2018).

D is written as non-negative increments, D(r) = x_r + x_{r+1} + ..., so that it falls by itself; then V = C x, where C
has the running sums of A's rows. Where no decay is better than none, D is 0 and the loss is 1 a query. Among several
optimal D one is returned, always the same for the same queries in the same order.

Golden case: one query, one bucket, a good entity with sum 3 and a bad one with 1: D = 1/2 makes their values differ by
1, so the objective is 1/(2 lambda) for lambda > 1/2; for smaller lambda D = 0 and the objective is 1. Knows nothing of
contexts, of how A was made or of how lambda is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its subpackages load when they are first used
from numpy.typing import NDArray

from fader.errors import FaderError, InputError, UsageError

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]

# HiGHS stops at 1e-7 by default, which is far from a gap of 1e-9; 1e-10 is the least it takes.
ACCURATE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
IDLE_ROUNDS = 5


# A query: the sums A of scores by bucket of ranks, (entities, B), and which entities are good, which bad.
Problem = tuple[F64, Mask, Mask]


@dataclass(frozen=True, slots=True)
class Solution:
    """D, its objective, a lower bound of the least objective, linear programs solved and tangents made."""

    decay: F64
    objective: float
    bound: float
    iterations: int
    cuts: int


@dataclass(frozen=True, slots=True)
class _Query:
    """Running sums of the good and of the bad entities, in units that make them about 1."""

    good: F64
    bad: F64


@dataclass(frozen=True, slots=True)
class _Cuts:
    """Tangents h_q >= alpha + beta . x; `idle` counts the rounds since each was last needed."""

    query: I64
    alpha: F64
    beta: F64
    idle: I64


def fit_decay(problems: Iterable[Problem], lam: float, tolerance: float = 1e-9) -> Solution:
    """The best decay, to a relative gap of `tolerance`; queries without a good or without a bad entity do not count.

    Where rounding does not allow the gap, the search ends when there is nothing new to learn; the bound tells.
    """
    if not 0 < lam < np.inf:
        raise UsageError(f"soft cutoff: lambda must be a number above 0, not {lam}")
    if not 0 < tolerance < 1:
        raise UsageError(f"soft cutoff: tolerance must be between 0 and 1, not {tolerance}")
    queries, unit = _prepare(problems)
    cost = 1.0 / (lam * unit)
    buckets = queries[0].good.shape[1]
    cuts = _Cuts(np.zeros(0, np.int64), np.zeros(0), np.zeros((0, buckets)), np.zeros(0, np.int64))
    x = best = np.zeros(buckets)
    slack = np.full(len(queries), -np.inf)
    objective, bound, rounds, made = np.inf, 0.0, 0, 0
    while True:
        tangents = _tangents(queries, x)
        loss = tangents.alpha + tangents.beta @ x
        here = cost * x.sum() + loss.sum()
        if here < objective:
            objective, best = here, x
        wanted = tolerance * objective
        new = _unknown(tangents, cuts, loss - slack > wanted / len(queries) / 2)
        if objective - bound <= wanted or not new.any():
            break
        cuts = _join(cuts, tangents, new)
        x, slack, least, needed = _solve(cuts, len(queries), cost, objective)
        if least > bound + wanted:  # tangents are given up only where the bound rose: no set of them comes twice
            idle = np.where(needed, 0, cuts.idle + 1)
            keep = idle < IDLE_ROUNDS  # those long of no use go, so that the linear program stays small
            cuts = _Cuts(cuts.query[keep], cuts.alpha[keep], cuts.beta[keep], idle[keep])
        bound, rounds, made = max(bound, least), rounds + 1, made + int(new.sum())
    decay: F64 = np.cumsum(best[::-1])[::-1] / unit
    return Solution(decay, float(objective), float(min(bound, objective)), rounds, made)


def _prepare(problems: Iterable[Problem]) -> tuple[list[_Query], float]:
    """The queries that can train, and the unit of their running sums: the geometric mean of their largest."""
    running = [(np.cumsum(sums, axis=1), good, bad) for sums, good, bad in problems if good.any() and bad.any()]
    if not running:
        raise InputError("soft cutoff: no query has both a good and a bad entity; judge more entities")
    largest = np.array([np.abs(sums[good | bad]).max() for sums, good, bad in running])
    unit = float(np.exp(np.log(largest[largest > 0]).mean())) if largest.any() else 1.0
    return [_Query(sums[good] / unit, sums[bad] / unit) for sums, good, bad in running], unit


def _tangents(queries: list[_Query], x: F64) -> _Cuts:
    """The tangent of every query's loss at x.

    Pairs with 1 + V(b) > V(g) have a loss, which is linear around here; they are counted by entity.
    """
    alpha, beta = np.empty(len(queries)), np.empty((len(queries), x.size))
    for q, query in enumerate(queries):
        good, bad = query.good @ x, 1.0 + query.bad @ x
        of_bad = np.searchsorted(np.sort(good), bad, side="left").astype(np.float64)
        of_good = bad.size - np.searchsorted(np.sort(bad), good, side="right").astype(np.float64)
        pairs = good.size * bad.size
        alpha[q] = of_bad.sum() / pairs
        beta[q] = (of_bad @ query.bad - of_good @ query.good) / pairs
    return _Cuts(np.arange(len(queries)), alpha, beta, np.zeros(len(queries), dtype=np.int64))


def _unknown(tangents: _Cuts, cuts: _Cuts, above: Mask) -> Mask:
    """Which of the tangents that the last slacks lie below are new; one that is not shows the solver's rounding."""
    known = {(q, a, b.tobytes()) for q, a, b in zip(cuts.query, cuts.alpha, cuts.beta, strict=True)}
    found = zip(tangents.query, tangents.alpha, tangents.beta, strict=True)
    new: Mask = above & np.array([(q, a, b.tobytes()) not in known for q, a, b in found])
    return new


def _join(cuts: _Cuts, tangents: _Cuts, new: Mask) -> _Cuts:
    return _Cuts(
        np.concatenate([cuts.query, tangents.query[new]]),
        np.concatenate([cuts.alpha, tangents.alpha[new]]),
        np.concatenate([cuts.beta, tangents.beta[new]]),
        np.concatenate([cuts.idle, tangents.idle[new]]),
    )


def _solve(cuts: _Cuts, queries: int, cost: float, objective: float) -> tuple[F64, F64, float, Mask]:
    """The least objective that the tangents allow: x, slacks, the objective, and which tangents hold it up.

    The solver's tolerances are absolute, and it takes coefficients below 1e-9 for 0. So the objective is divided by
    the best one known, and rows of small coefficients are magnified; large ones are left, or slacks would be vague.
    """
    buckets = cuts.beta.shape[1]
    size = np.clip(np.abs(cuts.beta).max(axis=1), 1e-6, 1.0)
    rows = np.arange(cuts.query.size)
    own = scipy.sparse.csc_array((-1.0 / size, (rows, cuts.query)), shape=(cuts.query.size, queries))
    matrix = scipy.sparse.hstack([scipy.sparse.csc_array(cuts.beta / size[:, None]), own], format="csc")
    costs = np.append(np.full(buckets, cost), np.ones(queries)) / objective
    found: Any = None
    for options in (ACCURATE, {}):
        found = scipy.optimize.linprog(costs, A_ub=matrix, b_ub=-cuts.alpha / size, method="highs-ds", options=options)
        if found.status == 0:
            x = np.maximum(found.x[:buckets], 0.0)
            return x, found.x[buckets:], float(found.fun) * objective, found.ineqlin.marginals < 0
    raise FaderError(f"soft cutoff: HiGHS could not solve the linear program ({found.message}); try a smaller lambda")
