"""Scores of whole documents by weighting models, and the ranking they give: what voting systems start from. No part.

    bm25, tfidf (cosine), dirichlet    as features/noprox.py has them, by its code
    pl2    sum over literals of the document of
           1/(n+1) * ( n log2(n/lambda) + (lambda - n) log2(e) + log2(2 pi n)/2 ),
           n = tf * log2(1 + c * average length / length),   lambda = cf/N,   c = 1

PL2: Amati & van Rijsbergen, "Probabilistic models of information retrieval based on measuring the divergence from
randomness", TOIS 2002, in the form of Terrier, where Stirling's formula is cut after its first term. It may be below 0
where a literal is frequent. Documents are all that match the query, whether they have a context or not; they are ranked
by score, then by number, ascending. Golden case: N = 4, one literal with cf = 2, and tf = 1 in a document of average
length: n = 1, lambda = 1/2, pl2 = (1 - log2(e)/2 + log2(2 pi)/2) / 2. Both are computed once per query. Knows neither
mentions nor entities.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fader.contexts.columns import DocumentValues, GivenColumns
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.errors import UsageError, did_you_mean, quote
from fader.features.base import Columns
from fader.features.noprox import NoProx
from fader.kernel import kernel

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

MODELS = ("bm25", "dirichlet", "tfidf", "pl2")
PL2_C = 1.0
_NOPROX_NAMES = {"bm25": "bm25", "dirichlet": "dirichlet", "tfidf": "cosine"}


def check_model(name: str, owner: str) -> None:
    """Refuse a weighting model that is none."""
    if name not in MODELS:
        hint = did_you_mean(name, MODELS) or f"; known: {', '.join(MODELS)}"
        raise UsageError(f"{owner}: unknown weighting model {quote(name)}{hint}")


def document_scores(contexts: Contexts, model: str) -> F64:
    """A score for each document of `contexts.matching`."""
    check_model(model, "document ranking")
    scores: F64 = contexts.compute_once(("document scores", model), lambda: _scores(contexts, model))
    return scores


def document_ranking(contexts: Contexts, model: str) -> I64:
    """The places of all documents of `contexts.matching`, best first."""
    ranking: I64 = contexts.compute_once(("document ranking", model), lambda: _ranking(contexts, model))
    return ranking


def in_best_documents(contexts: Contexts, top: int) -> Contexts:
    """The contexts in the so many best documents by BM25, as if no others matched: a long tail is more noise."""
    if contexts.matched_documents <= top:
        return contexts
    return contexts.within(np.sort(document_ranking(contexts, "bm25")[:top]))


def _scores(contexts: Contexts, model: str) -> F64:
    if model == "pl2":
        return _pl2(contexts.statistics, contexts.matching)
    return _noprox(contexts, _NOPROX_NAMES[model])


def _ranking(contexts: Contexts, model: str) -> I64:
    return np.lexsort((contexts.matching.number, -document_scores(contexts, model)))


def _noprox(contexts: Contexts, column: str) -> F64:
    """A column of NoProx for every matching document: that of a table with one context in each of them."""
    matching, n = contexts.matching, contexts.matching.length.size
    if not n:
        return np.zeros(0)
    every = np.arange(n, dtype=np.int32)
    values = DocumentValues(
        every, matching.number, matching.counts, matching.length, matching.distinct, matching.square, matching.prior
    )
    table = Contexts(
        query=contexts.query,
        statistics=contexts.statistics,
        slot=every,
        entities=every,
        document=matching.number,
        distances=matching.counts,
        plan=contexts.plan,
        columns=GivenColumns(documents=values),
    )
    block = NoProx(use=column).blocks(table)[0]
    assert isinstance(block, Columns)
    return np.ascontiguousarray(block.values[:, 0])


@kernel
def _add_pl2(counts: I32, scale: F64, mean: F64, out: F64) -> None:
    """`scale` is log2(1 + c average/length) of each document, `mean` lambda of each literal."""
    for t in range(counts.shape[0]):
        for d in range(counts.shape[1]):
            if counts[t, d] > 0:
                n = counts[t, d] * scale[d]
                gain = n * math.log(n / mean[t]) + mean[t] - n + 0.5 * math.log(2.0 * math.pi * n)
                out[d] += gain / (math.log(2.0) * (n + 1.0))


def _pl2(statistics: Statistics, documents: DocumentValues) -> F64:
    out = np.zeros(documents.length.size)
    if out.size:
        scale = np.log1p(PL2_C * statistics.average_length / np.maximum(documents.length, 1)) / math.log(2.0)
        _add_pl2(documents.counts, scale, statistics.cf / statistics.documents, out)
    return out
