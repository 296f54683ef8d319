"""Positional: the positional language model at the mention, at three widths.

    f(x) = sum_t ln(1 + c'(t, x) / (mu p(t|C)))  -  |q| ln(1 + Z(x) / mu)
    c'(t, x) = sum over occurrences i of t of k(l(i)),   Z(x) = sum over all tokens i of the document of k(l(i))

with k(l) = exp(-l^2 / (2 width^2)) up to five widths and 0 beyond, l = 0 inside the mention and the tokens from its
nearest end outside; (width, mu) = (25, 100), (75, 300), (175, 1000), and |q| the literals that the collection has. It
is the log likelihood of `systems.plm` without what is equal for all contexts of a query. Golden case: a document that
is the mention and a literal behind it, p(t|C) = 1/2: ln(1 + 2 k(1) / mu) - ln(1 + (1 + k(1)) / mu). Lv & Zhai,
"Positional language models for information retrieval", SIGIR 2009. Knows nothing of other mentions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.features.base import F64, I32
from fader.features.family import ColumnFamily
from fader.features.occurring import find_first
from fader.kernel import inner_kernel, kernel

I64 = NDArray[np.int64]
WIDTHS, MU = np.array([25, 75, 175]), np.array([100.0, 300.0, 1000.0])
REACH = 5 * WIDTHS
LARGEST = 1e100  # factors between this and its inverse are multiplied


class Decays(NamedTuple):
    """Tables by width: `decay[k, l]`, and `mass[k, r]`, the sum of decay over 1..r."""

    decay: F64
    mass: F64
    reach: I64
    mu: F64


@inner_kernel
def begin_likelihoods(s: int, e: int, length: int, decays: Decays, work: F64) -> None:
    """Begin with the mention [s, e) of a document; by width, `work` has factors, logarithms, 1 + Z / mu and c'."""
    for k in range(decays.reach.size):
        left, right = min(decays.reach[k], s), min(decays.reach[k], max(0, length - e))
        z = (e - s) * decays.decay[k, 0] + decays.mass[k, left] + decays.mass[k, right]
        work[0, k], work[1, k], work[2, k] = 1.0, 0.0, 1.0 + z / decays.mu[k]


@inner_kernel
def add_likelihoods(place: I32, a: int, b: int, s: int, e: int, rarity: float, decays: Decays, work: F64) -> None:
    """Multiply by the factor of a literal with the occurrences `place[a:b]`; out of bounds, it becomes a logarithm."""
    reach, decay, widths = decays.reach, decays.decay, decays.reach.size
    for k in range(widths):
        work[3, k] = 0.0
    farthest = reach[widths - 1]
    for i in range(find_first(place, a, b, s - farthest), b):
        p = np.int64(place[i])
        if p >= e + farthest:
            break
        far = s - p if p < s else (0 if p < e else p - e + 1)
        for k in range(widths):
            if far <= reach[k]:
                work[3, k] += decay[k, far]
    for k in range(widths):
        factor = work[0, k] * ((1.0 + work[3, k] * rarity / decays.mu[k]) / work[2, k])
        if factor > LARGEST or factor < 1 / LARGEST:
            work[1, k] += math.log(factor)
            factor = 1.0
        work[0, k] = factor


@inner_kernel
def end_likelihoods(decays: Decays, work: F64, out: F64) -> None:
    """The columns of the mention."""
    for k in range(decays.reach.size):
        out[k] = work[1, k] + math.log(work[0, k])


@kernel
def _add_likelihoods(
    begin: I32, end: I32, row: I32, length: I32, at: I64, place: I32, rarity: F64, decays: Decays, out: F64
) -> None:
    """`rarity[t]` = 1 / p(t|C), 0 for a literal that does not occur."""
    work = np.empty((4, decays.reach.size))
    for x in range(begin.size):
        s, e = np.int64(begin[x]), np.int64(end[x])
        begin_likelihoods(s, e, np.int64(length[row[x]]), decays, work)
        for t in range(rarity.size):
            if rarity[t] > 0:
                add_likelihoods(place, at[t, row[x]], at[t, row[x] + 1], s, e, rarity[t], decays, work)
        end_likelihoods(decays, work, out[x])


@cache
def make_decays() -> Decays:
    """The tables of all widths."""
    far = np.arange(REACH.max() + 1)
    decay = np.exp(-(far**2) / (2.0 * WIDTHS[:, None] ** 2))
    mass = np.zeros(decay.shape)
    np.cumsum(decay[:, 1:], axis=1, out=mass[:, 1:])
    return Decays(decay, mass, REACH, MU)


def find_rarity(statistics: Statistics) -> F64:
    """1 / p(t|C) of every literal, 0 for one that does not occur."""
    cf = statistics.cf
    return np.divide(statistics.tokens, cf, out=np.zeros(cf.size), where=cf > 0)


@dataclass(frozen=True)
class Positional(ColumnFamily):
    """How likely the query's words are at the mention."""

    name: ClassVar[str] = "positional"
    columns: ClassVar[tuple[str, ...]] = tuple(f"likelihood at width {width}" for width in WIDTHS)

    def compute(self, contexts: Contexts) -> F64:
        positions, documents, rarity = contexts.positions, contexts.documents, find_rarity(contexts.statistics)
        out = np.empty((len(contexts), WIDTHS.size))
        for a, b in budget.chunks(len(contexts), weight=100 * rarity.size):
            mention = contexts.start[a:b], contexts.end[a:b], documents.row[a:b], documents.length
            _add_likelihoods(*mention, positions.at, positions.start, rarity, make_decays(), out[a:b])
        return out
