"""Passages: continuous text around a mention, of the width that a `Passage` says.

A passage has 20,000 characters at most, and all passages of an answer 4 million together, of which each has 600. What
is left out of a sentence, or of a whole text, is shown by an ellipsis. Sentences are those that the index stores
(`fader.corpus.sentences`), told from the same bytes. Knows nothing of contexts, literals or scores.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fader import budget
from fader.corpus.sentences import find_sentences
from fader.index.excerpts import Excerpts
from fader.search.cutting import ABSENT, Marks, Tokens
from fader.search.passage import DOCUMENT, MOST_CHARACTERS, WINDOW, Passage

LEAST_CHARACTERS = 600
MOST_TOGETHER = 4_000_000  # characters of all passages of an answer
_BLANK, _BLANKS = re.compile(r"\s"), re.compile(r"[\t\n\r]")


def cut_passages(
    excerpts: Excerpts, tokens: Tokens, marks: Marks, passage: Passage
) -> tuple[list[str], list[list[int]]]:
    """The passage of each text around its first mark, and the characters of each mark in it.

    ABSENT stands for a mark that the text or the passage does not have.
    """
    texts, at = [], marks.at.tolist()
    placed = [[ABSENT, ABSENT] for _mark in range(marks.start.size)]
    most = max(LEAST_CHARACTERS, min(MOST_CHARACTERS, MOST_TOGETHER // max(1, len(at) - 1)))
    for d in range(len(at) - 1):
        budget.check()
        first, last = int(marks.start[at[d]]), int(marks.end[at[d]])
        if not 0 <= first < last <= int(tokens.count[d]):
            texts.append("")
            continue
        piece = _PieceText(excerpts, tokens, int(marks.piece[at[d]]), int(tokens.count[d]))
        shown = piece.cut(piece.choose(first, last, passage), first, last, most)
        texts.append(shown.text)
        for m in range(at[d], at[d + 1]):
            span = piece.place(int(marks.start[m]), int(marks.end[m]), shown)
            if span is not None:
                placed[m] = span
    return texts, placed


class _Choice(NamedTuple):
    """Tokens [first, last) of a piece that are shown, and whether a sentence is cut before and behind them."""

    first: int
    last: int
    is_cut_before: bool
    is_cut_behind: bool


@dataclass(frozen=True, slots=True)
class _Shown:
    """Characters [begin, end) of a piece as a passage; they are moved by `moved` in its text."""

    text: str
    begin: int
    end: int
    moved: int


class _PieceText:
    """A piece of a text of `count` tokens; its tokens are numbered as in the text."""

    def __init__(self, excerpts: Excerpts, tokens: Tokens, piece: int, count: int) -> None:
        low, high = int(excerpts.at[piece]), int(excerpts.at[piece + 1])
        self.bytes = tokens.data[low:high]
        self.text = self.bytes.tobytes().decode("utf-8")
        self.token = int(excerpts.token[piece])
        a, b = int(tokens.offset[piece]) + self.token, int(tokens.end[piece])
        self.first, self.last = tokens.first[a:b], tokens.last[a:b]
        self.begin = (tokens.byte[a:b] - low).astype(np.int32)
        self.stop = self.begin + np.abs(tokens.size[a:b]).astype(np.int32)
        self.opens, self.closes = self.token == 0, self.token + self.first.size == count

    def choose(self, first: int, last: int, passage: Passage) -> _Choice:
        """The tokens of the piece, from 0, that are shown around tokens [first, last) of the text."""
        first, last, size = first - self.token, last - self.token, self.first.size
        if passage.kind == DOCUMENT:
            return _Choice(0, size, not self.opens, not self.closes)
        starts = self._find_sentences()
        own, after = bisect_right(starts, first) - 1, bisect_right(starts, last - 1)
        bounds = [*starts, size]
        low, high = bounds[own], bounds[after]
        if passage.kind == WINDOW:
            least, most = max(0, first - passage.tokens), min(size, last + passage.tokens)
            low = next((x for x in bounds[: own + 1] if x >= least), least)
            high = next((x for x in reversed(bounds[after:]) if x <= most), most)
        is_cut_before = not self.opens if low == 0 else low not in starts
        is_cut_behind = not self.closes if high == size else high not in starts
        return _Choice(low, high, is_cut_before, is_cut_behind)

    def _find_sentences(self) -> list[int]:
        """The first tokens of the sentences; the piece's first is one of them, though it may be inside of one."""
        ends = np.array([self.first.size], dtype=np.int64)
        found = find_sentences(self.bytes, self.begin, self.stop, ends)
        return [0, *np.cumsum(found.gap).tolist()]

    def cut(self, chosen: _Choice, first: int, last: int, most: int) -> _Shown:
        """Chosen tokens, with what is attached to them, as a passage of `most` characters around [first, last)."""
        begin, end = int(self.first[chosen.first]), int(self.last[chosen.last - 1])
        if chosen.first == 0:
            begin = 0
        elif not chosen.is_cut_before:  # an opening quote belongs to the sentence
            begin -= _count_attached(self.text[int(self.last[chosen.first - 1]) : begin][::-1])
        if chosen.last == self.first.size:
            end = len(self.text)
        elif not chosen.is_cut_behind:
            end += _count_attached(self.text[end : int(self.first[chosen.last])])
        is_cut_before, is_cut_behind = chosen.is_cut_before, chosen.is_cut_behind
        if end - begin > most:
            low, high = int(self.first[first - self.token]), int(self.last[last - self.token - 1])
            whole = begin, end
            begin = max(begin, min((low + high - most) // 2, low, end - most))
            end = begin + most
            is_cut_before, is_cut_behind = is_cut_before or begin > whole[0], is_cut_behind or end < whole[1]
        begin = end - len(self.text[begin:end].lstrip())
        end = begin + len(self.text[begin:end].rstrip())
        before, behind = "… " if is_cut_before else "", " …" if is_cut_behind else ""
        text = before + _BLANKS.sub(" ", self.text[begin:end]) + behind
        return _Shown(text, begin, end, len(before) - begin)

    def place(self, start: int, end: int, shown: _Shown) -> list[int] | None:
        """Where tokens [start, end) of the text are in a passage; None where they do not begin in it."""
        a, b = start - self.token, end - self.token
        if not 0 <= a < b <= self.first.size:
            return None
        begin, stop = int(self.first[a]), int(self.last[b - 1])
        if not shown.begin <= begin < shown.end:
            return None
        return [begin + shown.moved, min(stop, shown.end) + shown.moved]


def _count_attached(between: str) -> int:
    """How many characters stand before the first blank; none where there is no blank."""
    blank = _BLANK.search(between)
    return blank.start() if blank else 0
