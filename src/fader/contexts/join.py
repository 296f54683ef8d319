"""Parts of a Contexts table joined in the order of documents: segments of an index, or partial tables of machines.

A part has some of the rows, of documents that no other part has, each document's rows together; documents carry the
numbers that they have in the whole collection. So the table is the same however the collection was cut. Columns that
most rankings never read are joined when they are first read. Knows nothing of where a part comes from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.allowance import claim
from fader.contexts.around import Companions
from fader.contexts.columns import (
    DocumentColumns,
    DocumentValues,
    EntityDetails,
    MentionColumns,
    Positions,
    RowColumns,
    Rows,
    SentenceStarts,
    Titles,
)
from fader.contexts.query import Query
from fader.corpus.analysis import Analysis
from fader.index.catalog import StoredCatalog
from fader.kernel import kernel
from fader.lazy import cached_property

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
I8 = NDArray[np.int8]
D = TypeVar("D", bound=np.generic)


class Part(Protocol):
    """Some rows, and where their further columns are found."""

    @property
    def slot(self) -> I32: ...

    @property
    def entities(self) -> I32: ...

    @property
    def document(self) -> I32: ...

    @property
    def distances(self) -> I32: ...

    @property
    def columns(self) -> RowColumns: ...


class Lookup(Protocol):
    """What is known of the whole collection."""

    @property
    def catalog(self) -> StoredCatalog: ...

    @property
    def analysis(self) -> Analysis: ...

    def entity_documents_of(self, entities: I32) -> I32: ...

    def document_ids(self, documents: list[int]) -> list[str]: ...


class JoinedColumns:
    """Columns of the whole table from those of its parts; `in_order` says that the parts stand in order already."""

    def __init__(self, parts: Sequence[Part], lookup: Lookup, query: Query, in_order: bool = False) -> None:
        self._parts, self._lookup, self._query, self._in_order = parts, lookup, query, in_order
        self._lengths = [literal.length for literal in query.literals]

    def _join(self, arrays: list[NDArray[D]], axis: int = 0) -> NDArray[D]:
        """A column of all parts in the order of their documents."""
        joined = arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=axis)
        return joined if self._order is None else _reorder(joined, self._order, axis)

    @cached_property
    def _order(self) -> I64 | None:
        """The rows of the parts, laid end to end, in the order of their documents; None where they are in it."""
        return None if self._in_order else _sort_parts(*_lay([part.document for part in self._parts]))

    @cached_property
    def document(self) -> I32:
        """The number of each row's document."""
        return self._join([part.document for part in self._parts])

    @property
    def distances(self) -> I32:
        """The distance of each literal in each row."""
        return self._join([part.distances for part in self._parts], axis=1)

    @cached_property
    def slots(self) -> tuple[I32, I32]:
        """The slot of each row's entity, and the entities that the slots stand for, in all parts alike."""
        if len(self._parts) == 1:
            return self._join([self._parts[0].slot]), self._parts[0].entities
        own = [part.entities for part in self._parts]
        joined = np.concatenate([np.empty(0, dtype=np.int32), *own])
        joined.sort(kind="stable")  # a merge, since each part's entities ascend
        entities = joined[np.flatnonzero(np.diff(joined, prepend=-1))]
        return self._join([_places(part.entities, entities)[part.slot] for part in self._parts]), entities

    def take(self, rows: Rows) -> MentionColumns:
        if len(self._parts) == 1 and self._order is None:
            return self._parts[0].columns.take(rows)
        laid = rows if self._order is None else self._order[rows]
        order = np.argsort(laid, kind="stable")
        ends = np.cumsum([0, *(part.document.size for part in self._parts)])
        bounds = np.searchsorted(laid[order], ends).tolist()
        back = np.empty(order.size, dtype=np.int64)
        back[order] = np.arange(order.size)
        own = zip(self._parts, pairwise(bounds), ends.tolist(), strict=False)
        taken = [part.columns.take(laid[order[a:b]] - begin) for part, (a, b), begin in own if a < b]
        return JoinedRows(taken or [self._parts[0].columns.take(rows)], back)

    def read_sides(self) -> I8:
        return self._join([part.columns.read_sides() for part in self._parts], axis=1)

    def read_start(self) -> I32:
        return self._join([part.columns.read_start() for part in self._parts])

    def read_end(self) -> I32:
        return self._join([part.columns.read_end() for part in self._parts])

    def read_confidence(self) -> F64:
        return self._join([part.columns.read_confidence() for part in self._parts])

    def read_documents(self) -> DocumentValues:
        return self._join_values([part.columns.read_documents() for part in self._parts])

    def read_matching(self) -> DocumentValues:
        return self._join_values([part.columns.read_matching() for part in self._parts])

    def read_companions(self) -> Companions | None:
        """The parts have all rows."""
        return None

    def count_entity_documents(self) -> I32:
        return self._lookup.entity_documents_of(self.slots[1])

    def name_entities(self, numbers: list[int]) -> list[str]:
        ids = self._lookup.catalog.entity_ids
        return [ids[e] for e in numbers]

    def name_documents(self, numbers: list[int]) -> list[str]:
        return self._lookup.document_ids(numbers)

    def _join_values(self, parts: Sequence[DocumentColumns]) -> DocumentValues:
        """Values of some documents of each part, among which are those of all contexts."""
        order = _sort_parts(*_lay([values.number for values in parts]))

        def join(arrays: list[NDArray[D]], axis: int = 0) -> NDArray[D]:
            whole = np.concatenate(arrays, axis=axis)
            return whole if order is None else _reorder(whole, order, axis)

        number, document = join([v.number for v in parts]), self.document
        row = budget.gather_chunks(len(document), lambda a, b: np.searchsorted(number, document[a:b]).astype(np.int32))
        return DocumentValues(
            row=row,
            number=number,
            counts=join([v.counts for v in parts], axis=1),
            length=join([v.length for v in parts]),
            distinct=join([v.distinct for v in parts]),
            square=join([v.square for v in parts]),
            prior=join([v.prior for v in parts]),
        )

    def read_positions(self) -> Positions:
        parts = [part.columns.read_positions() for part in self._parts]
        size = np.concatenate([np.diff(p.at, axis=1) for p in parts], axis=1)
        starts = [p.start[p.at[t, 0] : p.at[t, -1]] for t in range(len(self._lengths)) for p in parts]
        claim(24 * size.size + 4 * sum(own.size for own in starts))
        laid = np.concatenate([np.empty(0, dtype=np.int32), *starts])
        if self._order is not None:
            order = _sort_parts(*_lay([distinct(part.document) for part in self._parts]))
            if order is not None:
                claim(28 * laid.size)
                laid, size = _reorder_lists(laid, size, order)
        return Positions(bounds_of(size), laid, np.array(self._lengths, dtype=np.int32))

    def read_sentences(self) -> SentenceStarts:
        parts = [part.columns.read_sentences() for part in self._parts]
        size = np.concatenate([np.diff(p.at) for p in parts]).reshape(1, -1)
        laid = np.concatenate([np.empty(0, dtype=np.int32), *(p.start for p in parts)])
        order = _sort_parts(*_lay([distinct(part.document) for part in self._parts]))
        if order is not None:
            laid, size = _reorder_lists(laid, size, order)
        return SentenceStarts(bounds_of(size).reshape(-1), laid)

    def read_titles(self) -> Titles:
        parts = [part.columns.read_titles() for part in self._parts]
        order = _sort_parts(*_lay([part.columns.read_matching().number for part in self._parts]))

        def join(arrays: list[NDArray[D]], axis: int = 0) -> NDArray[D]:
            whole = np.concatenate(arrays, axis=axis)
            return whole if order is None else _reorder(whole, order, axis)

        about, terms = join([p.about for p in parts]), join([p.terms for p in parts])
        return Titles(about, terms, join([p.hits for p in parts]), join([p.has for p in parts], axis=1))

    def describe_entities(self, entities: I32) -> EntityDetails:
        return describe_entities(self._lookup.catalog, self._lookup.analysis, self._query, entities)


