r"""Statements of RDF files: subject, predicate and object, of those predicates that are wanted.

    lines     N-Triples, N-Quads, and Turtle with a statement a line, as the dumps of YAGO and DBpedia are; prefixes on
              top; `<<` of RDF-star passed over
    columns   YAGO 2s and 3: `<id> TAB <Kayna> TAB rdf:type TAB <wikicat_Towns> TAB value`, id and value often empty
    bare      YAGO 1 and 2: `id TAB arg1 TAB arg2`, a file for each relation; read by `yago`
    turtle    any other Turtle, and `xml`, RDF/XML: read as a whole by pyoxigraph

What a source is, is seen from its first lines, never from its name. Lines are not parsed: those that have
as many blanks or tabs as a statement are split all at once, the others one by one. Of a line whose predicate is not
wanted nothing more is looked at, and each term of a batch is read once. Knows nothing of what statements mean.
"""

from __future__ import annotations

import importlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from operator import itemgetter
from typing import Any, NamedTuple

from fader.corpus.documents import Faults
from fader.corpus.readers import display_name, read_chunks
from fader.errors import InputError, UsageError, quoted
from fader.importers.base import Batch
from fader.importers.faults import at
from fader.importers.inputs import BROKEN, line_batches, whole_files

LINES, COLUMNS, BARE, TURTLE, XML = "lines", "columns", "bare", "turtle", "xml"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SCHEMA = "http://schema.org/"
WIKIDATA = "http://www.wikidata.org/entity/"
IMPLIED = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "skos": SKOS}  # in columns, which cannot say what a prefix means
FAULTY = "lines that are no statement"

HEAD = 1 << 16  # bytes from which the layout is seen
SEEN = 60  # lines that have a say in it

_PREFIX = re.compile(r"@?prefix\s+([^\s:]*):\s*<([^>]*)>", re.IGNORECASE)
_BASE = re.compile(r"@?base\s*<([^>]*)>", re.IGNORECASE)
_STATEMENT = re.compile(rb"\s*(?:<<|<[^>]*>|[^\s<>\"]*:\S*)\s+\S+\s+\S.*\.\s*(?:#.*)?")
_LITERAL = re.compile(rb'"(?:[^"\\]|\\.)*"(?:@[A-Za-z0-9-]+|\^\^(?:<[^>]*>|\S*[^\s.]))?\s*')
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_PLAIN = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}

Statement = tuple[int, str, str, str, "str | None"]  # line, subject, tag, object; language of a literal, None of a term


class Layout(NamedTuple):
    """How a source writes its statements."""

    kind: str
    prefixes: dict[str, str]
    base: str


def layout_of(source: str) -> Layout:
    """The layout of a source, seen from its beginning."""
    head, base = _head(source), ""
    if head.lstrip().startswith((b"<?xml", b"<rdf:RDF", b"<!DOCTYPE")):
        return Layout(XML, {}, base)
    prefixes: dict[str, str] = {}
    votes = dict.fromkeys((LINES, COLUMNS, BARE, TURTLE), 0)
    for line in head.splitlines():
        if not line.strip() or line.lstrip().startswith(b"#"):
            continue
        text = line.decode("utf-8", "replace").strip()
        if found := _PREFIX.match(text):
            prefixes[found[1]] = found[2]
        elif found := _BASE.match(text):
            base = found[1]
        elif sum(votes.values()) < SEEN:
            votes[_vote(line.rstrip())] += 1
    kind = max(votes, key=lambda each: votes[each])
    return Layout(kind, {**IMPLIED, **prefixes} if kind == COLUMNS else prefixes, base)


def _head(source: str) -> bytes:
    head = b""
    try:
        for chunk, _consumed in read_chunks(source):
            head += chunk
            if len(head) > HEAD:
                break
    except InputError:
        pass  # told when the source is read
    head = head.removeprefix(b"\xef\xbb\xbf")
    return head[:HEAD].rpartition(b"\n")[0] if len(head) > HEAD else head


def _vote(line: bytes) -> str:
    """What a line is like."""
    cells = line.split(b"\t")
    if _STATEMENT.fullmatch(line) and not (len(cells) > 3 and cells[0][:4] in (b"", b"<id_")):
        return LINES
    if len(cells) >= 4 and cells[0][:1] in (b"", b"<") and (cells[2][:1] == b"<" or b":" in cells[2]):
        return COLUMNS
    if len(cells) >= 3 and cells[1][:1] not in (b"", b"<"):
        return BARE
    return TURTLE


