"""One cell a literal: from distances to codes, and from cell values straight to scores.

    code(x, t) = first[t] + column(l(t)), and `copy` more on the right side; nothing where the literal is absent
    score(x)   = sum over t of scale[t] * W[code(x, t)]

A score is a look-up by distance, literals added in query order, and makes no codes; both ways give the same bits.
Arrays come as (literals, contexts) and codes leave as (contexts, literals). Knows nothing of how edges or weights
came about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.table import Contexts
from fader.features.base import F64, I32
from fader.features.fused import DistanceTable
from fader.kernel import kernel

I8 = NDArray[np.int8]

CHUNK = 4096  # contexts whose codes stay in the nearest cache while every literal writes its own
NO_SIDES = np.empty((0, 0), dtype=np.int8)


@dataclass(frozen=True)
class Cells:
    """Where literals fall: `column[d + 1]` as `Axes.column_table` has it, and the first cell of each literal's row."""

    column: I32
    first: I32
    copy: int
    cells: int

    def codes(self, distances: I32, sides: I8) -> NDArray[Any]:
        """The cell of each literal; `cells` for none."""
        left = np.where(self.column >= 0, self.first[:, None] + self.column, self.cells)
        right = np.where(self.column >= 0, left + self.copy, self.cells)
        table = np.concatenate([left, right], axis=1).astype(code_type(self.cells))
        out = np.empty(distances.shape[::-1], dtype=table.dtype)
        for a, b in budget.chunks(out.shape[0]):
            _encode(distances, sides, table, self.copy > 0, a, b, out)
        return out

    def scores(self, distances: I32, sides: I8, scale: F64, values: F64) -> F64:
        """The sum of each context's cell values."""
        out = np.zeros(distances.shape[1])
        for a, b in budget.chunks(out.size):
            _look_up(distances, sides, self.column, self.first, self.copy, scale, values, a, b, out)
        return out

    def distance_table(self, scale: F64, values: F64) -> DistanceTable:
        """The look-ups of `scores` as a table per literal; the right side's behind the left's."""
        known = self.column >= 0
        left = np.where(known, self.first[:, None] + self.column, self.cells)
        place = np.concatenate([left, np.where(known, left + self.copy, self.cells)], axis=1) if self.copy else left
        return DistanceTable(scale[:, None] * np.append(values, 0.0)[place], signed=self.copy > 0)


def code_type(cells: int) -> Any:
    """The smallest type that holds every cell and the code of nothing."""
    return np.uint8 if cells < 256 else np.uint16


def sides_of(contexts: Contexts, signed: bool) -> I8:
    """The sides of matches; empty unless the map distinguishes them."""
    return contexts.sides if signed and len(contexts) else NO_SIDES


def take_contexts(array: NDArray[Any], rows: NDArray[Any]) -> Any:
    """Some contexts of an array (literals, contexts), contiguous; nothing of nothing."""
    return np.ascontiguousarray(array[:, rows]) if array.size else array


@kernel
def _encode(
    distances: I32, sides: I8, table: NDArray[Any], signed: bool, from_: int, to: int, out: NDArray[Any]
) -> None:
    """`table[t]` has the code of literal t by distance, first for the left side, then for the right."""
    U = np.uintp
    half = table.shape[1] // 2
    last = np.int32(half - 1)
    for begin in range(from_, to, CHUNK):
        end = min(to, begin + CHUNK)
        for t in range(distances.shape[0]):
            row, code = distances[t], table[t]
            if signed:
                for x in range(begin, end):
                    d = min(row[U(x)] + np.int32(1), last)
                    out[U(x), U(t)] = code[U(d + half if sides[U(t), U(x)] > 0 else d)]
            else:
                for x in range(begin, end):
                    out[U(x), U(t)] = code[U(min(row[U(x)] + np.int32(1), last))]


@kernel
def _look_up(
    distances: I32,
    sides: I8,
    column: I32,
    first: I32,
    copy: int,
    scale: F64,
    values: F64,
    begin: int,
    end: int,
    out: F64,
) -> None:
    """Scores of the contexts [begin, end)."""
    U = np.uintp
    last = column.size - 1
    table = np.zeros(2 * column.size)
    for t in range(distances.shape[0]):
        for d in range(1, column.size):
            if column[d] >= 0:
                table[d] = scale[t] * values[first[t] + column[d]]
                table[column.size + d] = scale[t] * values[first[t] + column[d] + copy]
        row = distances[t]
        if copy > 0:
            for x in range(begin, end):
                d = min(row[U(x)] + 1, last)
                out[U(x)] += table[U(d + column.size if sides[U(t), U(x)] > 0 else d)]
        else:
            for x in range(begin, end):
                out[U(x)] += table[U(min(row[U(x)] + 1, last))]
