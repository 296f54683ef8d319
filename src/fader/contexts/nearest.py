"""For every mention the nearest occurrence of a literal, on one line of positions.

A literal's occurrences are one sorted array of start positions between two sentinels; `place[i]` is a mention's
start and end and its document's [low, high) on the same line. Mentions are taken in pieces where time is counted.
Knows nothing of segments, terms or queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.index.sound import CELL_BITS
from fader.kernel import inline_kernel, kernel

I8 = NDArray[np.int8]
I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]
FAR = np.int32((1 << 31) - 1)
TILE = 1024
FEW = 16  # times as many occurrences as mentions are better searched than merged
U0 = np.uintp(0)


@kernel
def _gallop(occurrences: I32, key: int, low: int) -> int:
    """The first occurrence from `low` on that is not below the key, found in steps that double."""
    step = 1
    while low + step < occurrences.size and occurrences[low + step] < key:
        low += step
        step *= 2
    high = min(occurrences.size, low + step)
    while low < high:
        middle = (low + high) >> 1
        if occurrences[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@inline_kernel
def _advance(place: I32, s: np.int32, occurrences: I32, at: I32, i: Any, end: Any, j: Any, origin: Any) -> Any:
    """Finish one merge; returns where it stands in the occurrences."""
    while i < end:
        c = np.uintp(occurrences[j] < np.int32(place[i, U0] - s))
        at[i - origin] = np.int32(j)
        j += c
        i += np.uintp(1) - c
    return j


@kernel
def _first_after(place: I32, s: np.int32, occurrences: I32, begin: int, end: int, from_: int, at: I32) -> Any:
    """For each mention of a tile the first occurrence at or behind `start - s`: the first not wholly to its left.

    A merge of two sorted arrays without a branch on the data: every step either takes a mention or passes an
    occurrence, and the last write to `at[i]` is the right one. A step waits for its own load, so four merges of
    four quarters run side by side. The upper sentinel stops every merge.
    """
    U = np.uintp
    quarter = (end - begin) // 4
    origin = U(begin)
    i0, i1, i2, i3 = origin, U(begin + quarter), U(begin + 2 * quarter), U(begin + 3 * quarter)
    e0, e1, e2, e3 = i1, i2, i3, U(end)
    j0 = U(from_)
    j1 = U(_gallop(occurrences, place[i1, U0] - s, from_))
    j2 = U(_gallop(occurrences, place[i2, U0] - s, np.int64(j1)))
    j3 = U(_gallop(occurrences, place[i3, U0] - s, np.int64(j2)))
    while i0 < e0 and i1 < e1 and i2 < e2 and i3 < e3:
        c0 = U(occurrences[j0] < np.int32(place[i0, U0] - s))
        c1 = U(occurrences[j1] < np.int32(place[i1, U0] - s))
        c2 = U(occurrences[j2] < np.int32(place[i2, U0] - s))
        c3 = U(occurrences[j3] < np.int32(place[i3, U0] - s))
        at[i0 - origin] = np.int32(j0)
        at[i1 - origin] = np.int32(j1)
        at[i2 - origin] = np.int32(j2)
        at[i3 - origin] = np.int32(j3)
        j0 += c0
        j1 += c1
        j2 += c2
        j3 += c3
        i0 += U(1) - c0
        i1 += U(1) - c1
        i2 += U(1) - c2
        i3 += U(1) - c3
    _advance(place, s, occurrences, at, i0, e0, j0, origin)
    _advance(place, s, occurrences, at, i1, e1, j1, origin)
    _advance(place, s, occurrences, at, i2, e2, j2, origin)
    return np.int64(_advance(place, s, occurrences, at, i3, e3, j3, origin))


@inline_kernel
def _first(place: I32, s: np.int32, occurrences: I32) -> Any:
    """Where the merge of some mentions begins."""
    return _gallop(occurrences, place[0, 0] - s, 0) if place.shape[0] else 0


@kernel
def _distances(place: I32, occurrences: I32, length: int, out: I32) -> None:
    """`at[i]` is the first occurrence not wholly to the left: one that begins before the mention's end overlaps it,
    and then its distance to the right is not positive. Tiles keep the merge's results in the nearest cache; each
    choice is between two values that are there already, so that it compiles to a select and not to a branch.
    """
    U, one = np.uintp, np.int32(1)
    n, at = np.int32(length), np.empty(TILE, dtype=np.int32)
    j = _first(place, np.int32(n - one), occurrences)
    for begin in range(0, place.shape[0], TILE):
        stop = min(place.shape[0], begin + TILE)
        j = _first_after(place, np.int32(n - one), occurrences, begin, stop, j, at)
        for k in range(begin, stop):
            i = U(k)
            p = U(at[U(k - begin)])
            start, end, low, high = place[i, U(0)], place[i, U(1)], place[i, U(2)], place[i, U(3)]
            right = occurrences[p]
            left = occurrences[p - U(1)]
            to_left, to_right = np.int32(start - left - n + one), np.int32(right - end + one)
            to_left = to_left if left >= low else FAR
            to_right = to_right if right < high else FAR
            nearest = to_left if to_left < to_right else to_right
            nearest = nearest if nearest > 0 else np.int32(0)
            out[i] = nearest if nearest != FAR else np.int32(-1)


@kernel
def _distances_beside(place: I32, occurrences: I32, length: int, out: I32) -> None:
    n, at = np.int32(length), np.empty(TILE, dtype=np.int32)
    j = _first(place, np.int32(n - 1), occurrences)
    for begin in range(0, place.shape[0], TILE):
        stop = min(place.shape[0], begin + TILE)
        j = _first_after(place, np.int32(n - 1), occurrences, begin, stop, j, at)
        for i in range(begin, stop):
            start, end, low, high = place[i, 0], place[i, 1], place[i, 2], place[i, 3]
            p = at[i - begin]
            left = occurrences[p - 1]
            while occurrences[p] < end:
                p += 1
            right = occurrences[p]
            to_left = np.int32(start - left - n + 1) if left >= low else FAR
            to_right = np.int32(right - end + 1) if right < high else FAR
            nearest = min(to_left, to_right)
            out[i] = np.int32(-1) if nearest == FAR else nearest


@kernel
def _sides(place: I32, occurrences: I32, length: int, distance: I32, out: I8) -> None:
    """It is to the left where an occurrence ends just there, and on a tie left wins."""
    n, at = np.int32(length), np.empty(TILE, dtype=np.int32)
    j = _first(place, np.int32(n - 1), occurrences)
    for begin in range(0, place.shape[0], TILE):
        stop = min(place.shape[0], begin + TILE)
        j = _first_after(place, np.int32(n - 1), occurrences, begin, stop, j, at)
        for i in range(begin, stop):
            if distance[i] > 0:
                left = occurrences[at[i - begin] - 1]
                is_left = left >= place[i, 2] and place[i, 0] - left - n + 1 == distance[i]
                out[i] = np.int8(-1) if is_left else np.int8(1)


@kernel
def _sides_of_few(place: I32, occurrences: I32, length: int, distance: I32, out: I8) -> None:
    """The same for mentions that are far apart: each is searched for by itself."""
    n, j = np.int32(length), 0
    for i in range(place.shape[0]):
        if distance[i] > 0:
            j = _gallop(occurrences, place[i, 0] - np.int32(n - 1), j)
            left = occurrences[j - 1]
            is_left = left >= place[i, 2] and place[i, 0] - left - n + 1 == distance[i]
            out[i] = np.int8(-1) if is_left else np.int8(1)


@kernel
def _mark_documents(occurrences: I32, base: I32, cell: I32, marks: U8) -> None:
    """`cell[p >> CELL_BITS]` is the document of a cell's first position, so a document is found in a step or two,
    without waiting for the one before.
    """
    U = np.uintp
    for k in range(occurrences.size):
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
def is_in(some: I32, among: I32) -> NDArray[np.bool_]:
    """Whether each of some ascending numbers is one of others, which ascend too."""
    out = np.zeros(some.size, dtype=np.bool_)
    j = 0
    for i in range(some.size):
        j = _gallop(among, some[i], j)
        if j == among.size:
            break
        out[i] = among[j] == some[i]
    return out


@kernel
def where(flags: U8) -> I32:
    """The indexes of the set flags, without a branch."""
    out = np.empty(flags.size + 1, dtype=np.int32)
    n = np.uintp(0)
    for i in range(flags.size):
        out[n] = np.int32(i)
        n += np.uintp(flags[np.uintp(i)] != 0)
    return out[: np.int64(n)]


def _cut(mentions: int, occurrences: int) -> Iterator[tuple[int, int]]:
    """Pieces of some mentions, fewer at once where each passes over many occurrences."""
    return budget.chunks(mentions, weight=1 + occurrences // max(1, mentions))


def distances(place: I32, occurrences: I32, length: int, out: I32) -> None:
    """Distance of the occurrence nearest to each mention inside its document, 0 for overlap, -1 for none."""
    for a, b in _cut(out.size, occurrences.size):
        _distances(place[a:b], occurrences, length, out[a:b])


def distances_beside(place: I32, occurrences: I32, length: int, out: I32) -> None:
    """The same with occurrences that overlap the mention ignored."""
    for a, b in _cut(out.size, occurrences.size):
        _distances_beside(place[a:b], occurrences, length, out[a:b])


def sides(place: I32, occurrences: I32, length: int, distance: I32, out: I8) -> None:
    """The side of the nearest occurrence at a known distance: -1 left, 1 right, 0 overlap or absent."""
    locate = _sides_of_few if out.size * FEW < occurrences.size else _sides
    for a, b in _cut(out.size, occurrences.size):
        locate(place[a:b], occurrences, length, distance[a:b], out[a:b])


def mark_documents(occurrences: I32, base: I32, cell: I32, marks: U8) -> None:
    """Set the mark of every document with an occurrence; the sentinels at both ends are passed over."""
    inside = occurrences[1:-1]
    for a, b in budget.chunks(inside.size):
        _mark_documents(inside[a:b], base, cell, marks)
