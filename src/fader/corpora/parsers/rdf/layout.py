r"""How an RDF file writes its statements, seen from its first lines, never from its name; and its pieces.

    lines     N-Triples, N-Quads, and Turtle with one statement per line, as the dumps of YAGO and DBpedia are; prefixes
              on top; `<<` of RDF-star
    columns   YAGO 2s and 3: `<id> TAB <Kayna> TAB rdf:type TAB <wikicat_Towns> TAB value`, id and value often empty
    bare      YAGO 1 and 2: `id TAB arg1 TAB arg2`, a file for each relation
    turtle    any other Turtle; cut where a line ends with a full stop and the next one is not indented
    xml       RDF/XML, a whole file at a time

Knows nothing of what statements say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fader.corpora.frame.base import Batch
from fader.corpora.frame.inputs import head, line_batches, whole_files
from fader.corpora.parsers.rdf.vocabularies import OWL, RDF, RDFS, SKOS
from fader.corpus.documents import Faults
from fader.corpus.readers import display_name

LINES, COLUMNS, BARE, TURTLE, XML = "lines", "columns", "bare", "turtle", "xml"
IMPLIED = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "skos": SKOS}  # in columns, which cannot say what a prefix means

HEAD = 1 << 16  # bytes from which the layout is seen
SEEN = 60  # lines that have a say in it
LONGEST = 1 << 26  # bytes of Turtle without a place to cut, beyond which it is cut anywhere

_PREFIX = re.compile(r"@?prefix\s+([^\s:]*):\s*<([^>]*)>", re.IGNORECASE)
_BASE = re.compile(r"@?base\s*<([^>]*)>", re.IGNORECASE)
_STATEMENT = re.compile(rb"(?:<<|<[^>]*>|[^\s<>\"]*:\S*)\s+\S+\s+\S.*\.\s*(?:#.*)?")
_REMARK = re.compile(rb"\s*#(?!\d+\t)")  # facts of YAGO 2 may have the number #123


class Layout(NamedTuple):
    """How a source writes its statements."""

    kind: str
    prefixes: dict[str, str]
    base: str


def find_layout(source: str) -> Layout:
    """The layout of a source, seen from its beginning."""
    begin, base = head(source, HEAD + 4), ""  # a mark, and a byte that shows that there is more
    if len(begin) > HEAD:
        begin = begin[:HEAD].rpartition(b"\n")[0] or begin[:HEAD]
    if begin.lstrip().startswith((b"<?xml", b"<rdf:RDF", b"<!DOCTYPE", b"<!--")):
        return Layout(XML, {}, base)
    prefixes: dict[str, str] = {}
    votes = dict.fromkeys((LINES, COLUMNS, BARE, TURTLE), 0)
    goes_on = 0
    for line in begin.splitlines():
        if not line.strip() or _REMARK.match(line):
            continue
        text = line.decode("utf-8", "replace").strip()
        if found := _PREFIX.match(text):
            prefixes[found[1]] = found[2]
        elif found := _BASE.match(text):
            base = found[1]
        elif sum(votes.values()) < SEEN:
            votes[_vote(line.rstrip())] += 1
            goes_on += line.rstrip()[-1:] in b";,["
    kind = max(votes, key=lambda each: votes[each])
    if kind == LINES and goes_on > 1:
        kind = TURTLE
    return Layout(kind, {**IMPLIED, **prefixes} if kind == COLUMNS else prefixes, base)


def _vote(line: bytes) -> str:
    """What a line is like."""
    cells = line.split(b"\t")
    if _STATEMENT.fullmatch(line) and not (len(cells) > 3 and cells[0][:4] == b"<id_"):
        return LINES
    if len(cells) >= 4 and cells[0][:1] in (b"", b"<") and (cells[2][:1] == b"<" or b":" in cells[2].split(b'"')[0]):
        return COLUMNS
    if len(cells) >= 3 and cells[0] and cells[1][:1] not in (b"", b"<"):
        return BARE
    return TURTLE


def find_layouts(sources: Sequence[str]) -> dict[str, Layout]:
    """The layout of each source by the name that batches have."""
    return {display_name(source): find_layout(source) for source in sources}


def cut_statements(sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
    """Pieces of sources: lines, none of which goes on in the next piece; or all bytes of a source that is XML."""
    for source in sources:
        kind = find_layout(source).kind
        if kind == XML:
            yield from whole_files([source], faults)
        else:
            yield from _cut_turtle(source, faults) if kind == TURTLE else line_batches([source], faults)


def _cut_turtle(source: str, faults: Faults) -> Iterator[Batch]:
    """Lines of Turtle, cut between statements."""
    held, first, consumed, weight = list[bytes](), 1, 0, 0
    for batch in line_batches([source], faults):
        held += batch.payload
        weight += sum(map(len, batch.payload))
        consumed = batch.consumed
        cut = len(held) if weight > LONGEST else _find_boundary(held)
        if cut:
            yield Batch(batch.source, first, held[:cut], consumed)
            first, held = first + cut, held[cut:]
            weight = sum(map(len, held))
    if held:
        yield Batch(display_name(source), first, held, consumed)


def _find_boundary(lines: list[bytes]) -> int:
    """The last line that begins a statement; 0 if none does, or it may be in a long text."""
    for i in range(len(lines) - 1, 0, -1):
        if lines[i][:1] not in (b"", b" ", b"\t", b"\r") and lines[i - 1].rstrip()[-1:] == b".":
            before = b"\n".join(lines[:i])
            return 0 if before.count(b'"""') % 2 or before.count(b"'''") % 2 else i
    return 0
