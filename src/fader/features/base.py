"""The contract of a feature map.

A feature map turns a Contexts table into numbers f_q(x, e) >= 0, one vector a context, which weights w turn into the
score w . f_q(x, e). It never writes such vectors out. It gives a *block*: for every context a few cells or columns,
and a linear map from weights to cell values, W = expand(w), so that

    Codes:    w . f(x) = sum_k scale[k] * W[codes[x, k]]            the gradient is collapse(histogram of codes)
    Columns:  w . f(x) = sum_c values[row[x], c] * W[c]

with `collapse` the transpose of `expand`. For the rectangle encoding `expand` is the 2-D prefix sum. A feature map
knows the table and its statistics, and nothing of storage, of training or of aggregation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.table import Contexts
from fader.features.fused import TermMaker
from fader.kernel import kernel
from fader.registry import write_part

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Codes:
    """A few cells a context: `codes` is (contexts, K), uint8 or uint16; the code `cells` stands for nothing."""

    codes: NDArray[Any]
    scale: F64
    cells: int


@dataclass(frozen=True, slots=True)
class Columns:
    """Dense values, shared by contexts where they can be: context x has `values[row[x]]`."""

    values: F64
    row: I32


Block = Codes | Columns


@dataclass(frozen=True, slots=True)
class Piece:
    """What one cell adds to a context's score; `literal` is -1 where it belongs to no single literal."""

    feature: str
    literal: int
    cell: str
    value: float


class FeatureMap(ABC):
    """A value: its string parses back to it, and it says what each weight means.

    `score(contexts, w)` is what the blocks and `expand(w)` say, perhaps by a faster way. The columns of
    `by_literal(contexts, rows, w)` add up to `score(contexts, w)[rows]`, and so do the values of
    `pieces(contexts, row, w)` for one row (to rounding); a literal that a context does not have gets nothing, unless
    the context has none at all.
    """

    name: ClassVar[str]
    reads_table: ClassVar[bool] = False  # a context's features depend on other rows: they need the whole table

    def __str__(self) -> str:
        """The text that parses back to the map."""
        return write_part(self)

    @property
    @abstractmethod
    def size(self) -> int:
        """How many weights it has."""

    @abstractmethod
    def labels(self) -> list[str]:
        """What each weight means, in a few words."""

    @abstractmethod
    def blocks(self, contexts: Contexts) -> list[Block]:
        """The features of all contexts, rows in the table's order; a single map has one block."""

    @abstractmethod
    def by_literal(self, contexts: Contexts, rows: I32, w: F64) -> F64:
        """The scores of some rows, split among literals: (literals, rows)."""

    @abstractmethod
    def pieces(self, contexts: Contexts, row: int, w: F64) -> list[Piece]:
        """The score of one row, by cell."""

    def expand(self, w: F64) -> F64:
        """Cell values of weights."""
        return w

    def collapse(self, cells: F64) -> F64:
        """The transpose of `expand`; along the first axis."""
        return cells

    def score(self, contexts: Contexts, w: F64) -> F64:
        """w . f for every context."""
        out, blocks = np.zeros(len(contexts)), self.blocks(contexts)
        for block, values in zip(blocks, cell_values(blocks, self.expand(w)), strict=True):
            add_scores(block, values, out)
        return out

    def prepare_terms(self, w: F64) -> TermMaker | None:
        """w . f as terms that are computed while contexts are matched, bit for bit `score`; None: it has no such form.

        What does not depend on the query is computed here, once for a model.
        """
        return None

    def fit_edges(self, tables: Iterable[Contexts]) -> Self:
        """The same map with edges learned from the contexts of training queries, where edges are to be learned."""
        return self

    @property
    def learns_edges(self) -> bool:
        """Whether `fit_edges` would change it."""
        return False

    def penalty(self) -> F64:
        """The matrix R of the regulariser w.R w / (2 lambda^2); ridge: the identity."""
        return np.eye(self.size)

    def bounds(self) -> tuple[F64, F64]:
        """Smallest and largest value of each weight."""
        return np.zeros(self.size), np.full(self.size, np.inf)

    def start(self) -> F64:
        """Weights to begin training with: something sensible that is not 0."""
        return np.full(self.size, 1.0 / self.size)


@kernel
def _add_codes(codes: NDArray[Any], scale: F64, values: F64, out: F64) -> None:
    for x in range(codes.shape[0]):
        total = out[x]
        for k in range(codes.shape[1]):
            total += scale[k] * values[codes[x, k]]
        out[x] = total


@kernel
def _weigh(values: F64, weights: F64, shared: F64) -> None:
    for d in range(values.shape[0]):
        for c in range(values.shape[1]):
            shared[d] += values[d, c] * weights[c]


@kernel
def _add_shared(shared: F64, row: I32, out: F64) -> None:
    for x in range(row.size):
        out[x] += shared[row[x]]


def cells_of(block: Block) -> int:
    """How many cell values a block reads."""
    return block.cells if isinstance(block, Codes) else int(block.values.shape[1])


def cell_values(blocks: Sequence[Block], cells: F64) -> list[F64]:
    """Cell values as each block reads them: its own ones, and a 0 behind for the code that stands for nothing."""
    cuts = np.split(cells, np.cumsum([cells_of(block) for block in blocks])[:-1]) if blocks else []
    return [
        np.append(part, 0.0) if isinstance(block, Codes) else np.ascontiguousarray(part)
        for block, part in zip(blocks, cuts, strict=True)
    ]


def add_scores(block: Block, values: F64, out: F64) -> None:
    """Add a block's scores to `out`, with `values` from `cell_values`; literals one after the other, in query order."""
    if isinstance(block, Codes):
        for a, b in budget.chunks(out.size):
            _add_codes(block.codes[a:b], block.scale, values, out[a:b])
        return
    shared = np.zeros(block.values.shape[0])
    for a, b in budget.chunks(shared.size):
        _weigh(block.values[a:b], values, shared[a:b])
    for a, b in budget.chunks(out.size):
        _add_shared(shared, block.row[a:b], out[a:b])
