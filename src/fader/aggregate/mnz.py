"""MNZ: V(e) = |S_e| * sum of its contexts' scores. Gradient: dV/da_x = |S_e|.

CombMNZ ("multiply by the number of non-zeros") of Fox & Shaw, "Combination of multiple searches", TREC-2, 1993;
for entities Macdonald & Ounis, "Voting for candidates", CIKM 2006. The share of a context is |S_e| * a_x. Golden
case: scores [1, 2] and [4] give [6, 4]. Knows nothing of scores of 0: every context counts in |S_e|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.base import F64, I64, Accumulation, Aggregator
from fader.aggregate.sum import spread, sums


@dataclass(frozen=True)
class Mnz(Aggregator):
    """The sum, and once more the number of contexts."""

    name: ClassVar[str] = "mnz"
    convex: ClassVar[bool] = True
    linear: ClassVar[bool] = True

    @property
    def accumulation(self) -> Accumulation:
        return Accumulation("sum")

    def finish(self, accumulated: F64, counts: I64) -> F64:
        products: F64 = accumulated * counts
        return products

    def values(self, scores: F64, at: I64) -> F64:
        products: F64 = sums(scores, at) * np.diff(at)
        return products

    def shares(self, scores: F64, at: I64) -> F64:
        parts: F64 = scores * spread(np.diff(at), at)
        return parts

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        return spread(upstream * np.diff(at), at)
