"""Columns of non-negative integers with random access: blocks of 128 rows, each with its own base and width.

    row i of block b = base[b] + (bits [(i mod 128) x width, +width) of words[at[b] : at[b+1]]), width = words / 4

Knows nothing of what the columns mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.index.encoding.shapes import Source, check_array, check_count, check_offsets, damage_error
from fader.index.format import FileWriter
from fader.kernel import inline_kernel, kernel

BLOCK = 128
MOST_BITS = 32
I32 = NDArray[np.int32]
U32 = NDArray[np.uint32]


@kernel
def _pack(values: I32, base: I32, at: NDArray[np.int64], words: U32) -> None:
    w = 0
    for b in range(base.size):
        start, end = b * BLOCK, min(values.size, b * BLOCK + BLOCK)
        low, high = np.int64(values[start]), np.int64(values[start])
        for i in range(start, end):
            low, high = min(low, np.int64(values[i])), max(high, np.int64(values[i]))
        width = 0
        while (high - low) >> width:
            width += 1
        base[b] = low
        at[b] = w
        for i in range(4 * width):
            words[w + i] = np.uint32(0)
        for i in range(start, end):
            bit = (i - start) * width
            shifted = np.uint64(values[i] - low) << np.uint64(bit & 31)
            if width:
                words[w + (bit >> 5)] |= np.uint32(shifted & np.uint64(0xFFFFFFFF))
            if (bit & 31) + width > 32:
                words[w + (bit >> 5) + 1] |= np.uint32(shifted >> np.uint64(32))
        w += 4 * width
    at[base.size] = w


@inline_kernel
def get(base: I32, at: U32, words: U32, i: int) -> np.int32:
    """Row i. Unsigned throughout, and two words are read whether the second is needed or not: no branch."""
    U = np.uintp
    b = U(i) >> U(7)
    start = U(at[b])
    width = (U(at[b + U(1)]) - start) >> U(2)
    bit = (U(i) & U(127)) * width
    word = start + (bit >> U(5))
    both = np.uint64(words[word]) | np.uint64(words[word + U(1)]) << np.uint64(32)
    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    return np.int32(base[b] + np.int32((both >> np.uint64(bit & U(31))) & mask))


@kernel
def _gather(base: I32, at: U32, words: U32, rows: I32) -> I32:
    out = np.empty(rows.size, dtype=np.int32)
    for i in range(rows.size):
        out[np.uintp(i)] = get(base, at, words, rows[np.uintp(i)])
    return out


def write_packed(writer: FileWriter, name: str, values: I32) -> None:
    """Store a column under `name_*`."""
    blocks = -(-values.size // BLOCK)
    base, at = np.zeros(blocks, dtype=np.int32), np.zeros(blocks + 1, dtype=np.int64)
    words = np.zeros(4 * 32 * blocks + 2, dtype=np.uint32)
    _pack(values, base, at, words)
    writer.array(name + "_base", base)
    writer.array(name + "_at", at.astype(np.uint32))
    writer.array(name + "_words", words[: at[-1] + 2])
    writer.meta[name + "_rows"] = int(values.size)


class Packed:
    """A stored column."""

    def __init__(self, container: Source, name: str, rows: int | None = None) -> None:
        self.rows = check_count(container, name + "_rows")
        if rows is not None and rows != self.rows:
            raise damage_error(container, f"column {name!r} has {self.rows} rows, not {rows}")
        blocks = -(-self.rows // BLOCK)
        base = check_array(container, name + "_base", "i4", size=blocks)
        words = check_array(container, name + "_words", "u4")
        at = check_offsets(container, name + "_at", blocks, words.size - 2, "u4")
        sizes = np.diff(at)
        if (sizes % 4).any() or (sizes > 4 * MOST_BITS).any():
            raise damage_error(container, f"column {name!r} has a block of a width that does not exist")
        self.arrays: tuple[Any, Any, Any] = (base, at, words)

    def gather(self, rows: I32) -> I32:
        """The values of some rows."""
        return budget.gather_chunks(  # type: ignore[no-any-return]
            rows.size, lambda a, b: _gather(*self.arrays, rows[a:b])
        )

    def all(self) -> I32:
        """The whole column."""
        return self.gather(np.arange(self.rows, dtype=np.int32))


def check_ends(source: Source, name: str, column: Packed, end: int) -> I32:
    """A column of where rows begin that lie end to end from 0 to `end`, decoded."""
    ends = column.all()
    if not ends.size or ends[0] != 0 or ends[-1] != end or (ends[1:] < ends[:-1]).any():
        raise damage_error(source, f"column {name!r} does not run from 0 to {end}")
    return ends
