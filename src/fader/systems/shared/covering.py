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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.table import Contexts
from fader.features.occurring import find_first
from fader.kernel import inner_kernel, kernel

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


class OwnLiterals(NamedTuple):
    """The literals of a context: where each one's occurrences in the document begin and end, and its distance.

    `length` has the tokens of each, `distance` -1 for one that the context does not have.
    """

    begin: I64
    end: I64
    length: I64
    distance: I64


class Search(NamedTuple):
    """Room for the search: of the k-th literal that the context has, where its first occurrence from here on ends,
    its last place before here, its first place, and which literal it is.
    """

    ends: I64
    before: I64
    lowest: I64
    which: I64


@inner_kernel
def find_window(place: I32, s: int, e: int, own: OwnLiterals, search: Search) -> Any:
    """Begin and size of the smallest window around the mention [s, e), and the tokens that its literals need."""
    ends, before, lowest, which = search
    n, needed, right = 0, 0, e
    for t in range(own.length.size):
        if own.distance[t] < 0:
            continue
        low, high, beside = own.begin[t], own.end[t], own.distance[t] > 0
        first = find_first(place, low, high, e if beside else s)
        ends[n] = np.int64(place[first]) + own.length[t] if first < high else FAR
        before[n] = find_first(place, low, first, s - own.length[t] + 1 if beside else s) - 1
        lowest[n], which[n] = low, t
        right = max(right, ends[n])
        needed += own.length[t]
        n += 1
    best, best_begin = right - s, s
    while True:
        here = -1
        for k in range(n):
            if before[k] >= lowest[k]:
                here = max(here, int(place[before[k]]))
        if here < 0 or e - here >= best:
            break
        right = e
        for k in range(n):
            if before[k] >= lowest[k] and place[before[k]] == here:
                ends[k] = here + own.length[which[k]]
                before[k] -= 1
            right = max(right, ends[k])
        if right - here < best:
            best, best_begin = right - here, here
    return best_begin, best, needed


@inner_kernel
def take_literals(distances: I32, at: I64, length: I32, x: int, j: int, own: OwnLiterals) -> None:
    """The literals of row x of a table, whose document is the j-th."""
    for t in range(length.size):
        own.begin[t], own.end[t] = at[t, j], at[t, j + 1]
        own.length[t], own.distance[t] = length[t], distances[t, x]


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
    a, b = np.empty((4, length.size), np.int64), np.empty((4, length.size), np.int64)
    own, search = OwnLiterals(a[0], a[1], a[2], a[3]), Search(b[0], b[1], b[2], b[3])
    for x in range(from_, to):
        take_literals(distances, at, length, x, np.int64(row[x]), own)
        begin[x], size[x], held[x] = find_window(start, np.int64(first[x]), np.int64(last[x]), own, search)


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
