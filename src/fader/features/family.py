"""Families of columns: several numbers per context, each with a weight of free sign. No part by itself.

    w . f(x) = sum_c w[c] * column[x, c] / scale[c]

A column may help or hurt, so weights are not bounded. `scale` is the spread of each column over training contexts:
with it a weight counts in units of that spread, and one regulariser suits them all. Without it every scale is 1. What a
context has may depend on the other contexts of its document, never on other documents. The columns belong to no single
literal: matched literals share them evenly. Knows nothing of what the columns hold.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from fader.allowance import claim, claimed
from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.features.base import F64, I32, Block, Columns, FeatureMap, Piece
from fader.features.column import even_shares


@dataclass(frozen=True)
class ColumnFamily(FeatureMap):
    """`columns` names the columns, `compute` has their values."""

    columns: ClassVar[tuple[str, ...]]
    scale: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.scale and (len(self.scale) != self.size or not all(0 < s < float("inf") for s in self.scale)):
            raise UsageError(f"{self.name}: scale must be {self.size} numbers above 0, not {self.scale}")

    @abstractmethod
    def compute(self, contexts: Contexts) -> F64:
        """(contexts, columns), for a table that has contexts, before scaling."""

    def values(self, contexts: Contexts) -> F64:
        """(contexts, columns), scaled."""
        if not len(contexts):
            return np.zeros((0, self.size))
        found: F64 = contexts.compute_rows((self.name, "columns"), self._compute_counted)
        if not self.scale:
            return found
        with claimed(8 * found.size):
            scaled: F64 = found / np.array(self.scale)
            return scaled

    def _compute_counted(self, contexts: Contexts) -> F64:
        claim(8 * self.size * len(contexts))
        return self.compute(contexts)

    def fit_scale(self, tables: Iterable[Contexts]) -> Self:
        """The same family with the spread of each column over contexts, tables counting alike; 1 where it hardly is."""
        moments, count = np.zeros((2, self.size)), 0
        for contexts in tables:
            if len(contexts):
                found = replace(self, scale=()).values(contexts)
                moments += found.mean(axis=0), (found * found).mean(axis=0)
                count += 1
        mean, square = moments / max(1, count)
        spread = np.sqrt(np.maximum(square - mean * mean, 0.0))
        return replace(self, scale=tuple(np.where(spread > 1e-3, spread, 1.0).tolist()))

    @property
    def size(self) -> int:
        return len(self.columns)

    def labels(self) -> list[str]:
        return list(self.columns)

    def blocks(self, contexts: Contexts) -> list[Block]:
        claim((4 + 8 * self.size) * len(contexts))
        return [Columns(self.values(contexts), np.arange(len(contexts), dtype=np.int32))]

    def by_literal(self, contexts: Contexts, rows: I32, w: F64) -> F64:
        values: F64 = self.values(contexts)[rows] @ w
        return even_shares(contexts, rows) * values

    def pieces(self, contexts: Contexts, row: int, w: F64) -> list[Piece]:
        values = self.values(contexts)[row] * w
        return [Piece(self.name, -1, c, float(v)) for c, v in zip(self.columns, values, strict=True)]

    def bounds(self) -> tuple[F64, F64]:
        return np.full(self.size, -np.inf), np.full(self.size, np.inf)

    def start(self) -> F64:
        return np.full(self.size, 0.01)
