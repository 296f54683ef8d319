"""Columns of the rows that a fused ranking shows: what was located of them, and nothing of other rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader.contexts.around import Companions
from fader.contexts.columns import (
    DocumentValues,
    EntityDetails,
    MentionColumns,
    Positions,
    Rows,
    SentenceStarts,
    TakenRows,
    Titles,
)
from fader.index.reader import IndexReader

F64 = NDArray[np.float64]
I8 = NDArray[np.int8]
I32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ShownColumns:
    """Columns of the rows that are shown."""

    reader: IndexReader
    sides: I8
    start: I32
    end: I32
    confidence: F64

    def take(self, rows: Rows) -> MentionColumns:
        return TakenRows(self, rows)

    def read_sides(self) -> I8:
        return self.sides

    def read_start(self) -> I32:
        return self.start

    def read_end(self) -> I32:
        return self.end

    def read_confidence(self) -> F64:
        return self.confidence

    def read_documents(self) -> DocumentValues:
        raise ValueError("rows that are shown have no values of documents; ask for all rows")

    def read_matching(self) -> DocumentValues:
        raise ValueError("rows that are shown have no values of matching documents; ask for all rows")

    def read_positions(self) -> Positions:
        raise ValueError("rows that are shown have no positions; ask for all rows")

    def read_sentences(self) -> SentenceStarts:
        raise ValueError("rows that are shown have no sentences; ask for all rows")

    def read_titles(self) -> Titles:
        raise ValueError("rows that are shown have no titles of matching documents; ask for all rows")

    def describe_entities(self, entities: I32) -> EntityDetails:
        raise ValueError("rows that are shown have no details of entities; ask for all rows")

    def read_companions(self) -> Companions:
        raise ValueError("rows that are shown are some of a document; ask for all rows")

    def count_entity_documents(self) -> I32:
        raise ValueError("rows that are shown have no counts of entities; ask for all rows")

    def name_entities(self, numbers: list[int]) -> list[str]:
        ids = self.reader.catalog.entity_ids
        return [ids[e] for e in numbers]

    def name_documents(self, numbers: list[int]) -> list[str]:
        return self.reader.document_ids(numbers)
