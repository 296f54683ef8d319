"""The names of a catalog's entities: rows of entities.tsv or of another table, or dictionaries, to flat lists.

An entity has its name, its aliases, and its name without a bracket at the end: "Mercury (planet)" is also "Mercury". An
entity without a name is not called by its id. Entities are numbered in the catalog's order, which decides where nothing
else does. Read as bytes, because catalogs of millions of names are read in seconds then. Knows nothing of tokens.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fader.corpus.readers import LongLine, display_name, read_batches, too_long, without_mark
from fader.corpus.tables import find_table
from fader.errors import CatalogError, quote
from fader.limits import Limits

NAME, ALIAS = 1.0, 0.5  # how much an entity is meant by its name, by another of its names
EXAMPLES = 5

Rows = str | Path | Iterable[Mapping[str, Any]]


@dataclass(slots=True)
class Names:
    """All entities with their names, as UTF-8; the name in row i of `surfaces` is one of entity `owners[i]`."""

    ids: list[str] = field(default_factory=list)
    surfaces: list[bytes] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    types: list[bytes] = field(default_factory=list)  # per entity, the ids of its types with | between
    titles: dict[bytes, bytes] = field(default_factory=dict)  # types' names, where they are known
    notes: list[str] = field(default_factory=list)  # the first faults that were skipped
    skipped: int = 0
    tables: list[str] = field(default_factory=list)  # how tables were read, in words

    def type_texts(self, entity: int) -> list[bytes]:
        """The names of an entity's types, or their ids."""
        return [self.titles.get(t, t) for t in self.types[entity].split(b"|") if t]


def read_names(
    entities: Rows,
    types: Rows | None = None,
    on_error: str = "fail",
    limits: Limits | None = None,
    columns: str | None = None,
) -> Names:
    """Read the catalog; a row that cannot be used raises, or with `on_error="skip"` is left out, counted and noted.

    Types are taken by their names where their file is given, else by their ids. `columns` says which columns of a
    table are which.
    """
    limits = limits or Limits.from_environment()
    names = Names()
    report = _Report(names, on_error == "skip")
    collecting = gc.isenabled()
    gc.disable()  # millions of rows and no cycles: looking for cycles takes most of the time
    try:
        if types is not None:
            names.titles = {row[0]: row[1] or row[0] for _number, row in _read_rows(types, "type", report, limits)}
        _read_entities(entities, names, report, limits, columns)
    finally:
        if collecting:
            gc.enable()
    return names


def _read_entities(entities: Rows, names: Names, report: _Report, limits: Limits, columns: str | None) -> None:
    seen = set[bytes]()
    for number, (identity, name, above, aliases) in _read_rows(entities, "entity", report, limits, columns):
        if identity in seen:
            what = f"duplicate entity id {quote(identity.decode())}"
            report(f"{_name_place(entities, 'entity', number)}: {what}; give each entity one row")
            continue
        seen.add(identity)
        entity = len(names.ids)
        names.ids.append(identity.decode())
        names.types.append(above)
        weights = {alias: ALIAS for alias in aliases.split(b"|") if alias} if aliases else {}
        if name.endswith(b")") and (cut := name.rfind(b" (")) > 0:
            weights[name[:cut]] = ALIAS
        if name:
            weights[name] = NAME
        names.surfaces += weights
        names.owners += [entity] * len(weights)
        names.weights += weights.values()


class _Report:
    """Raises a fault, or counts it where faults are to be skipped."""

    def __init__(self, names: Names, skip: bool) -> None:
        self._names, self._skip = names, skip
        self.tables = names.tables

    def __call__(self, message: str) -> None:
        if not self._skip:
            raise CatalogError(f"{message}; correct it, or pass --on-error skip")
        self._names.skipped += 1
        if len(self._names.notes) < EXAMPLES:
            self._names.notes.append(message)


Row = tuple[bytes, bytes, bytes, bytes]  # id, name, types and aliases with | between


def _name_place(source: Rows, kind: str, number: int) -> str:
    return f"{display_name(source)}:{number}" if isinstance(source, str | Path) else f"{kind} {number}"


