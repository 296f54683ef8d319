"""The catalog inside an index: entities, names, types and the closure of the hierarchy, memory-mapped.

Numbers are ranks of ids by code point. `descendants` of a type (itself included) decide whether an entity
matches it: one of the entity's direct types must be among them. `type_entities` counts those that match. Labels and
their words are stored by `names.py`: for an entity its name and aliases, for a type its name and id. Files older than
format version 3 have neither; both are then made in memory when first asked for. Knows nothing of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.corpus.analysis import Analysis
from fader.corpus.catalog import Catalog
from fader.corpus.catalog_change import CatalogRows
from fader.corpus.rows import ABOVE, ALIASES, ID, NAME, SPANS, Rows
from fader.corpus.singular import list_beginnings
from fader.corpus.strings import join_strings, lower_strings, mark_new, sort_strings, take_strings
from fader.corpus.tokenise import NameNumbers
from fader.errors import CatalogError, did_you_mean, quote
from fader.index.encoding.shapes import check_array, check_offsets, check_range
from fader.index.encoding.strings import Joined, SortedStrings, Strings, prefix_range, write_joined, write_sorted
from fader.index.format import WITH_NAMES, Container, FileWriter, writing
from fader.index.labelterms import LabelTerms
from fader.index.manifest import CatalogEntry
from fader.index.names import Labels, StoredNames, name_key, split_synonyms, write_names
from fader.index.offering import choose_offered, is_insult
from fader.kernel import kernel
from fader.lazy import cached_property

I32 = NDArray[np.int32]
KIND = "catalog"
DESCRIBED = 10_000  # entities whose descriptions are cached
CACHED_TYPES = 1 << 14  # ids of types that were shown or asked for lately
SUGGESTIONS_AMONG = 20_000
OFFERED = 3  # other senses of a type's name
_NO_BYTES = np.zeros(0, dtype=np.uint8)


@kernel
def _closure(at: I32, above: I32, most: int) -> tuple[I32, I32]:
    """For each type all types reachable from it, itself first; nothing where they are more than `most` in all."""
    n, total = at.size - 1, 0
    size = np.zeros(n, dtype=np.int64)
    seen = np.full(n, -1, dtype=np.int32)
    stack = np.empty(n + 1, dtype=np.int32)
    for fill in range(2):
        if fill == 0:
            ends = np.zeros(n + 1, dtype=np.int32)
            out = np.empty(0, dtype=np.int32)
        else:
            for t in range(n):
                ends[t + 1] = ends[t] + np.int32(size[t])
            out = np.empty(ends[n], dtype=np.int32)
            seen[:] = -1
        for t in range(n):
            top, count = 1, 0
            stack[0] = t
            seen[t] = t
            while top > 0:
                top -= 1
                k = stack[top]
                if fill:
                    out[ends[t] + count] = k
                count += 1
                for j in range(at[k], at[k + 1]):
                    if seen[above[j]] != t:
                        seen[above[j]] = t
                        stack[top] = above[j]
                        top += 1
            size[t] = count
            total += count * (1 - fill)
            if total > most:
                return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)
    return ends, out


@kernel
def _count_below(types_at: I32, types: I32, above_at: I32, above: I32) -> I32:
    """How many entities each type has, those of its subtypes included, each once."""
    n = above_at.size - 1
    counted, seen = np.zeros(n, dtype=np.int32), np.full(n, -1, dtype=np.int32)
    for e in range(types_at.size - 1):
        for i in range(types_at[e], types_at[e + 1]):
            for j in range(above_at[types[i]], above_at[types[i] + 1]):
                if seen[above[j]] != e:
                    seen[above[j]] = e
                    counted[above[j]] += 1
    return counted


@kernel
def transpose(at: I32, values: I32, n: int) -> tuple[I32, I32]:
    """CSR of the reverse relation, rows in ascending order."""
    ends = np.zeros(n + 1, dtype=np.int32)
    for v in values:
        ends[v + 1] += 1
    for i in range(n):
        ends[i + 1] += ends[i]
    put = ends[:-1].copy()
    out = np.empty(values.size, dtype=np.int32)
    for i in range(at.size - 1):
        for j in range(at[i], at[i + 1]):
            out[put[values[j]]] = i
            put[values[j]] += 1
    return ends, out


def type_ancestors(catalog: Catalog) -> tuple[I32, I32]:
    """For each type all types it belongs to, itself included, as offsets and values."""
    ends, ancestors = _closure(*catalog.above_types, catalog.limits.hierarchy_pairs)
    if not ends.size:
        pairs = "the hierarchy has too many pairs of a type and one above it, through all levels"
        raise CatalogError(f"{pairs}; {catalog.limits.at_most('hierarchy_pairs')}; make the hierarchy flatter")
    return ends, ancestors


def write_catalog(path: Path, catalog: Catalog) -> CatalogEntry:
    """Freeze a catalog into one file; returns its entry for the manifest."""
    entities, types = catalog.entities, catalog.types
    with writing(path, KIND) as writer:
        write_sorted(writer, "entity_id", Joined(*entities.column(ID)))
        write_joined(writer, "entity_name", *entities.column(NAME))
        aliases, aliases_at = entities.column(ALIASES)
        write_joined(writer, "alias", aliases, aliases_at if aliases.size else aliases_at[:1])
        for name, (at, values) in (("entity_types", catalog.above_entities), ("supertypes", catalog.above_types)):
            writer.array(name + "_at", at)
            writer.array(name, values)
        at, ancestors = type_ancestors(catalog)
        down_at, down = transpose(at, ancestors, len(types))
        writer.array("descendants_at", down_at)
        writer.array("descendants", down)
        write_sorted(writer, "type_id", Joined(*types.column(ID)))
        write_joined(writer, "type_name", *types.column(NAME))
        writer.array("type_entities", _count_below(*catalog.above_entities, at, ancestors))
        _write_type_labels(writer, Labels(*types.labels(ID)))
        write_names(writer, "entity", Labels(*entities.labels(ALIASES)))
        write_names(writer, "type", Labels(*types.labels(ID)))
        if catalog.same:
            _write_same(writer, catalog)
        file = writer.close()
    return CatalogEntry(bytes=file.bytes, entities=len(entities), name=path.name, types=len(types), xxh3=file.xxh3)


def _write_same(writer: FileWriter, catalog: Catalog) -> None:
    """Ids that stand for entities with other ids, sorted, and the numbers of these."""
    ids = sorted(catalog.same, key=lambda one: one.encode("utf-8", "surrogatepass"))
    targets = join_strings(catalog.same[one].encode("utf-8", "surrogatepass") for one in ids)
    write_sorted(writer, "same_id", [one.encode("utf-8", "surrogatepass") for one in ids])
    writer.array("same_entity", NameNumbers(*catalog.entities.column(ID)).find(*targets))


def _write_type_labels(writer: FileWriter, labels: Labels) -> None:
    """Names and ids of types without regard to case, sorted, those of a type each once."""
    data, at = lower_strings(labels.data, labels.at, str.casefold, squeeze=False)
    begin, end = at[:-1], at[1:]
    order = sort_strings(data, begin, end)
    owner = labels.owner[order]
    kept = (mark_new(data, begin, end, order) > 0) | (np.diff(owner, prepend=-1) != 0)
    write_sorted(writer, "type_label", Joined(*take_strings(data, begin, end, order[kept])))
    writer.array("type_label_type", owner[kept])


class StoredCatalog:
    """The catalog of an open index."""

    def __init__(self, path: Path, entry: CatalogEntry) -> None:
        c = self.container = Container(path, KIND, entry.file)
        entities, types = entry.entities, entry.types
        self.entity_ids = SortedStrings(c, "entity_id", entities)
        self.entity_names = Strings(c, "entity_name", entities)
        self._aliases = Strings(c, "alias", entities if c["alias_at"].size > 1 else 0)
        self.type_ids = SortedStrings(c, "type_id", types)
        self.type_names = Strings(c, "type_name", types)
        self.entity_types_at, self.entity_types = _open_relation(c, "entity_types", entities, types)
        self._supertypes_at, self._supertypes = _open_relation(c, "supertypes", types, types)
        self._descendants_at, self._descendants = _open_relation(c, "descendants", types, types)
        self._type_labels = SortedStrings(c, "type_label")
        self._type_label_type: I32 = check_array(c, "type_label_type", "i4", size=len(self._type_labels))
        check_range(c, "type_label_type", self._type_label_type, types)
        self._same_ids = SortedStrings(c, "same_id") if "same_id_strings" in c.meta else None
        if self._same_ids is not None:
            self._same_entity: I32 = check_array(c, "same_entity", "i4", size=len(self._same_ids))
            check_range(c, "same_entity", self._same_entity, entities)
        self._label_terms: dict[tuple[str, Analysis], LabelTerms] = {}
        self._described: dict[int, tuple[str, str, tuple[str, ...]]] = {}
        self._type_id = lru_cache(maxsize=CACHED_TYPES)(self.type_ids.__getitem__)
        self.resolve_type_id = lru_cache(maxsize=CACHED_TYPES)(lambda wanted: self.type_ids[self.resolve_type(wanted)])

    def types_of(self, entity: int) -> list[str]:
        """The ids of an entity's direct types, those with the most entities first: they tell a stranger most."""
        rows = self.entity_types[self.entity_types_at[entity] : self.entity_types_at[entity + 1]]
        return [self.type_ids[t] for t in rows[np.argsort(-self.entities_below[rows], kind="stable")]]

    def describe_entities(self, entities: Sequence[int]) -> list[tuple[str, str, list[str]]]:
        """Id, name and direct types, as `types_of` has them, of some entities."""
        known = self._described
        missing = [e for e in entities if e not in known]
        if missing:
            if len(known) > DESCRIBED:
                self._described = known = {}
                missing = [*entities]
            known.update(zip(missing, self._describe(np.array(missing, dtype=np.int64)), strict=True))
        return [(entity, name, [*types]) for entity, name, types in map(known.__getitem__, entities)]

    def _describe(self, entities: NDArray[np.int64]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Id, name and direct types of some entities, read from the file."""
        ids, names = self.entity_ids.take(entities), self.entity_names.take(entities)
        begins, ends = self.entity_types_at[entities].tolist(), self.entity_types_at[entities + 1].tolist()
        below, name = self.entities_below.item, self._type_id
        for entity, called, a, b in zip(ids, names, begins, ends, strict=True):
            types = self.entity_types[a:b].tolist()
            if len(types) > 1:
                types.sort(key=below, reverse=True)
            yield entity, called, tuple(name(t) for t in types)

    def aliases_of(self, entity: int) -> list[str]:
        joined = self._aliases[entity] if len(self._aliases) else ""
        return joined.split("\t") if joined else []

    def supertypes_of(self, type_number: int) -> list[str]:
        rows = self._supertypes[self._supertypes_at[type_number] : self._supertypes_at[type_number + 1]]
        return [self.type_ids[t] for t in rows]

    def descendants(self, type_number: int) -> I32:
        """The type and all its subtypes, ascending."""
        return self._descendants[self._descendants_at[type_number] : self._descendants_at[type_number + 1]]

    def resolve_type(self, wanted: str) -> int:
        """The number of a type given by id, name or synonym, in the singular or the plural: the sense with the most
        entities. An unknown name is an error that helps.
        """
        found = self.find_senses(wanted)
        if found:
            return found[0]
        key = wanted.casefold()
        hint = did_you_mean(key, choose_offered(self._labels_like(key))) or "; `fader types` lists the types"
        raise CatalogError(f"unknown type {quote(wanted)}{hint}")

    def find_senses(self, wanted: str) -> list[int]:
        """The types that a text names, those with the most entities first: the one with this id, else all with this
        name or id whatever the case, else all with a name of which it is a synonym ("movie" of "film, movie"), else
        all with a name, id or synonym that is the same but for case, accents and number.
        """
        number = self.type_ids.find(wanted)
        if number >= 0:
            return [number]
        key = wanted.casefold()
        labels = {
            t
            for t in self._find_prefixed_types(key)
            if key in (self.type_names[t].casefold(), self.type_ids[t].casefold())
        }
        if labels:
            return self._by_size(labels)
        alike = self._find_alike(name_key(wanted))
        synonyms = {t for t, part in alike if part.strip().casefold() == key.strip()}
        return self._by_size(synonyms or {t for t, _part in alike})

    def _find_alike(self, key: tuple[str, ...]) -> list[tuple[int, str]]:
        """Types with a name, id or synonym whose words are these but for case, accents and number; and that text."""
        if not key:
            return []
        begin = [list_beginnings(word) for word in key]
        # Labels with a word that begins so, of the words the rarest.
        rows = min((np.concatenate(list(map(self.type_labels.with_word, one))) for one in begin), key=len)
        found = []
        for t in np.unique(self.type_labels.owner[rows]).tolist():
            texts = [self.type_ids[t], self.type_names[t], *split_synonyms(self.type_names[t])]
            found += [(t, text) for text in texts if name_key(text) == key]
        return found

    def note_senses(self, wanted: str) -> str:
        """Say which type is taken for a name that is not its own, and which other senses a name has; nothing where
        there is neither. No other sense is offered by a name that insults.
        """
        first, *others = self.find_senses(wanted)
        sizes = self.entities_below
        others = [t for t in others if not any(map(is_insult, self.labels_of_type(t)))]
        called = (self.type_ids[first], self.type_names[first], *split_synonyms(self.type_names[first]))
        if not others and wanted.strip().casefold() in (text.strip().casefold() for text in called):
            return ""
        offered = ", ".join(f"{self.type_ids[t]} ({sizes[t]:,})" for t in others[:OFFERED])
        more = f" and {len(others) - OFFERED:,} more" if len(others) > OFFERED else ""
        taken = f"{quote(wanted)} is read as type {self.type_ids[first]} ({sizes[first]:,} entities)"
        return f"{taken}; it may also be {offered}{more}" if others else taken

    def _by_size(self, types: Iterable[int]) -> list[int]:
        return sorted(types, key=lambda t: (-int(self.entities_below[t]), t))

    def _labels_like(self, key: str) -> Iterator[str]:
        """Labels of types that may have been meant: all, or where there are many, some that begin alike."""
        n = len(self._type_labels)
        a, b = (0, n) if n <= SUGGESTIONS_AMONG else prefix_range(n, self._type_labels.__getitem__, key[:2])
        return (self._type_labels[i] for i in range(a, min(b, a + SUGGESTIONS_AMONG)))

    def resolve_entity(self, wanted: str) -> int:
        """The number of an entity given by id."""
        number = self.entity_ids.find(wanted)
        if number < 0 and (same := self.find_same(wanted)) >= 0:
            raise CatalogError(
                f"entity {quote(wanted)} is the same as {quote(self.entity_ids[same])}; give that id instead"
            )
        if number < 0:
            a, b = prefix_range(len(self.entity_ids), self.entity_ids.__getitem__, wanted[:2])
            near = [self.entity_ids[e] for e in range(a, min(b, a + SUGGESTIONS_AMONG))]
            hint = did_you_mean(wanted, near) or "; `fader entities` looks ids up by name"
            raise CatalogError(f"unknown entity {quote(wanted)}{hint}")
        return number

    def _find_prefixed_types(self, key: str) -> Iterator[int]:
        a, b = prefix_range(len(self._type_labels), self._type_labels.__getitem__, key)
        return (int(t) for t in self._type_label_type[a:b])

    @property
    def supertypes(self) -> tuple[I32, I32]:
        """The types right above each type, as offsets and values."""
        return self._supertypes_at, self._supertypes

    def labels_of_entity(self, entity: int) -> list[str]:
        """An entity's name, then its aliases."""
        return [self.entity_names[entity], *self.aliases_of(entity)]

    def labels_of_type(self, type_number: int) -> list[str]:
        """A type's name, then its id."""
        return [self.type_names[type_number], self.type_ids[type_number]]

    @cached_property
    def entity_labels(self) -> StoredNames:
        """The labels of entities, to be looked up."""
        if self._stores_names:
            return StoredNames(self.container, "entity", len(self.entity_ids))
        return StoredNames.of(map(self.labels_of_entity, range(len(self.entity_ids))))

    @cached_property
    def type_labels(self) -> StoredNames:
        """The labels of types, to be looked up."""
        if self._stores_names:
            return StoredNames(self.container, "type", len(self.type_ids))
        return StoredNames.of(zip(self.type_names, self.type_ids, strict=True))

    @cached_property
    def entities_below(self) -> I32:
        """How many entities match each type."""
        if self._stores_names:
            return check_array(self.container, "type_entities", "i4", size=len(self.type_ids))
        counted: I32 = _count_below(self.entity_types_at, self.entity_types, *self.ancestors())
        return counted

    @cached_property
    def types_by_popularity(self) -> I32:
        """Types with the most entities first, then by folded name, then by id."""
        return self.type_labels.by_popularity(self.entities_below)

    @property
    def _stores_names(self) -> bool:
        return self.container.version >= WITH_NAMES

    @cached_property
    def type_depths(self) -> I32:
        """The least number of steps from each type to one that has none above it; 0 where there is no such."""
        at, below = transpose(*self.supertypes, len(self.type_ids))
        depth = np.full(len(self.type_ids), -1, dtype=np.int32)
        level, steps = np.flatnonzero(np.diff(self.supertypes[0]) == 0), 0
        while level.size:
            depth[level] = steps
            under = np.concatenate([below[at[t] : at[t + 1]] for t in level.tolist()])
            level, steps = np.unique(under[depth[under] < 0]), steps + 1
        return np.maximum(depth, 0)

    def label_terms(self, kind: str, analysis: Analysis) -> LabelTerms:
        """The terms of the names of entities or types, whichever `kind` says; made once."""
        key = kind, analysis
        if key not in self._label_terms:
            names = self.entity_names if kind == "entity" else self.type_names
            self._label_terms[key] = LabelTerms(*names.texts, analysis)
        return self._label_terms[key]

    def ancestors(self) -> tuple[I32, I32]:
        """For each type all types it belongs to, itself included, as offsets and values."""
        at, values = transpose(self._descendants_at, self._descendants, len(self.type_ids))
        return at, values

    def find_same(self, wanted: str) -> int:
        """The number of the entity that an id stands for though it is not its own; -1 if there is none."""
        if self._same_ids is None:
            return -1
        found = self._same_ids.find(wanted)
        return int(self._same_entity[found]) if found >= 0 else -1

    def load(self) -> CatalogRows:
        """What the catalog was made from: entities and types as rows of line 0, types by their ids."""
        ids, names, type_ids = self.entity_ids.decode_all(), self.entity_names.texts, self.type_ids.decode_all()
        aliases = self._aliases.texts if len(self._aliases) else (_NO_BYTES, np.zeros(len(ids) + 1, dtype=np.int64))
        none = _NO_BYTES, np.zeros(len(type_ids) + 1, dtype=np.int64)
        entities = _lay_rows(ids, names, aliases, type_ids, self.entity_types_at, self.entity_types)
        types = _lay_rows(type_ids, self.type_names.texts, none, type_ids, *self.supertypes)
        same = self._same_ids or ()
        return CatalogRows(entities, types, {i: self.entity_ids[self.find_same(i)] for i in same})

    def entities_of_type(self, type_number: int) -> I32:
        """All entities that match a type, ascending."""
        found: I32 = _entities_of(self.entity_types_at, self.entity_types, self.type_mask(type_number))
        return found

    def type_mask(self, type_number: int) -> NDArray[np.uint8]:
        """1 for the type and each of its subtypes."""
        mask = np.zeros(len(self.type_ids), dtype=np.uint8)
        mask[self.descendants(type_number)] = 1
        return mask


def _lay_rows(ids: Joined, names: Any, aliases: Any, types: Joined, above_at: I32, above: I32) -> Rows:
    """Rows of columns that are laid end to end, with the numbers of the types above each."""
    columns = [(ids.data, ids.at), names, aliases, (types.data, types.at)]
    starts = np.cumsum([0, *(data.size for data, _at in columns)])
    spans = np.empty((len(ids), SPANS), dtype=np.int64)
    for which, (_data, at), start in zip((ID, NAME, ALIASES), columns[:3], starts[:3].tolist(), strict=True):
        spans[:, which], spans[:, which + 1] = at[:-1] + start, at[1:] + start
    spans[:, ABOVE], spans[:, ABOVE + 1] = above_at[:-1], above_at[1:]
    edges = np.column_stack((types.at[:-1][above], types.at[1:][above])) + starts[3]
    data = np.concatenate([data for data, _at in columns])
    return Rows(data, spans, edges, np.zeros(len(ids), dtype=np.int64), "")


def _open_relation(c: Container, name: str, rows: int, end: int) -> tuple[I32, I32]:
    """Offsets and values of a relation of `rows` things to numbers below `end`."""
    values = check_array(c, name, "i4")
    at = check_offsets(c, name + "_at", rows, values.size, "i4")
    check_range(c, name, values, end)
    return at, values


class StoredNumbers(dict[str, int]):
    """Numbers of entity ids, looked up when first asked for; -1 for an id that is not in the catalog."""

    def __init__(self, catalog: StoredCatalog) -> None:
        super().__init__()
        self._catalog = catalog
        self.others: set[str] = set()  # ids that stand for entities with other ids, of those that were asked for

    def __missing__(self, key: str) -> int:
        # Nothing but a text is an id; the caller refuses the mention.
        number = self._catalog.entity_ids.find(key) if isinstance(key, str) else -1
        if number < 0 and isinstance(key, str):
            number = self._catalog.find_same(key)
            if number >= 0:
                self.others.add(key)
        self[key] = number
        return number

    def find_all(self, names: list[str]) -> list[int]:
        """The numbers of some ids."""
        return [self[name] for name in names]


@kernel
def _entities_of(at: I32, types: I32, mask: NDArray[np.uint8]) -> I32:
    out = np.empty(at.size - 1, dtype=np.int32)
    n = 0
    for e in range(at.size - 1):
        for j in range(at[e], at[e + 1]):
            if mask[types[j]]:
                out[n] = e
                n += 1
                break
    return out[:n].copy()
