"""The second stage of a cascade in compiled code: a model's columns as steps, candidates valued by their best contexts.

A model whose feature maps are all known here is written as a `Recipe`; any other one is scored through a table
(`fused.focus`), which gives the same bits. Buffers belong to a thread and are used again. Knows nothing of segments.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.allowance import claim_kept
from fader.contexts.query import Query
from fader.contexts.statistics import Statistics
from fader.entityfeatures.frequency import Frequency
from fader.entityfeatures.votes import Votes
from fader.features.adjacency import Adjacency
from fader.features.base import FeatureMap
from fader.features.combined import Combined
from fader.features.competition import Competition
from fader.features.confidence import Confidence
from fader.features.coverage import Coverage
from fader.features.entity import Entity
from fader.features.family import ColumnFamily
from fader.features.fused import Staircase
from fader.features.mention import Mention
from fader.features.noprox import NAMES, NoProx, per_literal
from fader.features.positional import Positional, find_rarity, make_decays
from fader.features.shares import Shares, find_parts
from fader.features.windows import WIDTHS, Windows, weigh_literals
from fader.fused import secondkernels as kernels
from fader.fused.scratch import MOST_LITERALS
from fader.fused.secondkernels import Chosen, Recipe
from fader.rank.rerank import Reranking

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
KEPT = 16  # models whose steps are kept
FAMILIES: dict[type[FeatureMap], int] = {
    Shares: kernels.SHARES,
    Windows: kernels.WINDOWS,
    Positional: kernels.POSITIONAL,
    Adjacency: kernels.ADJACENCY,
    Competition: kernels.COMPETITION,
    Mention: kernels.MENTION,
    Entity: kernels.ENTITY,
}
ENTITY_MAPS: dict[type[Any], int] = {Frequency: kernels.FREQUENCY, Votes: kernels.VOTES}


@dataclass(frozen=True, eq=False)
class Steps:
    """What a model says whatever the query."""

    steps: NDArray[np.int64]
    numbers: F64
    integers: I32
    idf: str  # of coverage
    reads_ranks: bool
    reads_confidence: bool


@lru_cache(KEPT)
def write_steps(reranking: Reranking) -> Steps | None:
    """The steps of a model; None where one of its feature maps is not known here."""
    scoring = reranking.scoring
    maps = scoring.features.maps if isinstance(scoring.features, Combined) else (scoring.features,)
    steps: list[tuple[int, ...]] = []
    numbers, integers, at = [np.zeros(1)], [np.zeros(1, dtype=np.int32)], 0
    for one in maps:
        own = scoring.weights[at : at + one.size]
        at += one.size
        written = _write(one, own)
        if written is None:
            return None
        kind, size, values, whole = written
        steps.append((kind, sum(v.size for v in numbers), size, sum(v.size for v in integers)))
        numbers.append(values)
        integers.append(np.asarray(whole, dtype=np.int32))
    kinds = [step[kernels.KIND] for step in steps]
    return Steps(
        np.array(steps, dtype=np.int64).reshape(-1, 4),
        np.concatenate(numbers),
        np.concatenate(integers),
        next((one.idf for one in maps if isinstance(one, Coverage)), "log"),
        any(isinstance(m, Votes) for one in maps if isinstance(one, Entity) for m in one.entity_maps),
        kernels.CONFIDENCE in kinds,
    )


def _write(one: FeatureMap, w: F64) -> tuple[int, int, F64, Any] | None:
    """Kind, size, numbers and integers of a map's step."""
    if type(one) is NoProx:
        return kernels.NOPROX, one.size, w, [NAMES.index(name) for name in one.labels()]
    if type(one) is Confidence:
        return kernels.CONFIDENCE, 1, w, []
    if type(one) is Coverage:
        (term,) = one.prepare_terms(w)(Statistics(1, 1, *np.ones((2, 1), dtype=np.int64)), 0)
        assert isinstance(term, Staircase)
        head = term.columns, term.copies, term.cells, term.shares.size
        return kernels.COVERAGE, term.place.size, np.append(term.values, term.shares), [*head, *term.place]
    kind = FAMILIES.get(type(one))
    if kind is None or not isinstance(one, ColumnFamily) or one.size > kernels.WIDEST:
        return None
    whole: list[int] = []
    if isinstance(one, Windows):
        whole = WIDTHS.tolist()
    if isinstance(one, Entity):
        found = [ENTITY_MAPS.get(type(m)) if not m.scale else None for m in one.entity_maps]
        if None in found:
            return None
        whole = [len(found), *(int(f) for f in found if f is not None)]
    return kind, one.size, np.append(w, one.scale or np.ones(one.size)), whole


