"""Many strings as bytes: string i is `data[begin[i]:end[i]]`. Sorting, taking and telling them apart by kernels.

Sorted means by UTF-8 bytes, which is the order of code points. Knows nothing of what the strings name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.kernel import kernel

U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
KEY_BYTES = 7  # bytes of strings that are compared at once
KEY_ROUNDS = 16  # of these, before what is left is sorted in plain Python


def join_strings(strings: Iterable[str | bytes]) -> tuple[U8, I64]:
    """Strings laid end to end, and where each begins and the last one ends."""
    encoded = [s.encode("utf-8") if isinstance(s, str) else s for s in strings]
    at = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(e) for e in encoded], out=at[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), at


@kernel
def _is_foreign(data: U8, at: I64) -> NDArray[np.bool_]:
    out = np.zeros(at.size - 1, dtype=np.bool_)
    for i in range(at.size - 1):
        for j in range(at[i], at[i + 1]):
            if data[j] >= 128:
                out[i] = True
                break
    return out


def find_foreign(data: U8, at: I64) -> I64:
    """The strings that are not all ASCII, of strings laid end to end."""
    return np.flatnonzero(_is_foreign(data, at))


@kernel
def _word_keys(data: U8, begin: I64, end: I64, which: I64, depth: int) -> U64:
    """Seven bytes of some strings from `depth` on, the first one highest, and behind them how many are left, 8 at most.

    So a string that ends stands before those that go on, even if they go on with zeros.
    """
    keys = np.empty(which.size, dtype=np.uint64)
    for k in range(which.size):
        start, stop = begin[which[k]] + depth, end[which[k]]
        key = np.uint64(0)
        for j in range(KEY_BYTES):
            key <<= np.uint64(8)
            if start + j < stop:
                key |= np.uint64(data[start + j])
        keys[k] = key << np.uint64(8) | np.uint64(min(KEY_BYTES + 1, max(0, stop - start)))
    return keys


def sort_strings(data: U8, begin: I64, end: I64) -> I64:
    """The order of strings by their bytes; equal ones stay in the order in which they stand."""
    which = np.arange(begin.size, dtype=np.int64)
    keys = _word_keys(data, begin, end, which, 0)
    order = np.argsort(keys, kind="stable")
    place, keys = which, keys[order]  # where the strings stand that are not told apart yet
    group = np.zeros(order.size, dtype=np.int64)
    for depth in range(KEY_BYTES, KEY_ROUNDS * KEY_BYTES, KEY_BYTES):
        tied = _find_ties(keys, group)
        if not tied.any():
            return order
        parts = np.ones(keys.size, dtype=bool)
        parts[1:] = (keys[1:] != keys[:-1]) | (group[1:] != group[:-1])
        place, group = place[tied], np.cumsum(parts)[tied]
        keys = _word_keys(data, begin, end, order[place], depth)
        within = np.lexsort((keys, group))
        order[place], keys, group = order[place][within], keys[within], group[within]
    tied = _find_ties(keys, group)
    parts = np.flatnonzero(np.diff(np.where(tied, group, -1), prepend=-2, append=-2))
    for a, b in zip(parts[:-1].tolist(), parts[1:].tolist(), strict=True):
        if tied[a]:
            some = order[place[a:b]].tolist()
            order[place[a:b]] = sorted(some, key=lambda i: data[begin[i] : end[i]].tobytes())
    return order


def _find_ties(keys: U64, group: I64) -> NDArray[np.bool_]:
    """Which strings are like a neighbour so far and go on."""
    same = (keys[1:] == keys[:-1]) & (group[1:] == group[:-1]) & (keys[1:] & np.uint64(0xFF) > KEY_BYTES)
    tied = np.zeros(keys.size, dtype=bool)
    tied[1:] |= same
    tied[:-1] |= same
    return tied


@kernel
def mark_new(data: U8, begin: I64, end: I64, order: I64) -> U8:
    """1 for the strings that, in a given order, differ from the one before."""
    new = np.ones(order.size, dtype=np.uint8)
    for k in range(1, order.size):
        a, b = begin[order[k - 1]], begin[order[k]]
        size = end[order[k]] - b
        if end[order[k - 1]] - a == size:
            j = 0
            while j < size and data[a + j] == data[b + j]:
                j += 1
            new[k] = np.uint8(j < size)
    return new


@kernel
def take_strings(data: U8, begin: I64, end: I64, which: I64) -> tuple[U8, I64]:
    """Some strings laid end to end in a given order, and where each begins and the last one ends."""
    at = np.zeros(which.size + 1, dtype=np.int64)
    for k in range(which.size):
        at[k + 1] = at[k] + end[which[k]] - begin[which[k]]
    out = np.empty(at[-1], dtype=np.uint8)
    for k in range(which.size):
        start = begin[which[k]]
        for j in range(at[k + 1] - at[k]):
            out[at[k] + j] = data[start + j]
    return out, at


def sort_distinct(data: U8, at: I64, kept: NDArray[np.bool_] | None = None) -> tuple[U8, I64, I32]:
    """The distinct ones of strings laid end to end, sorted, and the place of each among them; -1 if it is not kept."""
    begin, end = at[:-1], at[1:]
    order = sort_strings(data, begin, end)
    if kept is not None and not kept.all():
        order = order[kept[order]]
    new = mark_new(data, begin, end, order)
    place = np.full(begin.size, -1, dtype=np.int32)
    place[order] = np.cumsum(new, dtype=np.int32) - 1
    return *take_strings(data, begin, end, order[new > 0]), place


@kernel
def _lower(data: U8, at: I64, squeeze: bool) -> Any:
    """Strings with ASCII in lower case; with `squeeze` blanks as single spaces between what is not blank."""
    out, out_at = np.empty(data.size, dtype=np.uint8), np.zeros(at.size, dtype=np.int64)
    o = 0
    for i in range(at.size - 1):
        first, blank = o, False
        for j in range(at[i], at[i + 1]):
            c = data[j]
            if squeeze and (c == 32 or 9 <= c <= 13 or 28 <= c <= 31):
                blank = o > first
                continue
            if blank:
                out[o] = 32
                o += 1
                blank = False
            out[o] = c | 32 if 65 <= c <= 90 else c
            o += 1
        out_at[i + 1] = o
    return out[:o], out_at


def lower_strings(data: U8, at: I64, other: Any, squeeze: bool) -> tuple[U8, I64]:
    """Strings laid end to end, in lower case where they are ASCII; `other` makes the rest.

    With `squeeze`, blanks are single spaces in ASCII strings, and none at the ends, as `" ".join(text.split())` does.
    """
    odd = find_foreign(data, at)
    if not odd.size:
        return _lower(data, at, squeeze)  # type: ignore[no-any-return]
    made = [other(data[at[i] : at[i + 1]].tobytes().decode("utf-8")).encode("utf-8") for i in odd.tolist()]
    extra, extra_at = join_strings(made)
    low, low_at = _lower(data, at, squeeze)
    begin, end = low_at[:-1].copy(), low_at[1:].copy()
    begin[odd], end[odd] = low.size + extra_at[:-1], low.size + extra_at[1:]
    return take_strings(  # type: ignore[no-any-return]
        np.concatenate((low, extra)), begin, end, np.arange(begin.size, dtype=np.int64)
    )
