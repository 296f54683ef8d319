"""The compiled twin of `analysis.py`: whole batches of UTF-8 text to numbered raw tokens.

A *raw token* is a distinct run: ASCII runs in lower case, other runs as they stand. Each is numbered at first
sight in a hash table, so that normalising, stemming and stopping happen once per distinct run, in plain Python,
when a segment is frozen. Equality is decided on the bytes, never on a hash alone: the table keeps runs of up to
eight bytes themselves beside their number, one cache line a look-up, and longer runs are compared in the arena.
Scanning and numbering are separate loops, because only the second waits for memory and can overlap its waits.
Knows nothing of documents' ids, mentions or postings.
"""

from __future__ import annotations

import itertools
import unicodedata
from functools import cache
from typing import Any

import numpy as np

from fader.arrays import I32, I64, U8, U64
from fader.kernel import inline_kernel, kernel

# Columns of the hash table: a run's key, and its number + 1 (0: free) above its length.
KEY, NUMBER = 0, 1
LENGTH_BITS, SHORT = 32, 8


@cache
def character_classes() -> U8:
    """1 for each code point of the categories L, M and N."""
    categories = map(unicodedata.category, map(chr, range(0x110000)))
    return np.array([c[0] in "LMN" for c in categories], dtype=np.uint8)


_partial = np.zeros(0x110000, dtype=np.uint8)
_seen: set[str] = set()
_texts = 0
FEW_TEXTS = 100


def classes_of(text: str) -> U8:
    """The same table, right at least for the characters of a text: the whole one takes a tenth of a second to make,
    which a few texts are not worth."""
    global _texts
    _texts += 1
    if _texts > FEW_TEXTS:
        return character_classes()
    for character in set(text) - _seen:
        _partial[ord(character)] = unicodedata.category(character)[0] in "LMN"
        _seen.add(character)
    return _partial


@inline_kernel
def _code_point(buf: U8, i: int) -> Any:
    """The code point of valid UTF-8 that starts at byte i, and its length in bytes."""
    b = np.int64(buf[i])
    if b < 0x80:
        return b, 1
    second = np.int64(buf[i + 1]) & 0x3F
    if b < 0xE0:
        return ((b & 0x1F) << 6) | second, 2
    third = np.int64(buf[i + 2]) & 0x3F
    if b < 0xF0:
        return ((b & 0x0F) << 12) | (second << 6) | third, 3
    return ((b & 0x07) << 18) | (second << 12) | (third << 6) | (np.int64(buf[i + 3]) & 0x3F), 4


@kernel
def _scan(buf: U8, ends: I64, classes: U8, at: I64, size: I32, first: I32, last: I32, tokens_end: I64) -> int:
    """Find the tokens of documents `buf[ends[d-1]:ends[d]]`.

    Fills, per token, its first byte, its bytes (negative: not all ASCII) and its characters [first, last) within
    its document; per document the end of its tokens. Returns the count of tokens.
    """
    t = 0
    i = 0
    for d in range(ends.size):
        end = ends[d]
        character = np.int32(0)
        while i < end:
            a = i
            begin = character
            foreign = False
            while i < end:
                c = buf[i]
                if c < 128:
                    if classes[c] == 0:
                        break
                    i += 1
                else:
                    point, width = _code_point(buf, i)
                    if classes[point] == 0:
                        break
                    foreign = True
                    i += width
                character += np.int32(1)
            if i > a:
                at[t] = a
                size[t] = -(i - a) if foreign else i - a
                first[t] = begin
                last[t] = character
                t += 1
            if i < end:  # the character that ended the run, or stands before the next
                _point, width = _code_point(buf, i)
                i += width
                character += np.int32(1)
        tokens_end[d] = t
    return t


@inline_kernel
def _fold(buf: U8, i: int, lower: bool) -> Any:
    c = buf[i]
    if lower and np.uint8(65) <= c <= np.uint8(90):
        c = c | np.uint8(32)
    return c


@kernel
def _keys(buf: U8, at: I64, size: I32, keys: U64, n: int) -> None:
    """A token's key: its bytes, ASCII in lower case, where they are eight at most, or else a hash of them (FNV-1a)."""
    U = np.uintp
    for t in range(n):
        a = at[U(t)]
        length = size[U(t)]
        lower = length > 0
        length = abs(length)
        key = np.uint64(0)
        if length <= SHORT:
            for j in range(length):
                key |= np.uint64(_fold(buf, a + j, lower)) << np.uint64(8 * j)
        else:
            key = np.uint64(0xCBF29CE484222325)
            for j in range(length):
                key = (key ^ np.uint64(_fold(buf, a + j, lower))) * np.uint64(0x100000001B3)
        keys[U(t)] = key


@inline_kernel
def _slot(key: np.uint64, mask: np.uint64) -> np.uint64:
    h = key * np.uint64(0x9E3779B97F4A7C15)
    return (h ^ (h >> np.uint64(32))) & mask


