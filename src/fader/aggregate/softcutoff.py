"""Soft cutoff: V(e) = sum over its contexts of D(r_x) a_x, where D falls with the rank of a context in S_e.

    r_x = floor(B * rank / |S_e|),  rank from 0 by score descending, equal scores in their order;  B = 10: deciles
    gradient: dV/da_x = D(r_x), ranks held fixed
    share:    D(r_x) a_x

D(0) >= D(1) >= ... >= 0 is the parameter `decay`, whose length is B; all ones is the sum. `deciles` gives the matrix A
with V = A D, from which `fader.learn.cutoff` learns D while scores stay fixed. Cummins, Lalmas & O'Riordan,
"Learning aggregation functions for expert search", ECAI 2010; the paper's SoftCutoff. Golden case: decay 1/0.5 and
scores [1, 4, 2] of one entity: ranks 2, 0, 1, buckets 1, 0, 0, V = 4 + 2 + 0.5 = 6.5. Knows nothing of how D is found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from fader.aggregate.base import F64, I64, Aggregator
from fader.aggregate.ranked import sort_contexts
from fader.aggregate.sum import spread, sums
from fader.errors import UsageError
from fader.kernel import kernel


@kernel
def _buckets(order: I64, at: I64, buckets: int) -> I64:
    out = np.empty(order.size, dtype=np.int64)
    for e in range(at.size - 1):
        size = at[e + 1] - at[e]
        for rank in range(size):
            out[order[at[e] + rank]] = buckets * rank // size
    return out


@kernel
def _bucket_sums(scores: F64, at: I64, order: I64, bucket: I64, out: F64) -> None:
    """Added in the order of ranks, so that the order of contexts does not matter even for rounding."""
    for e in range(at.size - 1):
        for k in range(at[e], at[e + 1]):
            out[e, bucket[order[k]]] += scores[order[k]]


@dataclass(frozen=True)
class SoftCutoff(Aggregator):
    """The worse a context's rank among those of its entity, the less it counts."""

    name: ClassVar[str] = "softcutoff"
    decay: tuple[float, ...] = (1.0,) * 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "decay", tuple(float(d) for d in self.decay))  # numpy's numbers write differently
        shown = "/".join(f"{d:g}" for d in self.decay)
        if not self.decay or not all(0 <= d < math.inf for d in self.decay):
            raise UsageError(f"softcutoff: decay must be numbers from 0 on, like 1/0.5/0.1, not {shown or 'none'}")
        if any(b > a for a, b in pairwise(self.decay)):
            raise UsageError(f"softcutoff: decay must never rise from one bucket of ranks to the next, not {shown}")

    def values(self, scores: F64, at: I64) -> F64:
        order = sort_contexts(scores, at)
        return sums((self._weights(order, at) * scores)[order], at)

    def shares(self, scores: F64, at: I64) -> F64:
        parts: F64 = self._weights(sort_contexts(scores, at), at) * scores
        return parts

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        slopes: F64 = self._weights(sort_contexts(scores, at), at) * spread(upstream, at)
        return slopes

    def deciles(self, scores: F64, at: I64) -> F64:
        """The sum of scores in each bucket of ranks: (entities, B), `values` = deciles @ decay."""
        order = sort_contexts(scores, at)
        out = np.zeros((at.size - 1, len(self.decay)))
        _bucket_sums(scores, at, order, _buckets(order, at, len(self.decay)), out)
        return out

    def _weights(self, order: I64, at: I64) -> F64:
        weights: F64 = np.array(self.decay)[_buckets(order, at, len(self.decay))]
        return weights
