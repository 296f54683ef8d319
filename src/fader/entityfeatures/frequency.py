"""Frequency: how often the candidate is mentioned, in the whole collection and with the query.

    popularity   ln(1 + df(e)) / ln(1 + N)
    contexts     ln |X(e)|
    documents    ln D(e)                      D(e) = documents of its contexts
    association  ln(D(e) / df(e))             which part of its documents match

Golden case: N = 8, df = 4, three contexts in two documents: ln 5 / ln 9, ln 3, ln 2, ln 1/2. Knows nothing of literals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.arrays import F64
from fader.contexts.table import Contexts
from fader.entityfeatures.base import EntityMap


@dataclass(frozen=True)
class Frequency(EntityMap):
    """Known or unknown, and with this query or without."""

    name: ClassVar[str] = "frequency"
    columns: ClassVar[tuple[str, ...]] = ("popularity", "contexts", "documents", "association")

    def compute(self, contexts: Contexts) -> F64:
        groups = contexts.groups
        df = contexts.entity_documents[np.searchsorted(contexts.entities, groups.entity)]
        held = contexts.holdings
        documents = np.diff(held.at)
        popularity = np.log1p(df) / np.log1p(max(1, contexts.statistics.documents))
        return np.stack(
            [popularity, np.log(held.contexts), np.log(documents), np.log(documents / np.maximum(df, 1))], axis=1
        )
