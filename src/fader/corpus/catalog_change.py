"""A catalog from the one that is there and what changes of it: rows put in, replaced and removed.

    change = CatalogChange(entities=[{"id": "ada", "types": ["poet"]}], remove_types=("bard",))
    changed = change_catalog(rows, change)                 rows of the old catalog in, the new `Catalog` out

A row that is given replaces the whole row of its id: name, aliases and types (the edges of a type). What comes out is
what `read_catalog` makes of files with the rows that are left. An entity that is the same as another one gives that its
names and types, and its id stands for the other until a row is given for it again. Types that were collected from
entities, no more and no fewer, are collected anew unless types are changed themselves. Knows nothing of how a catalog
is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fader.corpus.catalog import Catalog, Given, Report, collect_types, join_catalog, read_rows
from fader.corpus.readers import display_name
from fader.corpus.rows import ABOVE, ID, NAME, Rows, join_rows
from fader.corpus.same_as import join_same
from fader.corpus.strings import join_strings, take_strings
from fader.corpus.tokenise import NameNumbers
from fader.errors import CatalogError, UsageError, quote
from fader.limits import Limits

Marks = NDArray[np.bool_]
SHOWN = 5  # rows that an error names


@dataclass(frozen=True)
class CatalogChange:
    """Rows that come in, each in the place of the one with its id, and ids of rows that go."""

    entities: Given | None = None
    types: Given | None = None
    remove_entities: Sequence[str] = ()
    remove_types: Sequence[str] = ()
    columns: str | None = None
    same_as: str | Path | Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        for name in ("remove_entities", "remove_types"):
            ids = getattr(self, name)
            if isinstance(ids, str) or not all(isinstance(one, str) for one in ids):
                raise UsageError(f"{name} must be texts, each an id")

    def __bool__(self) -> bool:
        given = any(one is not None for one in (self.entities, self.types, self.same_as))
        return given or bool(self.remove_entities) or bool(self.remove_types)


@dataclass
class Counted:
    """What happened to the rows of one kind; `missing` are the ids to remove that were not there."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    joined: int = 0
    missing: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many rows are new, given again or gone."""
        return self.added + self.changed + self.removed + self.joined


@dataclass
class ChangedCatalog:
    """The new catalog, and how many rows are new, given again or gone."""

    catalog: Catalog
    entities: Counted
    types: Counted


@dataclass(frozen=True)
class CatalogRows:
    """The rows of a catalog, sorted by id and of line 0, and ids that stand for entities with other ids."""

    entities: Rows
    types: Rows
    same: dict[str, str]


def change_catalog(
    old: CatalogRows, change: CatalogChange, on_error: str = "fail", limits: Limits | None = None
) -> ChangedCatalog:
    """The catalog that a change makes."""
    entities, types = old.entities, old.types
    report = Report(on_error == "skip", limits or Limits.from_environment())
    collected = change.types is None and not change.remove_types and _are_collected(types, entities)
    new_types, of_types = _change_rows(types, "type", change.types, change.remove_types, report)
    new_entities, of_entities = _change_rows(
        entities, "entity", change.entities, change.remove_entities, report, change.columns
    )
    new_entities, same = join_same(new_entities, old.same, change.same_as, report.limits)
    of_entities.joined = len(same.keys() - old.same.keys())
    if collected:
        new_types = collect_types(new_entities)
    else:
        _refuse_used(new_types, new_entities, change.remove_types)
    catalog = replace(join_catalog(lambda: new_entities, new_types, report), same=same)
    return ChangedCatalog(catalog, of_entities, of_types)


def _change_rows(
    old: Rows, kind: str, given: Given | None, removed: Sequence[str], report: Report, columns: str | None = None
) -> tuple[Rows, Counted]:
    """The rows with some put in and some taken out, sorted by id."""
    counted, kept = Counted(), np.ones(len(old), dtype=bool)
    new = None if given is None else read_rows(given, kind, report, columns)
    if new is not None and not len(new) and not report.notes:
        where = display_name(given) if isinstance(given, str) else f"the {kind} rows given"
        raise CatalogError(f"{where}: there is no {kind} in it; give one row at least, or leave it out")
    numbers = NameNumbers(*old.column(ID))
    if new is not None:
        at = numbers.find(*new.column(ID))
        kept[at[at >= 0]] = False
        counted.changed = int(np.count_nonzero(at >= 0))
        counted.added = at.size - counted.changed
    gone = list(dict.fromkeys(removed))
    if gone:
        _refuse_both(new, kind, gone)
        at = _find(numbers, gone)
        kept[at[at >= 0]] = False
        counted.removed = int(np.count_nonzero(at >= 0))
        counted.missing = [one for one, number in zip(gone, at.tolist(), strict=True) if number < 0]
    left = replace(old, spans=old.spans[kept], line=old.line[kept])
    return (left if new is None else join_rows([left, new], new.places).sort()[0]), counted


def _find(numbers: NameNumbers, ids: Iterable[str]) -> NDArray[np.int32]:
    return numbers.find(*join_strings(one.encode("utf-8", "surrogatepass") for one in ids))


def _refuse_both(new: Rows | None, kind: str, gone: list[str]) -> None:
    """An error for an id that is given and removed at once."""
    if new is None or not len(new):
        return
    both = _find(NameNumbers(*new.column(ID)), gone)
    if (both >= 0).any():
        i = int(np.flatnonzero(both >= 0)[0])
        where = new.place(int(both[i]))
        raise CatalogError(f"{where}: {kind} {quote(gone[i])} is given and removed at once; do one of both")


def _refuse_used(types: Rows, entities: Rows, gone: Sequence[str]) -> None:
    """An error for a removed type that a row is still below."""
    if not gone:
        return
    names = {one.encode("utf-8", "surrogatepass") for one in gone}
    for rows, kind in ((types, "type"), (entities, "entity")):
        numbers = NameNumbers(*join_strings(sorted(names)))
        every = np.arange(len(rows.above), dtype=np.int64)
        used = numbers.find(*take_strings(rows.data, rows.above[:, 0], rows.above[:, 1], every)) >= 0
        users = _rows_with(rows, used)
        if users.size:
            shown = ", ".join(quote(rows.id_of(int(i))) for i in users[:SHOWN])
            first = rows[int(users[0])]
            name = next(one for one in first.above if one.encode("utf-8", "surrogatepass") in names)
            more = f" and {users.size - SHOWN:,} more" if users.size > SHOWN else ""
            remedy = "give these rows without it in the same change, or keep it"
            raise CatalogError(f"type {quote(name)} cannot be removed: {kind} {shown}{more} is below it; {remedy}")


def _rows_with(rows: Rows, used: Marks) -> NDArray[np.int64]:
    """The rows that have one of some marked types above them."""
    total = np.concatenate(([0], np.cumsum(used)))
    return np.flatnonzero(total[rows.spans[:, ABOVE + 1]] > total[rows.spans[:, ABOVE]])


def _are_collected(types: Rows, entities: Rows) -> bool:
    """Whether types are just those that entities have, as in a catalog without a file of types."""
    if (types.spans[:, ABOVE + 1] > types.spans[:, ABOVE]).any():
        return False
    made = collect_types(entities)
    return all(_same(types.column(which), made.column(which)) for which in (ID, NAME))


def _same(a: tuple[NDArray[np.uint8], NDArray[np.int64]], b: tuple[NDArray[np.uint8], NDArray[np.int64]]) -> bool:
    return np.array_equal(a[1], b[1]) and np.array_equal(a[0], b[0])
