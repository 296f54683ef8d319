"""The bias: every context begins below 0, so that an aggregator that saturates can tell weak contexts from none.

    f_q(x, e) = 1,   w <= 0

With it, soft-or has sigma(a - b), b >= 0, and a context needs evidence to count; without it every context has at
least sigma(0) = 1/2. The only feature whose weight is negative, so the only one that makes scores below 0. Golden case:
the weight -0.5 makes every score 0.5 less. Matched literals share it evenly. Knows nothing of aggregation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.contexts.table import Contexts
from fader.features.base import F64
from fader.features.column import OneColumn
from fader.features.fused import TermMaker, add_constant


@dataclass(frozen=True)
class Bias(OneColumn):
    """What a context must outweigh."""

    name: ClassVar[str] = "bias"
    label: ClassVar[str] = "bias"

    def column(self, contexts: Contexts) -> F64:
        return np.ones(len(contexts))

    def prepare_terms(self, w: F64) -> TermMaker:
        return add_constant(float(w[0]))

    def bounds(self) -> tuple[F64, F64]:
        return np.full(1, -np.inf), np.zeros(1)

    def start(self) -> F64:
        return np.full(1, -0.1)
