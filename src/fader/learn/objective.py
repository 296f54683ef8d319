"""Entity values as functions of the weights, and their gradient: two ways, one interface.

    entity level    V is linear in the scores (sum, average, mnz): the contexts of each entity are summed once into a
                    sparse row of cells, V = H expand(w), and contexts are not looked at again
    context level   any aggregator: V(e) from the scores of its contexts, at each evaluation

Both work on the contexts that count (one row a group). Knows a loss as a function of values, and nothing of optimisers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fader.aggregate.base import Aggregator
from fader.features.base import Codes, FeatureMap, cell_values, cells_of
from fader.kernel import kernel
from fader.lazy import cached_property
from fader.learn.dataset import Dataset, QueryData
from fader.learn.loss import Labels, Loss
from fader.learn.threads import threads

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
T = TypeVar("T")
R = TypeVar("R")
SAMPLED_ENTITIES = 20_000
KEPT_BYTES, KEPT_CHOICES = 1 << 28, 3
MOST_RUNS, RUN_CONTEXTS = 16, 50_000
DENSE_CELLS = 1 << 21  # a scratch table of so many numbers is summed at a time


class Values(Protocol):
    """Values of all entities of all queries, query after query; queries of weight 0 may be left out (0)."""

    def values(self, w: F64, weight: F64) -> F64: ...

    def loss(self, w: F64, loss: Loss) -> tuple[float, F64]:
        """The loss of the values at w, and its gradient by weight."""
        ...


@kernel
def _times(indptr: I64, indices: I32, data: F64, at: I64, weight: F64, cells: F64, out: F64) -> None:
    for q in range(weight.size):
        if weight[q] == 0.0:
            continue
        for e in range(at[q], at[q + 1]):
            total = 0.0
            for k in range(indptr[e], indptr[e + 1]):
                total += data[k] * cells[indices[k]]
            out[e] = total


@kernel
def _multiply_transposed(indptr: I64, indices: I32, data: F64, at: I64, weight: F64, upstream: F64, out: F64) -> None:
    for q in range(weight.size):
        if weight[q] == 0.0:
            continue
        for e in range(at[q], at[q + 1]):
            u = upstream[e]
            if u != 0.0:
                for k in range(indptr[e], indptr[e + 1]):
                    out[indices[k]] += data[k] * u


@kernel
def _squares(indptr: I64, indices: I32, data: F64, share: F64, step: int, expand: F64, out: F64) -> None:
    feature = np.empty(expand.shape[1])
    for e in range(0, share.size, step):
        if share[e] != 0.0:
            feature[:] = 0.0
            for k in range(indptr[e], indptr[e + 1]):
                for p in range(feature.size):
                    feature[p] += data[k] * expand[indices[k], p]
            for p in range(feature.size):
                out[p] += step * share[e] * feature[p] * feature[p]


class Sparse:
    """Rows of cells, one an entity, query after query (compressed sparse rows)."""

    def __init__(self, indptr: I64, indices: I32, data: F64, at: I64, cells: int) -> None:
        self.indptr, self.indices, self.data, self.at, self.cells = indptr, indices, data, at, cells

    def times(self, cells: F64, weight: F64) -> F64:
        out = np.zeros(self.indptr.size - 1)
        _times(self.indptr, self.indices, self.data, self.at, weight, cells, out)
        return out

    def squares(self, share: F64, expand: F64) -> F64:
        """About the sum over entities of share[e] times the square of each feature, from evenly spaced entities.

        `expand` is the map from weights to cells as a matrix.
        """
        out = np.zeros(expand.shape[1])
        step = 1 + share.size // SAMPLED_ENTITIES
        _squares(self.indptr, self.indices, self.data, share, step, np.ascontiguousarray(expand), out)
        return out

    def multiply_transposed(self, upstream: F64, weight: F64) -> F64:
        out = np.zeros(self.cells)
        _multiply_transposed(self.indptr, self.indices, self.data, self.at, weight, upstream, out)
        return out


@kernel
def _sum_codes(codes: NDArray[Any], scale: F64, at: I64, share: F64, first: int, offset: int, table: F64) -> None:
    for e in range(table.shape[0]):
        for x in range(at[first + e], at[first + e + 1]):
            for k in range(codes.shape[1]):
                table[e, offset + codes[x, k]] += scale[k] * share[x]


@kernel
def _sum_columns(values: F64, row: I32, at: I64, share: F64, first: int, offset: int, table: F64) -> None:
    for e in range(table.shape[0]):
        for x in range(at[first + e], at[first + e + 1]):
            for c in range(values.shape[1]):
                table[e, offset + c] += values[row[x], c] * share[x]


@kernel
def _count_used(table: F64) -> Any:
    used = 0
    for e in range(table.shape[0]):
        for c in range(table.shape[1]):
            used += table[e, c] != 0.0
    return used


@kernel
def _squeeze(table: F64, indices: I32, data: F64, ends: I64) -> None:
    n = 0
    for e in range(table.shape[0]):
        for c in range(table.shape[1]):
            if table[e, c] != 0.0:
                indices[n] = c
                data[n] = table[e, c]
                n += 1
        ends[e] = n


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The summed cells of a query's entities, compressed: some entities at a time."""

    indices: list[I32]
    data: list[F64]
    sizes: list[I64]

    @property
    def bytes(self) -> int:
        return sum(part.nbytes for parts in (self.indices, self.data, self.sizes) for part in parts)


