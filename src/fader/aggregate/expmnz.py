"""ExpMNZ: V(e) = |S_e| * sum over its contexts of exp(a_x).

    values:   L(e) = ln V(e) = ln |S_e| + ln sum_x exp(a_x), which orders entities as V does and cannot overflow
    loss:     V(e); where L > 200 its tangent e^200 * (1 + L - 200)
    gradient: dV/da_x = |S_e| exp(a_x); past 200, e^200 * exp(a_x) / sum exp(a)
    share:    L(e) * exp(a_x) / sum exp(a), in proportion to what a context adds to V

ExpCombMNZ of Macdonald & Ounis, "Voting for candidates", CIKM 2006, their best technique throughout. Golden case:
scores [0, ln 3] and [ln 2] have V = [8, 2]. Knows nothing of training but that it needs finite numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.base import F64, I64, Accumulation, Aggregator
from fader.aggregate.logspace import exponentiate, in_proportion, log_sums, slope


@dataclass(frozen=True)
class ExpMnz(Aggregator):
    """Large scores count most, and once more the number of contexts."""

    name: ClassVar[str] = "expmnz"

    @property
    def accumulation(self) -> Accumulation:
        return Accumulation("logsum")

    def finish(self, accumulated: F64, counts: I64) -> F64:
        return accumulated + np.log(counts)

    def values(self, scores: F64, at: I64) -> F64:
        return log_sums(scores, at) + np.log(np.diff(at))

    def loss_values(self, scores: F64, at: I64) -> F64:
        return exponentiate(self.values(scores, at))

    def shares(self, scores: F64, at: I64) -> F64:
        logs = log_sums(scores, at)
        return in_proportion(scores, at, logs, logs + np.log(np.diff(at)))

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        logs = log_sums(scores, at)
        return in_proportion(scores, at, logs, upstream * slope(logs + np.log(np.diff(at))))
