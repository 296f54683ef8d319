"""Decoded lists of a collection in one array of integers, shared by all queries.

    literal   documents, ascending; where each one's positions begin; start positions, counted in the document
    type      bits of the documents that mention it and their ranks; where each document's mentions begin; per mention,
              by document, entity and position: start, end, slot << 1 | last of its entity in the document, row;
              the first three once more as one number, which is what a ranking reads

Documents have the numbers of the whole collection, so nothing of segments is left, and a kernel needs the array and a
few offsets instead of an array per list. When the array is full, a new one begins; queries that still read the old one
keep it alive. Knows nothing of how lists are found or read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fader import budget

I32 = NDArray[np.int32]
ALIGNED = 16  # integers of a cache line


class LiteralList(NamedTuple):
    """Where the occurrences of a literal are: `documents` of them at `document`, each one's positions from `at` on."""

    document: int
    documents: int
    at: int
    position: int
    occurrences: int


class TypeList(NamedTuple):
    """Where the mentions of a type are. `slots` entities are numbered in `entity`, ascending."""

    bits: int  # in 64-bit words
    rank: int
    at: int
    start: int
    end: int
    slot: int
    row: int
    mentions: int
    entity: int
    slots: int
    longest: int  # mentions of one document
    packed: int  # the first three columns of a mention as one number (`lanes.py`), in 64-bit words
    has_long: bool  # whether a mention is longer than a packed row can say


class FullError(Exception):
    """A list does not fit into what is left of the array."""


L = TypeVar("L", LiteralList, TypeList)


class Arena:
    """One array and the lists in it. Safe to share among threads: a list is entered when it is whole."""

    def __init__(self, integers: int) -> None:
        self.integers = np.empty(integers + ALIGNED, dtype=np.int32)  # kernels read a few integers beyond a list
        self.words = self.integers[: (integers + ALIGNED) & ~1].view(np.uint64)
        self._size, self._used, self._shared = integers, 0, 0
        self._lists: dict[Hashable, LiteralList | TypeList] = {}
        self._lock = threading.RLock()

    def reserve(self, size: int, share: int = 1) -> int:
        """Where `size` integers are free; `FullError` where there are not so many.

        What is reserved with a share of n may have one n-th of the array in all.
        """
        with self._lock:
            at = self._used
            end = -(-(at + size) // ALIGNED) * ALIGNED
            if end > self._size or (share > 1 and self._shared + size > self._size // share):
                raise FullError
            self._used = end
            self._shared += size if share > 1 else 0
            return at

    def put(self, values: NDArray[np.int32]) -> int:
        """Copy values into the array; where they are."""
        at = self.reserve(values.size)
        self.integers[at : at + values.size] = values
        return at

    def find(self, key: Hashable) -> LiteralList | TypeList | None:
        """A list that was entered."""
        return self._lists.get(key)

    def enter(self, key: Hashable, make: Callable[[Arena], L]) -> L:
        """A list, made where it is not there yet; what was reserved for one that cannot be made is free again."""
        found = self._lists.get(key)
        if found is None:
            with self._lock, budget.keeping_way():
                found = self._lists.get(key)
                if found is None:
                    before = self._used, self._shared
                    try:
                        self._lists[key] = found = make(self)
                    except BaseException:
                        self._used, self._shared = before
                        raise
        return found  # type: ignore[return-value]  # a key names one kind of list
