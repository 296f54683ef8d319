"""Sum: V(e) = sum of its contexts' scores. Gradient: dV/da_x = 1. The paper's best aggregator.

Golden case: scores [1, 2] and [4] give [3, 4]. Added one after the other, so that the last bit never depends on
how the work was cut. The share of a context is its score. Balog, Azzopardi & de Rijke, "A language modeling framework
for expert finding", IP&M 2009, without the division; CombSUM of Fox & Shaw, "Combination of multiple searches",
TREC-2, 1993. Knows nothing of what a score means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.base import F64, I64, Accumulation, Aggregator
from fader.kernel import kernel


@kernel
def _sums(scores: F64, at: I64) -> F64:
    out = np.empty(at.size - 1)
    for e in range(at.size - 1):
        total = 0.0
        for i in range(at[e], at[e + 1]):
            total += scores[i]
        out[e] = total
    return out


def sums(scores: F64, at: I64) -> F64:
    """The sum of each entity's scores."""
    return _sums(scores, at)  # type: ignore[no-any-return]


def spread(values: F64, at: I64) -> F64:
    """A number an entity, repeated for each of its contexts."""
    return np.repeat(values, np.diff(at))


@dataclass(frozen=True)
class Sum(Aggregator):
    """Every context counts alike."""

    name: ClassVar[str] = "sum"
    convex: ClassVar[bool] = True
    linear: ClassVar[bool] = True

    @property
    def accumulation(self) -> Accumulation:
        return Accumulation("sum")

    def values(self, scores: F64, at: I64) -> F64:
        return sums(scores, at)

    def shares(self, scores: F64, at: I64) -> F64:
        return scores.copy()

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        return spread(upstream, at)
