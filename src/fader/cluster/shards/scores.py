"""Scores computed in the shards: per candidate, those of the contexts that the policy selects, in document order.

    shard         w . f(x) of its contexts, the policy, scores by entity          8 bytes per selected context
    coordinator   scores of all shards by entity, in document order               = the evidence of one machine

A document is in one shard, so the shard can apply the policy; the score of a context depends only on the context and
the statistics of the whole collection. The aggregator gets the same numbers in the same order as on one machine, so its
values have the same bits. A shard answers None for features that need more of the collection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fader.cluster.shards.columns import Column
from fader.contexts.around import Companions
from fader.contexts.columns import (
    ColumnSource,
    DocumentValues,
    EntityDetails,
    MentionColumns,
    Positions,
    Rows,
    SentenceStarts,
    TakenRows,
    Titles,
)
from fader.contexts.partial import PartialContexts, table_partial
from fader.contexts.policy import Evidence, select
from fader.contexts.query import Query
from fader.contexts.statistics import Statistics
from fader.errors import FaderError
from fader.features.base import FeatureMap
from fader.features.combined import Combined, feature_map

F64 = NDArray[np.float64]
I8 = NDArray[np.int8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class _ElsewhereError(Exception):
    """A feature needs data that a single shard does not have."""


@dataclass(frozen=True)
class LocalColumns:
    """The columns of the rows of one shard; `used` lists those that were read."""

    source: ColumnSource
    used: list[Column]

    def take(self, rows: Rows) -> MentionColumns:
        return TakenRows(self, rows)

    def read_sides(self) -> I8:
        self.used.append(Column.SIDES)
        return self.source.read_sides()

    def read_start(self) -> I32:
        self.used.append(Column.START)
        return self.source.read_start()

    def read_end(self) -> I32:
        self.used.append(Column.END)
        return self.source.read_end()

    def read_confidence(self) -> F64:
        self.used.append(Column.CONFIDENCE)
        return self.source.read_confidence()

    def read_documents(self) -> DocumentValues:
        self.used.append(Column.DOCUMENTS)
        return self.source.read_documents()

    def read_matching(self) -> DocumentValues:
        raise _ElsewhereError

    def read_positions(self) -> Positions:
        raise _ElsewhereError

    def read_sentences(self) -> SentenceStarts:
        raise _ElsewhereError

    def read_titles(self) -> Titles:
        raise _ElsewhereError

    def read_companions(self) -> Companions:
        """Here they are whole, but those that are shown later are of some entities alone."""
        raise _ElsewhereError

    def count_entity_documents(self) -> I32:
        raise _ElsewhereError

    def describe_entities(self, entities: I32) -> EntityDetails:
        raise _ElsewhereError

    def name_entities(self, numbers: list[int]) -> list[str]:
        raise _ElsewhereError

    def name_documents(self, numbers: list[int]) -> list[str]:
        raise _ElsewhereError


@dataclass(frozen=True)
class Scores:
    """The answer of a shard: entity i has the next `size[i]` scores; `document` only on request."""

    entity: I32
    size: I32
    scores: F64
    document: I32 | None
    first: int
    last: int
    contexts: int
    matched: int
    taken: int
    used: list[Column]  # the columns that the features read


def dump_features(features: FeatureMap) -> str | None:
    """The text from which a shard can parse the same features; None where it cannot."""
    text = str(features)
    try:
        return text if load_features(text, isinstance(features, Combined)) == features else None
    except FaderError:
        return None


@lru_cache(maxsize=64)
def load_features(text: str, combined: bool) -> FeatureMap:
    """Parse features; a single map is not wrapped in a `Combined` unless `combined`."""
    maps = feature_map(text)
    return maps if combined or len(maps.maps) != 1 else maps.maps[0]


def score_partial(
    query: Query,
    statistics: Statistics,
    partial: PartialContexts[ColumnSource],
    features: FeatureMap,
    weights: F64,
    policy: str,
    documents: bool,
) -> Scores | None:
    """The scores of the selected contexts of a shard; None where the features need more than it has."""
    used: list[Column] = []
    table = table_partial(query, statistics, partial, LocalColumns(partial.columns, used))
    try:
        evidence = select(table, features.score(table, weights), policy)
    except _ElsewhereError:
        return None
    return Scores(
        entity=evidence.entity,
        size=np.diff(evidence.at).astype(np.int32),
        scores=evidence.scores,
        document=partial.document[evidence.row] if documents else None,
        first=int(partial.document[0]) if len(partial) else 0,
        last=int(partial.document[-1]) if len(partial) else -1,
        contexts=len(partial),
        matched=partial.matched,
        taken=partial.taken,
        used=used,
    )


def interleave(parts: Sequence[Scores]) -> bool:
    """Whether the document ranges of the parts overlap, so that scores must come with document numbers."""
    ranges = sorted((p.first, p.last) for p in parts if p.contexts)
    return any(after[0] <= before[1] for before, after in pairwise(ranges))


def merge_scores(parts: Sequence[Scores]) -> Evidence:
    """The evidence of all parts. Its rows are -1, since the tables are on other machines."""
    parts = sorted((p for p in parts if p.contexts), key=lambda p: p.first)
    entity = np.unique(np.concatenate([np.empty(0, dtype=np.int32), *(p.entity for p in parts)]))
    places = [np.searchsorted(entity, p.entity) for p in parts]
    size = np.zeros(entity.size, dtype=np.int64)
    for part, place in zip(parts, places, strict=True):
        size[place] += part.size
    at = np.zeros(entity.size + 1, dtype=np.int64)
    np.cumsum(size, out=at[1:])
    rows = np.full(int(at[-1]), -1, dtype=np.int32)
    scores = _sort_by_document(parts, places) if interleave(parts) else _lay_end_to_end(parts, places, at)
    return Evidence(entity, rows, at, scores)


def _lay_end_to_end(parts: Sequence[Scores], places: Sequence[I64], at: I64) -> F64:
    """Scores by entity, part after part."""
    out, put = np.empty(int(at[-1])), at[:-1].copy()
    for part, place in zip(parts, places, strict=True):
        before = np.cumsum(part.size, dtype=np.int64) - part.size
        out[np.repeat(put[place] - before, part.size) + np.arange(part.scores.size)] = part.scores
        put[place] += part.size
    return out


def _sort_by_document(parts: Sequence[Scores], places: Sequence[I64]) -> F64:
    """Scores by entity and document; those of one document are in one part and keep their order."""
    entity = np.concatenate([np.repeat(place, part.size) for part, place in zip(parts, places, strict=True)])
    document = np.concatenate([part.document for part in parts if part.document is not None])
    scores: F64 = np.concatenate([part.scores for part in parts])
    return scores[np.lexsort((document, entity))]
