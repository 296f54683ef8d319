"""Windows: BM25 of the tokens around the mention.

    f(x) = sum_t ln(1 + (N - df + .5) / (df + .5)) * tf / (tf + 1.2)

with tf the occurrences of t that begin within 10, or within 50, tokens of the mention's first and last token. Golden
case: N = 4, df = 1, one occurrence 5 tokens away: ln(1 + 3.5/1.5) / 2.2 in both. BM25: Robertson & Zaragoza, "The
probabilistic relevance framework", 2009; all windows count as equally long. Knows nothing of other mentions.
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
WIDTHS = np.array([10, 50])
K1 = 1.2


@kernel
def _add_windows(begin: I32, end: I32, row: I32, at: I64, place: I32, idf: F64, widths: I64, out: F64) -> None:
    for x in range(begin.size):
        for t in range(idf.size):
            a, b = at[t, row[x]], at[t, row[x] + 1]
            if a == b:
                continue
            for k in range(widths.size):
                first = find_first(place, a, b, begin[x] - widths[k])
                tf = find_first(place, first, b, end[x] + widths[k]) - first
                out[x, k] += idf[t] * tf / (tf + K1)


@dataclass(frozen=True)
class Windows(ColumnFamily):
    """The words around the mention, position by position alike."""

    name: ClassVar[str] = "windows"
    columns: ClassVar[tuple[str, ...]] = tuple(f"within {width} tokens" for width in WIDTHS)

    def compute(self, contexts: Contexts) -> F64:
        positions, row, statistics = contexts.positions, contexts.documents.row, contexts.statistics
        idf = np.log1p((statistics.documents - statistics.df + 0.5) / (statistics.df + 0.5))
        out = np.zeros((len(contexts), WIDTHS.size))
        for a, b in budget.chunks(len(contexts), weight=8 * idf.size):
            begin, end = contexts.start[a:b], contexts.end[a:b]
            _add_windows(begin, end, row[a:b], positions.at, positions.start, idf, WIDTHS, out[a:b])
        return out
