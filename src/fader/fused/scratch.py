"""Room for the kernels of one thread, used again by every query: scratch, and the pairs that are kept."""

from __future__ import annotations

import threading

import numpy as np

from fader.allowance import claim
from fader.fused import kernels
from fader.fused.kernels import Pairs, Scratch
from fader.fused.lanes import LANES

MOST_LITERALS = 64
PAIR_BYTES, SLOT_BYTES, ROW_BYTES = 20, 36, 80
MOST_BEST = 128  # entities that the kernels put in order; more are sorted
NO_INTEGERS = np.empty(0, dtype=np.int32)
NO_PAIRS = Pairs(NO_INTEGERS, np.empty(0), NO_INTEGERS, NO_INTEGERS)


class Room(threading.local):
    """Scratch and pairs of one thread, grown when a query needs more."""

    scratch: Scratch | None = None
    pairs: Pairs = NO_PAIRS

    def reset_scratch(self, literals: int, rows: int, slots: int) -> Scratch:
        """Scratch that is large enough for a query, as if it were new."""
        scratch = self.scratch
        if (
            scratch is None
            or scratch.score.size < rows
            or scratch.code.size < literals * (rows + LANES)
            or scratch.counts.size < literals * kernels.WINDOW
            or len(scratch.total) < slots
        ):
            scratch = self.scratch = new_scratch(literals, rows, slots, scratch)
        scratch.state.fill(0)
        scratch.pointer.fill(0)
        return scratch

    def grow_pairs(self, used: int, needed: int, most: int) -> Pairs:
        """Pairs with room for as many more as a window may have; what there is at least doubles."""
        pairs = self.pairs
        if pairs.slot.size - used < needed:
            size = max(used + needed, min(4 * pairs.slot.size, most + needed))
            claim(PAIR_BYTES * size)
            integers = [np.empty(size, np.int32) for _column in range(3)]
            grown = Pairs(integers[0], np.empty(size), integers[1], integers[2])
            grown.slot[:used], grown.score[:used] = pairs.slot[:used], pairs.score[:used]
            grown.row[:used], grown.before[:used] = pairs.row[:used], pairs.before[:used]
            self.pairs = pairs = grown
        return pairs


def new_scratch(literals: int, rows: int, slots: int, old: Scratch | None) -> Scratch:
    """Scratch that is large enough for a query, and not smaller than the one before it."""
    if old is not None:
        literals = max(literals, old.counts.size // kernels.WINDOW)
        rows, slots = max(rows, old.score.size), max(slots, len(old.total))
    claim(SLOT_BYTES * slots + (ROW_BYTES + 4 * literals) * rows)
    window, words = kernels.WINDOW + 1, kernels.WINDOW // 64
    integers, i32 = np.int64, np.int32
    return Scratch(
        pointer=np.zeros(2 * MOST_LITERALS, integers),
        ahead=np.zeros(2 * MOST_LITERALS, integers),
        match=np.zeros(words, np.uint64),
        other=np.zeros(words, np.uint64),
        where=np.zeros(window, np.uint16),
        item=np.zeros((window, 2), i32),
        offset=np.zeros(window + 1, i32),
        first=np.zeros(window, i32),
        start=np.zeros(rows + LANES, i32),
        end=np.zeros(rows + LANES, i32),
        slot=np.zeros(rows + LANES, i32),
        row=np.zeros(rows + LANES, i32),
        once=np.zeros(window, integers),
        often=np.zeros(window, integers),
        counts=np.zeros(literals * kernels.WINDOW, i32),
        code=np.zeros(literals * (rows + LANES), i32),
        score=np.zeros(rows),
        sum=np.zeros(rows + LANES),
        value=np.zeros(rows),
        document=np.zeros(window),
        column=np.zeros(window),
        divisor=np.zeros(window),
        pair_slot=np.zeros(rows + 1, i32),
        pair_row=np.zeros(rows + 1, i32),
        pair_score=np.zeros(rows + 1),
        key=np.zeros(rows, np.uint64),
        memo_key=np.zeros(1 << kernels.MEMO_BITS, np.uint64),
        memo_value=np.zeros(1 << kernels.MEMO_BITS),
        place=np.zeros(MOST_LITERALS, i32),
        staircase=np.zeros(2 * MOST_LITERALS, i32),
        near=np.zeros(MOST_LITERALS, integers),
        literal=np.zeros(MOST_LITERALS, integers),
        total=np.zeros((slots, 2)),
        kept=np.zeros((slots, 2)),
        touched=np.zeros(slots + 1, i32),
        best=np.zeros((2, MOST_BEST), integers),
        best_value=np.zeros(MOST_BEST),
        state=np.zeros(16, integers),
    )
