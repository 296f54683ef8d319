"""Likelihoods of a query by way of documents: what the language models of this folder share. No part by itself.

A pair is an entity and a document that mentions it. With n(e, d) mentions of e in d, E candidates of the query and
E(d) of them mentioned in d:

    boolean      a(d, e) = 1
    frequency    a(d, e) = n(e, d) * ln(1 + E/E(d))     a document that names few says more of each; never 0
    n(e)         the tokens of the documents that mention e

Among the mentions of a pair the one nearest to the query's literals, by `proximity`, stands for it in the evidence.
`CandidateModel` is a model that joins an entity's documents before it multiplies over literals:

    V(e) = ln p(q|e) = sum_t ln m(t, e),   m(t, e) = (1 - lam_e) sum_{d in D_e} p(t|d, e) p(d|e) + lam_e p(t|C)
    lam_e = beta / (beta + n(e)),   beta = 0: the average n(e) of the query's candidates

over the literals with cf(t) > 0. A document's share of V(e) is sum_t |ln m(t, e)| times its part of the sum over
documents, which is that of p(d|e) where no document has t, scaled to add up to V(e). Knows no particular system.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.aggregate.sum import sums
from fader.contexts.policy import Evidence, select
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.errors import UsageError, quote
from fader.features.kernel import Kernel
from fader.kernel import inline_kernel, kernel
from fader.rank.system import PairCounts, Ranking, System
from fader.systems.shared.kernels import add_window

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

WHOLE = (0.0,)
NEAREST = Kernel()  # by which the mention is chosen that stands for a pair
LEAST = 1e-6  # tokens to smooth with: far less would let a likelihood vanish in doubles


@dataclass(frozen=True, slots=True)
class EntityDocumentPairs:
    """Pairs by entity, entity i having `at[i]:at[i+1]`, its documents ascending; `of[x]` is the pair of context x.

    `row` is the context that stands for a pair, `document` its place in `Contexts.documents`, `mentions` n(e, d) and
    `named` E(d); `tokens` is n(e) of each entity.
    """

    entity: I32
    at: I64
    row: I32
    of: I32
    document: I32
    mentions: I64
    named: I64
    tokens: F64

    def evidence(self, scores: F64) -> Evidence:
        """The pairs as evidence, with their scores."""
        return Evidence(self.entity, self.row, self.at, scores)

    @property
    def counts(self) -> PairCounts:
        """What associations are made of."""
        every = np.bincount(self.document, weights=self.mentions)[self.document]
        return PairCounts(self.at, self.mentions, self.named, every, self.entity.size)


@kernel
def _pair_of_rows(slot: I32, document: I32, before: I32, out: I32) -> None:
    """`before[s]` is one below the first pair of slot s."""
    latest = np.full(before.size, -1, dtype=np.int32)
    for x in range(slot.size):
        s = slot[x]
        if latest[s] != document[x]:
            latest[s] = document[x]
            before[s] += np.int32(1)
        out[x] = before[s]


@kernel
def _add_means(values: F64, of: I32, mentions: I64, out: F64) -> None:
    """Of one literal."""
    for x in range(of.size):
        out[of[x]] += values[x]
    for p in range(mentions.size):
        out[p] /= mentions[p]


def pairs_of(contexts: Contexts) -> EntityDocumentPairs:
    """The pairs of a query, made once."""
    made: EntityDocumentPairs = contexts.compute_once("pairs of entity and document", lambda: _pairs(contexts))
    return made


def _pairs(contexts: Contexts) -> EntityDocumentPairs:
    nearest = select(contexts, NEAREST.score(contexts, np.ones(1)), "document")
    before = np.full(contexts.entities.size, -1, dtype=np.int32)
    before[np.searchsorted(contexts.entities, nearest.entity)] += nearest.at[:-1].astype(np.int32)
    of = np.empty(len(contexts), dtype=np.int32)
    _pair_of_rows(contexts.slot, contexts.document, before, of)
    documents = contexts.documents
    document = documents.row[nearest.row]
    named = np.bincount(document, minlength=documents.length.size)[document]
    return EntityDocumentPairs(
        nearest.entity,
        nearest.at,
        nearest.row,
        of,
        document,
        np.bincount(of, minlength=document.size),
        named,
        sums(documents.length[document].astype(np.float64), nearest.at),
    )


def mean_of_mentions(pairs: EntityDocumentPairs, values: F64) -> F64:
    """(literals, pairs): the mean over each pair's mentions of (literals, contexts)."""
    out = np.zeros((values.shape[0], pairs.row.size))
    for t in range(values.shape[0]):
        budget.check()
        _add_means(values[t], pairs.of, pairs.mentions, out[t])
    return out


