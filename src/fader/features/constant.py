"""The constant feature: every context is worth 1, so that a sum counts contexts.

    f_q(x, e) = 1

Each matched literal is given an equal share of it; where none is matched, each literal is. Knows nothing of distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.contexts.table import Contexts
from fader.features.base import F64
from fader.features.column import OneColumn
from fader.features.fused import TermMaker, add_constant


@dataclass(frozen=True)
class Constant(OneColumn):
    """One per context."""

    name: ClassVar[str] = "constant"
    label: ClassVar[str] = "1"

    def column(self, contexts: Contexts) -> F64:
        return np.ones(len(contexts))

    def prepare_terms(self, w: F64) -> TermMaker:
        return add_constant(float(w[0]))
