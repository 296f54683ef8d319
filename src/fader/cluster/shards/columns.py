"""Columns of partial contexts that are sent on demand: which were asked for, reading them, fetching them later.

Knows nothing of sockets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from fader.contexts.columns import (
    DocumentColumns,
    DocumentValues,
    GivenColumns,
    MentionColumns,
    Positions,
    RowColumns,
    Rows,
    SentenceStarts,
    TakenRows,
    Titles,
)

I32 = NDArray[np.int32]
_NO_ROWS = np.empty(0, dtype=np.int32)


class Column(StrEnum):
    """A column that is sent on demand."""

    CONFIDENCE = "confidence"
    SIDES = "sides"
    START = "start"
    END = "end"
    DOCUMENTS = "documents"
    MATCHING = "matching"
    POSITIONS = "positions"
    SENTENCES = "sentences"
    TITLES = "titles"


def read_columns(source: RowColumns, wanted: Collection[Column]) -> GivenColumns:
    """Read some columns; `row` of document values is left out, as it follows from the documents."""
    return GivenColumns(
        sides=source.read_sides() if Column.SIDES in wanted else None,
        start=source.read_start() if Column.START in wanted else None,
        end=source.read_end() if Column.END in wanted else None,
        confidence=source.read_confidence() if Column.CONFIDENCE in wanted else None,
        documents=_drop_rows(source.read_documents()) if Column.DOCUMENTS in wanted else None,
        matching=_drop_rows(source.read_matching()) if Column.MATCHING in wanted else None,
        positions=source.read_positions() if Column.POSITIONS in wanted else None,
        sentences=source.read_sentences() if Column.SENTENCES in wanted else None,
        titles=source.read_titles() if Column.TITLES in wanted else None,
    )


def _drop_rows(v: DocumentColumns) -> DocumentValues:
    return DocumentValues(_NO_ROWS, v.number, v.counts, v.length, v.distinct, v.square, v.prior)


@dataclass(frozen=True)
class FetchedColumns:
    """Columns of one group: those in `sent` came with its rows, others are fetched when they are read."""

    given: GivenColumns
    sent: Collection[Column]
    fetch: Callable[[Column], GivenColumns]

    def _find(self, column: Column) -> GivenColumns:
        return self.given if column in self.sent else self.fetch(column)

    def take(self, rows: Rows) -> MentionColumns:
        return TakenRows(self, rows)

    def read_sides(self) -> NDArray[np.int8]:
        return self._find(Column.SIDES).read_sides()

    def read_start(self) -> I32:
        return self._find(Column.START).read_start()

    def read_end(self) -> I32:
        return self._find(Column.END).read_end()

    def read_confidence(self) -> NDArray[np.float64]:
        return self._find(Column.CONFIDENCE).read_confidence()

    def read_documents(self) -> DocumentValues:
        return self._find(Column.DOCUMENTS).read_documents()

    def read_matching(self) -> DocumentValues:
        return self._find(Column.MATCHING).read_matching()

    def read_positions(self) -> Positions:
        return self._find(Column.POSITIONS).read_positions()

    def read_sentences(self) -> SentenceStarts:
        return self._find(Column.SENTENCES).read_sentences()

    def read_titles(self) -> Titles:
        return self._find(Column.TITLES).read_titles()
