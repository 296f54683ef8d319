"""The contract of a feature map.

A feature map turns a Contexts table into per-context numbers that are >= 0, and says what each literal adds to
them. It knows the table and its statistics, and nothing of storage, of weights' training or of aggregation.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from fader.contexts.table import Contexts

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]


class FeatureMap(Protocol):
    """`score` is w . f_q(x, e) for every context; `by_literal` splits it for some rows.

    The columns of `by_literal(contexts, rows)` add up to `score(contexts)[rows]` (to rounding).
    """

    name: ClassVar[str]

    def score(self, contexts: Contexts) -> F64: ...

    def by_literal(self, contexts: Contexts, rows: I32) -> F64: ...
