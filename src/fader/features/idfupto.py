"""IdfUpto features: the share of the query's IDF that is matched within each of some distances.

    f_j(x, e) = sum over t with l(t) <= d_j of IDF(t)/IDF(q)          w . f = sum_t IDF(t)/IDF(q) * W[j_t]

with j_t the nearest of the edges 0 = d < ... that l(t) is within, and W[j] the sum of w over that edge and all farther
ones, because a near literal is matched within these too. Weights ascend with nearness: the first is that of the
farthest edge, the last that of overlap. A literal beyond the last edge fires nothing. Golden case: edges 0, 1, 3, one
of two equal literals at distance 1: f = (1/2, 1/2, 0). Of the paper's section on cumulative perplexity. Knows nothing
of training.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fader.contexts.table import Contexts
from fader.errors import UsageError, quote
from fader.features.base import F64, I32, Block, Codes, FeatureMap, Piece
from fader.features.cellmaps.buckets import MAX_CELLS, Axes, by_side, check_distances, ladder
from fader.features.cellmaps.cells import Cells, sides_of, take_contexts
from fader.features.cellmaps.edges import learn_distances
from fader.features.checks import check_choice, check_flag, check_idf
from fader.features.fused import TermMaker
from fader.lazy import cached_property

DEFAULT_COLUMNS = 12


@dataclass(frozen=True)
class IdfUpto(FeatureMap):
    """One weight an edge: so many columns, or the distances written out, or to be learned."""

    name: ClassVar[str] = "idfupto"
    first: ClassVar[str] = "columns"
    columns: int = DEFAULT_COLUMNS
    distances: tuple[float, ...] = ()
    edges: str = "fixed"
    signed: bool = False
    idf: str = "log"

    def __post_init__(self) -> None:
        check_choice(self.name, "edges", self.edges, ("fixed", "learned"))
        check_flag(self.name, "signed", self.signed)
        check_idf(self.name, self.idf)
        given = check_distances(self.name, self.distances)
        if self.learns_edges and given:
            raise UsageError(f"{self.name}: edges=learned finds distances itself; leave them out")
        if given and self.columns not in (DEFAULT_COLUMNS, len(given)):
            raise UsageError(f"{self.name}: columns is {self.columns}, but there are {len(given)} distances")
        columns = len(given) or self.columns
        if not isinstance(columns, int) or not 1 <= columns <= MAX_CELLS // 2:
            wanted = f"a whole number from 1 to {MAX_CELLS // 2:,}"
            raise UsageError(f"{self.name}: columns must be {wanted}, not {quote(columns)}")
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "distances", given)

    @cached_property
    def axes(self) -> Axes:
        """The edges in use; one row."""
        return Axes(check_distances(self.name, self.distances) or ladder(self.columns - 1), (0.0,), 1 + self.signed)

    @property
    def size(self) -> int:
        return self.axes.copies * self.columns

    def labels(self) -> list[str]:
        farther = self.axes.column_labels()[1:]
        return by_side([f"IDF share {c if c == 'overlap' else f'within {c[3:]}'}" for c in farther], self.axes.copies)

    def expand(self, w: F64) -> F64:
        return self._by_copy(w).cumsum(axis=1).reshape(w.shape)

    def collapse(self, cells: F64) -> F64:
        return self._by_copy(cells)[:, ::-1].cumsum(axis=1)[:, ::-1].reshape(cells.shape)

    def _by_copy(self, w: F64) -> F64:
        return w.reshape(self.axes.copies, self.columns, -1)

    def _cells(self, first: I32) -> Cells:
        # Beyond all edges is no column here.
        column = np.maximum(self.axes.column_table() - np.int32(1), np.int32(-1))
        return Cells(column, first, self.columns if self.signed else 0, self.size)

    def _cells_of(self, contexts: Contexts) -> Cells:
        return self._cells(np.zeros(len(contexts.distances), dtype=np.int32))

    def blocks(self, contexts: Contexts) -> list[Block]:
        codes = self._cells_of(contexts).codes(contexts.distances, sides_of(contexts, self.signed))
        return [Codes(codes, contexts.statistics.perplexity(self.idf), self.size)]

    def score(self, contexts: Contexts, w: F64) -> F64:
        cells, scale = (
            self._cells_of(contexts),
            contexts.statistics.perplexity(self.idf),
        )
        return cells.scores(contexts.distances, sides_of(contexts, self.signed), scale, self.expand(w))

    def prepare_terms(self, w: F64) -> TermMaker:
        whole, idf = self._cells(np.zeros(1, dtype=np.int32)).distance_table(np.ones(1), self.expand(w)), self.idf
        return lambda statistics, _farthest: (replace(whole, table=statistics.perplexity(idf)[:, None] * whole.table),)

    def by_literal(self, contexts: Contexts, rows: I32, w: F64) -> F64:
        distances, sides = take_contexts(contexts.distances, rows), take_contexts(sides_of(contexts, self.signed), rows)
        codes = self._cells_of(contexts).codes(distances, sides)
        values: F64 = np.append(self.expand(w), 0.0)[codes.T]
        return contexts.statistics.perplexity(self.idf)[:, None] * values

    def pieces(self, contexts: Contexts, row: int, w: F64) -> list[Piece]:
        rows = np.array([row], dtype=np.int32)
        distances, sides = take_contexts(contexts.distances, rows), take_contexts(sides_of(contexts, self.signed), rows)
        codes = self._cells_of(contexts).codes(distances, sides)[0]
        value, labels = self.by_literal(contexts, rows, w)[:, 0], self.labels()
        return [Piece(self.name, t, labels[c], float(value[t])) for t, c in enumerate(codes) if c < self.size]

    @property
    def learns_edges(self) -> bool:
        return self.edges == "learned"

    def fit_edges(self, tables: Iterable[Contexts]) -> IdfUpto:
        """Edges learned from matched literals; where there are none, those of so many columns."""
        if not self.learns_edges:
            return self
        distances = learn_distances(tables, self.columns - 1)
        found = distances if len(distances) > 1 else ladder(self.columns - 1)
        return replace(self, edges="fixed", columns=len(found), distances=found)
