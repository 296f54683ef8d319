"""Sets of cells that are unions of corner rectangles, as a few codes: what fires is counted once.

    corners (i_1, j_1), (i_2, j_2), ... sorted so that columns ascend and rows descend, each one adding cells:
    sum of w over the union = sum over k of W[i_k, j_k]  -  sum over k of W[min(i_k, i_k+1), min(j_k, j_k+1)]

with W the 2-D prefix sum of w: L literals make at most L corners, scale +1, and L-1 meets, scale -1. Golden case:
corners (1, 0) and (0, 2) fire the cells (0, 0), (1, 0), (0, 1), (0, 2); their meet is (0, 0). Two kinds: every literal
has its own rectangle, or the share of IDF(q) matched up to a column has. Knows nothing of weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.features.base import F64, I32, Codes
from fader.features.cellmaps.buckets import TOLERANCE, Axes
from fader.features.cellmaps.cells import I8, Cells, code_type
from fader.features.fused import Staircase
from fader.kernel import kernel


def union(axes: Axes, row: I32, distances: I32, sides: I8) -> Codes:
    """The union of the literals' rectangles; `row[t]` is the row of literal t."""
    order = np.argsort(-row, kind="stable").astype(np.int32)
    places, out = _places(axes, distances, sides)
    _union(places, row, order, axes.columns, axes.copies, axes.cells, out)
    return Codes(out, _scale(distances.shape[0]), axes.cells)


def coverage(axes: Axes, perplexity: F64, distances: I32, sides: I8) -> Codes:
    """The rectangles of the shares of IDF(q) matched from the nearest column on to each column."""
    places, out = _places(axes, distances, sides)
    shares = np.array(axes.shares)
    _coverage(places, perplexity, shares, axes.columns, axes.copies, axes.cells, out)
    return Codes(out, _scale(distances.shape[0]), axes.cells)


def prepare_staircase(axes: Axes, values: F64) -> Staircase:
    """What terms of a staircase have in common, given the values of cells; literals are left to be filled in."""
    copies, columns = axes.copies, axes.columns
    own = np.where(axes.column_table() >= 0, axes.column_table(), copies * columns)
    place = np.concatenate([own, np.where(own < columns, own + columns, own)]) if copies > 1 else own
    edges = np.array(axes.shares)
    return Staircase(place.astype(np.int32), columns, copies, axes.cells, np.append(values, 0.0), edges)


def gains(distances: I32, score_of: Callable[[I32], F64]) -> F64:
    """What each literal adds when literals come in from near to far, those as near in query order.

    (literals, contexts); a context's add up to its score.
    """
    order = np.argsort(np.where(distances < 0, np.iinfo(np.int32).max, distances), axis=0, kind="stable")
    rank = np.argsort(order, axis=0, kind="stable")
    out = np.zeros(distances.shape)
    before = np.zeros(distances.shape[1])
    every = np.arange(distances.shape[1])
    for r in range(distances.shape[0]):
        after = score_of(np.where(rank <= r, distances, np.int32(-1)))
        out[order[r], every] = after - before
        before = after
    return out


def _places(axes: Axes, distances: I32, sides: I8) -> tuple[NDArray[Any], NDArray[Any]]:
    """Each literal's column, the right side's behind the left's, and codes that stand for nothing as yet."""
    literals, n = distances.shape
    first, width = np.zeros(literals, dtype=np.int32), axes.columns if axes.copies > 1 else 0
    places = Cells(axes.column_table(), first, width, axes.copies * axes.columns).codes(distances, sides)
    return places, np.full((n, max(0, 2 * literals - 1)), axes.cells, dtype=code_type(axes.cells))


def _scale(literals: int) -> F64:
    return np.repeat([1.0, -1.0], [literals, max(0, literals - 1)])


@kernel
def _union(
    places: NDArray[Any], row: I32, order: I32, columns: int, copies: int, cells: int, out: NDArray[Any]
) -> None:
    for x in range(places.shape[0]):
        unite(places[x], row, order, columns, copies, cells, out[x])


@kernel
def unite(places: NDArray[Any], row: I32, order: I32, columns: int, copies: int, cells: int, out: NDArray[Any]) -> None:
    """The codes of one context: from the highest row down, a literal is a corner where it is nearer than all before."""
    literals = places.size
    grid = cells // copies
    corner, meet = 0, literals
    for s in range(copies):
        nearest, above, end = s * columns - 1, -1, (s + 1) * columns
        for o in range(literals):
            t = order[o]
            place = int(places[t])
            if place <= nearest or place >= end:
                continue
            first = s * grid + row[t] * columns - s * columns
            if row[t] != above:
                if above >= 0:
                    out[meet] = first + nearest
                    meet += 1
                corner += 1
            out[corner - 1] = first + place
            nearest, above = place, row[t]


@kernel
def _coverage(
    places: NDArray[Any], perplexity: F64, shares: F64, columns: int, copies: int, cells: int, out: NDArray[Any]
) -> None:
    near, literal = np.empty(places.shape[1], dtype=np.int64), np.empty(places.shape[1], dtype=np.int64)
    for x in range(places.shape[0]):
        cover(places[x], perplexity, shares, columns, copies, cells, near, literal, out[x])


@kernel
def cover(
    places: NDArray[Any],
    perplexity: F64,
    shares: F64,
    columns: int,
    copies: int,
    cells: int,
    near: NDArray[np.int64],
    literal: NDArray[np.int64],
    out: NDArray[Any],
) -> None:
    """The codes of one context: from the nearest literal on, a column is a corner where the share matched so far
    reaches a higher row. `near` and `literal` are room for a number per literal.
    """
    U = np.uintp
    literals = places.size
    grid = cells // copies
    # Matched literals by place, descending: the right side, if there is one, then the left.
    matched = 0
    for t in range(literals):
        place = int(places[U(t)])
        if place < copies * columns:
            k = matched
            while k > 0 and near[U(k - 1)] < place:
                near[U(k)], literal[U(k)] = near[U(k - 1)], literal[U(k - 1)]
                k -= 1
            near[U(k)], literal[U(k)] = place, t
            matched += 1
    corner, meet, side = 0, literals, copies
    total, row, reached = 0.0, 0, -1
    for k in range(matched):
        place = near[U(k)]
        if place < side * columns:
            side = place // columns
            total, row, reached = 0.0, 0, -1
        total += perplexity[U(literal[U(k)])]
        if k + 1 < matched and near[U(k + 1)] == place:
            continue
        while row + 1 < shares.size and total + TOLERANCE >= shares[U(row + 1)]:
            row += 1
        if row > reached:
            first = side * grid + place - side * columns
            if reached >= 0:
                out[U(meet)] = first + reached * columns
                meet += 1
            out[U(corner)] = first + row * columns
            corner += 1
            reached = row
