"""Average: V(e) = 1/|S_e| * sum of its contexts' scores. Gradient: dV/da_x = 1/|S_e|.

What generative language models come to, which let an entity's contexts share one unit of probability (Balog,
Azzopardi & de Rijke, "A language modeling framework for expert finding", IP&M 2009); CombANZ of Fox & Shaw,
"Combination of multiple searches", TREC-2, 1993. The share of a context is a_x / |S_e|. Golden case: scores [1, 2]
and [4] give [1.5, 4]. Knows nothing of what a score means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.base import F64, I64, Accumulation, Aggregator
from fader.aggregate.sum import spread, sums


@dataclass(frozen=True)
class Average(Aggregator):
    """How good contexts are, however many."""

    name: ClassVar[str] = "average"
    convex: ClassVar[bool] = True
    linear: ClassVar[bool] = True

    @property
    def accumulation(self) -> Accumulation:
        return Accumulation("sum")

    def finish(self, accumulated: F64, counts: I64) -> F64:
        means: F64 = accumulated / counts
        return means

    def values(self, scores: F64, at: I64) -> F64:
        means: F64 = sums(scores, at) / np.diff(at)
        return means

    def shares(self, scores: F64, at: I64) -> F64:
        parts: F64 = scores / spread(np.diff(at), at)
        return parts

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        return spread(upstream / np.diff(at), at)
