"""Two-dimensional prefix sums of a grid, and the smoothness of a grid: what rectangles and grids are regularised by.

    prefix sum:   W[i, j] = sum over i' <= i, j' <= j of w[i', j']
    transpose:    h[i, j] = sum over i' >= i, j' >= j of H[i', j']
    smoothness:   W.S W = sum over i, j of (W[i,j] - W[i-1,j])^2 + (W[i,j] - W[i,j-1])^2  +  1e-3 * W.W

Differences are taken inside of the grid only; the last term makes S positive definite, because a constant grid is
perfectly smooth. Where there are copies of the grid (left and right), each is by itself. Golden case: the prefix sum
of [[1, 2], [3, 4]] is [[1, 3], [4, 10]]. Knows nothing of contexts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fader.features.cellmaps.buckets import Axes

F64 = NDArray[np.float64]

RIDGE = 1e-3


def prefix_sum(w: F64, axes: Axes) -> F64:
    """W of w, both flat; along the first axis."""
    cube = w.reshape(axes.copies, axes.rows, axes.columns, -1)
    return cube.cumsum(axis=1).cumsum(axis=2).reshape(w.shape)


def reverse_prefix_sum(cells: F64, axes: Axes) -> F64:
    """The transpose of `prefix_sum`; along the first axis."""
    cube = cells.reshape(axes.copies, axes.rows, axes.columns, -1)[:, ::-1, ::-1]
    return cube.cumsum(axis=1).cumsum(axis=2)[:, ::-1, ::-1].reshape(cells.shape)


def smoothness(axes: Axes) -> F64:
    """The matrix S above."""
    down, along = _differences(axes.rows), _differences(axes.columns)
    one = np.kron(down, np.eye(axes.columns)) + np.kron(np.eye(axes.rows), along)
    return np.kron(np.eye(axes.copies), one) + RIDGE * np.eye(axes.cells)


def smoothness_of_increments(axes: Axes) -> F64:
    """The same, written in w: M^T S M, where M is the matrix of the prefix sum."""
    M = prefix_sum(np.eye(axes.cells), axes)
    R = M.T @ smoothness(axes) @ M
    return (R + R.T) / 2  # exactly symmetric, whatever the order of the products


def _differences(n: int) -> F64:
    """The matrix of the sum of squared differences between neighbours in a row of n."""
    D = np.diff(np.eye(n), axis=0)
    return D.T @ D
