"""Windows: BM25 of the tokens around the mention.

    f(x) = sum_t ln(1 + (N - df + .5) / (df + .5)) * tf / (tf + 1.2)

with tf the occurrences of t that begin within 10, or within 50, tokens of the mention's first and last token. Golden
case: N = 4, df = 1, one occurrence 5 tokens away: ln(1 + 3.5/1.5) / 2.2 in both. BM25: Robertson & Zaragoza, "The
probabilistic relevance framework", 2009; all windows count as equally long. Knows nothing of other mentions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

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
WIDTHS = np.array([10, 50])
K1 = 1.2


@inner_kernel
def weigh_window(place: I32, a: int, b: int, low: int, high: int, idf: float) -> Any:
    """What the occurrences `place[a:b]` of a literal that begin in [low, high) add."""
    first = find_first(place, a, b, low)
    tf = find_first(place, first, b, high) - first
    return idf * tf / (tf + K1)


@kernel
def _add_windows(begin: I32, end: I32, row: I32, at: I64, place: I32, idf: F64, widths: I64, out: F64) -> None:
    for x in range(begin.size):
        for t in range(idf.size):
            a, b = at[t, row[x]], at[t, row[x] + 1]
            if a == b:
                continue
            for k in range(widths.size):
                out[x, k] += weigh_window(place, a, b, begin[x] - widths[k], end[x] + widths[k], idf[t])


def weigh_literals(statistics: Statistics) -> F64:
    """The IDF of every literal."""
    idf: F64 = np.log1p((statistics.documents - statistics.df + 0.5) / (statistics.df + 0.5))
    return idf


@dataclass(frozen=True)
class Windows(ColumnFamily):
    """The words around the mention, position by position alike."""

    name: ClassVar[str] = "windows"
    columns: ClassVar[tuple[str, ...]] = tuple(f"within {width} tokens" for width in WIDTHS)

    def compute(self, contexts: Contexts) -> F64:
        positions, row, idf = contexts.positions, contexts.documents.row, weigh_literals(contexts.statistics)
        out = np.zeros((len(contexts), WIDTHS.size))
        for a, b in budget.chunks(len(contexts), weight=8 * idf.size):
            begin, end = contexts.start[a:b], contexts.end[a:b]
            _add_windows(begin, end, row[a:b], positions.at, positions.start, idf, WIDTHS, out[a:b])
        return out
