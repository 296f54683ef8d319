"""Sorted lists of integers, compressed: the postings of terms and the mention rows of types.

A list of n strictly increasing values is cut into blocks of 128; block b stores the gaps minus one to its
predecessor. What is left over (n mod 128) is the tail.

    entry := varint n, varint extra (postings: documents with the term; absent for n = 0)
             if n >= 128: varint first block
             if n mod 128 > 0: varint first value of the tail, and, if it has more, k:u8 and its gaps in Rice code,
             each q ones, a zero and k low bits, filling bytes from the lowest bit
    entry_at[g] = where entry 16 g begins; the entries between are passed over one by one
    base[b]  = the value before the block's first (-1 for none)
    width[b] = bits of a gap in words[at[b] : at[b] + 4 width[b]]: gap i lies in lane i mod 4 at bit (i div 4) x width,
               so that unpacking four lanes is one vector step. Gaps that are wider put what is left of them, and
               their number, into the words up to at[b+1], two 16-bit exceptions (rest << 7 | number) a word

`base` lets a reader pass over blocks without decoding them. The width of a block is the one that makes it smallest
(patched frame of reference: Zukowski et al., "Super-scalar RAM-CPU cache compression", ICDE 2006).
They are written by `list_writer.py`. Knows nothing of terms, types, texts or mentions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.index.encoding.varint import get_varint
from fader.index.format import Container
from fader.kernel import inline_kernel, kernel

BLOCK = 128
LANES = 4
GROUP = 16
SPARE_WORDS = 2 * LANES
MOST_UNARY = 1 << 20  # a damaged tail must end somewhere
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U32 = NDArray[np.uint32]
U8 = NDArray[np.uint8]
LOWEST = np.int32(-(1 << 30))
HIGHEST = np.int32((1 << 31) - 1)


@kernel
def _unpack_block(base: I32, width: U8, block_at: U32, words: U32, b: int, out: I32, o: int) -> None:
    """Decode block b into `out[o:o+128]`.

    Each lane reads two words whether it needs the second or not, so that the loop has no branch; the array ends
    with spare words for that. Indexes are unsigned, because a signed one costs a test for being negative.
    """
    U = np.uintp
    w = np.int64(width[b])
    at, end = U(block_at[b]), U(block_at[b + 1])
    mask = np.uint32((np.uint64(1) << np.uint64(w)) - np.uint64(1))
    high = np.uint64(32)
    p, bit = U(o), U(0)
    for _row in range(BLOCK // LANES):
        k = at + (bit >> U(5)) * U(4)
        shift = np.uint64(bit & U(31))
        b0 = np.uint64(words[k]) | np.uint64(words[k + U(4)]) << high
        b1 = np.uint64(words[k + U(1)]) | np.uint64(words[k + U(5)]) << high
        b2 = np.uint64(words[k + U(2)]) | np.uint64(words[k + U(6)]) << high
        b3 = np.uint64(words[k + U(3)]) | np.uint64(words[k + U(7)]) << high
        out[p] = np.int32(np.uint32(b0 >> shift) & mask)
        out[p + U(1)] = np.int32(np.uint32(b1 >> shift) & mask)
        out[p + U(2)] = np.int32(np.uint32(b2 >> shift) & mask)
        out[p + U(3)] = np.int32(np.uint32(b3 >> shift) & mask)
        p += U(4)
        bit += U(w)
    for x in range(at + U(LANES * w), end):
        for exception in (words[x] & np.uint32(0xFFFF), words[x] >> np.uint32(16)):
            out[U(o) + U(exception & np.uint32(127))] += np.int32((exception >> np.uint32(7)) << np.uint32(w))
    _add_up(out, U(o), np.int32(base[b]))


@inline_kernel
def _add_up(out: I32, p: np.uintp, value: np.int32) -> None:
    """Gaps to values, four at a time, because one running sum would wait for itself."""
    U, one = np.uintp, np.int32(1)
    for _row in range(BLOCK // LANES):
        s1 = np.int32(out[p] + one)
        s2 = np.int32(s1 + out[p + U(1)] + one)
        s3 = np.int32(s2 + out[p + U(2)] + one)
        s4 = np.int32(s3 + out[p + U(3)] + one)
        out[p] = np.int32(value + s1)
        out[p + U(1)] = np.int32(value + s2)
        out[p + U(2)] = np.int32(value + s3)
        value = np.int32(value + s4)
        out[p + U(3)] = value
        p += U(4)


@kernel
def _seek(entry: U8, entry_at: U32, i: int) -> Any:
    """Where entry i begins."""
    at = np.int64(entry_at[i // GROUP])
    if i % GROUP:
        skipped = np.empty(BLOCK, dtype=np.int32)
        for _ in range(i % GROUP):
            n, _extra, _block, at = _read_head(entry, at)
            at = _unpack_tail(entry, at, n % BLOCK, skipped, 0)
    return at


@inline_kernel
def _read_head(entry: U8, at: int) -> Any:
    """Count, extra, first block and where the tail begins."""
    n, at = get_varint(entry, at)
    extra = np.int64(0)
    block = np.int64(0)
    if n > 0:
        extra, at = get_varint(entry, at)
    if n >= BLOCK:
        block, at = get_varint(entry, at)
    return n, extra, block, at


@kernel
def _unpack_tail(entry: U8, at: int, count: int, out: I32, o: int) -> Any:
    """Decode a tail into `out[o:o+count]`; returns the place behind it."""
    if count == 0:
        return at
    value, at = get_varint(entry, at)
    out[o] = np.int32(value)
    if count == 1:
        return at
    k = np.int64(entry[at])
    at += 1
    held, bits = np.uint64(0), np.int64(0)
    for i in range(1, count):
        q = np.int64(0)
        while True:
            if bits == 0:
                held, bits, at = np.uint64(entry[at]), np.int64(8), at + 1
            one = held & np.uint64(1)
            held >>= np.uint64(1)
            bits -= 1
            if one == np.uint64(0) or q > MOST_UNARY:
                break
            q += 1
        while bits < k:
            held |= np.uint64(entry[at]) << np.uint64(bits)
            bits += 8
            at += 1
        value += (q << k) + np.int64(held & ((np.uint64(1) << np.uint64(k)) - np.uint64(1))) + 1
        held >>= np.uint64(k)
        bits -= k
        out[o + i] = np.int32(value)
    return at


@kernel
def _head(entry: U8, entry_at: U32, i: int) -> tuple[int, int]:
    n, extra, _block, _tail = _read_head(entry, _seek(entry, entry_at, i))
    return n, extra


@kernel
def _decode(entry: U8, entry_at: U32, base: I32, width: U8, block_at: U32, words: U32, i: int, margin: int) -> I32:
    """All values of list i; with `margin` 1 a sentinel stands before and after them."""
    n, _extra, block, tail = _read_head(entry, _seek(entry, entry_at, i))
    out = np.empty(n + 2 * margin, dtype=np.int32)
    o = margin
    for b in range(block, block + n // BLOCK):
        _unpack_block(base, width, block_at, words, b, out, o)
        o += BLOCK
    _end(entry, tail, n, out, margin)
    return out


@inline_kernel
def _end(entry: U8, tail: int, n: int, out: I32, margin: int) -> None:
    """Put the tail behind the blocks of a list, and the sentinels around them."""
    _unpack_tail(entry, tail, n % BLOCK, out, margin + n - n % BLOCK)
    if margin:
        out[0] = LOWEST
        out[n + 1] = HIGHEST


@kernel
def _decode_part(arrays: Any, i: int, first: int, last: int, margin: int, out: I32) -> None:
    """The blocks [first, last) of list i in their places; behind the last one its end."""
    entry, entry_at, base, width, block_at, words = arrays
    n, _extra, block, tail = _read_head(entry, _seek(entry, entry_at, i))
    for b in range(first, last):
        _unpack_block(base, width, block_at, words, block + b, out, margin + b * BLOCK)
    if last == n // BLOCK:
        _end(entry, tail, n, out, margin)


@kernel
def _decode_within(
    entry: U8, entry_at: U32, base: I32, width: U8, block_at: U32, words: U32, i: int, low: I32, high: I32
) -> I32:
    """The values of list i in blocks that touch one of the sorted, disjoint ranges [low, high), with sentinels.

    A superset of the values in the ranges: every value inside a range is there, some outside may be.
    """
    n, _extra, block, tail = _read_head(entry, _seek(entry, entry_at, i))
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
            _unpack_block(base, width, block_at, words, b, out, o)
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
def _retain(
    entry: U8, entry_at: U32, base: I32, width: U8, block_at: U32, words: U32, i: int, starts: I32, offset: int
) -> I32:
    """Those of the sorted starts for which `start + offset` is in list i; only blocks that can hold one are decoded."""
    n, _extra, block, tail = _read_head(entry, _seek(entry, entry_at, i))
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
                _unpack_block(base, width, block_at, words, b, held, 0)
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


@kernel
def _decode_all(entry: U8, base: I32, width: U8, block_at: U32, words: U32, lists: int) -> Any:
    """All lists laid end to end, and where each one begins; entries are read one after the other."""
    at = np.zeros(lists + 1, dtype=np.int64)
    out, skipped = np.empty(0, dtype=np.int32), np.empty(BLOCK, dtype=np.int32)
    for fill in range(2):
        p = np.int64(0)
        for i in range(lists):
            n, _extra, block, p = _read_head(entry, p)
            if fill:
                for b in range(n // BLOCK):
                    _unpack_block(base, width, block_at, words, block + b, out, at[i] + b * BLOCK)
                p = _unpack_tail(entry, p, n % BLOCK, out, at[i + 1] - n % BLOCK)
            else:
                at[i + 1] = at[i] + n
                p = _unpack_tail(entry, p, n % BLOCK, skipped, 0)
        if not fill:
            out = np.empty(at[lists], dtype=np.int32)
    return out, at


class Lists:
    """Stored lists, decoded on demand."""

    def __init__(self, container: Container, name: str) -> None:
        parts = ("entry", "entry_at", "base", "width", "block_at", "words")
        self._arrays: tuple[Any, ...] = tuple(container[f"{name}_{part}"] for part in parts)
        self._lists = int(container.meta[name + "_lists"])

    def __len__(self) -> int:
        return self._lists

    def head(self, i: int) -> tuple[int, int]:
        """The list's length, and the number kept beside it."""
        n, extra = _head(self._arrays[0], self._arrays[1], i)
        return int(n), int(extra)

    def values(self, i: int) -> I32:
        """All values."""
        return self._decode_list(i, 0)

    def all(self) -> tuple[I32, I64]:
        """All lists laid end to end, and where each one begins."""
        entry, _entry_at, *blocks = self._arrays
        return _decode_all(entry, *blocks, self._lists)  # type: ignore[no-any-return]

    def decode_bounded(self, i: int) -> I32:
        """All values, between a sentinel below and one above all positions."""
        return self._decode_list(i, 1)

    def _decode_list(self, i: int, margin: int) -> I32:
        """All values; a long list in pieces where time is counted."""
        n = self.head(i)[0] if budget.is_counted() else 0
        if n <= budget.CHUNK:
            return _decode(*self._arrays, i, margin)  # type: ignore[no-any-return]
        out = np.empty(n + 2 * margin, dtype=np.int32)
        for first, last in budget.chunks(n // BLOCK, weight=BLOCK):
            _decode_part(self._arrays, i, first, last, margin, out)
        return out

    def within(self, i: int, low: I32, high: I32) -> I32:
        """At least the values inside the sorted ranges [low, high), between sentinels."""
        return _decode_within(*self._arrays, i, low, high)  # type: ignore[no-any-return]

    def retain(self, i: int, starts: I32, offset: int) -> I32:
        """Those of the sorted `starts` for which `start + offset` is in list i."""
        return budget.gather_chunks(  # type: ignore[no-any-return]
            starts.size, lambda a, b: _retain(*self._arrays, i, starts[a:b], offset)
        )
