"""A feature map, an aggregator, a system and an importer as a user would write them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from fader.aggregate.base import F64, I64, Aggregator
from fader.contexts.table import Contexts
from fader.corpora.frame.base import Batch, EntityRow, Importer, Records, TypeRow, option
from fader.corpora.frame.inputs import decode_line, line_batches
from fader.corpus.documents import Faults
from fader.features.column import OneColumn
from fader.rank.system import ContextScorer


@dataclass(frozen=True)
class Nearby(OneColumn):
    """The share of literals within some tokens of the mention."""

    name: ClassVar[str] = "nearby"
    label: ClassVar[str] = "share of literals nearby"
    width: int = 5

    def column(self, contexts: Contexts) -> F64:
        distances = contexts.distances
        near = (distances >= 0) & (distances <= self.width)
        return near.sum(axis=0) / max(1, distances.shape[0])


@dataclass(frozen=True)
class TopSum(Aggregator):
    """The sum of an entity's n best contexts."""

    name: ClassVar[str] = "topsum"
    n: int = 3

    def _kept(self, scores: F64, at: I64) -> F64:
        """1 for the n best contexts of each entity, 0 for others."""
        kept = np.zeros(scores.size)
        for a, b in pairwise(at.tolist()):
            kept[a + np.argsort(-scores[a:b], kind="stable")[: self.n]] = 1.0
        return kept

    def values(self, scores: F64, at: I64) -> F64:
        best = [np.sort(scores[a:b])[::-1][: self.n].sum() for a, b in pairwise(at.tolist())]
        return np.array(best, dtype=np.float64)

    def shares(self, scores: F64, at: I64) -> F64:
        return scores * self._kept(scores, at)

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        return np.repeat(upstream, np.diff(at)) * self._kept(scores, at)


@dataclass(frozen=True)
class Bracketed(Importer):
    """Lines of `id<TAB>text`, with mentions as [[entity|words]]."""

    name: ClassVar[str] = "bracketed"
    title: ClassVar[str] = "lines of text with [[entity|words]]"
    example: ClassVar[str] = "fader import bracketed notes.tsv -o corpus/ --plugin my_parts.py"
    citation: ClassVar[str] = "this file"
    type: str = option("thing", "The type of all entities.")

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return line_batches(sources, faults)

    def convert(self, batch: Batch, state: Any, faults: Faults) -> Records:
        found = Records(types=[TypeRow(self.type, self.type)])
        for number, line in enumerate(batch.payload, batch.place):
            text = decode_line(line, number, batch.source, faults)
            if text is None or "\t" not in text:
                faults.add("lines without a tab", f"{batch.source}:{number}: no tab")
                continue
            name, marked = text.split("\t", 1)
            plain, mentions = "", []
            for i, piece in enumerate(re.split(r"\[\[([^]|]+\|[^]]+)\]\]", marked)):
                entity, _bar, words = piece.partition("|") if i % 2 else ("", "", piece)
                if i % 2:
                    mentions.append({"start": len(plain), "end": len(plain) + len(words), "entity": entity})
                    found.entities.append(EntityRow(entity, words, (self.type,)))
                plain += words
            found.documents.append({"id": name, "text": plain, "mentions": mentions})
        return found


@dataclass(frozen=True)
class Crowd(ContextScorer):
    """Counts the literals around an entity, whatever their distance."""

    name: ClassVar[str] = "crowd"
    policy: str = "document"

    @property
    def entity_aggregator(self) -> Aggregator:
        return TopSum(n=100)

    def scores(self, contexts: Contexts) -> F64:
        return (contexts.distances >= 0).sum(axis=0).astype(np.float64)
