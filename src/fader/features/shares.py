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

from fader.contexts.table import Contexts
from fader.features.base import F64
from fader.features.family import ColumnFamily

NEAR, CLOSE = 100, 25


@dataclass(frozen=True)
class Shares(ColumnFamily):
    """How much of the query is around the mention."""

    name: ClassVar[str] = "shares"
    columns: ClassVar[tuple[str, ...]] = ("overlap", "near", "left", "document", "required near", "required document")

    def compute(self, contexts: Contexts) -> F64:
        share, documents = contexts.statistics.perplexity(), contexts.documents
        required = np.where(contexts.query.required, share, 0.0)
        part = required / required.sum() if required.sum() > 0 else required
        out = np.zeros((len(contexts), self.size))
        for t, distance in enumerate(contexts.distances):
            out[:, 0] += share[t] * (distance == 0)
            out[:, 1] += share[t] * ((distance >= 0) & (distance <= NEAR))
            out[:, 2] += share[t] * (contexts.sides[t] < 0)
            out[:, 4] += part[t] * ((distance >= 0) & (distance <= CLOSE))
        has = documents.counts > 0
        out[:, 3] = (share @ has)[documents.row]
        out[:, 5] = (part @ has)[documents.row]
        if not required.any():
            out[:, 4], out[:, 5] = 0.5, 1.0
        return out
