"""NoProx features: how well the whole document fits the query, wherever the mention is in it.

    cosine     sum_t tf * idf  /  (sqrt(sum of squared term counts) * sqrt(sum_t idf^2))        SMART nnc.ntc
    bm25       sum_t ln(1 + (N-df+.5)/(df+.5)) * tf * (k1+1) / (tf + k1 * (1 - b + b * length/average)), k1 1.2, b 0.75
    jaccard    sum of idf over matched literals / (IDF(q) + ln 2 * (different terms of the document beyond these))
    dirichlet  sum_t ln(1 + tf / (mu * p(t|C))),   p = cf/tokens,   mu = the average document length, so mu * p = cf/N
    constant   1

with idf = ln(1 + N/df) and sums over the literals that occur in the document. Jaccard is that of the IDF-weighted
sets of literals and of terms; a document's other terms count with the smallest IDF there is, ln 2, because their own
is not in the table. Golden case: N = 4, one literal with df = 1 and tf = 2 in a document of 5 terms, 4 of them
different: cosine 2/sqrt(7), jaccard ln 5 / (ln 5 + 3 ln 2). BM25: Robertson & Zaragoza, "The probabilistic relevance
framework", 2009; Dirichlet: Zhai & Lafferty, SIGIR 2001, without what does not depend on tf. Values are found once a
document. Knows nothing of distances, but that what a context does not have cannot explain its score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.columns import DocumentValues
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.errors import UsageError, did_you_mean, quote
from fader.features.base import F64, I32, Block, Columns, FeatureMap, Piece
from fader.features.column import even_shares
from fader.features.fused import DocumentSum, Term, TermMaker
from fader.kernel import kernel

I64 = NDArray[np.int64]

K1, B = 1.2, 0.75
# Weights to start with: each of these is then of the order of 1, the constant well below it.
STARTS = {"cosine": 1.0, "bm25": 0.1, "jaccard": 1.0, "dirichlet": 0.1, "constant": 0.1}
NAMES = tuple(STARTS)


@kernel
def _add_terms(counts: I32, literal: F64, document: F64, place: I64, begin: int, end: int, out: F64) -> None:
    """Add each literal's term of the four sums to `out[begin:end, place]`; a place below 0 is left out.

    `literal` has a row for idf, for BM25's idf times k1+1 and for 1/(mu p); `document` one for what the cosine is
    divided by, for BM25's k1 (1 - b + b length/average) and for what jaccard is divided by.
    """
    cosine, bm25, jaccard, dirichlet = place[0], place[1], place[2], place[3]
    for t in range(counts.shape[0]):
        for d in range(begin, end):
            tf = counts[t, d]
            if tf == 0:
                continue
            if cosine >= 0:
                out[d, cosine] += tf * literal[0, t] / document[0, d]
            if bm25 >= 0:
                out[d, bm25] += literal[1, t] * tf / (tf + document[1, d])
            if jaccard >= 0:
                out[d, jaccard] += literal[0, t] / document[2, d]
            if dirichlet >= 0:
                out[d, dirichlet] += np.log1p(tf * literal[2, t])


def per_literal(statistics: Statistics) -> F64:
    """(3, literals): idf, BM25's idf times k1+1, and 1/(mu p)."""
    N, df, cf = statistics.documents, statistics.df, statistics.cf
    out = np.zeros((3, df.size))
    out[0] = statistics.idf()
    out[1] = (K1 + 1) * np.log1p((N - df + 0.5) / (df + 0.5))
    np.divide(N, cf, out=out[2], where=cf > 0)
    return out


def _per_document(statistics: Statistics, documents: DocumentValues) -> F64:
    """Only documents with a literal are ever divided by these, so that none of them is 0 there."""
    idf = statistics.idf()
    cosine = np.sqrt(np.maximum(documents.square, 1) * np.sum(idf * idf))
    bm25 = K1 * (1 - B + B * documents.length / statistics.average_length)
    other = np.maximum(0, documents.distinct - np.count_nonzero(documents.counts, axis=0))
    return np.stack([cosine, bm25, np.sum(idf) + np.log(2) * other])


