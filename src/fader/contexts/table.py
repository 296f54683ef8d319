"""The Contexts table: every mention of a matching entity in a matching document, with all distances.

Columns are flat arrays, rows in the order of documents and positions; `groups` sorts them by entity. Everything
that scores, aggregates or learns starts here and needs nothing of how it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.query import Query
from fader.contexts.statistics import Statistics
from fader.kernel import kernel

I8 = NDArray[np.int8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]


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


@dataclass(frozen=True, slots=True)
class Positions:
    """Every occurrence: in document j of `Contexts.documents` literal t begins at `start[at[t, j]:at[t, j+1]]`.

    Tokens are counted in the document and ascend; a literal covers `length[t]` of them.
    """

    at: I64
    start: I32
    length: I32


@dataclass(frozen=True, slots=True)
class Groups:
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
    late: Callable[[str], Any] | None = None
    memo: dict[Hashable, Any] = field(default_factory=dict)

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
        return self._late("sides")  # type: ignore[no-any-return]

    @cached_property
    def start(self) -> I32:
        """First token of each mention, counted in its document."""
        return self._late("start")  # type: ignore[no-any-return]

    @cached_property
    def end(self) -> I32:
        """One behind the last token of each mention."""
        return self._late("end")  # type: ignore[no-any-return]

    @cached_property
    def confidence(self) -> F64:
        """Annotation confidence of each context's mention."""
        return self._late("confidence")  # type: ignore[no-any-return]

    @cached_property
    def documents(self) -> DocumentValues:
        """Values of the documents that have a context."""
        return self._late("documents")  # type: ignore[no-any-return]

    @cached_property
    def matching(self) -> DocumentValues:
        """Values of all documents that match the query, whether they have a context or not."""
        return self._late("matching")  # type: ignore[no-any-return]

    @cached_property
    def entity_documents(self) -> I32:
        """How many documents of the whole collection mention each of `entities`."""
        return self._late("entity_documents")  # type: ignore[no-any-return]

    @cached_property
    def positions(self) -> Positions:
        """Every occurrence of every literal in the documents that have a context, whatever the window."""
        return self._late("positions")  # type: ignore[no-any-return]

    def shared(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What several systems need of this query is made once: a document ranking, say."""
        budget.check()
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]

    def take(self, rows: NDArray[Any]) -> Contexts:
        """The table of some rows, ascending; the documents stay those of the whole table."""
        return replace(
            self, slot=self.slot[rows], document=self.document[rows],
            distances=np.ascontiguousarray(self.distances[:, rows]), late=_Taken(self, rows), memo={},
        )  # fmt: skip

    def _late(self, name: str) -> Any:
        """Columns that most rankings never read are found when first asked for."""
        budget.check()
        if self.late is None:
            raise ValueError(f"this Contexts table was made without {name}")
        return self.late(name)

    @cached_property
    def groups(self) -> Groups:
        """Contexts by entity, entities ascending."""
        size = np.bincount(self.slot, minlength=self.entities.size)
        order, put = np.empty(len(self), dtype=np.int32), np.cumsum(size) - size
        for begin, end in budget.chunks(len(self)):
            _sort_by_slot(self.slot, begin, end, put, order)
        return Groups(*occupied(self.entities, size), order)

    def entity_ids(self) -> list[str]:
        """The entity id of each row."""
        names, place = self._named("entity_names_of", self.entity)
        return [names[i] for i in place]

    def document_ids(self) -> list[str]:
        """The document id of each row."""
        names, place = self._named("document_names_of", self.document)
        return [names[i] for i in place]

    def rows(self) -> list[tuple[str, str, int, int, float, tuple[int, ...], tuple[int, ...]]]:
        """Plain tuples sorted by entity, document id, start, end; for people and tests."""
        columns = (
            self.entity_ids(), self.document_ids(), self.start.tolist(), self.end.tolist(), self.confidence.tolist(),
            [tuple(c) for c in self.distances.T.tolist()], [tuple(c) for c in self.sides.T.tolist()],
        )  # fmt: skip
        return sorted(zip(*columns, strict=True), key=lambda r: r[:4])

    def to_arrow(self, qid: str = "") -> Any:
        """The table as Arrow, sorted by entity, document id, start and end."""
        import pyarrow as pa

        n, literals = len(self), self.distances.shape[0]
        entities, entity = self._named("entity_names_of", self.entity)
        documents, document = self._named("document_names_of", self.document)
        order = np.lexsort((self.end, self.start, document, entity))
        every = np.arange(0, n * literals + 1, literals, dtype=np.int32)
        columns = [
            pa.array([qid] * n, type=pa.string()),
            pa.array(entities, type=pa.string()).take(pa.array(entity[order])),
            pa.array(documents, type=pa.string()).take(pa.array(document[order])),
            pa.array(self.start[order]), pa.array(self.end[order]), pa.array(self.confidence[order]),
            pa.ListArray.from_arrays(every, pa.array(np.ascontiguousarray(self.distances[:, order].T).reshape(-1))),
            pa.ListArray.from_arrays(every, pa.array(np.ascontiguousarray(self.sides[:, order].T).reshape(-1))),
        ]  # fmt: skip
        return pa.Table.from_arrays(columns, schema=arrow_schema())

    def _named(self, how: str, numbers: I32) -> tuple[list[str], I64]:
        """The different names behind some numbers, sorted, and for each number the place of its name."""
        distinct, inverse = np.unique(numbers, return_inverse=True)
        names = self._late(how)(distinct.tolist())
        order = sorted(range(len(names)), key=names.__getitem__)
        place = np.empty(len(names), dtype=np.int64)
        place[order] = np.arange(len(names))
        return [names[i] for i in order], place[inverse]


class _Taken:
    """Late columns of some rows of a table."""

    def __init__(self, table: Contexts, rows: NDArray[Any]) -> None:
        self._table, self._rows = table, rows

    def __call__(self, name: str) -> Any:
        if name in ("start", "end", "confidence"):
            return getattr(self._table, name)[self._rows]
        if name == "sides":
            return np.ascontiguousarray(self._table.sides[:, self._rows])
        if name in ("documents", "matching"):
            values: DocumentValues = getattr(self._table, name)
            return replace(values, row=values.row[self._rows])
        if name in ("positions", "entity_documents"):
            return getattr(self._table, name)
        return self._table._late(name)


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

    return pa.schema([
        ("qid", pa.string()), ("entity", pa.string()), ("doc", pa.string()), ("start", pa.int32()),
        ("end", pa.int32()), ("confidence", pa.float64()), ("distances", pa.list_(pa.int32())),
        ("sides", pa.list_(pa.int8())),
    ])  # fmt: skip


def occupied(entities: I32, size: NDArray[Any]) -> tuple[I32, I64]:
    """The entities that have contexts, and where each one's begin when they are laid end to end."""
    some = np.flatnonzero(size)
    at = np.zeros(some.size + 1, dtype=np.int64)
    np.cumsum(size[some], out=at[1:])
    return entities[some], at