def statement_batches(sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
    """Pieces of sources: lines, or all bytes of a source that only a parser can read."""
    for source in sources:
        whole = layout_of(source).kind in (TURTLE, XML)
        yield from whole_files([source], faults) if whole else line_batches([source], faults)


def layouts(sources: Sequence[str]) -> dict[str, Layout]:
    """The layout of each source by the name that batches have."""
    return {display_name(source): layout_of(source) for source in sources}


def statements(
    batch: Batch, layout: Layout, wanted: Mapping[str, str], short: Callable[[str], str], faults: Faults
) -> Iterator[Statement]:
    """The statements of a batch whose predicate is wanted (an address to a tag), their terms made short.

    Terms that are no addresses (blank nodes) are passed over. The language of a literal without one is empty.
    """
    if isinstance(batch.payload, bytes):
        return _parsed(batch, layout, wanted, short, faults)
    return _read(batch, layout, wanted, short, faults)


def _read(
    batch: Batch, layout: Layout, wanted: Mapping[str, str], short: Callable[[str], str], faults: Faults
) -> Iterator[Statement]:
    """All usual lines at once, the others one by one; in the order of lines."""
    terms = Terms(layout, short)
    tags = _written(layout, wanted)
    first, separator, count = (1, b"\t", 4) if layout.kind == COLUMNS else (0, _separator(batch.payload), 3)
    fits = [line.count(separator) == count for line in batch.payload]
    usual = list(compress(batch.payload, fits))
    try:
        cells = separator.join(usual).decode().split(separator.decode()) if usual else []
    except UnicodeDecodeError:
        usual = cells = []
    if count == 3 and not set(cells[3::4]) <= _STOPS:
        usual = cells = []
    if not usual:
        return _one_by_one(list(enumerate(batch.payload, batch.place)), batch.source, layout, tags, terms, faults)
    numbers = range(batch.place, batch.place + len(batch.payload))
    every = [cells[each :: count + 1] for each in (first, first + 1, first + 2)]
    found = _at_once(compress(numbers, fits), every, tags, terms, batch.source, faults)
    if len(usual) == len(batch.payload):
        return found
    other = [(number, line) for number, line, fit in zip(numbers, batch.payload, fits, strict=True) if not fit]
    rest = _one_by_one(other, batch.source, layout, tags, terms, faults)
    return iter(sorted((*found, *rest), key=itemgetter(0)))


_STOPS = {".", ".\r"}


def _separator(lines: list[bytes]) -> bytes:
    """What stands between the terms of most statements."""
    return b"\t" if sum(line.count(b"\t") >= 3 for line in lines[:SEEN]) * 2 > min(SEEN, len(lines)) else b" "


def _at_once(
    numbers: Iterable[int], every: list[list[str]], tags: Mapping[str, str], terms: Terms, source: str, faults: Faults
) -> Iterator[Statement]:
    """Statements of subjects, predicates and objects."""
    subjects, predicates, things = every
    written = below = ""  # statements on one subject follow each other
    for number, subject, tag, thing in zip(numbers, subjects, map(tags.get, predicates), things, strict=True):
        if tag is None:
            continue
        try:
            if subject != written:
                below, written = terms[subject], subject
            if thing[:1] == '"':
                if below:
                    yield number, below, tag, *_text(thing)
            elif (above := terms[thing]) and below:
                yield number, below, tag, above, None
        except ValueError as error:
            faults.add(FAULTY, f"{at(source, number)}: {error}")


def _one_by_one(
    lines: list[tuple[int, bytes]], source: str, layout: Layout, tags: Mapping[str, str], terms: Terms, faults: Faults
) -> Iterator[Statement]:
    columns = layout.kind == COLUMNS
    split = _cells if columns else _pieces
    raw = {written.encode(): tag for written, tag in tags.items()}
    for number, line in lines:
        try:
            found = split(line, raw)
            if found is None:
                continue
            below, tag, thing = terms[found[0].decode()], found[1], found[2].decode()
            if thing[:1] == '"':
                if below:
                    yield number, below, tag, *_text(thing)
            elif (above := terms[thing]) and below:
                yield number, below, tag, above, None
        except UnicodeDecodeError as error:
            faults.add(BROKEN, f"{at(source, number)}: not UTF-8 at byte {error.start + 1} of a term")
        except ValueError as error:
            if number > 1 or not columns:  # the first line of columns may be a remark
                faults.add(FAULTY, f"{at(source, number)}: {error}")


def _text(written: str) -> tuple[str, str]:
    """A literal and its language."""
    end = written.rfind('"')
    if end < 1:
        raise ValueError(f"no end of the text {quoted(written[:40])}")
    language = written[end + 2 :].partition(" ")[0].strip() if written[end + 1 : end + 2] == "@" else ""
    return unescaped(written[1:end]), language


def _pieces(line: bytes, tags: Mapping[bytes, str]) -> tuple[bytes, str, bytes] | None:
    """Subject, tag and object of a line; None where the predicate is not wanted."""
    pieces = line.split(None, 2)
    if len(pieces) < 3:
        if not pieces or line.lstrip()[:1] in (b"#", b"@") or pieces[0][:4].lower() == b"base":
            return None
        raise ValueError("needs subject, predicate, object and a full stop")
    subject, predicate, rest = pieces
    tag = tags.get(predicate)
    if tag is None or subject[:1] == b"#" or subject[:2] == b"<<":
        return None
    if rest[:1] == b'"':
        found = _LITERAL.match(rest)
        thing, end = (found[0].rstrip(), rest[found.end() :]) if found else (rest, b"")
    else:
        thing, _blank, end = rest.replace(b"\t", b" ").partition(b" ")
        thing = thing.rstrip()
        if not end and thing[-1:] == b".":
            thing, end = thing[:-1], b"."
    if b"." not in end or end.lstrip()[:1] in (b";", b","):
        raise ValueError("the statement does not end on its line; the file may be cut, or not be N-Triples")
    return subject, tag, thing


def _cells(line: bytes, tags: Mapping[bytes, str]) -> tuple[bytes, str, bytes] | None:
    """The same of a line of columns."""
    cells = line.split(b"\t")
    if len(cells) < 4:
        if not line.strip() or line[:1] == b"#":
            return None
        raise ValueError(f"{len(cells)} columns; expected id, subject, predicate, object and a value")
    tag = tags.get(cells[2])
    if tag is None:
        return None
    thing = cells[3].strip()
    if not cells[1] or not thing:
        raise ValueError("a fact without subject or object")
    return cells[1], tag, thing


def _written(layout: Layout, wanted: Mapping[str, str]) -> dict[str, str]:
    """Tags by what stands in the file for a predicate."""
    tags: dict[str, str] = {}
    for address, tag in wanted.items():
        tags[f"<{address}>"] = tag
        if layout.base and address.startswith(layout.base):
            tags[f"<{address[len(layout.base) :]}>"] = tag
        for prefix, space in layout.prefixes.items():
            if address.startswith(space):
                tags[f"{prefix}:{address[len(space) :]}"] = tag
        if address == RDF + "type":
            tags["a"] = tag
    return tags


class Terms(dict[str, str]):
    """Terms as they are written to short names; each is read once. Blank nodes are empty."""

    def __init__(self, layout: Layout, short: Callable[[str], str]) -> None:
        super().__init__()
        self._layout, self._short = layout, short
        self._plain = short(layout.base + "x") == "x"  # what is written below the base is short already

    def __missing__(self, term: str) -> str:
        if term[:1] == "<" and term[-1:] == ">":
            address = term[1:-1] if "\\" not in term else unescaped(term[1:-1])
            if "://" not in address:
                if self._plain:
                    self[term] = address
                    return address
                address = self._layout.base + address
        elif term[:2] == "_:" or term[:1] == "[":
            address = ""
        else:
            address = self._prefixed(term)
        self[term] = found = self._short(address) if address else ""
        return found

    def _prefixed(self, term: str) -> str:
        prefix, colon, local = term.partition(":")
        if not colon or prefix not in self._layout.prefixes:
            raise ValueError(f"{quoted(term)} is no term; its prefix is not declared at the top of the file")
        return self._layout.prefixes[prefix] + unescaped(local)


def unescaped(text: str) -> str:
    r"""The text with `\u00e9`, `\U0001f600`, `\"` and the like replaced; a wrong number is left as it is."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    if code is None:
        return _PLAIN.get(found[3], found[3])
    return chr(int(code, 16)) if int(code, 16) < 0x110000 else found[0]


def _parsed(
    batch: Batch, layout: Layout, wanted: Mapping[str, str], short: Callable[[str], str], faults: Faults
) -> Iterator[Statement]:
    """The statements of a whole source, by pyoxigraph."""
    try:
        rdf: Any = importlib.import_module("pyoxigraph")
    except ImportError:
        where = f"{batch.source}: only a parser can read this {'RDF/XML' if layout.kind == XML else 'Turtle'}"
        raise UsageError(f"{where}, pyoxigraph; pip install 'fader[import]', or give N-Triples") from None
    form = rdf.RdfFormat.RDF_XML if layout.kind == XML else rdf.RdfFormat.TURTLE
    try:
        for found in rdf.parse(io.BytesIO(batch.payload), format=form, base_iri=layout.base or None, lenient=True):
            tag = wanted.get(found.predicate.value)
            if tag is None or not isinstance(found.subject, rdf.NamedNode):
                continue
            if isinstance(found.object, rdf.NamedNode):
                yield 0, short(found.subject.value), tag, short(found.object.value), None
            elif isinstance(found.object, rdf.Literal):
                yield 0, short(found.subject.value), tag, found.object.value, found.object.language or ""
    except (SyntaxError, ValueError, OSError) as error:
        faults.add("files that cannot be read to their end", f"{batch.source}: {error}; what stands before is used")
