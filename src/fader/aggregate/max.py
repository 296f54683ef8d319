"""Max: V(e) = the largest score of its contexts. Gradient: 1 at the first context that has it, 0 elsewhere.

At a tie this is one of many subgradients. The share of that context is the value, of others 0. CombMAX of Fox & Shaw,
"Combination of multiple searches", TREC-2, 1993; for entities Macdonald & Ounis, "Voting for candidates", CIKM 2006.
Golden case: scores [1, 2] and [4] give [2, 4]. Knows nothing of the other contexts' number or scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.base import F64, I64, Accumulation, Aggregator
from fader.kernel import kernel


@kernel
def _first_largest(scores: F64, at: I64) -> I64:
    out = np.empty(at.size - 1, dtype=np.int64)
    for e in range(at.size - 1):
        found = at[e]
        for i in range(at[e] + 1, at[e + 1]):
            if scores[i] > scores[found]:
                found = i
        out[e] = found
    return out


@dataclass(frozen=True)
class Max(Aggregator):
    """The best context alone counts."""

    name: ClassVar[str] = "max"

    @property
    def accumulation(self) -> Accumulation:
        return Accumulation("max")

    def values(self, scores: F64, at: I64) -> F64:
        return scores[_first_largest(scores, at)]  # type: ignore[no-any-return]

    def shares(self, scores: F64, at: I64) -> F64:
        place = _first_largest(scores, at)
        out = np.zeros(scores.size)
        out[place] = scores[place]
        return out

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        out = np.zeros(scores.size)
        out[_first_largest(scores, at)] = upstream
        return out
