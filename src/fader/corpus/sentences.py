"""Where sentences begin, told from the characters between tokens.

A token begins a sentence if it is a text's first, or if between it and the token before there is

    a line break, or
    one of . ! ? ; then any closing quotes and brackets (" ' ” ’ ) ]), then white space, unless the token begins in
    lower case, or the mark is a full stop behind an abbreviation or a single letter or digit.

White space is that of ASCII; lower case is that of the letters below U+0800. Knows nothing of what tokens are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fader.arrays import BOOL, I32, I64, U8, U64
from fader.kernel import inner_kernel, kernel

ABBREVIATIONS = (
    "al approx b c ca capt co col d dr eg etc fig gen gov ie inc jr ltd mr mrs ms no pp prof rep rev sen sr st vol vs"
).split()


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of some texts but each one's first: how many, and tokens from the beginning of the one before."""

    count: I32
    gap: I32

    @classmethod
    def join(cls, parts: list[Sentences]) -> Sentences:
        none = np.empty(0, dtype=np.int32)
        return cls(np.concatenate([none, *(p.count for p in parts)]), np.concatenate([none, *(p.gap for p in parts)]))


def find_sentences(text: U8, begin: I32, end: I32, tokens_end: I64) -> Sentences:
    """The sentences of texts laid end to end.

    Given are the bytes [begin, end) of each token, and the end of each text's tokens.
    """
    count, gap = np.zeros(tokens_end.size, dtype=np.int32), np.empty(begin.size, dtype=np.int32)
    n = _find_sentences(text, begin, end, tokens_end, *_tables(), count, gap)
    return Sentences(count, gap[:n].copy())


@cache
def _tables() -> tuple[BOOL, U64]:
    """Which characters are lower case, and the abbreviations as numbers."""
    lower = np.array([chr(c).islower() for c in range(0x800)])
    return lower, np.array([int.from_bytes(word.encode(), "big") for word in ABBREVIATIONS], dtype=np.uint64)


@inner_kernel
def _is_lower(text: U8, i: int, lower: BOOL) -> Any:
    first = np.int64(text[i])
    if first < 0x80:
        return lower[first]
    if 0xC0 <= first < 0xE0 and i + 1 < text.size:
        return lower[(first & 0x1F) << 6 | (np.int64(text[i + 1]) & 0x3F)]
    return False


@inner_kernel
def _is_short(text: U8, begin: int, end: int, short: U64) -> Any:
    """Whether a token is one character, or an abbreviation."""
    characters, key = 0, np.uint64(0)
    for i in range(begin, end):
        characters += (text[i] & 0xC0) != 0x80
    if characters == 1:
        return True
    if end - begin > 8:
        return False
    for i in range(begin, end):
        byte = text[i]
        if 65 <= byte <= 90:
            byte |= 0x20
        key = key << np.uint64(8) | np.uint64(byte)
    known = False
    for k in range(short.size):
        known = known or short[k] == key
    return known


@inner_kernel
def _ends(text: U8, begin: int, end: int) -> int:
    """What the bytes between two tokens are: 2 with a line break, 1 with the end of a sentence, 0 neither."""
    found = 0
    for i in range(begin, end):
        byte = text[i]
        if byte == 10:
            return 2
        if found == 0 and (byte == 46 or byte == 33 or byte == 63 or byte == 59):
            j = i + 1
            while j < end:
                if text[j] == 34 or text[j] == 39 or text[j] == 41 or text[j] == 93:
                    j += 1
                elif (
                    j + 2 < end
                    and text[j] == 0xE2
                    and text[j + 1] == 0x80
                    and (text[j + 2] == 0x99 or text[j + 2] == 0x9D)
                ):
                    j += 3
                else:
                    break
            if j < end and (text[j] == 32 or 9 <= text[j] <= 13):
                found = 1
    return found


@kernel
def _find_sentences(
    text: U8, begin: I32, end: I32, tokens_end: I64, lower: BOOL, short: U64, count: I32, gap: I32
) -> Any:
    n, t = 0, 0
    for d in range(tokens_end.size):
        last = t
        for i in range(t + 1, tokens_end[d]):
            before, here = end[i - 1], begin[i]
            if here - before < 2 and text[before] != 10:
                continue
            kind = _ends(text, before, here)
            if kind == 0:
                continue
            if kind == 1:
                if _is_lower(text, here, lower):
                    continue
                if text[before] == 46 and _is_short(text, begin[i - 1], before, short):
                    continue
            gap[n] = i - last
            count[d] += 1
            last = i
            n += 1
        t = tokens_end[d]
    return n
