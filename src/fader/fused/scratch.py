"""Room for the kernels of one thread, used again by every query: scratch, and the pairs that are kept."""

from __future__ import annotations

import threading

import numpy as np

from fader.allowance import claim_kept, claimed
from fader.fused import kernels
from fader.fused.kernels import Pairs, Scratch
from fader.fused.lanes import LANES

MOST_LITERALS = 64
PAIR_BYTES, SLOT_BYTES, ROW_BYTES, WINDOW_BYTES = 20, 36, 80, 64
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
        wanted = literals, rows, slots
        if scratch is not None:
            wanted = (
                max(literals, scratch.counts.size // kernels.WINDOW),
                max(rows, scratch.score.size),
                max(slots, len(scratch.total)),
            )
        claim_kept((id(self), "scratch"), count_scratch(*wanted))
        if (
            scratch is None
            or scratch.score.size < rows
            or scratch.code.size < literals * (rows + LANES)
            or scratch.counts.size < literals * kernels.WINDOW
            or len(scratch.total) < slots
        ):
            scratch = self.scratch = new_scratch(*wanted)
        scratch.state.fill(0)
        scratch.pointer.fill(0)
        return scratch

    def grow_pairs(self, used: int, needed: int, most: int) -> Pairs:
        """Pairs with room for as many more as a window may have; what there is at least doubles."""
        pairs, size = self.pairs, self.pairs.slot.size
        if size - used < needed:
            size = max(used + needed, min(4 * size, most + needed))
        claim_kept((id(self), "pairs"), PAIR_BYTES * size)
        if size > pairs.slot.size:
            with claimed(PAIR_BYTES * pairs.slot.size):  # both are there while one is copied
                integers = [np.empty(size, np.int32) for _column in range(3)]
                grown = Pairs(integers[0], np.empty(size), integers[1], integers[2])
                grown.slot[:used], grown.score[:used] = pairs.slot[:used], pairs.score[:used]
                grown.row[:used], grown.before[:used] = pairs.row[:used], pairs.before[:used]
                self.pairs = pairs = grown
        return pairs


def count_scratch(literals: int, rows: int, slots: int) -> int:
    """The bytes of scratch."""
    own = SLOT_BYTES * slots + (ROW_BYTES + 4 * literals) * rows
    return own + (WINDOW_BYTES + 4 * literals) * kernels.WINDOW + (16 << kernels.MEMO_BITS)


def new_scratch(literals: int, rows: int, slots: int) -> Scratch:
    """Scratch that is large enough for a query."""
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
