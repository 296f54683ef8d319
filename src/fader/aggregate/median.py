"""Median: V(e) = the middle one of its contexts' scores, of an even number the mean of the two middle ones.

Gradient: 1 at the middle context, or 1/2 at each of the two, 0 elsewhere; among equal scores the earlier context has
the better rank. The share of a middle context is its score times its gradient. CombMED of Fox & Shaw, "Combination
of multiple searches", TREC-2, 1993; for entities Macdonald & Ounis, "Voting for candidates", CIKM 2006. Golden case:
scores [1, 5, 2] and [1, 4] give [2, 2.5]. Knows nothing of scores but their order and those in the middle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.base import F64, I64, Aggregator
from fader.aggregate.ranked import sort_contexts


def _middle(scores: F64, at: I64) -> tuple[I64, I64]:
    """The places of the two middle contexts of each entity; of an odd number the same place twice."""
    order, size = sort_contexts(scores, at), np.diff(at)
    return order[at[:-1] + (size - 1) // 2], order[at[:-1] + size // 2]


@dataclass(frozen=True)
class Median(Aggregator):
    """Half of the contexts are as good."""

    name: ClassVar[str] = "median"

    def values(self, scores: F64, at: I64) -> F64:
        upper, lower = _middle(scores, at)
        return 0.5 * scores[upper] + 0.5 * scores[lower]

    def shares(self, scores: F64, at: I64) -> F64:
        return self.gradient(scores, at, np.ones(at.size - 1)) * scores

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        out = np.zeros(scores.size)
        for place in _middle(scores, at):
            out[place] += 0.5 * upstream
        return out
