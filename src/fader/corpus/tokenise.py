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
from typing import Any, NamedTuple

import numpy as np

from fader.arrays import I32, I64, U8, U64
from fader.kernel import inline_kernel, kernel

# Columns of the hash table: a run's key, and its number + 1 (0: free) above its length.
KEY, NUMBER = 0, 1
LENGTH_BITS, SHORT = 32, 8
FOREIGN = 2  # the class of bytes that are not ASCII
STRETCH = 256  # bytes that are taken for ASCII until one is not
TOGETHER = 32  # tokens that are looked up together
MOST_TOGETHER = 1 << 16  # names that are looked up together
SPARE = 16  # bytes behind a buffer that is read by words
LOWER = 0x2020202020202020  # makes ASCII letters lower case and leaves digits as they are
MULTIPLIER = 0x9E3779B97F4A7C15


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


def scan_tokens(buf: U8, ends: I64, classes: U8 | None = None) -> tuple[I32, I32, I64]:
    """First byte and end of each token of documents `buf[ends[d-1]:ends[d]]`, and the end of each document's tokens.

    `classes` is right for the characters that there are (`classes_of`), if not given for all.
    """
    most = _most_tokens(buf, ends)
    edges, foreign = np.empty(2 * most + 2, dtype=np.int32), np.zeros(most + 1, dtype=np.uint8)
    tokens_end = np.empty(ends.size, dtype=np.int64)
    known = character_classes() if classes is None else classes
    n = _scan(buf, ends, known, _byte_classes(), edges, foreign, tokens_end)
    return edges[: 2 * n : 2], edges[1 : 2 * n : 2], tokens_end