@dataclass(frozen=True)
class JoinedRows:
    """What is shown of some rows, from that of the rows of each part; row i is row `back[i]` of these."""

    parts: list[MentionColumns]
    back: I64

    def read_sides(self) -> I8:
        return np.ascontiguousarray(np.concatenate([part.read_sides() for part in self.parts], axis=1)[:, self.back])

    def read_start(self) -> I32:
        taken: I32 = np.concatenate([part.read_start() for part in self.parts])[self.back]
        return taken

    def read_end(self) -> I32:
        taken: I32 = np.concatenate([part.read_end() for part in self.parts])[self.back]
        return taken

    def read_confidence(self) -> F64:
        taken: F64 = np.concatenate([part.read_confidence() for part in self.parts])[self.back]
        return taken


def describe_entities(catalog: StoredCatalog, analysis: Analysis, query: Query, entities: I32) -> EntityDetails:
    """What a catalog says of some entities."""
    literals = [literal.terms for literal in query.literals]
    name = catalog.label_terms("entity", analysis).match(entities, literals)
    begin = catalog.entity_types_at[entities]
    size = catalog.entity_types_at[entities + 1] - begin
    owner = np.repeat(np.arange(entities.size), size)
    types = catalog.entity_types[np.arange(owner.size) + np.repeat(begin - np.cumsum(size) + size, size)]
    known, place = np.unique(types, return_inverse=True)
    matched = catalog.label_terms("type", analysis).match(known, literals).has
    type_has = np.zeros(name.has.shape, dtype=np.uint8)
    for out, has in zip(type_has, matched, strict=True):
        np.maximum.at(out, owner, has[place])
    direct, depth = np.zeros(entities.size, dtype=np.uint8), np.zeros(entities.size, dtype=np.int32)
    if query.type is not None:
        answer = catalog.resolve_type(query.type)
        direct[owner[types == answer]] = 1
        np.maximum.at(depth, owner, catalog.type_depths[types])
        depth -= catalog.type_depths[answer]
    asked = [catalog.entity_ids.find(literal.entity) for literal in query.literals if literal.entity is not None]
    return EntityDetails(*name, size, direct, depth, type_has, np.isin(entities, asked).astype(np.uint8))


