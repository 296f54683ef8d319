"""Many strings in one byte array: in any order with offsets, or sorted and front-coded with look-up.

Sorted means by UTF-8 bytes, which is the order of code points. Sorted strings stand in blocks of 16; each gives
the bytes it shares with the one before (0 for a block's first) and the rest:

    string := varint shared, varint rest, rest bytes            at[b] = where block b begins

Nothing stored is believed: a string never shares more than the one before it has, nor goes on behind the bytes.
Knows nothing of what the strings name.
"""

from __future__ import annotations

import codecs
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fader.corpus.strings import join_strings
from fader.index.encoding.shapes import Source, check_array, check_count, check_offsets, damage_error
from fader.index.encoding.varint import get_varint, put_varint
from fader.index.format import Container
from fader.kernel import inline_kernel, kernel
from fader.lazy import cached_property

GROUP = 16
CHUNK = 1 << 20
U8 = NDArray[np.uint8]
I32 = NDArray[np.int32]
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


@inline_kernel
def _read(data: U8, p: int, before: int) -> Any:
    """How much a string shares with one of `before` bytes, how many bytes it has more, and where these begin."""
    shared, p = get_varint(data, p)
    rest, p = get_varint(data, p)
    return min(shared, before), min(rest, data.size - p), p


@kernel
def _get(data: U8, at: Any, i: int) -> U8:
    """The bytes of string i."""
    longest = 0
    for fill in range(2):
        out = np.empty(longest, dtype=np.uint8)
        p, size = np.int64(at[i // GROUP]), np.int64(0)
        for _ in range(i % GROUP + 1):
            shared, rest, p = _read(data, p, size)
            size = np.int64(shared + rest)
            longest = max(longest, int(size))
            if fill:
                for j in range(rest):  # a copy of slices takes two seconds to compile
                    out[shared + j] = data[p + j]
            p += rest
    return out[:size]


@kernel
def _get_some(data: U8, at: Any, numbers: I64) -> tuple[U8, I64]:
    """The bytes of some strings laid end to end, and where each one begins."""
    out_at = np.zeros(numbers.size + 1, dtype=np.int64)
    out = np.empty(0, dtype=np.uint8)
    before = np.empty(64, dtype=np.uint8)
    for fill in range(2):
        if fill:
            out = np.empty(out_at[numbers.size], dtype=np.uint8)
        for k in range(numbers.size):
            p, size = np.int64(at[numbers[k] // GROUP]), np.int64(0)
            for _ in range(numbers[k] % GROUP + 1):
                shared, rest, p = _read(data, p, size)
                size = np.int64(shared + rest)
                if fill:
                    before[shared:size] = data[p : p + rest]
                elif size > before.size:
                    before = np.empty(2 * size, dtype=np.uint8)
                p += rest
            if fill:
                out[out_at[k] : out_at[k + 1]] = before[:size]
            else:
                out_at[k + 1] = out_at[k] + size
    return out, out_at


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
        _shared, size, p = _read(data, np.int64(at[middle]), np.int64(0))
        if _compare(data, p, size, key) <= 0:
            low = middle
        else:
            high = middle
    p = np.int64(at[low]) if n > 0 else 0
    same = 0  # bytes that the key shares with the string before
    for i in range(low * GROUP, min(n, low * GROUP + GROUP)):
        shared, rest, p = _read(data, p, np.int64(data.size))
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


@kernel
def _lower_bound(data: U8, at: Any, n: int, key: U8) -> int:
    """How many of the front-coded strings are below a key."""
    low, high = 0, at.size - 1  # the last block whose first string is below the key, or the first block
    while low + 1 < high:
        middle = (low + high) >> 1
        _shared, size, p = _read(data, np.int64(at[middle]), np.int64(0))
        if _compare(data, p, size, key) < 0:
            low = middle
        else:
            high = middle
    p = np.int64(at[low]) if n > 0 else 0
    same = 0  # bytes that the key shares with the string before, which is below it
    end = min(n, low * GROUP + GROUP)
    for i in range(low * GROUP, end):
        shared, rest, p = _read(data, p, np.int64(data.size))
        if shared < same:
            return i  # the string parts from its predecessor before the key does: it is above the key
        if shared == same:
            if _compare(data, p, rest, key[same:]) >= 0:
                return i
            j = 0
            while j < rest and same + j < key.size and data[p + j] == key[same + j]:
                j += 1
            same += j
        p += rest
    return end


@kernel
def _unfold(data: U8, n: int) -> tuple[U8, I64]:
    """Front-coded strings laid end to end, and where each one begins."""
    at = np.zeros(n + 1, dtype=np.int64)
    out = np.empty(0, dtype=np.uint8)
    for fill in range(2):
        p, size = np.int64(0), np.int64(0)
        for i in range(n):
            shared, rest, p = _read(data, p, size if i % GROUP else np.int64(0))
            size = np.int64(shared + rest)
            if fill:
                out[at[i] : at[i] + shared] = out[at[i - 1] : at[i - 1] + shared]
                out[at[i] + shared : at[i + 1]] = data[p : p + rest]
            else:
                at[i + 1] = at[i] + shared + rest
            p += rest
        if not fill:
            out = np.empty(at[n], dtype=np.uint8)
    return out, at


@kernel
def _merge(a: U8, a_at: I64, b: U8, b_at: I64) -> Any:
    """Two sorted lists of different strings as one, and the place of each string of a and of b in it."""
    n, m = a_at.size - 1, b_at.size - 1
    of_a, of_b = np.empty(n, dtype=np.int32), np.empty(m, dtype=np.int32)
    out, at = np.empty(a.size + b.size, dtype=np.uint8), np.zeros(n + m + 1, dtype=np.int64)
    i, j, k = 0, 0, 0
    while i < n or j < m:
        order = -1 if j == m else 1
        if i < n and j < m:
            order = _compare(a, a_at[i], a_at[i + 1] - a_at[i], b[b_at[j] : b_at[j + 1]])
        source, start, end = (a, a_at[i], a_at[i + 1]) if order <= 0 else (b, b_at[j], b_at[j + 1])
        out[at[k] : at[k] + end - start] = source[start:end]
        at[k + 1] = at[k] + end - start
        if order <= 0:
            of_a[i] = k
            i += 1
        if order >= 0:
            of_b[j] = k
            j += 1
        k += 1
    return out[: at[k]], at[: k + 1], of_a, of_b


@kernel
def _select(data: U8, at: I64, kept: U8) -> tuple[U8, I64]:
    """Some of the strings."""
    n, size = 0, 0
    for i in range(kept.size):
        if kept[i]:
            n += 1
            size += at[i + 1] - at[i]
    out, out_at = np.empty(size, dtype=np.uint8), np.zeros(n + 1, dtype=np.int64)
    k = 0
    for i in range(kept.size):
        if kept[i]:
            out_at[k + 1] = out_at[k] + at[i + 1] - at[i]
            out[out_at[k] : out_at[k + 1]] = data[at[i] : at[i + 1]]
            k += 1
    return out, out_at


@dataclass(frozen=True)
class Joined:
    """Sorted strings, each once, laid end to end: string i is `data[at[i]:at[i+1]]`."""

    data: U8
    at: I64

    def __len__(self) -> int:
        return self.at.size - 1

    @classmethod
    def of(cls, strings: Iterable[str | bytes]) -> Joined:
        return cls(*join_strings(strings))

    def merge(self, other: Joined) -> tuple[Joined, I32, I32]:
        """The strings of both, and the place of each string of this one and of the other among them."""
        data, at, mine, others = _merge(self.data, self.at, other.data, other.at)
        return Joined(data, at), mine, others

    def select(self, kept: U8) -> Joined:
        """The strings that are marked."""
        return Joined(*_select(self.data, self.at, kept))


def narrow(offsets: I64) -> NDArray[Any]:
    """Offsets in the smaller type that holds them."""
    return offsets.astype(np.uint32 if offsets[-1] < 1 << 32 else np.uint64)


class Sink(Protocol):
    """What arrays are written to: a file, or memory."""

    meta: dict[str, Any]

    def array(self, name: str, values: NDArray[Any]) -> None:
        """Write one whole array."""


def write_strings(writer: Sink, name: str, strings: Iterable[str | bytes]) -> None:
    """Store strings in any order under `name` (bytes) and `name_at` (offsets)."""
    write_joined(writer, name, *join_strings(strings))


def write_joined(writer: Sink, name: str, data: U8, at: I64) -> None:
    """The same for strings that are laid end to end already."""
    writer.array(name + "_at", narrow(at))
    writer.array(name, data)


def write_sorted(writer: Sink, name: str, strings: Joined | Iterable[str | bytes]) -> None:
    """Store sorted strings front-coded under `name` and `name_at`."""
    joined = strings if isinstance(strings, Joined) else Joined.of(strings)
    data, at, n = joined.data, joined.at, len(joined)
    out, block_at = np.empty(data.size + 10 * n + 1, dtype=np.uint8), np.zeros(-(-n // GROUP) + 1, dtype=np.int64)
    block_at[-1] = used = _front_code(data, at, out, block_at)
    writer.array(name + "_at", narrow(block_at))
    writer.array(name, out[:used])
    writer.meta[name + "_strings"] = n


def check_text(source: Source, name: str, data: U8, at: NDArray[Any]) -> None:
    """Bytes that are UTF-8, with no character cut by an offset."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, data.size, CHUNK):
            decoder.decode(data[start : start + CHUNK].tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise damage_error(source, f"{name!r} holds bytes that are not UTF-8") from None
    begins = at[at < data.size]
    if ((data[begins] & 0xC0) == 0x80).any():
        raise damage_error(source, f"{name!r} is cut inside of a character")


class Strings(Sequence[str]):
    """Stored strings in any order, decoded one at a time."""

    def __init__(self, container: Container, name: str, rows: int | None = None) -> None:
        self._container = container
        self._name = name
        self._data: U8 = check_array(container, name, "u1")  # compared with its checksum before slices are read
        self._at: NDArray[Any] = check_offsets(container, name + "_at", rows, self._data.size, "u4", "u8")

    @property
    def arrays(self) -> tuple[U8, NDArray[Any]]:
        """All bytes, whatever they are, and where each string's begin."""
        return self._data, self._at

    @cached_property
    def texts(self) -> tuple[U8, NDArray[Any]]:
        """The same for kernels that read characters: bytes that are UTF-8, with none cut by an offset."""
        check_text(self._container, self._name, self._data, self._at)
        return self._data, self._at

    def __len__(self) -> int:
        return self._at.size - 1

    def __getitem__(self, i: Any) -> str:
        data = self._container.slice(self._name, self._at.item(i), self._at.item(i + 1))
        return data.decode("utf-8", "replace")

    def take(self, numbers: I64) -> list[str]:
        """Some of the strings."""
        begins, ends = self._at[numbers].tolist(), self._at[numbers + 1].tolist()
        pieces = self._container.slices(self._name, begins, ends)
        return [piece.decode("utf-8", "replace") if piece else "" for piece in pieces]

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))


class SortedStrings(Sequence[str]):
    """Stored sorted strings, found by binary search."""

    def __init__(self, container: Source, name: str, rows: int | None = None) -> None:
        self._n = check_count(container, name + "_strings")
        self._data: U8 = check_array(container, name, "u1")
        blocks = -(-self._n // GROUP)
        self._at: NDArray[Any] = check_offsets(container, name + "_at", blocks, self._data.size, "u4", "u8")
        if 2 * self._n > self._data.size or (rows is not None and rows != self._n):
            what = f"{name!r} has {self._n} strings in {self._data.size} bytes"
            raise damage_error(container, what if rows is None else f"{what}, where there are {rows}")

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, i: Any) -> str:
        if not 0 <= i < self._n:
            raise IndexError(i)
        return bytes(_get(self._data, self._at, int(i))).decode("utf-8", "replace")

    def take(self, numbers: Sequence[int] | NDArray[np.integer]) -> list[str]:
        """Some of the strings."""
        wanted = np.asarray(numbers, dtype=np.int64)
        if wanted.size and not 0 <= wanted.min() <= wanted.max() < self._n:
            raise IndexError(numbers)
        joined, at = _get_some(self._data, self._at, wanted)
        data = joined.tobytes()
        return [data[a:b].decode("utf-8", "replace") for a, b in pairwise(at.tolist())]

    def __iter__(self) -> Iterator[str]:
        whole = self.decode_all()
        data, at = whole.data.tobytes(), whole.at.tolist()
        return (data[a:b].decode("utf-8", "replace") for a, b in pairwise(at))

    def decode_all(self) -> Joined:
        """All strings."""
        return Joined(*_unfold(self._data, self._n))

    def find(self, wanted: str) -> int:
        """The index of a string, -1 if it is not there."""
        key = np.frombuffer(wanted.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        return int(_find(self._data, self._at, self._n, key))

    def beginning(self, prefix: str) -> tuple[int, int]:
        """The strings [a, b) that begin so."""
        key = prefix.encode("utf-8", "surrogatepass")
        return self._below(key), self._below(key + b"\xff")  # no UTF-8 has this byte

    def equal(self, wanted: str) -> tuple[int, int]:
        """The strings [a, b) that are equal to one: there may be several, or none."""
        key = wanted.encode("utf-8", "surrogatepass")
        return self._below(key), self._below(key + b"\0")

    def _below(self, key: bytes) -> int:
        return int(_lower_bound(self._data, self._at, self._n, np.frombuffer(key, dtype=np.uint8)))


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