def find_known_literals(statistics: Statistics) -> I64:
    """The literals that occur in the collection."""
    return np.flatnonzero(statistics.cf > 0)


def background(statistics: Statistics) -> F64:
    """p(t|C) of each literal."""
    share: F64 = statistics.cf / max(1, statistics.tokens)
    return share


@inline_kernel
def log_of_literal(p: float, lam: float, share: float) -> float:
    """ln of p(t|d) smoothed by p(t|C)."""
    return math.log((1.0 - lam) * p + lam * share)


@kernel
def _add_logs(p: F64, lam: F64, share: float, out: F64) -> None:
    for i in range(out.size):
        out[i] += log_of_literal(p[i], lam[i], share)


def log_likelihoods(p: F64, lam: F64, statistics: Statistics) -> F64:
    """ln p(q|d) of each column of p(t|d), (literals, columns), smoothed by `lam`."""
    out, share = np.zeros(lam.size), background(statistics)
    for t in find_known_literals(statistics):
        budget.check()
        _add_logs(p[t], lam, float(share[t]), out)
    return out


def near_shares(contexts: Contexts, window: tuple[float, ...]) -> F64:
    """(literals, pairs): p(t|d, e), the mean over window sizes and mentions; size 0 is the whole document.

    Computed once per query and window.
    """
    made: F64 = contexts.compute_once(("near shares", window), lambda: _near_shares(contexts, window))
    return made


def split_window(window: tuple[float, ...]) -> tuple[I64, float, float]:
    """The sizes of windows, the weight of each, and that of the whole document."""
    sizes, weight = np.array([int(w) for w in window if w], dtype=np.int64), 1.0 / len(window)
    return sizes, weight, 1.0 - weight * sizes.size if sizes.size < len(window) else 0.0


def _near_shares(contexts: Contexts, window: tuple[float, ...]) -> F64:
    pairs, documents = pairs_of(contexts), contexts.documents
    sizes, weight, of_whole = split_window(window)
    found = np.zeros((documents.counts.shape[0], len(contexts) if sizes.size else 0))
    for w in sizes:
        add_window(contexts, int(w), weight, found)
    out = mean_of_mentions(pairs, found) if sizes.size else np.zeros((documents.counts.shape[0], pairs.row.size))
    if of_whole:
        whole = documents.counts * (of_whole / np.maximum(1, documents.length))
        for t in range(out.shape[0]):
            out[t] += whole[t][pairs.document]
    return out


def frequencies(pairs: PairCounts) -> F64:
    """The association `frequency` of each pair."""
    return pairs.mentions.astype(np.float64) * np.log1p(pairs.candidates / pairs.named)


def per_entity(pairs: PairCounts, a: F64) -> F64:
    """Association divided by its sum over the entity's documents."""
    return a / np.repeat(sums(a, pairs.at), np.diff(pairs.at))


def gains(contexts: Contexts, rows: I32, p: F64, lam: F64) -> F64:
    """(literals, rows): by how much a literal's likelihood exceeds what it has without an occurrence, as a log ratio.

    `p` is (literals, rows), `lam` the smoothing of each row. Literals that a context does not have gain nothing.
    """
    floor = lam * background(contexts.statistics)[:, None]
    ratio = np.divide((1.0 - lam) * p, floor, out=np.zeros(p.shape), where=floor > 0)
    masked: F64 = np.where(contexts.distances[:, rows] >= 0, np.log1p(ratio), 0.0)
    return masked


