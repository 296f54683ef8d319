r"""Turtle and RDF/XML as pyoxigraph reads them, with line numbers, and with damaged statements left out.

    @prefix ex: <http://ex/> .
    ex:d1 a ex:Text ; ex:says "Berlin"@en , "a \"b\"" .

pyoxigraph (the extra `rdf`) is imported when the first Turtle or RDF/XML arrives. It reads leniently: dumps have bars
and braces in IRIs. It does not tell where a statement stands, so that it gets the text in blocks, each of which ends
where a line ends with a full stop and the next one is not indented; the line of a triple is the first of its block. A
text with a syntax error is read again block by block: a block that cannot be read is a fault and gives nothing.

RDF/XML goes through the standard library's canonical form first. That reads any encoding, limits how much declared
entities may expand (pyoxigraph does not: ten lines of them became 3 GB), and knows the line of an error. Knows nothing
of what statements mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO
from itertools import accumulate
from typing import Any, NamedTuple
from xml.etree.ElementTree import ParseError, canonicalize

from fader.corpora.frame.faults import at
from fader.corpora.parsers.rdf.vocabularies import RDF
from fader.corpus.documents import Faults
from fader.errors import UsageError

FAULTY = "statements that cannot be read"
CUT = "files that cannot be read to their end"
GROUP = 1 << 20  # characters that are read at once; their triples are held until all were read without an error

_BOUNDARY = re.compile(r"(?<=\.)[ \t]*\r?\n(?:[ \t]*\r?\n)*(?=\S)")
_DIRECTIVE = re.compile(r"(?m)^(@(?:prefix\s+[^\s<>:]*:\s*|base\s*)<[^<>\s]*>)[ \t]*$")
_POSITION = re.compile(r"^Parser error .*?(?:line|columns?) \d+[^:]*: ")


class Triple(NamedTuple):
    """A statement: addresses are whole, blank nodes begin with `_:`; a literal is its text, without its datatype."""

    subject: str
    predicate: str
    object: str
    literal: bool
    line: int
    language: str = ""


class Context(NamedTuple):
    """What relative addresses and names with a prefix mean."""

    prefixes: dict[str, str]
    base: str | None

    @classmethod
    def from_head(cls, head: str, base: str = "") -> Context:
        """Read the declarations of a text; those that cannot be read are left out."""
        parser = _open_parser(_Blocks([head]), "TURTLE", base or None)
        while True:
            try:
                next(parser)
            except StopIteration:
                return cls(parser.prefixes, parser.base_iri)
            except SyntaxError:
                continue


class _Blocks:
    """Blocks of text as the file that pyoxigraph reads from; `current` is the one it got last."""

    def __init__(self, blocks: Iterable[str]) -> None:
        self._blocks = iter(blocks)
        self._rest = b""
        self.current = -1

    def read(self, size: int) -> bytes:
        """Read at most so many bytes, of one block."""
        if not self._rest:
            self.current += 1
            self._rest = next(self._blocks, "").encode()
        given, self._rest = self._rest[:size], self._rest[size:]
        return given


def read_turtle(text: str, source: str, faults: Faults, first: int, context: Context) -> Iterator[Triple]:
    """Read the triples of a text whose first line has the number `first`."""
    ends = [*(found.end() for found in _BOUNDARY.finditer(text)), len(text)]
    blocks = [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    start = 0
    sizes = list(accumulate(map(len, blocks)))
    for end in range(1, len(blocks) + 1):
        if end < len(blocks) and sizes[end - 1] - (sizes[start - 1] if start else 0) < GROUP:
            continue
        group = blocks[start:end]
        try:
            found, context = _read_all(group, first, context)
        except SyntaxError:
            found, context = _read_each(group, source, faults, first, context)
        yield from found
        first += sum(block.count("\n") for block in group)
        start = end


def _read_all(blocks: Sequence[str], first: int, context: Context) -> tuple[list[Triple], Context]:
    """Read blocks; a syntax error is raised."""
    head = "".join(f"@prefix {name}: <{space}> .\n" for name, space in context.prefixes.items())
    feed = _Blocks([head + blocks[0], *blocks[1:]])
    parser = _open_parser(feed, "TURTLE", context.base)
    lines = [*accumulate((block.count("\n") for block in blocks), initial=first)]
    triples = list(_make_triples(parser, lambda: lines[feed.current]))
    return triples, Context(parser.prefixes, parser.base_iri)


def _read_each(
    blocks: Sequence[str], source: str, faults: Faults, first: int, context: Context
) -> tuple[list[Triple], Context]:
    """Read blocks one by one, those with a part of a long string also together with what follows."""
    triples: list[Triple] = []
    blocks = [_DIRECTIVE.sub(r"\1 .", block) for block in blocks]  # a declaration is clear without its full stop
    at_ = 0
    while at_ < len(blocks):
        for end in (at_ + 1, _find_end_of_strings(blocks, at_)):
            try:
                found, context = _read_all(blocks[at_:end], first, context)
            except SyntaxError as error:
                line = first + max((error.lineno or 1) - 1 - len(context.prefixes), 0)
                problem = _POSITION.sub("", error.msg)
            else:
                triples += found
                break
        else:
            end = at_ + 1
            faults.add(FAULTY, f"{at(source, line)}: {problem}; correct it, or get a whole copy of the file")
        first += sum(block.count("\n") for block in blocks[at_:end])
        at_ = end
    return triples, context


def _find_end_of_strings(blocks: Sequence[str], start: int) -> int:
    """Find the end of the blocks that long strings join with the first of them."""
    counts = {'"""': 0, "'''": 0}
    for end in range(start, len(blocks)):
        for mark in counts:
            counts[mark] += blocks[end].count(mark)
        if not any(count % 2 for count in counts.values()):
            return end + 1
    return start + 1


