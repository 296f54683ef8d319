"""The confidence feature: how sure the annotator was of the mention.

    f_q(x, e) = the mention's annotation confidence

Golden case: a mention of confidence 0.8 under the weight 2 scores 1.6. It belongs to no literal, so that matched
literals share it evenly; where none is matched, all do. Knows nothing of distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.contexts.table import Contexts
from fader.features.base import F64
from fader.features.column import OneColumn
from fader.features.fused import ConfidenceColumn, TermMaker


@dataclass(frozen=True)
class Confidence(OneColumn):
    """Sure mentions count more."""

    name: ClassVar[str] = "confidence"
    label: ClassVar[str] = "annotation confidence"

    def column(self, contexts: Contexts) -> F64:
        return contexts.confidence if len(contexts) else np.zeros(0)

    def prepare_terms(self, w: F64) -> TermMaker:
        return lambda _statistics, _farthest: (ConfidenceColumn(float(w[0])),)
