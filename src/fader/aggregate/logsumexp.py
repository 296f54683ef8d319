"""Log-sum-exp: V(e) = ln sum over its contexts of exp(a_x). Gradient: dV/da_x = exp(a_x) / sum exp(a).

The same ranking as softmax for the same weights; but the loss sees the logarithm too, so that a margin of 1 is a
factor of e in evidence, not a step that one exponential takes many times over. The share of a context is V(e) *
exp(a_x) / sum exp(a), as for softmax. Golden case: scores [0, ln 3] and [ln 2] give [ln 4, ln 2], and the two
contexts get 1/4 and 3/4 of ln 4. Knows nothing of the loss that is built on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fader.aggregate.base import F64, I64, Accumulation, Aggregator
from fader.aggregate.logspace import in_proportion, log_sums, logs_and_proportions


@dataclass(frozen=True)
class LogSumExp(Aggregator):
    """Softmax on the scale of scores."""

    name: ClassVar[str] = "logsumexp"

    @property
    def accumulation(self) -> Accumulation:
        return Accumulation("logsum")

    def values(self, scores: F64, at: I64) -> F64:
        return log_sums(scores, at)

    def shares(self, scores: F64, at: I64) -> F64:
        logs = log_sums(scores, at)
        return in_proportion(scores, at, logs, logs)

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        return in_proportion(scores, at, log_sums(scores, at), upstream)

    def loss_values_with_slopes(self, scores: F64, at: I64) -> tuple[F64, F64]:
        return logs_and_proportions(scores, at)
