"""Completion: the types and entities that the first letters or some words of a label may mean, most likely first.

Labels are the names and aliases of entities, the names and ids of types, folded (`index.names`). Matches, in order:

    exact    a label is the text
    prefix   a label begins with the text
    words    every word of the text begins a word of one and the same label, in any order

Each group is ordered by popularity (entities: documents that mention it; types: entities that match it), then by folded
name, then by id. Everything matches an empty text. A text without words has no match of the third kind.

All sets are bit sets of *ranks* by popularity: the best of a set are its first bits, however large it is. Knows nothing
of HTTP, contexts or scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.errors import UsageError, quote
from fader.index.catalog import StoredCatalog, transpose
from fader.index.names import StoredNames, fold, words_of
from fader.kernel import kernel
from fader.limits import Limits, whole
from fader.search.collection import Collection

I32 = NDArray[np.int32]
U64 = NDArray[np.uint64]
TYPES_KEPT = 32  # types whose entities stay in memory: 250 kB each at two million entities
NOTHING, NO_ROWS = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int32)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TypeHint:
    """A type that may be meant, the name or id that matched, and the entities and types at all levels below it."""

    id: str
    name: str
    label: str
    supertypes: list[str]
    entities: int
    subtypes: int


@dataclass(frozen=True, slots=True)
class EntityHint:
    """An entity that may be meant, the name or alias that matched, and how many documents mention it."""

    id: str
    name: str
    label: str
    types: list[str]
    documents: int


class Suggester:
    """Completes labels of one commit of an index. Safe to share among threads."""

    def __init__(self, collection: Collection, limits: Limits | None = None) -> None:
        self._collection = collection
        self._limits = limits or Limits.from_environment()
        c = collection.catalog
        self._types = _Once(lambda: _Completion(c.type_labels, c.entities_below))
        # No lambda holds `self`: a cycle would keep the index mapped until the next garbage collection.
        self._entities = entities = _Once(lambda: _Completion(c.entity_labels, collection.entity_documents))
        self._by_type = by_type = _Once(lambda: _EntitiesByType(c, entities().rank))
        self._of_type = lru_cache(TYPES_KEPT)(lambda number: by_type().select(c.descendants(number)))

    def warm(self) -> None:
        """Do what the first calls would wait for: count the documents of entities, order all labels, load kernels."""
        for completion in (self._types(), self._entities()):
            completion.warm()
        self._by_type().select(NO_ROWS)
        self.types("", 1)
        self.entities("", 1)

    def types(self, text: str, limit: int = 10) -> list[TypeHint]:
        """Types by name or id."""
        c, wanted, count = self._collection.catalog, self._fold(text), _check_limit(limit)
        hints = []
        for t in self._types().find_best(wanted, count):
            label, below = wanted.choose_label(c.labels_of_type(t)), int(c.descendants(t).size) - 1
            hints.append(
                TypeHint(c.type_ids[t], c.type_names[t], label, c.supertypes_of(t), int(c.entities_below[t]), below)
            )
        return hints

    def entities(self, text: str, limit: int = 10, type: str | None = None) -> list[EntityHint]:
        """Entities by name or alias; with a type, those that match it."""
        c, wanted, count = self._collection.catalog, self._fold(text), _check_limit(limit)
        among = NOTHING if type is None else self._of_type(c.resolve_type(type))
        documents, hints = self._collection.entity_documents, []
        for e in self._entities().find_best(wanted, count, among):
            label = wanted.choose_label(c.labels_of_entity(e))
            hints.append(EntityHint(c.entity_ids[e], c.entity_names[e], label, c.types_of(e), int(documents[e])))
        return hints

    def _fold(self, text: str) -> FoldedText:
        if len(text) > self._limits.query_characters:
            size = f"a text to be completed has {len(text):,} characters"
            raise UsageError(f"{size}; {self._limits.at_most('query_characters')}")
        return FoldedText.of(text)


class _Once(Generic[T]):
    """A value that the first call computes, while other threads wait."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = Lock()
        self._made: list[T] = []

    def __call__(self) -> T:
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


