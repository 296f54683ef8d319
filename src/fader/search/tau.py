"""Kendall's tau-b: how similarly two lists of scores order the same items, with ties.

    tau = (concordant - discordant) / sqrt((pairs - pairs tied in x) (pairs - pairs tied in y))

1 is the same order, -1 the reverse; None if a list has fewer than two different scores. Discordant pairs are the
inversions of y after the items are sorted by x, then y; a merge sort counts them in n log n steps. Kendall, "The
treatment of ties in ranking problems", Biometrika 1945; Knight, "A computer method for calculating Kendall's tau with
ungrouped data", JASA 1966. Golden case: 3, 2, 1 and 1, 2, 2 have 0 concordant and 2 discordant pairs and one tied in y:
tau = -2 / sqrt(3 * 2). Knows nothing of what is scored.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.kernel import kernel

F64 = NDArray[np.float64]


@kernel
def _merge(values: F64, width: int, out: F64) -> int:
    """Merge neighbouring sorted runs of a width into `out`; returns how many pairs were in the wrong order."""
    n, wrong = values.size, 0
    for begin in range(0, n, 2 * width):
        middle, end = min(n, begin + width), min(n, begin + 2 * width)
        i, j = begin, middle
        for k in range(begin, end):
            if i < middle and (j == end or values[i] <= values[j]):
                out[k] = values[i]
                i += 1
            else:
                out[k] = values[j]
                j += 1
                wrong += middle - i
    return wrong


def count_inversions(values: F64) -> int:
    """Pairs i < j with values[i] > values[j]."""
    now, then, width, wrong = values.copy(), np.empty_like(values), 1, 0
    while width < now.size:
        budget.check()
        wrong += int(_merge(now, width, then))
        now, then, width = then, now, 2 * width
    return wrong


def tau_b(x: F64, y: F64) -> float | None:
    """Tau-b of two lists of the same length."""
    n = int(x.size)
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    new_x, new_y = np.diff(x) != 0, np.diff(y) != 0
    pairs, tied_x, tied_both = n * (n - 1) // 2, _count_tied(new_x, n), _count_tied(new_x | new_y, n)
    tied_y = _count_tied(np.diff(np.sort(y)) != 0, n)
    if tied_x == pairs or tied_y == pairs:
        return None
    wrong = count_inversions(y)
    right = pairs - tied_x - tied_y + tied_both - wrong
    return (right - wrong) / math.sqrt((pairs - tied_x) * (pairs - tied_y))


def _count_tied(new: NDArray[np.bool_], n: int) -> int:
    """Pairs inside runs of equal values; `new` marks where another run begins."""
    size = np.diff(np.concatenate([[0], np.flatnonzero(new) + 1, [n]]))
    return int((size * (size - 1) // 2).sum())