def check_beta(owner: str, beta: float, meaning: str) -> None:
    """Refuse what smooths nothing."""
    if beta != 0 and not LEAST <= beta < float("inf"):
        raise UsageError(f"{owner}: beta must be 0 for {meaning}, or at least {LEAST:g} tokens, not {beta}")


def check_window(owner: str, window: object) -> None:
    """Refuse what is no list of sizes."""
    good = isinstance(window, tuple) and window and all(0 <= w < 2**30 and w == int(w) for w in window)
    if not good:
        text = "/".join(f"{w:g}" for w in window) if isinstance(window, tuple) else window
        raise UsageError(
            f"{owner}: window must be one or several whole numbers of tokens such as 20 or 20/50, 0 being the whole "
            f"document, not {quote(text)}"
        )


class CandidateModel(System):
    """A model of the entity's language: documents are joined first, then literals are multiplied."""

    beta: float

    @abstractmethod
    def foreground(self, contexts: Contexts) -> F64:
        """(literals, pairs): p(t|d, e)."""

    def associate(self, pairs: EntityDocumentPairs) -> F64:
        """p(d|e) of each pair; 1/|D_e| unless told otherwise."""
        return per_entity(pairs.counts, np.ones(pairs.row.size))

    def smoothing(self, pairs: EntityDocumentPairs) -> F64:
        """lam_e of each entity."""
        beta = self.beta or (float(pairs.tokens.mean()) if pairs.tokens.size else 1.0)
        return beta / (beta + pairs.tokens)

    def scores(self, contexts: Contexts) -> F64:
        """ln p(q|e) if the context's document were the entity's only one, with the smoothing it has."""
        pairs = pairs_of(contexts)
        return self._alone(contexts, pairs)[pairs.of]

    def value_entities(self, contexts: Contexts) -> tuple[Evidence, F64]:
        pairs = pairs_of(contexts)
        p, a, lam, share = (
            self.foreground(contexts),
            self.associate(pairs),
            self.smoothing(pairs),
            background(contexts.statistics),
        )
        value = np.zeros(pairs.entity.size)
        for t in find_known_literals(contexts.statistics):
            budget.check()
            value += np.log((1.0 - lam) * sums(p[t] * a, pairs.at) + lam * share[t])
        return pairs.evidence(self._alone(contexts, pairs)), value

    def _alone(self, contexts: Contexts, pairs: EntityDocumentPairs) -> F64:
        p, share = self.foreground(contexts), background(contexts.statistics)
        lam = np.repeat(self.smoothing(pairs), np.diff(pairs.at))
        out = np.zeros(pairs.row.size)
        for t in find_known_literals(contexts.statistics):
            budget.check()
            out += np.log((1.0 - lam) * p[t] + lam * share[t])
        return out

    def shares(self, contexts: Contexts, ranking: Ranking, i: int) -> F64:
        pairs, mine, known = pairs_of(contexts), ranking.slice_of(i), find_known_literals(contexts.statistics)
        a, lam = self.associate(pairs)[mine], self.smoothing(pairs)[ranking.place[i]]
        terms = self.foreground(contexts)[known][:, mine] * a
        total = terms.sum(axis=1, keepdims=True)
        share = background(contexts.statistics)[known][:, None]
        logs = np.abs(np.log((1.0 - lam) * total + lam * share))
        part = np.divide(terms, total, out=np.tile(a / a.sum(), (known.size, 1)), where=total > 0)
        weight = (part * logs).sum(axis=0)
        weight = weight if weight.sum() > 0 else a
        shared: F64 = ranking.score[i] * weight / weight.sum()
        return shared

    def literal_weights(self, contexts: Contexts, rows: I32) -> F64:
        pairs = pairs_of(contexts)
        lam = self.smoothing(pairs)[np.searchsorted(pairs.entity, contexts.entity[rows])]
        return gains(contexts, rows, self.foreground(contexts)[:, pairs.of[rows]], lam)