def _check_limit(limit: int) -> int:
    number = whole(limit)
    if number is None or number < 1:
        raise UsageError(f"limit must be a whole number from 1 on, not {quote(limit)}")
    return number


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text to be completed: folded, and its words, without words that are a prefix of another one."""

    folded: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> FoldedText:
        folded = fold(text)
        # In sorted order a prefix of other words is right before one of them.
        ordered = sorted(set(words_of(folded)))
        implied = {a for a, b in pairwise(ordered) if b.startswith(a)}
        return cls(folded, tuple(word for word in ordered if word not in implied))

    def choose_label(self, labels: Iterable[str]) -> str:
        """The first of the labels that match best; the first of all for an empty text."""
        return min(labels, key=self._grade)

    def _grade(self, label: str) -> int:
        """0 for the text itself, 1 for a label that begins with it, 2 for one with its words, 3 for any other."""
        folded = fold(label)
        if folded.startswith(self.folded):
            return 0 if folded == self.folded or not self.folded else 1
        there = words_of(folded)
        return 2 if all(any(w.startswith(word) for w in there) for word in self.words) else 3


class _Completion:
    """The labels of all types or of all entities, with these in the order of their popularity."""

    def __init__(self, names: StoredNames, popularity: NDArray[Any]) -> None:
        self._names = names
        self._order = names.by_popularity(popularity)
        self.rank = np.empty_like(self._order)
        self.rank[self._order] = np.arange(self._order.size, dtype=np.int32)
        self._label_rank: I32 = self.rank[names.owner]

    def find_best(self, wanted: FoldedText, count: int, among: U64 = NOTHING) -> list[int]:
        """The best matches of a text; if `among` has bits, only those whose ranks are set."""
        budget.check()
        count = min(count, self._order.size)
        if not wanted.folded:
            ranks = _first(among, NOTHING, count) if among.size else range(count)
            return [int(self._order[rank]) for rank in ranks]
        found: dict[int, None] = {}
        for matches in (self._find_equal, self._find_prefix, self._find_words):
            if len(found) < count:
                bits = matches(wanted)
                # This set also holds the better matches, so ask for as many more.
                more = _first(bits, among, count + len(found)) if bits.size else []
                found |= dict.fromkeys(int(rank) for rank in more)
        return [int(self._order[rank]) for rank in list(found)[:count]]

    def _find_equal(self, wanted: FoldedText) -> U64:
        return self._set_of_rows(*self._names.equal(wanted.folded))

    def _find_prefix(self, wanted: FoldedText) -> U64:
        return self._set_of_rows(*self._names.beginning(wanted.folded))

    def _set_of_rows(self, a: int, b: int) -> U64:
        bits: U64 = _bits(self._label_rank[a:b], self._order.size) if a < b else NOTHING
        return bits

    def _find_words(self, wanted: FoldedText) -> U64:
        lists = sorted(map(self._names.with_word, wanted.words), key=len)
        rows = lists[0] if lists else NO_ROWS
        for other in lists[1:]:
            if rows.size:
                rows = _in_both(rows, other, self._label_rank.size)
        bits: U64 = _bits_of(rows, self._label_rank, self._order.size) if rows.size else NOTHING
        return bits

    def warm(self) -> None:
        """Call all kernels with empty arrays of the right types."""
        rows = self._names.with_word("")[:0]
        for some in (rows, _in_both(rows, rows, 0)):
            _in_both(some, rows, 0)
            _first(_bits_of(some, self._label_rank, 0), NOTHING, 0)
        _bits(self._label_rank[:0], 0)


class _EntitiesByType:
    """The entities of each type, by their ranks."""

    def __init__(self, catalog: StoredCatalog, rank: I32) -> None:
        self._type_at, entities = transpose(catalog.entity_types_at, catalog.entity_types, len(catalog.type_ids))
        self._type_ranks: I32 = rank[entities]
        self._size = rank.size

    def select(self, types: I32) -> U64:
        """The ranks of the entities that have one of the types, as bits."""
        bits: U64 = _bits_of_pieces(types, self._type_at, self._type_ranks, self._size)
        return bits


# Sets as bits


@kernel
def _bits(members: I32, size: int) -> U64:
    """A set of numbers below `size`."""
    bits = np.zeros((size + 63) >> 6, dtype=np.uint64)
    for m in members:
        bits[m >> 6] |= np.uint64(1) << np.uint64(m & 63)
    return bits


@kernel
def _bits_of(rows: I32, values: I32, size: int) -> U64:
    """The set of the values of some rows."""
    bits = np.zeros((size + 63) >> 6, dtype=np.uint64)
    for row in rows:
        m = values[row]
        bits[m >> 6] |= np.uint64(1) << np.uint64(m & 63)
    return bits


@kernel
def _bits_of_pieces(pieces: I32, at: I32, members: I32, size: int) -> U64:
    """The set of the members of some pieces, which are given by their offsets."""
    bits = np.zeros((size + 63) >> 6, dtype=np.uint64)
    for piece in pieces:
        for j in range(at[piece], at[piece + 1]):
            m = members[j]
            bits[m >> 6] |= np.uint64(1) << np.uint64(m & 63)
    return bits


@kernel
def _in_both(a: I32, b: I32, size: int) -> I32:
    """The numbers below `size` that stand in both lists, each once; `a` is the shorter list."""
    bits = np.zeros((size + 63) >> 6, dtype=np.uint64)
    for m in a:
        bits[m >> 6] |= np.uint64(1) << np.uint64(m & 63)
    out, n = np.empty(a.size, dtype=np.int32), 0
    for m in b:
        bit = np.uint64(1) << np.uint64(m & 63)
        if bits[m >> 6] & bit:
            bits[m >> 6] ^= bit
            out[n] = m
            n += 1
    return out[:n]


@kernel
def _first(bits: U64, among: U64, count: int) -> I32:
    """The first members of a set, or of two sets' intersection where the second is not empty."""
    out, n = np.empty(count, dtype=np.int32), 0
    for i in range(bits.size):
        word = bits[i] & among[i] if among.size else bits[i]
        if word == 0:
            continue
        for j in range(64):
            if word >> np.uint64(j) & np.uint64(1):
                if n == count:
                    return out
                out[n] = (i << 6) + j
                n += 1
    return out[:n]
