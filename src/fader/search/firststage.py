"""What the first stage of a cascade finds for a query: all candidates by value, and the table that the second values.

By the fused path, which reads no more than it must; training on thousands of queries needs no other table of them.
Knows nothing of judgments.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.aggregate.max import Max
from fader.contexts.policy import Evidence
from fader.contexts.query import Query
from fader.contexts.table import Contexts
from fader.features.bias import Bias
from fader.fused.ranker import FusedRanker
from fader.rank.rerank import FirstStage
from fader.rank.system import FeatureScoring
from fader.search.index import Index
from fader.search.local import LocalCollection
from fader.systems.rerank import Rerank

F64 = NDArray[np.float64]
ALL = 1 << 30


class _Kept:
    """In the place of a second stage: keeps the table that it is to value, and values all candidates 0.

    Its feature map is one that is computed through a table alone.
    """

    def __init__(self, cascade: Rerank) -> None:
        self.candidates, self.contexts = cascade.candidates, cascade.contexts
        self.scoring = FeatureScoring(Bias(), np.zeros(1), Max(), "mention")
        self.table: Contexts | None = None

    def value(self, table: Contexts) -> tuple[Evidence, F64]:
        self.table, groups = table, table.groups
        return Evidence(groups.entity, groups.order, groups.at, np.zeros(len(table))), np.zeros(groups.entity.size)


class _FirstOnly:
    """A cascade whose second stage keeps what it sees."""

    def __init__(self, cascade: Rerank) -> None:
        first = cascade.first_system
        self.view, self.prepare_fused, self.reranking = first.view, first.prepare_fused, _Kept(cascade)


class FirstStages:
    """First stages of the queries of one index. Threads may share it."""

    def __init__(self, index: Index) -> None:
        self.index = index
        collection = index.collection
        self._ranker = FusedRanker(collection.reader) if isinstance(collection, LocalCollection) else None

    def find(self, query: Query, cascade: Rerank) -> FirstStage | None:
        """What the first stage leaves of a query; None where it has no fused form."""
        if self._ranker is None:
            return None
        system: Any = _FirstOnly(cascade)
        options = cascade.view.match_options(self.index.limits)
        named = self.index.collection.name_entities(query) if options.entities else query
        found = self._ranker.rank(named, options, system, ALL, 0)
        if found is None:
            return None
        ranking, table = found[1], system.reranking.table
        system.reranking.table = None  # plans, which are kept, know the system
        order = np.argsort(ranking.entity)
        return FirstStage(ranking.entity[order], ranking.score[order], found[0] if table is None else table)
