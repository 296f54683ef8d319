"""Entities and types from files (tab-separated, or tables of any kind: `tables`) or dictionaries, checked as a whole.

The result is a plain `Catalog`: ids sorted by code point, so that a number's order is its id's order.
Knows nothing of documents or of how a catalog is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.corpus.readers import LineBlock, LongLine, check_length, display_name, read_blocks, too_long, without_mark
from fader.corpus.rows import ABOVE, ID, Row, Rows, cut_rows, join_rows, pack_rows
from fader.corpus.strings import sort_distinct, take_strings
from fader.corpus.tables import CatalogTable, find_table
from fader.corpus.tokenise import NameNumbers
from fader.errors import CatalogError, did_you_mean, quote
from fader.kernel import kernel
from fader.limits import Limits

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
HINTS = 20  # faults that are helped by a look through all types
SHOWN_CYCLE = 20  # types of a cycle that are named
TOGETHER = 1 << 16  # rows whose types are looked up together, or that are laid out together

Given = str | Path | Iterable[Mapping[str, Any]]


@dataclass(slots=True)
class Catalog:
    """All entities and types; row i belongs to number i. The types above each row are offsets and values."""

    entities: Rows
    types: Rows
    above_entities: tuple[I32, I32]
    above_types: tuple[I32, I32]
    notes: list[str]
    limits: Limits
    tables: list[str] = field(default_factory=list)  # how tables were read, in words
    same: dict[str, str] = field(default_factory=dict)  # ids that stand for entities with other ids

    @property
    def entity_types(self) -> list[list[int]]:
        """The direct types of each entity."""
        return _lists(*self.above_entities)

    @property
    def supertypes(self) -> list[list[int]]:
        """The types right above each type."""
        return _lists(*self.above_types)


def _lists(at: I32, values: I32) -> list[list[int]]:
    ends, flat = at.tolist(), values.tolist()
    return [flat[a:b] for a, b in pairwise(ends)]


def read_catalog(
    entities: Given,
    types: Given | None = None,
    on_error: str = "fail",
    limits: Limits | None = None,
    columns: str | None = None,
) -> Catalog:
    """Read and check both files; faults raise, or with `on_error="skip"` leave out the row and are noted.

    Without types the types are those that entities have, side by side. `columns` says which columns of a table of
    entities are which. Without limits given, those of the environment hold.
    """
    report = Report(on_error == "skip", limits or Limits.from_environment())
    if types is None:
        entity_rows = read_rows(entities, "entity", report, columns)
        return join_catalog(lambda: entity_rows, collect_types(entity_rows), report)
    return join_catalog(
        lambda: read_rows(entities, "entity", report, columns), read_rows(types, "type", report), report
    )


def join_catalog(entities: Callable[[], Rows], types: Rows, report: Report) -> Catalog:
    """The catalog of rows that are sorted; entities are read when the hierarchy has been found sound."""
    numbers = NameNumbers(*types.column(ID))
    supertypes = _find_above(types, numbers, types, "supertype", report)
    _refuse_cycles(types, *supertypes)
    rows = entities()
    entity_types = _find_above(rows, numbers, types, "type", report)
    return Catalog(rows, types, entity_types, supertypes, report.notes, report.limits, report.tables)


def collect_types(entities: Rows) -> Rows:
    """A row for each type that an entity has; its name is its id, `_` as blanks."""
    marks = np.zeros(len(entities.above) + 1, dtype=np.int64)  # rows that were left out may have left types behind
    np.add.at(marks, entities.spans[:, ABOVE], 1)
    np.add.at(marks, entities.spans[:, ABOVE + 1], -1)
    which = np.flatnonzero(np.cumsum(marks)[:-1] > 0)
    data, ends, _place = sort_distinct(*take_strings(entities.data, entities.above[:, 0], entities.above[:, 1], which))
    ids = [data[a:b].tobytes().decode("utf-8", "surrogatepass") for a, b in pairwise(ends.tolist())]
    rows = [Row(each, each.replace("_", " ").strip() or each, [], [], "") for each in ids]
    return pack_rows(rows, range(1, len(rows) + 1), "type ")


class Report:
    """Raises a fault, or notes it where faults are to be skipped."""

    def __init__(self, skip: bool, limits: Limits) -> None:
        self._skip = skip
        self.notes: list[str] = []
        self.limits = limits
        self.tables: list[str] = []

    def __call__(self, message: str) -> None:
        if not self._skip:
            raise CatalogError(message)
        self.notes.append(message)

    def hint(self, name: str, types: Rows) -> str:
        """What may have been meant, for the first faults: a look through all types for each fault could take hours."""
        return did_you_mean(name, map(types.id_of, range(len(types)))) if len(self.notes) < HINTS else ""


def read_rows(source: Given, kind: str, report: Report, columns: str | None = None) -> Rows:
    """The rows of either source, sorted by id, each id once."""
    if not isinstance(source, str | Path):
        rows = _read_dictionaries(enumerate(source, 1), kind, f"{kind} ", report)
    elif table := find_table(source, kind, columns, report.limits):
        report.tables.append(table.describe())
        rows = _read_table(table, report)
    else:
        rows = _read_file(source, kind, report)
    kept, repeated = rows.sort()
    for row, first in repeated:
        name = quote(rows.id_of(row))
        report(f"{rows.place(row)}: duplicate {kind} id {name}; the first is at {rows.place(first)}")
    return kept


def _read_table(table: CatalogTable, report: Report) -> Rows:
    """The rows of a table; one that has neither id nor name is left out as a fault."""
    return _read_dictionaries(table.rows(), table.kind, f"{display_name(table.path)}:", report)


def _read_dictionaries(source: Iterable[tuple[int, Mapping[str, Any]]], kind: str, places: str, report: Report) -> Rows:
    parts, made, lines = list[Rows](), list[Row](), list[int]()
    for number, given in source:
        place = f"{places}{number}"
        if not isinstance(given, Mapping):
            raise CatalogError(f"{place}: a catalog is one file or dictionaries, not {quote(given)}")
        if given.get("id") in (None, ""):
            report(f"{place}: needs an id")
        elif fault := _not_text(given):
            report(f"{place}: {fault}")
        else:
            made += _within(_row_of_dict(given, kind, place), report)
            lines += [number] * (len(made) - len(lines))
        if len(made) == TOGETHER:
            parts.append(pack_rows(made, lines, places))
            made, lines = [], []
    return join_rows([*parts, pack_rows(made, lines, places)], places)


def _read_file(path: str | Path, kind: str, report: Report) -> Rows:
    places, columns = f"{display_name(path)}:", (1, 3) if kind == "type" else (2, 4)
    parts = []
    for block in read_blocks(path, report.limits):
        rows, left = cut_rows(block.data, block.first, places, columns, report.limits)
        parts.append(rows)
        made, lines = list[Row](), list[int]()
        for number, line in _odd_lines(block, left, report.limits):
            made += _read_line(number, line, places, kind, columns, report)
            lines += [number] * (len(made) - len(lines))
        if made:
            parts.append(pack_rows(made, lines, places))
    return join_rows(parts, places)


def _odd_lines(block: LineBlock, left: I64, limits: Limits) -> Iterator[tuple[int, bytes]]:
    """The lines of a block that were not cut, with their numbers."""
    if block.long is not None:
        yield block.first, block.long
    for number, a, b in left.tolist():
        if block.long is None or number > block.first:
            yield number, check_length(block.data[a:b], limits.line_bytes)


def _read_line(
    number: int, line: bytes, places: str, kind: str, columns: tuple[int, int], report: Report
) -> Iterator[Row]:
    """The row of a line, or nothing where there is none."""
    place = f"{places}{number}"
    if isinstance(line, LongLine):
        return report(f"{place}: {too_long(line, report.limits)}")
    try:
        text = without_mark(line, number).decode("utf-8").rstrip("\r")
    except UnicodeDecodeError as error:
        return report(f"{place}: not UTF-8 at byte {error.start + 1}; save the file as UTF-8")
    if not text.strip():
        return
    cells = text.split("\t")
    if not columns[0] <= len(cells) <= columns[1] or not cells[0]:
        expected = "id, name, supertypes" if kind == "type" else "id, name, types, aliases"
        return report(f"{place}: {len(cells)} columns; expected tab-separated {expected}")
    cells += [""] * (4 - len(cells))
    yield from _within(Row(cells[0], cells[1] or cells[0], _split(cells[2]), _split(cells[3]), place), report)


def _within(row: Row, report: Report) -> Iterator[Row]:
    """The row, or nothing where it is beyond a limit."""
    longest = max((row.name, *row.aliases), key=len)
    for what, text, name in (("an id", row.id, "id_characters"), ("a name", longest, "name_characters")):
        if len(text) > getattr(report.limits, name):
            has = f"{quote(row.id)} has {what} of {len(text):,} characters"
            return report(f"{row.place}: {has}; {report.limits.at_most(name)}")
    yield row


def _row_of_dict(given: Mapping[str, Any], kind: str, place: str) -> Row:
    above = given.get("supertypes" if kind == "type" else "types") or []
    aliases = [alias.replace("\t", " ") for alias in _strings(given.get("aliases")) if alias]
    return Row(str(given["id"]), str(given.get("name") or given["id"]), _strings(above), aliases, place)


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


def _split(cell: str) -> list[str]:
    return [part for part in cell.split("|") if part] if cell else []


def _find_above(rows: Rows, numbers: NameNumbers, types: Rows, kind: str, report: Report) -> tuple[I32, I32]:
    """The numbers of the types above each row, ascending, each once, as offsets and values."""
    at, found = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    for first in range(0, len(rows), TOGETHER):
        spans = rows.spans[first : first + TOGETHER, ABOVE : ABOVE + 2]
        counts = spans[:, 1] - spans[:, 0]
        which = np.arange(int(counts.sum())) + np.repeat(spans[:, 0] - (np.cumsum(counts) - counts), counts)
        data, ends = take_strings(rows.data, rows.above[:, 0], rows.above[:, 1], which)
        number = numbers.find(data, ends)
        if (number < 0).any():
            row = np.repeat(np.arange(first, first + counts.size), counts)
            named = _numbers_by_name(types)
            for i in np.flatnonzero(number < 0).tolist():
                name = data[ends[i] : ends[i + 1]].tobytes().decode("utf-8", "surrogatepass")
                if (by_name := named.get(name.casefold(), -1)) >= 0:
                    number[i] = by_name
                    continue
                hint = report.hint(name, types)
                report(f"{rows.place(int(row[i]))}: unknown {kind} {quote(name)}{hint}")
        sizes, values = _sort_each(counts, number)
        at.append(sizes)
        found.append(values)
    return np.cumsum(np.concatenate(at)).astype(np.int32), np.concatenate(found)


def _numbers_by_name(types: Rows) -> dict[str, int]:
    """Types by their names in lower case; -1 where several have one name."""
    found = dict[str, int]()
    for i in range(len(types)):
        name = types[i].name.casefold()
        found[name] = -1 if name in found else i
    return found


@kernel
def _sort_each(counts: I64, number: I32) -> Any:
    """Of each row's numbers those that are not negative, ascending, each once: how many, and these."""
    sizes, out = np.empty(counts.size, dtype=np.int64), np.empty(number.size, dtype=np.int32)
    n, i = 0, 0
    for row in range(counts.size):
        some = np.sort(number[i : i + counts[row]])
        i += counts[row]
        first = n
        for value in some:
            if value >= 0 and (n == first or out[n - 1] != value):
                out[n] = value
                n += 1
        sizes[row] = n - first
    return sizes, out[:n]


