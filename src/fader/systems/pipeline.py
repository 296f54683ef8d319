"""Features x aggregator: the family every learned model belongs to, as one function.

    V(e) = aggregate over the evidence of e of  w . f_q(x, e)

Knows a feature map, an aggregator and an evidence policy as values, and no particular one.
"""

from __future__ import annotations

import numpy as np

from fader.aggregate.base import Aggregator
from fader.contexts.policy import select
from fader.contexts.table import Contexts
from fader.features.base import FeatureMap
from fader.systems.base import Contributions, Ranking, order_entities


def rank(contexts: Contexts, features: FeatureMap, aggregator: Aggregator, policy: str, k: int) -> Ranking:
    """Rank the candidates."""
    scores = features.score(contexts)
    evidence = select(contexts, scores, policy)
    value = aggregator.values(evidence.scores, evidence.at)
    place = order_entities(evidence.entity, value, k)
    support = evidence.at[place + 1] - evidence.at[place]
    return Ranking(evidence.entity[place], value[place], support, place, evidence, int(value.size))


def explain(
    contexts: Contexts, features: FeatureMap, aggregator: Aggregator, ranking: Ranking, i: int
) -> Contributions:
    """Split the score of the i-th ranked entity among its contexts, and each share among literals."""
    at = ranking.evidence.at
    mine = slice(at[ranking.place[i]], at[ranking.place[i] + 1])
    rows = ranking.evidence.row[mine]
    literal = features.by_literal(contexts, rows)
    score = literal.sum(axis=0)
    share = aggregator.shares(ranking.evidence.scores[mine], np.array([0, rows.size], dtype=np.int64))
    split = np.divide(share, score, out=np.zeros_like(share), where=score > 0)
    return Contributions(rows, share, literal * split)
