"""Competition: is this the mention that the query's words are about, or does another candidate stand nearer to them?

    c(t, x) = other mentions of candidates that begin less than l(t) tokens from the nearest occurrence of t
    nearest = sum of perplexity(t) over the literals with c(t, x) = 0
    damped  = sum over literals of perplexity(t) / (1 + c(t, x))

Tokens are counted from the end of the occurrence that faces the mention. Golden case: document `a b wine c`, all of
a, b and c candidates: for `wine`, b and c are nearest (1), and a has b and c before it: 0 and 1/3. Knows nothing of
documents without contexts.
"""

from __future__ import annotations

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
I8 = NDArray[np.int8]


@kernel
def _add_competition(
    at: I64, begin: I32, row: I32, start: I32, end: I32, distances: I32, sides: I8, share: F64, out: F64
) -> None:
    """`begin[at[j]:at[j+1]]` are the first tokens of all candidates in document j, ascending."""
    for x in range(start.size):
        a, b = at[row[x]], at[row[x] + 1]
        for t in range(share.size):
            near = distances[t, x]
            if near < 0:
                continue
            others = 0
            if near > 0:  # the mention itself ends before these tokens, or begins behind them
                token = start[x] - near if sides[t, x] < 0 else end[x] + near - 1
                i = find_first(begin, a, b, token - near + 1)
                others = find_first(begin, i, b, token + near) - i
            if others == 0:
                out[x, 0] += share[t]
            out[x, 1] += share[t] / (1.0 + others)


@dataclass(frozen=True)
class Competition(ColumnFamily):
    """Whose words these are."""

    name: ClassVar[str] = "competition"
    columns: ClassVar[tuple[str, ...]] = ("nearest", "damped")

    def compute(self, contexts: Contexts) -> F64:
        beside, row, share = contexts.companions, contexts.documents.row, contexts.statistics.perplexity()
        distances, sides, out = contexts.distances, contexts.sides, np.zeros((len(contexts), 2))
        for a, b in budget.chunks(len(contexts), weight=8 * share.size):
            mention = row[a:b], contexts.start[a:b], contexts.end[a:b]
            near = np.ascontiguousarray(distances[:, a:b]), np.ascontiguousarray(sides[:, a:b])
            _add_competition(beside.at, beside.start, *mention, *near, share, out[a:b])
        return out
