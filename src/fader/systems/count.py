"""Count: `V(e) = |S_e|`, the number of supporting contexts; the baseline of Macdonald & Ounis (CIKM 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fader.aggregate.count import Count as CountAggregator
from fader.contexts.policy import check_policy
from fader.contexts.table import Contexts
from fader.features.constant import Constant
from fader.parts import written
from fader.systems import pipeline
from fader.systems.base import Contributions, Ranking


@dataclass(frozen=True)
class Count:
    """Constant feature x count."""

    name: ClassVar[str] = "count"
    policy: str = "document"

    def __post_init__(self) -> None:
        check_policy(self.policy, self.name)

    def __str__(self) -> str:
        return written(self)

    def rank(self, contexts: Contexts, k: int) -> Ranking:
        return pipeline.rank(contexts, Constant(), CountAggregator(), self.policy, k)

    def explain(self, contexts: Contexts, ranking: Ranking, i: int) -> Contributions:
        return pipeline.explain(contexts, Constant(), CountAggregator(), ranking, i)
