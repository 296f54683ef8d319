"""The query language: words, phrases, `+required`, `-forbidden`, `=exact`, `entity:id`, `type:name`.

A literal is a run of terms at fixed offsets (a stop word inside a phrase leaves a gap). The same literal twice
counts once: forbidden wins over optional, required over optional, exact over inexact, and required with forbidden is an
error. Errors say where. Knows nothing of the index: neither which words nor which types or entities exist.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from fader.corpus.analysis import Analysis
from fader.errors import QueryError, UsageError, quote
from fader.limits import Limits

OPTIONAL, REQUIRED, FORBIDDEN = "optional", "required", "forbidden"
_SIGNS = {"+": REQUIRED, "-": FORBIDDEN}


@dataclass(frozen=True, slots=True)
class Literal:
    """A word or phrase: its terms with their offsets from the first, and how it counts.

    `exact` keeps it to its own words. `entity` is the id of the entity that it names, with which `confidence`; where
    there are no terms, the literal is that entity alone.
    """

    terms: tuple[str, ...]
    offsets: tuple[int, ...]
    mode: str
    text: str
    exact: bool = False
    entity: str | None = None
    confidence: float = 1.0

    @property
    def length(self) -> int:
        """Tokens from the first to the last term; 1 for an entity alone."""
        return self.offsets[-1] + 1 if self.offsets else 1


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query: positive literals in order, then the forbidden ones; the type as it was written.

    `named` says that literals name the entities that they have and no others; else matching may find more.
    """

    text: str
    literals: tuple[Literal, ...]
    forbidden: tuple[Literal, ...]
    type: str | None = None
    notes: tuple[str, ...] = ()
    named: bool = False

    @property
    def required(self) -> tuple[bool, ...]:
        return tuple(literal.mode == REQUIRED for literal in self.literals)


@dataclass(frozen=True, slots=True)
class _Piece:
    """What stands between blanks: a sign, a text, what it is (`=`, `type:`, `entity:` or nothing), where it begins."""

    sign: str
    text: str
    kind: str
    at: int


TYPE, ENTITY, EXACT = "type:", "entity:", "="
_KIND = re.compile("type:|entity:|=", re.IGNORECASE)
_WORD = re.compile(r'[^\s"]*')


def parse_query(text: str, analysis: Analysis, type: str | None = None, limits: Limits | None = None) -> Query:
    """Parse a query; a type given beside it must agree with one given inside it.

    Without limits given, those of the environment hold.
    """
    limits = limits or Limits.from_environment()
    _check_lengths(text, type, limits)
    pieces = _pieces(text)
    named = [p for p in pieces if p.kind == TYPE]
    literals = [p for p in pieces if p.kind != TYPE]
    if len(literals) > limits.literals:
        message = f"{len(literals):,} literals; {limits.at_most('literals')}"
        raise QueryError(message, literals[limits.literals].at)
    kept: dict[tuple[Any, ...], Literal] = {}
    notes = []
    for piece in literals:
        literal = _literal(piece, analysis, limits)
        if literal is None:
            notes.append(f"{quote(piece.text)} is a stop word of this index; it is left out")
        else:
            _merge(kept, literal, piece.at)
    positive = tuple(lit for lit in kept.values() if lit.mode != FORBIDDEN)
    forbidden = tuple(lit for lit in kept.values() if lit.mode == FORBIDDEN)
    if not positive:
        raise QueryError(_nothing_to_look_for(forbidden, notes), 0)
    if analysis.stemmer is not None and any(one.exact for one in (*positive, *forbidden)):
        notes.append(
            f"the index has stems ({analysis.stemmer}) in place of words, so that = cannot tell a word's forms apart"
        )
    return Query(text, positive, forbidden, _one_type(named, type), tuple(notes))


def _check_lengths(text: str, type: str | None, limits: Limits) -> None:
    for what, given in (("query", text), ("answer type", "" if type is None else type)):
        if not isinstance(given, str):
            raise UsageError(f"a {what} must be text, not {quote(given)}")
        if len(given) > limits.query_characters:
            message = f"{what} of {len(given):,} characters; {limits.at_most('query_characters')}"
            raise QueryError(message, limits.query_characters)


