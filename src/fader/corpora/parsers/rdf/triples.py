r"""Statements of RDF files: subject, predicate and object, of those predicates that are wanted.

Files with one statement per line are not parsed: lines that have as many blanks or tabs as a statement are split all
at once, the others one by one. Of a line whose predicate is not wanted nothing more is read, and each term of a batch
is read once. A line that holds several statements (`a b c ; d e .`), Turtle over several lines, and RDF/XML are read by
`oxigraph`. Knows nothing of what statements mean.

Why lines are split here and not by pyoxigraph, measured on 200,000 statements of which a tenth is wanted: Turtle with
prefixes, as YAGO has it, 92 MB a second against 26; N-Triples 168 against 171, without a package to install. A bad line
costs itself alone, and YAGO's files of columns are no RDF syntax.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from operator import itemgetter

from fader.corpora.frame.base import Batch
from fader.corpora.frame.faults import at
from fader.corpora.frame.inputs import BROKEN, decode_line
from fader.corpora.parsers.rdf import oxigraph
from fader.corpora.parsers.rdf.escapes import unescape
from fader.corpora.parsers.rdf.layout import COLUMNS, LINES, SEEN, TURTLE, Layout, cut_statements
from fader.corpora.parsers.rdf.vocabularies import RDF
from fader.corpus.documents import Faults
from fader.corpus.readers import file_size, without_mark
from fader.errors import quote
from fader.lazy import cached_property
from fader.progress import Progress

FAULTY = "lines that are no statement"

_LITERAL = re.compile(rb'"(?:[^"\\]|\\.)*"(?:@[A-Za-z0-9-]+|\^\^(?:<[^>]*>|\S*[^\s.;,]))?\s*')

Statement = tuple[int, str, str, str, "str | None"]  # line, subject, tag, object; language of a literal, None of a term


class _SeveralError(ValueError):
    """A line holds more than one statement."""


def read_statements(
    batch: Batch, layout: Layout, wanted: Mapping[str, str], short: Callable[[str], str], faults: Faults
) -> Iterator[Statement]:
    """The statements of a batch whose predicate is wanted (an address to a tag), their terms made short.

    Terms that are no addresses (blank nodes) are passed over. The language of a literal without one is empty.
    """
    terms = Terms(layout, wanted, short)
    if isinstance(batch.payload, bytes):
        return _select(oxigraph.read_xml(batch.payload, batch.source, faults, layout.base), terms)
    if batch.place == 1 and batch.payload:
        batch = batch._replace(payload=[without_mark(batch.payload[0], 1), *batch.payload[1:]])
    if layout.kind == TURTLE and not all(
        line[-2:] in (b"\t.", b" .") and line[:1] not in b" \t" for line in batch.payload
    ):  # else all statements have lines of their own, as the facts behind YAGO's schema
        return _read_turtle(batch, terms, faults)
    return _read(batch, terms, faults)


def cut_marked(
    sources: Sequence[str], layouts: Mapping[str, Layout], marks: re.Pattern[bytes], progress: Progress, what: str
) -> Iterator[Batch]:
    """Batches with the lines that a first pass may have to look at; all where a statement may go over lines.

    Faults are those of the second pass, and reported there.
    """
    ignored, total, before = Faults(), sum(map(file_size, sources)), 0
    for source in sources:
        for batch in cut_statements([source], ignored):
            if layouts[batch.source].kind in (LINES, COLUMNS):
                yield batch._replace(payload=[line for line in batch.payload if marks.search(line)])
            else:
                yield batch
            progress.update(before + batch.consumed, total, what)
        before += file_size(source)


def _read(batch: Batch, terms: Terms, faults: Faults) -> Iterator[Statement]:
    """All usual lines at once, the others one by one; in the order of lines."""
    layout = terms.layout
    tags = _find_tags(layout, terms.wanted)
    tabs = sum(line.count(b"\t") >= 3 for line in batch.payload[:SEEN])  # what stands between most terms
    separator = b"\t" if layout.kind == COLUMNS or tabs * 2 > min(SEEN, len(batch.payload)) else b" "
    first, count = (1, 4) if layout.kind == COLUMNS else (0, 3)
    fits = [line.count(separator) == count for line in batch.payload]
    usual = list(compress(batch.payload, fits))
    try:
        cells = separator.join(usual).decode().split(separator.decode()) if usual else []
    except UnicodeDecodeError:
        usual = cells = []
    if count == 3 and not set(cells[3::4]) <= {".", ".\r"}:
        usual = cells = []
    if not usual:
        return _read_one_by_one(list(enumerate(batch.payload, batch.place)), batch.source, tags, terms, faults)
    numbers = range(batch.place, batch.place + len(batch.payload))
    every = [cells[each :: count + 1] for each in (first, first + 1, first + 2)]
    found = _read_at_once(compress(numbers, fits), every, tags, terms, batch.source, faults)
    if len(usual) == len(batch.payload):
        return found
    other = [(number, line) for number, line, fit in zip(numbers, batch.payload, fits, strict=True) if not fit]
    rest = _read_one_by_one(other, batch.source, tags, terms, faults)
    return iter(sorted((*found, *rest), key=itemgetter(0)))


def _read_at_once(
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
                    yield number, below, tag, *_read_text(thing)
            elif (above := terms[thing]) and below:
                yield number, below, tag, above, None
        except ValueError as error:
            faults.add(FAULTY, f"{at(source, number)}: {error}")


def _read_one_by_one(
    lines: list[tuple[int, bytes]], source: str, tags: Mapping[str, str], terms: Terms, faults: Faults
) -> Iterator[Statement]:
    columns = terms.layout.kind == COLUMNS
    split = _split_columns if columns else _split_line
    raw = {written.encode(): tag for written, tag in tags.items()}
    for number, line in lines:
        try:
            found = split(line, raw)
            if found is None:
                continue
            below, tag, thing = terms[found[0].decode()], found[1], found[2].decode()
            if thing[:1] == '"':
                if below:
                    yield number, below, tag, *_read_text(thing)
            elif (above := terms[thing]) and below:
                yield number, below, tag, above, None
        except _SeveralError:
            yield from _read_turtle(Batch(source, number, [line], 0), terms, faults)
        except UnicodeDecodeError as error:
            faults.add(BROKEN, f"{at(source, number)}: not UTF-8 at byte {error.start + 1} of a term")
        except ValueError as error:
            if number > 1 or not columns:  # the first line of columns may be a remark
                faults.add(FAULTY, f"{at(source, number)}: {error}")


def _read_text(written: str) -> tuple[str, str]:
    """A literal and its language."""
    end = written.rfind('"')
    if end < 1:
        raise ValueError(f"no end of the text {quote(written[:40])}")
    language = written[end + 2 :].partition(" ")[0].strip().lower() if written[end + 1 : end + 2] == "@" else ""
    return unescape(written[1:end]), language


def _split_line(line: bytes, tags: Mapping[bytes, str]) -> tuple[bytes, str, bytes] | None:
    """Subject, tag and object of a line; None where the predicate is not wanted."""
    pieces = line.split(None, 2)
    if len(pieces) < 3:
        if not pieces or line.lstrip()[:1] in (b"#", b"@") or pieces[0][:4].lower() == b"base":
            return None
        raise ValueError("needs subject, predicate, object and a full stop")
    subject, predicate, rest = pieces
    tag = tags.get(predicate)
    if subject[:1] == b"#" or subject[:2] == b"<<" or (tag is None and b";" not in rest):
        return None
    thing, end = _split_object(rest)
    if end[:1] in (b";", b","):
        raise _SeveralError
    if tag is None:
        return None
    if b"." not in end:
        raise ValueError("the statement does not end on its line; the file may be cut, or not be N-Triples")
    return subject, tag, thing


def _split_object(rest: bytes) -> tuple[bytes, bytes]:
    """The object of a statement, and what stands behind it."""
    if rest[:1] == b'"':
        found = _LITERAL.match(rest)
        return (found[0].rstrip(), rest[found.end() :]) if found else (rest, b"")
    end = rest.find(b">") + 1 if rest[:1] == b"<" else 0
    if not end:  # a name with a prefix, or a blank node: it may have a mark right behind it
        end = len(rest.split(None, 1)[0].rstrip(b".;,"))
    return rest[:end], rest[end:].lstrip()


def _split_columns(line: bytes, tags: Mapping[bytes, str]) -> tuple[bytes, str, bytes] | None:
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


def _find_tags(layout: Layout, wanted: Mapping[str, str]) -> dict[str, str]:
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

    def __init__(self, layout: Layout, wanted: Mapping[str, str], short: Callable[[str], str]) -> None:
        super().__init__()
        self.layout, self.wanted, self.short = layout, wanted, short
        self._plain = short(layout.base + "x") == "x"  # what is written below the base is short already

    @cached_property
    def context(self) -> oxigraph.Context:
        """The declarations at the top of the file, for Turtle."""
        head = "".join(f"@prefix {name}: <{space}> .\n" for name, space in self.layout.prefixes.items())
        return oxigraph.Context.from_head(head, self.layout.base)

    def __missing__(self, term: str) -> str:
        if term[:1] == "<" and term[-1:] == ">":
            address = term[1:-1] if "\\" not in term else unescape(term[1:-1])
            if "://" not in address:
                if self._plain:
                    self[term] = address
                    return address
                address = self.layout.base + address
        elif term[:2] == "_:" or term[:1] == "[":
            address = ""
        else:
            prefix, colon, local = term.partition(":")
            if not colon or prefix not in self.layout.prefixes:
                raise ValueError(f"{quote(term)} is no term; its prefix is not declared at the top of the file")
            address = self.layout.prefixes[prefix] + unescape(local)
        self[term] = found = self.short(address) if address else ""
        return found


def _read_turtle(batch: Batch, terms: Terms, faults: Faults) -> Iterator[Statement]:
    """The statements of a piece of Turtle; a line that is not UTF-8 is left out, which costs the statement it is in."""
    lines = (decode_line(line, n, batch.source, faults) or "" for n, line in enumerate(batch.payload, batch.place))
    return _select(oxigraph.read_turtle("\n".join(lines), batch.source, faults, batch.place, terms.context), terms)


def _select(triples: Iterable[oxigraph.Triple], terms: Terms) -> Iterator[Statement]:
    """Give the triples whose predicate is wanted and whose terms have addresses."""
    for found in triples:
        tag = terms.wanted.get(found.predicate)
        if tag is None or found.subject[:2] == "_:":
            continue
        if found.literal:
            yield found.line, terms.short(found.subject), tag, found.object, found.language
        elif found.object[:2] != "_:":
            yield found.line, terms.short(found.subject), tag, terms.short(found.object), None
