"""Mention: where the mention stands, and with how many others, whatever the query's words.

    position     ln(1 + start) / 7
    length       min(tokens of the mention, 5) / 5
    document     ln(tokens of the document) / 7
    candidates   ln(candidates that the document mentions)
    mentions     ln(mentions of this entity in the document)
    first        1 for the entity's first mention in the document

Golden case: in a document of 8 tokens that mentions e at 0 and 3 and f at 6, with one token each, the mention at 3 has
ln(4)/7, 1/5, ln(8)/7, ln 2, ln 2 and 0. Knows nothing of literals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.table import Contexts
from fader.features.base import F64, I32
from fader.features.family import ColumnFamily
from fader.kernel import kernel

I64 = NDArray[np.int64]


@kernel
def _count_mentions(
    row: I32, start: I32, end: I32, entity: I32, length: I32, at: I64, begin: I32, owner: I32, candidates: I32, out: F64
) -> None:
    """`begin` and `owner` are first token and entity of all candidates in document j, at `[at[j]:at[j+1]]`."""
    for x in range(start.size):
        j, count, first = row[x], 0, start[x]
        for i in range(at[j], at[j + 1]):
            if owner[i] == entity[x]:
                count += 1
                first = min(first, begin[i])
        out[x, 0] = math.log1p(start[x]) / 7
        out[x, 1] = min(end[x] - start[x], 5) / 5
        out[x, 2] = math.log(max(length[j], 1)) / 7
        out[x, 3] = math.log(max(candidates[j], 1))
        out[x, 4] = math.log(max(count, 1))
        out[x, 5] = 1.0 if start[x] == first else 0.0  # all that begin at the same token


@dataclass(frozen=True)
class Mention(ColumnFamily):
    """The mention in its document."""

    name: ClassVar[str] = "mention"
    columns: ClassVar[tuple[str, ...]] = ("position", "length", "document", "candidates", "mentions", "first")

    def compute(self, contexts: Contexts) -> F64:
        documents, beside, entity = contexts.documents, contexts.companions, contexts.entity
        all_mentions = documents.length, beside.at, beside.start, beside.entity, beside.candidates
        out = np.empty((len(contexts), self.size))
        for a, b in budget.chunks(len(contexts), weight=16):
            mention = documents.row[a:b], contexts.start[a:b], contexts.end[a:b], entity[a:b]
            _count_mentions(*mention, *all_mentions, out[a:b])
        return out
