"""Whether stored structures can be read at all: packed columns, compressed lists, strings and offsets.

Kernels trust their arrays, so a structure is walked here first, by kernels that trust nothing: no count is believed
before it is compared with the bytes that are there, and every array is read inside its bounds. What passes can be read
by `packed.py`, `lists.py` and `strings.py` without a check. Whatever is wrong is a `DamagedError` that names the file.
Knows nothing of what columns, lists and strings mean to each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.index.encoding import strings
from fader.index.encoding.lists import BLOCK, GROUP, MOST_BITS, MOST_UNARY, Lists, _unpack_block
from fader.index.encoding.shapes import check_array, check_count, check_offsets, damage_error
from fader.index.encoding.strings import check_text
from fader.index.format import Array, Container
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
CHUNK = 1 << 20
MOST_VARINT_BITS = 35


# Plain strings


def check_strings(container: Container, name: str, rows: int) -> tuple[U8, Array]:
    """Strings in any order: offsets that ascend, and between them UTF-8."""
    data = check_array(container, name, "u1")
    at = check_offsets(container, name + "_at", rows, data.size, "u4", "u8")
    check_text(container, name, data, at)
    return data, at


def check_ascending(container: Container, name: str, data: U8, at: Array, order: I32) -> None:
    """Checked strings that ascend, each once, when they are taken in some order."""
    if _first_descent(data, at, order) >= 0:
        raise damage_error(container, f"{name!r} is not sorted, or holds a string twice")


@kernel
def _first_descent(data: U8, at: Any, order: I32) -> int:
    """The first place in the order whose string is not above the one before, -1 if there is none."""
    for i in range(1, order.size):
        p, p_end = np.int64(at[order[i - 1]]), np.int64(at[order[i - 1] + 1])
        q, q_end = np.int64(at[order[i]]), np.int64(at[order[i] + 1])
        while p < p_end and q < q_end and data[p] == data[q]:
            p += 1
            q += 1
        if q == q_end or (p < p_end and data[p] > data[q]):
            return i
    return -1


# Sorted strings


@kernel
def _varint(data: U8, at: int) -> Any:
    """The value at `at` and the place behind it; -1 for the place where the value does not end inside the data."""
    value = np.int64(0)
    for shift in range(0, MOST_VARINT_BITS, 7):
        if at >= data.size:
            return value, np.int64(-1)
        byte = np.int64(data[at])
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, np.int64(at)
    return value, np.int64(-1)


SORTED_FAULTS = (
    "",
    "has a block that does not begin where it should",
    "has a string that does not fit its bytes",
    "has a string that shares something else with the one before than it says",
    "is not sorted",
    "holds bytes that are not UTF-8",
)


@kernel
def _order(before: U8, size: int, data: U8, q: int, shared: int, rest: int, starts_block: bool) -> int:
    """A string compared with the one before: 1 above it, 0 equal; -1 below it, -2 where they share something else."""
    common = shared
    if starts_block:
        while common < size and common < rest and before[common] == data[q + common]:
            common += 1
    elif shared < size and rest > 0 and before[shared] == data[q]:
        return -2
    if common == size:
        return 0 if shared + rest == size else 1
    return -1 if common == shared + rest or before[common] > data[q + common - shared] else 1


@kernel
def _piece(before: U8, shared: int, size: int, pieces: U8, used: int) -> Any:
    """Put down the string from the character on that its shared bytes end with; -1 where none begins there."""
    begin = max(0, shared - 1)
    while begin > 0 and shared - begin < 4 and before[begin] & 0xC0 == 0x80:
        begin -= 1
    if begin < size and before[begin] & 0xC0 == 0x80:
        return -1
    for j in range(begin, size):
        pieces[used] = before[j]
        used += 1
    return used


@kernel
def _walk_sorted(data: U8, at: Any, n: int, state: I64, before: U8, pieces: U8, same: U8) -> Any:
    """Walk on through front-coded strings; returns the number of a fault, 0 for none.

    `state` is the string to be walked next, its place, the bytes of the one `before`, and, on return, how many of
    `pieces` were filled. A piece is what has to be UTF-8 for its string to be, given that the one before is. Stops
    early where `before` or `pieces` lack quota.
    """
    i, p, size, used = state[0], state[1], state[2], np.int64(0)
    while i < n:
        starts_block = i % strings.GROUP == 0
        if starts_block and np.int64(at[i // strings.GROUP]) != p:
            return 1
        shared, q = _varint(data, p)
        rest = np.int64(0)
        if q >= 0:
            rest, q = _varint(data, q)
        if q < 0 or rest > data.size - q:
            return 2
        if shared > (0 if starts_block else size):
            return 3
        if shared + rest > before.size or used + rest + 4 > pieces.size:
            break
        order = _order(before, size, data, q, shared, rest, starts_block)
        if order < 0 and i > 0:
            return 5 + order
        same[i] = order == 0 and i > 0
        for j in range(rest):
            before[shared + j] = data[q + j]
        size = shared + rest
        used = _piece(before, shared, size, pieces, used)
        if used < 0:
            return 5
        i, p = i + 1, q + rest
    state[0], state[1], state[2], state[3] = i, p, size, used
    return 0


def check_sorted(container: Container, name: str) -> U8:
    """Front-coded strings that never descend; returns 1 for each that is equal to the one before."""
    n = check_count(container, name + "_strings")
    data = check_array(container, name, "u1")
    at = check_offsets(container, name + "_at", -(-n // strings.GROUP), data.size, "u4", "u8")
    if 2 * n > data.size:
        raise damage_error(container, f"{name!r} has {n} strings in {data.size} bytes")
    same, state = np.zeros(n, dtype=np.uint8), np.zeros(4, dtype=np.int64)
    quota = CHUNK
    before, pieces = np.empty(quota, dtype=np.uint8), np.empty(quota, dtype=np.uint8)
    while state[0] < n:
        began = int(state[0])
        fault = _walk_sorted(data, at, n, state, before, pieces, same)
        if not fault:
            fault = 0 if _is_utf8(pieces[: state[3]]) else 5
        if fault:
            raise damage_error(container, f"{name!r} {SORTED_FAULTS[fault]}")
        if state[0] == began:
            quota *= 4
            before, pieces = np.resize(before, quota), np.empty(quota, dtype=np.uint8)
    if state[1] != data.size:
        raise damage_error(container, f"{name!r} does not end with its last string")
    return same


def check_different(container: Container, name: str) -> int:
    """Front-coded strings that ascend, each once; returns how many."""
    same = check_sorted(container, name)
    if same.any():
        raise damage_error(container, f"{name!r} holds a string twice")
    return int(same.size)


def _is_utf8(data: U8) -> bool:
    try:
        data.tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


# Lists


@dataclass(frozen=True, slots=True)
class Decoded:
    """Some lists in a row: list `first + i` is `values[at[i]:at[i+1]]`, and `extra[i]` is kept beside it."""

    first: int
    at: I64
    extra: I64
    values: I32


LIST_FAULTS = (
    "",
    "does not begin where it should",
    "has a count or a block that is not there",
    "does not fit its bytes",
    "is not sorted, or leaves its bounds",
    "has a block that does not follow on the one before",
)


@kernel
def _tail(entry: U8, at: int, count: int, out: I32, o: int, end: int) -> Any:
    """Decode a tail into `out[o:o+count]`; returns the place behind it, -1 where it does not fit its bytes.

    A value that is not below `end` stops the reading and is left for the caller to find.
    """
    if count == 0:
        return at
    value, at = _varint(entry, at)
    if at < 0:
        return -1
    out[o] = np.int32(min(value, np.int64(end)))
    if count == 1:
        return at
    if at >= entry.size or entry[at] > MOST_BITS:
        return -1
    k, bit = np.int64(entry[at]), 8 * (np.int64(at) + 1)
    last = 8 * np.int64(entry.size)
    for i in range(1, count):
        q = np.int64(0)
        while bit < last and entry[bit >> 3] >> np.uint8(bit & 7) & 1:
            q += 1
            bit += 1
        bit += 1
        if bit + k > last or q > MOST_UNARY:
            return -1
        low = np.int64(0)
        for j in range(k):
            low |= np.int64(entry[bit >> 3] >> np.uint8(bit & 7) & 1) << j
            bit += 1
        value = min(value + (q << k) + low + 1, np.int64(end))
        out[o + i] = np.int32(value)
    return (bit + 7) >> 3


@kernel
def _head(entry: U8, at: int, next_block: int) -> Any:
    """Count, extra, blocks and where the tail begins; -1 for the place where the head does not fit its bytes."""
    n, at = _varint(entry, at)
    extra, block = np.int64(0), np.int64(next_block)
    if at >= 0 and n > 0:
        extra, at = _varint(entry, at)
    if at >= 0 and n >= BLOCK:
        block, at = _varint(entry, at)
    return n, extra, n // BLOCK, at if block == next_block else np.int64(-1)


@kernel
def _ascend(values: I32, start: int, stop: int, end: int) -> bool:
    previous = np.int64(-1)
    for j in range(start, stop):
        if values[j] <= previous or values[j] >= end:
            return False
        previous = np.int64(values[j])
    return True


@kernel
def _walk_lists(arrays: Any, lists: int, end: int, state: I64, values: I32, at: I64, extra: I64) -> int:
    """Decode on through lists of values below `end`; returns the number of a fault, 0 for none.

    `state` is the list to be decoded next, its entry's place, its first block, and, on return, how many lists were
    decoded. Stops early where there is no quota; where not even one list had any, `at[0]` says how much it needs.
    """
    entry, entry_at, base, width, block_at, words = arrays
    i, e, b, k, o = state[0], state[1], state[2], 0, np.int64(0)
    at[0] = 0
    while i < lists and k < extra.size:
        if i % GROUP == 0 and np.int64(entry_at[i // GROUP]) != e:
            return 1
        n, extra[k], blocks, p = _head(entry, e, b)
        if p < 0 or n > end or blocks > base.size - b:
            return 2
        if o + n > values.size:
            at[0] = n if k == 0 else 0
            break
        for block in range(b, b + blocks):
            if base[block] != (values[o - 1] if block > b else -1):
                return 5
            _unpack_block(base, width, block_at, words, block, values, o)
            o += BLOCK
        p = _tail(entry, p, n % BLOCK, values, o, end)
        if p < 0:
            return 3
        o += n % BLOCK
        if not _ascend(values, o - n, o, end):
            return 4
        i, e, b, k = i + 1, p, b + blocks, k + 1
        at[k] = o
    state[0], state[1], state[2], state[3] = i, e, b, k
    return 0


def check_lists(container: Container, name: str, lists: int, end: int) -> Iterator[Decoded]:
    """So many sorted lists of values below `end`, decoded: each is sound when it is handed out."""
    stored = Lists(container, name)
    if len(stored) != lists:
        raise damage_error(container, f"list {name!r} is there {len(stored)} times, not {lists}")
    arrays = stored.arrays
    state = np.zeros(4, dtype=np.int64)
    values, extra = np.empty(min(CHUNK, max(1, end)), dtype=np.int32), np.empty(CHUNK >> 4, dtype=np.int64)
    at = np.zeros(extra.size + 1, dtype=np.int64)
    while state[0] < lists:
        first = int(state[0])
        fault = _walk_lists(arrays, lists, end, state, values, at, extra)
        done = int(state[3])
        if fault:
            raise damage_error(container, f"list {name!r}, between {first} and {lists - 1}, {LIST_FAULTS[fault]}")
        if done:
            yield Decoded(first, at[: done + 1], extra[:done], values[: at[done]])
        else:
            values = np.empty(int(at[0]), dtype=np.int32)
    if state[1] != arrays[0].size or state[2] != arrays[2].size:
        raise damage_error(container, f"list {name!r} does not end with its last entry")