def bm25_scores(statistics: Statistics, documents: DocumentValues) -> F64:
    """The column `bm25` of some documents."""
    out = np.zeros((documents.length.size, 1))
    literal, document = per_literal(statistics), _per_document(statistics, documents)
    for a, b in budget.chunks(out.shape[0]):
        _add_terms(documents.counts, literal, document, np.array([-1, 0, -1, -1]), a, b, out)
    return out[:, 0]


@dataclass(frozen=True)
class NoProx(FeatureMap):
    """Position-blind scores of the document; `use` names some of them, as in `bm25/constant`."""

    name: ClassVar[str] = "noprox"
    use: str = "/".join(NAMES)

    def __post_init__(self) -> None:
        used = self.use.split("/") if isinstance(self.use, str) else [self.use]
        for name in used:
            if name not in NAMES:
                hint = did_you_mean(str(name), NAMES) or f"; known: {', '.join(NAMES)}"
                raise UsageError(f"{self.name}: use must be names like bm25/constant, not {quote(name)}{hint}")
            if used.count(name) > 1:
                raise UsageError(f"{self.name}: use has {name} more than once in {quote(self.use)}")

    @property
    def size(self) -> int:
        return len(self.labels())

    def labels(self) -> list[str]:
        return self.use.split("/")

    def _place(self) -> I64:
        """Where each of the four sums is among those used."""
        used = self.labels()
        return np.array([used.index(name) if name in used else -1 for name in NAMES[:-1]], dtype=np.int64)

    def _is_constant(self) -> F64:
        return np.array([float(name == "constant") for name in self.labels()])

    def blocks(self, contexts: Contexts) -> list[Block]:
        if not len(contexts) or self.use == "constant":
            return [Columns(np.ones((1, self.size)), np.zeros(len(contexts), dtype=np.int32))]
        documents = contexts.documents
        values = np.tile(self._is_constant(), (documents.length.size, 1))
        literal, document = per_literal(contexts.statistics), _per_document(contexts.statistics, documents)
        for a, b in budget.chunks(values.shape[0]):
            _add_terms(documents.counts, literal, document, self._place(), a, b, values)
        return [Columns(values, documents.row)]

    def prepare_terms(self, w: F64) -> TermMaker:
        column = np.array([NAMES.index(name) for name in self.labels()], dtype=np.int32)

        def make(statistics: Statistics, _farthest: int) -> tuple[Term, ...]:
            idf = statistics.idf()
            sums = float(np.add.reduce(idf * idf)), float(np.add.reduce(idf))
            return (DocumentSum(column, w, per_literal(statistics), *sums, statistics.average_length),)

        return make

    def by_literal(self, contexts: Contexts, rows: I32, w: F64) -> F64:
        """Each literal has its terms of the sums; terms of literals that only the document has go to the others."""
        even = even_shares(contexts, rows)
        if not rows.size or self.use == "constant":
            return even * float(self._is_constant() @ w)
        own = self._terms(contexts, rows) @ w
        kept = np.where(contexts.distances[:, rows] >= 0, own, 0.0)
        whole, left = own.sum(axis=0), kept.sum(axis=0)
        scaled: F64 = np.divide(kept * whole, left, out=even * whole, where=left > 0)
        return scaled + even * float(self._is_constant() @ w)

    def _terms(self, contexts: Contexts, rows: I32) -> F64:
        """(literals, rows, columns): the terms of the sums, without the constant."""
        documents = contexts.documents
        j = documents.row[rows]
        literal = per_literal(contexts.statistics)
        document = np.ascontiguousarray(_per_document(contexts.statistics, documents)[:, j])
        out = np.zeros((documents.counts.shape[0], rows.size, self.size))
        for t in range(out.shape[0]):
            counts = np.ascontiguousarray(documents.counts[t : t + 1, j])
            own = np.ascontiguousarray(literal[:, t : t + 1])
            _add_terms(counts, own, document, self._place(), 0, rows.size, out[t])
        return out

    def pieces(self, contexts: Contexts, row: int, w: F64) -> list[Piece]:
        values = self._terms(contexts, np.array([row], dtype=np.int32)).sum(axis=0)[0] + self._is_constant()
        return [Piece(self.name, -1, n, float(v * c)) for n, v, c in zip(self.labels(), values, w, strict=True)]

    def start(self) -> F64:
        return np.array([STARTS[name] for name in self.labels()])
