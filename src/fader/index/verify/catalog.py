"""What must hold among the arrays of a catalog, and that every reader relies on.

    ids ascend; types are types that exist; `descendants` is the closure of `supertypes`; `type_entities` counts the
    entities that match; labels ascend, each of a thing that has it; words ascend, each of rows that exist

The container is opened and its checksum compared already. The first thing wrong is a `DamagedError` that names the
file. Knows nothing of segments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader.index.encoding.shapes import check_array, check_offsets, damage_error
from fader.index.encoding.strings import SortedStrings
from fader.index.format import WITH_NAMES, Array, Container
from fader.index.manifest import CatalogEntry
from fader.index.verify.structure import check_different, check_sorted, check_strings
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CatalogArrays:
    """What segments are compared with: the types of entities, and of each type those below it, itself included."""

    entities: int
    types: int
    entity_types: tuple[I32, I32]
    descendants: tuple[I32, I32]


def check_catalog(container: Container, entry: CatalogEntry) -> CatalogArrays:
    """The invariants of a catalog."""
    c = container
    entities, types = check_different(c, "entity_id"), check_different(c, "type_id")
    if (entities, types) != (entry.entities, entry.types):
        raise damage_error(c, f"{entities} entities and {types} types are not as many as the commit says")
    check_strings(c, "entity_name", entities)
    check_strings(c, "type_name", types)
    check_strings(c, "alias", entities if c["alias_at"].size > 1 else 0)
    entity_types = _check_relation(c, "entity_types", entities, types)
    supertypes = _check_relation(c, "supertypes", types, types)
    descendants = _check_relation(c, "descendants", types, types)
    if not _is_closure(*supertypes, *descendants):
        raise damage_error(c, "'descendants' is not the closure of 'supertypes'")
    _check_labels(c, "type_label", "type_label_type", types)
    if c.version < WITH_NAMES:
        _check_labels(c, "label", "label_entity", entities)
    else:
        _check_names(c, "entity", entities)
        _check_names(c, "type", types)
        matching = count_by_type(np.ones(entities, dtype=np.int64), *entity_types, *descendants)
        if (check_array(c, "type_entities", "i4", size=types) != matching).any():
            raise damage_error(c, "'type_entities' does not count the entities of types")
    if "same_id_strings" in c.meta:
        _check_same(c, entities)
    return CatalogArrays(entities, types, entity_types, descendants)


def _check_same(c: Container, entities: int) -> None:
    """Ids that stand for entities with other ids: ascending, each once, none that of an entity."""
    count = check_different(c, "same_id")
    entity = check_array(c, "same_entity", "i4", size=count)
    if entity.size and (entity.min() < 0 or entity.max() >= entities):
        raise damage_error(c, "'same_entity' names something that is not there")
    own = SortedStrings(c, "entity_id", entities)
    if any(own.find(name) >= 0 for name in SortedStrings(c, "same_id")):
        raise damage_error(c, "an entity is said to be the same as another one")


def _check_relation(c: Container, name: str, rows: int, end: int) -> tuple[I32, I32]:
    """Offsets and values of a relation: each row ascends, below `end`."""
    values = check_array(c, name, "i4")
    at = check_offsets(c, name + "_at", rows, values.size, "i4")
    _check_rows(c, name, at, values, end)
    return at, values


def _check_rows(c: Container, name: str, at: Array, values: I32, end: int) -> None:
    """Each row of values ascends, below `end`."""
    begins = np.zeros(values.size + 1, dtype=bool)
    begins[at] = True
    ascends = begins[1:-1] | (values[1:] > values[:-1])
    if values.size and (values.min() < 0 or values.max() >= end or not ascends.all()):
        raise damage_error(c, f"a row of {name!r} does not ascend below {end}")


@kernel
def _is_closure(above_at: I32, above: I32, down_at: I32, down: I32) -> bool:
    """Whether row k of `down` has, ascending, all that reaches k upwards, itself included, and nothing else."""
    n = above_at.size - 1
    put, taken = down_at[:-1].copy(), 0
    seen = np.full(n, -1, dtype=np.int32)
    stack = np.empty(n, dtype=np.int32)
    for t in range(n):
        top = 1
        stack[0] = t
        seen[t] = t
        while top > 0:
            top -= 1
            k = stack[top]
            if put[k] == down_at[k + 1] or down[put[k]] != t:
                return False
            put[k] += 1
            taken += 1
            for j in range(above_at[k], above_at[k + 1]):
                if seen[above[j]] != t:
                    seen[above[j]] = t
                    stack[top] = above[j]
                    top += 1
    return bool(taken == down.size)


def _check_labels(c: Container, name: str, of: str, end: int) -> None:
    """Names that ascend; those that are equal belong to ascending numbers, and every number has one."""
    same = check_sorted(c, name)
    owner = check_array(c, of, "i4", size=same.size)
    if owner.size and (owner.min() < 0 or owner.max() >= end):
        raise damage_error(c, f"{of!r} names something that is not there")
    if (owner[1:] <= owner[:-1])[same[1:] > 0].any():
        raise damage_error(c, f"{of!r} names something twice")
    if np.unique(owner).size != end:
        raise damage_error(c, f"something has no {name!r}")


def _check_names(c: Container, kind: str, end: int) -> None:
    """Labels that ascend, with the things that have them, and their words with the rows that these are in."""
    _check_labels(c, kind + "_folded", kind + "_folded_of", end)
    owner = c[kind + "_folded_of"]
    name = check_array(c, kind + "_folded_name", "i4", size=end)
    if name.size and (name.min() < 0 or name.max() >= owner.size or (owner[name] != np.arange(end)).any()):
        raise damage_error(c, f"the name of something is no label of it in {kind + '_folded'!r}")
    words = check_different(c, kind + "_word")
    rows = check_array(c, kind + "_rows", "i4")
    at = check_offsets(c, kind + "_rows_at", words, rows.size, "u4", "u8")
    _check_rows(c, kind + "_rows", at, rows, owner.size)
    if (np.diff(at.astype(np.int64)) == 0).any():
        raise damage_error(c, f"a word of {kind + '_word'!r} is in no label")


@kernel
def count_by_type(counts: I64, types_at: I32, types: I32, down_at: I32, down: I32) -> I64:
    """How many mentions each type has, given those of entities; types above are those that `down` has a type below."""
    n = down_at.size - 1
    at = np.zeros(n + 1, dtype=np.int64)
    for t in down:
        at[t + 1] += 1
    for t in range(n):
        at[t + 1] += at[t]
    above, put = np.empty(down.size, dtype=np.int32), at[:-1].copy()
    for t in range(n):
        for j in range(down_at[t], down_at[t + 1]):
            above[put[down[j]]] = t
            put[down[j]] += 1
    out, seen = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int32)
    for e in range(counts.size):
        for i in range(types_at[e], types_at[e + 1] if counts[e] else types_at[e]):
            for j in range(at[types[i]], at[types[i] + 1]):
                if seen[above[j]] != e:
                    seen[above[j]] = e
                    out[above[j]] += counts[e]
    return out
