"""Sorted lists of integers, compressed: the postings of terms and the mention rows of types.

A list of n strictly increasing values is cut into blocks of 128; block b stores the gaps minus one to its
predecessor, all with the width of the widest. What is left over (n mod 128) is the tail.

    entry := varint n, varint extra (postings: documents with the term; absent for n = 0)
             if n >= 128: varint first block
             if n mod 128 > 0: varint first value of the tail, and, if it has more, width:u8 and gaps packed to bytes
    base[b]  = the value before the block's first (-1 for none); words[at[b] : at[b+1]] its 4 x width words:
               gap i lies in lane i mod 4 at bit (i div 4) x width, so that unpacking four lanes is one vector step

`base` lets a reader pass over blocks without decoding them. Knows nothing of terms, types, texts or mentions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.index.format import Container, FileWriter
from fader.kernel import inline_kernel, kernel

BLOCK = 128
LANES = 4
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U32 = NDArray[np.uint32]
U8 = NDArray[np.uint8]
LOWEST = np.int32(-(1 << 30))
HIGHEST = np.int32((1 << 31) - 1)


@inline_kernel
def _put_varint(entry: U8, at: int, value: int) -> int:
    while value >= 128:
        entry[at] = np.uint8((value & 127) | 128)
        value >>= 7
        at += 1
    entry[at] = np.uint8(value)
    return at + 1


@inline_kernel
def _get_varint(entry: U8, at: int) -> Any:
    value = np.int64(0)
    shift = 0
    while shift < 35:
        byte = np.int64(entry[at])
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
    return value, at


@inline_kernel
def _width(value: int) -> int:
    w = 0
    while value:
        value >>= 1
        w += 1
    return w


@kernel
def _pack_block(values: I32, start: int, base: int, words: U32, at: int) -> int:
    """Pack 128 gaps after `base`; returns the end of the block's words."""
    largest = np.int64(0)
    previous = np.int64(base)
    for i in range(start, start + BLOCK):
        largest |= values[i] - previous - 1
        previous = np.int64(values[i])
    width = _width(largest)
    for i in range(LANES * width):
        words[at + i] = np.uint32(0)
    previous = np.int64(base)
    for i in range(BLOCK):
        gap = np.uint64(values[start + i] - previous - 1)
        previous = np.int64(values[start + i])
        bit = (i // LANES) * width
        word = at + (bit >> 5) * LANES + i % LANES
        shifted = gap << np.uint64(bit & 31)
        if width:
            words[word] |= np.uint32(shifted & np.uint64(0xFFFFFFFF))
        if (bit & 31) + width > 32:
            words[word + LANES] |= np.uint32(shifted >> np.uint64(32))
    return at + LANES * width


@kernel
def _pack_tail(values: I32, start: int, end: int, entry: U8, at: int) -> int:
    at = _put_varint(entry, at, np.int64(values[start]))
    if end - start < 2:
        return at
    largest = np.int64(0)
    for i in range(start + 1, end):
        largest |= np.int64(values[i]) - values[i - 1] - 1
    width = _width(largest)
    entry[at] = np.uint8(width)
    at += 1
    held, bits = np.uint64(0), 0
    for i in range(start + 1, end):
        held |= np.uint64(np.int64(values[i]) - values[i - 1] - 1) << np.uint64(bits)
        bits += width
        while bits >= 8:
            entry[at] = np.uint8(held & np.uint64(255))
            held >>= np.uint64(8)
            bits -= 8
            at += 1
    if bits:
        entry[at] = np.uint8(held)
        at += 1
    return at


@kernel
def _encode(
    values: I32, at: I64, extra: I32, entry: U8, entry_at: I64, base: I32, block_at: I64, words: U32
) -> tuple[int, int]:
    """Encode list i = `values[at[i]:at[i+1]]`; returns the bytes of entries and the count of blocks."""
    e = 0
    b = 0
    w = 0
    for i in range(at.size - 1):
        entry_at[i] = e
        start, end = at[i], at[i + 1]
        e = _put_varint(entry, e, end - start)
        if end > start:
            e = _put_varint(entry, e, np.int64(extra[i]))
        if end - start >= BLOCK:
            e = _put_varint(entry, e, b)
        previous = np.int64(-1)
        while end - start >= BLOCK:
            base[b] = previous
            block_at[b] = w
            w = _pack_block(values, start, previous, words, w)
            previous = np.int64(values[start + BLOCK - 1])
            start += BLOCK
            b += 1
        if end > start:
            e = _pack_tail(values, start, end, entry, e)
    entry_at[at.size - 1] = e
    block_at[b] = w
    return e, b


@kernel
def _unpack_block(words: U32, at: int, width: int, base: int, out: I32, o: int) -> None:
    """Decode one block into `out[o:o+128]`.

    Each lane reads two words whether it needs the second or not, so that the loop has no branch; the array ends
    with spare words for that. Indexes are unsigned, because a signed one costs a test for being negative, and the
    gaps are summed four at a time, because one running sum would wait for itself: 2.3 to 1.0 ns a value.
    """
    U = np.uintp
    mask = np.uint32((np.uint64(1) << np.uint64(width)) - np.uint64(1))
    one, high = np.int32(1), np.uint64(32)
    p, bit, value = U(o), U(0), np.int32(base)
    for _row in range(BLOCK // LANES):
        w = U(at) + (bit >> U(5)) * U(4)
        shift = np.uint64(bit & U(31))
        b0 = np.uint64(words[w]) | np.uint64(words[w + U(4)]) << high
        b1 = np.uint64(words[w + U(1)]) | np.uint64(words[w + U(5)]) << high
        b2 = np.uint64(words[w + U(2)]) | np.uint64(words[w + U(6)]) << high
        b3 = np.uint64(words[w + U(3)]) | np.uint64(words[w + U(7)]) << high
        s1 = np.int32(np.int32(np.uint32(b0 >> shift) & mask) + one)
        s2 = np.int32(s1 + np.int32(np.uint32(b1 >> shift) & mask) + one)
        s3 = np.int32(s2 + np.int32(np.uint32(b2 >> shift) & mask) + one)
        s4 = np.int32(s3 + np.int32(np.uint32(b3 >> shift) & mask) + one)
        out[p] = np.int32(value + s1)
        out[p + U(1)] = np.int32(value + s2)
        out[p + U(2)] = np.int32(value + s3)
        value = np.int32(value + s4)
        out[p + U(3)] = value
        p += U(4)
        bit += U(width)


@inline_kernel
def _read_head(entry: U8, at: int) -> Any:
    """Count, extra, first block and where the tail begins."""
    n, at = _get_varint(entry, at)
    extra = np.int64(0)
    block = np.int64(0)
    if n > 0:
        extra, at = _get_varint(entry, at)
    if n >= BLOCK:
        block, at = _get_varint(entry, at)
    return n, extra, block, at


@kernel
def _unpack_tail(entry: U8, at: int, count: int, out: I32, o: int) -> None:
    if count == 0:
        return
    value, at = _get_varint(entry, at)
    out[o] = np.int32(value)
    if count == 1:
        return
    width = np.int64(entry[at])
    at += 1
    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    held, bits = np.uint64(0), 0
    for i in range(1, count):
        while bits < width:
            held |= np.uint64(entry[at]) << np.uint64(bits)
            bits += 8
            at += 1
        value += np.int64(held & mask) + 1
        held >>= np.uint64(width)
        bits -= width
        out[o + i] = np.int32(value)


@kernel
def _head(entry: U8, entry_at: U32, i: int) -> tuple[int, int]:
    n, extra, _block, _at = _read_head(entry, np.int64(entry_at[i]))
    return n, extra


@kernel
def _decode(entry: U8, entry_at: U32, base: I32, block_at: U32, words: U32, i: int, margin: int) -> I32:
    """All values of list i; with `margin` 1 a sentinel stands before and after them."""
    n, _extra, block, tail = _read_head(entry, np.int64(entry_at[i]))
    out = np.empty(n + 2 * margin, dtype=np.int32)
    o = margin
    for b in range(block, block + n // BLOCK):
        start = np.int64(block_at[b])
        width = (np.int64(block_at[b + 1]) - start) // LANES
        _unpack_block(words, start, width, np.int64(base[b]), out, o)
        o += BLOCK
    _unpack_tail(entry, tail, n % BLOCK, out, o)
    if margin:
        out[0] = LOWEST
        out[n + 1] = HIGHEST
    return out


@kernel
def _decode_within(entry: U8, entry_at: U32, base: I32, block_at: U32, words: U32, i: int, low: I32, high: I32) -> I32:
    """The values of list i in blocks that touch one of the sorted, disjoint ranges [low, high), with sentinels.

    A superset of the values in the ranges: every value inside a range is there, some outside may be.
    """
    n, _extra, block, tail = _read_head(entry, np.int64(entry_at[i]))
    blocks = n // BLOCK
    tail_count = n % BLOCK
    out = np.empty(n + 2, dtype=np.int32)
    out[0] = LOWEST
    o = 1
    r = 0
    b = block
    end = block + blocks
    while b < end and r < low.size:
        # base[b] < every value of block b <= base[b+1] (for the last block: unknown, so taken as reaching)
        if high[r] - 1 <= base[b]:
            r += 1
        elif b + 1 < end and base[b + 1] < low[r]:
            b = _gallop(base, b + 1, end, low[r])
        else:
            start = np.int64(block_at[b])
            width = (np.int64(block_at[b + 1]) - start) // LANES
            _unpack_block(words, start, width, np.int64(base[b]), out, o)
            o += BLOCK
            b += 1
    if tail_count:
        _unpack_tail(entry, tail, tail_count, out, o)
        o += tail_count
    out[o] = HIGHEST
    return out[: o + 1]


@kernel
def _gallop(base: I32, b: int, end: int, target: int) -> int:
    """The last block from b on whose base is below `target`: the first that can hold it."""
    step = 1
    while b + step < end and base[b + step] < target:
        b += step
        step *= 2
    while step > 1:
        step //= 2
        if b + step < end and base[b + step] < target:
            b += step
    return b


@kernel
def _retain(entry: U8, entry_at: U32, base: I32, block_at: U32, words: U32, i: int, starts: I32, offset: int) -> I32:
    """Those of the sorted starts for which `start + offset` is in list i; only blocks that can hold one are decoded."""
    n, _extra, block, tail = _read_head(entry, np.int64(entry_at[i]))
    end = block + n // BLOCK
    held = np.empty(BLOCK, dtype=np.int32)
    out = np.empty(starts.size, dtype=np.int32)
    count, b, j, size = 0, block - 1, 0, 0
    last = np.int64(-1)  # the largest value that the decoded block may hold
    for s in starts:
        target = np.int64(s) + offset
        if target > last and b < end:
            b = b + 1 if b + 1 >= end else _gallop(base, b + 1, end, target)
            j, size = 0, n % BLOCK
            last = np.int64(HIGHEST)
            if b < end:
                start = np.int64(block_at[b])
                _unpack_block(words, start, (np.int64(block_at[b + 1]) - start) // LANES, np.int64(base[b]), held, 0)
                size = BLOCK
                last = np.int64(held[BLOCK - 1])
                if target > last and b + 1 == end:
                    b, size, last = end, n % BLOCK, np.int64(HIGHEST)
            if b == end:
                _unpack_tail(entry, tail, size, held, 0)
        while j < size and held[j] < target:
            j += 1
        if j < size and held[j] == target:
            out[count] = s
            count += 1
    return out[:count]


@dataclass(slots=True)
class Encoded:
    """Encoded lists, as they go into a file."""

    entry: U8
    entry_at: I64
    base: I32
    block_at: I64
    words: U32


def encode(values: I32, at: I64, extra: I32) -> Encoded:
    """Encode lists laid end to end in `values`, list i ending at `at[i+1]`."""
    lengths = np.diff(at)
    blocks = int((lengths // BLOCK).sum())
    tails = lengths % BLOCK
    entry_room = int((20 + 4 * tails).sum()) + 16
    base = np.empty(blocks, dtype=np.int32)
    block_at = np.empty(blocks + 1, dtype=np.int64)
    words = np.empty(_word_room(values, at, blocks), dtype=np.uint32)
    entry, entry_at = np.empty(entry_room, dtype=np.uint8), np.empty(at.size, dtype=np.int64)
    used, _blocks = _encode(values, at, extra, entry, entry_at, base, block_at, words)
    words[block_at[-1] :] = 0
    return Encoded(entry[:used], entry_at, base, block_at, words)


@kernel
def _word_room(values: I32, at: I64, blocks: int) -> int:
    """Words that the blocks of all lists need, and the spare ones a reader may touch behind them."""
    total = 2 * LANES
    for i in range(at.size - 1):
        previous = np.int64(-1)
        for start in range(at[i], at[i + 1] - BLOCK + 1, BLOCK):
            largest = np.int64(0)
            for j in range(start, start + BLOCK):
                largest |= values[j] - previous - 1
                previous = np.int64(values[j])
            total += LANES * _width(largest)
    return total


def write_lists(writer: FileWriter, name: str, encoded: Encoded) -> None:
    """Store encoded lists under `name_*`."""
    writer.array(name + "_entry", encoded.entry)
    writer.array(name + "_entry_at", encoded.entry_at.astype(np.uint32))
    writer.array(name + "_base", encoded.base)
    writer.array(name + "_block_at", encoded.block_at.astype(np.uint32))
    writer.array(name + "_words", encoded.words)


class Lists:
    """Stored lists, decoded on demand."""

    def __init__(self, container: Container, name: str) -> None:
        parts = ("entry", "entry_at", "base", "block_at", "words")
        self._arrays: tuple[Any, ...] = tuple(container[f"{name}_{part}"] for part in parts)

    def __len__(self) -> int:
        return int(self._arrays[1].size - 1)

    def head(self, i: int) -> tuple[int, int]:
        """The list's length, and the number kept beside it."""
        n, extra = _head(self._arrays[0], self._arrays[1], i)
        return int(n), int(extra)

    def values(self, i: int) -> I32:
        """All values."""
        return _decode(*self._arrays, i, 0)  # type: ignore[no-any-return]

    def bounded(self, i: int) -> I32:
        """All values, between a sentinel below and one above all positions."""
        return _decode(*self._arrays, i, 1)  # type: ignore[no-any-return]

    def within(self, i: int, low: I32, high: I32) -> I32:
        """At least the values inside the sorted ranges [low, high), between sentinels."""
        return _decode_within(*self._arrays, i, low, high)  # type: ignore[no-any-return]

    def retain(self, i: int, starts: I32, offset: int) -> I32:
        """Those of the sorted `starts` for which `start + offset` is in list i."""
        return _retain(*self._arrays, i, starts, offset)  # type: ignore[no-any-return]
