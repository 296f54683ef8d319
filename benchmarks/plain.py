"""The plain way to train and to leave out queries: scipy's L-BFGS-B on a sparse matrix, pairs by numpy broadcasting.

What a competent user writes in an afternoon. It starts from cells that are summed per entity already (a CSR matrix, not
timed), scales the weights by their mean square features and the regulariser, which saves three
quarters of the iterations and more, skips the query that is left out, and computes the soft hinge of all pairs of a
query at once, with scipy's stable functions. One thread.

Knows Fader only as the place that the arrays come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import expit

from fader.learn.leaveoneout import Problem

# Tight enough for an objective to 1e-9 and the measures of the left-out query; less saves an evaluation or two.
OPTIONS = {"maxiter": 5000, "maxfun": 10_000, "maxcor": 20, "ftol": 1e-12, "gtol": 1e-7}
AT_A_TIME = 50_000  # entities


@dataclass(frozen=True)
class Solved:
    """Weights, their objective and how often it was evaluated."""

    weights: np.ndarray
    objective: float
    evaluations: int


def cells_of(problem: Problem) -> csr_matrix:
    """A row of summed cells for each entity."""
    sparse = problem.sparse
    return csr_matrix((sparse.data, sparse.indices, sparse.indptr), shape=(sparse.indptr.size - 1, sparse.cells))


def features_of(cells: csr_matrix, expand: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The same as dense features, some entities at a time: (number of the first, features)."""
    for first in range(0, cells.shape[0], AT_A_TIME):
        yield first, cells[first : first + AT_A_TIME] @ expand


class Plain:
    """loss(X expand w) + w.R w / 2 over all queries but one."""

    def __init__(self, problem: Problem) -> None:
        sparse, label = problem.sparse, problem.labels.label
        self.cells = cells_of(problem)
        self.expand, self.penalty = problem.expand, problem.penalty
        self.pairs = [
            (a + np.flatnonzero(label[a:b] > 0), a + np.flatnonzero(label[a:b] == 0))
            for a, b in zip(sparse.at, sparse.at[1:], strict=False)
        ]
        square = sum((rows**2).sum(axis=0) for _first, rows in features_of(self.cells, self.expand))
        self.scale = 1.0 / np.sqrt(square / self.cells.shape[0] + np.diag(self.penalty))

    def objective(self, w: np.ndarray, left_out: int) -> tuple[float, np.ndarray]:
        """The objective without a query (-1: with all), and its gradient."""
        values = self.cells @ (self.expand @ w)
        upstream, total = np.zeros(values.size), 0.0
        for q, (good, bad) in enumerate(self.pairs):
            if q == left_out or not good.size or not bad.size:
                continue
            margin = 1.0 + values[bad][None, :] - values[good][:, None]
            total += np.logaddexp(0.0, margin).mean()
            slope = expit(margin) / margin.size
            upstream[bad] += slope.sum(axis=0)
            upstream[good] -= slope.sum(axis=1)
        pull = self.penalty @ w
        return total + 0.5 * w @ pull, self.expand.T @ (self.cells.T @ upstream) + pull

    def solve(self, left_out: int = -1, start: np.ndarray | None = None) -> Solved:
        """Cold from 0, or warm from some weights."""
        count = self.scale.size

        def scaled(v: np.ndarray) -> tuple[float, np.ndarray]:
            total, gradient = self.objective(v * self.scale, left_out)
            return total, gradient * self.scale

        begin = np.zeros(count) if start is None else start / self.scale
        bounds = [(0.0, None)] * count
        found = minimize(scaled, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=OPTIONS)
        return Solved(found.x * self.scale, float(found.fun), int(found.nfev))
