"""Catalogs as people have them: CSV, TSV with a header, JSON lines or a JSON array, Parquet, a plain list of names.

    table = find_table("people.csv", "entity")        None for Fader's own entities.tsv and types.tsv
    table.describe()                                  CSV, id from the names, name=Full name, types=Occupation; ...
    list(table)                                       [{"id": "Ada_Lovelace", "name": "Ada Lovelace", ...}, ...]

What a file is follows from its content: the magic bytes of Parquet, a `{` or `[` of JSON, a header that names columns.
A file without any of these whose lines have no tab is a list of names. Which column is which follows from the header
(ROLES), or is said: `id=code,name=first+last,types=2`; a number is a column of a file without a header. Several columns
of one role are joined: names by a blank, types and aliases as several. A cell holds several types or aliases between
`|`, else between `;`; types also between `,`. Without a column of ids, the name is the id, blanks as `_`, and rows of
one name are one entity. Knows nothing of how a catalog is checked or stored.
"""

from __future__ import annotations

import csv
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from fader.corpus.readers import check_readable, display_name, read_chunks, read_lines
from fader.errors import CatalogError, InputError, UsageError, did_you_mean, quote
from fader.limits import Limits

CSV, TSV, JSON, PARQUET, NAMES = "CSV", "TSV", "JSON", "Parquet", "a list of names"
HEAD = 1 << 16
ENTITIES_HELP = (
    "The catalog: entities.tsv (id, name, types, aliases), CSV, TSV, JSON lines, Parquet, or a list of names."
)
TYPES_HELP = "types.tsv: id, name, supertypes. Without it, types are those that entities have."
COLUMNS_HELP = (
    "Columns of a catalog that is a table, where its header does not tell: id=code,name=first+last,types=job."
)
LOOKED_AT = 100  # JSON objects whose keys are the columns
ID, NAME, TYPES, ALIASES, SUPERTYPES = "id", "name", "types", "aliases", "supertypes"
# What headers call each column, in lower case without marks, the best first; of aliases all that are there are taken.
ROLES = {
    ID: "id identifier entityid key code uri iri url qid wikidata wikidataid orcid isbn doi mid",
    NAME: "name label title fullname displayname preflabel preferredlabel preferredname entity person company "
    "organisation organization product place term concept",
    TYPES: "types type category categories class classes kind occupation occupations profession role roles job "
    "position instanceof group tags tag",
    ALIASES: "aliases alias aka alsoknownas synonyms synonym altlabel altlabels alternativenames othernames altnames "
    "nickname nicknames shortname abbreviation abbreviations acronym acronyms variants email emailaddress mail",
    SUPERTYPES: "supertypes supertype parent parents broader subclassof superclass above",
}
_FIRST, _LAST = ("firstname", "givenname", "forename", "first"), ("lastname", "surname", "familyname", "last")
_KIND_ROLES = {"entity": (ID, NAME, TYPES, ALIASES), "type": (ID, NAME, SUPERTYPES)}
_DELIMITERS = {",": CSV, ";": CSV, "\t": TSV, "|": CSV}
_json = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns hold what, by role: names of a header, or numbers from 1 on."""

    roles: dict[str, list[str]]

    @classmethod
    def parse(cls, text: str, kind: str) -> Columns:
        """`id=code,name=first+last`; columns of one role are joined by +."""
        found = dict[str, list[str]]()
        for part in filter(None, (p.strip() for p in text.split(","))):
            role, equals, names = part.partition("=")
            role = role.strip().lower()
            if not equals or not names.strip():
                raise UsageError(f"columns are given as id=COLUMN,name=COLUMN, not {quote(part)}")
            if role not in _KIND_ROLES[kind]:
                known = ", ".join(_KIND_ROLES[kind])
                raise UsageError(f"there is no role {quote(role)} of a column; a catalog has {known}")
            if role in found:
                raise UsageError(f"{role} is given twice; join columns with +: {role}=A+B")
            found[role] = [name.strip() for name in names.split("+") if name.strip()]
        if not found:
            raise UsageError("no column is given; write id=COLUMN,name=COLUMN")
        return cls(found)

    @property
    def are_numbers(self) -> bool:
        """Whether all are numbers, as in a file without a header."""
        return all(name.isdecimal() for names in self.roles.values() for name in names)


@dataclass
class CatalogTable:
    """The rows of a table as dictionaries; iterates anew each time."""

    path: str | Path
    kind: str
    form: str
    columns: Columns
    unused: list[str]
    limits: Limits
    open: Callable[[], Iterator[tuple[int, Mapping[str, Any]]]]

    def describe(self) -> str:
        """What was taken for what, for people."""
        named = [f"{role}={'+'.join(names)}" for role, names in self.columns.roles.items()]
        ids = [] if ID in self.columns.roles else ["ids from names"]
        unused = [f"not used: {', '.join(self.unused)}"] if self.unused else []
        said = f"{display_name(self.path)}: {self.form}, {', '.join([*named, *ids])}"
        return "; ".join([said, *unused])

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return (row for _line, row in self.rows())

    def rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Line and `id`, `name`, `types` and `aliases` (or `supertypes`) of each row; empty rows are none."""
        roles = self.columns.roles
        made = ((line, self._make(row)) for line, row in self.open())
        some = ((line, row) for line, row in made if any(row.values()))
        yield from some if ID in roles else self._merge(some)

    def _make(self, row: Mapping[str, Any]) -> dict[str, Any]:
        found = dict[str, Any]()
        for role, names in self.columns.roles.items():
            values = [row.get(name) for name in names]
            if role in (ID, NAME):
                found[role] = " ".join(text for value in values if (text := _clean(value)))
            else:
                found[role] = [text for value in values for text in _split(value, role)]
        if ID not in found:
            found[ID] = re.sub(r"\s+", "_", found[NAME])
        return found

    def _merge(self, rows: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Rows of one name as one; the first says where it is."""
        held = dict[str, tuple[int, dict[str, Any]]]()
        for line, row in rows:
            _line, first = held.setdefault(row[ID], (line, row))
            if first is not row:
                for role in (TYPES, ALIASES, SUPERTYPES):
                    if role in row:
                        first[role] = list(dict.fromkeys([*first[role], *row[role]]))
        yield from held.values()


def find_table(
    path: str | Path, kind: str, columns: str | None = None, limits: Limits | None = None
) -> CatalogTable | None:
    """The table in a file, or None where it is Fader's own format: no header, tab-separated.

    Standard input and pipes, which cannot be looked at first, are Fader's own unless columns are given.
    """
    limits = limits or Limits.from_environment()
    given = Columns.parse(columns, kind) if columns else None
    if str(path) == "-" or _is_pipe(path):
        if given is None:
            return None
        raise UsageError(f"{display_name(path)}: --columns needs a file that can be read twice; save it first")
    return _Finder(path, kind, given, limits).find()


def _split_cells(line: str, delimiter: str) -> list[str]:
    """The cells of a line; none where it is no row of a table, such as one with a carriage return inside."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _is_pipe(path: str | Path) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


class _Finder:
    """Looks at the head of a file, and makes the table."""

    def __init__(self, path: str | Path, kind: str, given: Columns | None, limits: Limits) -> None:
        check_readable(path)
        self.path, self.kind, self.given, self.limits = path, kind, given, limits
        with closing(read_chunks(path)) as chunks:  # type: ignore[type-var]
            self.head = next(chunks, (b"", 0))[0][:HEAD].removeprefix(b"\xef\xbb\xbf")

    def find(self) -> CatalogTable | None:
        if self.head.startswith(b"PAR1"):
            return self._parquet()
        if self.head.lstrip()[:1] in (b"{", b"["):
            return self._json()
        return self._text()

    def _table(self, form: str, header: list[str], opened: Callable[[], Any]) -> CatalogTable:
        """Give the columns their roles."""
        chosen = self._choose(header)
        used = {name for names in chosen.roles.values() for name in names}
        unused = [name for name in header if name not in used]
        return CatalogTable(self.path, self.kind, form, chosen, unused, self.limits, opened)

    def _choose(self, header: list[str]) -> Columns:
        if self.given is None:
            found = guess_columns(header, self.kind)
        else:
            found = Columns(
                {role: [self._column(n, header) for n in names] for role, names in self.given.roles.items()}
            )
        if ID not in found.roles and NAME not in found.roles:
            shown = ", ".join(map(quote, header[:12]))
            say = "say which, as in --columns name=COLUMN,types=COLUMN"
            raise CatalogError(f"{display_name(self.path)}: no column of {shown} is known as id or name; {say}")
        return found

    def _column(self, name: str, header: list[str]) -> str:
        """The column that is meant: by its name, in whatever case, or by its number."""
        if name in header:
            return name
        for each in header:
            if _plain(each) == _plain(name):
                return each
        if name.isdecimal() and 1 <= int(name) <= len(header):
            return header[int(name) - 1]
        hint = did_you_mean(name, header) or f"; it has {', '.join(map(quote, header[:12]))}"
        raise CatalogError(f"{display_name(self.path)}: has no column {quote(name)}{hint}")

    def _text(self) -> CatalogTable | None:
        lines = self.head.split(b"\n")
        first = next((line for line in lines if line.strip()), b"").decode("utf-8", "replace").rstrip("\r")
        name = _bare_name(self.path)
        tabs = any(b"\t" in line for line in lines)
        if self.given is not None and self.given.are_numbers:
            delimiter = max(_DELIMITERS, key=first.count)
            width = len(_split_cells(first, delimiter))
            header = [str(i) for i in range(1, width + 1)]
            return self._table(_DELIMITERS[delimiter], header, lambda: self._rows(delimiter, header))
        delimiter = self._delimiter(first, name, tabs)
        if not delimiter:
            return None if tabs or not self._is_list(name) else self._names()
        header = [cell.strip() for cell in _split_cells(first, delimiter)]
        if len(set(header)) < len(header):
            twice = next(cell for cell in header if header.count(cell) > 1)
            raise CatalogError(
                f"{display_name(self.path)}: has two columns {quote(twice)}; give each a name of its own"
            )
        return self._table(_DELIMITERS[delimiter], header, lambda: self._rows(delimiter, None))

    def _delimiter(self, first: str, name: str, tabs: bool) -> str:
        """What separates the cells of a header; nothing where there is none."""
        if self.given is not None:
            return max(_DELIMITERS, key=first.count)
        for delimiter in _DELIMITERS:
            cells = _split_cells(first, delimiter)
            if len(cells) > 1 and _is_header(cells, self.kind) and (delimiter == "\t" or not tabs):
                return delimiter
        if name.endswith(".csv") and not tabs:  # its header names nothing that is known, which is said
            return max((",", ";"), key=first.count)
        one = [first.strip()]
        return "," if self.kind == "entity" and not tabs and _plain(one[0]) in _known(NAME) else ""

    def _is_list(self, name: str) -> bool:
        return self.kind == "entity" and bool(self.head.strip()) and not name.endswith((".tsv", ".tab"))

    def _names(self) -> CatalogTable:
        def opened() -> Iterator[tuple[int, dict[str, Any]]]:
            for number, line in read_lines(self.path, limits=self.limits):
                yield number, {NAME: line}

        return CatalogTable(self.path, self.kind, NAMES, Columns({NAME: [NAME]}), [], self.limits, opened)

    def _rows(self, delimiter: str, header: list[str] | None) -> Iterator[tuple[int, dict[str, Any]]]:
        """Line and cells by column; a cell that is quoted may hold line ends."""
        at = [0]

        def lines() -> Iterator[str]:
            for number, line in read_lines(self.path, limits=self.limits):
                at[0] = number
                yield line + "\n"

        before = csv.field_size_limit(self.limits.line_bytes)
        try:
            names, begin = header, 1
            for cells in csv.reader(lines(), delimiter=delimiter, strict=True):
                if names is None:
                    names = [cell.strip() for cell in cells] if any(map(str.strip, cells)) else None
                elif len(cells) > len(names) and any(map(str.strip, cells[len(names) :])):
                    has = f"{len(cells)} cells; the header has {len(names)}"
                    raise CatalogError(
                        f"{display_name(self.path)}:{begin}: {has}; put a cell that holds {quote(delimiter)} in quotes"
                    )
                else:
                    yield begin, dict(zip(names, cells, strict=False))
                begin = at[0] + 1
        except csv.Error as error:
            raise CatalogError(f"{display_name(self.path)}:{at[0]}: not {_DELIMITERS[delimiter]}: {error}") from None
        finally:
            csv.field_size_limit(before)

    def _json(self) -> CatalogTable:
        opened = self._array if self.head.lstrip().startswith(b"[") else self._json_lines
        keys = dict.fromkeys(key for _line, row in islice(opened(), LOOKED_AT) for key in row)
        return self._table(JSON, list(keys), opened)

    def _json_lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, line in read_lines(self.path, limits=self.limits):
            if line.strip():
                yield number, self._decode(line, number)

    def _array(self) -> Iterator[tuple[int, dict[str, Any]]]:
        held, size = list[bytes](), 0
        for chunk, _consumed in read_chunks(self.path):
            held.append(chunk)
            size += len(chunk)
            if size > self.limits.line_bytes:
                limit = self.limits.at_most("line_bytes")
                raise InputError(
                    f"{display_name(self.path)}: a JSON array of more bytes than {limit}; write JSON lines"
                )
        try:
            rows = msgspec.json.decode(b"".join(held), type=list[dict[str, Any]])
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise CatalogError(f"{display_name(self.path)}: not an array of JSON objects ({error})") from None
        yield from enumerate(rows, 1)

    def _decode(self, line: str, number: int) -> dict[str, Any]:
        try:
            return _json.decode(line)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise CatalogError(f"{display_name(self.path)}:{number}: not a JSON object ({error})") from None

    def _parquet(self) -> CatalogTable:
        import pyarrow.parquet  # takes a tenth of a second, which few need
        from pyarrow import ArrowException

        def opened() -> Iterator[tuple[int, dict[str, Any]]]:
            try:
                with pyarrow.parquet.ParquetFile(self.path) as file:
                    batches = file.iter_batches(batch_size=4096)
                    yield from enumerate((row for batch in batches for row in batch.to_pylist()), 1)
            except (ArrowException, OSError) as error:
                raise CatalogError(f"{display_name(self.path)}: not a Parquet file that can be read: {error}") from None

        try:
            with pyarrow.parquet.ParquetFile(self.path) as file:
                header = list(file.schema_arrow.names)
        except (ArrowException, OSError) as error:
            raise CatalogError(f"{display_name(self.path)}: not a Parquet file that can be read: {error}") from None
        return self._table(PARQUET, header, opened)


def guess_columns(header: Iterable[str], kind: str) -> Columns:
    """The columns that a header's words name; of names, first and last ones are joined."""
    known = {_plain(name): name for name in reversed(list(header))}
    found = dict[str, list[str]]()
    for role in _KIND_ROLES[kind]:
        names = [known[word] for word in ROLES[role].split() if word in known]
        if role == NAME and not names:
            first = next((known[w] for w in _FIRST if w in known), "")
            last = next((known[w] for w in _LAST if w in known), "")
            names = [name for name in (first, last) if name]
            found |= {NAME: names} if names else {}
        elif names:
            found[role] = names if role == ALIASES else names[:1]
    return Columns(found)


def _is_header(cells: list[str], kind: str) -> bool:
    """Whether a first line is a header: it names the id or name and another column, and no column twice."""
    roles = guess_columns(cells, kind).roles
    plain = [_plain(cell) for cell in cells]
    return (ID in roles or NAME in roles) and len(roles) > 1 and len(set(plain)) == len(plain)


def _known(role: str) -> set[str]:
    return set(ROLES[role].split())


def _plain(name: str) -> str:
    """A column's name in lower case, letters and digits only."""
    return "".join(c for c in name.lower() if c.isalnum())


def _bare_name(path: str | Path) -> str:
    name = os.path.basename(str(path)).lower()
    for packed in (".gz", ".zst", ".bz2"):
        name = name.removesuffix(packed)
    return name


def _clean(value: Any) -> str:
    """A value as one line of text."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return " ".join(str(value).split())


def _split(value: Any, role: str) -> list[str]:
    """The several values of a cell, or of a list."""
    if isinstance(value, list | tuple):
        return [text for each in value if (text := _clean(each))]
    text = "" if value is None else str(value)
    marks = "|;," if role in (TYPES, SUPERTYPES) else "|;"
    mark = next((m for m in marks if m in text), "")
    parts = text.split(mark) if mark else [text]
    return [clean for part in parts if (clean := _clean(part))]
