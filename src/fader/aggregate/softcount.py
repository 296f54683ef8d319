"""Soft count: V(e) = sum over its contexts of a concave T(a_x): all have some merit, good ones somewhat more.

    form=log:    T(a) = ln(1 + a)    T'(a) = 1 / (1 + a)
    form=power:  T(a) = a^p          T'(a) = p a^(p-1),  0 < p <= 1

for a >= 0; a negative score counts as 0, with gradient 0. The power form is infinitely steep at 0: below 1e-12 its
gradient is the one at 1e-12, so that training from weights of 0 gets a finite direction. The share of a context is
T(a_x). The paper's SoftCount; the sum itself is form=power, p=1. Golden cases: scores [1, 3] and [0] give [ln 8, 0];
with power and p = 1/2, scores [1, 4] and [9] give [3, 3]. Knows nothing of how p is chosen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.base import F64, I64, Accumulation, Aggregator
from fader.aggregate.sum import spread, sums
from fader.errors import UsageError, quote
from fader.kernel import kernel

FORMS = ("log", "power")
STEEPEST_AT = 1e-12


@kernel
def _logs(scores: F64) -> F64:
    out = np.empty(scores.size)
    for i in range(scores.size):
        out[i] = math.log1p(max(scores[i], 0.0))
    return out


@kernel
def _log_slopes(scores: F64) -> F64:
    out = np.zeros(scores.size)
    for i in range(scores.size):
        if scores[i] >= 0.0:
            out[i] = 1.0 / (1.0 + scores[i])
    return out


@kernel
def _powers(scores: F64, p: float) -> F64:
    out = np.empty(scores.size)
    for i in range(scores.size):
        out[i] = max(scores[i], 0.0) ** p
    return out


@kernel
def _power_slopes(scores: F64, p: float) -> F64:
    out = np.zeros(scores.size)
    for i in range(scores.size):
        if scores[i] >= 0.0:
            out[i] = p * max(scores[i], STEEPEST_AT) ** (p - 1.0)
    return out


@dataclass(frozen=True)
class SoftCount(Aggregator):
    """Diminishing returns of a context's score."""

    name: ClassVar[str] = "softcount"
    form: str = "log"
    p: float = 0.5

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UsageError(f"softcount: form must be log or power, not {quote(self.form)}")
        if not 0 < self.p <= 1:
            raise UsageError(f"softcount: p must be above 0 and at most 1, not {self.p}")
        if self.form == "log" and self.p != 0.5:
            raise UsageError(f"softcount: p is of form=power only; write softcount(form=power,p={self.p})")

    @property
    def accumulation(self) -> Accumulation:
        return Accumulation("sum", "log1p") if self.form == "log" else Accumulation("sum", "power", self.p)

    def values(self, scores: F64, at: I64) -> F64:
        return sums(self.shares(scores, at), at)

    def shares(self, scores: F64, at: I64) -> F64:
        return _logs(scores) if self.form == "log" else _powers(scores, self.p)  # type: ignore[no-any-return]

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        slopes: F64 = _log_slopes(scores) if self.form == "log" else _power_slopes(scores, self.p)
        return slopes * spread(upstream, at)
