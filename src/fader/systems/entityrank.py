"""EntityRank: sum over documents of p(d) times the best local match, tested against chance.

    local(x) = conf(x) * near(x) * share(x)
    near(x)  = the share of the query's contexts whose smallest covering window has at least as many tokens as that of x
    share(x) = sum of IDF(t)/IDF(q) over the literals of x
    p_o(e)   = sum over d in D_e of p(d) * max over mentions x of e in d of local(x)             observed
    p_r(e)   = p(e) * p(q) * mean of conf * near                                                 at random
    p(e)     = sum over all d that mention e of p(d),   p(q) = sum over matching d of p(d) * share(d)
    G        = 2 (p_o ln(p_o/p_r) + (1 - p_o) ln((1 - p_o)/(1 - p_r))),   V = G, or -G where p_o < p_r

Without the test V = p_o. It is a sum, not a product over literals, and so reported as it is, not as its logarithm.

Where the formula leaves a choice:

- p(d) is the document's prior divided by what the priors of the whole collection add up to, if documents that do not
  match have the mean prior of those that do: 1/N where all priors are equal (or all 0). Relative to the matching
  documents alone p(q) would be about 1, and an entity would gain nothing by having many of them.
- near is the histogram of window sizes, summed from the wide end: 1 for the tightest window of the query, and never
  larger for a wider one. It is of the query's own contexts, so that nothing is learned and there is no width to set.
  Contexts without a literal are not in it.
- The paper asks for all keywords. Here a context that misses some keeps its share of the IDF. With every literal
  required share is 1, and p(q) is the probability that a document has them all.
- The mean is over the contexts that count, one an entity and document.
- p(e) is over the documents of the whole collection, so that an entity that is mentioned everywhere must be seen with
  the query more often to pass the test. Those outside of D_e count with the mean prior, 1/N: where all priors are equal
  p(e) is the share of the collection's documents that mention e.
- Confidences are probabilities: what is outside of 0 to 1 is moved to the nearer end. Probabilities in the test are
  kept 1e-300 above 0 and 1e-16 below 1, so that V is finite.

Golden case: N = 4 with equal priors, one literal `a`, documents `a E`, `a x E`, `F a` and `F`, all sure: windows 2, 3,
2 in those that match, so near is 1, 1/3, 1. p_o(E) = (1 + 1/3)/4 = 1/3, p_o(F) = 1/4; p(q) = 3/4, the mean is 7/9 and
p(E) = p(F) = 1/2, so that p_r = 1/2 * 3/4 * 7/9 = 7/24 for both: V(E) = G(1/3, 7/24) = 0.00819 and
V(F) = -G(1/4, 7/24) = -0.00866. Without the fourth document's mention p(F) = 1/4 and V(F) = G(1/4, 7/48) = 0.07442: F,
whose only mention is as close as any, would pass the test better than E.

Cheng, Yan & Chang, "EntityRank: searching entities directly and holistically", VLDB 2007. Knows nothing of storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fader.aggregate.sum import sums
from fader.contexts.policy import Evidence, select
from fader.contexts.table import Contexts
from fader.rank.system import Ranking, System
from fader.systems.shared.covering import smallest_windows

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
LEAST, MOST = 1e-300, 1.0 - 1e-16


@dataclass(frozen=True)
class EntityRank(System):
    """Document priors x closeness of the tightest window, tested against random association."""

    name: ClassVar[str] = "entityrank"
    citation: ClassVar[str] = "Cheng, Yan & Chang, EntityRank: searching entities directly and holistically, VLDB 2007"
    tries: ClassVar[Mapping[str, tuple[str, ...]]] = {"test": ("true", "false")}
    test: bool = True

    def scores(self, contexts: Contexts) -> F64:
        """local(x)."""
        return _sure_and_near(contexts) * _shares_of_idf(contexts)

    def value_entities(self, contexts: Contexts) -> tuple[Evidence, F64]:
        evidence = select(contexts, self.scores(contexts), "document")
        if not len(contexts):
            return evidence, np.zeros(0)
        weight = _document_weights(contexts)[contexts.matching.row[evidence.row]]
        observed = np.minimum(sums(weight * evidence.scores, evidence.at), 1.0)
        if not self.test:
            return evidence, observed
        mean = float(np.mean(_sure_and_near(contexts)[evidence.row]))
        of_entity = sums(weight, evidence.at) + _elsewhere(contexts, evidence)
        return evidence, compute_signed_g(observed, of_entity * (_of_query(contexts) * mean))

    def shares(self, contexts: Contexts, ranking: Ranking, i: int) -> F64:
        """The value in proportion to p(d) local(x)."""
        rows, scores = ranking.rows_of(i), ranking.scores_of(i)
        part = _document_weights(contexts)[contexts.matching.row[rows]] * scores
        total = part.sum()
        part = part / total if total > 0 else np.full(rows.size, 1.0 / rows.size)
        shared: F64 = ranking.score[i] * part
        return shared


def compute_signed_g(observed: F64, expected: F64) -> F64:
    """The G statistic of each pair of probabilities; negative where less was observed than expected."""
    o, r = np.clip(observed, LEAST, MOST), np.clip(expected, LEAST, MOST)
    g = 2.0 * (o * (np.log(o) - np.log(r)) + (1.0 - o) * (np.log1p(-o) - np.log1p(-r)))
    signed: F64 = np.copysign(np.maximum(g, 0.0), o - r)
    return signed


def _document_weights(contexts: Contexts) -> F64:
    """p(d) of each matching document."""

    def weights() -> F64:
        prior, N = contexts.matching.prior, contexts.statistics.documents
        largest = prior.max(initial=0.0)
        if not largest > 0:
            return np.full(prior.size, 1.0 / N)
        relative = prior / largest  # else large priors add up to infinity
        weight: F64 = relative / (relative.mean() * N)
        return weight

    found: F64 = contexts.compute_once("entityrank: document weights", weights)
    return found


def _elsewhere(contexts: Contexts, evidence: Evidence) -> F64:
    """What documents without a context add to p(e): those of the collection that mention e, less those of D_e."""
    everywhere = contexts.entity_documents[np.searchsorted(contexts.entities, evidence.entity)]
    outside: F64 = np.maximum(everywhere - np.diff(evidence.at), 0) / contexts.statistics.documents
    return outside


def _of_query(contexts: Contexts) -> float:
    """p(q): the share of IDF that a random document has of the query, where it matches."""
    has = (contexts.matching.counts > 0).T.astype(np.float64)
    return float(_document_weights(contexts) @ (has @ contexts.statistics.perplexity()))


def _shares_of_idf(contexts: Contexts) -> F64:
    """share(x)."""
    out = np.zeros(len(contexts))
    for t, perplexity in enumerate(contexts.statistics.perplexity()):
        out += perplexity * (contexts.distances[t] >= 0)
    return out


def _sure_and_near(contexts: Contexts) -> F64:
    """conf(x) * near(x); 0 for a context without a literal."""

    def compute() -> F64:
        if not len(contexts):
            return np.zeros(0)
        windows = smallest_windows(contexts)
        has = windows.held > 0
        histogram = np.bincount(windows.size[has], minlength=int(windows.size.max()) + 1)
        at_least = np.cumsum(histogram[::-1])[::-1]
        near = at_least[windows.size] * has / max(1, int(has.sum()))
        return near * np.clip(contexts.confidence, 0.0, 1.0)

    kept: F64 = contexts.compute_once("entityrank: confidence times closeness", compute)
    return kept
