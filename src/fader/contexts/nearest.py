"""Kernels: for every mention the nearest occurrence of a literal, on one line of positions.

A literal's occurrences are one sorted array of start positions between two sentinels; documents are ranges
[low, high) of the same line. Knows nothing of segments, terms or queries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fader.index.segment import CELL_BITS
from fader.kernel import inline_kernel, kernel

I8 = NDArray[np.int8]
I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]
FAR = np.int32((1 << 31) - 1)


@inline_kernel
def _lower_bound(occurrences: I32, key: int) -> int:
    low, high = 0, occurrences.size
    while low < high:
        middle = (low + high) >> 1
        if occurrences[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def first_after(start: I32, shift: int, occurrences: I32) -> I32:
    """For each mention the first occurrence at or behind `start - shift`: the first not wholly to its left.

    A merge of two sorted arrays without a branch on the data: every step either takes a mention or passes an
    occurrence, and the last write to `out[i]` is the right one. A step waits for its own load, so four merges of
    four quarters run side by side. The upper sentinel stops every merge.
    """
    U = np.uintp
    n = start.size
    out = np.empty(n, dtype=np.int32)
    s = np.int32(shift)
    quarter = n // 4
    i0, i1, i2, i3 = U(0), U(quarter), U(2 * quarter), U(3 * quarter)
    e0, e1, e2, e3 = i1, i2, i3, U(n)
    j0 = j1 = j2 = j3 = U(0)
    if quarter > 0:
        j1 = U(_lower_bound(occurrences, start[i1] - s))
        j2 = U(_lower_bound(occurrences, start[i2] - s))
        j3 = U(_lower_bound(occurrences, start[i3] - s))
        while i0 < e0 and i1 < e1 and i2 < e2 and i3 < e3:
            c0 = U(occurrences[j0] < np.int32(start[i0] - s))
            c1 = U(occurrences[j1] < np.int32(start[i1] - s))
            c2 = U(occurrences[j2] < np.int32(start[i2] - s))
            c3 = U(occurrences[j3] < np.int32(start[i3] - s))
            out[i0] = np.int32(j0)
            out[i1] = np.int32(j1)
            out[i2] = np.int32(j2)
            out[i3] = np.int32(j3)
            j0 += c0
            j1 += c1
            j2 += c2
            j3 += c3
            i0 += U(1) - c0
            i1 += U(1) - c1
            i2 += U(1) - c2
            i3 += U(1) - c3
    _merge(start, s, occurrences, out, i0, e0, j0)
    _merge(start, s, occurrences, out, i1, e1, j1)
    _merge(start, s, occurrences, out, i2, e2, j2)
    _merge(start, s, occurrences, out, i3, e3, j3)
    return out


@kernel
def _merge(start: I32, s: np.int32, occurrences: I32, out: I32, i: np.uintp, end: np.uintp, j: np.uintp) -> None:
    while i < end:
        c = np.uintp(occurrences[j] < np.int32(start[i] - s))
        out[i] = np.int32(j)
        j += c
        i += np.uintp(1) - c


@kernel
def distances(
    start: I32, end: I32, low: I32, high: I32, occurrences: I32, at: I32, length: int, distance: I32, side: I8
) -> None:
    """Distance and side of the occurrence nearest to each mention inside its document; on a tie left wins.

    `at[i]` is the first occurrence not wholly to the left; one that begins before the mention's end overlaps it.
    """
    n = np.int32(length)
    for k in range(start.size):
        i = np.uintp(k)
        right = occurrences[np.uintp(at[i])]
        left = occurrences[np.uintp(at[i]) - np.uintp(1)]
        to_left = np.int32(start[i] - left - n + 1) if left >= low[i] else FAR
        to_right = np.int32(right - end[i] + 1) if right < high[i] else FAR
        nearest = min(to_left, to_right)
        where = np.int8(-1) if to_left <= to_right else np.int8(1)
        overlaps = right < end[i]
        if overlaps or nearest == FAR:
            where = np.int8(0)
        if nearest == FAR:
            nearest = np.int32(-1)
        distance[i] = np.int32(0) if overlaps else nearest
        side[i] = where


@kernel
def distances_beside(
    start: I32, end: I32, low: I32, high: I32, occurrences: I32, at: I32, length: int, distance: I32, side: I8
) -> None:
    """The same with occurrences that overlap the mention ignored."""
    n = np.int32(length)
    for i in range(start.size):
        j = at[i]
        left = occurrences[j - 1]
        while occurrences[j] < end[i]:
            j += 1
        right = occurrences[j]
        to_left = np.int32(start[i] - left - n + 1) if left >= low[i] else FAR
        to_right = np.int32(right - end[i] + 1) if right < high[i] else FAR
        nearest = min(to_left, to_right)
        absent = nearest == FAR
        distance[i] = np.int32(-1) if absent else nearest
        side[i] = np.int8(0) if absent else (np.int8(-1) if to_left <= to_right else np.int8(1))


@kernel
def mark_documents(occurrences: I32, base: I32, cell: I32, marks: U8) -> None:
    """Set the mark of every document with an occurrence; the sentinels at both ends are passed over.

    `cell[p >> CELL_BITS]` is the document of a cell's first position, so a document is found in a step or two,
    without waiting for the one before.
    """
    U = np.uintp
    for k in range(1, occurrences.size - 1):
        p = occurrences[U(k)]
        c = U(p) >> U(CELL_BITS)
        d = U(cell[c])
        last = U(cell[c + U(1)])
        if last - d <= U(1):
            d += U(base[d + U(1)] <= p)
        else:
            while base[d + U(1)] <= p:
                d += U(1)
        marks[d] = 1


@kernel
def where(flags: U8) -> I32:
    """The indexes of the set flags, without a branch."""
    out = np.empty(flags.size + 1, dtype=np.int32)
    n = np.uintp(0)
    for i in range(flags.size):
        out[n] = np.int32(i)
        n += np.uintp(flags[np.uintp(i)] != 0)
    return out[: np.int64(n)]
