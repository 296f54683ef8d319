"""Snippets cut out of UTF-8 by kernels: which tokens are shown, where each piece begins and ends, and the bytes.

A *mark* is a highlight, tokens [start, end) of a text: the mention, or the nearest occurrence of a literal. Around each
mark some words are shown; pieces that meet are one, and pieces are put together with ellipses between them. All offsets
are counted in tokens, in characters of the text, and in bytes of the excerpts (`fader.index.excerpts`) that hold the
tokens. `snippets.py` says what is shown. Knows nothing of contexts, literals or scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.corpus.tokenise import character_spans, classes_of, scan_tokens
from fader.errors import DamagedError
from fader.index.excerpts import UNKNOWN, Excerpts
from fader.kernel import inline_kernel, inner_kernel, kernel

U8 = NDArray[np.uint8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
AROUND = 8  # tokens shown on each side of a highlight
BEYOND = 20  # characters shown before the first token of a text and behind its last
CHARACTERS = 600  # of a highlight, and of all words around highlights
LEAST_AROUND = 20  # characters around a highlight on each side, however many there are
SPARE = b"\0\0\0"  # so that no character of damaged UTF-8 is read beyond the end
ABSENT = -1
# Columns of a piece: its characters and bytes [begin, stop), its tokens [first, last), whether it reaches the end of
# the last token of the text, and by how much its characters are moved in the snippet.
BEGIN, STOP, LOW, HIGH, FIRST, LAST, REACHES, MOVED = range(8)
COLUMNS = 8


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of excerpts: token t of piece p has the number `offset[p] + t` in these arrays.

    `byte` is its first byte, `size` its bytes (negative: not all ASCII), [first, last) its characters in the piece.
    `end[p]` is behind the last token of piece p; `count[d]` is how many tokens text d has.
    """

    data: U8
    byte: I64
    size: I32
    first: I32
    last: I32
    offset: I64
    end: I64
    count: I64

    def read(self, piece: int, token: int) -> str:
        """The characters of a token."""
        i = int(self.offset[piece]) + token
        start = int(self.byte[i])
        return self.data[start : start + int(self.size[i])].tobytes().decode("utf-8", "replace")


def find_tokens(excerpts: Excerpts, marks_at: I64) -> Tokens:
    """The tokens of all pieces; those wanted of text d are from `marks_at[d]` to `marks_at[d+1]`."""
    data = np.frombuffer(excerpts.data + SPARE, dtype=np.uint8)
    try:
        classes = classes_of(excerpts.data.decode("utf-8"))
    except UnicodeDecodeError:
        raise DamagedError("a stored text is not UTF-8; check the index with `fader check`") from None
    if ((data[excerpts.at] & 0xC0) == 0x80).any():
        raise DamagedError(
            "samples of a stored text are not where characters begin; check the index with `fader check`"
        )
    byte, stop, end = scan_tokens(data, excerpts.at[1:], classes)
    first, last = character_spans(data, excerpts.at[1:], byte, stop, end)
    begin = np.empty_like(end)
    begin[:1], begin[1:] = 0, end[:-1]
    count = excerpts.tokens
    if (count == UNKNOWN).any():
        whole = excerpts.piece[marks_at[:-1]]
        count = np.where(count == UNKNOWN, end[whole] - begin[whole], count)
    return Tokens(data, byte.astype(np.int64), stop - byte, first, last, begin - excerpts.token, end, count)


@inline_kernel
def _forward(data: U8, i: int, end: int, characters: int) -> Any:
    """Some characters on, up to `end`: the byte, and how many characters there were."""
    n = 0
    while n < characters and i < end:
        i += 1
        while i < end and data[i] & 0xC0 == 0x80:
            i += 1
        n += 1
    return i, n


@inline_kernel
def _back(data: U8, i: int, begin: int, characters: int) -> Any:
    """Some characters back, down to `begin`: the byte, and how many characters there were."""
    n = 0
    while n < characters and i > begin:
        i -= 1
        while i > begin and data[i] & 0xC0 == 0x80:
            i -= 1
        n += 1
    return i, n


