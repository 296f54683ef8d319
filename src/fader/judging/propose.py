"""Which answers to judge next: those that models disagree on near the top.

    worth(q, e) = standard deviation, over an ensemble of models, of 1 / rank(e | q)

over the unjudged entities that some model has among its ten best. The ensemble is the model that ranks, two that need
no training, and the models of the folds that training compared. An answer that all models have first, or that none has
near the top, teaches nothing; one that some have first and others tenth decides between them. `gain` is the sum of the
worths of all proposals over the number of questions: by how much the mean reciprocal rank may move. Knows nothing of
who judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fader.allowance import allowance
from fader.contexts.table import Contexts
from fader.errors import BudgetError, FaderError
from fader.judging.record import JudgedReading
from fader.rank.ranking import rank_entities
from fader.rank.system import System, View
from fader.search.index import Index
from fader.systems.base import parse_system

DEPTH = 10
UNTRAINED = ("proximity", "count")
MOST_QUESTIONS = 200


@dataclass(frozen=True, slots=True)
class Proposal:
    """An answer to judge: `worth` is how much models disagree on it."""

    question: str
    query: str
    type: str | None
    entity: str
    name: str
    worth: float


@dataclass(frozen=True, slots=True)
class Proposals:
    """Answers to judge, the most telling first, and what that may gain."""

    proposals: list[Proposal]
    gain: float


def propose(
    index: Index,
    readings: Sequence[JudgedReading],
    known: set[tuple[JudgedReading, str]],
    systems: Sequence[System],
    most: int = 10,
) -> Proposals:
    """Answers to some questions that are worth judging; those that are `known` are left out."""
    ensemble = [*systems, *(parse_system(name) for name in UNTRAINED)]
    found: list[Proposal] = []
    asked = list(dict.fromkeys(readings))[-MOST_QUESTIONS:]
    catalog = index.collection.catalog
    for reading in asked:
        try:
            with allowance(index.limits):
                worths = _measure(index, reading, ensemble)
        except BudgetError:
            raise
        except FaderError:  # a question that cannot be asked any more, such as one of a type that is gone
            continue
        for entity, worth in worths.items():
            name = catalog.entity_ids[entity]
            if worth > 0 and (reading, name) not in known:
                found.append(Proposal(*reading, name, catalog.entity_names[entity], worth))
    best = sorted(found, key=lambda proposal: -proposal.worth)[:most]
    return Proposals(best, sum(proposal.worth for proposal in best) / max(1, len(asked)))


def _measure(index: Index, reading: JudgedReading, ensemble: Sequence[System]) -> dict[int, float]:
    """How much models disagree on each entity that one of them has near the top."""
    tables: dict[View, Contexts] = {}
    shares: list[dict[int, float]] = []
    for system in ensemble:
        if system.view not in tables:
            tables[system.view] = index.view_contexts(reading.query or reading.question, reading.type, system.view)
        ranked = rank_entities(system, tables[system.view], DEPTH).entity.tolist()
        shares.append({entity: 1 / rank for rank, entity in enumerate(ranked, 1)})
    entities = dict.fromkeys(entity for share in shares for entity in share)
    return {entity: float(np.std([share.get(entity, 0.0) for share in shares])) for entity in entities}
