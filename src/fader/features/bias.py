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
from fader.features.base import F64, I32, Block, Columns, FeatureMap, Piece
from fader.features.constant import even_shares
from fader.parts import written


@dataclass(frozen=True)
class Bias(FeatureMap):
    """What a context must outweigh."""

    name: ClassVar[str] = "bias"

    def __str__(self) -> str:
        return written(self)

    @property
    def size(self) -> int:
        return 1

    def labels(self) -> list[str]:
        return ["bias"]

    def blocks(self, contexts: Contexts) -> list[Block]:
        return [Columns(np.ones((1, 1)), np.zeros(len(contexts), dtype=np.int32))]

    def score(self, contexts: Contexts, w: F64) -> F64:
        return np.full(len(contexts), w[0])

    def by_literal(self, contexts: Contexts, rows: I32, w: F64) -> F64:
        return even_shares(contexts, rows) * float(w[0])

    def pieces(self, contexts: Contexts, row: int, w: F64) -> list[Piece]:
        return [Piece(self.name, -1, self.labels()[0], float(w[0]))]

    def bounds(self) -> tuple[F64, F64]:
        return np.full(1, -np.inf), np.zeros(1)

    def start(self) -> F64:
        return np.full(1, -0.1)