def _read_rows(
    source: Rows, kind: str, report: _Report, limits: Limits, columns: str | None = None
) -> Iterator[tuple[int, Row]]:
    """Number and cells of each row."""
    rows: Iterable[tuple[int, Mapping[str, Any]]]
    if not isinstance(source, str | Path):
        rows = enumerate(source, 1)
    elif table := find_table(source, kind, columns, limits):
        report.tables.append(table.describe())
        rows = table.rows()
    else:
        yield from _read_file(source, kind, report, limits)
        return
    for number, given in rows:
        place = _name_place(source, kind, number)
        if not isinstance(given, Mapping):
            raise CatalogError(f"{place}: a catalog is one file or dictionaries, not {quote(given)}")
        try:
            row = _make_row(given)
        except UnicodeEncodeError:
            report(f"{place}: holds half a surrogate pair, which is no character")
            continue
        if not row[0]:
            report(f"{place}: needs an id")
        elif fault := _find_excess(row, limits):
            report(f"{place}: {fault}")
        else:
            yield number, row


def _make_row(given: Mapping[str, Any]) -> Row:
    def strings(value: Any) -> list[bytes]:
        several = value if isinstance(value, Iterable) and not isinstance(value, str | bytes) else [value]
        return [str(v).encode() for v in several if v not in (None, "")]

    identity, name = (b"".join(strings(given.get(key))[:1]) for key in ("id", "name"))
    # a file could not hold | in a name either
    types, aliases = (b"|".join(v.replace(b"|", b" ") for v in strings(given.get(key))) for key in ("types", "aliases"))
    return identity, name, types, aliases


def _read_file(path: str | Path, kind: str, report: _Report, limits: Limits) -> Iterator[tuple[int, Row]]:
    least, most = (1, 3) if kind == "type" else (2, 4)
    shortest = min(limits.id_characters, limits.name_characters)
    for first, lines, _consumed in read_batches(path, limits):
        sound = _is_utf8(lines)
        for number, line in enumerate(lines, first):
            if number == 1:
                line = without_mark(line, number)
            cells = line.split(b"\t")
            usable = least <= len(cells) <= most and cells[0] and sound and len(line) <= shortest
            if not usable and (line.isspace() or not line):
                continue
            if not usable and (fault := _find_fault(line, cells, kind, least, most, limits)):
                report(f"{_name_place(path, kind, number)}: {fault}")
                continue
            if cells[-1].endswith(b"\r"):
                cells[-1] = cells[-1][:-1]
            cells += [b""] * (4 - len(cells))
            yield number, (cells[0], cells[1], cells[2], cells[3])


def _is_utf8(lines: list[bytes]) -> bool:
    try:
        b"\n".join(lines).decode()
    except UnicodeDecodeError:
        return False
    return True


def _find_fault(line: bytes, cells: list[bytes], kind: str, least: int, most: int, limits: Limits) -> str:
    """What is wrong with a line; empty where nothing is."""
    if isinstance(line, LongLine):
        return too_long(line, limits)
    if not _is_utf8([line]):
        return "not UTF-8; save the file as UTF-8"
    if not least <= len(cells) <= most or not cells[0]:
        expected = "id, name, supertypes" if kind == "type" else "id, name, types, aliases"
        return f"{len(cells)} columns; expected tab-separated {expected}"
    cells = cells + [b""] * (4 - len(cells))
    return _find_excess((cells[0], cells[1], cells[2], cells[3]), limits)


def _find_excess(row: Row, limits: Limits) -> str:
    """What is beyond a limit; empty where nothing is."""
    longest = max((row[1], *row[3].split(b"|")), key=len).decode()
    for what, text, name in (("an id", row[0].decode(), "id_characters"), ("a name", longest, "name_characters")):
        if len(text) > getattr(limits, name):
            has = f"{quote(row[0].decode())} has {what} of {len(text):,} characters"
            return f"{has}; {limits.at_most(name)}"
    return ""
