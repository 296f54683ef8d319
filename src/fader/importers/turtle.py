r"""Statements of Turtle and N-Triples texts, with their lines; what is no statement is a fault, and reading goes on.

    @prefix ex: <http://ex/> .
    ex:d1 a ex:Text ; ex:says "Berlin"@en , "a \"b\"" .

Prefixes, bases, lists of predicates and objects, blank nodes with properties, collections (as one blank node), long
strings, escapes, numbers and truth values are read. After an error, reading goes on behind the next full stop at the
end of a line. Knows nothing of what statements mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urljoin

from fader.corpus.documents import Faults
from fader.errors import quoted
from fader.importers.faults import at

FAULTY = "statements that cannot be read"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

_TOKEN = re.compile(
    r"""(?P<gap>\s+|\#[^\n]*)
    |<(?P<iri>[^<>"{}|^`\s]*)>
    |\"\"\"(?P<long>(?:\"{0,2}(?:[^"\\]|\\.))*)\"\"\"|'''(?P<other>(?:'{0,2}(?:[^'\\]|\\.))*)'''
    |"(?P<short>(?:[^"\\\n]|\\.)*)"|'(?P<single>(?:[^'\\\n]|\\.)*)'
    |@(?P<at>[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    |(?P<datatype>\^\^)
    |(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+|[+-]?\d*\.\d+|[+-]?\d+)
    |(?P<name>[^\s<>"'{}()\[\];,\#@^:]*:(?:[^\s<>"'{}()\[\];,\#^`\\]|\\.)*)
    |(?P<word>[A-Za-z]+)
    |(?P<mark>[.;,\[\]()])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_PLAIN = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}
_END = re.compile(r"\.[ \t]*(?:\r?\n|$)")


class Statement(NamedTuple):
    """A statement; `literal` says whether the object is one."""

    subject: str
    predicate: str
    object: str
    literal: bool
    line: int


class _WrongError(Exception):
    """What is wrong, where the reader stands."""


def statements(text: str, source: str, faults: Faults, first: int = 1, head: str = "") -> Iterator[Statement]:
    """The statements of a text whose first line has the number `first`; `head` has prefixes that hold for it."""
    reader = _Reader(head)
    if head:
        for _statement in reader.all(1):
            pass
    reader.begin(text)
    while not reader.done:
        try:
            yield from reader.all(first)
        except _WrongError as error:
            place = at(source, first + text.count("\n", 0, reader.position))
            faults.add(FAULTY, f"{place}: {error}")
            found = _END.search(text, reader.position)
            reader.go(found.end() if found else len(text))


class _Reader:
    """A recursive descent over the tokens of a text."""

    def __init__(self, text: str) -> None:
        self._prefixes: dict[str, str] = {}
        self._base = ""
        self._blanks = 0
        self.begin(text)

    def begin(self, text: str) -> None:
        self._text = text
        self._line_at, self._lines = 0, 0
        self.go(0)

    def go(self, position: int) -> None:
        """Read on at a position."""
        self.position = position
        self._next()

    @property
    def done(self) -> bool:
        return not self._kind

    def all(self, first: int) -> Iterator[Statement]:
        """All statements up to the end or an error."""
        while self._kind:
            if self._kind == "at" or (self._kind == "word" and self._value.lower() in ("prefix", "base")):
                self._directive()
                continue
            line = first + self._line()
            found: list[tuple[str, str, str, bool]] = []
            subject = self._node(found)
            if self._value != "." or self._kind != "mark":
                self._properties(subject, found)
            self._take(".")
            for s, p, o, literal in found:
                yield Statement(s, p, o, literal, line)

    def _line(self) -> int:
        self._lines += self._text.count("\n", self._line_at, self.position)
        self._line_at = self.position
        return self._lines

    def _next(self) -> None:
        """Look at the next token; its end is where reading will go on."""
        position = self.position
        while True:
            found = _TOKEN.match(self._text, position)
            if found is None or found.lastgroup != "gap":
                break
            position = found.end()
        self.position = position
        if found is None:
            self._kind, self._value, self._after = (
                ("", "", position) if position >= len(self._text) else ("?", "", position)
            )
            return
        self._kind, self._value, self._after = str(found.lastgroup), found[str(found.lastgroup)], found.end()
        if self._kind == "name":
            trimmed = self._value.rstrip(".")
            self._after -= len(self._value) - len(trimmed)
            self._value = trimmed

    def _step(self) -> str:
        value = self._value
        self.position = self._after
        self._next()
        return value

    def _take(self, mark: str) -> None:
        if self._kind != "mark" or self._value != mark:
            here = self._text[self.position : self.position + 30].split("\n")[0]
            raise _WrongError(f"expected {quoted(mark)}, not {quoted(here)}")
        self._step()

    def _directive(self) -> None:
        sparql = self._kind == "word"
        what = self._step().lower()
        if what == "prefix" and self._kind == "name":
            name = self._step().rstrip(":")
            self._prefixes[name] = self._iri()
        elif what == "base":
            self._base = self._iri()
        else:
            raise _WrongError(f"unknown directive {quoted(what)}")
        if not sparql:
            self._take(".")

    def _iri(self) -> str:
        if self._kind == "iri":
            name = unescaped(self._step())
            return urljoin(self._base, name) if self._base and "://" not in name else name
        if self._kind == "name":
            prefix, _colon, local = self._value.partition(":")
            if prefix not in self._prefixes:
                raise _WrongError(f"the prefix {quoted(prefix)} is not defined")
            self._step()
            return self._prefixes[prefix] + re.sub(r"\\(.)", r"\1", local)
        here = self._text[self.position : self.position + 30].split("\n")[0]
        raise _WrongError(f"expected an IRI, not {quoted(here)}")

    def _node(self, found: list[tuple[str, str, str, bool]]) -> str:
        """A subject: an IRI, a blank node, or one in brackets whose own statements are added."""
        if self._kind == "name" and self._value.startswith("_:"):
            return self._step()
        if self._kind == "mark" and self._value in "[(":
            closing = "]" if self._step() == "[" else ")"
            self._blanks += 1
            blank = f"_:b{self._blanks}"
            if closing == "]" and self._value != "]":
                self._properties(blank, found)
            while closing == ")" and self._kind and not (self._kind == "mark" and self._value == ")"):
                self._object(found)
            self._take(closing)
            return blank
        return self._iri()

    def _properties(self, subject: str, found: list[tuple[str, str, str, bool]]) -> None:
        while True:
            if self._kind == "word" and self._value == "a":
                self._step()
                predicate = TYPE
            else:
                predicate = self._iri()
            while True:
                value, literal = self._object(found)
                found.append((subject, predicate, value, literal))
                if not (self._kind == "mark" and self._value == ","):
                    break
                self._step()
            while self._kind == "mark" and self._value == ";":
                self._step()
                if self._kind == "mark" and self._value in ".]":
                    return
            if self._kind == "mark" and self._value in ".]":
                return
            if self._kind == "?" or not self._kind or (self._kind == "mark"):
                return

    def _object(self, found: list[tuple[str, str, str, bool]]) -> tuple[str, bool]:
        if self._kind in ("long", "other", "short", "single"):
            value = unescaped(self._step())
            if self._kind == "at":
                self._step()
            elif self._kind == "datatype":
                self._step()
                self._iri()
            return value, True
        if self._kind == "number" or (self._kind == "word" and self._value in ("true", "false")):
            return self._step(), True
        return self._node(found), False


def unescaped(text: str) -> str:
    """A literal or an IRI with its escapes undone."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    if found[3]:
        return _PLAIN.get(found[3], found[3])
    code = int(found[1] or found[2], 16)
    return chr(code) if code < 0x110000 else "\ufffd"
