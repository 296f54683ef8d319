"""Entity values of many small queries at once: all contexts in one table, so that a step of training is a few calls.

    score(x) = sum_c X[x, c] W[column c]  +  sum_k scale[q, k] W[code[x, k]]           W = expand(w)

It gives what `objective.ContextLevel` gives, to the rounding of X to 32 bits; that one calls a kernel for every block
of every query, which takes longer than the sums when queries have a thousand contexts. Holds the numbers of all
contexts. Knows a loss as a function of values, and nothing of optimisers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fader.aggregate.base import Aggregator
from fader.features.base import Codes, cells_of
from fader.kernel import kernel
from fader.learn.dataset import Dataset, QueryData
from fader.learn.loss import Loss
from fader.learn.objective import entity_offsets

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@kernel
def _score(x: F32, at: I64, codes: I32, scale: F64, weight: F64, columns: F64, cells: F64, out: F64) -> None:
    """The scores of all contexts of queries that have a weight."""
    for q in range(weight.size):
        if weight[q] == 0.0:
            continue
        for i in range(at[q], at[q + 1]):
            total = 0.0
            for c in range(columns.size):
                total += x[i, c] * columns[c]
            for k in range(codes.shape[1]):
                total += scale[q, k] * cells[codes[i, k]]
            out[i] = total


@kernel
def _pull(x: F32, at: I64, codes: I32, scale: F64, weight: F64, slopes: F64, columns: F64, cells: F64) -> None:
    """Add slopes times the columns and cells of each context."""
    for q in range(weight.size):
        if weight[q] == 0.0:
            continue
        for i in range(at[q], at[q + 1]):
            slope = slopes[i]
            if slope == 0.0:
                continue
            for c in range(columns.size):
                columns[c] += slope * x[i, c]
            for k in range(codes.shape[1]):
                cells[codes[i, k]] += slope * scale[q, k]


class JoinedLevel:
    """V from all contexts of all queries, which must have one row a group."""

    def __init__(self, dataset: Dataset, aggregator: Aggregator) -> None:
        self.features, self.aggregator = dataset.features, aggregator
        queries = dataset.queries
        self.at = entity_offsets(dataset)
        self._rows = np.append(0, np.cumsum([q.rows for q in queries])).astype(np.int64)
        self._entity_at = np.concatenate([[0], *(q.at[1:] + r for q, r in zip(queries, self._rows, strict=False))])
        self._cells = dataset.features.expand(np.zeros(dataset.features.size)).size
        self._lay(queries)

    def _lay(self, queries: Sequence[QueryData]) -> None:
        """The blocks of all queries end to end."""
        blocks = queries[0].blocks if queries else ()
        offset = np.append(0, np.cumsum([cells_of(block) for block in blocks])).tolist()
        dense = [b for b, block in enumerate(blocks) if not isinstance(block, Codes)]
        self._column = np.concatenate([np.empty(0, np.int64), *(np.arange(*offset[b : b + 2]) for b in dense)])
        widest = max((_count_codes(query) for query in queries), default=0)
        self._x = np.empty((int(self._rows[-1]), self._column.size), dtype=np.float32)
        self._codes = np.full((int(self._rows[-1]), widest), self._cells, dtype=np.int32)
        self._scale = np.zeros((len(queries), widest))
        for q, query in enumerate(queries):
            rows, c, k = slice(self._rows[q], self._rows[q + 1]), 0, 0
            for b, block in enumerate(query.blocks):
                if isinstance(block, Codes):
                    n = block.codes.shape[1]
                    codes = block.codes.astype(np.int32)
                    self._codes[rows, k : k + n] = np.where(codes == block.cells, self._cells, codes + offset[b])
                    self._scale[q, k : k + n] = block.scale
                    k += n
                else:
                    n = block.values.shape[1]
                    self._x[rows, c : c + n] = block.values[block.row]
                    c += n

    def _score(self, w: F64, weight: F64) -> F64:
        cells, out = np.append(self.features.expand(w), 0.0), np.zeros(int(self._rows[-1]))
        columns = np.ascontiguousarray(cells[self._column])
        _score(self._x, self._rows, self._codes, self._scale, weight, columns, cells, out)
        return out

    def values(self, w: F64, weight: F64) -> F64:
        return self.aggregator.loss_values(self._score(w, weight), self._entity_at)

    def rank_values(self, w: F64, weight: F64) -> F64:
        """What entities are ranked by."""
        return self.aggregator.values(self._score(w, weight), self._entity_at)

    def loss(self, w: F64, loss: Loss) -> tuple[float, F64]:
        weight = loss.labels.weight
        values, slopes = self.aggregator.loss_values_with_slopes(self._score(w, weight), self._entity_at)
        total, upstream = loss(values)
        slopes = slopes * np.repeat(upstream, np.diff(self._entity_at))
        columns, cells = np.zeros(self._column.size), np.zeros(self._cells + 1)
        _pull(self._x, self._rows, self._codes, self._scale, weight, slopes, columns, cells)
        cells[self._column] += columns
        return total, self.features.collapse(cells[:-1])


def _count_codes(query: QueryData) -> int:
    return sum(block.codes.shape[1] for block in query.blocks if isinstance(block, Codes))
