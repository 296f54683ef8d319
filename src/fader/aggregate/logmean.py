"""Log-mean-exp, in part: V(e) = ln sum over its contexts of exp(a_x) - share * ln |S_e|.

    share 0     log-sum-exp: contexts add up
    share 1     the logarithm of their mean: their number says nothing
    share < 0   their number counts once more

Between, how far an entity that is mentioned often must be better than one that is mentioned once. Gradient: exp(a_x) /
sum exp(a), as for log-sum-exp. The share of a context is V(e) * exp(a_x) / sum exp(a). Golden case: scores [0, ln 3]
and [ln 2] with a share of 1 give [ln 2, ln 2]. Knows nothing of how the share is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.base import F64, I64, Accumulation, Aggregator
from fader.aggregate.logspace import in_proportion, log_sums, logs_and_proportions
from fader.errors import UsageError


@dataclass(frozen=True)
class LogMean(Aggregator):
    """Between the sum and the mean of exponentials."""

    name: ClassVar[str] = "logmean"
    first: ClassVar[str] = "share"
    share: float = 0.5

    def __post_init__(self) -> None:
        if not -1.0 <= self.share <= 1.0:
            raise UsageError(f"logmean: share must be from -1 to 1, not {self.share}")

    def _discount(self, at: I64) -> F64:
        discount: F64 = self.share * np.log(np.diff(at))
        return discount

    @property
    def accumulation(self) -> Accumulation:
        return Accumulation("logsum")

    def finish(self, accumulated: F64, counts: I64) -> F64:
        logs: F64 = accumulated - self.share * np.log(counts)
        return logs

    def values(self, scores: F64, at: I64) -> F64:
        return log_sums(scores, at) - self._discount(at)

    def shares(self, scores: F64, at: I64) -> F64:
        logs = log_sums(scores, at)
        return in_proportion(scores, at, logs, logs - self._discount(at))

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        return in_proportion(scores, at, log_sums(scores, at), upstream)

    def loss_values_with_slopes(self, scores: F64, at: I64) -> tuple[F64, F64]:
        logs, slopes = logs_and_proportions(scores, at)
        return logs - self._discount(at), slopes
