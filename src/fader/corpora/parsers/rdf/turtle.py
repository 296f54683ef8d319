r"""Statements of Turtle and N-Triples texts, with their lines; what is no statement is a fault, and reading goes on.

    @prefix ex: <http://ex/> .
    ex:d1 a ex:Text ; ex:says "Berlin"@en , "a \"b\"" .

All of Turtle 1.1 is read: prefixes and bases in either spelling, lists of predicates and objects, blank nodes with
properties, collections (`rdf:first`, `rdf:rest`), long strings, escapes, numbers and truth values. What it forbids but
dumps have is taken too: bars, braces and quotes in IRIs, halves of surrogate pairs,
no full stop behind a prefix. After an error, reading goes on
behind the next full stop at the end of a line. Knows nothing of what statements mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urljoin

from fader.corpora.frame.faults import at
from fader.corpora.parsers.rdf.escapes import unescaped
from fader.corpus.documents import Faults
from fader.errors import quoted

FAULTY = "statements that cannot be read"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
TYPE = RDF + "type"
DEEPEST = 100  # brackets within brackets; each takes a few frames of the stack

_TOKEN = re.compile(
    r"""(?:\s+|\#[^\n]*)*+(?:  # blanks and remarks before a token
    <(?P<iri>[^<>\s]*)>
    |\"\"\"(?P<long>(?>[^"\\]+|\\.|"(?!""))*+)\"\"\"|'''(?P<other>(?>[^'\\]+|\\.|'(?!''))*+)'''
    |"(?P<short>(?>[^"\\\n]+|\\.)*+)"|'(?P<single>(?>[^'\\\n]+|\\.)*+)'
    |@(?P<at>[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    |(?P<datatype>\^\^)
    |(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+|[+-]?\d*\.\d+|[+-]?\d+)
    |(?P<name>(?:[^\s<>"'{}()\[\];,\#@^:.][^\s<>"'{}()\[\];,\#@^:]*)?:(?:(?:[^\s<>"'{}()\[\];,\#^`\\.]|\\.|\.+(?=[^\s<>"'{}()\[\];,\#^`.]))*))
    |(?P<word>[A-Za-z]+)
    |(?P<mark>[.;,\[\]()])
    |(?P<end>\Z))""",
    re.VERBOSE | re.DOTALL,
)
_GAP = re.compile(r"(?:\s+|#[^\n]*)*")
_OPENED = {"iri": 1, "at": 1, "short": 1, "single": 1, "long": 3, "other": 3}  # what stands before a token's value
_STRINGS = frozenset(("long", "other", "short", "single"))
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LOCAL = re.compile(r"\\(.)")
_END = re.compile(r"\.[ \t]*(?:\r?\n|$)")

_Found = list[tuple[str, str, str, bool, str]]  # subject, predicate, object, is it a literal, its language


class Statement(NamedTuple):
    """A statement: addresses are whole, blank nodes begin with `_:`; a literal is its text, without its datatype."""

    subject: str
    predicate: str
    object: str
    literal: bool
    line: int
    language: str = ""


class _WrongError(Exception):
    """What is wrong, where the reader stands."""


def statements(
    text: str, source: str, faults: Faults, first: int = 1, head: str = "", base: str = ""
) -> Iterator[Statement]:
    """The statements of a text whose first line has the number `first`; `head` has prefixes that hold for it."""
    reader = _Reader(base)
    if head:
        for _statement in _sound(reader, head, 1, source, Faults("skip")):
            pass  # what is wrong in it is told of where it stands in the source
    yield from _sound(reader, text, first, source, faults)


def _sound(reader: _Reader, text: str, first: int, source: str, faults: Faults) -> Iterator[Statement]:
    """The statements of a text; those that are none are faults."""
    reader.begin(text, first)
    while not reader.done:
        try:
            yield from reader.all()
        except _WrongError as error:
            faults.add(FAULTY, f"{at(source, reader.line())}: {error}")
            found = _END.search(text, reader.position)
            reader.go(found.end() if found else len(text))


class _Reader:
    """A recursive descent over the tokens of texts, which share prefixes, base and blank nodes."""

    def __init__(self, base: str = "") -> None:
        self._prefixes: dict[str, str] = {}
        self._base = base
        self._blanks = 0

    def begin(self, text: str, first: int) -> None:
        self._text = text
        self._line, self._line_at = first, 0
        self.go(0)

    def go(self, position: int) -> None:
        """Read on at a position."""
        self.position = position
        self._depth = 0
        self._next()

    @property
    def done(self) -> bool:
        return self._kind == "end"

    def line(self) -> int:
        """The line on which the token stands that is looked at."""
        self._line += self._text.count("\n", self._line_at, self.position)
        self._line_at = self.position
        return self._line

    def all(self) -> Iterator[Statement]:
        """All statements up to the end or an error."""
        while self._kind != "end":
            if self._kind == "at" or (self._kind == "word" and self._value.lower() in ("prefix", "base")):
                self._directive()
                continue
            line = self.line()
            found: _Found = []
            subject = self._node(found)
            if not self._is("."):
                self._properties(subject, found)
            self._take(".")
            for s, p, o, literal, language in found:
                yield Statement(s, p, o, literal, line, language)

    def _next(self) -> None:
        """Look at the next token; its end is where reading will go on."""
        found = _TOKEN.match(self._text, self.position)
        if found is None:
            self._kind, self._value = "?", ""
            self.position = self._after = _GAP.match(self._text, self.position).end()  # type: ignore[union-attr]
            return
        kind = found.lastgroup or ""
        self._kind, self._value, self._after = kind, found[kind], found.end()
        start = found.start(kind)
        self.position = start if kind not in _OPENED else start - _OPENED[kind]

    def _step(self) -> str:
        value = self._value
        self.position = self._after
        self._next()
        return value

    def _is(self, marks: str) -> bool:
        """Whether the token is one of the marks."""
        return self._kind == "mark" and self._value in marks

    def _take(self, mark: str) -> None:
        if not self._is(mark):
            raise self._wrong(quoted(mark))
        self._step()

    def _wrong(self, expected: str) -> _WrongError:
        if self._kind == "end":
            return _WrongError(f"expected {expected}, but the text ends; get a whole copy of the file")
        here = self._text[self.position : self.position + 30].split("\n")[0]
        return _WrongError(f"expected {expected}, not {quoted(here)}; write it as Turtle or N-Triples")

    def _directive(self) -> None:
        sparql = self._kind == "word"
        what = self._step().lower()
        if what == "prefix" and self._kind == "name":
            name = self._step().rstrip(":")
            self._prefixes[name] = self._iri()
        elif what == "base":
            self._base = self._iri().partition("#")[0]
        else:
            raise _WrongError(f"expected @prefix NAME: <IRI> . or @base <IRI> ., not @{what[:30]}")
        if self._is(".") and not sparql:  # it must be there, but nothing is in doubt without it
            self._step()

    def _iri(self) -> str:
        if self._kind == "iri":
            return self._whole(unescaped(self._step()))
        if self._kind == "name":
            prefix, _colon, local = self._value.partition(":")
            if prefix not in self._prefixes:
                raise _WrongError(f"the prefix {quoted(prefix)} is unknown; put @prefix {prefix}: <...> . before it")
            self._step()
            return self._prefixes[prefix] + (_LOCAL.sub(r"\1", local) if "\\" in local else local)
        raise self._wrong("an IRI")

    def _whole(self, name: str) -> str:
        """An address that may be relative to the base."""
        if not self._base or _SCHEME.match(name):
            return name
        if name.startswith("#") or not name:
            return self._base + name
        scheme, colon, rest = self._base.partition("://")
        return scheme + urljoin(f"http://{rest}", name).removeprefix("http") if colon else name  # it knows few schemes

    def _node(self, found: _Found) -> str:
        """A subject: an IRI, a blank node, or one in brackets whose own statements are added."""
        if self._kind == "name" and self._value.startswith("_:"):
            return self._step()
        if not self._is("[("):
            return self._iri()
        self._depth += 1
        if self._depth > DEEPEST:
            raise _WrongError(f"brackets are nested more than {DEEPEST} deep; name the inner nodes")
        node = self._described(found) if self._step() == "[" else self._collected(found)
        self._depth -= 1
        return node

    def _blank(self) -> str:
        self._blanks += 1
        return f"_:[{self._blanks}]"  # which no label in a text can be

    def _described(self, found: _Found) -> str:
        """A blank node whose properties stand behind an opening bracket."""
        node = self._blank()
        if not self._is("]"):
            self._properties(node, found)
        self._take("]")
        return node

    def _collected(self, found: _Found) -> str:
        """The first node of a list whose members stand behind an opening bracket."""
        first = last = RDF + "nil"
        while not self._is(")"):
            value = self._object(found)
            node = self._blank()
            if last == first == RDF + "nil":
                first = node
            else:
                found.append((last, RDF + "rest", node, False, ""))
            found.append((node, RDF + "first", *value))
            last = node
        self._step()
        if last != RDF + "nil":
            found.append((last, RDF + "rest", RDF + "nil", False, ""))
        return first

    def _properties(self, subject: str, found: _Found) -> None:
        """Predicates and their objects, up to the mark that ends them."""
        while True:
            predicate = TYPE if self._kind == "word" and self._value == "a" else ""
            if predicate:
                self._step()
            predicate = predicate or self._iri()
            found.append((subject, predicate, *self._object(found)))
            while self._is(","):
                self._step()
                found.append((subject, predicate, *self._object(found)))
            if not self._is(";"):
                return
            while self._is(";"):
                self._step()
            if self._is(".]"):
                return

    def _object(self, found: _Found) -> tuple[str, bool, str]:
        if self._kind in _STRINGS:
            value, language = unescaped(self._step()), ""
            if self._kind == "at":
                language = self._step()
            elif self._kind == "datatype":
                self._step()
                self._iri()
            return value, True, language
        if self._kind == "number" or (self._kind == "word" and self._value in ("true", "false")):
            return self._step(), True, ""
        return self._node(found), False, ""


__all__ = ["FAULTY", "RDF", "TYPE", "Statement", "statements", "unescaped"]
