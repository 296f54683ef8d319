"""Many strings in one byte array: in any order with offsets, or sorted and front-coded with look-up.

Sorted means by UTF-8 bytes, which is the order of code points. Sorted strings stand in blocks of 16; each gives
the bytes it shares with the one before (0 for a block's first) and the rest:

    string := varint shared, varint rest, rest bytes            at[b] = where block b begins

Knows nothing of what the strings name.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.index.format import Container, FileWriter
from fader.index.varint import get_varint, put_varint
from fader.kernel import kernel

GROUP = 16
U8 = NDArray[np.uint8]
I64 = NDArray[np.int64]


@kernel
def _front_code(data: U8, at: I64, out: U8, block_at: I64) -> int:
    """Front-code sorted strings; returns the bytes written."""
    o = 0
    for i in range(at.size - 1):
        start, size, shared = at[i], at[i + 1] - at[i], 0
        if i % GROUP == 0:
            block_at[i // GROUP] = o
        else:
            before, limit = at[i - 1], min(size, at[i] - at[i - 1])
            while shared < limit and data[before + shared] == data[start + shared]:
                shared += 1
        o = put_varint(out, o, shared)
        o = put_varint(out, o, size - shared)
        for j in range(shared, size):
            out[o] = data[start + j]
            o += 1
    return o


@kernel
def _get(data: U8, at: Any, i: int) -> U8:
    """The bytes of string i."""
    longest = 0
    for fill in range(2):
        out = np.empty(longest, dtype=np.uint8)
        p, size = np.int64(at[i // GROUP]), 0
        for _ in range(i % GROUP + 1):
            shared, p = get_varint(data, p)
            rest, p = get_varint(data, p)
            size = shared + rest
            longest = max(longest, size)
            if fill:
                out[shared:size] = data[p : p + rest]
            p += rest
    return out[:size]


@kernel
def _compare(data: U8, start: int, size: int, key: U8) -> int:
    """-1, 0 or 1 as a string is below, equal to or above the key."""
    i = 0
    while i < size and i < key.size and data[start + i] == key[i]:
        i += 1
    if i == size:
        return 0 if i == key.size else -1
    if i == key.size:
        return 1
    return -1 if data[start + i] < key[i] else 1


@kernel
def _find(data: U8, at: Any, n: int, key: U8) -> int:
    """The index of a key among front-coded strings, -1 if it is not there."""
    low, high = 0, at.size - 1  # the last block whose first string is not above the key
    while low + 1 < high:
        middle = (low + high) >> 1
        _shared, p = get_varint(data, np.int64(at[middle]))
        size, p = get_varint(data, p)
        if _compare(data, p, size, key) <= 0:
            low = middle
        else:
            high = middle
    p = np.int64(at[low]) if n > 0 else 0
    same = 0  # bytes that the key shares with the string before
    for i in range(low * GROUP, min(n, low * GROUP + GROUP)):
        shared, p = get_varint(data, p)
        rest, p = get_varint(data, p)
        if shared < same:
            return -1  # the string parts from its predecessor before the key does: it is above the key
        if shared == same:
            order = _compare(data, p, rest, key[same:])
            if order == 0:
                return i
            if order > 0:
                return -1
            j = 0
            while j < rest and same + j < key.size and data[p + j] == key[same + j]:
                j += 1
            same += j
        p += rest
    return -1


def _joined(strings: Iterable[str | bytes]) -> tuple[U8, I64]:
    encoded = [s.encode("utf-8") if isinstance(s, str) else s for s in strings]
    at = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(e) for e in encoded], out=at[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), at


def _narrow(offsets: I64) -> NDArray[Any]:
    return offsets.astype(np.uint32 if offsets[-1] < 1 << 32 else np.uint64)


def write_strings(writer: FileWriter, name: str, strings: Iterable[str | bytes]) -> None:
    """Store strings in any order under `name` (bytes) and `name_at` (offsets)."""
    data, at = _joined(strings)
    writer.array(name + "_at", _narrow(at))
    writer.array(name, data)


def write_sorted(writer: FileWriter, name: str, strings: Iterable[str | bytes]) -> None:
    """Store sorted strings front-coded under `name` and `name_at`."""
    data, at = _joined(strings)
    n = at.size - 1
    out, block_at = np.empty(data.size + 10 * n + 1, dtype=np.uint8), np.zeros(-(-n // GROUP) + 1, dtype=np.int64)
    block_at[-1] = used = _front_code(data, at, out, block_at)
    writer.array(name + "_at", _narrow(block_at))
    writer.array(name, out[:used])
    writer.meta[name + "_strings"] = n


class Strings(Sequence[str]):
    """Stored strings in any order, decoded one at a time."""

    def __init__(self, container: Container, name: str) -> None:
        self._container = container
        self._name = name
        self._at: NDArray[Any] = container[name + "_at"]

    def __len__(self) -> int:
        return self._at.size - 1

    def __getitem__(self, i: Any) -> str:
        data = self._container.slice(self._name, int(self._at[i]), int(self._at[i + 1]))
        return data.decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))


class SortedStrings(Sequence[str]):
    """Stored sorted strings, found by binary search."""

    def __init__(self, container: Container, name: str) -> None:
        self._data: U8 = container[name]
        self._at: NDArray[Any] = container[name + "_at"]
        self._n = int(container.meta[name + "_strings"])

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, i: Any) -> str:
        if not 0 <= i < self._n:
            raise IndexError(i)
        return bytes(_get(self._data, self._at, int(i))).decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        data, p, before = self._data.tobytes(), 0, b""
        for _ in range(self._n):
            shared, p = _varint(data, p)
            rest, p = _varint(data, p)
            before = before[:shared] + data[p : p + rest]
            p += rest
            yield before.decode("utf-8", "replace")

    def find(self, wanted: str) -> int:
        """The index of a string, -1 if it is not there."""
        key = np.frombuffer(wanted.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        return int(_find(self._data, self._at, self._n, key))


def _varint(data: bytes, p: int) -> tuple[int, int]:
    """`get_varint` without compiling, for reading all strings through."""
    value, shift = 0, 0
    while True:
        value |= (data[p] & 127) << shift
        p += 1
        if data[p - 1] < 128:
            return value, p
        shift += 7


class _Keys(Sequence[Any]):
    """A virtual sorted list for `bisect`."""

    def __init__(self, length: int, key: Callable[[int], Any]) -> None:
        self._length = length
        self._key = key

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, i: Any) -> Any:
        return self._key(i)


def prefix_range(length: int, key: Callable[[int], str], prefix: str) -> tuple[int, int]:
    """The rows [a, b) of a sorted virtual list whose keys start with `prefix`."""
    keys = _Keys(length, lambda i: key(i)[: len(prefix)])
    return bisect_left(keys, prefix), bisect_right(keys, prefix)
