"""The contract of an aggregator.

Contexts of entity i are `scores[at[i]:at[i+1]]`. An aggregator gives each entity a value, splits that value exactly
among its contexts, and gives the value's gradient. It knows nothing of where scores come from or of what an entity is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fader.registry import write_part

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Accumulation:
    """How values can be accumulated context by context, in the order of contexts, without keeping scores.

    count    how many contexts there are
    sum      the sum of transformed scores; `transform` is none, softplus, log1p (of scores above 0) or power
    max      the largest score             min      the smallest
    logsum   ln of the sum of exp(score), shifted by the largest score
    """

    kind: str
    transform: str = "none"
    parameter: float = 0.0


class Aggregator(ABC):
    """`values` are what entities are ranked by; `loss_values` are the V(e) that the loss sees.

    The two order entities alike, and are the same but where V saturates or overflows in doubles: then `values` are
    in log space. `shares` has a number per context; those of an entity add up to its `values`. `gradient` is the sum
    over entities of upstream[e] * d loss_values(e) / d scores[x], a number per context; where V has a kink, one of the
    slopes beside it. All are finite for scores of +-700 and a million contexts, and do not depend on the order of an
    entity's contexts but for rounding and the choice among equal scores. A better context never lowers the value of
    its entity. An entity always has at least one context.
    """

    name: ClassVar[str]
    convex: ClassVar[bool] = False  # the pairwise loss is convex in the weights
    constant: ClassVar[bool] = False  # V(e) does not depend on the scores: nothing can be trained
    linear: ClassVar[bool] = False  # V(e) is a fixed linear function of the scores, whatever they are

    def __str__(self) -> str:
        """The text that parses back to the aggregator."""
        return write_part(self)

    @property
    def wants_bias(self) -> bool:
        """Whether scores should come shifted down by a learned bias; an aggregator itself never shifts them."""
        return False

    @abstractmethod
    def values(self, scores: F64, at: I64) -> F64: ...

    @abstractmethod
    def shares(self, scores: F64, at: I64) -> F64: ...

    @abstractmethod
    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64: ...

    @property
    def accumulation(self) -> Accumulation | None:
        """How `finish` of accumulated numbers gives the bits of `values`; None where scores must be kept per entity."""
        return None

    def finish(self, accumulated: F64, counts: I64) -> F64:
        """The values of entities from what was accumulated and the numbers of their contexts."""
        return accumulated

    def loss_values(self, scores: F64, at: I64) -> F64:
        """V(e) as the loss sees it."""
        return self.values(scores, at)

    def loss_values_with_slopes(self, scores: F64, at: I64) -> tuple[F64, F64]:
        """`loss_values`, and d loss_values(e) / d scores[x] of each context; together where that saves work."""
        return self.loss_values(scores, at), self.gradient(scores, at, np.ones(at.size - 1))
