"""Article: the document about the candidate, where it matches the query.

    matches  1 where a matching document is about the candidate
    share    share of IDF(q) that this document has
    score    its BM25, over 10

Of several such documents the one of the least number counts. Golden case: the only document about e has one of two
literals of equal IDF: 1, 1/2, BM25/10. Knows nothing of mentions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.arrays import F64
from fader.contexts.table import Contexts
from fader.entityfeatures.base import EntityMap
from fader.features.noprox import bm25_scores


@dataclass(frozen=True)
class Article(EntityMap):
    """The candidate's own document."""

    name: ClassVar[str] = "article"
    columns: ClassVar[tuple[str, ...]] = ("matches", "share", "score")

    def compute(self, contexts: Contexts) -> F64:
        matching, entity = contexts.matching, contexts.groups.entity
        subjects, first = np.unique(contexts.titles.about, return_index=True)
        place = np.minimum(np.searchsorted(subjects, entity), subjects.size - 1)
        document, is_there = first[place], subjects[place] == entity
        share = contexts.statistics.perplexity() @ (matching.counts > 0)
        score = bm25_scores(contexts.statistics, matching) / 10
        return np.stack([is_there, is_there * share[document], is_there * score[document]], axis=1)
