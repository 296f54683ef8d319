"""Writes the compressed lists that `lists.py` describes and reads: measure each block, pack blocks and tails.

Knows nothing of terms, types, texts or mentions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.errors import StorageError
from fader.index.encoding.lists import BLOCK, GROUP, LANES, SPARE_WORDS
from fader.index.encoding.varint import put_varint
from fader.index.format import FileWriter
from fader.kernel import inline_kernel, kernel

EXCEPTION_BITS = 9
UNARY_STEP = 24  # ones that are written at once
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U32 = NDArray[np.uint32]
U8 = NDArray[np.uint8]


@inline_kernel
def _width(value: int) -> int:
    """The bits that a value below 2^32 needs, found by halving."""
    w = 0
    if value >> 16:
        value, w = value >> 16, 16
    if value >> 8:
        value, w = value >> 8, w + 8
    if value >> 4:
        value, w = value >> 4, w + 4
    if value >> 2:
        value, w = value >> 2, w + 2
    return w + min(value, 2)


@kernel
def _best_width(values: I32, start: int, base: int, histogram: I64) -> Any:
    """The width that makes a block smallest, and how many words the block then takes."""
    histogram[:] = 0
    previous = np.int64(base)
    for i in range(start, start + BLOCK):
        histogram[_width(values[i] - previous - 1)] += 1
        previous = np.int64(values[i])
    widest = 31
    while widest > 0 and histogram[widest] == 0:
        widest -= 1
    best, words, wider = widest, LANES * widest, 0
    for width in range(widest - 1, max(-1, widest - EXCEPTION_BITS - 1), -1):
        wider += histogram[width + 1]
        if LANES * width + (wider + 1) // 2 < words:
            best, words = width, LANES * width + (wider + 1) // 2
    return best, words


@kernel
def _pack_block(values: I32, start: int, base: int, width: int, words: U32, at: int, end: int) -> None:
    """Pack 128 gaps after `base` into `words[at:end]`. Of four lanes each gathers its bits until they fill a word."""
    U, full, low = np.uintp, np.uint64(32), np.uint64(0xFFFFFFFF)
    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    previous = np.int64(base)
    w0, w1, w2, w3 = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    used, out, p = np.uint64(0), U(at), U(start)
    wide = np.uint64(0)
    for _row in range(BLOCK // LANES):
        v0, v1 = np.int64(values[p]), np.int64(values[p + U(1)])
        v2, v3 = np.int64(values[p + U(2)]), np.int64(values[p + U(3)])
        g0, g1 = np.uint64(v0 - previous - 1), np.uint64(v1 - v0 - 1)
        g2, g3 = np.uint64(v2 - v1 - 1), np.uint64(v3 - v2 - 1)
        previous = v3
        p += U(LANES)
        wide |= g0 | g1 | g2 | g3
        w0 |= (g0 & mask) << used
        w1 |= (g1 & mask) << used
        w2 |= (g2 & mask) << used
        w3 |= (g3 & mask) << used
        used += np.uint64(width)
        if used >= full:
            words[out], words[out + U(1)] = np.uint32(w0 & low), np.uint32(w1 & low)
            words[out + U(2)], words[out + U(3)] = np.uint32(w2 & low), np.uint32(w3 & low)
            w0, w1, w2, w3 = w0 >> full, w1 >> full, w2 >> full, w3 >> full
            used -= full
            out += U(LANES)
    if wide > mask:
        _pack_exceptions(values, start, base, width, words[at + LANES * width : end])


@kernel
def _pack_exceptions(values: I32, start: int, base: int, width: int, words: U32) -> None:
    """What is left of the gaps that are wider, two to a word."""
    words[:] = 0
    previous = np.int64(base)
    n = 0
    for i in range(BLOCK):
        gap = np.uint64(values[start + i] - previous - 1)
        previous = np.int64(values[start + i])
        rest = gap >> np.uint64(width)
        if rest:
            words[n // 2] |= np.uint32((rest << np.uint64(7)) | np.uint64(i)) << np.uint32(16 * (n & 1))
            n += 1


@kernel
def _rice_parameter(values: I32, start: int, end: int) -> Any:
    """The low bits kept as they are that make the tail smallest; the rest of a gap is written in unary."""
    total = np.int64(values[end - 1]) - values[start] - (end - 1 - start)
    best = max(0, _width(total // max(1, end - 1 - start)) - 2)
    least = np.int64(-1)
    for k in range(best, best + 4):
        bits = np.int64(0)
        for i in range(start + 1, end):
            bits += ((np.int64(values[i]) - values[i - 1] - 1) >> k) + 1 + k
        if least < 0 or bits < least:
            best, least = k, bits
    return best


@kernel
def _pack_tail(values: I32, start: int, end: int, entry: U8, at: int) -> int:
    """Write the tail's first value, the parameter k, and its gaps in Rice code: q ones, a zero, k low bits."""
    at = put_varint(entry, at, np.int64(values[start]))
    if end - start < 2:
        return at
    k = _rice_parameter(values, start, end)
    entry[at] = np.uint8(k)
    at += 1
    held, bits = np.uint64(0), np.uint64(0)
    for i in range(start + 1, end):
        gap = np.int64(values[i]) - values[i - 1] - 1
        q = gap >> k
        while q >= UNARY_STEP:
            held, bits, at = _put_bits(entry, at, held, bits, (1 << UNARY_STEP) - 1, UNARY_STEP)
            q -= UNARY_STEP
        held, bits, at = _put_bits(entry, at, held, bits, (1 << q) - 1, q + 1)
        held, bits, at = _put_bits(entry, at, held, bits, gap & ((1 << k) - 1), k)
    if bits:
        entry[at] = np.uint8(held & np.uint64(0xFF))
        at += 1
    return at


