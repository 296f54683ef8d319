"""Losses of entity values against judgments, over many queries at once, each with its gradient.

Values of query q are `values[at[q]:at[q+1]]`; `label` is the gain of a good entity (its grade), 0 for a bad one and
-1 for one that does not train. Each query counts once, times `weight[q]`.

    pairwise   1/(|G||B|) sum_{g,b} SH(1 + V(b) - V(g)),   SH(a) = ln(1 + e^a)            the paper's soft hinge
    listwise   1/|G| sum_g ln( 1 + sum_b e^(V(b) - V(g)) )                        each good one against all bad ones
    softmax    - sum_e p(e) ln( e^V(e) / sum e^V ),   p = grades normalised      ListNet, Cao et al., ICML 2007
    ndcg       sum_{grade i > grade j} |change of NDCG if i and j swapped places| SH(1 + V(j) - V(i)), with places
               held from the values at the start of a round      LambdaRank, Burges 2010; Wang et al., CIKM 2018

Knows nothing of features, aggregation or optimisers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.errors import UsageError, did_you_mean, quote
from fader.kernel import inline_kernel, kernel

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

LOSSES = ("pairwise", "listwise", "softmax", "ndcg")
# exp(V) is factored only while a factor (e^301 at most) times a product (the limit at most) stays far from overflow
FACTOR_RANGE = 300.0
PRODUCT_LIMIT = 1e150


@dataclass(frozen=True, slots=True)
class Labels:
    """What a loss knows of the judgments: offsets, a label an entity, a weight a query."""

    at: I64
    label: I32
    weight: F64

    def with_weights(self, weight: F64) -> Labels:
        """The same labels with other weights of queries."""
        return Labels(self.at, self.label, np.ascontiguousarray(weight, dtype=np.float64))


def check_loss(name: str) -> None:
    """Refuse a loss that is none."""
    if name not in LOSSES:
        hint = did_you_mean(name, LOSSES) or f"; known: {', '.join(LOSSES)}"
        raise UsageError(f"unknown loss {quote(name)}{hint}")


@inline_kernel
def _soft_hinge(a: float) -> float:
    return a + math.log1p(math.exp(-a)) if a > 0 else math.log1p(math.exp(a))


@inline_kernel
def _sigmoid(a: float) -> float:
    return 1.0 / (1.0 + math.exp(-a)) if a > 0 else math.exp(a) / (1.0 + math.exp(a))


@kernel
def _split(label: I32, start: int, stop: int, good: I64, bad: I64) -> Any:
    g, b = 0, 0
    for e in range(start, stop):
        if label[e] > 0:
            good[g] = e
            g += 1
        elif label[e] == 0:
            bad[b] = e
            b += 1
    return g, b


@kernel
def _sum_factored_pairs(values: F64, good: I64, bad: I64, norm: float, gradient: F64, up: F64) -> float:
    """e^(1+V(b)-V(g)) = e^(1+V(b)-c) e^(c-V(g)): one exponential per entity, and a logarithm now and then."""
    middle = values[good[0]]
    for k in range(bad.size):
        up[k] = math.exp(1.0 + values[bad[k]] - middle)
    total = 0.0
    for g in good:
        down = math.exp(middle - values[g])
        product, pull = 1.0, 0.0
        for k in range(bad.size):
            x = up[k] * down
            product *= 1.0 + x
            if product > PRODUCT_LIMIT:
                total += math.log(product)
                product = 1.0
            s = norm * (x / (1.0 + x))
            gradient[bad[k]] += s
            pull += s
        total += math.log(product)
        gradient[g] -= pull
    return norm * total


@kernel
def _sum_centred_pairs(values: F64, good: I64, bad: I64, norm: float, gradient: F64, up: F64) -> float:
    """The same for values that lie far apart: the centre follows the good entities, and bad ones far from it (`up` is
    0, which no exponential is here) are paired one by one."""
    middle, total = math.inf, 0.0
    for g in good:
        if not abs(values[g] - middle) < 0.5 * FACTOR_RANGE:
            middle = values[g]
            for k in range(bad.size):
                apart = values[bad[k]] - middle
                up[k] = math.exp(1.0 + apart) if abs(apart) < 0.5 * FACTOR_RANGE else 0.0
        down = math.exp(middle - values[g])
        product, pull = 1.0, 0.0
        for k in range(bad.size):
            if up[k] > 0.0:
                x = up[k] * down
                product *= 1.0 + x
                if product > PRODUCT_LIMIT:
                    total += math.log(product)
                    product = 1.0
                s = norm * (x / (1.0 + x))
            else:
                a = 1.0 + values[bad[k]] - values[g]
                total += _soft_hinge(a)
                s = norm * _sigmoid(a)
            gradient[bad[k]] += s
            pull += s
        total += math.log(product)
        gradient[g] -= pull
    return norm * total


@kernel
def _spread(values: F64, start: int, stop: int) -> Any:
    low, high = values[start], values[start]
    for e in range(start, stop):
        low, high = min(low, values[e]), max(high, values[e])
    return high - low


@kernel
def _pairwise(values: F64, at: I64, label: I32, weight: F64, gradient: F64) -> float:
    gradient[:] = 0.0
    largest = 0
    for q in range(at.size - 1):
        largest = max(largest, at[q + 1] - at[q])
    good, bad, up = np.empty(largest, dtype=np.int64), np.empty(largest, dtype=np.int64), np.empty(largest)
    total = 0.0
    for q in range(at.size - 1):
        if weight[q] == 0.0:
            continue
        g, b = _split(label, at[q], at[q + 1], good, bad)
        if g == 0 or b == 0:
            continue
        norm = weight[q] / (float(g) * float(b))
        if _spread(values, at[q], at[q + 1]) < FACTOR_RANGE:
            total += _sum_factored_pairs(values, good[:g], bad[:b], norm, gradient, up)
        else:
            total += _sum_centred_pairs(values, good[:g], bad[:b], norm, gradient, up)
    return total


@kernel
def _softmax(values: F64, at: I64, label: I32, weight: F64, gradient: F64) -> float:
    gradient[:] = 0.0
    total = 0.0
    for q in range(at.size - 1):
        gains, high = 0.0, -np.inf
        for e in range(at[q], at[q + 1]):
            if label[e] >= 0:
                gains += label[e]
                high = max(high, values[e])
        if weight[q] == 0.0 or gains == 0.0:
            continue
        mass = 0.0
        for e in range(at[q], at[q + 1]):
            if label[e] >= 0:
                mass += math.exp(values[e] - high)
        level = high + math.log(mass)
        for e in range(at[q], at[q + 1]):
            if label[e] >= 0:
                target = label[e] / gains
                total -= weight[q] * target * (values[e] - level)
                gradient[e] = weight[q] * (math.exp(values[e] - level) - target)
    return total


@kernel
def _listwise(values: F64, at: I64, label: I32, weight: F64, gradient: F64) -> float:
    """With B = ln sum_b e^V(b), a good one adds SH(B - V(g)), which pulls bad ones in proportion to e^V(b)."""
    gradient[:] = 0.0
    total = 0.0
    for q in range(at.size - 1):
        good, bad, high = 0, 0, -np.inf
        for e in range(at[q], at[q + 1]):
            if label[e] > 0:
                good += 1
            elif label[e] == 0:
                bad += 1
                high = max(high, values[e])
        if weight[q] == 0.0 or good == 0 or bad == 0:
            continue
        mass = 0.0
        for e in range(at[q], at[q + 1]):
            if label[e] == 0:
                mass += math.exp(values[e] - high)
        level, norm, pull = high + math.log(mass), weight[q] / good, 0.0
        for e in range(at[q], at[q + 1]):
            if label[e] > 0:
                total += norm * _soft_hinge(level - values[e])
                slope = norm * _sigmoid(level - values[e])
                gradient[e] = -slope
                pull += slope
        for e in range(at[q], at[q + 1]):
            if label[e] == 0:
                gradient[e] = pull * math.exp(values[e] - level)
    return total


@kernel
def _discounts(held: F64, at: I64, label: I32, out: F64, ideal: F64) -> None:
    """1/log2(1+place) of every entity that trains by its held value, and each query's ideal DCG."""
    for q in range(at.size - 1):
        a, b = at[q], at[q + 1]
        order = np.argsort(-held[a:b], kind="mergesort")
        place = 0
        for i in order:
            if label[a + i] >= 0:
                place += 1
                out[a + i] = 1.0 / math.log2(1.0 + place)
        grades = np.sort(label[a:b])[::-1]
        ideal[q] = 0.0
        for i in range(grades.size):
            if grades[i] > 0:
                ideal[q] += grades[i] / math.log2(2.0 + i)


