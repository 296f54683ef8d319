"""Two systems on one query, side by side: the best of each, and where the other puts them among all its candidates.

    shared    entities among the k best of both
    tau       Kendall's tau-b of the two systems' scores over all entities that both rank (tau.py); None where they are
              fewer than two, or where a system gives all of them the same score

Where both systems want contexts matched alike, they are matched once. Knows nothing of what the two are.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from fader import budget
from fader.contexts.table import Contexts
from fader.learn.model import Model
from fader.rank.ranking import explain_entity, rank_entities
from fader.rank.system import Ranking, View
from fader.search.answer import AnsweredQuery, Snippet
from fader.search.collection import Collection
from fader.search.entity_rank import ranks_of
from fader.search.evidence import show_evidence
from fader.search.models import warnings_of
from fader.search.tau import tau_b
from fader.systems.shared.weighting import in_best_documents


@dataclass(frozen=True, slots=True)
class Moved:
    """One of the best entities of a system; `other_rank` is its rank among all candidates of the other system."""

    rank: int
    entity: str
    name: str
    types: list[str]
    score: float
    support: int
    evidence: list[Snippet]
    other_rank: int | None


@dataclass(frozen=True, slots=True)
class Side:
    """What one system answers."""

    model: str
    took_ms: float
    contexts: int
    candidates: int
    warnings: list[str]
    results: list[Moved]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How much the two agree: entities in both answers, and tau over `candidates`, the entities that both rank."""

    shared: int
    tau: float | None
    candidates: int


@dataclass(frozen=True, slots=True)
class Versus:
    """Two answers; `candidates` are those of either system, `contexts` those of the system that looks at more."""

    query: AnsweredQuery
    type: str | None
    candidates: int
    matched_documents: int
    contexts: int
    sides: list[Side]
    agreement: Agreement

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class _Ranked:
    model: Model
    contexts: Contexts
    ranking: Ranking
    took_ms: float


def versus(
    collection: Collection, models: tuple[Model, Model], matched: Callable[[View], Contexts], k: int, snippets: int
) -> Versus:
    """Put a query to two systems; `matched` gives the contexts that a view leaves, all documents taken."""
    tables: dict[View, tuple[Contexts, float]] = {}
    first, second = (_rank(model, matched, tables, k) for model in models)
    pairs = ((first, second), (second, first))
    sides = [_side(collection, own, other, snippets) for own, other in pairs]
    budget.check()
    among = first.ranking.evidence.entity, second.ranking.evidence.entity
    return Versus(
        query=AnsweredQuery.of(first.contexts.query),
        type=first.contexts.query.type,
        candidates=int(np.union1d(*among).size),
        matched_documents=first.contexts.matched_documents,
        contexts=max(side.contexts for side in sides),
        sides=sides,
        agreement=_agreement(first.ranking, second.ranking),
    )


def _rank(
    model: Model, matched: Callable[[View], Contexts], tables: dict[View, tuple[Contexts, float]], k: int
) -> _Ranked:
    """Rank by one system; a table that both want is made once, and its time counts for both."""
    view = replace(model.system.view, policy="document")  # which mentions count is decided after matching
    every = replace(view, top=0)
    if every not in tables:
        tables[every] = _time(lambda: matched(every))
    if view not in tables:
        table, took = _time(lambda: in_best_documents(tables[every][0], view.top))
        tables[view] = table, took + tables[every][1]
    contexts, matching_ms = tables[view]
    began = time.perf_counter()
    ranking = rank_entities(model.system, contexts, k)
    return _Ranked(model, contexts, ranking, matching_ms + 1000 * (time.perf_counter() - began))


def _time(make: Callable[[], Contexts]) -> tuple[Contexts, float]:
    """Some contexts, and the milliseconds it took to make them."""
    began = time.perf_counter()
    return make(), 1000 * (time.perf_counter() - began)


def _side(collection: Collection, own: _Ranked, other: _Ranked, snippets: int) -> Side:
    began = time.perf_counter()
    every = range(own.ranking.entity.size)
    shares = [explain_entity(own.model.system, own.contexts, own.ranking, i) for i in every] if snippets else []
    evidence = show_evidence(collection, own.contexts, shares, snippets) or [[] for _i in every]
    ranks = ranks_of(other.ranking, own.ranking.entity)
    results = [_move(collection, own.ranking, i, shown, ranks[i]) for i, shown in enumerate(evidence)]
    empty = [own.contexts.empty_because] if own.contexts.empty_because else []
    return Side(
        model=str(own.model),
        took_ms=own.took_ms + 1000 * (time.perf_counter() - began),
        contexts=len(own.contexts),
        candidates=own.ranking.candidates,
        results=results,
        warnings=[*warnings_of(own.model, collection), *own.contexts.warnings, *empty],
    )


def _move(collection: Collection, ranking: Ranking, i: int, evidence: list[Snippet], other_rank: int | None) -> Moved:
    budget.check()
    catalog, entity = collection.catalog, int(ranking.entity[i])
    return Moved(
        rank=i + 1,
        entity=catalog.entity_ids[entity],
        name=catalog.entity_names[entity],
        types=catalog.types_of(entity),
        score=float(ranking.score[i]),
        support=int(ranking.support[i]),
        evidence=evidence,
        other_rank=other_rank,
    )


def _agreement(a: Ranking, b: Ranking) -> Agreement:
    both, of_a, of_b = np.intersect1d(a.evidence.entity, b.evidence.entity, assume_unique=True, return_indices=True)
    shared = int(np.intersect1d(a.entity, b.entity, assume_unique=True).size)
    return Agreement(shared, tau_b(a.values[of_a], b.values[of_b]), int(both.size))
