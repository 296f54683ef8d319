"""An entity's contexts by score, best first, equal scores in their order: what rank-based aggregators share. No part.

    ranked(scores, at)[at[e] + r] = the place of the context of rank r (from 0) in S_e

Golden case: scores [1, 3, 3] of one entity are ranked [1, 2, 0]. Knows nothing of aggregators.
"""

from __future__ import annotations

import numpy as np

from fader.aggregate.base import F64, I64
from fader.kernel import kernel


@kernel
def _sort_contexts(scores: F64, at: I64) -> I64:
    out = np.empty(scores.size, dtype=np.int64)
    for e in range(at.size - 1):
        start, end = at[e], at[e + 1]
        # Mergesort is the stable one; negated, so that equal scores stay in their order.
        out[start:end] = np.argsort(-scores[start:end], kind="mergesort") + start
    return out


def sort_contexts(scores: F64, at: I64) -> I64:
    """The places of contexts, entity by entity, by score descending."""
    return _sort_contexts(scores, at)  # type: ignore[no-any-return]
