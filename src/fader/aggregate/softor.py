"""Soft-or: V(e) = 1 - prod over its contexts of (1 - sigma(a_x)), the chance that one of them at least is evidence.

    values:   S(e) = sum_x ln(1 + exp(a_x)) = -ln(1 - V(e)), which orders entities as V does
    loss:     V(e) = 1 - exp(-S)
    gradient: dV/da_x = sigma(a_x) * exp(-S)
    share:    ln(1 + exp(a_x))

With scores >= 0 every factor is at most 1/2, so that in doubles V is exactly 1.0 from 55 contexts on and popular
entities tie; S keeps them apart. `bias` asks the trainer for a learned bias below the scores, so that a context can
also be no evidence; scores arrive already shifted. Li, Li & Yu, "EntityEngine", CIKM 2010; Fang, Si & Mathur,
"Discriminative models of integrating document evidence and document-candidate associations for expert search",
SIGIR 2010. Golden case: scores [0, 0] and [ln 3] both have V = 3/4 and S = ln 4. Knows nothing of where a bias is from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.base import F64, I64, Accumulation, Aggregator
from fader.aggregate.sum import spread, sums
from fader.kernel import inline_kernel, kernel


@inline_kernel
def _softplus(a: float) -> float:
    return max(a, 0.0) + math.log1p(math.exp(-abs(a)))


@kernel
def _softpluses(scores: F64) -> F64:
    out = np.empty(scores.size)
    for i in range(scores.size):
        out[i] = _softplus(scores[i])
    return out


@kernel
def _sigmoids(scores: F64) -> F64:
    out = np.empty(scores.size)
    for i in range(scores.size):
        small = math.exp(-abs(scores[i]))
        out[i] = (1.0 if scores[i] >= 0 else small) / (1.0 + small)
    return out


@dataclass(frozen=True)
class SoftOr(Aggregator):
    """One good context is enough."""

    name: ClassVar[str] = "softor"
    bias: bool = False

    @property
    def wants_bias(self) -> bool:
        return self.bias

    @property
    def accumulation(self) -> Accumulation:
        return Accumulation("sum", "softplus")

    def values(self, scores: F64, at: I64) -> F64:
        return sums(self.shares(scores, at), at)

    def loss_values(self, scores: F64, at: I64) -> F64:
        chances: F64 = -np.expm1(-self.values(scores, at))
        return chances

    def shares(self, scores: F64, at: I64) -> F64:
        return _softpluses(scores)  # type: ignore[no-any-return]

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        slopes: F64 = _sigmoids(scores) * spread(upstream * np.exp(-self.values(scores, at)), at)
        return slopes
