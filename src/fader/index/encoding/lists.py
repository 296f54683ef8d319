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
They are written by `list_writer.py`. Nothing stored is believed: arrays are checked when they are opened, reading never
leaves them, and a list whose values do not ascend below the bound is refused when it is decoded. Knows nothing of
terms, types, texts or mentions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.index.encoding.shapes import Source, check_array, check_count, check_offsets, damage_error
from fader.index.encoding.varint import get_varint
from fader.kernel import inline_kernel, kernel

BLOCK = 128
LANES = 4
GROUP = 16
SPARE_WORDS = 2 * LANES
MOST_UNARY = 1 << 20  # a damaged tail must end somewhere
MOST_BITS = 31
MOST_EXCEPTION_WORDS = BLOCK // 2
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U32 = NDArray[np.uint32]
U8 = NDArray[np.uint8]
LOWEST = np.int32(-(1 << 30))
HIGHEST = np.int32((1 << 31) - 1)
_NONE = np.empty(0, dtype=np.int32)


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
    k = np.int64(0)
    if at < entry.size:
        k = min(np.int64(MOST_BITS), np.int64(entry[at]))
        at += 1
    held, bits = np.uint64(0), np.int64(0)
    for i in range(1, count):
        q = np.int64(0)
        while True:
            if bits == 0:
                held, bits = np.uint64(0), np.int64(8)
                if at < entry.size:
                    held, at = np.uint64(entry[at]), at + 1
            one = held & np.uint64(1)
            held >>= np.uint64(1)
            bits -= 1
            if one == np.uint64(0) or q > MOST_UNARY:
                break
            q += 1
        while bits < k:
            if at < entry.size:
                held |= np.uint64(entry[at]) << np.uint64(bits)
                at += 1
            bits += 8
        value += (q << k) + np.int64(held & ((np.uint64(1) << np.uint64(k)) - np.uint64(1))) + 1
        held >>= np.uint64(k)
        bits -= k
        out[o + i] = np.int32(value)
    return at


@kernel
def _head(entry: U8, entry_at: U32, i: int) -> tuple[int, int]:
    n, extra, _block, _tail = _read_head(entry, _seek(entry, entry_at, i))
    return n, extra


@inline_kernel
def _is_there(n: int, block: int, base: I32, end: int) -> bool:
    """Whether a list can have so many values below `end`, and its blocks are there."""
    return n <= end and block + n // BLOCK <= base.size


@kernel
def ascends(values: I32, end: int) -> bool:
    """Whether values ascend from 0 on, below `end`."""
    wrong = False
    for j in range(1, values.size):  # without a way out, so that it runs over many at a time
        wrong |= values[j] <= values[j - 1]
    return not wrong and (values.size == 0 or (values[0] >= 0 and values[values.size - 1] < end))


