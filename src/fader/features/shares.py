"""Shares: how much of the query's IDF is around the mention and in its document.

    overlap             share of the literals that overlap the mention
    near                share of those within 100 tokens of it
    left                share of those whose nearest occurrence is to its left
    document            share of those that the document has
    required near       share of the required literals' IDF within 25 tokens; 1/2 where the query requires nothing
    required document   the same in the whole document; 1 where the query requires nothing

A share is perplexity(t) = IDF(t) / IDF(q), summed over literals. Golden case: two literals of equal IDF, the first at
distance 0, the second 30 tokens to the right: overlap 1/2, near 1, left 0, document 1. Knows nothing of other mentions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.query import Query
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.features.base import F64, I32
from fader.features.family import ColumnFamily
from fader.kernel import inner_kernel, kernel

I8 = NDArray[np.int8]
NEAR, CLOSE = 100, 25


@inner_kernel
def add_shares(distance: int, is_left: bool, is_there: bool, share: float, part: float, out: F64) -> None:
    """What a literal adds to the six columns of a context."""
    if distance == 0:
        out[0] += share
    if 0 <= distance <= NEAR:
        out[1] += share
    if is_left:
        out[2] += share
    if is_there:
        out[3] += share
        out[5] += part
    if 0 <= distance <= CLOSE:
        out[4] += part


@kernel
def _add_shares(distances: I32, sides: I8, row: I32, counts: I32, share: F64, part: F64, out: F64) -> None:
    is_free = not part.any()
    for x in range(row.size):
        for t in range(share.size):
            is_left, is_there = sides[t, x] < 0, counts[t, row[x]] > 0
            add_shares(distances[t, x], is_left, is_there, share[t], part[t], out[x])
        if is_free:
            out[x, 4], out[x, 5] = 0.5, 1.0


@dataclass(frozen=True)
class Shares(ColumnFamily):
    """How much of the query is around the mention."""

    name: ClassVar[str] = "shares"
    columns: ClassVar[tuple[str, ...]] = ("overlap", "near", "left", "document", "required near", "required document")

    def compute(self, contexts: Contexts) -> F64:
        share, part, documents = *find_parts(contexts.statistics, contexts.query), contexts.documents
        out = np.zeros((len(contexts), self.size))
        for a, b in budget.chunks(len(contexts), weight=share.size):
            # As whole rows: for another layout the kernel would be compiled again.
            near = np.ascontiguousarray(contexts.distances[:, a:b]), np.ascontiguousarray(contexts.sides[:, a:b])
            _add_shares(*near, documents.row[a:b], documents.counts, share, part, out[a:b])
        return out


def find_parts(statistics: Statistics, query: Query) -> tuple[F64, F64]:
    """The share of every literal in IDF(q), and in that of the required ones: all 0 where nothing is required."""
    share = statistics.perplexity()
    required = np.where(query.required, share, 0.0)
    total = float(required.sum())
    return share, required / total if total > 0 else required
