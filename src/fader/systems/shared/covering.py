"""The smallest window of tokens that covers a mention and one occurrence of each literal its context has. No part.

    window(x) = the least r - l over l <= start, r >= end such that [l, r) holds the mention and a whole occurrence
                of each literal t with l(t) >= 0

Of several smallest windows the one that begins last is taken. A literal that the context does not have is left out: one
that the document does not have, or that lies beyond a window given to the matching; of the others every occurrence in
the document may be covered. Where the matching ignored occurrences that overlap the mention, so does the window: that
is seen from l(t) > 0. A context without any literal has the mention as its window, and `held` 0.

Golden case: tokens `a x M y b a`, mention M, literals a and b: from M to the second a is 4 tokens, from the first a to
b 5; the window is [2, 6).

The window begins at the mention or at an occurrence, so that beginnings are tried from the mention leftwards, each
literal being covered by its first occurrence from there on; as this goes no farther than the best window so far, the
work is that of the occurrences nearby. Knows nothing of scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.table import Contexts
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
FAR = 1 << 40
WEIGHT = 8  # a context and literal takes so many times longer here than an element of an array


@dataclass(frozen=True, slots=True)
class Windows:
    """A number a context: where its window begins, how many tokens it has, and how many tokens its literals need.

    `held` adds up the lengths of the literals of the context.
    """

    begin: I32
    size: I32
    held: I32


@kernel
def first_from(start: I32, low: int, high: int, wanted: int) -> Any:
    """The first of ascending `start[low:high]` that is not below `wanted`; `high` where none is."""
    while low < high:
        middle = (low + high) >> 1
        if start[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _smallest(
    first: I32,
    last: I32,
    row: I32,
    distances: I32,
    at: I64,
    start: I32,
    length: I32,
    from_: int,
    to: int,
    begin: I32,
    size: I32,
    held: I32,
) -> None:
    """`ends[k]` is where the k-th literal's first occurrence from here on ends, `before[k]` its last place before."""
    literals = distances.shape[0]
    ends, before = np.empty(literals, dtype=np.int64), np.empty(literals, dtype=np.int64)
    lowest, which = np.empty(literals, dtype=np.int64), np.empty(literals, dtype=np.int64)
    for x in range(from_, to):
        s, e, j = first[x], last[x], row[x]
        n, needed, right = 0, 0, np.int64(e)
        for t in range(literals):
            if distances[t, x] < 0:
                continue
            low, high = at[t, j], at[t, j + 1]
            beside = distances[t, x] > 0
            place = first_from(start, low, high, e if beside else s)
            ends[n] = start[place] + length[t] if place < high else FAR
            before[n] = first_from(start, low, place, s - length[t] + 1 if beside else s) - 1
            lowest[n], which[n] = low, t
            right = max(right, ends[n])
            needed += length[t]
            n += 1
        best, best_begin = right - s, np.int64(s)
        while True:
            here = np.int64(-1)
            for k in range(n):
                if before[k] >= lowest[k]:
                    here = max(here, np.int64(start[before[k]]))
            if here < 0 or e - here >= best:
                break
            right = np.int64(e)
            for k in range(n):
                if before[k] >= lowest[k] and start[before[k]] == here:
                    ends[k] = here + length[which[k]]
                    before[k] -= 1
                right = max(right, ends[k])
            if right - here < best:
                best, best_begin = right - here, here
        begin[x], size[x], held[x] = best_begin, best, needed


def smallest_windows(contexts: Contexts) -> Windows:
    """The windows of all contexts, found once a table."""
    return contexts.compute_once("smallest covering windows", lambda: _windows(contexts))  # type: ignore[no-any-return]


def _windows(contexts: Contexts) -> Windows:
    n = len(contexts)
    begin, size, held = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    if n:
        positions = contexts.positions
        tokens = contexts.start, contexts.end, contexts.documents.row, contexts.distances
        for a, b in budget.chunks(n, weight=WEIGHT * len(contexts.distances)):
            _smallest(*tokens, positions.at, positions.start, positions.length, a, b, begin, size, held)
    return Windows(begin, size, held)
