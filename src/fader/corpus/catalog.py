"""Entities and types from their tab-separated files or from dictionaries, checked as a whole.

The result is a plain `Catalog`: ids sorted by code point, so that a number's order is its id's order.
Knows nothing of documents or of how a catalog is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from fader.corpus.readers import display_name, read_lines
from fader.errors import CatalogError, did_you_mean, quote
from fader.limits import Limits

HINTS = 20  # faults that are helped by a look through all types
SHOWN_CYCLE = 20  # types of a cycle that are named

Rows = str | Path | Iterable[Mapping[str, Any]]


@dataclass(slots=True)
class Row:
    """A line of either file: an id, a name, the types above it, other names."""

    id: str
    name: str
    above: list[str]
    aliases: list[str]
    place: str


@dataclass(slots=True)
class Catalog:
    """All entities and types; row i of each list belongs to number i."""

    entities: list[Row]
    types: list[Row]
    entity_types: list[list[int]]
    supertypes: list[list[int]]
    notes: list[str]
    limits: Limits


def read_catalog(entities: Rows, types: Rows, on_error: str = "fail", limits: Limits | None = None) -> Catalog:
    """Read and check both files; faults raise, or with `on_error="skip"` leave out the row and are noted.

    Without limits given, those of the environment hold.
    """
    notes: list[str] = []
    report = _Report(on_error == "skip", notes, limits or Limits.from_environment())
    type_rows = _sort_rows(_rows(types, "type", report), "type", report)
    number = {row.id: i for i, row in enumerate(type_rows)}
    supertypes = [_above(row, number, "supertype", report) for row in type_rows]
    _refuse_cycles(type_rows, supertypes)
    entity_rows = _sort_rows(_rows(entities, "entity", report), "entity", report)
    entity_types = [_above(row, number, "type", report) for row in entity_rows]
    return Catalog(entity_rows, type_rows, entity_types, supertypes, notes, report.limits)


class _Report:
    """Raises a fault, or notes it where faults are to be skipped."""

    def __init__(self, skip: bool, notes: list[str], limits: Limits) -> None:
        self._skip, self._notes, self.limits = skip, notes, limits

    def __call__(self, message: str) -> None:
        if not self._skip:
            raise CatalogError(message)
        self._notes.append(message)

    def hint(self, name: str, known: Iterable[str]) -> str:
        """What may have been meant, for the first faults: a look through all types for each fault could take hours."""
        return did_you_mean(name, known) if len(self._notes) < HINTS else ""


def _rows(source: Rows, kind: str, report: _Report) -> Iterator[Row]:
    if isinstance(source, str | Path):
        yield from _rows_of_file(source, kind, report)
        return
    above = "supertypes" if kind == "type" else "types"
    for number, given in enumerate(source, 1):
        place = f"{kind} {number}"
        if not isinstance(given, Mapping):
            raise CatalogError(f"{place}: a catalog is one file or dictionaries, not {quote(given)}")
        if given.get("id") in (None, ""):
            report(f"{place}: needs an id")
        elif fault := _not_text(given):
            report(f"{place}: {fault}")
        else:
            name, aliases = str(given.get("name") or given["id"]), filter(None, _strings(given.get("aliases")))
            others = [alias.replace("\t", " ") for alias in aliases]
            yield from _within(Row(str(given["id"]), name, _strings(given.get(above) or []), others, place), report)


def _within(row: Row, report: _Report) -> Iterator[Row]:
    """The row, or nothing where it is beyond a limit."""
    longest = max((row.name, *row.aliases), key=len)
    for what, text, name in (("an id", row.id, "id_characters"), ("a name", longest, "name_characters")):
        if len(text) > getattr(report.limits, name):
            has = f"{quote(row.id)} has {what} of {len(text):,} characters"
            return report(f"{row.place}: {has}; {report.limits.at_most(name)}")
    yield row


def _strings(given: Any) -> list[str]:
    """One string or several; a number is a string too."""
    if isinstance(given, Iterable) and not isinstance(given, str | bytes):
        return [str(g) for g in given]
    return [] if given is None or given == "" else [str(given)]


def _not_text(given: Mapping[str, Any]) -> str:
    """What is wrong with names that no UTF-8 file could hold; empty where nothing is."""
    for text in (given["id"], given.get("name"), *_strings(given.get("aliases"))):
        try:
            str(text).encode("utf-8")
        except UnicodeEncodeError:
            return f"{quote(text)} holds half a surrogate pair, which is no character"
    return ""


def _rows_of_file(path: str | Path, kind: str, report: _Report) -> Iterator[Row]:
    columns = (1, 3) if kind == "type" else (2, 4)
    for number, line in read_lines(path, report, report.limits):
        if not line.strip():
            continue
        place = f"{display_name(path)}:{number}"
        cells = line.split("\t")
        if not columns[0] <= len(cells) <= columns[1] or not cells[0]:
            expected = "id, name, supertypes" if kind == "type" else "id, name, types, aliases"
            report(f"{place}: {len(cells)} columns; expected tab-separated {expected}")
            continue
        cells += [""] * (4 - len(cells))
        above, aliases = ([part for part in cell.split("|") if part] for cell in cells[2:4])
        yield from _within(Row(cells[0], cells[1] or cells[0], above, aliases, place), report)


def _sort_rows(rows: Iterable[Row], kind: str, report: _Report) -> list[Row]:
    kept: list[Row] = []
    for row in sorted(rows, key=lambda r: r.id):
        if kept and kept[-1].id == row.id:
            report(f"{row.place}: duplicate {kind} id {quote(row.id)}; the first is at {kept[-1].place}")
        else:
            kept.append(row)
    return kept


def _above(row: Row, number: dict[str, int], kind: str, report: _Report) -> list[int]:
    found: dict[int, None] = {}
    for name in row.above:
        if name in number:
            found[number[name]] = None
        else:
            report(f"{row.place}: unknown {kind} {quote(name)}{report.hint(name, number)}")
    return sorted(found)


def _refuse_cycles(rows: list[Row], supertypes: list[list[int]]) -> None:
    try:
        TopologicalSorter(dict(enumerate(supertypes))).prepare()
    except CycleError as error:
        cycle = [rows[i].id for i in reversed(error.args[1])]
        if len(cycle) > SHOWN_CYCLE:
            cycle[SHOWN_CYCLE // 2 : -SHOWN_CYCLE // 2] = ["…"]
        where = rows[error.args[1][-1]].place
        what = f"the type hierarchy has a cycle: {' -> '.join(cycle)}"
        raise CatalogError(f"{where}: {what}; remove one of these edges") from None
