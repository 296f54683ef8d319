"""Batches of texts to tokens with what matching asks about them: their bytes, what stands before them, their case.

Tokens and their folding are those of `corpus.analysis`: maximal runs of letters, marks and digits, folded to
`NFC(casefold(NFC(run)))`. No compatibility folding (NFKC): what an index would tell apart is apart here too.

The *gap* before a token is one of
- SOFT: no more than a space or what is not seen (zero width, text direction), a line end, a hyphen, an apostrophe,
  `_ / & + ·`, or the full stop of an abbreviation (no space after it, or at most three characters before it); at most
  eight characters. A name may always go on.
- HARD: any other characters. A name goes on only where it has the same characters itself.
- BREAK: two line ends, or more than eight spaces. No name goes on.
With it go whether the token starts with a capital, and whether it starts a sentence: it is the first of its text, or
stands after a line end, or after one of `. ! ? :` and a space, unless the full stop is an abbreviation's.

The *case code* of a token tells its spellings apart: where its capitals are, or for a token that is not all ASCII a
hash of `NFC(run)`. Knows nothing of names.
"""

from __future__ import annotations

import unicodedata
from typing import Any, NamedTuple

import numpy as np
import xxhash

from fader.arrays import I32, I64, U8, U64
from fader.corpus.analysis import cut_marks, normalise
from fader.corpus.tokenise import RawVocabulary, batch_bytes, character_spans
from fader.kernel import inline_kernel, kernel

SOFT, HARD, BREAK, KINDS = 0, 1, 2, 3  # KINDS masks them
SENTENCE, CAPITALISED = 4, 8
CAPITAL, UPPER, LOWER, UPPERS = 1, 2, 4, 8  # of a run that is not all ASCII: its first character, any, any, several
LONGEST_GAP = 8
ABBREVIATION = 3
MOST_RUNS = 2_000_000  # distinct runs that are remembered

# Categories of what stands between tokens.
OTHER, SPACE, LINE, JOIN, STOP, END = range(6)


class Tokens(NamedTuple):
    """The tokens of a batch; the arrays are good until the next batch of the same scanner."""

    buf: U8
    raw: I32  # number of the token's run
    first: I32  # characters [first, last) of its text
    last: I32
    at: I64  # first byte
    size: I32  # bytes; negative: not all ASCII
    gap: U8
    ends: I64  # per text: the end of its tokens


class Runs(NamedTuple):
    """Per distinct run its case code and its flags, where it is not all ASCII."""

    case: U64
    flags: U8


