"""Distinct folded tokens, numbered, in flat arrays that processes can share: bytes to numbers.

Equality is decided on the bytes: the hash only says where to look. Knows nothing of names.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from fader.arrays import I32, I64, U8
from fader.kernel import inline_kernel, kernel


class Terms(NamedTuple):
    """Term k is `arena[starts[k]:starts[k+1]]`; the table holds numbers + 1 (0: free), open addressing."""

    arena: U8
    starts: I64
    table: I32

    @classmethod
    def of(cls, terms: list[bytes]) -> Terms:
        """Terms numbered as they stand in a list without repetition."""
        arena, starts = flatten(terms)
        table = np.zeros(1 << max(4, (2 * len(terms)).bit_length()), dtype=np.int32)
        _enter(arena, starts, table)
        return cls(arena, starts, table)

    def numbers(self, words: list[bytes]) -> I32:
        """The number of each word, -1 where it is no term."""
        arena, starts = flatten(words)
        found = np.empty(len(words), dtype=np.int32)
        _look_up(arena, starts, self.arena, self.starts, self.table, found)
        return found

    def words(self) -> list[bytes]:
        """All terms."""
        data = self.arena.tobytes()
        return [data[a:b] for a, b in itertools.pairwise(self.starts.tolist())]


def flatten(strings: list[bytes]) -> tuple[U8, I64]:
    """Strings as one array, and where each starts; the last entry is the end."""
    starts = np.zeros(len(strings) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, strings), dtype=np.int64, count=len(strings)), out=starts[1:])
    return np.frombuffer(b"".join(strings), dtype=np.uint8), starts


@inline_kernel
def _slot_of(arena: U8, a: int, b: int, mask: np.uint64) -> Any:
    h = np.uint64(0xCBF29CE484222325)
    for i in range(a, b):
        h = (h ^ np.uint64(arena[i])) * np.uint64(0x100000001B3)
    return (h ^ (h >> np.uint64(32))) & mask


@kernel
def _enter(arena: U8, starts: I64, table: I32) -> None:
    mask = np.uint64(table.size - 1)
    for k in range(starts.size - 1):
        slot = _slot_of(arena, starts[k], starts[k + 1], mask)
        while table[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = k + 1


@kernel
def _look_up(words: U8, word_starts: I64, arena: U8, starts: I64, table: I32, found: I32) -> None:
    mask = np.uint64(table.size - 1)
    for w in range(word_starts.size - 1):
        a, b = word_starts[w], word_starts[w + 1]
        slot = _slot_of(words, a, b, mask)
        found[w] = -1
        while table[slot] != 0:
            k = table[slot] - 1
            same = starts[k + 1] - starts[k] == b - a
            j = 0
            while same and j < b - a:
                same = arena[starts[k] + j] == words[a + j]
                j += 1
            if same:
                found[w] = k
                break
            slot = (slot + np.uint64(1)) & mask
