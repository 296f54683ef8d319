"""The hand-set ranker: `V(e) = sum over contexts of sum_t IDF(t)/IDF(q) / (1 + l(t)/width)`.

A sensible answer before anything is trained: rare words near the mention count most, and contexts add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fader.aggregate.sum import Sum
from fader.contexts.policy import check_policy
from fader.contexts.table import Contexts
from fader.features.kernel import Kernel, check_decay
from fader.parts import written
from fader.systems import pipeline
from fader.systems.base import Contributions, Ranking


@dataclass(frozen=True)
class Proximity:
    """Inverse-distance kernel x sum."""

    name: ClassVar[str] = "proximity"
    width: float = 10.0
    idf: str = "log"
    policy: str = "document"

    def __post_init__(self) -> None:
        check_policy(self.policy, self.name)
        check_decay(self.name, self.width, self.idf)

    def __str__(self) -> str:
        return written(self)

    def rank(self, contexts: Contexts, k: int) -> Ranking:
        return pipeline.rank(contexts, self._features, Sum(), self.policy, k)

    def explain(self, contexts: Contexts, ranking: Ranking, i: int) -> Contributions:
        return pipeline.explain(contexts, self._features, Sum(), ranking, i)

    @property
    def _features(self) -> Kernel:
        return Kernel("inverse", self.width, self.idf)
