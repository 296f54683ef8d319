"""What a ranking is, and the one way all systems put entities in order.

Knows nothing of storage, of texts, of who asks, or of how a system scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.aggregate.base import Aggregator
from fader.contexts.policy import Evidence
from fader.contexts.table import Contexts
from fader.features.base import Piece

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best entities: numbers, scores, |S_e|, and the place of each in `evidence`.

    `values` are the scores of all candidates, in the order of the evidence.
    """

    entity: I32
    score: F64
    support: I64
    place: I64
    evidence: Evidence
    candidates: int
    values: F64


@dataclass(frozen=True)
class Contributions:
    """How one entity's score comes about: rows of the table, the share of each, and of its literals.

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

    Both are None where no context is left, so that it is no candidate any more.
    """

    score: float | None
    rank: int | None


class System(Protocol):
    """Ranks the candidates of a query, and explains.

    `pieces` splits the score of one context into feature cells; `without` answers "what if this context were gone".
    """

    def rank(self, contexts: Contexts, k: int) -> Ranking: ...

    def explain(self, contexts: Contexts, ranking: Ranking, i: int) -> Contributions: ...

    def pieces(self, contexts: Contexts, row: int) -> list[Piece]: ...

    def without(self, contexts: Contexts, ranking: Ranking, i: int, row: int) -> WhatIf: ...


def aggregated(aggregator: Aggregator, scores: F64, at: I64) -> F64:
    """V(e) of every entity; where time is counted, of some entities after the other."""
    if not budget.is_counted():
        return aggregator.values(scores, at)
    first, values = 0, [np.empty(0)]
    for _begin, end in budget.chunks(scores.size):
        last = max(first, int(np.searchsorted(at, end, side="right")) - 1)
        if last > first:
            values.append(aggregator.values(scores[at[first] : at[last]], at[first : last + 1] - at[first]))
        first = last
    return np.concatenate(values)


def order_entities(entity: I32, value: F64, k: int) -> I64:
    """The places of the k best, by score, then by id descending, as trec_eval breaks ties.

    Numbers are ranks of ids, so that the larger number is the larger id.
    """
    if k < value.size // 4:
        threshold = np.partition(value, value.size - k)[value.size - k]
        places = np.flatnonzero(value >= threshold)
    else:
        places = np.arange(value.size)
    return places[np.lexsort((-entity[places], -value[places]))][:k]


def rank_of(ranking: Ranking, i: int, value: float) -> int:
    """The rank that the i-th ranked entity would have with another value."""
    others = np.arange(ranking.values.size) != ranking.place[i]
    level = (ranking.values == value) & (ranking.evidence.entity > ranking.entity[i])
    return 1 + int((others & ((ranking.values > value) | level)).sum())


def in_proportion(literal: F64, share: F64, matched: NDArray[np.bool_]) -> F64:
    """Scale each column to add up to its share; a column of nothing is shared evenly by what is matched.

    A column that adds up already stays as it is, whatever its signs.
    """
    total = literal.sum(axis=0)
    even = np.where(matched.any(axis=0), matched, True)
    weight = np.where(total > 0, literal, even)
    whole: F64 = weight / weight.sum(axis=0) * share
    exact = np.isclose(total, share, rtol=1e-9, atol=0.0) & (literal != 0).any(axis=0)
    return np.where(exact, literal, whole)
