"""All candidates in the order of their evidence, with the contexts of the few that the answer to a question shows.

Entities that are shown may stand anywhere in the order of evidence. Both stages of a cascade give all of them without
the table of all contexts:

    deep    the candidates of the second stage, each with the contexts that contribute most
    broad   all candidates by the first stage: those behind the deep ones are in its order

joined as `rank.rerank` says, to the last bit. Contexts of an entity behind the deep ones are looked for where it is
shown. Knows nothing of questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader.allowance import claim
from fader.contexts.match import MatchOptions
from fader.contexts.query import Query
from fader.rank.ranking import ShownContexts, order_entities
from fader.rank.rerank import FirstValues
from fader.rank.system import System
from fader.search.answer import Snippet
from fader.search.collection import Collection, RankedContexts
from fader.search.evidence import show_contexts
from fader.search.local import rank_contexts
from fader.search.passage import Passage
from fader.systems.rerank import Rerank

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
JOINED_BYTES = 64  # of a candidate


@dataclass(frozen=True)
class StagedRanking:
    """Entities in the order of their evidence; `deep` has the first of them, `broad` all by the first stage."""

    query: Query
    options: MatchOptions
    first: System
    deep: RankedContexts
    broad: FirstValues
    shift: float  # from first values to those of entities behind the deep ones
    entity: I32
    score: F64
    support: I64

    def show(self, collection: Collection, entities: I32, snippets: int, passage: Passage) -> dict[int, list[Snippet]]:
        """Snippets of some entities, whichever stage valued them."""
        deep = self.deep.ranking.entity
        is_deep = np.isin(entities, deep)
        found = _show_some(collection, self.deep, deep, entities[is_deep], passage)
        behind = entities[~is_deep]
        if behind.size:
            broad = self.broad.entity[order_entities(self.broad.entity, self.broad.values, self.broad.values.size)]
            depth = int(np.flatnonzero(np.isin(broad, behind))[-1]) + 1
            ranked = collection.evidence(self.query, self.options, self.first, depth, best=snippets)
            found |= _show_some(collection, ranked, broad[:depth], behind, passage, self.shift)
        return found


def rank_by_evidence(
    collection: Collection, query: Query, options: MatchOptions, system: System, snippets: int
) -> tuple[RankedContexts, StagedRanking | None]:
    """Rank all candidates; by a cascade, so that `snippets` of each can be shown, in stages where that is quicker."""
    every = max(1, len(collection.catalog.entity_ids))
    if snippets and isinstance(system, Rerank):
        deep = collection.evidence(query, options, system, system.candidates, best=snippets)
        if deep.shown is not None:
            first = deep.contexts.memo.get(FirstValues)
            if first is None:
                ranking = collection.evidence(query, options, system.first_system, every, with_rows=False).ranking
                first = FirstValues(ranking.entity, ranking.score, ranking.support)
            return deep, _join_stages(query, options, system.first_system, deep, first)
        if deep.total and len(deep.contexts) == deep.total:  # the whole table was made, and is ranked to its end
            return rank_contexts(deep.contexts, system, every), None
    return collection.evidence(query, options, system, every, with_rows=False), None


def _join_stages(
    query: Query, options: MatchOptions, first: System, deep: RankedContexts, broad: FirstValues
) -> StagedRanking:
    """The deep candidates with their values, all others behind them."""
    claim(JOINED_BYTES * broad.entity.size)
    own = deep.ranking
    order = np.argsort(broad.entity)
    place = order[np.searchsorted(broad.entity, own.entity, sorter=order)]
    lowest = broad.values[place].min()
    score = own.score.min() + (broad.values - lowest)
    score[place] = own.score
    best = order_entities(broad.entity, score, score.size)
    shift = float(own.score.min() - lowest)
    entity, value, support = broad.entity[best], score[best], broad.support[best]
    return StagedRanking(query, options, first, deep, broad, shift, entity, value, support)


def _show_some(
    collection: Collection, ranked: RankedContexts, order: I32, entities: I32, passage: Passage, shift: float = 0.0
) -> dict[int, list[Snippet]]:
    """The snippets of some entities of a ranking; a shift of their scores is shared evenly among their contexts."""
    if not entities.size:
        return {}
    assert ranked.shown is not None
    at, row, share = ranked.shown.at, ranked.shown.row, ranked.shown.share
    sorter = np.argsort(order)
    places = sorter[np.searchsorted(order, entities, sorter=sorter)].tolist()
    spans = [slice(int(at[p]), int(at[p + 1])) for p in places]
    begin = np.cumsum([0, *(span.stop - span.start for span in spans)])
    each = [share[span] + shift / max(1, int(ranked.ranking.support[p])) for p, span in zip(places, spans, strict=True)]
    rows = ShownContexts(begin, np.concatenate([row[span] for span in spans]), np.concatenate(each))
    return dict(zip(entities.tolist(), show_contexts(collection, ranked.contexts, rows, passage), strict=True))