@kernel
def _number(
    buf: U8, at: I64, size: I32, keys: U64, count: int, table: U64, starts: I64, arena: U8, n: int, raw: I32
) -> int:
    """The number of each token's run, entering new runs; returns how many runs are known."""
    mask = np.uint64(table.shape[0] - 1)
    U = np.uintp
    for t in range(count):
        key = keys[U(t)]
        lower = size[U(t)] > 0
        length = abs(size[U(t)])
        slot = _slot(key, mask)
        found = np.int64(-1)
        while table[slot, NUMBER] != 0:
            entry = table[slot, NUMBER]
            if table[slot, KEY] == key and np.int64(entry & np.uint64(0xFFFFFFFF)) == length:
                k = np.int64(entry >> np.uint64(LENGTH_BITS)) - 1
                same = True
                if length > SHORT:
                    for j in range(length):
                        if arena[starts[k] + j] != _fold(buf, at[t] + j, lower):
                            same = False
                            break
                if same:
                    found = k
                    break
            slot = (slot + np.uint64(1)) & mask
        if found < 0:
            found = np.int64(n)
            table[slot, KEY] = key
            table[slot, NUMBER] = np.uint64(n + 1) << np.uint64(LENGTH_BITS) | np.uint64(length)
            for j in range(length):
                arena[starts[n] + j] = _fold(buf, at[t] + j, lower)
            starts[n + 1] = starts[n] + length
            n += 1
        raw[U(t)] = found
    return n


@kernel
def _rehash(old: U64, table: U64) -> None:
    mask = np.uint64(table.shape[0] - 1)
    for i in range(old.shape[0]):
        if old[i, NUMBER] != 0:
            slot = _slot(old[i, KEY], mask)
            while table[slot, NUMBER] != 0:
                slot = (slot + np.uint64(1)) & mask
            table[slot] = old[i]


class RawVocabulary:
    """The distinct raw tokens seen so far, numbered in order of first sight."""

    def __init__(self) -> None:
        self.size = 0
        self._table = np.zeros((1 << 16, 2), dtype=np.uint64)
        self._starts = np.zeros((1 << 15) + 1, dtype=np.int64)
        self._arena = np.zeros(1 << 20, dtype=np.uint8)
        self._scratch = _Scratch(0)

    @property
    def nbytes(self) -> int:
        return self._table.nbytes + self._starts.nbytes + self._arena.nbytes

    def tokenise(self, buf: U8, ends: I64) -> tuple[I32, I32, I32, I64]:
        """Raw number, first and last character of each token of a batch, and the end of each document's tokens.

        The arrays are views of scratch space, good until the next call.
        """
        room = buf.size // 2 + ends.size + 1
        if room > self._scratch.room:
            self._scratch = _Scratch(room + room // 4)
        s = self._scratch
        tokens_end = np.empty(ends.size, dtype=np.int64)
        count = _scan(buf, ends, character_classes(), s.at, s.length, s.first, s.last, tokens_end)
        self._reserve(count, buf.size)
        _keys(buf, s.at, s.length, s.keys, count)
        self.size = _number(
            buf, s.at, s.length, s.keys, count, self._table, self._starts, self._arena, self.size, s.raw
        )
        return s.raw[:count], s.first[:count], s.last[:count], tokens_end

    def last_bytes(self, count: int) -> tuple[I64, I32]:
        """First byte and bytes (negative: not all ASCII) of each of the `count` tokens of the last batch, as views."""
        return self._scratch.at[:count], self._scratch.length[:count]

    def runs(self, first: int = 0) -> list[bytes]:
        """The raw tokens' bytes, from number `first` on."""
        at = (self._starts[first : self.size + 1] - self._starts[first]).tolist()
        data = self._arena[self._starts[first] : self._starts[self.size]].tobytes()
        return [data[a:b] for a, b in itertools.pairwise(at)]

    def _reserve(self, tokens: int, batch_bytes: int) -> None:
        """Make room for the worst batch: every token never seen before."""
        need = self.size + tokens + 1
        if need >= self._starts.size:
            self._starts = np.resize(self._starts, max(need + 1, 2 * self._starts.size))
        used = int(self._starts[self.size])
        if used + batch_bytes > self._arena.size:
            self._arena = np.resize(self._arena, max(used + batch_bytes, 2 * self._arena.size))
        if 2 * need > self._table.shape[0]:
            table = np.zeros((1 << int(2 * need - 1).bit_length(), 2), dtype=np.uint64)
            _rehash(self._table, table)
            self._table = table


class _Scratch:
    """Per-token arrays, reused from batch to batch."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.at = np.empty(room, dtype=np.int64)
        self.length, self.first, self.last, self.raw = (np.empty(room, dtype=np.int32) for _ in range(4))
        self.keys = np.empty(room, dtype=np.uint64)


def batch_bytes(encoded: list[bytes]) -> tuple[U8, I64]:
    """UTF-8 texts as one buffer and the end of each in it."""
    ends = np.cumsum(np.array([len(e) for e in encoded], dtype=np.int64), dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ends