@kernel
def _has_cycle(at: I32, above: I32) -> bool:
    """Whether types remain when those that are above no other are taken away again and again."""
    n = at.size - 1
    below, stack = np.zeros(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    for t in above:
        below[t] += 1
    top = 0
    for t in range(n):
        if below[t] == 0:
            stack[top] = t
            top += 1
    taken = 0
    while top > 0:
        top -= 1
        taken += 1
        t = stack[top]
        for j in range(at[t], at[t + 1]):
            below[above[j]] -= 1
            if below[above[j]] == 0:
                stack[top] = above[j]
                top += 1
    return taken < n


def _refuse_cycles(rows: Rows, at: I32, above: I32) -> None:
    if not _has_cycle(at, above):
        return
    try:
        TopologicalSorter(dict(enumerate(_lists(at, above)))).prepare()
    except CycleError as error:
        cycle = [rows.id_of(i) for i in reversed(error.args[1])]
        if len(cycle) > SHOWN_CYCLE:
            cycle[SHOWN_CYCLE // 2 : -SHOWN_CYCLE // 2] = ["…"]
        where = rows.place(error.args[1][-1])
        raise CatalogError(
            f"{where}: the type hierarchy has a cycle: {' -> '.join(cycle)}; remove one of these edges"
        ) from None
