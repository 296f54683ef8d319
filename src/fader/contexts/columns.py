"""Columns of a Contexts table that are read on demand, and where they come from.

Most rankings never read them: sides, offsets, confidence, values of documents, all positions, names. A `ColumnSource`
finds them: for the segments of an index or for partial tables of several machines (`contexts.join`), for some rows of
a table (`TakenColumns` in `contexts.table`), or from values that are given (`GivenColumns`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fader.contexts.around import Companions, take_lists

T = TypeVar("T")
I8 = NDArray[np.int8]
U8 = NDArray[np.uint8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Rows = NDArray[np.integer]
_NO_ROWS = np.empty(0, dtype=np.int32)


class DocumentColumns(Protocol):
    """Values of some documents, ascending by number: `DocumentValues` without `row`."""

    @property
    def number(self) -> I32: ...

    @property
    def counts(self) -> I32: ...

    @property
    def length(self) -> I32: ...

    @property
    def distinct(self) -> I64: ...

    @property
    def square(self) -> I64: ...

    @property
    def prior(self) -> F64: ...


@dataclass(frozen=True, slots=True)
class DocumentValues:
    """What position-blind features need, once per document: `row[i]` is the document of context i.

    `counts[t, j]` = tf of literal t in document j; `length` its tokens; `distinct` its different terms and
    `square` the sum of its squared term counts.
    """

    row: I32
    number: I32
    counts: I32
    length: I32
    distinct: I64
    square: I64
    prior: F64


def take_documents(values: DocumentColumns, places: NDArray[np.integer], row: I32 = _NO_ROWS) -> DocumentValues:
    """The values of the documents at some places."""
    return DocumentValues(
        row=row,
        number=values.number[places],
        counts=np.ascontiguousarray(values.counts[:, places]),
        length=values.length[places],
        distinct=values.distinct[places],
        square=values.square[places],
        prior=values.prior[places],
    )


@dataclass(frozen=True, slots=True)
class Positions:
    """Every occurrence: in document j of `Contexts.documents` literal t begins at `start[at[t, j]:at[t, j+1]]`.

    Tokens are counted in the document and ascend; a literal covers `length[t]` of them.
    """

    at: I64
    start: I32
    length: I32

    def take(self, documents: NDArray[np.integer]) -> Positions:
        """Those in some documents."""
        taken = [take_lists(at, documents) for at in self.at]
        before = np.cumsum([0, *(rows.size for _at, rows in taken)])
        at = np.array([own + begin for (own, _rows), begin in zip(taken, before[:-1], strict=True)], dtype=np.int64)
        places = np.concatenate([np.empty(0, dtype=np.int64), *(rows for _at, rows in taken)])
        return Positions(at.reshape(len(taken), documents.size + 1), self.start[places], self.length)


@dataclass(frozen=True, slots=True)
class SentenceStarts:
    """In document j of `Contexts.documents` sentences begin at the tokens `start[at[j]:at[j+1]]`, the first at 0."""

    at: I64
    start: I32

    def take(self, documents: NDArray[np.integer]) -> SentenceStarts:
        """Those of some documents."""
        at, rows = take_lists(self.at, documents)
        return SentenceStarts(at, self.start[rows])


@dataclass(frozen=True, slots=True)
class Titles:
    """Of each document of `Contexts.matching` the entity that it is about, -1 for none, and its title's terms.

    `terms` counts the different ones, `hits` those that some literal has; `has[t, j]` is 1 where the title has all
    terms of literal t.
    """

    about: I32
    terms: I32
    hits: I32
    has: U8

    def take(self, documents: NDArray[np.integer]) -> Titles:
        """Those of some documents."""
        return Titles(self.about[documents], self.terms[documents], self.hits[documents], self.has[:, documents])


@dataclass(frozen=True, slots=True)
class EntityDetails:
    """What the catalog says of some entities: terms of their names as in `Titles`, and their types.

    `types` counts the direct ones; `direct` is 1 where the answer type is one of them, `depth` how many levels the
    lowest stands below the answer type; `type_has[t, i]` is 1 where the name of a type has all terms of literal t.
    `asked` is 1 for an entity that a literal of the query names.
    """

    terms: I32
    hits: I32
    has: U8
    types: I32
    direct: U8
    depth: I32
    type_has: U8
    asked: U8


class MentionColumns(Protocol):
    """What is shown of some rows."""

    def read_sides(self) -> I8:
        """Side of each literal's nearest occurrence, (literals, rows)."""
        ...

    def read_start(self) -> I32:
        """First token of each mention, counted in its document."""
        ...

    def read_end(self) -> I32:
        """One behind the last token of each mention."""
        ...

    def read_confidence(self) -> F64:
        """Annotation confidence of each mention."""
        ...


