"""The contract of an aggregator.

Contexts of entity i are `scores[at[i]:at[i+1]]`. An aggregator gives each entity a value, and splits that value
exactly among its contexts. It knows nothing of where scores come from or of what an entity is.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


class Aggregator(Protocol):
    """`values` has one number an entity; `shares` one a context, which add up to its entity's value.

    Values do not depend on the order of an entity's contexts but for rounding, and an entity always has one
    context at least.
    """

    name: ClassVar[str]

    def values(self, scores: F64, at: I64) -> F64: ...

    def shares(self, scores: F64, at: I64) -> F64: ...