def read_xml(data: bytes, source: str, faults: Faults, base: str = "") -> Iterator[Triple]:
    """Read the triples of a file; one that is damaged gives what stands before the damage, and a fault."""
    plain, whole = StringIO(), False
    try:
        canonicalize(data, out=plain)  # bytes, whose encoding it looks for
        whole = True
    except ParseError as error:
        line = error.position[0]
        faults.add(CUT, f"{at(source, line)}: no XML from here on ({error}); what stands before is used")
    except (ValueError, LookupError) as error:  # an encoding that nobody knows
        faults.add(CUT, f"{source}: {error}; save it as UTF-8")
    triples = _make_triples(_open_parser(plain.getvalue(), "RDF_XML", base or None), lambda: 0)
    while True:
        try:
            yield next(triples)
        except StopIteration:
            return
        except SyntaxError as error:
            if not whole:
                return
            faults.add(FAULTY, f"{source}: {error.msg}; write it as RDF/XML")


def _open_parser(text: Any, format: str, base: str | None) -> Any:
    """Have pyoxigraph read a text, or what gives bytes."""
    try:
        import pyoxigraph  # an optional package, of which most imports need nothing
    except ImportError:
        raise UsageError("Turtle and RDF/XML need the package pyoxigraph; pip install 'fader[rdf]'") from None
    formats = pyoxigraph.RdfFormat
    return pyoxigraph.parse(text, format=getattr(formats, format), base_iri=base, lenient=True)


def _make_triples(quads: Iterable[Any], line: Callable[[], int]) -> Iterator[Triple]:
    """Convert quads whose terms are addresses, blank nodes and texts; facts about triples, and XML, are passed over."""
    from pyoxigraph import BlankNode, Literal, NamedNode

    for quad in quads:
        subject, thing = quad.subject, quad.object
        kind = type(thing)
        name = subject.value if type(subject) is NamedNode else f"_:{subject.value}"
        if kind is Literal:
            if thing.datatype.value != RDF + "XMLLiteral":
                yield Triple(name, quad.predicate.value, thing.value, True, line(), thing.language or "")
        elif kind is NamedNode:
            yield Triple(name, quad.predicate.value, thing.value, False, line())
        elif kind is BlankNode:
            yield Triple(name, quad.predicate.value, f"_:{thing.value}", False, line())
