"""Which entity a literal names, by what the collection itself calls its entities.

    counts of a literal = mentions that cover exactly an occurrence of it, per entity
                          + 1 for each entity with a name or alias that is the literal, folded (`index.names.fold`)

The entity with at least half of all counts is named (of two the one with the smaller id), with this share as
confidence; a single word only if the counts are at least 0.3 of its occurrences, so that "general" is not the company
that is called so now and then. Counts are of all documents that are not deleted, so they are the same however the
collection was cut or came about. Knows nothing of how literals are matched afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.occurrences import Occurrences
from fader.contexts.query import Literal, Query
from fader.contexts.sought import SoughtLiteral
from fader.index.catalog import StoredCatalog
from fader.index.names import fold
from fader.index.reader import IndexReader

I32 = NDArray[np.int32]
KEPT = 10_000  # literals whose entities are cached


@dataclass(frozen=True, slots=True)
class FormCounts:
    """How many mentions of each of some entities a literal covers, and how often it occurs."""

    entity: I32
    count: I32
    occurrences: int


class Named(NamedTuple):
    """The id of the entity that a literal names, None for none, and its share of the counts."""

    entity: str | None
    confidence: float


NOTHING = Named(None, 1.0)
NO_ENTITIES = np.empty(0, dtype=np.int32)


def count_forms(reader: IndexReader, literals: Iterable[Literal]) -> list[FormCounts]:
    """The counts of literals in a reader's segments."""
    found = []
    for literal in literals:
        budget.check()
        sought, parts, occurrences = SoughtLiteral(literal.terms, literal.offsets, literal.length), [], 0
        for segment in reader.segments:
            starts = Occurrences(segment, sought).all()[1:-1]
            occurrences += starts.size
            parts.append(segment.count_forms(starts, literal.length))
        found.append(FormCounts(*_add(parts), occurrences))
    return found


def add_forms(parts: Sequence[FormCounts]) -> FormCounts:
    """The counts of one literal in several parts of a collection."""
    return FormCounts(*_add([(p.entity, p.count) for p in parts]), sum(p.occurrences for p in parts))


def _add(parts: Sequence[tuple[I32, I32]]) -> tuple[I32, I32]:
    """The sums of counts; entities of a part differ, and ascend."""
    parts = [part for part in parts if part[0].size]
    if len(parts) <= 1:
        return parts[0] if parts else (NO_ENTITIES, NO_ENTITIES)
    entity, place = np.unique(np.concatenate([e for e, _n in parts]), return_inverse=True)
    count = np.bincount(place, np.concatenate([n for _e, n in parts]), entity.size)
    return entity.astype(np.int32), count.astype(np.int32)


def choose_entity(catalog: StoredCatalog, literal: Literal, counts: FormCounts) -> Named:
    """The entity that a literal names, given its counts in the whole collection."""
    labels = catalog.entity_labels
    a, b = labels.equal(fold(literal.text))
    total = int(counts.count.sum()) + b - a
    if not total or (len(literal.terms) == 1 and 10 * total < 3 * counts.occurrences):
        return NOTHING
    entity, count = counts.entity, counts.count
    if b > a:
        called, names = np.unique(np.asarray(labels.owner[a:b], dtype=np.int32), return_counts=True)
        entity, count = _add([(entity, count), (called, names.astype(np.int32))])
    best = int(count.argmax())
    if 2 * int(count[best]) < total:
        return NOTHING
    return Named(catalog.entity_ids[int(entity[best])], int(count[best]) / total)


@final
class EntityNames:
    """Names the entities of queries' literals, the ones asked for last from memory.

    `count` gives the counts of some literals in the whole collection, and whether all of it was there to be counted.
    """

    def __init__(
        self, catalog: StoredCatalog, count: Callable[[Sequence[Literal]], tuple[list[FormCounts], bool]]
    ) -> None:
        self._catalog, self._count = catalog, count
        self._known: dict[Hashable, Named] = {}

    def name(self, query: Query) -> Query:
        """The query with the entity that each literal names; literals that are exact or have one stay as they are."""
        if query.named:
            return query
        literals = (*query.literals, *query.forbidden)
        open_ = {_key(one): one for one in literals if one.entity is None and not one.exact}
        found = {key: self._known[key] for key in open_ if key in self._known}
        unknown = [one for key, one in open_.items() if key not in found]
        if unknown:
            counted, is_whole = self._count(unknown)
            each = zip(unknown, counted, strict=True)
            new = {_key(one): choose_entity(self._catalog, one, counts) for one, counts in each}
            found |= new
            if is_whole:
                if len(self._known) + len(new) > KEPT:
                    self._known = {}
                self._known |= new

        def name(literal: Literal) -> Literal:
            named = found.get(_key(literal), NOTHING)
            return literal if named.entity is None else replace(literal, entity=named[0], confidence=named[1])

        positive, forbidden = tuple(map(name, query.literals)), tuple(map(name, query.forbidden))
        return replace(query, literals=positive, forbidden=forbidden, named=True)


def _key(literal: Literal) -> Hashable:
    return literal.terms, literal.offsets, literal.text
