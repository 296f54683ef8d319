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
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.table import Contexts
from fader.features.base import F64, I32
from fader.features.family import ColumnFamily
from fader.features.occurring import find_first
from fader.kernel import kernel

I64 = NDArray[np.int64]
WIDTHS, MU = np.array([25, 75, 175]), np.array([100.0, 300.0, 1000.0])
REACH = 5 * WIDTHS


@kernel
def _add_likelihoods(
    begin: I32, end: I32, row: I32, length: I32, at: I64, place: I32, rarity: F64, decay: F64, mass: F64, reach: I64,
    mu: F64, out: F64,
) -> None:  # fmt: skip
    """`rarity[t]` = 1 / p(t|C), 0 for a literal that does not occur; `mass[k, r]` = sum of decay over 1..r."""
    for x in range(begin.size):
        s, e = begin[x], end[x]
        for k in range(reach.size):
            r, known, total = reach[k], 0, 0.0
            for t in range(rarity.size):
                if rarity[t] == 0:
                    continue
                known += 1
                b = at[t, row[x] + 1]
                first, count = find_first(place, at[t, row[x]], b, s - r), 0.0
                for i in range(first, b):
                    p = place[i]
                    if p >= e + r:
                        break
                    far = s - p if p < s else (0 if p < e else p - e + 1)
                    count += decay[k, far]
                if count > 0:
                    total += math.log1p(count * rarity[t] / mu[k])
            left, right = min(r, s), min(r, max(0, length[row[x]] - e))
            z = (e - s) * decay[k, 0] + mass[k, left] + mass[k, right]
            out[x, k] = total - known * math.log1p(z / mu[k])


@dataclass(frozen=True)
class Positional(ColumnFamily):
    """How likely the query's words are at the mention."""

    name: ClassVar[str] = "positional"
    columns: ClassVar[tuple[str, ...]] = tuple(f"likelihood at width {width}" for width in WIDTHS)

    def compute(self, contexts: Contexts) -> F64:
        positions, documents, statistics = contexts.positions, contexts.documents, contexts.statistics
        far = np.arange(REACH.max() + 1)
        decay = np.exp(-(far**2) / (2.0 * WIDTHS[:, None] ** 2))
        mass = np.zeros(decay.shape)
        np.cumsum(decay[:, 1:], axis=1, out=mass[:, 1:])
        rarity = np.divide(statistics.tokens, statistics.cf, out=np.zeros(statistics.cf.size), where=statistics.cf > 0)
        out = np.empty((len(contexts), WIDTHS.size))
        for a, b in budget.chunks(len(contexts), weight=100 * rarity.size):
            mention = contexts.start[a:b], contexts.end[a:b], documents.row[a:b], documents.length
            _add_likelihoods(*mention, positions.at, positions.start, rarity, decay, mass, REACH, MU, out[a:b])
        return out