@kernel
def decode_list(arrays: Any, i: int, margin: int, end: int) -> Any:
    """All values of list i, and whether they are sound; with `margin` 1 a sentinel stands before and after them."""
    entry, entry_at, base, width, block_at, words = arrays
    n, _extra, block, tail = _read_head(entry, _seek(entry, entry_at, i))
    if not _is_there(n, block, base, end):
        return np.empty(0, dtype=np.int32), False
    out = np.empty(n + 2 * margin, dtype=np.int32)
    o = margin
    for b in range(block, block + n // BLOCK):
        _unpack_block(base, width, block_at, words, b, out, o)
        o += BLOCK
    _end(entry, tail, n, out, margin)
    return out, ascends(out[margin : margin + n], end)


@inline_kernel
def _end(entry: U8, tail: int, n: int, out: I32, margin: int) -> None:
    """Put the tail behind the blocks of a list, and the sentinels around them."""
    _unpack_tail(entry, tail, n % BLOCK, out, margin + n - n % BLOCK)
    if margin:
        out[0] = LOWEST
        out[n + 1] = HIGHEST


@kernel
def _decode_part(arrays: Any, i: int, first: int, last: int, margin: int, out: I32) -> bool:
    """The blocks [first, last) of list i in their places, behind the last one its end; whether they are there."""
    entry, entry_at, base, width, block_at, words = arrays
    n, _extra, block, tail = _read_head(entry, _seek(entry, entry_at, i))
    if not _is_there(n, block, base, out.size) or n + 2 * margin != out.size:
        return False
    for b in range(first, last):
        _unpack_block(base, width, block_at, words, block + b, out, margin + b * BLOCK)
    if last == n // BLOCK:
        _end(entry, tail, n, out, margin)
    return True


@kernel
def _decode_within(arrays: Any, i: int, low: I32, high: I32, limit: int) -> Any:
    """The values of list i in blocks that touch one of the sorted, disjoint ranges [low, high), with sentinels, and
    whether they are sound.

    A superset of the values in the ranges: every value inside a range is there, some outside may be.
    """
    entry, entry_at, base, width, block_at, words = arrays
    n, _extra, block, tail = _read_head(entry, _seek(entry, entry_at, i))
    if not _is_there(n, block, base, limit):
        return np.empty(0, dtype=np.int32), False
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
    return out[: o + 1], ascends(out[1:o], limit)


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
def _retain(arrays: Any, i: int, starts: I32, offset: int, limit: int) -> Any:
    """Those of the sorted starts for which `start + offset` is in list i, and whether what was read of it is sound;
    only blocks that can hold one are decoded."""
    entry, entry_at, base, width, block_at, words = arrays
    n, _extra, block, tail = _read_head(entry, _seek(entry, entry_at, i))
    out = np.empty(starts.size, dtype=np.int32)
    is_sound = _is_there(n, block, base, limit)
    if not is_sound:
        return out[:0], is_sound
    end = block + n // BLOCK
    held = np.empty(BLOCK, dtype=np.int32)
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
                is_sound = is_sound and ascends(held, limit)
                last = np.int64(held[BLOCK - 1])
                if target > last and b + 1 == end:
                    b, size, last = end, n % BLOCK, np.int64(HIGHEST)
            if b == end:
                _unpack_tail(entry, tail, size, held, 0)
                is_sound = is_sound and ascends(held[:size], limit)
        while j < size and held[j] < target:
            j += 1
        if j < size and held[j] == target:
            out[count] = s
            count += 1
    return out[:count], is_sound


@kernel
def _decode_all(arrays: Any, lists: int, end: int) -> Any:
    """All lists laid end to end, where each one begins, and whether they are sound; entries are read one after the
    other, and so are blocks: what two lists share would be decoded without bound."""
    entry, _entry_at, base, width, block_at, words = arrays
    at = np.zeros(lists + 1, dtype=np.int64)
    out, skipped = np.empty(0, dtype=np.int32), np.empty(BLOCK, dtype=np.int32)
    is_sound = True
    for fill in range(2):
        p, next_block = np.int64(0), np.int64(0)
        for i in range(lists):
            n, _extra, block, p = _read_head(entry, p)
            if not _is_there(n, block, base, end) or (n >= BLOCK and block != next_block):
                return np.empty(0, dtype=np.int32), at, False
            next_block += n // BLOCK
            if fill:
                for b in range(n // BLOCK):
                    _unpack_block(base, width, block_at, words, block + b, out, at[i] + b * BLOCK)
                p = _unpack_tail(entry, p, n % BLOCK, out, at[i + 1] - n % BLOCK)
                is_sound = is_sound and ascends(out[at[i] : at[i + 1]], end)
            else:
                at[i + 1] = at[i] + n
                p = _unpack_tail(entry, p, n % BLOCK, skipped, 0)
        if not fill:
            out = np.empty(at[lists], dtype=np.int32)
    return out, at, is_sound


class Lists:
    """Stored lists of values below `end`, decoded on demand."""

    def __init__(self, container: Source, name: str, end: int = int(HIGHEST)) -> None:
        self._container, self._name, self._end = container, name, end
        self._lists = check_count(container, name + "_lists")
        entry = check_array(container, name + "_entry", "u1")
        if self._lists > entry.size:
            raise damage_error(container, f"list {name!r} has {self._lists} entries in {entry.size} bytes")
        entry_at = check_array(container, name + "_entry_at", "u4", size=-(-self._lists // GROUP))
        base = check_array(container, name + "_base", "i4")
        width = check_array(container, name + "_width", "u1", size=base.size)
        words = check_array(container, name + "_words", "u4")
        block_at = check_offsets(container, name + "_block_at", base.size, words.size - SPARE_WORDS, "u4")
        exceptions = np.diff(block_at.astype(np.int64)) - LANES * width.astype(np.int64)
        if (width > MOST_BITS).any() or (exceptions < 0).any() or (exceptions > MOST_EXCEPTION_WORDS).any():
            raise damage_error(container, f"list {name!r} has a block of a width that does not fit its words")
        self.arrays: tuple[Any, ...] = (entry, entry_at, base, width, block_at, words)

    def __len__(self) -> int:
        return self._lists

    def head(self, i: int) -> tuple[int, int]:
        """The list's length, and the number kept beside it."""
        self._check_number(i)
        n, extra = _head(self.arrays[0], self.arrays[1], i)
        self._check(i, n <= self._end)
        return int(n), int(extra)

    def values(self, i: int) -> I32:
        """All values."""
        return self._decode_list(i, 0)

    def all(self) -> tuple[I32, I64]:
        """All lists laid end to end, and where each one begins."""
        out, at, is_sound = _decode_all(self.arrays, self._lists, self._end)
        if not is_sound:
            raise damage_error(self._container, f"one of the lists {self._name!r} is not sorted, or leaves its bounds")
        return out, at

    def decode_bounded(self, i: int) -> I32:
        """All values, between a sentinel below and one above all positions."""
        return self._decode_list(i, 1)

    def _decode_list(self, i: int, margin: int) -> I32:
        """All values; a long list in pieces where time is counted."""
        n = self.head(i)[0] if budget.is_counted() else 0
        if n <= budget.CHUNK:
            self._check_number(i)
            out, is_sound = decode_list(self.arrays, i, margin, self._end)
            return self._check(i, is_sound, out)
        out = np.empty(n + 2 * margin, dtype=np.int32)
        is_sound = True
        for first, last in budget.chunks(n // BLOCK, weight=BLOCK):
            is_sound = is_sound and _decode_part(self.arrays, i, first, last, margin, out)
        for a, b in budget.chunks(n):
            is_sound = is_sound and ascends(out[margin + max(0, a - 1) : margin + b], self._end)
        return self._check(i, is_sound, out)

    def within(self, i: int, low: I32, high: I32) -> I32:
        """At least the values inside the sorted ranges [low, high), between sentinels."""
        self._check_number(i)
        out, is_sound = _decode_within(self.arrays, i, low, high, self._end)
        return self._check(i, is_sound, out)

    def retain(self, i: int, starts: I32, offset: int) -> I32:
        """Those of the sorted `starts` for which `start + offset` is in list i."""
        self._check_number(i)

        def part(a: int, b: int) -> I32:
            out, is_sound = _retain(self.arrays, i, starts[a:b], offset, self._end)
            return self._check(i, is_sound, out)

        return budget.gather_chunks(starts.size, part)  # type: ignore[no-any-return]

    def _check_number(self, i: int) -> None:
        if not 0 <= i < self._lists:
            raise IndexError(i)

    def _check(self, i: int, is_sound: bool, values: I32 = _NONE) -> I32:
        """The values of list i, if they are sound."""
        if not is_sound:
            raise damage_error(self._container, f"list {i} of {self._name!r} is not sorted, or leaves its bounds")
        return values