def _most_tokens(buf: U8, ends: I64) -> int:
    """Tokens that documents can have: a byte lies between two of a document, but not between two documents."""
    return min(buf.size, buf.size // 2 + ends.size)


def character_spans(buf: U8, ends: I64, begin: I32, end: I32, tokens_end: I64) -> tuple[I32, I32]:
    """Bytes [begin, end) of the tokens of documents `buf[ends[d-1]:ends[d]]` as characters, counted per document."""
    first, last = np.empty(begin.size, dtype=np.int32), np.empty(begin.size, dtype=np.int32)
    _count_characters(buf, ends, begin, end, tokens_end, first, last)
    return first, last


@kernel
def _count_characters(buf: U8, ends: I64, begin: I32, end: I32, tokens_end: I64, first: I32, last: I32) -> None:
    t, i = 0, 0
    for d in range(ends.size):
        character = np.int32(0)
        while t < tokens_end[d]:
            while i < begin[t]:
                character += np.int32(buf[i] & 0xC0 != 0x80)
                i += 1
            first[t] = character
            while i < end[t]:
                character += np.int32(buf[i] & 0xC0 != 0x80)
                i += 1
            last[t] = character
            t += 1
        i = ends[d]


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


@cache
def _byte_classes() -> U8:
    """For ASCII as `character_classes`; FOREIGN for the bytes of other characters."""
    classes = np.full(256, FOREIGN, dtype=np.uint8)
    classes[:128] = [unicodedata.category(chr(c))[0] in "LMN" for c in range(128)]
    return classes


@kernel
def _scan(buf: U8, ends: I64, classes: U8, of_byte: U8, edges: I32, foreign: U8, tokens_end: I64) -> Any:
    """Find the tokens of documents `buf[ends[d-1]:ends[d]]`; returns how many there are.

    Token t is the bytes [edges[2t], edges[2t+1]); `foreign`, which is zero, is set for those that are not all ASCII.
    `tokens_end` gets the end of each document's tokens. A stretch of ASCII has no branch that depends on the text: a
    byte is written as an edge, and stays if its class differs from the last one's.
    """
    U = np.uintp
    k, i = U(0), U(0)
    for d in range(ends.size):
        end = U(ends[d])
        last = np.uint8(0)
        while i < end:
            stop = min(end, i + U(STRETCH))
            seen, edge, before = np.uint8(0), k, last
            for j in range(i, stop):
                mark = of_byte[buf[j]]
                edges[edge] = np.int32(j)
                edge += U(mark ^ before) & U(1)
                before = mark
                seen |= mark
            if seen < FOREIGN:
                i, k, last = stop, edge, before
            else:
                i, k, last = _scan_characters(buf, i, stop, classes, edges, foreign, k, last)
        if last:
            edges[k] = np.int32(end)
            k += U(1)
        tokens_end[d] = k >> U(1)
    return np.int64(k >> U(1))


@kernel
def _scan_characters(buf: U8, i: Any, stop: int, classes: U8, edges: I32, foreign: U8, k: Any, last: int) -> Any:
    """The edges in characters that begin in `buf[i:stop]`, any of Unicode; returns where it stopped and its state."""
    U = np.uintp
    while i < stop:
        point, width = _code_point(buf, i)
        mark = classes[point]
        if mark != last:
            edges[k] = np.int32(i)
            k += U(1)
            last = mark
        if mark and width > 1:
            foreign[k >> U(1)] = np.uint8(1)
        i += U(width)
    return i, k, last


@inline_kernel
def load_word(words: U64, at: int) -> Any:
    """The eight bytes from byte `at` on, the first one lowest."""
    U = np.uintp
    shift = np.uint64(U(at) & U(7)) << np.uint64(3)
    low, high = words[U(at) >> U(3)], words[(U(at) >> U(3)) + U(1)]
    return (low >> shift) | ((high << np.uint64(1)) << (np.uint64(63) - shift))


@inline_kernel
def _key(words: U64, at: int, length: int, lower: np.uint64) -> Any:
    """A run's key: its bytes where they are eight at most, or else a hash of them. `lower` makes ASCII lower case."""
    word = load_word(words, at) | lower
    if length <= SHORT:
        return word & (np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - 8 * length))
    key = word * np.uint64(MULTIPLIER)
    for j in range(SHORT, length - SHORT, SHORT):
        key = (key ^ (key >> np.uint64(29)) ^ (load_word(words, at + j) | lower)) * np.uint64(MULTIPLIER)
    return (key ^ (key >> np.uint64(29)) ^ (load_word(words, at + length - SHORT) | lower)) * np.uint64(MULTIPLIER)


@inline_kernel
def _slot(key: np.uint64, mask: np.uint64) -> np.uint64:
    h = key * np.uint64(MULTIPLIER)
    return (h ^ (h >> np.uint64(32))) & mask


@inline_kernel
def _same(words: U64, at: int, length: int, lower: np.uint64, arena: U64, start: int) -> Any:
    """Whether a run of more than eight bytes is the one that is kept at `start` of the arena."""
    for j in range(0, length - SHORT, SHORT):
        if (load_word(words, at + j) | lower) != load_word(arena, start + j):
            return False
    return (load_word(words, at + length - SHORT) | lower) == load_word(arena, start + length - SHORT)


