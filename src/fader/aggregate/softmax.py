"""Softmax: V(e) = sum over its contexts of exp(a_x): a few contexts of large scores decide.

    values:   ln V(e) = ln sum_x exp(a_x), which orders entities as V does and cannot overflow
    loss:     V(e); where ln V > 200 its tangent e^200 * (1 + ln V - 200)
    gradient: dV/da_x = exp(a_x); past 200, e^200 * exp(a_x) / V
    share:    ln V(e) * exp(a_x) / V(e), in proportion to what a context adds to V

The share of an only context is the value, and shares have the sign of the value. ExpCombSUM of Macdonald & Ounis,
"Voting for candidates", CIKM 2006; the paper's SoftMax. Golden case: scores [0, ln 3] and [ln 2] have V = [4, 2], and
the two contexts get 1/4 and 3/4 of ln 4. Knows nothing of training but that it needs finite numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.base import F64, I64, Accumulation, Aggregator
from fader.aggregate.logspace import exponentiate, in_proportion, log_sums, logs_and_proportions, slope


@dataclass(frozen=True)
class SoftMax(Aggregator):
    """Large scores count most."""

    name: ClassVar[str] = "softmax"

    @property
    def accumulation(self) -> Accumulation:
        return Accumulation("logsum")

    def values(self, scores: F64, at: I64) -> F64:
        return log_sums(scores, at)

    def loss_values(self, scores: F64, at: I64) -> F64:
        return exponentiate(log_sums(scores, at))

    def shares(self, scores: F64, at: I64) -> F64:
        logs = log_sums(scores, at)
        return in_proportion(scores, at, logs, logs)

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        logs = log_sums(scores, at)
        return in_proportion(scores, at, logs, upstream * slope(logs))

    def loss_values_with_slopes(self, scores: F64, at: I64) -> tuple[F64, F64]:
        logs, slopes = logs_and_proportions(scores, at)
        slopes *= np.repeat(slope(logs), np.diff(at))
        return exponentiate(logs), slopes
