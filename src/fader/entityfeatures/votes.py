"""Votes: every document that mentions the candidate votes for it, by its rank and its score for the query.

    reciprocal   ln sum_d 1 / r(d)
    top 10, 30, 100, 300         ln(1 + votes of documents among the best so many)
    root, harmonic, sum          ln(1e-6 + sum_i s_i / i^p),  p = 1/2, 1, 0
    best         s_1 / 10

r(d) is the rank of d among all matching documents by BM25 (equal ones by number), s_1 >= s_2 >= ... are the scores of
the candidate's documents. Golden case: its documents have the ranks 1 and 20 and the scores 3 and 1: ln 1.05, ln 2,
ln 3, ln 3, ln 3, ln(3 + 1/sqrt 2), ln 3.5, ln 4, 0.3. Macdonald & Ounis, "Voting for candidates", CIKM 2006; the decays
are ours. Knows nothing of positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.arrays import F64
from fader.contexts.table import Contexts
from fader.entityfeatures.base import EntityMap
from fader.features.noprox import bm25_scores

TOP = (10, 30, 100, 300)
DECAYS = {"root": 0.5, "harmonic": 1.0, "sum": 0.0}
LEAST = 1e-6


@dataclass(frozen=True)
class Votes(EntityMap):
    """How many good documents mention the candidate, and how good they are."""

    name: ClassVar[str] = "votes"
    columns: ClassVar[tuple[str, ...]] = ("reciprocal", *(f"top {n}" for n in TOP), *DECAYS, "best")

    def compute(self, contexts: Contexts) -> F64:
        score, rank = contexts.compute_once("document votes", lambda: _rank_documents(contexts))
        held = contexts.holdings
        document = held.document
        slot = np.repeat(np.arange(held.contexts.size), np.diff(held.at))
        best = np.lexsort((document, -score[document], slot))  # of each entity, the best document first
        slot, own, place = slot[best], score[document[best]], rank[document[best]]
        begin = np.flatnonzero(np.diff(slot, prepend=-1))
        i = np.arange(1, slot.size + 1) - np.repeat(begin, np.diff(begin, append=slot.size))
        columns = [np.log(np.add.reduceat(1 / place, begin))]
        columns += [np.log1p(np.add.reduceat(place <= n, begin, dtype=np.int64)) for n in TOP]
        columns += [np.log(LEAST + np.add.reduceat(own * i**-p, begin)) for p in DECAYS.values()]
        return np.stack([*columns, own[begin] / 10], axis=1)


def _rank_documents(contexts: Contexts) -> tuple[F64, F64]:
    """BM25 of all matching documents, and their ranks."""
    score = bm25_scores(contexts.statistics, contexts.matching)
    rank = np.empty(score.size)
    rank[np.argsort(-score, kind="stable")] = np.arange(1, score.size + 1)
    return score, rank
