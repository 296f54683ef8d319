"""Feature maps of one column that belongs to no literal: a number a context, and one weight. No part by itself.

    w . f(x) = w[0] * column[x]

Matched literals share it evenly; where none is matched, all do. Knows nothing of what the column holds.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from fader.contexts.table import Contexts
from fader.features.base import F64, I32, Block, Columns, FeatureMap, Piece


class OneColumn(FeatureMap):
    """`column` has a number for each context; `label` says what it is."""

    label: ClassVar[str]

    @abstractmethod
    def column(self, contexts: Contexts) -> F64: ...

    @property
    def size(self) -> int:
        return 1

    def labels(self) -> list[str]:
        return [self.label]

    def blocks(self, contexts: Contexts) -> list[Block]:
        return [Columns(self.column(contexts)[:, None], np.arange(len(contexts), dtype=np.int32))]

    def score(self, contexts: Contexts, w: F64) -> F64:
        return self.column(contexts) * float(w[0])

    def by_literal(self, contexts: Contexts, rows: I32, w: F64) -> F64:
        values: F64 = self.column(contexts)[rows] * float(w[0])
        return even_shares(contexts, rows) * values

    def pieces(self, contexts: Contexts, row: int, w: F64) -> list[Piece]:
        return [Piece(self.name, -1, self.label, float(self.column(contexts)[row] * w[0]))]


def even_shares(contexts: Contexts, rows: I32) -> F64:
    """What belongs to no single literal, shared among those that a context has, or among all where it has none."""
    matched = contexts.distances[:, rows] >= 0
    matched |= ~matched.any(axis=0)
    shares: F64 = matched / np.maximum(1, matched.sum(axis=0))
    return shares
