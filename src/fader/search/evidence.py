"""Evidence: the best contexts of an answer as snippets, with exact character offsets of all that is shown.

A snippet shows the mention and, of each matched literal, the nearest occurrence, each with a few words around;
pieces that are far apart are joined by an ellipsis. It is cut between tokens and never inside a highlight.
Knows the stored texts and the Contexts table, nothing of how scores are made.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.contexts.query import Literal
from fader.contexts.table import Contexts
from fader.corpus.analysis import Analysis
from fader.corpus.tokenise import token_spans
from fader.features.base import Piece
from fader.index.reader import IndexReader
from fader.rank.base import Contributions, Ranking, System
from fader.search.answer import Match, Snippet

AROUND = 8  # tokens shown on each side of a highlight
BEYOND = 20  # characters shown before the first token of a text and behind its last
ELLIPSIS = " … "
SHOWN_CONTEXTS = 20


class _Tokens:
    """The tokens of a text: token i has the characters `tokens[i]`."""

    def __init__(self, text: str) -> None:
        self._first, self._last = token_spans(text)

    def __len__(self) -> int:
        return int(self._first.size)

    def __getitem__(self, i: int) -> tuple[int, int]:
        return int(self._first[i]), int(self._last[i])


@dataclass(frozen=True, slots=True)
class _Mark:
    """Tokens [start, end) to be shown: the mention (literal None) or a literal at a distance."""

    start: int
    end: int
    literal: Literal | None
    distance: int


def evidence_of(reader: IndexReader, contexts: Contexts, shares: Contributions, limit: int) -> list[Snippet]:
    """Snippets of the contexts that contribute most."""
    best = by_weight(shares)[:limit]
    return [_snippet(reader, contexts, int(shares.row[i]), float(shares.share[i])) for i in best]


def by_weight(shares: Contributions) -> NDArray[np.int64]:
    """Contexts from the one that contributes most on; of a logarithm below 0, that with the largest part of it."""
    return np.argsort(-shares.share if shares.share.sum() >= 0 else shares.share, kind="stable")


def _snippet(reader: IndexReader, contexts: Contexts, row: int, share: float) -> Snippet:
    segment, local = reader.locate(int(contexts.document[row]))
    text = segment.text.text(local)
    tokens = _Tokens(text)
    marks = _marks(reader.analysis, contexts, row, text, tokens) if len(tokens) else []
    # A text may have fewer tokens than when it was indexed, where Unicode has changed since: show what there is.
    marks = [mark for mark in marks if mark.end <= len(tokens)]
    shown, placed = _cut(text, tokens, marks)
    mention = next(((a, b) for mark, a, b in placed if mark.literal is None), (0, 0))
    matches = [Match(m.literal.text, (a, b), m.distance) for m, a, b in placed if m.literal is not None]
    return Snippet(
        doc=segment.text.ids[local], title=segment.text.titles[local], url=segment.text.urls[local], score=share,
        confidence=float(contexts.confidence[row]), snippet=shown, mention=mention, matches=matches,
    )  # fmt: skip


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
    pieces: list[list[int]] = []
    for mark in sorted(marks, key=lambda m: (m.start, m.end)):
        a, b = max(0, mark.start - AROUND), min(len(tokens), mark.end + AROUND)
        if pieces and a <= pieces[-1][1]:
            pieces[-1][1] = max(pieces[-1][1], b)
        else:
            pieces.append([a, b])
    shown = ELLIPSIS.lstrip() if pieces and pieces[0][0] > 0 else ""
    shift: list[tuple[int, int, int]] = []
    for i, (a, b) in enumerate(pieces):
        shown += ELLIPSIS if i else ""
        begin, stop = tokens[a][0], tokens[b - 1][1]
        begin = max(0, begin - BEYOND) if a == 0 else begin
        stop = stop + BEYOND if b == len(tokens) else stop
        shift.append((a, b, len(shown) - begin))
        shown += text[begin:stop].replace("\n", " ").replace("\t", " ").replace("\r", " ")
    if pieces and pieces[-1][1] < len(tokens):
        shown += ELLIPSIS.rstrip()
    return shown, [(m, *_placed(m, tokens, shift)) for m in marks]


def _placed(mark: _Mark, tokens: _Tokens, shift: list[tuple[int, int, int]]) -> tuple[int, int]:
    """A mark's characters in the snippet."""
    moved = next(by for a, b, by in shift if a <= mark.start and mark.end <= b)
    return tokens[mark.start][0] + moved, tokens[mark.end - 1][1] + moved


def explanation_of(
    reader: IndexReader, contexts: Contexts, ranker: System, ranking: Ranking, i: int, shares: Contributions
) -> dict[str, Any]:
    """How a score comes about: a share per context, split among literals and feature cells; what each is worth.

    Where there are many contexts, those of least share are summed.
    """
    names = [literal.text for literal in contexts.query.literals]
    order = by_weight(shares)
    listed = [_contribution(reader, contexts, shares, int(x), names) for x in order[:SHOWN_CONTEXTS]]
    for context, x in zip(listed, order[:SHOWN_CONTEXTS], strict=True):
        row = int(shares.row[x])
        context["cells"] = [_cell(piece, names) for piece in ranker.pieces(contexts, row)]
        context["without"] = asdict(ranker.without(contexts, ranking, i, row))
    rest = order[SHOWN_CONTEXTS:]
    return {
        "score": float(shares.share.sum()),
        "literals": {n: float(v) for n, v in zip(names, shares.literal.sum(axis=1), strict=True)},
        "contexts": listed,
        "others": {"contexts": int(rest.size), "contribution": float(shares.share[rest].sum())},
    }


def _cell(piece: Piece, names: list[str]) -> dict[str, Any]:
    literal = names[piece.literal] if piece.literal >= 0 else None
    return {"feature": piece.feature, "literal": literal, "cell": piece.cell, "value": piece.value}


def _contribution(
    reader: IndexReader, contexts: Contexts, shares: Contributions, i: int, names: list[str]
) -> dict[str, Any]:
    row = int(shares.row[i])
    distances = contexts.distances[:, row].tolist()
    literals = [
        {"literal": name, "distance": d, "contribution": float(v)}
        for name, d, v in zip(names, distances, shares.literal[:, i], strict=True)
        if d >= 0
    ]
    return {
        "doc": reader.document_id(int(contexts.document[row])),
        "start": int(contexts.start[row]),
        "end": int(contexts.end[row]),
        "score": float(shares.score[i]),
        "contribution": float(shares.share[i]),
        "literals": literals,
    }
