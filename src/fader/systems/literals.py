"""Any other system over literals that match in more ways: by entity, by stem, relaxed (`contexts.match.MatchOptions`).

`literals(plm)` is plm where "ascorbic acid" also occurs at mentions of that entity; `literals(plm,stem=true)` matches
words by their stems as well. Values, explanations and the fused form are those of the system itself, over the contexts
and counts that follow. Golden case: with all three off it is the system.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fader.contexts.policy import Evidence
from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.features.base import Piece
from fader.lazy import cached_property
from fader.rank.system import FeatureScoring, FusedMaker, Ranking, System, View
from fader.systems.base import parse_system

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]


@dataclass(frozen=True)
class Literals(System):
    """Another system with literals matched in more ways."""

    name: ClassVar[str] = "literals"
    first: ClassVar[str] = "system"
    system: str = "count"
    entities: bool = True
    stem: bool = False
    relax: bool = False

    def __post_init__(self) -> None:
        if self.inner.learned or isinstance(self.inner, Literals):
            raise UsageError(
                f"literals: {self.inner.name} has ways to match of its own or must be trained; give a system that "
                "ranks untrained, or train with stem, entities and relax"
            )

    @cached_property
    def inner(self) -> System:
        """The system that ranks."""
        return parse_system(self.system)

    @cached_property
    def view(self) -> View:
        return replace(self.inner.view, stem=self.stem, entities=self.entities, relax=self.relax)

    @property
    def values_are_independent(self) -> bool:  # type: ignore[override]  # as the system's
        return self.inner.values_are_independent

    def scores(self, contexts: Contexts) -> F64:
        return self.inner.scores(contexts)

    def value_entities(self, contexts: Contexts) -> tuple[Evidence, F64]:
        return self.inner.value_entities(contexts)

    def shares(self, contexts: Contexts, ranking: Ranking, i: int) -> F64:
        return self.inner.shares(contexts, ranking, i)

    def literal_weights(self, contexts: Contexts, rows: I32) -> F64:
        return self.inner.literal_weights(contexts, rows)

    def pieces(self, contexts: Contexts, row: int) -> list[Piece]:
        return self.inner.pieces(contexts, row)

    @property
    def feature_scoring(self) -> FeatureScoring | None:
        return self.inner.feature_scoring

    def prepare_fused(self) -> FusedMaker | None:
        return self.inner.prepare_fused()
