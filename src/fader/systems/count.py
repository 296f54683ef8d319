"""Count: `V(e) = |S_e|`, the number of supporting contexts; the baseline of Macdonald & Ounis (CIKM 2006).

Golden case: an entity with contexts in two documents has 2. Knows nothing of what a context says: not which literals
it has, how rare they are or how near; and nothing of how often the entity is mentioned elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.count import Count as CountAggregator
from fader.contexts.policy import check_policy
from fader.features.constant import Constant
from fader.lazy import cached_property
from fader.rank.system import FeatureScorer, FeatureScoring


@dataclass(frozen=True)
class Count(FeatureScorer):
    """Constant feature x count."""

    name: ClassVar[str] = "count"
    policy: str = "document"

    def __post_init__(self) -> None:
        check_policy(self.policy, self.name)

    @cached_property
    def feature_scoring(self) -> FeatureScoring:
        return FeatureScoring(Constant(), np.ones(1), CountAggregator(), self.policy)
