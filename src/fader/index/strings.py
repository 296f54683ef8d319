"""Many strings as one byte array and offsets, with look-up by binary search where they are sorted.

Sorted means by UTF-8 bytes, which is the order of code points. Knows nothing of what the strings name.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.index.format import Container, FileWriter
from fader.kernel import kernel


@kernel
def _find(data: NDArray[np.uint8], at: NDArray[Any], key: NDArray[np.uint8]) -> int:
    """Binary search for a key among sorted strings; -1 if it is not there."""
    low, high = 0, at.size - 1
    while low < high:
        middle = (low + high) >> 1
        start, size = np.int64(at[middle]), np.int64(at[middle + 1]) - np.int64(at[middle])
        i = 0
        while i < size and i < key.size and data[start + i] == key[i]:
            i += 1
        if i == size and i == key.size:
            return middle
        if i == size or (i < key.size and data[start + i] < key[i]):
            low = middle + 1
        else:
            high = middle
    return -1


def write_strings(writer: FileWriter, name: str, strings: Iterable[str | bytes]) -> None:
    """Store strings under `name` (bytes) and `name_at` (offsets)."""
    encoded = [s.encode("utf-8") if isinstance(s, str) else s for s in strings]
    ends = np.cumsum([0] + [len(e) for e in encoded], dtype=np.int64)
    narrow = np.uint32 if ends[-1] < 1 << 32 else np.uint64
    writer.array(name + "_at", ends.astype(narrow))
    writer.array(name, np.frombuffer(b"".join(encoded), dtype=np.uint8))


class Strings(Sequence[str]):
    """Stored strings, decoded one at a time."""

    def __init__(self, container: Container, name: str) -> None:
        self._container = container
        self._name = name
        self._at: NDArray[Any] = container[name + "_at"]
        self._bytes: NDArray[np.uint8] = container[name]

    def __len__(self) -> int:
        return self._at.size - 1

    def raw(self, i: int) -> bytes:
        return self._container.slice(self._name, int(self._at[i]), int(self._at[i + 1]))

    def __getitem__(self, i: Any) -> str:
        return self.raw(int(i)).decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))

    def find(self, wanted: str) -> int:
        """The index of a string in sorted strings, -1 if it is not there."""
        key = np.frombuffer(wanted.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        return int(_find(self._bytes, self._at, key))


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
    keys = _Keys(length, key)
    return bisect_left(keys, prefix), bisect_left(keys, prefix + "\U0010ffff")