def _nothing_to_look_for(forbidden: tuple[Literal, ...], notes: list[str]) -> str:
    if forbidden:
        return "only forbidden literals; add a word to look for"
    return "only stop words; add a word to look for" if notes else "empty query; give a word or phrase"


def _one_type(named: list[_Piece], given: str | None) -> str | None:
    """The one type asked for, inside the query or beside it."""
    if given == "":
        raise QueryError("the answer type is empty; give a type's id or name, or none")
    wanted = given
    for piece in named:
        if wanted is not None and piece.text != wanted:
            raise QueryError(f"two types, {quote(wanted)} and {quote(piece.text)}; give one", piece.at)
        wanted = piece.text
    return wanted


def _pieces(text: str) -> list[_Piece]:
    pieces = []
    i = 0
    while i < len(text):
        if text[i].isspace():
            i += 1
            continue
        at, sign = i, ""
        if text[i] in "+-":
            sign, i = text[i], i + 1
        found = _KIND.match(text, i)
        kind = "" if found is None or (sign and found[0].lower() == TYPE) else found[0].lower()
        body, i = _body(text, i + len(kind))
        if not body:
            raise QueryError(_nothing(sign, kind), at)
        pieces.append(_Piece(sign, body, kind, at))
    return pieces


def _nothing(sign: str, kind: str) -> str:
    if kind == TYPE:
        return "type: is followed by nothing; give a type's id or name"
    if kind == ENTITY:
        return "entity: is followed by nothing; give an entity's id"
    return f"{quote(sign + kind)} is followed by nothing" if sign or kind else "empty phrase"


def _body(text: str, i: int) -> tuple[str, int]:
    """A quoted phrase or a word from i on, and where it ends. A quote inside a word ends the word."""
    if i < len(text) and text[i] == '"':
        end = text.find('"', i + 1)
        if end < 0:
            raise QueryError("a quote is opened and not closed", i)
        return text[i + 1 : end].strip(), end + 1
    word = _WORD.match(text, i)
    assert word is not None  # it may be empty
    return word.group(), word.end()


def _literal(piece: _Piece, analysis: Analysis, limits: Limits) -> Literal | None:
    """The literal of a piece; None for an optional one of stop words alone."""
    mode = _SIGNS.get(piece.sign, OPTIONAL)
    if piece.kind == ENTITY:
        return Literal((), (), mode, ENTITY + piece.text, entity=piece.text)
    tokens = analysis.tokens(piece.text)
    placed = [(token.term, i) for i, token in enumerate(tokens) if token.term is not None]
    if tokens and not placed and not piece.sign:
        return None
    if not placed:
        why = "only stop words" if tokens else "no letter or digit"
        raise QueryError(f"literal {quote(piece.text)} has {why}, so it can match nothing", piece.at)
    if len(tokens) > limits.phrase_terms:
        message = f"literal {quote(piece.text, 40)} has {len(tokens):,} words; {limits.at_most('phrase_terms')}"
        raise QueryError(message, piece.at)
    first = placed[0][1]
    terms = tuple(term for term, _i in placed if term is not None)
    return Literal(terms, tuple(i - first for _t, i in placed), mode, piece.text, exact=piece.kind == EXACT)


def _merge(kept: dict[tuple[Any, ...], Literal], literal: Literal, at: int) -> None:
    """Enter a literal; the same one twice counts once."""
    key = (literal.terms, literal.offsets, literal.entity)
    before = kept.setdefault(key, literal)
    if literal.exact and not before.exact:
        before = kept[key] = replace(before, exact=True)
    if before.mode == literal.mode:
        return
    modes = {before.mode, literal.mode}
    if modes == {REQUIRED, FORBIDDEN}:
        raise QueryError(f"literal {quote(literal.text)} is both required and forbidden", at)
    stronger = (modes - {OPTIONAL}).pop()
    kept[key] = replace(before, mode=stronger)
