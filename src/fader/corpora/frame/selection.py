"""What importers of catalogs share: which entities to take, ids of another catalog for them, and which types to keep.

    Numbers    ids to numbers of Wikidata, or a set of ids, as two sorted arrays that processes share: 16 bytes per id;
               `NumbersWriter` makes it. The ids of a list are one: the first cells of lines, such as an entities.tsv
    Gathered   the facts of a batch, joined to a row for each entity and type
    end_types  at the end: names for types that have none, and without those that no entity has

Ids are known by 64-bit hashes in `Numbers`: among 100 million, two share one with a chance of 1 in 3,700. Knows nothing
of formats.
"""

from __future__ import annotations

import os
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import xxhash

from fader.corpora.frame.base import THING, EntityRow, TypeRow
from fader.corpora.frame.faults import tally
from fader.corpora.frame.records import one_line
from fader.corpora.frame.sorted_runs import identifier, merge_runs, write_run
from fader.corpora.frame.store import Store
from fader.corpus.documents import Faults
from fader.corpus.readers import read_lines
from fader.jobs.files import write_whole

UNLISTED = "rows of entities that are not in the list"
ABSENT = "rows of entities without such an id"
LISTED = "A file of ids, one per line, such as an entities.tsv: only these entities."  # help of the option `only`

_Set = dict[str, None]  # in the order in which its members came


class Numbers:
    """Ids to numbers, from files that `write` made; without them, empty."""

    def __init__(self, folder: Path, name: str) -> None:
        self._keys, self._values = (
            np.load(path, mmap_mode="r") if path.exists() else np.empty(0, np.uint64) for path in _paths(folder, name)
        )

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, names: Sequence[str]) -> dict[str, int]:
        """The numbers of those that have one."""
        if not len(self._keys) or not names:
            return {}
        wanted = np.fromiter((number_of(name) for name in names), np.uint64, len(names))
        place = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        there = self._keys[place] == wanted
        return {names[i]: int(self._values[place[i]]) for i in np.flatnonzero(there).tolist()}

    def common(self, other: Numbers) -> frozenset[int]:
        """The hashes (`number_of`) of the ids that both have."""
        return frozenset(np.intersect1d(self._keys, other._keys, assume_unique=True).tolist())


class NumbersWriter:
    """Makes the files of `Numbers`; of an id that comes twice, the first number holds."""

    def __init__(self) -> None:
        self._keys, self._values = array("Q"), array("Q")

    def add(self, name: str, number: int = 0) -> None:
        self._keys.append(number_of(name))
        self._values.append(number)

    def write(self, folder: Path, name: str) -> None:
        distinct, first = np.unique(np.array(self._keys, np.uint64), return_index=True)
        for path, found in zip(_paths(folder, name), (distinct, np.array(self._values)[first]), strict=True):
            np.save(path, found)


def write_ids(path: str, folder: Path, faults: Faults) -> bool:
    """Put the first cells of the lines of a file where `read_ids` finds them; whether a file is named at all."""
    if not path:
        return False
    table = NumbersWriter()
    for _number, line in read_lines(path, lambda message: faults.add("lines of the list that cannot be read", message)):
        if name := line.partition("\t")[0].strip():
            table.add(name)
    table.write(folder, "only")
    return True


def read_ids(folder: Path, there: bool) -> Numbers | None:
    """The ids of the list, if there is one."""
    return Numbers(folder, "only") if there else None


def _paths(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / f"{name}.ids.npy", folder / f"{name}.numbers.npy"


def number_of(name: str) -> int:
    """The hash by which an id is known."""
    return xxhash.xxh3_64_intdigest(name.encode("utf-8", "surrogatepass"))


def wikidata_number(name: str) -> int:
    """42 of Q42; 0 of what is no item."""
    return int(name[1:]) if name[:1] == "Q" and name[1:].isdecimal() and len(name) < 20 else 0


class Gathered:
    """The facts of a batch, to be added to: names, types and aliases of entities; names and supertypes of types."""

    def __init__(self) -> None:
        self.entities = defaultdict[str, tuple[list[str], _Set, _Set]](lambda: ([], {}, {}))
        self.types = defaultdict[str, tuple[list[str], _Set]](lambda: ([], {}))

    def entity_rows(self, final: dict[str, str]) -> Iterator[EntityRow]:
        """The rows of those entities that `final` has an id for. That all are things is said of none."""
        for name, (names, types, aliases) in self.entities.items():
            if name in final:
                above = tuple(each for each in types if each != THING)
                yield EntityRow(final[name], names[0] if names else "", above, (*names[1:], *aliases))

    def type_rows(self) -> list[TypeRow]:
        """The rows, also of types that entities have, so that all are known at the end."""
        for each in dict.fromkeys(chain.from_iterable(types for _names, types, _aliases in self.entities.values())):
            if each != THING:
                self.types[each]
        return [TypeRow(name, names[0] if names else "", tuple(above)) for name, (names, above) in self.types.items()]


def end_types(store: Store, named: Callable[[str], str], unused: bool) -> None:
    """Name the types whose rows have no name; without `unused`, leave out those that no entity has or is below.

    The second goes through the entities once, and through the types as often as the hierarchy is deep; in memory are
    only the types that stay. A type without a name has that of the entity of its id, if there is one.
    """
    if not unused:
        _drop_unused(store)
    for name, rows in merge_runs(store.runs("types")):
        if not any(row[0] for row in rows):
            store.type(TypeRow(name, named(name)))


def _drop_unused(store: Store) -> None:
    wanted = {each for _name, rows in merge_runs(store.runs("entities")) for row in rows for each in row[1].split("|")}
    size, gone, titled = -1, 0, set[str]()
    while size < len(wanted):
        size, gone = len(wanted), 0
        for name, rows in merge_runs(store.runs("types")):
            if name in wanted:
                titled.update(name for row in rows if row[0])
                wanted.update(each for row in rows for each in row[1].split("|"))
            else:
                gone += 1
    for name, rows in merge_runs(store.runs("entities")):
        if name in wanted and name not in titled:
            store.type(TypeRow(name, next((row[0] for row in rows if row[0]), "")))
    noted = store.folder / "unused"
    if not noted.exists():  # else a run that was killed at this point has begun to leave them out
        write_whole(noted, str(gone).encode())
    for path in store.runs("types"):  # each is written anew with what is wanted; a second time changes nothing
        kept = [line for line in path.read_bytes().split(b"\n")[:-1] if identifier(line).decode() in wanted]
        beside = path.with_name(path.name + ".merged")  # a name that is cleared away after a kill
        write_run(beside, kept)
        os.replace(beside, path)
    store.count({"types that no entity has": int(noted.read_bytes())})


def select_listed(rows: Iterable[EntityRow], only: Numbers | None, counts: dict[str, int]) -> list[EntityRow]:
    """The rows of entities that are in the list, or all without one; those left out are counted."""
    found = list(rows)
    if only is None:
        return found
    ids = [one_line(row.id) for row in found]
    known = only.find(ids)
    kept = [row for row, name in zip(found, ids, strict=True) if name in known]
    tally(counts, UNLISTED, len(found) - len(kept))
    return kept
