"""Features x aggregator: the family every learned model belongs to, as one value.

    V(e) = aggregate over the evidence of e of  w . f_q(x, e)

Knows a feature map with its weights, an aggregator and an evidence policy as values, and no particular one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.aggregate.base import Aggregator
from fader.contexts.policy import Evidence, select
from fader.contexts.table import Contexts
from fader.features.base import FeatureMap, Piece
from fader.rank.base import Contributions, Ranking, WhatIf, aggregated, in_proportion, order_entities, rank_of

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Pipeline:
    """A ranker: features with weights, an aggregator, a policy."""

    features: FeatureMap
    weights: F64
    aggregator: Aggregator
    policy: str

    def rank(self, contexts: Contexts, k: int) -> Ranking:
        """Rank the candidates."""
        scores = self.features.score(contexts, self.weights)
        return self.ranked(select(contexts, scores, self.policy), k)

    def ranked(self, evidence: Evidence, k: int) -> Ranking:
        """Rank the candidates by the scores of the contexts that count."""
        value = aggregated(self.aggregator, evidence.scores, evidence.at)
        budget.check()
        place = order_entities(evidence.entity, value, k)
        support = evidence.at[place + 1] - evidence.at[place]
        return Ranking(evidence.entity[place], value[place], support, place, evidence, int(value.size), value)

    def explain(self, contexts: Contexts, ranking: Ranking, i: int) -> Contributions:
        """Split the score of the i-th ranked entity among its contexts, and each share among literals.

        Where a context's score is not what it contributes, its share goes to literals in proportion.
        """
        at = ranking.evidence.at
        mine = slice(at[ranking.place[i]], at[ranking.place[i] + 1])
        rows, score = ranking.evidence.row[mine], ranking.evidence.scores[mine]
        share = self.aggregator.shares(score, np.array([0, rows.size], dtype=np.int64))

        def split() -> F64:
            literal = self.features.by_literal(contexts, rows, self.weights)
            return in_proportion(literal, share, contexts.distances[:, rows] >= 0)

        return Contributions(rows, share, score, split)

    def pieces(self, contexts: Contexts, row: int) -> list[Piece]:
        """The score of one context, by feature cell."""
        return self.features.pieces(contexts, row, self.weights)

    def without(self, contexts: Contexts, ranking: Ranking, i: int, row: int) -> WhatIf:
        """The i-th ranked entity if one row of the table were gone; another mention in its document steps in."""
        slot = contexts.slot[row]
        rows = np.flatnonzero((contexts.slot == slot) & (np.arange(len(contexts)) != row))
        if not rows.size:
            return WhatIf(None, None)
        scores = self.features.score(contexts, self.weights)[rows]
        kept = _rows(contexts, rows)
        evidence = select(kept, scores, self.policy)
        value = float(self.aggregator.values(evidence.scores, evidence.at)[0])
        return WhatIf(value, rank_of(ranking, i, value))


class Piped(ABC):
    """A system that is a pipeline under another name."""

    @property
    @abstractmethod
    def pipeline(self) -> Pipeline: ...

    def rank(self, contexts: Contexts, k: int) -> Ranking:
        return self.pipeline.rank(contexts, k)

    def explain(self, contexts: Contexts, ranking: Ranking, i: int) -> Contributions:
        return self.pipeline.explain(contexts, ranking, i)

    def pieces(self, contexts: Contexts, row: int) -> list[Piece]:
        return self.pipeline.pieces(contexts, row)

    def without(self, contexts: Contexts, ranking: Ranking, i: int, row: int) -> WhatIf:
        return self.pipeline.without(contexts, ranking, i, row)


def _rows(contexts: Contexts, rows: NDArray[np.int64]) -> Contexts:
    """Some rows of a table, enough of it to apply a policy."""
    return Contexts(
        query=contexts.query, statistics=contexts.statistics, slot=contexts.slot[rows], entities=contexts.entities,
        document=contexts.document[rows], distances=contexts.distances[:, rows], plan=contexts.plan,
    )  # fmt: skip
