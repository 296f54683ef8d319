"""Min: V(e) = the smallest score of its contexts. Gradient: 1 at the first context that has it, 0 elsewhere.

At a tie this is one of many subgradients. The share of that context is the value, of others 0. CombMIN of Fox & Shaw,
"Combination of multiple searches", TREC-2, 1993; for entities Macdonald & Ounis, "Voting for candidates", CIKM 2006.
Golden case: scores [1, 2] and [4] give [1, 4]. Knows nothing of the other contexts' number or scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.base import F64, I64, Accumulation, Aggregator
from fader.kernel import kernel


@kernel
def _first_smallest(scores: F64, at: I64) -> I64:
    out = np.empty(at.size - 1, dtype=np.int64)
    for e in range(at.size - 1):
        found = at[e]
        for i in range(at[e] + 1, at[e + 1]):
            if scores[i] < scores[found]:
                found = i
        out[e] = found
    return out


@dataclass(frozen=True)
class Min(Aggregator):
    """The worst context alone counts."""

    name: ClassVar[str] = "min"

    @property
    def accumulation(self) -> Accumulation:
        return Accumulation("min")

    def values(self, scores: F64, at: I64) -> F64:
        return scores[_first_smallest(scores, at)]  # type: ignore[no-any-return]

    def shares(self, scores: F64, at: I64) -> F64:
        place = _first_smallest(scores, at)
        out = np.zeros(scores.size)
        out[place] = scores[place]
        return out

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        out = np.zeros(scores.size)
        out[_first_smallest(scores, at)] = upstream
        return out
