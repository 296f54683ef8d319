"""Where mentions of a segment begin, as bits, so that the mentions at some positions are found without a search.

    bit p        whether a mention begins at position p
    row[p >> 8]  the first mention that begins at or behind the first position of this cell

Most occurrences of a word are no mention of anything: one bit tells. The bits take an eighth of a byte per token. Knows
nothing of literals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.index.encoding.packed import Packed, get
from fader.index.sound import CELL_BITS
from fader.kernel import kernel
from fader.sorting import sort_part

I32 = NDArray[np.int32]
U64 = NDArray[np.uint64]
FEW = 64


class MentionStarts:
    """The mentions of a segment with `positions` places for tokens; its columns ascend by where mentions begin."""

    def __init__(self, start: Packed, length: Packed, entity: Packed, positions: int) -> None:
        self._columns = start.arrays, length.arrays, entity.arrays
        self._bits = np.zeros((positions >> 6) + 1, dtype=np.uint64)
        self._row = np.zeros((positions >> CELL_BITS) + 2, dtype=np.int32)
        _mark_starts(start.arrays, start.rows, self._bits, self._row)

    def count_forms(self, starts: I32, length: int) -> tuple[I32, I32]:
        """The entities, ascending, of the mentions that cover exactly `length` tokens from one of some positions on,
        and how many mentions of each do.
        """
        return _count_forms(starts, length, self._bits, self._row, self._columns)  # type: ignore[no-any-return]


@kernel
def _mark_starts(start: Any, rows: int, bits: U64, row: I32) -> None:
    base, at, words = start
    cell = 0
    for i in range(rows):
        p = get(base, at, words, i)
        while cell << CELL_BITS <= p:
            row[cell] = i
            cell += 1
        bits[p >> 6] |= np.uint64(1) << np.uint64(p & 63)
    for c in range(cell, row.size):
        row[c] = rows


@kernel
def _count_forms(starts: I32, length: int, bits: U64, first_row: I32, columns: Any) -> Any:
    (s_base, s_at, s_words), (l_base, l_at, l_words), (e_base, e_at, e_words) = columns
    found, n = np.empty(FEW, dtype=np.int32), 0
    for p in starts:
        if p < 0 or p >> 6 >= bits.size or not (bits[p >> 6] >> np.uint64(p & 63)) & np.uint64(1):
            continue
        row, high = first_row[p >> CELL_BITS], first_row[(p >> CELL_BITS) + 1]
        end = high
        while row < high:
            middle = (row + high) >> 1
            if get(s_base, s_at, s_words, middle) < p:
                row = middle + 1
            else:
                high = middle
        while row < end and get(s_base, s_at, s_words, row) == p:
            if get(l_base, l_at, l_words, row) == length:
                if n == found.size:
                    more = np.empty(2 * n, dtype=np.int32)
                    for i in range(n):
                        more[i] = found[i]
                    found = more
                found[n] = get(e_base, e_at, e_words, row)
                n += 1
            row += 1
    sort_part(found, 0, n)
    count, different = np.empty(n, dtype=np.int32), 0
    for i in range(n):
        if i == 0 or found[i] != found[i - 1]:
            found[different], count[different] = found[i], 0
            different += 1
        count[different - 1] += 1
    return found[:different], count[:different]
