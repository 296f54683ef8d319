"""The second stage of a cascade: the best candidates of a first ranking, valued anew by the best of their contexts.

    C      the n best candidates by their first values V1
    V(e) = V2(e)                                            for e in C, from its m contexts of the largest first score
    V(e) = min over C of V2  +  V1(e) - min over C of V1    for all others: they keep their order, and stand behind C

Of equal first scores the first contexts count. Golden case: n = 1, first values 5, 4 and 2, the second value of the
first is 7: 7, 6, 4. Knows the contract of systems, and nothing of storage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fader.contexts.policy import Evidence, select
from fader.contexts.table import Contexts
from fader.kernel import kernel
from fader.rank.ranking import order_entities
from fader.rank.system import F64, I32, I64, FeatureScoring

VALUED_AGAIN = "valued again"  # in the memo of a table: its entities are all among the chosen ones


@dataclass(frozen=True, eq=False)
class Reranking:
    """How many candidates are valued anew, by how many contexts of each, and by what."""

    candidates: int
    contexts: int
    scoring: FeatureScoring

    def value(self, table: Contexts) -> tuple[Evidence, F64]:
        """The chosen contexts by candidate with their second scores, and the second values."""
        evidence = select(table, self.scoring.score(table), "mention")
        return evidence, self.scoring.aggregator.values(evidence.scores, evidence.at)


@dataclass(frozen=True, eq=False)
class FirstStage:
    """All candidates, ascending, with their first values, and the table of the best contexts of the chosen ones.

    Values may be those of `join_values` where every second value is 0: the chosen ones are told by the table.
    """

    entity: I32
    values: F64
    table: Contexts


@dataclass(frozen=True, eq=False)
class FirstValues:
    """All candidates, in any order, with their first values and how many contexts each has."""

    entity: I32
    values: F64
    support: I64


def choose_candidates(entity: I32, values: F64, most: int) -> I64:
    """The places of the best candidates, by entity."""
    best = order_entities(entity, values, min(most, values.size))
    return best[np.argsort(entity[best])]


def keep_best(scores: F64, at: I64, most: int) -> tuple[I64, I64]:
    """The places of the `most` largest scores of each list `[at[i]:at[i+1]]`, ascending, and where each one's begin."""
    begin = np.zeros(at.size, dtype=np.int64)
    np.cumsum(np.minimum(np.diff(at), most), out=begin[1:])
    place = np.empty(int(begin[-1]), dtype=np.int64)
    _keep_best(scores, at, begin, place)
    return place, begin


@kernel
def _keep_best(scores: F64, at: I64, begin: I64, place: I64) -> None:
    """Insert each place among the best so far, of equal scores behind; then put them in their own order."""
    for i in range(at.size - 1):
        low, most, n = begin[i], begin[i + 1] - begin[i], 0
        for x in range(at[i], at[i + 1]):
            if n == most:
                if scores[x] <= scores[place[low + n - 1]]:
                    continue
                n -= 1
            j = low + n
            while j > low and scores[place[j - 1]] < scores[x]:
                place[j] = place[j - 1]
                j -= 1
            place[j] = x
            n += 1
        for k in range(low + 1, low + n):
            x, j = place[k], k
            while j > low and place[j - 1] > x:
                place[j] = place[j - 1]
                j -= 1
            place[j] = x


def join_values(values: F64, chosen: I64, again: F64) -> F64:
    """The values of all candidates: those at the chosen places anew, all others behind them."""
    if not again.size:
        return values
    joined: F64 = again.min() + (values - values[chosen].min())
    joined[chosen] = again
    return joined
