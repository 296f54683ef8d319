"""The hierarchy of types for browsing: roots, children, the path to a type.

Children have the order of completion: the most entities first, then by name, then by id. A type with several supertypes
is a child of each. Knows nothing of queries.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader.errors import UsageError, quote
from fader.kernel import kernel
from fader.lazy import cached_property
from fader.limits import DEFAULTS, whole
from fader.search.collection import Collection

I32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class TypeNode:
    """A type, with the number of its subtypes and of the types and entities at all levels below it."""

    id: str
    name: str
    supertypes: list[str]
    subtypes: int
    descendants: int
    entities: int


class TypeTree:
    """The types of one commit; arguments are ids of types, or names."""

    def __init__(self, collection: Collection) -> None:
        self._catalog = collection.catalog

    def node(self, id: str) -> TypeNode:
        """One type."""
        return self._node(self._catalog.resolve_type(id))

    def find_known(self, ids: Iterable[str]) -> list[TypeNode]:
        """The types among some ids."""
        numbers = map(self._catalog.type_ids.find, ids)
        return [self._node(t) for t in numbers if t >= 0]

    def children(self, id: str | None, offset: int = 0, limit: int = 100) -> tuple[int, list[TypeNode]]:
        """The number of a type's subtypes (of roots, for None), and `limit` of them from `offset` on."""
        first, count = _check_number("offset", offset, 0), _check_number("limit", limit, 1)
        parent = len(self._catalog.type_ids) if id is None else self._catalog.resolve_type(id)
        at, below = self._below
        rows = below[at[parent] : at[parent + 1]]
        return int(rows.size), [self._node(int(t)) for t in rows[first : first + count]]

    def path(self, id: str) -> list[TypeNode]:
        """A shortest chain from a root to the type itself; of several the one with the smallest ids."""
        at, above = self._catalog.supertypes
        last = self._catalog.resolve_type(id)
        below, level = {last: -1}, [last]
        while level:
            root = next((t for t in level if at[t] == at[t + 1]), -1)
            if root >= 0:
                chain = []
                while root >= 0:
                    chain.append(self._node(root))
                    root = below[root]
                return chain
            next_level = []
            for t in level:
                for parent in above[at[t] : at[t + 1]].tolist():
                    if parent not in below:
                        below[parent] = t
                        next_level.append(parent)
            level = next_level
        return [self._node(last)]  # no root above it: only in a hierarchy that was never checked

    @cached_property
    def _below(self) -> tuple[I32, I32]:
        """The subtypes of each type, with the roots in one more row, as offsets and values."""
        at, below = _children(*self._catalog.supertypes, self._catalog.types_by_popularity)
        return at, below

    def _node(self, t: int) -> TypeNode:
        c, (at, _below) = self._catalog, self._below
        return TypeNode(
            id=c.type_ids[t],
            name=c.type_names[t],
            supertypes=c.supertypes_of(t),
            subtypes=int(at[t + 1] - at[t]),
            descendants=int(c.descendants(t).size) - 1,
            entities=int(c.entities_below[t]),
        )


def _check_number(name: str, value: int, least: int) -> int:
    number = whole(value)
    if number is None or number < least or (name == "limit" and number > DEFAULTS.k):
        most = f"to {DEFAULTS.k:,}" if name == "limit" else "on"
        raise UsageError(f"{name} must be a whole number from {least} {most}, not {quote(value)}")
    return number


@kernel
def _children(at: I32, above: I32, order: I32) -> tuple[I32, I32]:
    """The inverse of `above`, each row in the given order; a last row has what is below nothing."""
    n = at.size - 1
    ends = np.zeros(n + 2, dtype=np.int32)
    for t in range(n):
        for j in range(at[t], at[t + 1]):
            ends[above[j] + 1] += 1
        if at[t] == at[t + 1]:
            ends[n + 1] += 1
    for t in range(n + 1):
        ends[t + 1] += ends[t]
    put = ends[:-1].copy()
    out = np.empty(ends[n + 1], dtype=np.int32)
    for t in order:
        for j in range(at[t], at[t + 1]):
            out[put[above[j]]] = t
            put[above[j]] += 1
        if at[t] == at[t + 1]:
            out[put[n]] = t
            put[n] += 1
    return ends, out
