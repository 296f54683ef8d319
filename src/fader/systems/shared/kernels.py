"""How much of each literal is near a mention: windows and kernels over all its occurrences. No part by itself.

A token i of a document of n tokens has the distance l(i) to a mention [s, e): 0 inside it, s - i to its left and
i - e + 1 to its right, so that the token beside it has 1. A phrase counts once, at its first token.

    propagated   c'(t, x) = sum over occurrences i of t of k(l(i)),   Z(x) = sum over all tokens i of k(l(i))
                 Z = (e - s) k(0) + K(s) + K(n - e),   K(m) = k(1) + ... + k(m): a look-up, not a loop over the document
    windows      occurrences of t that lie wholly in [s - w, e + w), cut at the document's ends, per token of it

The shapes are those of `fader.features.kernel` and `constant`, which is 1 at every distance. Golden case: the
document `alpha x x x` with a mention at token 1 has, for alpha, c' = 1/2 and Z = 2 with a triangle of width 2, and
1/3 in a window of 1. Knows nothing of likelihoods.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.features.kernel import decays
from fader.features.occurring import find_first
from fader.kernel import inner_kernel, kernel

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]

CONSTANT = "constant"
WEIGHT = 8  # a context and literal takes so many times longer here than an element of an array


def check_width(owner: str, width: float) -> None:
    """Refuse a width that is none."""
    if not 0 < width < float("inf"):
        raise UsageError(f"{owner}: width must be a number of tokens above 0, not {width}")


def decays_up_to(farthest: int, shape: str, width: float) -> F64:
    """k(l) for the distances 0 to `farthest`."""
    if shape == CONSTANT:
        return np.ones(farthest + 1)
    return decays(shape, width, np.arange(farthest + 1, dtype=np.int32))


@inner_kernel
def add_decays(place: I32, a: int, b: int, s: int, e: int, k: F64, reach: int) -> Any:
    """c'(t, x) of a literal with the occurrences `place[a:b]`; k is 0 farther away than `reach`."""
    total = 0.0
    for i in range(find_first(place, a, b, s - reach), b):
        p = np.int64(place[i])
        if p >= e + reach:
            break
        if p < s:
            total += k[s - p]
        elif p < e:
            total += k[0]
        else:
            total += k[p - e + 1]
    return total


@inner_kernel
def add_mass(s: int, e: int, length: int, k: F64, sums: F64) -> Any:
    """Z(x) in a document of `length` tokens; `sums[m]` is K(m)."""
    return (e - s) * k[0] + sums[s] + sums[length - e]


@kernel
def _propagate(
    start: I32,
    end: I32,
    row: I32,
    length: I32,
    at: Any,
    first: I32,
    k: F64,
    sums: F64,
    reach: int,
    begin: int,
    stop: int,
    count: F64,
    mass: F64,
) -> None:
    for x in range(begin, stop):
        s, e, j = np.int64(start[x]), np.int64(end[x]), row[x]
        mass[x] = add_mass(s, e, np.int64(length[j]), k, sums)
        for t in range(at.shape[0]):
            count[t, x] = add_decays(first, at[t, j], at[t, j + 1], s, e, k, reach)


@lru_cache(maxsize=8)
def decays_and_sums(farthest: int, shape: str, width: float) -> tuple[F64, F64, int]:
    """k(l) up to a distance, K(m), and the largest distance at which k is not 0."""
    k = decays_up_to(farthest, shape, width)
    return k, np.concatenate([[0.0], np.cumsum(k[1:])]), int(np.flatnonzero(k)[-1])


def propagate_counts(contexts: Contexts, shape: str, width: float) -> tuple[F64, F64]:
    """(literals, contexts) of c'(t, x), and Z(x) of each context; arrays of the caller's own."""
    positions, documents = contexts.positions, contexts.documents
    count, mass = np.zeros((positions.length.size, len(contexts))), np.empty(len(contexts))
    k, sums, reach = decays_and_sums(int(documents.length.max(initial=0)), shape, width)
    tokens = contexts.start, contexts.end, documents.row, documents.length
    for a, b in budget.chunks(len(contexts), weight=WEIGHT * len(count)):
        _propagate(*tokens, positions.at, positions.start, k, sums, reach, a, b, count, mass)
    return count, mass


@inner_kernel
def share_of_window(place: I32, a: int, b: int, words: int, s: int, e: int, length: int, w: int, weight: float) -> Any:
    """weight * p(t|window) of a literal of so many words with the occurrences `place[a:b]`."""
    low, high = max(0, s - w), min(length, e + w)
    first = find_first(place, a, b, low)
    return weight * (find_first(place, first, b, high - words + 1) - first) / (high - low)


@kernel
def _add_windows(
    start: I32,
    end: I32,
    row: I32,
    length: I32,
    at: Any,
    first: I32,
    words: I32,
    w: int,
    weight: float,
    begin: int,
    stop: int,
    out: F64,
) -> None:
    for x in range(begin, stop):
        s, e, j = np.int64(start[x]), np.int64(end[x]), row[x]
        for t in range(at.shape[0]):
            a, b, size = at[t, j], at[t, j + 1], np.int64(words[t])
            out[t, x] += share_of_window(first, a, b, size, s, e, np.int64(length[j]), w, weight)


def add_window(contexts: Contexts, w: int, weight: float, out: F64) -> None:
    """Add weight * p(t|window) to (literals, contexts)."""
    positions, documents = contexts.positions, contexts.documents
    tokens = contexts.start, contexts.end, documents.row, documents.length
    for a, b in budget.chunks(len(contexts), weight=WEIGHT * len(out)):
        _add_windows(*tokens, positions.at, positions.start, positions.length, w, weight, a, b, out)
