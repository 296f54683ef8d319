"""The hand-set ranker: `V(e) = sum over contexts of sum_t IDF(t)/IDF(q) / (1 + l(t)/width)`.

A sensible answer before anything is trained: rare words near the mention count most, and contexts add up. Golden case:
one literal of all the IDF, beside one mention of e and 10 tokens from another, in two documents: V(e) = 1/1.1 + 1/2.
Knows nothing of documents, such as their length or how often they have a literal, nor of order or sides, and learns
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.sum import Sum
from fader.contexts.policy import check_policy
from fader.features.kernel import Kernel, check_decay
from fader.lazy import cached_property
from fader.rank.system import FeatureScorer, FeatureScoring


@dataclass(frozen=True)
class Proximity(FeatureScorer):
    """Inverse-distance kernel x sum."""

    name: ClassVar[str] = "proximity"
    width: float = 10.0
    idf: str = "log"
    policy: str = "document"

    def __post_init__(self) -> None:
        check_policy(self.policy, self.name)
        check_decay(self.name, self.width, self.idf)

    @cached_property
    def feature_scoring(self) -> FeatureScoring:
        return FeatureScoring(Kernel("inverse", self.width, self.idf), np.ones(1), Sum(), self.policy)