@kernel
def _number(
    words: U64, edges: I32, foreign: U8, table: U64, starts: I64, arena: U8, arena_words: U64, n: int, raw: I32
) -> int:
    """The number of each token's run, entering new runs, none of them empty; returns how many runs are known.

    Tokens go in groups: first the keys of all and what stands in their slots, so that these reads overlap.
    """
    U = np.uintp
    mask = np.uint64(table.shape[0] - 1)
    keys, slots = np.empty(TOGETHER, dtype=np.uint64), np.empty(TOGETHER, dtype=np.uint64)
    held, entries = np.empty(TOGETHER, dtype=np.uint64), np.empty(TOGETHER, dtype=np.uint64)
    for group in range(0, raw.size, TOGETHER):
        count = min(TOGETHER, raw.size - group)
        for j in range(count):
            t = U(group + j)
            begin, length = edges[t + t], edges[t + t + U(1)] - edges[t + t]
            lower = np.uint64(LOWER) if foreign[t] == 0 else np.uint64(0)
            key = _key(words, begin, length, lower)
            slot = _slot(key, mask)
            keys[U(j)], slots[U(j)] = key, slot
            held[U(j)], entries[U(j)] = table[slot, U(KEY)], table[slot, U(NUMBER)]
        for j in range(count):
            t = U(group + j)
            key, slot, entry, kept = keys[U(j)], slots[U(j)], entries[U(j)], held[U(j)]
            begin, length = edges[t + t], edges[t + t + U(1)] - edges[t + t]
            lower = np.uint64(LOWER) if foreign[t] == 0 else np.uint64(0)
            if entry == 0:  # a run of this group may have come here
                entry, kept = table[slot, U(NUMBER)], table[slot, U(KEY)]
            found = np.int64(-1)
            while entry != 0:
                if kept == key and np.int64(entry & np.uint64(0xFFFFFFFF)) == length:
                    number = np.int64(entry >> np.uint64(LENGTH_BITS)) - 1
                    if length <= SHORT or _same(words, begin, length, lower, arena_words, starts[number]):
                        found = number
                        break
                slot = (slot + np.uint64(1)) & mask
                entry, kept = table[slot, U(NUMBER)], table[slot, U(KEY)]
            if found < 0:
                found = np.int64(n)
                table[slot, KEY] = key
                table[slot, NUMBER] = np.uint64(n + 1) << np.uint64(LENGTH_BITS) | np.uint64(length)
                for b in range(length):
                    word = (words[(begin + b) >> 3] | lower) >> np.uint64(8 * ((begin + b) & 7))
                    arena[starts[n] + b] = np.uint8(word & np.uint64(0xFF))
                starts[n + 1] = starts[n] + length
                n += 1
            raw[t] = found
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
        self._scratch = _Scratch(0, 0)

    @property
    def nbytes(self) -> int:
        return self._table.nbytes + self._starts.nbytes + self._arena.nbytes

    def tokenise(self, buf: U8, ends: I64) -> Tokens:
        """The tokens of a batch of documents `buf[ends[d-1]:ends[d]]`, as views that are good until the next call."""
        most = _most_tokens(buf, ends)
        if buf.size > self._scratch.room or most > self._scratch.most:
            self._scratch = _Scratch(buf.size + buf.size // 4, most + most // 4)
        s = self._scratch
        s.text[: buf.size] = buf
        s.foreign[: most + 1] = 0
        tokens_end = np.empty(ends.size, dtype=np.int64)
        n = _scan(s.text[: buf.size], ends, character_classes(), _byte_classes(), s.edges, s.foreign, tokens_end)
        self._enter(s.text.view(np.uint64), s.edges, s.foreign[:n], s.raw[:n], buf.size)
        return Tokens(s.raw[:n], s.edges[: 2 * n : 2], s.edges[1 : 2 * n : 2], s.foreign[:n], tokens_end)

    def number(self, words: U64, edges: I32) -> I32:
        """The numbers of the runs [edges[2i], edges[2i+1]) of padded bytes, taken as they stand; none is empty."""
        raw = np.empty(edges.size // 2, dtype=np.int32)
        self._enter(words, edges, np.ones(raw.size, dtype=np.uint8), raw, int((edges[1::2] - edges[::2]).sum()))
        return raw

    def _enter(self, words: U64, edges: I32, foreign: U8, raw: I32, most_bytes: int) -> None:
        self._reserve(raw.size, most_bytes)
        arena = self._arena.view(np.uint64)
        self.size = _number(words, edges, foreign, self._table, self._starts, self._arena, arena, self.size, raw)

    def runs(self, first: int = 0) -> list[bytes]:
        """The raw tokens' bytes, from number `first` on."""
        data, at = self.joined(first)
        whole = data.tobytes()
        return [whole[a:b] for a, b in itertools.pairwise(at.tolist())]

    def joined(self, first: int = 0) -> tuple[U8, I64]:
        """The same laid end to end, and where each begins and the last one ends."""
        at = self._starts[first : self.size + 1]
        return self._arena[at[0] : at[-1]], at - at[0]

    def _reserve(self, tokens: int, batch_bytes: int) -> None:
        """Make room for the worst batch: every token never seen before."""
        need = self.size + tokens + 1
        if need >= self._starts.size:
            self._starts = np.resize(self._starts, max(need + 1, 2 * self._starts.size))
        used = int(self._starts[self.size])
        if used + batch_bytes + SPARE > self._arena.size:
            self._arena = np.resize(self._arena, -(-max(used + batch_bytes + SPARE, 2 * self._arena.size) // 8) * 8)
        if 2 * need > self._table.shape[0]:
            table = np.zeros((1 << int(2 * need - 1).bit_length(), 2), dtype=np.uint64)
            _rehash(self._table, table)
            self._table = table


class NameNumbers:
    """Numbers of distinct names, found by their bytes."""

    def __init__(self, data: U8, at: I64) -> None:
        """Number the strings `data[at[i]:at[i+1]]` from 0 on; none is empty and none comes twice."""
        self._size = at.size - 1
        self._learn(data, at)

    def _learn(self, data: U8, at: I64) -> None:
        self._vocabulary = RawVocabulary()
        for first in range(0, self._size, MOST_TOGETHER):
            self._enter(data, at[first : first + MOST_TOGETHER + 1])

    def find(self, data: U8, at: I64) -> I32:
        """The numbers of strings laid end to end; -1 for those that are none of the names."""
        numbers = np.full(at.size - 1, -1, dtype=np.int32)
        for first in range(0, numbers.size, MOST_TOGETHER):
            ends = at[first : first + MOST_TOGETHER + 1]
            some = np.flatnonzero(np.diff(ends))
            found = self._enter(data, ends, some)
            numbers[first + some] = np.where(found < self._size, found, -1)
        if self._vocabulary.size > 2 * self._size + MOST_TOGETHER:  # other names are not kept for good
            known, ends = self._vocabulary.joined()
            self._learn(known[: ends[self._size]], ends[: self._size + 1])
        return numbers

    def _enter(self, data: U8, at: I64, some: I64 | None = None) -> I32:
        edges = np.column_stack((at[:-1], at[1:])).astype(np.int64) - at[0]
        chosen = edges if some is None else edges[some]
        words = pad(data[at[0] : at[-1]])
        return self._vocabulary.number(words, chosen.astype(np.int32).reshape(-1))


def pad(data: U8) -> U64:
    """Bytes as words, with spare ones behind them."""
    words = np.empty(data.size // 8 + 1 + SPARE // 8, dtype=np.uint64)
    words[data.size // 8 :] = 0
    words.view(np.uint8)[: data.size] = data
    return words


class Tokens(NamedTuple):
    """The tokens of a batch: numbers of their runs, their bytes [begin, end), whether they are not all ASCII.

    `ends` is the end of each document's tokens.
    """

    raw: I32
    begin: I32
    end: I32
    foreign: U8
    ends: I64


class _Scratch:
    """A batch's bytes, on the borders of words and with spare bytes behind, and per-token arrays; reused."""

    def __init__(self, room: int, most: int) -> None:
        self.room, self.most = room, most
        self.text = np.zeros(room // 8 + 1 + SPARE // 8, dtype=np.uint64).view(np.uint8)
        self.edges = np.empty(2 * most + 2, dtype=np.int32)
        self.foreign = np.zeros(most + 1, dtype=np.uint8)
        self.raw = np.empty(most, dtype=np.int32)


def batch_bytes(encoded: list[bytes]) -> tuple[U8, I64]:
    """UTF-8 texts as one buffer and the end of each in it."""
    ends = np.cumsum(np.array([len(e) for e in encoded], dtype=np.int64), dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ends
