"""Judged queries as arrays: what training sees of contexts, candidates and grades.

A query's contexts are kept as feature blocks (cells and columns), sorted by entity, document and position. They are
grouped: one group of mentions counts as one context (`document`: an entity's mentions in one document, `mention`: each
mention for itself). Never holds a feature vector. Knows nothing of losses, optimisers or storage.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fader.contexts.table import Contexts
from fader.features.base import Block, Codes, Columns, FeatureMap, add_scores, cell_values
from fader.kernel import kernel
from fader.measures import Judgments, judge
from fader.rank.system import View

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class QueryData:
    """One query: candidate i has the groups `at[i]:at[i+1]`, group j the rows `group_at[j]:group_at[j+1]`."""

    id: str
    at: I64
    group_at: I64
    blocks: tuple[Block, ...]
    judgments: Judgments
    chosen: I64 | None = None  # the rows that `best` kept

    @property
    def entity(self) -> I32:
        """The candidates' numbers."""
        return self.judgments.entity

    @property
    def rows(self) -> int:
        return int(self.group_at[-1])

    def scores(self, cells: F64) -> F64:
        """Scores of all rows, given the values of all cells."""
        return self.scores_by_block(cell_values(self.blocks, cells))

    def scores_by_block(self, values: Sequence[F64]) -> F64:
        """The same, with cell values cut by block."""
        out = np.zeros(self.rows)
        for block, of_block in zip(self.blocks, values, strict=True):
            add_scores(block, of_block, out)
        return out

    def add_histogram(self, slopes: F64, pull: F64, out: Sequence[F64]) -> None:
        """Add the sum over rows of pull[entity] * slopes[x] times the row's cells, by block."""
        for block, of_block in zip(self.blocks, out, strict=True):
            if isinstance(block, Codes):
                _count_codes(block.codes, block.scale, slopes, self.at, pull, of_block)
            else:
                _count_columns(block.values, block.row, slopes, self.at, pull, of_block)

    def best(self, cells: F64) -> QueryData:
        """The same query with the best row of each group only, the first on a tie."""
        if self.group_at.size == self.rows + 1:
            return self
        rows = _best_rows(self.scores(cells), self.group_at)
        return replace(
            self,
            group_at=np.arange(rows.size + 1),
            blocks=tuple(_take(block, rows) for block in self.blocks),
            chosen=rows,
        )

    def of(self, places: I64) -> QueryData:
        """The same query with some of its candidates only, given by their places, ascending."""
        groups = _ranges(self.at[places], self.at[places + 1])
        rows = _ranges(self.group_at[groups], self.group_at[groups + 1])
        return replace(
            self,
            at=np.append(0, np.cumsum(self.at[places + 1] - self.at[places])),
            group_at=np.append(0, np.cumsum(self.group_at[groups + 1] - self.group_at[groups])),
            blocks=tuple(_take(block, rows) for block in self.blocks),
            judgments=self.judgments.of(places),
            chosen=None if self.chosen is None else self.chosen[rows],
        )

    def same_rows(self, other: QueryData) -> bool:
        """Whether `best` kept the same rows of the same query."""
        if self.chosen is None or other.chosen is None:
            return self.chosen is other.chosen
        return np.array_equal(self.chosen, other.chosen)


@dataclass(frozen=True, slots=True)
class Dataset:
    """Judged queries under one feature map."""

    features: FeatureMap
    view: View
    queries: tuple[QueryData, ...]

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def contexts(self) -> int:
        return sum(q.rows for q in self.queries)

    def sample_bad(self, bad: int, seed: int) -> Dataset:
        """The same with at most so many bad candidates of a query, drawn by the seed; all good ones stay. 0: all.

        The pairwise loss is a mean over pairs, which a fair sample of bad candidates leaves unbiased.
        """
        if not bad or all(q.entity.size <= bad for q in self.queries):
            return self
        drawn = [draw_candidates(q.judgments, bad, [seed, i]) for i, q in enumerate(self.queries)]
        pairs = zip(self.queries, drawn, strict=True)
        return replace(self, queries=tuple(q if d.size == q.entity.size else q.of(d) for q, d in pairs))

    def best(self, w: F64) -> Dataset:
        """Only the contexts that count under weights."""
        cells = self.features.expand(w)
        return replace(self, queries=tuple(q.best(cells) for q in self.queries))


