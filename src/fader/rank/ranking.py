"""Entities in order, and why: the one place where a rank is decided, for any system.

    rank_entities(system, contexts, k)                the k best by value; of equal values the larger id comes first
    explain_entity(system, contexts, ranking, i)      the value split among contexts, and each share among literals
    rank_without(system, contexts, ranking, i, row)   score and rank of the entity if one context were gone

Knows nothing of storage, of texts, of who asks, or of how a system scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.allowance import claim, claimed
from fader.contexts.policy import Evidence
from fader.contexts.table import Contexts
from fader.kernel import kernel
from fader.lazy import cached_property
from fader.rank.system import F64, I32, I64, Ranking, System

FEW_SHOWN = 8
SCORED_BYTES, VALUED_BYTES, SPLIT_BYTES = 96, 64, 48  # of a context, of a candidate, of a literal in a context
FEW = 100  # entities that are inserted one by one, instead of sorting all


@dataclass(frozen=True)
class Contributions:
    """How the score of one entity comes about: rows of the table, the share of each, and of its literals.

    `share.sum()` is the score; `literal[:, i].sum()` is `share[i]` (to rounding). `score` is what each context is
    worth before aggregation. Shares are split among literals only when that is asked for: snippets need no split.
    """

    row: I32
    share: F64
    score: F64
    split: Callable[[], F64]

    @cached_property
    def literal(self) -> F64:
        """(literals, rows): what each literal adds."""
        return self.split()


@dataclass(frozen=True, slots=True)
class WhatIf:
    """An entity without one of its contexts: its score and its rank among all candidates.

    Both are None where no context is left, so that the entity is no candidate any more.
    """

    score: float | None
    rank: int | None


def rank_entities(system: System, contexts: Contexts, k: int) -> Ranking:
    """The k best candidates of a query."""
    claim(SCORED_BYTES * len(contexts) + VALUED_BYTES * contexts.entities.size)
    return rank_values(*system.value_entities(contexts), k)


def rank_values(evidence: Evidence, values: F64, k: int) -> Ranking:
    """The k best of candidates whose values are known."""
    budget.check()
    place = order_entities(evidence.entity, values, k)
    support = evidence.support_of(place)
    return Ranking(evidence.entity[place], values[place], support, place, evidence, int(values.size), values)


def order_entities(entity: I32, value: F64, k: int) -> I64:
    """The places of the k best, by value, then by id descending, as trec_eval breaks ties.

    Numbers are ranks of ids, so that the larger number is the larger id.
    """
    if k > FEW or k >= value.size:
        return np.lexsort((-entity, -value))[:k]
    best = np.empty(k, dtype=np.int64)
    _insert_best(entity, value, best)
    return best


@kernel
def _insert_best(entity: I32, value: F64, best: I64) -> None:
    """The places of as many as `best` has room for, each inserted among those before it."""
    n, k = 0, best.size
    for i in range(value.size):
        if n == k:
            last = best[k - 1]
            if value[i] < value[last] or (value[i] == value[last] and entity[i] < entity[last]):
                continue
            n -= 1
        j = n
        while j > 0:
            above = best[j - 1]
            if value[above] > value[i] or (value[above] == value[i] and entity[above] > entity[i]):
                break
            best[j] = above
            j -= 1
        best[j] = i
        n += 1


def rank_of(ranking: Ranking, i: int, value: float) -> int:
    """The rank that the i-th ranked entity would have with another value."""
    others = np.arange(ranking.values.size) != ranking.place[i]
    level = (ranking.values == value) & (ranking.evidence.entity > ranking.entity[i])
    return 1 + int((others & ((ranking.values > value) | level)).sum())


def explain_entity(system: System, contexts: Contexts, ranking: Ranking, i: int) -> Contributions:
    """Split the score of the i-th ranked entity among its contexts, and each share among literals."""
    budget.check()
    rows, share = ranking.rows_of(i), system.shares(contexts, ranking, i)

    def split() -> F64:
        claim(SPLIT_BYTES * contexts.literals * rows.size)
        return scale_to_shares(system.literal_weights(contexts, rows), share, contexts.distances[:, rows] >= 0)

    return Contributions(rows, share, ranking.scores_of(i), split)


@dataclass(frozen=True, slots=True)
class ShownContexts:
    """The contexts that contribute most: `row[at[i]:at[i+1]]` of the i-th ranked entity, with their shares."""

    at: I64
    row: I32
    share: F64


def choose_contexts(share: F64, at: I64, limit: int) -> tuple[I64, I64]:
    """Places of the contexts that contribute most, at most `limit` per entity, and where each entity's begin.

    Entity i has the shares `share[at[i]:at[i+1]]`. The largest come first, of equal ones the first; where they add up
    to less than 0, as logarithms do, the smallest.
    """
    if limit > FEW_SHOWN:  # one pass over an entity's contexts for each that is chosen would be too many
        orders = [a + sort_shares(share[a:b])[:limit] for a, b in pairwise(at.tolist())]
        return np.concatenate([np.empty(0, dtype=np.int64), *orders]), np.cumsum([0, *(o.size for o in orders)])
    place, begin = np.empty(limit * (at.size - 1), dtype=np.int64), np.zeros(at.size, dtype=np.int64)
    _choose_contexts(share, at, limit, np.zeros(share.size, dtype=np.bool_), place, begin)
    return place[: begin[-1]], begin


def sort_shares(share: F64) -> I64:
    """The places of one entity's contexts in the order of `choose_contexts`."""
    first = choose_contexts(share, np.array([0, share.size]), 1)[0]
    is_largest = not first.size or share[first[0]] == share.max()
    return np.argsort(-share if is_largest else share, kind="stable")


