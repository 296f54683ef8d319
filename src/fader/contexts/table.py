"""The Contexts table: every mention of a matching entity in a matching document, with all distances.

Columns are flat arrays, rows in the order of documents and positions; `groups` sorts them by entity. Everything
that scores, aggregates or learns starts here and needs nothing of how it was found. Columns that most rankings never
read are found when they are first read (`contexts.columns`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.allowance import claim, release_later
from fader.contexts.around import Companions, Holdings, find_companions, find_holdings
from fader.contexts.columns import (
    ColumnSource,
    DocumentValues,
    EntityDetails,
    MentionColumns,
    Positions,
    Rows,
    SentenceStarts,
    TakenRows,
    Titles,
    take_documents,
)
from fader.contexts.query import Query
from fader.contexts.statistics import Statistics
from fader.kernel import kernel
from fader.lazy import cached_property
from fader.notebook import table, to_pandas, to_polars

I8 = NDArray[np.int8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
D = TypeVar("D", bound=np.generic)
SHOWN_ROWS = 10  # in a notebook
VALUES_BYTES, TITLE_BYTES, DETAIL_BYTES = 96, 48, 64  # of a document or an entity, both as found and as joined


@dataclass(frozen=True, slots=True)
class EntityGroups:
    """Contexts by entity: entity i has the rows `order[at[i]:at[i+1]]`, in document and position order."""

    entity: I32
    at: I64
    order: I32


@dataclass
class Contexts:
    """All contexts of one query.

    `slot[i]` numbers context i's entity among `entities`, which ascend; not every one of these need have a context.
    `distances[t, i]` is l(t) of literal t in context i, -1 where it is absent; `sides` -1 left, 0 overlap or
    absent, 1 right. `start` and `end` are token offsets in the document. `matched_documents` counts the documents
    that match the query, whether they mention a candidate or not.
    """

    query: Query
    statistics: Statistics
    slot: I32
    entities: I32
    document: I32
    distances: I32
    plan: str
    matched_documents: int = 0
    warnings: list[str] = field(default_factory=list)
    empty_because: str = ""
    columns: ColumnSource | None = None
    memo: dict[Hashable, Any] = field(default_factory=dict)
    held: Holdings | None = None  # of entities that have more contexts than the table

    def __len__(self) -> int:
        return int(self.slot.size)

    @cached_property
    def entity(self) -> I32:
        """The entity of each context."""
        return self.entities[self.slot]

    @property
    def df(self) -> list[int]:
        return [int(n) for n in self.statistics.df]

    @property
    def cf(self) -> list[int]:
        return [int(n) for n in self.statistics.cf]

    @cached_property
    def sides(self) -> I8:
        """Side of each literal's nearest occurrence: -1 left, 0 overlap or absent, 1 right."""
        self._claim(row=2 * self.literals)
        return self._source.read_sides()

    @cached_property
    def start(self) -> I32:
        """First token of each mention, counted in its document."""
        self._claim(row=12)
        return self._source.read_start()

    @cached_property
    def end(self) -> I32:
        """One behind the last token of each mention."""
        self._claim(row=12)
        return self._source.read_end()

    @cached_property
    def confidence(self) -> F64:
        """Annotation confidence of each context's mention."""
        self._claim(row=24)
        return self._source.read_confidence()

    @cached_property
    def documents(self) -> DocumentValues:
        """Values of the documents that have a context."""
        self._claim(row=12, document=VALUES_BYTES + 8 * self.literals)
        return self._source.read_documents()

    @cached_property
    def matching(self) -> DocumentValues:
        """Values of all documents that match the query, whether they have a context or not."""
        self._claim(row=12, document=VALUES_BYTES + 8 * self.literals)
        return self._source.read_matching()

    @cached_property
    def entity_documents(self) -> I32:
        """How many documents of the whole collection mention each of `entities`."""
        claim(8 * self.entities.size)
        return self._source.count_entity_documents()

    @cached_property
    def positions(self) -> Positions:
        """Every occurrence of every literal in the documents that have a context, whatever the window."""
        return self._source.read_positions()

    @cached_property
    def sentences(self) -> SentenceStarts:
        """Where sentences begin in the documents that have a context."""
        return self._source.read_sentences()

    @cached_property
    def titles(self) -> Titles:
        """Subjects and titles of all documents that match the query."""
        self._claim(document=TITLE_BYTES + 2 * self.literals)
        return self._source.read_titles()

    @cached_property
    def details(self) -> EntityDetails:
        """What the catalog says of the entities of `groups`."""
        claim((DETAIL_BYTES + 4 * self.literals) * self.groups.entity.size)
        return self._source.describe_entities(self.groups.entity)

    @cached_property
    def companions(self) -> Companions:
        """All mentions of candidates in the documents that have a context, those included that were not taken."""
        self._claim(row=40)
        found = self._source.read_companions()
        if found is not None:
            return found
        documents = self.documents
        return find_companions(documents.row, documents.length.size, self.start, self.slot, self.entities)

    @cached_property
    def holdings(self) -> Holdings:
        """The documents of the entities of `groups`."""
        if self.held is not None:
            return self.held
        self._claim(row=24)
        return find_holdings(self.groups.at, self.matching.row[self.groups.order])

    def compute_once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What several systems need of this query is made once: a document ranking, say."""
        budget.check()
        if key not in self.memo:
            if not self.memo:
                release_later(self.memo.clear)  # it may hold tables of some of these rows, which hold this one
            self.memo[key] = make()
        return self.memo[key]

    def compute_rows(self, key: Hashable, make: Callable[[Contexts], NDArray[D]]) -> NDArray[D]:
        """Values with a row per context, made once; rows of a table that has them already are taken from there."""
        source = self.columns
        if isinstance(source, TakenColumns) and key in source.table.memo:
            rows: NDArray[D] = source.table.memo[key][source.rows]
            return rows
        made: NDArray[D] = self.compute_once(key, lambda: make(self))
        return made

    def take(self, rows: NDArray[np.integer], compact: bool = False) -> Contexts:
        """The table of some rows, ascending.

        Its documents stay those of the whole table, or with `compact` are those of the rows alone.
        """
        claim((16 + 4 * self.literals) * rows.size)
        return replace(
            self,
            slot=self.slot[rows],
            document=self.document[rows],
            distances=np.ascontiguousarray(self.distances[:, rows]),
            columns=TakenColumns(self, rows, compact),
            memo={},
            held=None,
        )

    def within(self, documents: NDArray[np.integer]) -> Contexts:
        """The table of some documents that match, given by their places in `matching`, ascending; no others match."""
        kept = np.zeros(self.matching.number.size, dtype=np.bool_)
        kept[documents] = True
        rows = np.flatnonzero(kept[self.matching.row]).astype(np.int32)
        return replace(self.take(rows), columns=TakenColumns(self, rows, compact=False, matching=documents))

    def focus(self, rows: NDArray[np.integer]) -> Contexts:
        """The table of some rows, ascending, whose entities keep all documents that they have here."""
        taken = self.take(rows)
        places = np.searchsorted(self.groups.entity, taken.groups.entity)
        return replace(taken, held=self.holdings.take(places))

    @property
    def _source(self) -> ColumnSource:
        budget.check()
        if self.columns is None:
            raise ValueError("this Contexts table was made without a source of further columns")
        return self.columns

    @cached_property
    def groups(self) -> EntityGroups:
        """Contexts by entity, entities ascending."""
        claim(4 * len(self) + 32 * self.entities.size)
        size = np.bincount(self.slot, minlength=self.entities.size)
        order, put = np.empty(len(self), dtype=np.int32), np.cumsum(size) - size
        for begin, end in budget.chunks(len(self)):
            _sort_by_slot(self.slot, begin, end, put, order)
        return EntityGroups(*find_occupied(self.entities, size), order)

    @property
    def literals(self) -> int:
        """How many literals have distances."""
        return int(self.distances.shape[0])

    def _claim(self, row: int = 0, document: int = 0) -> None:
        """Claim memory for columns before they are made: bytes of a context, and of a document that matches.

        Some rows of another table share what that table has of documents.
        """
        documents = 0 if isinstance(self.columns, TakenColumns) else self.matched_documents
        claim(row * len(self) + document * documents)

    def entity_ids(self) -> list[str]:
        """The entity id of each row."""
        names, place = _sort_names(self._source.name_entities, self.entity)
        return [names[i] for i in place]

    def document_ids(self) -> list[str]:
        """The document id of each row."""
        names, place = _sort_names(self._source.name_documents, self.document)
        return [names[i] for i in place]

    def rows(self) -> list[tuple[str, str, int, int, float, tuple[int, ...], tuple[int, ...]]]:
        """Plain tuples sorted by entity, document id, start, end; for people and tests."""
        offsets = self.start.tolist(), self.end.tolist()
        matches = [tuple(c) for c in self.distances.T.tolist()], [tuple(c) for c in self.sides.T.tolist()]
        columns = (self.entity_ids(), self.document_ids(), *offsets, self.confidence.tolist(), *matches)
        return sorted(zip(*columns, strict=True), key=lambda r: r[:4])

    def __repr__(self) -> str:
        return f"Contexts({self.query.text!r}, contexts={len(self):,}, documents={self.matched_documents:,})"

    def __iter__(self) -> Iterator[tuple[str, str, int, int, float, tuple[int, ...], tuple[int, ...]]]:
        return iter(self.rows())

    def __getitem__(self, place: int) -> tuple[str, str, int, int, float, tuple[int, ...], tuple[int, ...]]:
        """The row at a place of `rows()`."""
        return self.rows()[place]

    def _repr_html_(self) -> str:
        rows = self.take(np.arange(min(len(self), SHOWN_ROWS))).rows()
        names = [literal.text for literal in self.query.literals]
        shown = [(row[0], row[1], row[2], row[4], *("" if d < 0 else d for d in row[5])) for row in rows]
        counts = f"{len(self):,} contexts in {self.matched_documents:,} documents"
        caption = f"{self.query.text}: {counts}; distances in tokens"
        return str(table(["entity", "document", "token", "confidence", *names], shown, caption))

    def to_pandas(self, qid: str = "") -> Any:
        """The table as a pandas frame."""
        return to_pandas(self.to_arrow(qid))

    def to_polars(self, qid: str = "") -> Any:
        """The table as a Polars frame."""
        return to_polars(self.to_arrow(qid))

    def to_arrow(self, qid: str = "") -> Any:
        """The table as Arrow, sorted by entity, document id, start and end."""
        import pyarrow as pa

        n, literals = len(self), self.distances.shape[0]
        entities, entity = _sort_names(self._source.name_entities, self.entity)
        documents, document = _sort_names(self._source.name_documents, self.document)
        order = np.lexsort((self.end, self.start, document, entity))
        every = np.arange(0, n * literals + 1, literals, dtype=np.int32)
        columns = [
            pa.array([qid] * n, type=pa.string()),
            pa.array(entities, type=pa.string()).take(pa.array(entity[order])),
            pa.array(documents, type=pa.string()).take(pa.array(document[order])),
            pa.array(self.start[order]),
            pa.array(self.end[order]),
            pa.array(self.confidence[order]),
            pa.ListArray.from_arrays(every, pa.array(np.ascontiguousarray(self.distances[:, order].T).reshape(-1))),
            pa.ListArray.from_arrays(every, pa.array(np.ascontiguousarray(self.sides[:, order].T).reshape(-1))),
        ]
        return pa.Table.from_arrays(columns, schema=arrow_schema())


@dataclass(frozen=True)
class _TableColumns:
    """Columns of a table, which it keeps once they are found."""

    table: Contexts

    def read_sides(self) -> I8:
        return self.table.sides

    def read_start(self) -> I32:
        return self.table.start

    def read_end(self) -> I32:
        return self.table.end

    def read_confidence(self) -> F64:
        return self.table.confidence


@dataclass(frozen=True)
class TakenColumns:
    """Columns of some rows of a table."""

    table: Contexts
    rows: NDArray[np.integer]
    compact: bool
    matching: NDArray[np.integer] | None = None  # the documents that match, of those of the table

    def take(self, rows: Rows) -> MentionColumns:
        return self.table._source.take(self.rows[rows])

    def read_sides(self) -> I8:
        return self._mentions("sides").read_sides()

    def read_start(self) -> I32:
        return self._mentions("start").read_start()

    def read_end(self) -> I32:
        return self._mentions("end").read_end()

    def read_confidence(self) -> F64:
        return self._mentions("confidence").read_confidence()

    def _mentions(self, name: str) -> MentionColumns:
        """Where a column is read: in the table if it is there already or most of it is wanted, else for these rows."""
        table = self.table
        if name in vars(table) or 2 * self.rows.size > len(table):
            return TakenRows(_TableColumns(table), self.rows)
        return table._source.take(self.rows)

    def read_documents(self) -> DocumentValues:
        values = self.table.documents
        if not self.compact:
            return replace(values, row=values.row[self.rows])
        kept = self._documents()
        return take_documents(values, kept, np.searchsorted(kept, values.row[self.rows]).astype(np.int32))

    def _documents(self) -> NDArray[np.int32]:
        """Which documents of the table the rows have."""
        return np.unique(self.table.documents.row[self.rows])

    def read_matching(self) -> DocumentValues:
        values = self.table.matching
        row = values.row[self.rows]
        if self.matching is None:
            return replace(values, row=row)
        return take_documents(values, self.matching, np.searchsorted(self.matching, row).astype(np.int32))

    def read_positions(self) -> Positions:
        return self.table.positions.take(self._documents()) if self.compact else self.table.positions

    def read_sentences(self) -> SentenceStarts:
        return self.table.sentences.take(self._documents()) if self.compact else self.table.sentences

    def read_titles(self) -> Titles:
        return self.table.titles if self.matching is None else self.table.titles.take(self.matching)

    def read_companions(self) -> Companions:
        """Those of the whole table: what is beside a row does not depend on which rows are taken."""
        found = self.table.companions
        return found.take(self._documents()) if self.compact else found

    def count_entity_documents(self) -> I32:
        return self.table.entity_documents

    def describe_entities(self, entities: I32) -> EntityDetails:
        return self.table._source.describe_entities(entities)

    def name_entities(self, numbers: list[int]) -> list[str]:
        return self.table._source.name_entities(numbers)

    def name_documents(self, numbers: list[int]) -> list[str]:
        return self.table._source.name_documents(numbers)


def _sort_names(name: Callable[[list[int]], list[str]], numbers: I32) -> tuple[list[str], I64]:
    """The different names behind some numbers, sorted, and for each number the place of its name."""
    distinct, inverse = np.unique(numbers, return_inverse=True)
    names = name(distinct.tolist())
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), dtype=np.int64)
    place[order] = np.arange(len(names))
    return [names[i] for i in order], place[inverse]


@kernel
def _sort_by_slot(slot: I32, begin: int, end: int, put: I64, order: I32) -> None:
    """Counting sort of the rows [begin, end), stable: `put[s]` is where the next row of slot s goes."""
    U = np.uintp
    for k in range(begin, end):
        s = U(slot[U(k)])
        order[U(put[s])] = np.int32(k)
        put[s] += 1


def arrow_schema() -> Any:
    """The columns of a stored Contexts table."""
    import pyarrow as pa

    texts = [(name, pa.string()) for name in ("qid", "entity", "doc")]
    numbers = [("start", pa.int32()), ("end", pa.int32()), ("confidence", pa.float64())]
    return pa.schema([*texts, *numbers, ("distances", pa.list_(pa.int32())), ("sides", pa.list_(pa.int8()))])


def find_occupied(entities: I32, size: NDArray[Any]) -> tuple[I32, I64]:
    """The entities that have contexts, and where each one's begin when they are laid end to end."""
    some = np.flatnonzero(size)
    at = np.zeros(some.size + 1, dtype=np.int64)
    np.cumsum(size[some], out=at[1:])
    return entities[some], at