@inline_kernel
def _put_bits(entry: U8, at: int, held: np.uint64, bits: np.uint64, value: int, count: int) -> Any:
    """Put up to 32 bits behind the up to seven that are held, and write the bytes that are full."""
    held |= np.uint64(value) << bits
    bits += np.uint64(count)
    while bits >= np.uint64(8):
        entry[at] = np.uint8(held & np.uint64(0xFF))
        held >>= np.uint64(8)
        bits -= np.uint64(8)
        at += 1
    return held, bits, at


@kernel
def _encode(
    values: I32, at: I64, extra: I32, entry: U8, entry_at: I64, base: I32, width: U8, block_at: I64, words: U32
) -> int:
    """Encode list i = `values[at[i]:at[i+1]]`, the blocks already measured; returns the bytes of entries."""
    e = 0
    b = 0
    for i in range(at.size - 1):
        if i % GROUP == 0:
            entry_at[i // GROUP] = e
        start, end = at[i], at[i + 1]
        e = put_varint(entry, e, end - start)
        if end > start:
            e = put_varint(entry, e, np.int64(extra[i]))
        if end - start >= BLOCK:
            e = put_varint(entry, e, b)
        previous = np.int64(-1)
        while end - start >= BLOCK:
            base[b] = previous
            _pack_block(values, start, previous, np.int64(width[b]), words, block_at[b], block_at[b + 1])
            previous = np.int64(values[start + BLOCK - 1])
            start += BLOCK
            b += 1
        if end > start:
            e = _pack_tail(values, start, end, entry, e)
    return e


@dataclass(slots=True)
class EncodedLists:
    """Encoded lists, as they go into a file."""

    entry: U8
    entry_at: I64
    base: I32
    width: U8
    block_at: I64
    words: U32
    lists: int


@kernel
def _measure(values: I32, at: I64, width: U8, block_at: I64) -> None:
    """The width of each block of each list, and where its words begin and end."""
    histogram = np.zeros(33, dtype=np.int64)
    b = 0
    block_at[0] = 0
    for i in range(at.size - 1):
        previous = np.int64(-1)
        for start in range(at[i], at[i + 1] - BLOCK + 1, BLOCK):
            best, words = _best_width(values, start, previous, histogram)
            width[b] = best
            block_at[b + 1] = block_at[b] + words
            previous = np.int64(values[start + BLOCK - 1])
            b += 1


def encode_lists(values: I32, at: I64, extra: I32) -> EncodedLists:
    """Encode lists laid end to end in `values`, list i ending at `at[i+1]`."""
    lengths = np.diff(at)
    blocks = int((lengths // BLOCK).sum())
    base, width = np.empty(blocks, dtype=np.int32), np.empty(blocks, dtype=np.uint8)
    block_at = np.empty(blocks + 1, dtype=np.int64)
    _measure(values, at, width, block_at)
    words = np.zeros(block_at[-1] + SPARE_WORDS, dtype=np.uint32)
    entry = np.empty(int((24 + 5 * (lengths % BLOCK)).sum()) + 16, dtype=np.uint8)
    entry_at = np.zeros(-(-lengths.size // GROUP), dtype=np.int64)
    used = _encode(values, at, extra, entry, entry_at, base, width, block_at, words)
    return EncodedLists(entry[:used], entry_at, base, width, block_at, words, lengths.size)


def write_lists(writer: FileWriter, name: str, encoded: EncodedLists) -> None:
    """Store encoded lists under `name_*`."""
    if max(encoded.entry.size, encoded.words.size) >= 1 << 32:
        raise StorageError(f"{writer.path}: a segment's lists pass 4 G words; build with less memory per segment")
    writer.array(name + "_entry", encoded.entry)
    writer.array(name + "_entry_at", encoded.entry_at.astype(np.uint32))
    writer.array(name + "_base", encoded.base)
    writer.array(name + "_width", encoded.width)
    writer.array(name + "_block_at", encoded.block_at.astype(np.uint32))
    writer.array(name + "_words", encoded.words)
    writer.meta[name + "_lists"] = encoded.lists