@kernel
def _choose_contexts(share: F64, at: I64, limit: int, taken: NDArray[np.bool_], place: I64, begin: I64) -> None:
    n = 0
    for i in range(at.size - 1):
        total = 0.0
        for x in range(at[i], at[i + 1]):
            total += share[x]
        sign = 1.0 if total >= 0.0 else -1.0
        for _pick in range(min(limit, at[i + 1] - at[i])):
            best = -1
            for x in range(at[i], at[i + 1]):
                if not taken[x] and (best < 0 or sign * share[x] > sign * share[best]):
                    best = x
            taken[best] = True
            place[n] = best
            n += 1
        begin[i + 1] = n


def scale_to_shares(literal: F64, share: F64, matched: NDArray[np.bool_]) -> F64:
    """Scale each column to add up to its share; a column of zeros is shared evenly by the literals that match.

    A column that adds up already stays as it is, whatever its signs.
    """
    total = literal.sum(axis=0)
    even = np.where(matched.any(axis=0), matched, True)
    weight = np.where(total > 0, literal, even)
    whole: F64 = weight / weight.sum(axis=0) * share
    exact = np.isclose(total, share, rtol=1e-9, atol=0.0) & (literal != 0).any(axis=0)
    return np.where(exact, literal, whole)


def rank_without(system: System, contexts: Contexts, ranking: Ranking, i: int, row: int) -> WhatIf:
    """The i-th ranked entity if one row of the table were gone; another mention in its document may step in.

    Where values depend on each other, all candidates are ranked again.
    """
    with claimed():
        return _rank_without(system, contexts, ranking, i, row)


def _rank_without(system: System, contexts: Contexts, ranking: Ranking, i: int, row: int) -> WhatIf:
    if system.values_are_independent:
        own = contexts.slot == contexts.slot[row]
        own[row] = False
        _evidence, values = system.value_entities(contexts.take(np.flatnonzero(own)))
        if not values.size:
            return WhatIf(None, None)
        return WhatIf(float(values[0]), rank_of(ranking, i, float(values[0])))
    left = contexts.take(np.delete(np.arange(len(contexts)), row))
    again = rank_entities(system, left, max(1, ranking.candidates))
    found = np.flatnonzero(again.entity == ranking.entity[i])
    return WhatIf(float(again.score[found[0]]), 1 + int(found[0])) if found.size else WhatIf(None, None)
