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

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.arrays import F64, I64
from fader.contexts.table import Contexts
from fader.entityfeatures.base import EntityMap
from fader.features.noprox import bm25_scores
from fader.kernel import inner_kernel, kernel

TOP = (10, 30, 100, 300)
DECAYS = ("root", "harmonic", "sum")
LEAST = 1e-6


@inner_kernel
def add_vote(rank: int, score: float, voted: int, sums: F64) -> None:
    """Add the vote of a document to the sums of an entity that `voted` better ones have voted for."""
    if voted == 0:
        sums[8] = score / 10
    sums[0] += 1 / rank
    for n in range(len(TOP)):
        if rank <= TOP[n]:
            sums[1 + n] += 1.0
    sums[5] += score / math.sqrt(voted + 1.0)
    sums[6] += score / (voted + 1)
    sums[7] += score


@inner_kernel
def take_logarithms(sums: F64) -> None:
    """Turn the sums of an entity into its columns."""
    sums[0] = math.log(sums[0])
    for n in range(1, 5):
        sums[n] = math.log1p(sums[n])
    for n in range(5, 8):
        sums[n] = math.log(LEAST + sums[n])


@kernel
def _add_votes(order: I64, score: F64, at: I64, entity: I64, voted: I64, out: F64) -> None:
    """Documents vote from the best on: document d for `entity[at[d]:at[d+1]]`."""
    for r in range(order.size):
        d = order[r]
        for i in range(at[d], at[d + 1]):
            e = entity[i]
            add_vote(r + 1, score[d], voted[e], out[e])
            voted[e] += 1
    for e in range(voted.size):
        take_logarithms(out[e])


@dataclass(frozen=True)
class Votes(EntityMap):
    """How many good documents mention the candidate, and how good they are."""

    name: ClassVar[str] = "votes"
    columns: ClassVar[tuple[str, ...]] = ("reciprocal", *(f"top {n}" for n in TOP), *DECAYS, "best")

    def compute(self, contexts: Contexts) -> F64:
        score, order = contexts.compute_once("document votes", lambda: _rank_documents(contexts))
        held = contexts.holdings
        at = np.append(0, np.cumsum(np.bincount(held.document, minlength=score.size)))
        entity = np.repeat(np.arange(held.contexts.size), np.diff(held.at))
        entity = entity[np.argsort(held.document, kind="stable")]
        out = np.zeros((held.contexts.size, self.size))
        _add_votes(order, score, at, entity, np.zeros(out.shape[0], dtype=np.int64), out)
        return out


def _rank_documents(contexts: Contexts) -> tuple[F64, I64]:
    """BM25 of all matching documents, and their order, best first."""
    score = bm25_scores(contexts.statistics, contexts.matching)
    return score, np.argsort(-score, kind="stable")