def bounds_of(size: NDArray[Any]) -> I64:
    """Where lists begin and end, `size[t, j]` long and laid end to end: those of one t after those of another."""
    literals = size.shape[0]
    at = np.zeros((literals, size.shape[1] + 1), dtype=np.int64)
    at[:, 1:] = np.cumsum(size.reshape(-1), dtype=np.int64).reshape(literals, -1)
    at[:, 0] = np.concatenate([[0], at[:-1, -1]])
    return at


def lay_sentences(count: I32, gap: I32) -> tuple[I64, I32]:
    """Where the sentences of each text are, and where they begin: at 0 the first, then a gap behind the one before."""
    at = np.zeros(count.size + 1, dtype=np.int64)
    np.cumsum(count + 1, out=at[1:])
    steps = np.zeros(int(at[-1]), dtype=np.int64)
    is_first = np.zeros(steps.size, dtype=bool)
    is_first[at[:-1]] = True
    steps[~is_first] = gap
    total = np.cumsum(steps)
    return at, (total - np.repeat(total[at[:-1]], count + 1)).astype(np.int32)


def distinct(documents: I32) -> I32:
    """Each document of some rows once, as they stand."""
    return documents[np.flatnonzero(np.diff(documents, prepend=-1))]


def _lay(numbers: list[I32]) -> tuple[I32, I64]:
    """Numbers of all parts laid end to end, and where each part begins."""
    laid = numbers[0] if len(numbers) == 1 else np.concatenate(numbers)
    return laid, np.cumsum([0, *(n.size for n in numbers)])


@kernel
def _places(some: I32, all_: I32) -> I32:
    """The place of each of some ascending numbers among all of them, which ascend too."""
    out = np.empty(some.size, dtype=np.int32)
    j = 0
    for i in range(some.size):
        while all_[j] < some[i]:
            j += 1
        out[i] = j
    return out


def _reorder(values: NDArray[D], order: I64, axis: int = 0) -> NDArray[D]:
    """Values, or columns of an array of literals (axis 1), in another order."""
    if axis == 0:
        taken: NDArray[D] = budget.gather_chunks(order.size, lambda a, b: values[order[a:b]])
        return taken
    out = np.empty((values.shape[0], order.size), dtype=values.dtype)
    for t in range(values.shape[0]):
        for a, b in budget.chunks(order.size):
            out[t, a:b] = values[t][order[a:b]]
    return out


def _sort_parts(numbers: I32, ends: I64) -> I64 | None:
    """What puts numbers in order, equal ones as they stand; None where they are in order.

    Parts are in order as a rule, and few: merging them, small ones first, is quicker than sorting.
    """
    rises = numbers[1:] >= numbers[:-1]
    if rises.all():
        return None
    parts = [np.arange(a, b) for a, b in pairwise(ends.tolist()) if b > a]
    if not all(rises[part[0] : part[-1]].all() for part in parts):
        return np.argsort(numbers, kind="stable")
    while len(parts) > 1:
        budget.check()
        parts.sort(key=len, reverse=True)
        parts.append(_merge(numbers, parts.pop(), parts.pop()))
    return parts[0]


@kernel
def _merge(numbers: I32, a: I64, b: I64) -> I64:
    """Two lists of rows, each in the order of its numbers, as one. No number is in both."""
    U = np.uintp
    out = np.empty(a.size + b.size, dtype=np.int64)
    i, j = 0, 0
    for k in range(out.size):
        if j == b.size or (i < a.size and numbers[U(a[U(i)])] < numbers[U(b[U(j)])]):
            out[U(k)] = a[U(i)]
            i += 1
        else:
            out[U(k)] = b[U(j)]
            j += 1
    return out


def _reorder_lists(values: I32, size: NDArray[Any], order: I64) -> tuple[I32, NDArray[Any]]:
    """Lists laid end to end, `size[t, j]` long, with the columns j in another order."""
    begin = np.cumsum(size.reshape(-1), dtype=np.int64).reshape(size.shape) - size
    size, begin = size[:, order], begin[:, order]
    flat = size.reshape(-1)
    shift = begin.reshape(-1) - (np.cumsum(flat, dtype=np.int64) - flat)
    return values[np.arange(values.size) + np.repeat(shift, flat)], size
