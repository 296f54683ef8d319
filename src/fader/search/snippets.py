"""Snippets: one context as a piece of text, with exact character offsets of all that is shown.

A snippet shows the mention and, of each matched literal, the nearest occurrence, each with a few words around, and
pieces that are far apart joined by an ellipsis. Words around are whole, at most 8 on a side, and left out from the
one on that would make it too long; 600 characters of them are shared among the highlights, of which each has room for
some. A highlight is whole, unless it is longer than 600 characters: then its first words are shown, or the beginning
of the first, and the offsets say what is shown. So a snippet is short whatever the text is. All snippets of an answer
are cut by one call (`cutting.py`), from the bytes of each text that hold the words; those of other widths by
`passages.py`. Knows the stored texts and the Contexts table, nothing of scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.query import Literal
from fader.contexts.table import Contexts
from fader.corpus.analysis import Analysis
from fader.index.excerpts import Wanted
from fader.index.stems import stemmer
from fader.kernel import kernel
from fader.search.answer import Match, Snippet
from fader.search.collection import Collection
from fader.search.cutting import ABSENT, AROUND, Marks, Tokens, cut_texts, find_tokens
from fader.search.passage import HIGHLIGHTS, Passage
from fader.search.passages import cut_passages

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
MENTION = -1


@kernel
def _mark(start: I32, end: I32, distances: I32, sides: Any, length: I64, at: I64, marks: I64) -> Any:
    """The mention of each context, and the nearest occurrence of every literal that it has; returns how many, and how
    many of these overlap their mention.

    Of each mark: which literal it is of, its distance, its tokens [start, end), and the tokens that its piece may show.
    Where a literal overlaps the mention its place is not known; it is one of several, all of which are wanted.
    """
    n, overlapping = 0, 0
    for i in range(start.size):
        at[i] = n
        for t in range(-1, length.size):
            first, last, distance = np.int64(start[i]), np.int64(end[i]), np.int64(0)
            low, high = first, last
            if t >= 0:
                distance = np.int64(distances[t, i])
                if distance < 0:
                    continue
                if distance == 0:
                    overlapping += 1
                    low, high = first - length[t] + 1, last + length[t] - 1
                elif sides[t, i] < 0:
                    low = first = first - distance + 1 - length[t]
                else:
                    low = first = last + distance - 1
                last = first + length[t]
                high = max(high, last) if distance == 0 else last
            marks[0, n], marks[1, n], marks[2, n], marks[3, n] = t, distance, first, last
            marks[4, n], marks[5, n] = max(np.int64(0), low - AROUND), high + AROUND
            n += 1
    at[start.size] = n
    return n, overlapping


def cut_snippets(
    collection: Collection,
    contexts: Contexts,
    rows: Sequence[int] | I32,
    shares: Sequence[float],
    passage: Passage = Passage(),  # noqa: B008 - a value that nothing changes
) -> list[Snippet]:
    """A snippet per row, with what the row contributes. The texts are read in one batch."""
    budget.check()
    given = np.asarray(rows, dtype=np.int32)
    count = given.size
    if not count:
        return []
    literals, shown, order = contexts.query.literals, contexts, range(count)
    if count != len(contexts) or (given[1:] <= given[:-1]).any():
        ascending = given.argsort(kind="stable")
        shown, order = contexts.take(given[ascending]), ascending.tolist()
    at, marks = np.empty(count + 1, dtype=np.int64), np.empty((6, count * (len(literals) + 1)), dtype=np.int64)
    length = np.array([literal.length for literal in literals], dtype=np.int64)
    n, overlapping = _mark(shown.start, shown.end, shown.distances, shown.sides, length, at, marks)
    literal, distance, start, end, low, high = marks = marks[:, :n]
    mentioned = _find_mentions(collection, shown, at, marks)
    if passage.reach:
        low[at[:-1]] = np.maximum(0, shown.start.astype(np.int64) - passage.reach)
        high[at[:-1]] = shown.end.astype(np.int64) + passage.reach
    excerpts, documents = collection.read_excerpts(shown.document.tolist(), Wanted(at, low, high))
    budget.check()
    tokens = find_tokens(excerpts, at)
    for m in np.flatnonzero((distance == 0) & (literal >= 0)).tolist() if overlapping else ():
        d = int(np.searchsorted(at, m, side="right")) - 1
        mention = int(at[d])
        if m in mentioned:
            continue
        piece, span = int(excerpts.piece[m]), (int(start[mention]), int(end[mention]))
        start[m] = _find_overlap(collection.analysis, literals[literal[m]], tokens, piece, int(tokens.count[d]), *span)
        end[m] = start[m] + length[literal[m]]
    given_marks = Marks(at, start, end, excerpts.piece)
    if passage.kind == HIGHLIGHTS:
        texts, placed = cut_texts(excerpts, tokens, given_marks)
    else:
        texts, placed = cut_passages(excerpts, tokens, given_marks, passage)
    found: list[Any] = [None] * count
    names, confidence = [one.text for one in literals], shown.confidence.tolist()
    of, distances, begins = literal.tolist(), distance.tolist(), at.tolist()
    own = [*zip(shown.start.tolist(), shown.end.tolist(), strict=True)]
    for i, row in enumerate(order):
        around, matches = (0, 0), []
        for m in range(begins[i], begins[i + 1]):
            first, last = placed[m]
            if first == ABSENT:
                continue
            if of[m] == MENTION:
                around = first, last
            else:
                matches.append(Match(names[of[m]], (first, last), distances[m]))
        doc, title, url = documents[i]
        found[row] = Snippet(doc, title, url, shares[row], confidence[i], texts[i], around, matches, own[i])
    return found


def _find_mentions(collection: Collection, shown: Contexts, at: I64, marks: I64) -> set[int]:
    """Let marks that are mentions of a literal's entity cover these mentions; which marks are."""
    literals = shown.query.literals
    if not any(one.entity is not None for one in literals):
        return set()
    literal, distance, start, end, low, high = marks
    numbers = [-1 if one.entity is None else collection.catalog.entity_ids.find(one.entity) for one in literals]
    of, far, first_of, begins = literal.tolist(), distance.tolist(), start.tolist(), at.tolist()
    own = [(m, d) for d in range(len(shown)) for m in range(begins[d], begins[d + 1])]
    own = [(m, d) for m, d in own if of[m] >= 0 and numbers[of[m]] >= 0]
    documents = shown.document.tolist()
    found = set()
    spans_of = collection.find_mentions([(documents[d], numbers[of[m]]) for m, d in own])
    for (m, d), spans in zip(own, spans_of, strict=True):
        overlaps = far[m] == 0
        first, last = (first_of[begins[d]], int(end[begins[d]])) if overlaps else (first_of[m], first_of[m] + 1)
        fitting = [(a, b) for a, b in spans if (a < last and first < b if overlaps else a == first)]
        if fitting:
            start[m], end[m] = a, b = fitting[0]
            low[m], high[m] = min(int(low[m]), max(0, a - AROUND)), max(int(high[m]), b + AROUND)
            found.add(m)
    return found


def _find_overlap(
    analysis: Analysis, literal: Literal, tokens: Tokens, piece: int, count: int, start: int, end: int
) -> int:
    """Where the first occurrence that overlaps tokens [start, end) begins, in these words or by their stems."""
    first, last = max(0, start - literal.length + 1), min(count, end + literal.length - 1)
    terms = [analysis.term(tokens.read(piece, t)) for t in range(first, last)]
    wanted = list(literal.terms)
    for _way in range(2):
        for at in range(first, end):
            placed = zip(wanted, literal.offsets, strict=True)
            if all(at + o < last and terms[at + o - first] == term for term, o in placed):
                return at
        if not analysis.stems or literal.exact:
            break
        stem = stemmer(analysis.stems)
        terms, wanted = [term and stem(term) for term in terms], [stem(term) for term in wanted]
    return start