def _query_rows(query: QueryData, aggregator: Aggregator, cells: int) -> QueryRows:
    entities = query.at.size - 1
    share = aggregator.gradient(np.zeros(query.rows), query.at, np.ones(entities))
    step = max(1, DENSE_CELLS // (cells + 1))
    indices, data, sizes = [], [], []
    for first in range(0, entities, step):
        table = sum_cells(query, share, cells, first, min(entities, first + step))
        used = int(_count_used(table))
        i, d, ends = np.empty(used, dtype=np.int32), np.empty(used), np.empty(table.shape[0], dtype=np.int64)
        _squeeze(table, i, d, ends)
        indices.append(i)
        data.append(d)
        sizes.append(np.diff(ends, prepend=0))
    return QueryRows(indices, data, sizes)


def sum_cells(query: QueryData, share: F64, cells: int, first: int, last: int) -> F64:
    """Dense: sum over the contexts of entities first to last of share[x] times their cells."""
    table = np.zeros((last - first, cells + 1))
    offset = 0
    for block in query.blocks:
        n = cells_of(block)
        if isinstance(block, Codes):
            # The code for nothing falls on the next block's first cell: what it holds is put back.
            kept = table[:, offset + n].copy()
            _sum_codes(block.codes, block.scale, query.at, share, first, offset, table)
            table[:, offset + n] = kept
        else:
            _sum_columns(block.values, block.row, query.at, share, first, offset, table)
        offset += n
    return np.ascontiguousarray(table[:, :cells])


def sum_vectors(query: QueryData, features: FeatureMap) -> F64:
    """Explicit feature vectors of a query's entities, summed over their contexts: for other tools, not for training."""
    cells = features.expand(np.zeros(features.size)).size
    table = sum_cells(query, np.ones(query.rows), cells, 0, query.entity.size)
    return features.collapse(np.ascontiguousarray(table.T)).T


class RowSums:
    """What was summed lately of one dataset: rounds, lambdas and folds choose the same mentions of many queries.

    Threads may share it. It holds so many bytes at most, and so many choices of a query's mentions.
    """

    def __init__(self, features: FeatureMap) -> None:
        self.features = features
        self._kept: dict[tuple[str, int], tuple[tuple[QueryData, QueryRows], ...]] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    @cached_property
    def expand(self) -> F64:
        """The map from weights to cells as a matrix: (cells, weights)."""
        return np.stack([self.features.expand(row) for row in np.eye(self.features.size)], axis=1)

    def rows(self, q: int, query: QueryData, aggregator: Aggregator) -> QueryRows:
        """The summed rows of the q-th query, whose mentions are chosen already."""
        key = (str(aggregator), q)
        for before, rows in self._kept.get(key, ()):
            if before.chosen is query.chosen or before.same_rows(query):
                return rows
        rows = _query_rows(query, aggregator, self.expand.shape[0])
        self._keep(key, query, rows)
        return rows

    def _keep(self, key: tuple[str, int], query: QueryData, rows: QueryRows) -> None:
        with self._lock:
            kept = self._kept.get(key, ())
            left = kept[-KEPT_CHOICES + 1 :]
            size = self._bytes + rows.bytes - sum(old.bytes for _, old in kept[: len(kept) - len(left)])
            if size <= KEPT_BYTES:
                self._kept[key], self._bytes = (*left, (query, rows)), size


def sum_rows(dataset: Dataset, aggregator: Aggregator, weight: F64, sums: RowSums) -> Sparse:
    """The rows of all entities, for an aggregator that is linear in the scores; those of queries of weight 0 are empty.

    `sums` knows what was summed before.
    """
    indices: list[I32] = []
    data: list[F64] = []
    sizes: list[I64] = [np.zeros(1, dtype=np.int64)]
    for q, query in enumerate(dataset.queries):
        if weight[q] == 0.0:
            sizes.append(np.zeros(query.at.size - 1, dtype=np.int64))
            continue
        rows = sums.rows(q, query, aggregator)
        indices += rows.indices
        data += rows.data
        sizes += rows.sizes
    at = entity_offsets(dataset)
    joined = (np.concatenate(indices), np.concatenate(data)) if indices else (np.empty(0, np.int32), np.empty(0))
    return Sparse(np.cumsum(np.concatenate(sizes)), joined[0], joined[1], at, sums.expand.shape[0])


def entity_offsets(dataset: Dataset) -> I64:
    """Where each query's entities begin, all queries laid end to end."""
    return np.cumsum([0, *(q.entity.size for q in dataset.queries)]).astype(np.int64)


def labels_of(dataset: Dataset, judged_only: bool) -> Labels:
    """Grades as labels; what is unjudged is bad, or left out with `judged_only`. Queries that cannot train weigh 0."""
    label, weight = [], np.zeros(len(dataset))
    for q, query in enumerate(dataset.queries):
        judgments = query.judgments
        unjudged = -1 if judged_only else 0
        label.append(np.where(judgments.judged, np.maximum(judgments.grades, 0), unjudged).astype(np.int32))
        weight[q] = (label[-1] > 0).any() and (label[-1] == 0).any()
    return Labels(entity_offsets(dataset), np.concatenate(label) if label else np.empty(0, np.int32), weight)


class EntityLevel:
    """V = H expand(w), H summed once, for the queries that have a weight (all by default)."""

    def __init__(
        self, dataset: Dataset, aggregator: Aggregator, weight: F64 | None = None, sums: RowSums | None = None
    ) -> None:
        sums = sums or RowSums(dataset.features)
        self.features: FeatureMap = dataset.features
        self.sparse = sum_rows(dataset, aggregator, np.ones(len(dataset)) if weight is None else weight, sums)
        self.expand = sums.expand

    def values(self, w: F64, weight: F64) -> F64:
        return self.sparse.times(self.features.expand(w), weight)

    def loss(self, w: F64, loss: Loss) -> tuple[float, F64]:
        weight = loss.labels.weight
        total, upstream = loss(self.values(w, weight))
        return total, self.features.collapse(self.sparse.multiply_transposed(upstream, weight))


class ContextLevel:
    """V from all contexts, query after query: nothing of the size of all contexts is held.

    Queries are cut into runs that threads may take, and what these found is added in the order of runs: the sum does
    not depend on the number of threads.
    """

    def __init__(self, dataset: Dataset, aggregator: Aggregator) -> None:
        self.dataset, self.aggregator = dataset, aggregator
        self.at = entity_offsets(dataset)

    def _cells(self, w: F64) -> list[F64]:
        blocks = self.dataset.queries[0].blocks if self.dataset.queries else ()
        return cell_values(blocks, self.dataset.features.expand(w))

    def values(self, w: F64, weight: F64) -> F64:
        cells, out = self._cells(w), np.zeros(int(self.at[-1]))
        for q in np.flatnonzero(weight):
            query = self.dataset.queries[q]
            out[self.at[q] : self.at[q + 1]] = self.aggregator.loss_values(query.scores_by_block(cells), query.at)
        return out

    def loss(self, w: F64, loss: Loss) -> tuple[float, F64]:
        cells = self._cells(w)
        runs = self._runs(loss.labels.weight)
        parts = _in_threads(lambda run: self._loss_of(run, cells, loss), runs)
        counted = [np.sum(parts_of_block, axis=0) for parts_of_block in zip(*(c for _, c in parts), strict=True)]
        whole = [
            c[:-1] if isinstance(block, Codes) else c
            for block, c in zip(self.dataset.queries[0].blocks, counted, strict=True)
        ]
        return sum(total for total, _ in parts), self.dataset.features.collapse(np.concatenate(whole))

    def _runs(self, weight: F64) -> list[I64]:
        """The queries that have a weight, cut into runs of about equally many contexts."""
        trained = np.flatnonzero(weight)
        ends = np.cumsum([self.dataset.queries[q].rows for q in trained])
        pieces = 1 + min(MOST_RUNS - 1, int(ends[-1]) // RUN_CONTEXTS) if trained.size else 1
        cuts = np.searchsorted(ends, np.arange(1, pieces) * (ends[-1] / pieces)) if pieces > 1 else []
        return np.split(trained, cuts)

    def _loss_of(self, run: I64, cells: Sequence[F64], loss: Loss) -> tuple[float, list[F64]]:
        """The loss of some queries, and its gradient by cell, block after block."""
        counted = [np.zeros(c.size) for c in cells]
        total = 0.0
        for q in run:
            query = self.dataset.queries[q]
            values, slopes = self.aggregator.loss_values_with_slopes(query.scores_by_block(cells), query.at)
            of_query, upstream = loss.of_query(int(q), values)
            query.add_histogram(slopes, upstream, counted)
            total += of_query
        return total, counted


def _in_threads(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Results in order."""
    workers = min(threads(), len(items))
    if workers < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, items))


def values_of(
    dataset: Dataset, aggregator: Aggregator, weight: F64 | None = None, sums: RowSums | None = None
) -> Values:
    """The cheaper of the two ways for an aggregator; only queries that have a weight need to have values."""
    if aggregator.linear:
        return EntityLevel(dataset, aggregator, weight, sums)
    return ContextLevel(dataset, aggregator)