class RowColumns(MentionColumns, Protocol):
    """Columns of some rows: of a segment, of a machine, or of a whole table."""

    def take(self, rows: Rows) -> MentionColumns:
        """What is shown of some of the rows, found for these alone where that is less work."""
        ...

    def read_documents(self) -> DocumentColumns:
        """Values of the documents that have a context."""
        ...

    def read_matching(self) -> DocumentColumns:
        """Values of all documents that match the query."""
        ...

    def read_positions(self) -> Positions:
        """Every occurrence of every literal in the documents that have a context."""
        ...

    def read_sentences(self) -> SentenceStarts:
        """Where sentences begin in the documents that have a context."""
        ...

    def read_titles(self) -> Titles:
        """Subjects and titles of all documents that match the query."""
        ...


class ColumnSource(RowColumns, Protocol):
    """Columns of a whole table, and the names behind its numbers."""

    def read_documents(self) -> DocumentValues: ...

    def read_matching(self) -> DocumentValues: ...

    def read_companions(self) -> Companions | None:
        """All mentions of candidates beside the rows; None where all of these are rows themselves."""
        ...

    def count_entity_documents(self) -> I32:
        """How many documents of the whole collection mention each of the table's entities."""
        ...

    def describe_entities(self, entities: I32) -> EntityDetails:
        """What the catalog says of some entities."""
        ...

    def name_entities(self, numbers: list[int]) -> list[str]:
        """The ids of some entities."""
        ...

    def name_documents(self, numbers: list[int]) -> list[str]:
        """The ids of some documents."""
        ...


@dataclass(frozen=True)
class TakenRows:
    """Some rows of columns that are at hand as a whole."""

    columns: MentionColumns
    rows: Rows

    def read_sides(self) -> I8:
        return np.ascontiguousarray(self.columns.read_sides()[:, self.rows])

    def read_start(self) -> I32:
        taken: I32 = self.columns.read_start()[self.rows]
        return taken

    def read_end(self) -> I32:
        taken: I32 = self.columns.read_end()[self.rows]
        return taken

    def read_confidence(self) -> F64:
        taken: F64 = self.columns.read_confidence()[self.rows]
        return taken


@dataclass(frozen=True)
class GivenColumns:
    """Columns given as values. One that was not given is an error when it is read."""

    sides: I8 | None = None
    start: I32 | None = None
    end: I32 | None = None
    confidence: F64 | None = None
    documents: DocumentValues | None = None
    matching: DocumentValues | None = None
    positions: Positions | None = None
    sentences: SentenceStarts | None = None
    titles: Titles | None = None
    entity_documents: I32 | None = None
    entities: Sequence[str] | None = None
    document_ids: Sequence[str] | None = None
    details: EntityDetails | None = None  # of all entities, by number
    companions: Companions | None = None  # without them, given rows are taken for all

    def take(self, rows: Rows) -> MentionColumns:
        return TakenRows(self, rows)

    def read_sides(self) -> I8:
        return _require(self.sides, "sides")

    def read_start(self) -> I32:
        return _require(self.start, "start")

    def read_end(self) -> I32:
        return _require(self.end, "end")

    def read_confidence(self) -> F64:
        return _require(self.confidence, "confidence")

    def read_documents(self) -> DocumentValues:
        return _require(self.documents, "documents")

    def read_matching(self) -> DocumentValues:
        return _require(self.matching, "matching")

    def read_positions(self) -> Positions:
        return _require(self.positions, "positions")

    def read_sentences(self) -> SentenceStarts:
        return _require(self.sentences, "sentences")

    def read_titles(self) -> Titles:
        return _require(self.titles, "titles")

    def describe_entities(self, entities: I32) -> EntityDetails:
        known = _require(self.details, "details")
        return EntityDetails(*(getattr(known, f.name)[..., entities] for f in fields(EntityDetails)))

    def read_companions(self) -> Companions | None:
        return self.companions

    def count_entity_documents(self) -> I32:
        return _require(self.entity_documents, "entity_documents")

    def name_entities(self, numbers: list[int]) -> list[str]:
        names = _require(self.entities, "entities")
        return [names[e] for e in numbers]

    def name_documents(self, numbers: list[int]) -> list[str]:
        names = _require(self.document_ids, "document_ids")
        return [names[d] for d in numbers]


def _require(value: T | None, name: str) -> T:
    if value is None:
        raise ValueError(f"this Contexts table was made without {name}")
    return value
