"""A ranking by the fused path beside the same one through the Contexts table."""

from __future__ import annotations

from typing import Any

import numpy as np

from fader.contexts.match import MatchOptions
from fader.fused.ranker import FusedRanker
from fader.rank.ranking import explain_entity
from fader.search.evidence import by_weight
from fader.search.local import rank_contexts

SHOWN = 2


def rank_both(index: Any, query: str, answer_type: str | None, system: Any, k: int, ranker: Any = None) -> Any:
    """What the fused path finds (None: nothing), and what the table gives."""
    collection = index.collection
    parsed = index.parse(query, answer_type)
    options = MatchOptions(system.view.overlap, system.view.window, None, index.limits)
    fused = (ranker or FusedRanker(collection.reader)).rank(parsed, options, system, k, SHOWN)
    return fused, rank_contexts(collection.contexts(parsed, options), system, k)


def shown_rows(system: Any, contexts: Any, ranking: Any) -> list[Any]:
    """Of each ranked entity the contexts that contribute most, with everything that is shown of them."""
    found = []
    for i in range(ranking.entity.size):
        shares = explain_entity(system, contexts, ranking, i)
        for x in by_weight(shares)[:SHOWN].tolist():
            row = int(shares.row[x])
            numbers = (int(contexts.document[row]), int(contexts.start[row]), int(contexts.end[row]))
            matches = contexts.distances[:, row].tolist(), contexts.sides[:, row].tolist()
            found.append((i, *numbers, *matches, float(contexts.confidence[row]), float(shares.share[x]).hex()))
    return found


def check_same(fused: Any, table: Any, system: Any, what: object) -> None:
    """The same entities, bits of scores, supports, counts and shown rows."""
    contexts, ranking, total = fused
    assert ranking.entity.tolist() == table.ranking.entity.tolist(), what
    assert [s.hex() for s in ranking.score.tolist()] == [s.hex() for s in table.ranking.score.tolist()], what
    assert ranking.support.tolist() == table.ranking.support.tolist(), what
    assert ranking.candidates == table.ranking.candidates, what
    assert total == table.total, what
    assert contexts.matched_documents == table.contexts.matched_documents, what
    assert contexts.warnings == table.contexts.warnings, what
    assert contexts.empty_because == table.contexts.empty_because, what
    assert np.array_equal(contexts.statistics.df, table.contexts.statistics.df), what
    assert np.array_equal(contexts.statistics.cf, table.contexts.statistics.cf), what
    assert shown_rows(system, contexts, ranking) == shown_rows(system, table.contexts, table.ranking), what
