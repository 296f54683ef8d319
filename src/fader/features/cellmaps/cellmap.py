"""What grid, rectangle and coverage share: a surface of cells over perplexity and proximity.

Their parameters, the cell of every literal, labels, heat maps and learned edges. Abstract: what fires which weight is
each map's own. With `edges=learned` the shape says how many edges to look for; until `fit_edges` has found them, the
edges of the shape alone are used. Knows the table and nothing of training.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.features.base import F64, I32, Block, Codes, FeatureMap, Piece, add_scores, cell_values
from fader.features.cellmaps.buckets import TOLERANCE, Axes, axes_of, cell_labels, even_shares_of, ladder
from fader.features.cellmaps.cells import I8, Cells, sides_of, take_contexts
from fader.features.cellmaps.edges import learn_distances, learn_shares, literal_shares
from fader.features.cellmaps.staircase import gains
from fader.features.checks import check_choice, check_flag, check_idf
from fader.features.fused import DistanceTable, Term, TermMaker
from fader.lazy import cached_property

DEFAULT_SHAPE = "10x12"


@dataclass(frozen=True)
class CellMap(FeatureMap):
    """Edges of both axes, by shape (rows x columns), written out, or to be learned; sides apart or together."""

    first: ClassVar[str] = "shape"
    shape: str = DEFAULT_SHAPE
    distances: tuple[float, ...] = ()
    shares: tuple[float, ...] = ()
    edges: str = "fixed"
    signed: bool = False
    idf: str = "log"

    def __post_init__(self) -> None:
        check_choice(self.name, "edges", self.edges, ("fixed", "learned"))
        check_flag(self.name, "signed", self.signed)
        check_idf(self.name, self.idf)
        axes = axes_of(self.name, self.shape, DEFAULT_SHAPE, self.distances, self.shares, self.signed)
        if self.learns_edges and (self.distances or self.shares):
            raise UsageError(f"{self.name}: edges=learned finds distances and shares itself; leave them out")
        # Written one way, so that equal maps are equal values.
        object.__setattr__(self, "shape", f"{axes.rows}x{axes.columns}")
        object.__setattr__(self, "distances", axes.distances if self.distances else ())
        object.__setattr__(self, "shares", axes.shares if self.shares else ())

    @cached_property
    def axes(self) -> Axes:
        """The edges in use."""
        return axes_of(self.name, self.shape, DEFAULT_SHAPE, self.distances, self.shares, self.signed)

    @property
    def size(self) -> int:
        return self.axes.cells

    @property
    def additive(self) -> bool:
        """Whether every literal adds the value of its own cell, whatever the others do."""
        return True

    @abstractmethod
    def expand(self, w: F64) -> F64: ...

    def labels(self) -> list[str]:
        return cell_labels(self.row_labels(), self.column_labels(), self.axes.copies)

    def row_labels(self) -> list[str]:
        """Rows of `weight_grid`: shares of IDF(q), ascending."""
        return self.axes.row_labels()

    def column_labels(self) -> list[str]:
        """Columns of `weight_grid`: distances, ascending in nearness."""
        return self.axes.column_labels()

    def weight_grid(self, w: F64) -> F64:
        """What a literal in each cell is worth: (rows, columns), or (2, rows, columns) for left and right."""
        grid = self.expand(w).reshape(self.axes.copies, self.axes.rows, self.axes.columns)
        return grid if self.signed else grid[0]

    def cells(self, statistics: Statistics) -> Cells:
        """Where the literals of a query fall."""
        axes = self.axes
        first = axes.row_of(statistics.perplexity(self.idf)) * np.int32(axes.columns)
        return Cells(axes.column_table(), first, axes.cells // 2 if self.signed else 0, axes.cells)

    def encode_cells(self, statistics: Statistics, distances: I32, sides: I8) -> Codes:
        """The cells that contexts fire."""
        codes = self.cells(statistics).codes(distances, sides)
        return Codes(codes, np.ones(distances.shape[0]), self.axes.cells)

    def blocks(self, contexts: Contexts) -> list[Block]:
        return [self.encode_cells(contexts.statistics, contexts.distances, sides_of(contexts, self.signed))]

    def score(self, contexts: Contexts, w: F64) -> F64:
        if not self.additive:
            return super().score(contexts, w)
        sides, scale = sides_of(contexts, self.signed), np.ones(contexts.distances.shape[0])
        return self.cells(contexts.statistics).scores(contexts.distances, sides, scale, self.expand(w))

    def prepare_terms(self, w: F64) -> TermMaker | None:
        """A table of distances for every row; a literal takes that of its own."""
        axes, idf = self.axes, self.idf
        first = np.arange(axes.rows, dtype=np.int32) * np.int32(axes.columns)
        cells = Cells(axes.column_table(), first, axes.cells // 2 if self.signed else 0, axes.cells)
        of_row = cells.distance_table(np.ones(axes.rows), self.expand(w))
        edges = np.array(axes.shares)

        def make(statistics: Statistics, _farthest: int) -> tuple[Term, ...]:
            row = np.searchsorted(edges, statistics.perplexity(idf) + TOLERANCE, side="right") - 1
            return (DistanceTable(of_row.table[row], 1.0, of_row.signed),)

        return make

    def by_literal(self, contexts: Contexts, rows: I32, w: F64) -> F64:
        distances, sides = take_contexts(contexts.distances, rows), take_contexts(sides_of(contexts, self.signed), rows)
        values = self.expand(w)
        if self.additive:
            codes = self.cells(contexts.statistics).codes(distances, sides)
            own: F64 = np.append(values, 0.0)[codes.T]
            return own

        def score_of(kept: I32) -> F64:
            out = np.zeros(kept.shape[1])
            block = self.encode_cells(contexts.statistics, kept, sides)
            add_scores(block, cell_values([block], values)[0], out)
            return out

        return gains(distances, score_of)

    def pieces(self, contexts: Contexts, row: int, w: F64) -> list[Piece]:
        value = self.by_literal(contexts, np.array([row], dtype=np.int32), w)[:, 0]
        labels, cell = self.labels(), self.find_shown_cells(contexts, row)
        matched = np.flatnonzero(contexts.distances[:, row] >= 0)
        return [Piece(self.name, int(t), labels[cell[t]], float(value[t])) for t in matched]

    def find_shown_cells(self, contexts: Contexts, row: int) -> NDArray[Any]:
        """The cell by whose label each literal of a context is shown."""
        rows = np.array([row])
        distances, sides = take_contexts(contexts.distances, rows), take_contexts(sides_of(contexts, self.signed), rows)
        codes: NDArray[Any] = self.cells(contexts.statistics).codes(distances, sides)[0]
        return codes

    @property
    def learns_edges(self) -> bool:
        return self.edges == "learned"

    def fit_edges(self, tables: Iterable[Contexts]) -> Self:
        """Edges learned from matched literals; an axis without anything to learn from has those of the shape."""
        if not self.learns_edges:
            return self
        kept = list(tables)
        distances = learn_distances(kept, self.axes.columns - 2)
        shares = learn_shares((self.shares_in(table) for table in kept), self.axes.rows - 1)
        far = distances if len(distances) > 1 else ladder(self.axes.columns - 2)
        share = shares if len(shares) > 1 else even_shares_of(self.axes.rows)
        shape = f"{len(share)}x{len(far) + 1}"
        return replace(self, edges="fixed", shape=shape, distances=far, shares=share)

    def shares_in(self, table: Contexts) -> tuple[F64, F64]:
        """The shares of IDF(q) that rows are made for, and how often a query has each."""
        return literal_shares(table, self.idf)