def write_recipe(steps: Steps, statistics: Statistics, query: Query, overlap: bool) -> Recipe:
    """The recipe of a query."""
    share, part = find_parts(statistics, query)
    rows = weigh_literals(statistics), share, part, find_rarity(statistics), statistics.perplexity(steps.idf)
    idf = statistics.idf()
    return Recipe(
        steps.steps,
        steps.numbers,
        steps.integers,
        np.concatenate([per_literal(statistics), np.stack(rows)]),
        make_decays(),
        float(np.add.reduce(idf * idf)),
        float(np.add.reduce(idf)),
        statistics.average_length,
        statistics.documents,
        bool(part.any()),
        overlap,
        steps.reads_ranks,
    )


class SecondRoom(threading.local):
    """The buffers of one thread, grown when a query needs more."""

    _room: Chosen | None = None
    _size: tuple[int, ...] = (0, 0, 0, 0, 0, 0)

    def find(self, literals: int, documents: int, candidates: int, contexts: int, slots: int, pairs: int) -> Chosen:
        """Buffers with room for so much."""
        wanted, size = (literals, documents, candidates, contexts, slots, pairs), self._size
        if self._room is None or any(a > b for a, b in zip(wanted, size, strict=True)):
            size = tuple(max(a, b) for a, b in zip(_round_up(wanted), size, strict=True))
        claim_kept((id(self), "second"), _count_room(*size))
        if self._room is None or size != self._size:
            self._room = None  # what there was need not be there beside it
            self._room, self._size = _make_room(*size), size
        return self._room


def _round_up(wanted: tuple[int, ...]) -> tuple[int, ...]:
    """A quarter more, so that buffers seldom grow."""
    return tuple(n + n // 4 for n in wanted)


def _count_room(literals: int, documents: int, candidates: int, contexts: int, slots: int, pairs: int) -> int:
    """The bytes of all buffers."""
    per_candidate = 8 * (7 + len(Votes.columns)) + contexts * (56 + 8 * literals)
    return documents * (100 + 16 * literals) + candidates * per_candidate + 4 * slots + 8 * pairs


def _make_room(literals: int, documents: int, candidates: int, contexts: int, slots: int, pairs: int) -> Chosen:
    i32, i64 = np.int32, np.int64
    lists, best = (literals, documents), (candidates, contexts)
    return Chosen(
        candidate=np.full(slots, -1, i32),
        first=np.empty(lists, i64),
        last=np.empty(lists, i64),
        begin=np.empty(documents, i64),
        end=np.empty(documents, i64),
        score=np.empty(documents),
        order=np.empty(documents, i64),
        spare=np.empty(documents, i64),
        held_at=np.empty(documents + 1, i64),
        held=np.empty(pairs, i32),
        contexts=np.empty(candidates, i64),
        documents=np.empty(candidates, i64),
        latest=np.empty(candidates, i64),
        voted=np.empty(candidates, i64),
        sums=np.empty((candidates, len(Votes.columns))),
        kept=np.empty(candidates, i64),
        row=np.empty(best, i32),
        document=np.empty(best, i32),
        best=np.empty(best),
        at=np.zeros(candidates + 1, i64),
        taken=np.empty((2, candidates * contexts), i32),
        where=np.empty(candidates * contexts, i64),
        owner=np.empty(candidates * contexts, i64),
        token=np.empty(candidates * contexts, i64),
        token_end=np.empty(candidates * contexts, i64),
        known=np.empty((documents, 4), np.bool_),
        noprox=np.empty(documents),
        adjacent=np.empty(documents),
        candidates=np.empty(documents),
        lengths=np.empty(documents),
        sorted_at=np.empty(documents, i64),
        sorted=np.empty(pairs, i32),
        distance=np.empty((literals, candidates * contexts), i32),
        side=np.empty((literals, candidates * contexts), i32),
        place=np.empty(MOST_LITERALS, i32),
        near=np.empty(MOST_LITERALS, i64),
        literal=np.empty(MOST_LITERALS, i64),
        corners=np.empty(2 * MOST_LITERALS, i32),
        column=np.empty(kernels.WIDEST),
        work=np.empty((4, len(Positional.columns))),
        entity=np.empty(candidates),
    )
