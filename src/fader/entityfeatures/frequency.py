"""Frequency: how often the candidate is mentioned, in the whole collection and with the query.

    popularity   ln(1 + df(e)) / ln(1 + N)
    contexts     ln |X(e)|
    documents    ln D(e)                      D(e) = documents of its contexts
    association  ln(D(e) / df(e))             which part of its documents match

Golden case: N = 8, df = 4, three contexts in two documents: ln 5 / ln 9, ln 3, ln 2, ln 1/2. Knows nothing of literals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.arrays import F64, I32, I64
from fader.contexts.table import Contexts
from fader.entityfeatures.base import EntityMap
from fader.kernel import inner_kernel, kernel


@inner_kernel
def add_frequency(df: int, contexts: int, documents: int, collection: int, out: F64) -> None:
    """The four columns of an entity."""
    out[0] = math.log1p(df) / math.log1p(max(1, collection))
    out[1] = math.log(contexts)
    out[2] = math.log(documents)
    out[3] = math.log(documents / max(df, 1))


@kernel
def _count(df: I32, contexts: I64, documents: I64, collection: int, out: F64) -> None:
    for e in range(df.size):
        add_frequency(df[e], contexts[e], documents[e], collection, out[e])


@dataclass(frozen=True)
class Frequency(EntityMap):
    """Known or unknown, and with this query or without."""

    name: ClassVar[str] = "frequency"
    columns: ClassVar[tuple[str, ...]] = ("popularity", "contexts", "documents", "association")

    def compute(self, contexts: Contexts) -> F64:
        groups, held = contexts.groups, contexts.holdings
        df = contexts.entity_documents[np.searchsorted(contexts.entities, groups.entity)]
        out = np.empty((groups.entity.size, self.size))
        _count(df, held.contexts, np.diff(held.at), contexts.statistics.documents, out)
        return out
