"""Count: V(e) = |S_e|, the number of contexts, whatever their scores. Gradient: 0.

The trivial baseline that every other aggregator must beat (Macdonald & Ounis, "Voting for candidates", CIKM
2006, call it votes). The share of a context is 1. Golden case: contexts [0.1, 0.9] and [5] give [2, 1].

The loss is a constant of the weights, hence convex; V is not linear in the scores, since it is not 0 where they are.
Knows nothing of the scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.base import F64, I64, Accumulation, Aggregator


@dataclass(frozen=True)
class Count(Aggregator):
    """Contexts are counted, not weighed."""

    name: ClassVar[str] = "count"
    convex: ClassVar[bool] = True
    constant: ClassVar[bool] = True

    @property
    def accumulation(self) -> Accumulation:
        return Accumulation("count")

    def finish(self, accumulated: F64, counts: I64) -> F64:
        return counts.astype(np.float64)

    def values(self, scores: F64, at: I64) -> F64:
        return np.diff(at).astype(np.float64)

    def shares(self, scores: F64, at: I64) -> F64:
        return np.ones(scores.size)

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        return np.zeros(scores.size)
