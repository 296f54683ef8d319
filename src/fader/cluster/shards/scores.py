"""Scores found where contexts are: of each candidate the scores of the contexts that count, in the order of documents.

    shard         w . f(x) of its contexts, the policy, scores by entity          8 bytes a context that counts
    coordinator   scores of all shards by entity, in the order of documents       = the evidence of one machine

A document lies in one shard, so the policy is decided there; a context's score hangs on nothing but the context and
the statistics of the whole collection. The aggregator gets the same numbers in the same order as on one machine, so its
values have the same bits. Features that need more of the collection than that are not found here: the answer is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.cluster.wire.serialization import Plain
from fader.contexts.partial import Share, table_of_share
from fader.contexts.policy import Evidence, select
from fader.contexts.query import Query
from fader.contexts.statistics import Statistics
from fader.errors import FaderError
from fader.features.base import FeatureMap
from fader.features.combined import Combined, feature_map

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
_HERE = ("confidence", "sides", "start", "end", "documents")


class _ElsewhereError(Exception):
    """A feature needs what one shard does not know."""


@dataclass(frozen=True)
class Scores:
    """What a shard answers: entity i has the next `size[i]` of the scores; `document` where it was asked for."""

    entity: I32
    size: I32
    scores: F64
    document: I32 | None
    first: int
    last: int
    contexts: int
    matched: int
    taken: int
    used: list[str]  # the late columns that the features have looked at


def text_of(features: FeatureMap) -> str | None:
    """What a shard makes the same features of; None where it cannot."""
    text = str(features)
    try:
        return text if maps_of(text, isinstance(features, Combined)) == features else None
    except FaderError:
        return None


@lru_cache(maxsize=64)
def maps_of(text: str, combined: bool) -> FeatureMap:
    """The features of a text; one map may stand by itself."""
    maps = feature_map(text)
    return maps if combined or len(maps.maps) != 1 else maps.maps[0]


def scored(
    query: Query, statistics: Statistics, share: Share, features: FeatureMap, weights: F64, policy: str, documents: bool
) -> Plain | None:
    """The scores of a share's contexts that count; None where the features need more than the share."""
    used: list[str] = []

    def late(name: str) -> Any:
        if name not in _HERE:
            raise _ElsewhereError
        used.append(name)
        return share.late(name)

    table = table_of_share(query, statistics, share, late)
    try:
        evidence = select(table, features.score(table, weights), policy)
    except _ElsewhereError:
        return None
    return {
        "entity": evidence.entity, "size": np.diff(evidence.at).astype(np.int32), "scores": evidence.scores,
        "document": share.document[evidence.row] if documents else None,
        "first": int(share.document[0]) if len(share) else 0, "last": int(share.document[-1]) if len(share) else -1,
        "contexts": len(share), "matched": share.matched, "taken": share.taken, "used": used,
    }  # fmt: skip


def interleave(parts: Sequence[Scores]) -> bool:
    """Whether the ranges of documents of some parts overlap, so that their scores must be told with documents."""
    ranges = sorted((p.first, p.last) for p in parts if p.contexts)
    return any(after[0] <= before[1] for before, after in pairwise(ranges))


def merged(parts: Sequence[Scores]) -> Evidence:
    """The evidence of all parts. Its rows are no rows of a table, which is elsewhere: -1."""
    parts = sorted((p for p in parts if p.contexts), key=lambda p: p.first)
    entity = np.unique(np.concatenate([np.empty(0, dtype=np.int32), *(p.entity for p in parts)]))
    places = [np.searchsorted(entity, p.entity) for p in parts]
    size = np.zeros(entity.size, dtype=np.int64)
    for part, place in zip(parts, places, strict=True):
        size[place] += part.size
    at = np.zeros(entity.size + 1, dtype=np.int64)
    np.cumsum(size, out=at[1:])
    rows = np.full(int(at[-1]), -1, dtype=np.int32)
    scores = _by_document(parts, places) if interleave(parts) else _end_to_end(parts, places, at)
    return Evidence(entity, rows, at, scores)


def _end_to_end(parts: Sequence[Scores], places: Sequence[I64], at: I64) -> F64:
    """Scores by entity, those of one part after those of the part before."""
    out, put = np.empty(int(at[-1])), at[:-1].copy()
    for part, place in zip(parts, places, strict=True):
        before = np.cumsum(part.size, dtype=np.int64) - part.size
        out[np.repeat(put[place] - before, part.size) + np.arange(part.scores.size)] = part.scores
        put[place] += part.size
    return out


def _by_document(parts: Sequence[Scores], places: Sequence[I64]) -> F64:
    """Scores by entity and document; those of one document are in one part, and stay in their order."""
    entity = np.concatenate([np.repeat(place, part.size) for part, place in zip(parts, places, strict=True)])
    document = np.concatenate([part.document for part in parts if part.document is not None])
    scores: F64 = np.concatenate([part.scores for part in parts])
    return scores[np.lexsort((document, entity))]
