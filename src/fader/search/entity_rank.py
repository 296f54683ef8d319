"""Where one entity stands among all candidates of a query, however far down, and why it may stand nowhere.

A ranking has the values of all candidates, so that any one's rank is a count, and nothing need be ranked twice. Knows
no snippets and no page.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.table import Contexts
from fader.errors import UsageError, quote
from fader.learn.model import Model
from fader.rank.ranking import Contributions, explain_entity, order_entities, rank_of
from fader.rank.system import Ranking, View
from fader.search.collection import Collection
from fader.search.models import warnings_of

I32 = NDArray[np.int32]


@dataclass(frozen=True)
class EntityStanding:
    """An entity by number in the ranking of a query.

    `ranking` has this entity alone, in its place among the values of all; None where it is no candidate. `warnings`
    then say why.
    """

    collection: Collection
    model: Model
    contexts: Contexts
    entity: int
    candidates: int
    ranking: Ranking | None
    warnings: list[str]

    @property
    def id(self) -> str:
        return self.collection.catalog.entity_ids[self.entity]

    @property
    def name(self) -> str:
        return self.collection.catalog.entity_names[self.entity]

    @property
    def rank(self) -> int | None:
        """Among all candidates, from 1."""
        return rank_of(self.ranking, 0, float(self.ranking.score[0])) if self.ranking else None

    @property
    def score(self) -> float | None:
        return float(self.ranking.score[0]) if self.ranking else None

    @property
    def support(self) -> int:
        return int(self.ranking.support[0]) if self.ranking else 0

    def contributions(self) -> Contributions:
        """How the score comes about; nothing where there is none."""
        if self.ranking is not None:
            return explain_entity(self.model.system, self.contexts, self.ranking, 0)
        none = np.zeros(0)
        shape = self.contexts.distances.shape[0], 0
        return Contributions(np.zeros(0, dtype=np.int32), none, none, lambda: np.zeros(shape))


def entity_number(collection: Collection, wanted: object) -> int:
    """The number of an entity given by id."""
    if not isinstance(wanted, str):
        raise UsageError(f"an entity is given by its id, a text, not {quote(wanted)}")
    return collection.catalog.resolve_entity(wanted)


def find_entity(
    collection: Collection, model: Model, contexts: Contexts, whole: Ranking, entity: int
) -> EntityStanding:
    """Find one candidate in the ranking of all."""
    budget.check()
    found = np.flatnonzero(whole.evidence.entity == entity)
    warnings = [*warnings_of(model, collection), *contexts.warnings]
    if not found.size:
        why = contexts.empty_because or _no_candidate(collection, model, contexts, entity)
        return EntityStanding(collection, model, contexts, entity, whole.candidates, None, [*warnings, why])
    return EntityStanding(collection, model, contexts, entity, whole.candidates, alone(whole, int(found[0])), warnings)


def alone(ranking: Ranking, place: int) -> Ranking:
    """A ranking with the candidate at one place of the evidence only."""
    places = np.array([place], dtype=np.int64)
    return replace(
        ranking,
        entity=ranking.evidence.entity[places],
        score=ranking.values[places],
        place=places,
        support=ranking.evidence.support_of(places),
    )


def ranks_of(ranking: Ranking, entities: I32) -> list[int | None]:
    """The rank of each of some entities among all candidates; None for one that is none."""
    among, values = ranking.evidence.entity, ranking.values
    place_of = {int(e): int(p) for p, e in zip(*_find_places(among, entities), strict=True)}
    if not place_of:
        return [None] * entities.size
    # Only what is no worse than the worst one asked for need be put in order.
    least = values[list(place_of.values())].min()
    order = order_entities(among, values, int(np.count_nonzero(values >= least)))
    rank = np.zeros(values.size, dtype=np.int64)
    rank[order] = np.arange(1, order.size + 1)
    return [int(rank[place_of[e]]) if e in place_of else None for e in entities.tolist()]


def _find_places(among: I32, entities: I32) -> tuple[NDArray[np.int64], I32]:
    """The places of the entities that are there, and which these are."""
    places = np.flatnonzero(np.isin(among, entities))
    return places, among[places]


def _no_candidate(collection: Collection, model: Model, contexts: Contexts, entity: int) -> str:
    """Why an entity is not ranked."""
    catalog, wanted = collection.catalog, contexts.query.type
    named = f"{quote(catalog.entity_ids[entity])} is no candidate"
    if wanted is not None:
        mask = catalog.type_mask(catalog.resolve_type(wanted))
        types = catalog.entity_types[catalog.entity_types_at[entity] : catalog.entity_types_at[entity + 1]]
        if not mask[types].any():
            has = ", ".join(quote(t) for t in catalog.types_of(entity)[:5]) or "none"
            return f"{named}: it is not of the type {quote(wanted)}; its types: {has}"
    if (contexts.entity == entity).any():
        return f"{named}: none of its contexts counts for {model}"
    return f"{named}: {_nowhere(model.system.view)}"


def _nowhere(view: View) -> str:
    if view.window is not None:
        return f"no document that matches mentions it within {view.window} tokens of a word of the query"
    if view.top:
        return f"none of the {view.top:,} best documents mentions it, and {view.top:,} is all that the model looks at"
    return "no document that matches the query mentions it"
