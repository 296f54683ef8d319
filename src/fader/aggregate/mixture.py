"""Mixture: V(e) = sum over aggregators m of weight_m * g_m(e), all over the same scores of its contexts.

Where one passage answers, the best contexts should decide; where many documents count, their sum: a mixture need not
choose. Weights are not negative; training finds them together with those of the features (`fader.learn.mixing`). Shares
and gradient are those of the parts, weighted alike. A part must be trained on the values that it ranks by. Golden case:
scores [0, ln 3] and [ln 2] under `mixture(of=logsumexp/sum,weights=1/2)` give [ln 4 + 2 ln 3, 3 ln 2]. Knows nothing of
how weights are found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.base import F64, I64, Aggregator
from fader.errors import UsageError, quote
from fader.lazy import cached_property
from fader.registry import parse


@dataclass(frozen=True)
class Mixture(Aggregator):
    """Several aggregators at once; without `weights` all count alike."""

    name: ClassVar[str] = "mixture"
    of: str = "logsumexp/max/sum"
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        names = self.of.split("/")
        if len(set(names)) < len(names) or len(names) < 2:
            raise UsageError(f"mixture: of must name two aggregators at least, each once, not {quote(self.of)}")
        for part in self.parts:
            if isinstance(part, Mixture) or type(part).loss_values is not Aggregator.loss_values or part.wants_bias:
                raise UsageError(f"mixture: {part} ranks by other values than it trains on; take logsumexp, max or sum")
        object.__setattr__(self, "weights", tuple(float(w) for w in self.weights))  # numpy's numbers write differently
        found = self.weight_of_parts
        if len(found) != len(names) or not all(0 <= w < math.inf for w in found) or not any(found):
            shown = "/".join(f"{w:g}" for w in found)
            raise UsageError(f"mixture: weights must be {len(names)} numbers from 0 on and not all 0, not {shown}")

    @cached_property
    def parts(self) -> tuple[Aggregator, ...]:
        """The aggregators, by name."""
        return tuple(parse("fader.aggregate", name) for name in self.of.split("/"))

    @cached_property
    def weight_of_parts(self) -> tuple[float, ...]:
        """The weights, or the same for all."""
        return self.weights or (1.0 / len(self.parts),) * len(self.parts)

    def values_of_parts(self, scores: F64, at: I64) -> F64:
        """(entities, aggregators), before weighting."""
        return np.stack([part.values(scores, at) for part in self.parts], axis=1)

    def values(self, scores: F64, at: I64) -> F64:
        total = np.zeros(at.size - 1)
        for weight, part in zip(self.weight_of_parts, self.parts, strict=True):
            total += weight * part.values(scores, at)
        return total

    def shares(self, scores: F64, at: I64) -> F64:
        total = np.zeros(scores.size)
        for weight, part in zip(self.weight_of_parts, self.parts, strict=True):
            total += weight * part.shares(scores, at)
        return total

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        total = np.zeros(scores.size)
        for weight, part in zip(self.weight_of_parts, self.parts, strict=True):
            total += weight * part.gradient(scores, at, upstream)
        return total