@inner_kernel
def _around(
    data: U8, tokens: Any, base: int, low: int, high: int, count: int, start: int, end: int, margin: int, out: I64
) -> None:
    """A highlight with the words around it, as a piece. The excerpt is `data[low:high]`, token t is at `base + t`."""
    byte, size, begins, ends = tokens
    begin, last = np.int64(begins[base + start]), end
    stop, stop_byte = np.int64(ends[base + end - 1]), byte[base + end - 1] + abs(size[base + end - 1])
    is_cut = False
    if stop - begin > CHARACTERS:  # it ends where it grows too long
        last = start + 1
        while last < end and ends[base + last] - begin <= CHARACTERS:
            last += 1
        if ends[base + start] - begin > CHARACTERS:
            last, stop = start + 1, begin + CHARACTERS
            stop_byte, _n = _forward(data, byte[base + start], high, CHARACTERS)
        else:
            stop, stop_byte = np.int64(ends[base + last - 1]), byte[base + last - 1] + abs(size[base + last - 1])
        is_cut = True
    first, lowest = start, max(0, start - AROUND)
    while first > lowest and begins[base + first - 1] >= begin - margin:
        first -= 1
    out[FIRST], out[BEGIN], out[LOW] = first, begins[base + first], byte[base + first]
    if first == 0:
        out[LOW], n = _back(data, byte[base], low, BEYOND)
        out[BEGIN] -= n
    if not is_cut:
        highest, edge = min(count, last + AROUND), stop + margin
        while last < highest and ends[base + last] <= edge:
            last += 1
        stop, stop_byte = np.int64(ends[base + last - 1]), byte[base + last - 1] + abs(size[base + last - 1])
        if last == count:
            stop_byte, n = _forward(data, stop_byte, high, BEYOND)
            stop += n
    out[STOP], out[HIGH], out[LAST] = stop, stop_byte, last
    out[REACHES] = last == count and not is_cut


@inner_kernel
def _join(pieces: I64, n: int, margin: int) -> int:
    """Sort pieces by their characters and make one of those that meet, or have no token and little else between them;
    returns how many are left."""
    held = np.empty(COLUMNS, dtype=np.int64)
    for i in range(1, n):
        for c in range(held.size):  # a copy of a row takes two seconds to compile
            held[c] = pieces[i, c]
        j = i
        while j > 0 and (
            pieces[j - 1, BEGIN] > held[BEGIN]
            or (pieces[j - 1, BEGIN] == held[BEGIN] and pieces[j - 1, STOP] > held[STOP])
        ):
            for c in range(held.size):
                pieces[j, c] = pieces[j - 1, c]
            j -= 1
        for c in range(held.size):
            pieces[j, c] = held[c]
    kept = 0
    for i in range(1, n):
        apart = pieces[i, BEGIN] - pieces[kept, STOP]
        if apart <= 0 or (pieces[i, FIRST] <= pieces[kept, LAST] and apart <= margin):
            if pieces[i, STOP] > pieces[kept, STOP]:
                pieces[kept, STOP], pieces[kept, HIGH] = pieces[i, STOP], pieces[i, HIGH]
            pieces[kept, LAST] = max(pieces[kept, LAST], pieces[i, LAST])
            pieces[kept, REACHES] |= pieces[i, REACHES]
        else:
            kept += 1
            for c in range(pieces.shape[1]):
                pieces[kept, c] = pieces[i, c]
    return min(n, kept + 1)


@inner_kernel
def _put(out: U8, o: int, has_blank: bool, has_blank_behind: bool) -> int:
    """An ellipsis, with blanks beside it."""
    if has_blank:
        out[o] = 32
        o += 1
    out[o], out[o + 1], out[o + 2] = 0xE2, 0x80, 0xA6
    o += 3
    if has_blank_behind:
        out[o] = 32
        o += 1
    return o


