"""Snippets cut in plain Python, on whole texts and characters: what `fader.search.snippets` must give.

Knows the stored texts and the Contexts table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fader.contexts.query import Literal
from fader.contexts.table import Contexts
from fader.corpus.analysis import Analysis, spans
from fader.index.reader import Stored
from fader.search.answer import Match, Snippet
from fader.search.collection import Collection
from fader.search.cutting import AROUND, BEYOND, CHARACTERS, LEAST_AROUND

ELLIPSIS = " … "
_BLANKS = str.maketrans("\n\t\r", "   ")


class _Tokens:
    """The tokens of a text: token i has the characters `tokens[i]`, from `first[i]` to `last[i]`."""

    def __init__(self, text: str) -> None:
        found = spans(text)
        self.count = len(found)
        self.first, self.last = [a for a, _b in found], [b for _a, b in found]

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> tuple[int, int]:
        return self.first[i], self.last[i]


@dataclass(frozen=True, slots=True)
class _Mark:
    """Tokens [start, end) to be shown: the mention (literal None) or a literal at a distance."""

    start: int
    end: int
    literal: Literal | None
    distance: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """Characters [begin, stop) of the text, which are of the tokens [first, last)."""

    begin: int
    stop: int
    first: int
    last: int


def cut_snippets(
    collection: Collection, contexts: Contexts, rows: Sequence[int], shares: Sequence[float]
) -> list[Snippet]:
    """A snippet per row, with what the row contributes. The texts are read in one batch."""
    documents = collection.read_documents([int(contexts.document[row]) for row in rows])
    shown = zip(rows, shares, documents, strict=True)
    return [_cut_snippet(collection.analysis, contexts, row, share, stored) for row, share, stored in shown]


def _cut_snippet(analysis: Analysis, contexts: Contexts, row: int, share: float, stored: Stored) -> Snippet:
    text = stored.text
    tokens = _Tokens(text)
    marks = _marks(analysis, contexts, row, text, tokens) if len(tokens) else []
    # A text may have fewer tokens than when it was indexed, where Unicode has changed since: show what there is.
    marks = [mark for mark in marks if mark.end <= len(tokens)]
    shown, placed = _cut(text, tokens, marks)
    mention = next(((a, b) for mark, a, b in placed if mark.literal is None), (0, 0))
    matches = [Match(m.literal.text, (a, b), m.distance) for m, a, b in placed if m.literal is not None]
    confidence = float(contexts.confidence[row])
    return Snippet(
        stored.id, stored.title, stored.url, share, confidence, shown, mention, matches, tokens_of(contexts, row)
    )


def tokens_of(contexts: Contexts, row: int) -> tuple[int, int]:
    """The tokens of a row's mention."""
    return int(contexts.start[row]), int(contexts.end[row])


def _marks(analysis: Analysis, contexts: Contexts, row: int, text: str, tokens: _Tokens) -> list[_Mark]:
    """The mention and the nearest occurrence of every literal that the context has."""
    start, end = int(contexts.start[row]), int(contexts.end[row])
    marks = [_Mark(start, end, None, 0)]
    for t, literal in enumerate(contexts.query.literals):
        distance, side = int(contexts.distances[t, row]), int(contexts.sides[t, row])
        if distance < 0:
            continue
        if distance == 0:
            at = _overlapping(analysis, literal, text, tokens, start, end)
        else:
            at = start - distance + 1 - literal.length if side < 0 else end + distance - 1
        marks.append(_Mark(at, at + literal.length, literal, distance))
    return marks


def _overlapping(analysis: Analysis, literal: Literal, text: str, tokens: _Tokens, start: int, end: int) -> int:
    """Where the first occurrence that overlaps tokens [start, end) begins."""
    first = max(0, start - literal.length + 1)
    last = min(len(tokens), end + literal.length - 1)
    terms = [analysis.term(text[slice(*tokens[i])]) for i in range(first, last)]
    for at in range(first, end):
        wanted = zip(literal.terms, literal.offsets, strict=True)
        if all(at + o < last and terms[at + o - first] == term for term, o in wanted):
            return at
    return start


def _cut(text: str, tokens: _Tokens, marks: list[_Mark]) -> tuple[str, list[tuple[_Mark, int, int]]]:
    """The snippet's text, and each mark with its character offsets in it."""
    pieces = _pieces(text, tokens, marks)
    shown = ELLIPSIS.lstrip() if pieces and pieces[0].first > 0 else ""
    moved: list[tuple[_Piece, int]] = []
    for i, piece in enumerate(pieces):
        shown += ELLIPSIS if i else ""
        moved.append((piece, len(shown) - piece.begin))
        shown += text[piece.begin : piece.stop].translate(_BLANKS)
    if pieces and pieces[-1].stop < tokens[len(tokens) - 1][1]:
        shown += ELLIPSIS.rstrip()
    return shown, [(mark, *_place_mark(mark, tokens, moved)) for mark in marks]


def _pieces(text: str, tokens: _Tokens, marks: list[_Mark]) -> list[_Piece]:
    """The pieces of the text to be shown, apart from each other and in order."""
    margin = max(LEAST_AROUND, CHARACTERS // (2 * max(1, len(marks))))
    found: list[_Piece] = []
    for piece in sorted((_around(text, tokens, mark, margin) for mark in marks), key=lambda p: (p.begin, p.stop)):
        before = found[-1] if found else None
        if before and (piece.begin <= before.stop or _adjoin(before, piece, margin)):
            stop, last = max(before.stop, piece.stop), max(before.last, piece.last)
            found[-1] = _Piece(before.begin, stop, before.first, last)
        else:
            found.append(piece)
    return found


def _adjoin(before: _Piece, after: _Piece, margin: int) -> bool:
    """Whether no token is between two pieces, and little else."""
    return after.first <= before.last and after.begin - before.stop <= margin


def _around(text: str, tokens: _Tokens, mark: _Mark, margin: int) -> _Piece:
    """A highlight with the words around it."""
    begins, ends = tokens.first, tokens.last
    first, (stop, last) = mark.start, _end(tokens, mark)
    lowest, edge = max(0, first - AROUND), begins[first] - margin
    while first > lowest and begins[first - 1] >= edge:
        first -= 1
    left = begins[first] if first else max(0, begins[0] - BEYOND)
    if last < mark.end or stop < ends[last - 1]:
        return _Piece(left, stop, first, last)
    highest, edge = min(tokens.count, last + AROUND), stop + margin
    while last < highest and ends[last] <= edge:
        last += 1
    right = ends[last - 1]
    return _Piece(left, right if last < tokens.count else min(len(text), right + BEYOND), first, last)


def _end(tokens: _Tokens, mark: _Mark) -> tuple[int, int]:
    """Where a highlight ends, in characters and in tokens: where it should, or where it grows too long."""
    begin, last = tokens[mark.start][0], mark.end
    if tokens[last - 1][1] - begin <= CHARACTERS:
        return tokens[last - 1][1], last
    last = mark.start + 1
    if tokens[mark.start][1] - begin > CHARACTERS:
        return begin + CHARACTERS, last
    while tokens[last][1] - begin <= CHARACTERS:
        last += 1
    return tokens[last - 1][1], last


def _place_mark(mark: _Mark, tokens: _Tokens, moved: list[tuple[_Piece, int]]) -> tuple[int, int]:
    """A mark's characters in the snippet, as far as the piece shows them in which it begins."""
    begin, stop = tokens[mark.start][0], tokens[mark.end - 1][1]
    piece, by = next((piece, by) for piece, by in moved if piece.begin <= begin < piece.stop)
    return begin + by, min(stop, piece.stop) + by
