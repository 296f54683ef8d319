"""A scoring as numbers: the terms of `features.fused` laid out in arrays that the kernels read.

Tables of distances get one width, that of the widest, so that one code per literal and mention serves all terms. Knows
nothing of queries or lists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.aggregate.base import Accumulation
from fader.features.fused import (
    Addend,
    ConfidenceColumn,
    Covering,
    DistanceTable,
    DocumentSum,
    EntityColumn,
    NearShares,
    Propagation,
    Staircase,
    Term,
)
from fader.fused import kernels
from fader.fused.kernels import Program
from fader.rank.system import FusedScoring, View

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
NO_NUMBERS = np.zeros(1)
KINDS = {"count": kernels.COUNT, "sum": kernels.SUM, "max": kernels.MAX, "min": kernels.MIN, "logsum": kernels.LOGSUM}
TRANSFORMS = {
    "none": kernels.NO_TRANSFORM,
    "softplus": kernels.SOFTPLUS,
    "log1p": kernels.LOG1P,
    "power": kernels.POWER,
}
GROUPED = Accumulation("grouped")
MOST_NUMBERS = 1 << 22  # of all tables of a query


class Layout:
    """Numbers laid end to end while terms are written."""

    def __init__(self, cap: int, signed: bool) -> None:
        self.cap, self.signed = cap, signed
        self.terms: list[tuple[int, ...]] = []
        self.numbers: list[F64] = []
        self.integers: list[I32] = []
        self._numbers = self._integers = 0
        self.entity: F64 | None = None
        self.mention: F64 | None = None

    def add(
        self,
        kind: int,
        numbers: Sequence[F64] = (),
        integers: Sequence[NDArray[Any]] = (),
        first: int = 0,
        second: int = 0,
    ) -> None:
        """Enter a term and lay out what it reads."""
        self.terms.append((kind, self._numbers, self._integers, first, second, len(self.terms)))
        for part in numbers:
            self.numbers.append(part.ravel())
            self._numbers += part.size
        for whole in integers:
            self.integers.append(whole.astype(np.int32))
            self._integers += whole.size

    def widen(self, table: NDArray[Any], signed: bool) -> NDArray[Any]:
        """A table by code along its last axis, with a place for every code up to `cap`, on both sides if need be."""
        halves = np.split(table, 2, axis=-1) if signed else [table] * (1 + self.signed)
        size = self.cap + 1
        if halves[0].shape[-1] == size:
            return table if len(halves) == 1 or signed else np.concatenate(halves, axis=-1)
        place = np.minimum(np.arange(size), halves[0].shape[-1] - 1)
        return np.concatenate([half[..., place] for half in halves], axis=-1)


def write_program(
    scoring: FusedScoring,
    view: View,
    entity_values: Callable[[EntityColumn], F64],
    confidence: Callable[[], F64],
    documents: F64 | None,
    around: F64 | None,
) -> Program | None:
    """The program of a scoring; None where its tables are too large.

    `documents` are the values of documents and `around` those of mentions, where the scoring has such.
    """
    terms = (*scoring.choice, *scoring.terms)
    tables = [t for t in terms if isinstance(t, DistanceTable)]
    stairs = [t for t in terms if isinstance(t, Staircase)]
    signed = any(t.signed for t in tables) or any(t.copies > 1 for t in stairs)
    widths = [t.table.shape[1] // (1 + t.signed) for t in tables] + [t.place.size // t.copies for t in stairs]
    cap = max(widths, default=1) - 1
    if sum(t.table.shape[0] for t in tables) * (cap + 1) * (1 + signed) > MOST_NUMBERS:
        return None
    layout = Layout(cap, signed)
    for term in scoring.choice:
        _write(layout, term, entity_values, confidence, around)
    if documents is not None:
        layout.add(kernels.DOCUMENT_COLUMN)
    for term in scoring.terms:
        _write(layout, term, entity_values, confidence, around)
    accumulation = scoring.aggregator.accumulation or GROUPED
    kind = KINDS.get(accumulation.kind, kernels.KEEP) if scoring.associate is None else kernels.KEEP
    return Program(
        terms=np.array(layout.terms, dtype=np.int64).reshape(-1, 6),
        choice=len(scoring.choice),
        numbers=np.concatenate([*layout.numbers, NO_NUMBERS]),
        integers=np.concatenate([*layout.integers, np.zeros(1, dtype=np.int32)]),
        entity=NO_NUMBERS if layout.entity is None else layout.entity,
        mention=NO_NUMBERS if layout.mention is None else layout.mention,
        document=NO_NUMBERS if documents is None else documents,
        cap=cap,
        signed=signed,
        overlap=view.overlap,
        window=-1 if view.window is None else int(view.window),
        by_mention=scoring.policy == "mention",
        kind=kind,
        transform=TRANSFORMS[accumulation.transform],
        parameter=float(accumulation.parameter),
        has_staircase=len(stairs) > 0,
        reads_counts=any(isinstance(t, DocumentSum) for t in terms),
    )


def _write(
    layout: Layout,
    term: Term,
    entity_values: Callable[[EntityColumn], F64],
    confidence: Callable[[], F64],
    around: F64 | None,
) -> None:
    match term:
        case DistanceTable(table, scale, signed):
            wide = layout.widen(table, signed)
            layout.add(kernels.DISTANCE_TABLE, [np.array([scale]), wide], first=wide.shape[1])
        case Staircase():
            _write_staircase(layout, term)
        case DocumentSum(column, weights, literal, squares, total, average):
            numbers = [literal, np.array([squares, total, average]), weights]
            layout.add(kernels.DOCUMENT_SUM, numbers, [column], first=column.size)
        case EntityColumn():
            if layout.entity is not None:
                raise ValueError("a scoring has one column of entities at most")
            layout.entity = entity_values(term)
            layout.add(kernels.ENTITY_COLUMN)
        case ConfidenceColumn(weight):
            _write_mentions(layout, confidence(), weight)
        case Addend(value):
            layout.add(kernels.ADDEND, [np.array([value])])
        case Propagation() | Covering() | NearShares():
            assert around is not None
            _write_mentions(layout, around, 1.0)


def _write_mentions(layout: Layout, values: F64, weight: float) -> None:
    if layout.mention is not None:
        raise ValueError("a scoring has one column of mentions at most")
    layout.mention = values
    layout.add(kernels.MENTION_COLUMN, [np.array([weight])])


def _write_staircase(layout: Layout, term: Staircase) -> None:
    place = layout.widen(term.place, term.copies > 1)
    numbers, integers, shares = [term.values], [place], 0
    if term.perplexity is not None:
        numbers, shares = [term.values, term.shares, term.perplexity], term.shares.size
    if term.row is not None:
        integers = [place, term.row, np.argsort(-term.row, kind="stable")]
    literals = max(len(each) for each in (term.perplexity, term.row) if each is not None)
    # A key of all columns must fit 56 bits to be remembered; the bits above tell terms apart.
    remembered = literals * np.log2(term.copies * term.columns + 1) < 56
    head = np.array([term.columns, term.copies, term.cells, shares])
    layout.add(kernels.STAIRCASE, numbers, [head, *integers], first=place.size, second=int(remembered))
