"""The contract of an entity map: numbers h_q(e) per candidate, beside what an aggregator makes of its contexts.

    V(e) = g({ w . f_q(x, e) : x in X(e) })  +  u . h_q(e),        u . h_q(e) = sum_c u[c] * column[e, c] / scale[c]

Weights are of free sign. `scale` is the spread of each column over the candidates of a training query: with it a weight
counts in units of that spread; without it every scale is 1. What a candidate has depends on its own contexts and on
the collection, never on other candidates. An entity map knows the Contexts table, and nothing of storage, of training
or of aggregation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from fader.arrays import F64
from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.registry import write_part


@dataclass(frozen=True)
class EntityMap(ABC):
    """A value: its string parses back to it. `columns` names the columns, `compute` has their values."""

    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    scale: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.scale and (len(self.scale) != self.size or not all(0 < s < float("inf") for s in self.scale)):
            raise UsageError(f"{self.name}: scale must be {self.size} numbers above 0, not {self.scale}")

    def __str__(self) -> str:
        """The text that parses back to the map."""
        return write_part(self)

    @property
    def size(self) -> int:
        """How many weights it has."""
        return len(self.columns)

    @abstractmethod
    def compute(self, contexts: Contexts) -> F64:
        """(entities, columns), for a table that has contexts, before scaling; entities are those of `groups`."""

    def values(self, contexts: Contexts) -> F64:
        """(entities, columns), scaled."""
        if not len(contexts):
            return np.zeros((0, self.size))
        found: F64 = contexts.compute_once((self.name, "entities"), lambda: self.compute(contexts))
        return found / np.array(self.scale) if self.scale else found

    def fit_scale(self, tables: Iterable[Contexts]) -> Self:
        """The same map with the spread of each column within tables (root of the mean variance); 1 for hardly any."""
        variance, count = np.zeros(self.size), 0
        for contexts in tables:
            if contexts.groups.entity.size > 1:
                variance += replace(self, scale=()).values(contexts).var(axis=0)
                count += 1
        spread = np.sqrt(variance / max(1, count))
        return replace(self, scale=tuple(np.where(spread > 1e-3, spread, 1.0).tolist()))