class Scanner:
    """Tokens of batches, and per distinct run its term, case code and flags, found once."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self.vocabulary = RawVocabulary()
        self.known = 0
        self.folded: list[bytes] = []  # folded runs that are new since the last `take_new`
        self.runs = Runs(np.zeros(1 << 12, dtype=np.uint64), np.zeros(1 << 12, dtype=np.uint8))

    def scan(self, encoded: list[bytes]) -> Tokens:
        """The tokens of UTF-8 texts."""
        if self.vocabulary.size > MOST_RUNS:
            self._clear()
        buf, ends = batch_bytes(encoded)
        raw, begin, end, foreign, tokens_end = self.vocabulary.tokenise(buf, ends)
        first, last = character_spans(buf, ends, begin, end, tokens_end)
        size = np.where(foreign, begin - end, end - begin).astype(np.int32)
        self._learn()
        tokens = Tokens(
            buf, raw, first, last, begin.astype(np.int64), size, np.empty(raw.size, dtype=np.uint8), tokens_end
        )
        _mark_capitals(tokens, self.runs)
        _mark_gaps(tokens, GAP_CLASSES)
        return tokens

    def _learn(self) -> None:
        """Fold the runs that are new."""
        new = self.vocabulary.runs(self.known)
        more = self.vocabulary.size - self.runs.case.size
        if more > 0:
            room = max(more, self.runs.case.size)
            self.runs = Runs._make(np.concatenate([c, np.zeros(room, dtype=c.dtype)]) for c in self.runs)
        for number, run in enumerate(new, self.known):
            if not run.isascii():
                text = unicodedata.normalize("NFC", cut_marks(run.decode()))
                self.runs.case[number] = _find_case_code(text)
                self.runs.flags[number] = _find_flags(text)
                new[number - self.known] = normalise(text).encode()
        self.folded += new
        self.known = self.vocabulary.size

    def take_new(self) -> list[bytes]:
        """The folded runs of the numbers that were not taken before."""
        folded, self.folded = self.folded, []
        return folded


def _find_case_code(text: str) -> int:
    """The case code of a run in NFC, which may make it ASCII."""
    if not text.isascii():
        return int(xxhash.xxh64_intdigest(text.encode())) | 1 << 63
    code = 0
    for i, character in enumerate(text):
        code |= character.isupper() << (i & 63)
    return code


def _find_flags(text: str) -> int:
    upper = sum(c.isupper() or c.istitle() for c in text)
    capital = CAPITAL if text[0].isupper() or text[0].istitle() else 0
    lower = LOWER if any(c.islower() for c in text) else 0
    return capital | lower | (UPPER if upper else 0) | (UPPERS if upper > 1 else 0)


def _categorise(character: str) -> int:
    if character in "\n\x0b\x0c\x85\u2028\u2029":
        return LINE
    if character.isspace() or (unicodedata.category(character) == "Cf" and character != "\xad"):  # not seen
        return SPACE
    if character in "-'`_/&+\xad\xb7\u2010\u2011\u2012\u2013\u2018\u2019\u2212":
        return JOIN
    return {".": STOP, "!": END, "?": END, ":": END, "\u2026": END, "\u203d": END}.get(character, OTHER)


# The category of each ASCII character, then of those of U+2000 to U+22FF, then of U+0080 to U+00FF.
GAP_CLASSES = np.array(
    [_categorise(chr(c)) for c in (*range(0x80), *range(0x2000, 0x2300), *range(0x80, 0x100))], dtype=np.uint8
)


@inline_kernel
def gap_class(buf: U8, i: int, classes: U8) -> Any:
    """The category of the character at byte i, and its bytes."""
    b = np.int64(buf[i])
    if b < 0x80:
        return np.int64(classes[b]), 1
    if b < 0xE0:
        point = ((b & 0x1F) << 6) | (np.int64(buf[i + 1]) & 0x3F)
        if point == 0x061C:
            return SPACE, 2
        return (np.int64(classes[0x380 + point - 0x80]) if point < 0x100 else OTHER), 2
    if b < 0xF0:
        point = ((b & 0x0F) << 12) | ((np.int64(buf[i + 1]) & 0x3F) << 6) | (np.int64(buf[i + 2]) & 0x3F)
        if 0x2000 <= point < 0x2300:
            return np.int64(classes[0x80 + point - 0x2000]), 3
        if point in (0x1680, 0x3000, 0xFEFF):
            return SPACE, 3
        if point in (0x3002, 0xFF01, 0xFF1F):
            return END, 3
        return OTHER, 3
    return OTHER, 4


@kernel
def _mark_capitals(tokens: Tokens, runs: Runs) -> None:
    """Begin each token's marks with whether it starts with a capital."""
    for t in range(tokens.at.size):
        if tokens.size[t] < 0:
            capital = (runs.flags[tokens.raw[t]] & CAPITAL) != 0
        else:
            c = tokens.buf[tokens.at[t]]
            capital = np.uint8(65) <= c <= np.uint8(90)
        tokens.gap[t] = CAPITALISED if capital else 0


@kernel
def _mark_gaps(tokens: Tokens, classes: U8) -> None:
    """Add what stands before each token to its marks."""
    buf, at, size, ends, gap = tokens.buf, tokens.at, tokens.size, tokens.ends, tokens.gap
    t = 0
    for d in range(ends.size):
        begin = t
        while t < ends[d]:
            if t == begin:
                gap[t] |= BREAK | SENTENCE
                t += 1
                continue
            a, b = at[t - 1] + abs(size[t - 1]), at[t]
            if b - a == 1 and buf[a] == 32:
                t += 1
                continue
            short = tokens.last[t - 1] - tokens.first[t - 1] <= ABBREVIATION
            kind, lines, seen, ended, sentence, joined = SOFT, 0, 0, False, False, False
            i = a
            while i < b:
                c, width = gap_class(buf, i, classes)
                i += width
                seen += 1
                if c == LINE:
                    lines += 1
                if c in (SPACE, LINE):
                    sentence = sentence or ended
                    continue
                joined = True
                if c in (END, OTHER):
                    kind = HARD
                if c == STOP and not (short or i == b):
                    kind = HARD
                # a closing quote or bracket between the full stop and the space changes nothing
                ended = ended or c == END or (c == STOP and not short)
            if lines > 1 or (seen > LONGEST_GAP and not joined):
                kind = BREAK
            elif seen > LONGEST_GAP:
                kind = HARD
            gap[t] |= kind | (SENTENCE if sentence or lines > 0 else 0)
            t += 1


@inline_kernel
def case_code(tokens: Tokens, runs: Runs, t: int) -> Any:
    """The case code of a token."""
    if tokens.size[t] < 0:
        return runs.case[tokens.raw[t]]
    code = np.uint64(0)
    for j in range(tokens.size[t]):
        c = tokens.buf[tokens.at[t] + j]
        if np.uint8(65) <= c <= np.uint8(90):
            code |= np.uint64(1) << np.uint64(j & 63)
    return code
