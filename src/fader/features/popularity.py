"""Popularity: how many documents of the whole collection mention the entity, whatever the query.

    p(e) = ln(1 + df(e)) / ln(1 + N),        f_q(x, e) = ( p(e), 1 - p(e) )

Two columns, so that weights >= 0 can both favour known entities and discount those that are mentioned everywhere. All
contexts of an entity have the same two numbers: under an aggregator such as logsumexp, where ln sum exp(a + c) = c + ln
sum exp(a), they are what entity-level features are to an entity-level ranker: an entity prior (Balog et al., "A
language modeling framework for expert finding", 2009, section 3). Golden case: of 8 documents one mentions e, so that p
= ln 2 / ln 9. Knows nothing of literals; they share it evenly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.features.base import F64, I32, Block, Columns, FeatureMap, Piece
from fader.features.column import even_shares
from fader.features.fused import EntityColumn, Term, TermMaker


@dataclass(frozen=True)
class Popularity(FeatureMap):
    """Known or unknown, whatever the query."""

    name: ClassVar[str] = "popularity"

    @property
    def size(self) -> int:
        return 2

    def labels(self) -> list[str]:
        return ["mentioned in many documents", "mentioned in few"]

    def _values(self, contexts: Contexts) -> F64:
        """(entities, 2)."""
        documents = contexts.entity_documents if len(contexts) else np.zeros(contexts.entities.size)
        known = np.log1p(documents) / np.log1p(max(1, contexts.statistics.documents))
        return np.stack([known, 1.0 - known], axis=1)

    def blocks(self, contexts: Contexts) -> list[Block]:
        return [Columns(self._values(contexts), contexts.slot)]

    def prepare_terms(self, w: F64) -> TermMaker:
        def make(statistics: Statistics, _farthest: int) -> tuple[Term, ...]:
            def values(documents: I32) -> F64:
                known = np.log1p(documents) / np.log1p(max(1, statistics.documents))
                weighed: F64 = known * w[0] + (1.0 - known) * w[1]
                return weighed

            return (EntityColumn((self.name, *w.tolist()), values),)

        return make

    def by_literal(self, contexts: Contexts, rows: I32, w: F64) -> F64:
        values: F64 = (self._values(contexts) @ w)[contexts.slot[rows]]
        return even_shares(contexts, rows) * values

    def pieces(self, contexts: Contexts, row: int, w: F64) -> list[Piece]:
        values = self._values(contexts)[contexts.slot[row]]
        return [Piece(self.name, -1, label, float(v * c)) for label, v, c in zip(self.labels(), values, w, strict=True)]
