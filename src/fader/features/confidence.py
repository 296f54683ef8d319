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
from fader.features.base import F64, I32, Block, Columns, FeatureMap, Piece
from fader.features.constant import even_shares
from fader.parts import written


@dataclass(frozen=True)
class Confidence(FeatureMap):
    """Sure mentions count more."""

    name: ClassVar[str] = "confidence"

    def __str__(self) -> str:
        return written(self)

    @property
    def size(self) -> int:
        return 1

    def labels(self) -> list[str]:
        return ["annotation confidence"]

    def blocks(self, contexts: Contexts) -> list[Block]:
        return [Columns(self._values(contexts)[:, None], np.arange(len(contexts), dtype=np.int32))]

    def score(self, contexts: Contexts, w: F64) -> F64:
        return self._values(contexts) * float(w[0])

    def _values(self, contexts: Contexts) -> F64:
        return contexts.confidence if len(contexts) else np.zeros(0)

    def by_literal(self, contexts: Contexts, rows: I32, w: F64) -> F64:
        values: F64 = self._values(contexts)[rows] * w[0]
        return even_shares(contexts, rows) * values

    def pieces(self, contexts: Contexts, row: int, w: F64) -> list[Piece]:
        return [Piece(self.name, -1, self.labels()[0], float(contexts.confidence[row] * w[0]))]
