"""Adjacency: consecutive literals of the query that stand together, near the mention and in its document.

    f(x) = sum over consecutive literals t, u that are adjacent there of perplexity(t) + perplexity(u)

An occurrence of t is adjacent to u where u begins at most 2 tokens behind its end. `near` asks for one that begins
within 50 tokens of the mention, `document` for any. Golden case: query `red wine`, document `red wine ... e`: both
columns are 1, and 0 for `wine red ... e`. Knows nothing of distances between other literals.
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
NEAR, GAP = 50, 2


@kernel
def _count_adjacent(at: I64, place: I32, length: I32, before: I64) -> None:
    """`before[i]` = how many of the occurrences before the i-th have the next literal behind them."""
    seen = 0
    for t in range(length.size):
        for d in range(at.shape[1] - 1):
            j, end = 0, 0
            if t + 1 < length.size:
                j, end = at[t + 1, d], at[t + 1, d + 1]
            for i in range(at[t, d], at[t, d + 1]):
                behind = place[i] + length[t]
                while j < end and place[j] < behind:
                    j += 1
                before[i] = seen
                if j < end and place[j] <= behind + GAP:
                    seen += 1
    before[before.size - 1] = seen


@kernel
def _add_adjacent(begin: I32, end: I32, row: I32, at: I64, place: I32, before: I64, share: F64, out: F64) -> None:
    for x in range(begin.size):
        for t in range(share.size - 1):
            a, b = at[t, row[x]], at[t, row[x] + 1]
            if before[b] > before[a]:
                both = share[t] + share[t + 1]
                out[x, 1] += both
                a = find_first(place, a, b, begin[x] - NEAR)
                b = find_first(place, a, b, end[x] + NEAR)
                if before[b] > before[a]:
                    out[x, 0] += both


@dataclass(frozen=True)
class Adjacency(ColumnFamily):
    """Words of the query that stand side by side."""

    name: ClassVar[str] = "adjacency"
    columns: ClassVar[tuple[str, ...]] = ("near", "document")

    def compute(self, contexts: Contexts) -> F64:
        positions, row, share = contexts.positions, contexts.documents.row, contexts.statistics.perplexity()
        out = np.zeros((len(contexts), 2))
        before = np.zeros(positions.start.size + 1, dtype=np.int64)
        _count_adjacent(positions.at, positions.start, positions.length, before)
        for a, b in budget.chunks(len(contexts), weight=8 * share.size):
            mention = contexts.start[a:b], contexts.end[a:b], row[a:b]
            _add_adjacent(*mention, positions.at, positions.start, before, share, out[a:b])
        return out
