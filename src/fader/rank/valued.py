"""Rankers that are no feature map: a number for each context, and a value for each entity, however it comes about.

    scores      what each context of the table is worth
    valued      the contexts that count, by entity, and each entity's value
    shares      what each context of one entity adds to its value; they add up to it
    literals    in which proportion literals share what a context adds

The rest of a ranker (order, explanations, "what if this context were gone") follows from these. `Scored` is the common
case: an aggregator over the scores of the contexts that count. Knows no particular system.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.aggregate.base import Aggregator
from fader.contexts.policy import Evidence, select
from fader.contexts.table import Contexts
from fader.features.base import Piece
from fader.rank.base import Contributions, Ranking, WhatIf, aggregated, in_proportion, order_entities, rank_of

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]


class Valued(ABC):
    """A ranker given by scores, values and shares."""

    name: ClassVar[str]

    @abstractmethod
    def scores(self, contexts: Contexts) -> F64:
        """What each context is worth by itself."""

    @abstractmethod
    def valued(self, contexts: Contexts) -> tuple[Evidence, F64]:
        """The contexts that count, with their scores, and a value an entity."""

    @abstractmethod
    def shares(self, contexts: Contexts, ranking: Ranking, i: int) -> F64:
        """What each context of the i-th ranked entity adds to its value, in the order of the evidence."""

    def literals(self, contexts: Contexts, rows: I32) -> F64:
        """(literals, rows): weights >= 0 in proportion to which literals share what a context adds; IDF by default."""
        weights: F64 = np.where(contexts.distances[:, rows] >= 0, contexts.statistics.idf()[:, None], 0.0)
        return weights

    def rank(self, contexts: Contexts, k: int) -> Ranking:
        evidence, value = self.valued(contexts)
        budget.check()
        place = order_entities(evidence.entity, value, k)
        support = evidence.at[place + 1] - evidence.at[place]
        return Ranking(evidence.entity[place], value[place], support, place, evidence, int(value.size), value)

    def explain(self, contexts: Contexts, ranking: Ranking, i: int) -> Contributions:
        mine = evidence_slice(ranking, i)
        rows, score = ranking.evidence.row[mine], ranking.evidence.scores[mine]
        share = self.shares(contexts, ranking, i)

        def split() -> F64:
            return in_proportion(self.literals(contexts, rows), share, contexts.distances[:, rows] >= 0)

        return Contributions(rows, share, score, split)

    def pieces(self, contexts: Contexts, row: int) -> list[Piece]:
        return [Piece(self.name, -1, "score", float(self.scores(contexts)[row]))]

    def without(self, contexts: Contexts, ranking: Ranking, i: int, row: int) -> WhatIf:
        """The i-th ranked entity if one row were gone: everything is ranked again, as values may hang together."""
        kept = contexts.take(np.delete(np.arange(len(contexts)), row))
        again = self.rank(kept, max(1, ranking.candidates))
        found = np.flatnonzero(again.entity == ranking.entity[i])
        return WhatIf(float(again.score[found[0]]), 1 + int(found[0])) if found.size else WhatIf(None, None)


class Scored(Valued):
    """An aggregator over the scores of the contexts that count; a context's score depends on no other context."""

    policy: str

    @property
    @abstractmethod
    def aggregator(self) -> Aggregator: ...

    def counted(self, contexts: Contexts) -> NDArray[np.bool_] | None:
        """Which contexts can count at all; None: all. An entity that has none is not ranked."""
        return None

    def valued(self, contexts: Contexts) -> tuple[Evidence, F64]:
        scores, counted = self.scores(contexts), self.counted(contexts)
        if counted is None or counted.all():
            evidence = select(contexts, scores, self.policy)
        else:
            rows = np.flatnonzero(counted).astype(np.int32)
            evidence = select(contexts.take(rows), scores[rows], self.policy)
            evidence = replace(evidence, row=rows[evidence.row])
        return evidence, aggregated(self.aggregator, evidence.scores, evidence.at)

    def without(self, contexts: Contexts, ranking: Ranking, i: int, row: int) -> WhatIf:
        """The i-th ranked entity if one row were gone: only its own value changes."""
        mine = contexts.slot == contexts.slot[row]
        mine[row] = False
        again = self.rank(contexts.take(np.flatnonzero(mine)), 1)
        if not again.entity.size:
            return WhatIf(None, None)
        return WhatIf(float(again.score[0]), rank_of(ranking, i, float(again.score[0])))

    def shares(self, contexts: Contexts, ranking: Ranking, i: int) -> F64:
        scores = ranking.evidence.scores[evidence_slice(ranking, i)]
        return self.aggregator.shares(scores, np.array([0, scores.size], dtype=np.int64))


def evidence_slice(ranking: Ranking, i: int) -> slice:
    """Where the i-th ranked entity's contexts stand in the evidence."""
    at = ranking.evidence.at
    return slice(int(at[ranking.place[i]]), int(at[ranking.place[i] + 1]))
