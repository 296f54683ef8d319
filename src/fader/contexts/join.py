"""Parts of a Contexts table put together in the order of documents: segments of an index, or shares of machines.

A part has some of the rows, of documents that no other part has, each document's rows together; documents carry the
numbers that they have in the whole collection. So the table is the same however the collection was cut. Columns that
most rankings never read are found when they are asked for. Knows nothing of where a part comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.table import DocumentValues, Positions
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
OF_DOCUMENTS = ("length", "distinct", "square", "prior")


class Values(Protocol):
    """Those of some documents of a part: `DocumentValues` but `row`."""

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


class Part(Protocol):
    """Some rows. `column` gives confidence, sides, start or end; `values` those of `documents` or `matching` documents;
    `positions` how often each literal occurs in each document that has a row, and where."""

    @property
    def slot(self) -> I32: ...

    @property
    def entities(self) -> I32: ...

    @property
    def document(self) -> I32: ...

    @property
    def distances(self) -> I32: ...

    def column(self, name: str) -> Any: ...

    def values(self, name: str) -> Values: ...

    def positions(self) -> tuple[NDArray[Any], list[I32]]: ...


class Source(Protocol):
    """What is known of the whole collection."""

    @property
    def catalog(self) -> Any: ...

    def entity_documents_of(self, entities: I32) -> I32: ...

    def document_ids(self, documents: list[int]) -> list[str]: ...


class Joined:
    """Columns of the whole table from those of its parts; `in_order` says that these are in order as they stand."""

    def __init__(self, parts: Sequence[Part], source: Source, literals: Sequence[int], in_order: bool = False) -> None:
        self._parts, self._source, self._lengths, self._in_order = parts, source, literals, in_order

    def joined(self, column: Callable[[Any], Any], axis: int = 0) -> Any:
        """A column of all parts."""
        arrays = [column(part) for part in self._parts]
        joined = arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=axis)
        return joined if self._order is None else _taken(joined, self._order, axis)

    @cached_property
    def _order(self) -> I64 | None:
        """The rows of the parts, laid end to end, in the order of their documents; None where they are in it."""
        return None if self._in_order else _ascending(*_laid([part.document for part in self._parts]))

    @cached_property
    def documents(self) -> I32:
        """The number of each row's document."""
        documents: I32 = self.joined(lambda p: p.document)
        return documents

    @cached_property
    def slots(self) -> tuple[I32, I32]:
        """The slot of each row's entity, and the entities that the slots stand for, in all parts alike."""
        if len(self._parts) == 1:
            return self.joined(lambda p: p.slot), self._parts[0].entities
        own = [part.entities for part in self._parts]
        joined = np.concatenate([np.empty(0, dtype=np.int32), *own])
        joined.sort(kind="stable")  # a merge, since each part's entities ascend
        entities = joined[np.flatnonzero(np.diff(joined, prepend=-1))]
        places = iter([_places(e, entities) for e in own])
        return self.joined(lambda p: next(places)[p.slot]), entities

    def late(self, name: str) -> Any:
        """A column that is found only when it is asked for."""
        if name in ("confidence", "start", "end"):
            return self.joined(lambda p: p.column(name))
        if name == "sides":
            return self.joined(lambda p: p.column(name), axis=1)
        if name in ("documents", "matching"):
            return self._values(name)
        return getattr(self, f"_late_{name}")()

    def _late_entity_names_of(self) -> Any:
        ids = self._source.catalog.entity_ids
        return lambda numbers: [ids[e] for e in numbers]

    def _late_document_names_of(self) -> Any:
        return self._source.document_ids

    def _late_entity_documents(self) -> Any:
        return self._source.entity_documents_of(self.slots[1])

    def _values(self, name: str) -> DocumentValues:
        """Values of some documents of each part, among which are those of all contexts."""
        parts = [part.values(name) for part in self._parts]
        order = _ascending(*_laid([values.number for values in parts]))

        def joined(column: str, axis: int = 0) -> Any:
            whole = np.concatenate([getattr(values, column) for values in parts], axis=axis)
            return whole if order is None else _taken(whole, order, axis)

        number, documents = joined("number"), self.documents
        row = budget.gathered(len(documents), lambda a, b: np.searchsorted(number, documents[a:b]).astype(np.int32))
        return DocumentValues(
            row=row, number=number, counts=joined("counts", axis=1), **{c: joined(c) for c in OF_DOCUMENTS}
        )

    def _late_positions(self) -> Positions:
        parts = [part.positions() for part in self._parts]
        size = np.concatenate([size for size, _start in parts], axis=1)
        starts = [start[t] for t in range(len(self._lengths)) for _size, start in parts]
        laid = np.concatenate([np.empty(0, dtype=np.int32), *starts])
        if self._order is not None:
            order = _ascending(*_laid([distinct(part.document) for part in self._parts]))
            if order is not None:
                laid, size = _lists_in_order(laid, size, order)
        return Positions(_bounds_of(size), laid, np.array(self._lengths, dtype=np.int32))


def _bounds_of(size: NDArray[Any]) -> I64:
    """Where lists begin and end, `size[t, j]` long and laid end to end: those of one t after those of another."""
    literals = size.shape[0]
    at = np.zeros((literals, size.shape[1] + 1), dtype=np.int64)
    at[:, 1:] = np.cumsum(size.reshape(-1), dtype=np.int64).reshape(literals, -1)
    at[:, 0] = np.concatenate([[0], at[:-1, -1]])
    return at


def distinct(documents: I32) -> I32:
    """Each document of some rows once, as they stand."""
    return documents[np.flatnonzero(np.diff(documents, prepend=-1))]


def _laid(numbers: list[I32]) -> tuple[I32, I64]:
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


def _taken(values: Any, order: I64, axis: int = 0) -> Any:
    """Values, or columns of an array of literals (axis 1), in another order."""
    if axis == 0:
        return budget.gathered(order.size, lambda a, b: values[order[a:b]])
    out = np.empty((values.shape[0], order.size), dtype=values.dtype)
    for t in range(values.shape[0]):
        for a, b in budget.chunks(order.size):
            out[t, a:b] = values[t][order[a:b]]
    return out


def _ascending(numbers: I32, ends: I64) -> I64 | None:
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
        parts.append(_merged(numbers, parts.pop(), parts.pop()))
    return parts[0]


@kernel
def _merged(numbers: I32, a: I64, b: I64) -> I64:
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


def _lists_in_order(values: I32, size: NDArray[Any], order: I64) -> tuple[I32, NDArray[Any]]:
    """Lists laid end to end, `size[t, j]` long, with the columns j in another order."""
    begin = np.cumsum(size.reshape(-1), dtype=np.int64).reshape(size.shape) - size
    size, begin = size[:, order], begin[:, order]
    flat = size.reshape(-1)
    shift = begin.reshape(-1) - (np.cumsum(flat, dtype=np.int64) - flat)
    return values[np.arange(values.size) + np.repeat(shift, flat)], size