@kernel
def _ndcg(values: F64, at: I64, label: I32, weight: F64, discount: F64, ideal: F64, gradient: F64) -> float:
    gradient[:] = 0.0
    total = 0.0
    for q in range(at.size - 1):
        if weight[q] == 0.0 or ideal[q] == 0.0:
            continue
        for i in range(at[q], at[q + 1]):
            if label[i] <= 0:
                continue
            for j in range(at[q], at[q + 1]):
                if label[j] < 0 or label[j] >= label[i]:
                    continue
                change = (label[i] - label[j]) * abs(discount[i] - discount[j]) / ideal[q]
                a = 1.0 + values[j] - values[i]
                total += weight[q] * change * _soft_hinge(a)
                s = weight[q] * change * _sigmoid(a)
                gradient[j] += s
                gradient[i] -= s
    return total


class Loss:
    """A loss ready to be evaluated: `loss(values) -> (number, gradient)`; `hold(values)` fixes the places of `ndcg`."""

    def __init__(self, name: str, labels: Labels) -> None:
        check_loss(name)
        self.name = name
        self.labels = labels
        self._discount: F64 = np.zeros(0)
        self._ideal: F64 = np.zeros(0)

    @property
    def has_rounds(self) -> bool:
        """Whether the loss itself changes between rounds."""
        return self.name == "ndcg"

    def hold(self, values: F64) -> None:
        """Take the present places for those that swaps are measured from."""
        if self.name == "ndcg":
            self._discount = np.zeros(values.size)
            self._ideal = np.zeros(self.labels.at.size - 1)
            _discounts(values, self.labels.at, self.labels.label, self._discount, self._ideal)

    def __call__(self, values: F64) -> tuple[float, F64]:
        """The loss of all queries, and its gradient by value."""
        if self.name == "ndcg" and not self._discount.size:
            self.hold(values)
        labels = self.labels
        return self._evaluate(values, labels.at, labels.label, labels.weight, self._discount, self._ideal)

    def of_query(self, q: int, values: F64) -> tuple[float, F64]:
        """The same of one query alone; places must be held where the loss has rounds."""
        if self.has_rounds and not self._discount.size:
            raise ValueError("places must be held before a query is evaluated by itself")
        labels = self.labels
        mine, one = slice(labels.at[q], labels.at[q + 1]), slice(q, q + 1)
        at = np.array([0, values.size], dtype=np.int64)
        return self._evaluate(
            values, at, labels.label[mine], labels.weight[one], self._discount[mine], self._ideal[one]
        )

    def _evaluate(self, values: F64, at: I64, label: I32, weight: F64, discount: F64, ideal: F64) -> tuple[float, F64]:
        gradient = np.empty(values.size)
        if self.name == "pairwise":
            return float(_pairwise(values, at, label, weight, gradient)), gradient
        if self.name == "listwise":
            return float(_listwise(values, at, label, weight, gradient)), gradient
        if self.name == "softmax":
            return float(_softmax(values, at, label, weight, gradient)), gradient
        return float(_ndcg(values, at, label, weight, discount, ideal, gradient)), gradient