def draw_candidates(judgments: Judgments, most: int, seed: Any) -> I64:
    """Places of all good candidates and of at most `most` bad ones, ascending, drawn by the seed."""
    bad = np.flatnonzero(judgments.grades <= 0)
    if bad.size > most:
        bad = np.random.default_rng(seed).choice(bad, most, replace=False)
    return np.sort(np.concatenate([np.flatnonzero(judgments.grades > 0), bad]))


class DatasetSource(Protocol):
    """Datasets of the same judged queries under any features."""

    @property
    def ids(self) -> Sequence[str]: ...

    def dataset(self, features: FeatureMap, view: View, training: I64) -> Dataset:
        """All queries; edges that are to be learned are learned from the training queries."""
        ...


def _ranges(first: I64, last: I64) -> I64:
    """The numbers of all ranges [first, last), one range after the other."""
    sizes = last - first
    before = np.cumsum(sizes) - sizes
    numbers: I64 = np.arange(int(sizes.sum())) + np.repeat(first - before, sizes)
    return numbers


@kernel
def _best_rows(scores: F64, group_at: I64) -> Any:
    rows = np.empty(group_at.size - 1, dtype=np.int64)
    for g in range(rows.size):
        best = group_at[g]
        for x in range(group_at[g] + 1, group_at[g + 1]):
            if scores[x] > scores[best]:
                best = x
        rows[g] = best
    return rows


@kernel
def _count_codes(codes: NDArray[Any], scale: F64, slopes: F64, at: I64, pull: F64, out: F64) -> None:
    """Columns are counted apart and joined at the end: many contexts have the same cell, and adding to one place must
    wait for the last addition there."""
    columns = codes.shape[1]
    apart = np.zeros((columns, out.size))
    for e in range(pull.size):
        times = pull[e]
        for x in range(at[e], at[e + 1]):
            weight = times * slopes[x]
            for k in range(columns):
                apart[k, codes[x, k]] += weight
    for k in range(columns):
        for c in range(out.size):
            out[c] += scale[k] * apart[k, c]


@kernel
def _count_columns(values: F64, row: I32, slopes: F64, at: I64, pull: F64, out: F64) -> None:
    shared = np.zeros(values.shape[0])
    for e in range(pull.size):
        for x in range(at[e], at[e + 1]):
            shared[row[x]] += pull[e] * slopes[x]
    for d in range(values.shape[0]):
        for c in range(values.shape[1]):
            out[c] += values[d, c] * shared[d]


def _take(block: Block, rows: I64) -> Block:
    if isinstance(block, Codes):
        return Codes(np.ascontiguousarray(block.codes[rows]), block.scale, block.cells)
    if block.values.shape[0] == block.row.size:  # a row of values a context: keep no more than is used
        return Columns(np.ascontiguousarray(block.values[block.row[rows]]), np.arange(rows.size, dtype=np.int32))
    return Columns(block.values, block.row[rows])


@kernel
def _new_groups(slot: I32, document: I32, order: I32) -> Any:
    """Where a new entity or a new document begins, in entity order."""
    starts = np.empty(order.size, dtype=np.bool_)
    for i in range(order.size):
        x, before = order[i], order[i - 1]
        starts[i] = i == 0 or slot[x] != slot[before] or document[x] != document[before]
    return starts


def query_data(
    query_id: str, contexts: Contexts, features: FeatureMap, policy: str, grades: Mapping[Hashable, int]
) -> QueryData:
    """Encode one query; grades are by entity number, or by anything else for entities that have none."""
    groups = contexts.groups
    order = groups.order.astype(np.int64)
    if policy == "document":
        starts = np.flatnonzero(_new_groups(contexts.slot, contexts.document, groups.order))
        group_at = np.append(starts, order.size).astype(np.int64)
        at = np.searchsorted(starts, groups.at).astype(np.int64)
    else:
        group_at, at = np.arange(order.size + 1, dtype=np.int64), groups.at
    blocks = tuple(_take(block, order) for block in features.blocks(contexts))
    return QueryData(query_id, at, group_at, blocks, judge(groups.entity, groups.entity.tolist(), grades))


def dataset(
    tables: Iterable[tuple[str, Contexts, Mapping[Hashable, int]]], features: FeatureMap, view: View
) -> Dataset:
    """Encode many queries; contexts are read once, one query after the other."""
    encoded = (query_data(q, c, features, view.policy, grades) for q, c, grades in tables)
    return Dataset(features, view, tuple(encoded))
