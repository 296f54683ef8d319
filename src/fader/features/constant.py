"""The constant feature: every context is worth 1, so that a sum counts contexts.

    f_q(x, e) = 1

Each matched literal is given an equal share of it; where none is matched, each literal is. Knows nothing of distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.contexts.table import Contexts
from fader.features.base import F64, I32


@dataclass(frozen=True)
class Constant:
    """One per context."""

    name: ClassVar[str] = "constant"

    def score(self, contexts: Contexts) -> F64:
        return np.ones(len(contexts))

    def by_literal(self, contexts: Contexts, rows: I32) -> F64:
        matched = contexts.distances[:, rows] >= 0
        matched |= ~matched.any(axis=0)
        shares: F64 = matched / np.maximum(1, matched.sum(axis=0))
        return shares
