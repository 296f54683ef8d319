"""Balog's model 2, the document model: every document that mentions an entity answers the query by itself.

    V(e) = ln p(q|e) = ln sum_{d in D_e} a(d, e) prod_t [ (1 - lam_d) p(t|d) + lam_d p(t|C) ]
    p(t|d) = tf/|d|,   lam_d = beta / (beta + |d|),   p(t|C) = cf/tokens

Literals with cf = 0 are left out; beta = 0 is the average document length of the collection. `association` is a(d, e),
with n = n(e, d) mentions of e in d and E candidates, of which d mentions E(d):

    boolean               1, not normalised: documents add up
    candidate             1/|D_e|
    document              1/E(d)
    frequency             n ln(1 + E/E(d))
    frequency-candidate   the same, divided by its sum over the documents of e
    frequency-document    n, divided by its sum over the entities of d

`window` makes it model 2B: p(t|d) is then that of the tokens within w of a mention, the mention's included, as the
mean over the mentions of e in d and, if there are several sizes, over these; 0 is the whole document. Smoothing does
not depend on the window. The score of a context is the logarithm of its document's term, its share of V(e) is
V(e) times its proportion of the sum.

Golden case: documents `alpha x x x`, which mentions e, and `alpha alpha`, which mentions e and f; query `alpha`.
p(t|C) = 1/2, beta = 3; the documents' likelihoods are 4/7 * 1/4 + 3/7 * 1/2 = 5/14 and 2/5 + 3/5 * 1/2 = 7/10, so that
V(e) = ln 37/35 and V(f) = ln 7/10; with association=document ln 99/140 and ln 7/20. Balog, Azzopardi & de Rijke,
"Formal models for expert finding in enterprise corpora", SIGIR 2006, and "A language modeling framework for expert
finding", IP&M 2009. Values are natural logarithms. Knows nothing of distances but through windows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from fader.aggregate.logsumexp import LogSumExp
from fader.contexts.policy import Evidence
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.features.checks import check_choice
from fader.features.fused import NearShares
from fader.rank.system import FusedMaker, FusedScoring, PairCounts, Ranking, System
from fader.systems.shared.likelihood import (
    F64,
    I32,
    NEAREST,
    WHOLE,
    EntityDocumentPairs,
    background,
    check_beta,
    check_window,
    find_known_literals,
    frequencies,
    gains,
    log_likelihoods,
    near_shares,
    pairs_of,
    per_entity,
    split_window,
)

ASSOCIATIONS = ("boolean", "candidate", "document", "frequency", "frequency-candidate", "frequency-document")


@dataclass(frozen=True)
class Balog2(System):
    """Document model: query likelihoods of an entity's documents, added up; 2B with a window."""

    name: ClassVar[str] = "balog2"
    citation: ClassVar[str] = (
        "Balog, Azzopardi & de Rijke, Formal models for expert finding in enterprise corpora, SIGIR 2006"
    )
    tries: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "association": ("boolean", "document"),
        "beta": ("0", "50", "1000"),
        "window": ("0", "50"),
    }
    association: str = "boolean"
    beta: float = 0.0
    window: tuple[float, ...] = WHOLE

    def __post_init__(self) -> None:
        check_choice(self.name, "association", self.association, ASSOCIATIONS)
        check_beta(self.name, self.beta, "the average document length")
        check_window(self.name, self.window)

    def scores(self, contexts: Contexts) -> F64:
        """The logarithm of the term of each context's document."""
        pairs = pairs_of(contexts)
        return self._terms(contexts, pairs)[pairs.of]

    def value_entities(self, contexts: Contexts) -> tuple[Evidence, F64]:
        pairs = pairs_of(contexts)
        terms = self._terms(contexts, pairs)
        return pairs.evidence(terms), LogSumExp().values(terms, pairs.at)

    def shares(self, contexts: Contexts, ranking: Ranking, i: int) -> F64:
        terms = ranking.scores_of(i)
        return LogSumExp().shares(terms, np.array([0, terms.size], dtype=np.int64))

    def prepare_fused(self) -> FusedMaker:
        """Without windows the likelihood is that of a whole document, with windows that of an entity in a document."""

        def value(table: Contexts) -> tuple[F64, None]:
            documents = table.matching
            p = documents.counts * (1.0 / np.maximum(1, documents.length))
            return log_likelihoods(p, self._smoothing(table.statistics, documents.length), table.statistics), None

        associate = None if self.association == "boolean" else partial(_associate, self.association)
        choose = NEAREST.prepare_terms(np.ones(1))

        def make(statistics: Statistics, farthest: int) -> FusedScoring:
            choice, aggregator = choose(statistics, farthest), LogSumExp()
            if self.window == WHOLE:
                return FusedScoring((), aggregator, "document", choice, value, associate)
            sizes, weight, whole = split_window(self.window)
            beta = self.beta or statistics.average_length
            term = NearShares(sizes, weight, whole, beta, background(statistics), find_known_literals(statistics))
            return FusedScoring((term,), aggregator, "document", choice, associate=associate)

        return make

    def literal_weights(self, contexts: Contexts, rows: I32) -> F64:
        pairs, documents = pairs_of(contexts), contexts.documents
        p = near_shares(contexts, self.window)[:, pairs.of[rows]]
        return gains(contexts, rows, p, self._smoothing(contexts.statistics, documents.length[documents.row[rows]]))

    def _smoothing(self, statistics: Statistics, length: I32) -> F64:
        """lam_d of documents of some lengths."""
        beta = self.beta or statistics.average_length
        lam: F64 = beta / (beta + length.astype(np.float64))
        return lam

    def _terms(self, contexts: Contexts, pairs: EntityDocumentPairs) -> F64:
        p, length = near_shares(contexts, self.window), contexts.documents.length[pairs.document]
        out = log_likelihoods(p, self._smoothing(contexts.statistics, length), contexts.statistics)
        if self.association != "boolean":
            out += np.log(_associate(self.association, pairs.counts))
        return out


def _associate(kind: str, pairs: PairCounts) -> F64:
    """a(d, e) of each pair."""
    if kind == "document":
        return 1.0 / pairs.named
    if kind == "frequency-document":
        return pairs.mentions / pairs.every
    a = frequencies(pairs) if kind.startswith("frequency") else np.ones(pairs.mentions.size)
    return per_entity(pairs, a) if kind.endswith("candidate") else a
