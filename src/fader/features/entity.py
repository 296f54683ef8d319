"""Entity: features of the candidate itself, h(e) of `fader.entityfeatures`, as columns that all its contexts share.

    f(x, e) = h(e)

Under an aggregator that passes on what is added to all scores, as ln sum exp(a + c) = c + ln sum exp(a) does, the model
is V(e) = ln sum_x exp(w . f(x, e)) + u . h(e): features of contexts and of entities, trained together and explained in
the same pieces. `use` names entity maps, as in `frequency/votes`. Weights are of free sign, in units of `scale`. Golden
case: `frequency` of an entity with one context in the one document of the collection is (1, 0, 0, 0). Knows nothing of
literals; they share it evenly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from fader.allowance import claim, claimed
from fader.contexts.table import Contexts
from fader.errors import UsageError, quote
from fader.features.base import F64, Block, Columns
from fader.features.family import ColumnFamily
from fader.lazy import cached_property
from fader.registry import parse


@dataclass(frozen=True)
class Entity(ColumnFamily):
    """What is known of the candidate, however near the words are."""

    name: ClassVar[str] = "entity"
    reads_table: ClassVar[bool] = True
    use: str = "frequency"

    def __post_init__(self) -> None:
        names = self.use.split("/") if isinstance(self.use, str) else [self.use]
        if len(set(names)) < len(names):
            raise UsageError(f"entity: use has a name more than once in {quote(self.use)}")
        self.entity_maps  # noqa: B018  refuses what is no entity map
        super().__post_init__()

    @cached_property
    def entity_maps(self) -> tuple[Any, ...]:
        """The entity maps, by name: they stand above feature maps and are found, not imported."""
        return tuple(parse("fader.entityfeatures", name) for name in str(self.use).split("/"))

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]  # those of its maps
        return tuple(f"{m.name}: {column}" for m in self.entity_maps for column in m.columns)

    def _of_entities(self, contexts: Contexts) -> F64:
        """(entities of `groups`, columns), scaled."""
        with claimed(24 * self.size * contexts.groups.entity.size):
            found: F64 = np.concatenate([m.values(contexts) for m in self.entity_maps], axis=1)
            return found / np.array(self.scale) if self.scale else found

    def compute(self, contexts: Contexts) -> F64:
        return replace(self, scale=()).values(contexts)

    def values(self, contexts: Contexts) -> F64:
        with claimed((8 + 8 * self.size) * len(contexts)):
            found: F64 = self._of_entities(contexts)[self._places(contexts)]
            return found

    def fit_scale(self, tables: Iterable[Contexts]) -> Self:
        """The same with the spread of each column among the candidates of a table."""
        kept = list(tables)
        return replace(self, scale=tuple(s for m in self.entity_maps for s in m.fit_scale(kept).scale))

    def blocks(self, contexts: Contexts) -> list[Block]:
        claim(8 * self.size * contexts.groups.entity.size + 12 * len(contexts))
        return [Columns(self._of_entities(contexts), self._places(contexts).astype(np.int32))]

    def _places(self, contexts: Contexts) -> Any:
        return np.searchsorted(contexts.groups.entity, contexts.entity)
