"""Sums of exponentials that neither overflow nor vanish: their logarithms, and the way back. No part by itself.

    log_sums:      L(e) = ln sum_x exp(a_x) = m + ln sum_x exp(a_x - m),  m = max_x a_x
    in_proportion: exp(a_x) / sum exp(a) = exp(a_x - L)
    grown:         exp(L) up to L = 200, from there on its tangent in L:  e^200 * (1 + L - 200)
    slope:         d grown / dL = exp(min(L, 200))

`grown` is finite, strictly increasing and has one slope everywhere, so that a loss can be built on it; e^200 is some
10^87, which leaves room for the arithmetic of an optimiser. Blanchard, Higham & Higham, "Accurately computing the
log-sum-exp and softmax functions", IMA J. Numerical Analysis 2021. Golden case: scores [0, 0] have L = ln 2 and
proportions 1/2, 1/2. Knows nothing of aggregators.
"""

from __future__ import annotations

import math

import numpy as np

from fader.aggregate.base import F64, I64
from fader.kernel import kernel

TANGENT_FROM = 200.0


@kernel
def _log_sums(scores: F64, at: I64) -> F64:
    out = np.empty(at.size - 1)
    for e in range(at.size - 1):
        top = scores[at[e]]
        for i in range(at[e] + 1, at[e + 1]):
            top = max(top, scores[i])
        total = 0.0
        for i in range(at[e], at[e + 1]):
            total += math.exp(scores[i] - top)
        out[e] = top + math.log(total)
    return out


@kernel
def _logs_and_proportions(scores: F64, at: I64, logs: F64, out: F64) -> None:
    for e in range(at.size - 1):
        top = scores[at[e]]
        for i in range(at[e] + 1, at[e + 1]):
            top = max(top, scores[i])
        total = 0.0
        for i in range(at[e], at[e + 1]):
            out[i] = math.exp(scores[i] - top)
            total += out[i]
        for i in range(at[e], at[e + 1]):
            out[i] /= total
        logs[e] = top + math.log(total)


@kernel
def _in_proportion(scores: F64, at: I64, logs: F64, amount: F64) -> F64:
    out = np.empty(scores.size)
    for e in range(at.size - 1):
        for i in range(at[e], at[e + 1]):
            out[i] = amount[e] * math.exp(scores[i] - logs[e])
    return out


def log_sums(scores: F64, at: I64) -> F64:
    """ln sum exp(a) of each entity."""
    return _log_sums(scores, at)  # type: ignore[no-any-return]


def logs_and_proportions(scores: F64, at: I64) -> tuple[F64, F64]:
    """`log_sums`, and exp(a) / sum exp(a) of each context, from one exponential a context."""
    logs, out = np.empty(at.size - 1), np.empty(scores.size)
    _logs_and_proportions(scores, at, logs, out)
    return logs, out


def in_proportion(scores: F64, at: I64, logs: F64, amount: F64) -> F64:
    """An amount per entity, split among its contexts in proportion to exp(a); `logs` are the `log_sums`."""
    return _in_proportion(scores, at, logs, amount)  # type: ignore[no-any-return]


def exponentiate(logs: F64) -> F64:
    """exp(L), continued by its tangent where it would overflow."""
    return np.exp(np.minimum(logs, TANGENT_FROM)) * (1.0 + np.maximum(logs - TANGENT_FROM, 0.0))


def slope(logs: F64) -> F64:
    """The derivative of `exponentiate`."""
    return np.exp(np.minimum(logs, TANGENT_FROM))