@kernel
def _cut(
    data: U8, tokens: Any, excerpts: Any, offset: I64, ends: I64, count: I64, marks: Any, placed: I64, out_at: I64
) -> Any:
    """The snippets of some texts laid end to end, and which text lacks a token, -1 for none.

    `placed[m]` becomes the characters of mark m in its snippet, as far as the piece shows them in which it begins.
    """
    at, start, end, piece_of = marks
    excerpt_at, character = excerpts
    _byte, _size, begins, stops = tokens
    pieces, used = np.empty((start.size, COLUMNS), dtype=np.int64), np.zeros(at.size - 1, dtype=np.int64)
    total = np.int64(0)
    for d in range(at.size - 1):
        shown = 0
        for m in range(at[d], at[d + 1]):
            # A text may have fewer tokens than when it was indexed, where Unicode has changed since.
            placed[m, 0] = 0 if 0 <= start[m] < end[m] <= count[d] else ABSENT
            shown += placed[m, 0] == 0
        margin = max(LEAST_AROUND, CHARACTERS // (2 * max(1, shown)))
        n = 0
        for m in range(at[d], at[d + 1]):
            if placed[m, 0] == ABSENT:
                continue
            p = piece_of[m]
            base, stop = offset[p], min(count[d], end[m] + AROUND)
            if base + max(0, start[m] - AROUND) < (ends[p - 1] if p > 0 else 0) or base + stop > ends[p]:
                return np.empty(0, dtype=np.uint8), d
            bounds = excerpt_at[p], excerpt_at[p + 1]
            _around(data, tokens, base, *bounds, count[d], start[m], end[m], margin, pieces[at[d] + n])
            pieces[at[d] + n, BEGIN] += character[p]
            pieces[at[d] + n, STOP] += character[p]
            n += 1
        used[d] = _join(pieces[at[d] : at[d] + n], n, margin)
        for p in range(at[d], at[d] + used[d]):
            total += pieces[p, HIGH] - pieces[p, LOW] + 5
        total += 4
    out = np.empty(total, dtype=np.uint8)
    o = 0
    for d in range(at.size - 1):
        out_at[d] = o
        characters = 0
        own = pieces[at[d] : at[d] + used[d]]
        if used[d] > 0 and own[0, FIRST] > 0:
            o = _put(out, o, False, True)
            characters = 2
        for p in range(used[d]):
            if p > 0:
                o = _put(out, o, True, True)
                characters += 3
            own[p, MOVED] = characters - own[p, BEGIN]
            characters += own[p, STOP] - own[p, BEGIN]
            for i in range(own[p, LOW], own[p, HIGH]):
                c = data[i]
                out[o] = 32 if c == 9 or c == 10 or c == 13 else c
                o += 1
        if used[d] > 0 and own[used[d] - 1, REACHES] == 0:
            o = _put(out, o, True, False)
        for m in range(at[d], at[d + 1]):
            if placed[m, 0] == ABSENT:
                continue
            base, before = offset[piece_of[m]], character[piece_of[m]]
            begin, stop = before + begins[base + start[m]], before + stops[base + end[m] - 1]
            for p in range(used[d]):
                if own[p, BEGIN] <= begin < own[p, STOP]:
                    placed[m, 0], placed[m, 1] = begin + own[p, MOVED], min(stop, own[p, STOP]) + own[p, MOVED]
                    break
    out_at[at.size - 1] = o
    return out[:o], -1


@dataclass(frozen=True, slots=True)
class Marks:
    """Highlights: those of text d are from `at[d]` to `at[d+1]`, tokens [start, end) in the excerpt `piece`."""

    at: I64
    start: I64
    end: I64
    piece: I64


def cut_texts(excerpts: Excerpts, tokens: Tokens, marks: Marks) -> tuple[list[str], list[list[int]]]:
    """The snippet of each text, and the characters of each mark in it; ABSENT where the text does not have it."""
    placed = np.empty((marks.start.size, 2), dtype=np.int64)
    out_at = np.empty(marks.at.size, dtype=np.int64)
    arrays = tokens.byte, tokens.size, tokens.first, tokens.last
    given = marks.at, marks.start, marks.end, marks.piece
    cut, missing = _cut(
        tokens.data,
        arrays,
        (excerpts.at, excerpts.character),
        tokens.offset,
        tokens.end,
        tokens.count,
        given,
        placed,
        out_at,
    )
    if missing >= 0:
        raise DamagedError("a stored text lacks tokens that its document has; check the index with `fader check`")
    shown, at = cut.tobytes(), out_at.tolist()
    return [shown[a:b].decode("utf-8") for a, b in pairwise(at)], placed.tolist()
