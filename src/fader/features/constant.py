"""The constant feature: every context is worth 1, so that a sum counts contexts.

    f_q(x, e) = 1

Each matched literal is given an equal share of it; where none is matched, each literal is. Knows nothing of distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.contexts.table import Contexts
from fader.features.base import F64, I32, Block, Columns, FeatureMap, Piece
from fader.parts import written


@dataclass(frozen=True)
class Constant(FeatureMap):
    """One per context."""

    name: ClassVar[str] = "constant"

    def __str__(self) -> str:
        return written(self)

    @property
    def size(self) -> int:
        return 1

    def labels(self) -> list[str]:
        return ["1"]

    def blocks(self, contexts: Contexts) -> list[Block]:
        return [Columns(np.ones((1, 1)), np.zeros(len(contexts), dtype=np.int32))]

    def score(self, contexts: Contexts, w: F64) -> F64:
        return np.full(len(contexts), w[0])

    def by_literal(self, contexts: Contexts, rows: I32, w: F64) -> F64:
        return even_shares(contexts, rows) * float(w[0])

    def pieces(self, contexts: Contexts, row: int, w: F64) -> list[Piece]:
        return [Piece(self.name, -1, "1", float(w[0]))]


def even_shares(contexts: Contexts, rows: I32) -> F64:
    """What belongs to no single literal, shared among those that a context has, or among all where it has none."""
    matched = contexts.distances[:, rows] >= 0
    matched |= ~matched.any(axis=0)
    shares: F64 = matched / np.maximum(1, matched.sum(axis=0))
    return shares
