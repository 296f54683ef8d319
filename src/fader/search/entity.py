"""An entity as data: its names and types, and all its contexts for a query, page by page.

A page has some of the contexts that count, in the order of what they contribute, which does not change from page to
page; texts are read for these alone. Knows nothing of how scores are made.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from fader import budget
from fader.errors import UsageError, quote
from fader.limits import variable, whole
from fader.search.answer import AnsweredQuery, Snippet
from fader.search.collection import Collection
from fader.search.entity_rank import EntityStanding, entity_number
from fader.search.evidence import by_weight
from fader.search.passage import Passage
from fader.search.snippets import cut_snippets


@dataclass(frozen=True, slots=True)
class Named:
    """A type by id and name."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class TypePath:
    """A direct type of an entity, and a shortest way down to it: from a type without supertypes to itself."""

    id: str
    name: str
    path: list[Named]


@dataclass(frozen=True, slots=True)
class EntityCard:
    """What the catalog knows of an entity, and how many documents mention it."""

    id: str
    name: str
    aliases: list[str]
    types: list[TypePath]
    documents: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(slots=True)
class Placed(Snippet):
    """A snippet, and its place among all contexts of the entity, from 1, by what they contribute."""

    place: int


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the contexts that count: `limit` of them from `offset` on, of `total`."""

    total: int
    offset: int
    limit: int
    items: list[Placed]


@dataclass(frozen=True, slots=True)
class EntityEvidence:
    """What speaks for an entity; rank and score are None where it is no candidate, and a warning says why."""

    query: AnsweredQuery
    type: str | None
    model: str
    entity: str
    name: str
    rank: int | None
    score: float | None
    support: int
    candidates: int
    contexts: Page
    warnings: list[str]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def entity_card(collection: Collection, wanted: str) -> EntityCard:
    """The card of an entity given by id."""
    catalog, entity = collection.catalog, entity_number(collection, wanted)
    numbers = catalog.entity_types[catalog.entity_types_at[entity] : catalog.entity_types_at[entity + 1]]
    types = [_path(collection, int(t)) for t in numbers]
    return EntityCard(
        wanted,
        catalog.entity_names[entity],
        catalog.aliases_of(entity),
        types,
        int(collection.entity_documents[entity]),
    )


def _path(collection: Collection, number: int) -> TypePath:
    """Upwards level by level until a type has nothing above it; of equally short ways, the first by id."""
    catalog = collection.catalog
    own = catalog.type_ids[number]
    below: dict[str, str | None] = {own: None}
    ahead = [own]
    for found in ahead:  # it grows while it is walked
        budget.check()
        above = sorted(catalog.supertypes_of(catalog.type_ids.find(found)))
        if not above:
            return TypePath(own, catalog.type_names[number], _down(collection, found, below))
        fresh = [one for one in above if one not in below]
        below |= dict.fromkeys(fresh, found)
        ahead += fresh
    return TypePath(own, catalog.type_names[number], [])  # a cycle, in a hierarchy that no check has seen


def _down(collection: Collection, root: str, below: dict[str, str | None]) -> list[Named]:
    path: list[Named] = []
    at: str | None = root
    while at is not None:
        path.append(Named(at, collection.catalog.type_names[collection.catalog.type_ids.find(at)]))
        at = below[at]
    return path


def check_page(offset: object, limit: object, most: int) -> tuple[int, int]:
    """How many contexts come before a page, and how many are on it."""
    first, size = whole(offset), whole(limit)
    if first is None or first < 0:
        raise UsageError(f"offset must be a whole number from 0 on, not {quote(offset)}")
    if size is None or not 1 <= size <= most:
        wanted = f"a whole number from 1 to {most:,}, which {variable('snippets')} raises"
        raise UsageError(f"limit must be {wanted}, not {quote(limit)}")
    return first, size


def entity_evidence(found: EntityStanding, offset: int, limit: int, passage: Passage) -> EntityEvidence:
    """A page of an entity's contexts."""
    shares, contexts = found.contributions(), found.contexts
    order = by_weight(shares)
    page = order[offset : offset + limit]
    shown = shares.row[page].tolist(), shares.share[page].tolist()
    cut = cut_snippets(found.collection, contexts, *shown, passage)
    items = [
        Placed(**{f.name: getattr(snippet, f.name) for f in fields(Snippet)}, place=place)
        for place, snippet in enumerate(cut, offset + 1)
    ]
    return EntityEvidence(
        query=AnsweredQuery.of(contexts.query),
        type=contexts.query.type,
        model=str(found.model),
        entity=found.id,
        name=found.name,
        rank=found.rank,
        score=found.score,
        support=found.support,
        candidates=found.candidates,
        contexts=Page(int(order.size), offset, limit, items),
        warnings=found.warnings,
    )
