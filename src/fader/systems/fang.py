"""Fang, Si and Mathur's discriminative model: relevance of documents and of mentions are latent, and learned together.

    P(e|q) = 1/|S_e| sum_x sigma(alpha . f(q, x)) sigma(beta . g(x, e))                 mean=arithmetic
    P(e|q) = prod_x [ sigma(alpha . f(q, x)) sigma(beta . g(x, e)) ] ^ (1/|S_e|)        mean=geometric

    f   the noprox features of the document: cosine, bm25, jaccard, dirichlet, 1
    g   ln(1 + n), n / all mentions of candidates in the document, first token of e / tokens, mean confidence of the
        mentions, ln(1 + tokens), 1;   n = mentions of e in the document

A context is a document that mentions e; of its mentions the one nearest to the query's words is shown. Entities are
ranked by ln P. Training maximises

    sum_q [ 1/(2|G|) sum over good e of ln P(e|q)  +  1/(2|B|) sum over bad e of ln(1 - P(e|q)) ]  -  w.w / (2 lam^2)

by L-BFGS from several starts, the first of them 0. Good and bad have half of a query each, because there are thousands
of unjudged candidates, which are bad; at most `bad` of them are drawn a query. w are alpha and beta on features of
mean 0 and deviation 1; what is kept are alpha and beta on f and g as they stand here.

Golden case: alpha and beta all 0 give P = 1/4; only alpha of the constant = ln 3 gives sigma = 3/4 and P = 3/8; with
beta of ln(1 + n) = 1, n = 2 in one document and 1 in another besides: P = 3/4 (3/4 + 2/3) / 2 = 17/32, and
3/4 sqrt(3/4 * 2/3) by the geometric mean. Fang, Si & Mathur, "Discriminative models of integrating document evidence
and document-candidate associations for expert search", SIGIR 2010. Knows nothing of folds or of how lam is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy  # its subpackages load when they are first used
from numpy.typing import NDArray

from fader.aggregate.average import Average
from fader.aggregate.logsumexp import LogSumExp
from fader.contexts.policy import Evidence, select
from fader.contexts.table import Contexts
from fader.errors import UsageError, quote
from fader.features.base import Columns, Piece
from fader.features.checks import check_choice
from fader.features.kernel import Kernel
from fader.features.noprox import NoProx
from fader.kernel import inline_kernel, kernel
from fader.learn.dataset import draw_candidates
from fader.learn.learner import Example, Learner
from fader.rank.system import Ranking
from fader.systems.shared.thinning import seed_of, within

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
MEANS = ("arithmetic", "geometric")
F = NoProx().size
G = 6
SMALLEST = 1e-300  # the smallest probability that training tells from 0


@dataclass(frozen=True, slots=True)
class Pairs:
    """Entities with the documents that mention them: entity i has the pairs `at[i]:at[i+1]`, in document order.

    A pair has its document's place in `f`, how many mentions there are, the first one's token and the sum of their
    confidences. A document has its length and all its `mentioned` candidates, one for each mention.
    """

    entity: I32
    at: I64
    document: I32
    mentions: I32
    first: I32
    confidence: F64
    f: F64
    length: I32
    mentioned: I32

    def g(self, pair: I64 | slice = slice(None)) -> F64:
        """The association features of some pairs: (pairs, G)."""
        n, document = self.mentions[pair], self.document[pair]
        length = self.length[document]
        columns = (
            np.log1p(n),
            n / self.mentioned[document],
            self.first[pair] / np.maximum(length, 1),
            self.confidence[pair] / n,
            np.log1p(length),
            np.ones(n.size),
        )
        return np.stack(columns, axis=1)


@kernel
def _gather(
    slot: I32, document: I32, start: I32, confidence: F64, put: I64, pair: I64, mentions: I32, first: I32, trust: F64
) -> None:
    """Join the mentions of each entity in each document; `put[s]` is where the pairs of slot s begin."""
    latest = np.full(put.size, -1, dtype=np.int64)
    for x in range(slot.size):
        s = slot[x]
        if latest[s] < 0 or document[latest[s]] != document[x]:
            p = put[s]
            put[s] += 1
            first[p] = start[x]
        else:
            p = pair[latest[s]]
            first[p] = min(first[p], start[x])
        latest[s] = x
        pair[x] = p
        mentions[p] += 1
        trust[p] += confidence[x]


def pairs_of(contexts: Contexts, evidence: Evidence) -> tuple[Pairs, I64]:
    """The pairs of a query, and the pair of each context."""
    size = evidence.row.size
    pair, mentions, first = np.empty(len(contexts), dtype=np.int64), np.zeros(size, np.int32), np.zeros(size, np.int32)
    confidence, put = np.zeros(size), np.zeros(contexts.entities.size, dtype=np.int64)
    put[np.searchsorted(contexts.entities, evidence.entity)] = evidence.at[:-1]
    block = NoProx().blocks(contexts)[0]
    assert isinstance(block, Columns)
    length, mentioned = np.zeros(0, np.int32), np.zeros(0, np.int32)
    if len(contexts):
        columns = (contexts.slot, contexts.document, contexts.start, contexts.confidence)
        _gather(*columns, put, pair, mentions, first, confidence)
        length = contexts.documents.length
        mentioned = np.bincount(block.row, minlength=length.size).astype(np.int32)
    document = block.row[evidence.row]
    kept = Pairs(evidence.entity, evidence.at, document, mentions, first, confidence, block.values, length, mentioned)
    return kept, pair


def nearest_mentions(contexts: Contexts) -> Evidence:
    """One context a document, the one nearest to the query's words: all of them are worth the same here."""
    return select(contexts, Kernel("inverse", 10.0).score(contexts, np.ones(1)), "document")


@inline_kernel
def _sigmas(a: float) -> Any:
    """sigma(a) and sigma(-a)."""
    small = math.exp(-abs(a))
    return (1.0 / (1.0 + small), small / (1.0 + small)) if a > 0 else (small / (1.0 + small), 1.0 / (1.0 + small))


@inline_kernel
def _log_sigma(a: float) -> float:
    return -math.log1p(math.exp(-a)) if a > 0 else a - math.log1p(math.exp(a))


@kernel
def _log_sigmas(a: F64) -> Any:
    out = np.empty(a.size)
    for i in range(a.size):
        out[i] = _log_sigma(a[i])
    return out


@kernel
def _likelihood(x: F64, cut: int, at: I64, weight: F64, w: F64, geometric: bool, gradient: F64) -> float:
    """sum_e |weight| ln P for weights above 0 and ln(1 - P) below, and its gradient by w.

    With s_x = sigma(a) sigma(b): d ln P / da_x = s_x sigma(-a) / (n P), d ln(1-P) / da_x = - s_x sigma(-a) / (n (1-P)),
    and the geometric mean has P for each s_x. 1 - s = sigma(-a) + sigma(a) sigma(-b), so that nothing cancels.
    """
    gradient[:] = 0.0
    total = 0.0
    not_a, not_b, s = np.empty(x.shape[0]), np.empty(x.shape[0]), np.empty(x.shape[0])
    for e in range(weight.size):
        n = at[e + 1] - at[e]
        p, rest, mean = 0.0, 0.0, 0.0
        for i in range(at[e], at[e + 1]):
            to_a, to_b = 0.0, 0.0
            for c in range(cut):
                to_a += x[i, c] * w[c]
            for c in range(cut, w.size):
                to_b += x[i, c] * w[c]
            a, not_a[i] = _sigmas(to_a)
            b, not_b[i] = _sigmas(to_b)
            s[i] = a * b
            u = not_a[i] + a * not_b[i]
            p += s[i] / n
            rest += u / n
            if geometric:
                mean += (math.log1p(-u) if u < 0.5 else math.log(max(s[i], SMALLEST))) / n
        if geometric:
            p, rest = math.exp(mean), -math.expm1(mean)
        level = max(p if weight[e] > 0 else rest, SMALLEST)
        total += abs(weight[e]) * math.log(level)
        for i in range(at[e], at[e + 1]):
            pull = weight[e] * (p if geometric else s[i]) / (n * level)
            pull_a, pull_b = pull * not_a[i], pull * not_b[i]
            for c in range(cut):
                gradient[c] += pull_a * x[i, c]
            for c in range(cut, w.size):
                gradient[c] += pull_b * x[i, c]
    return total


class Likelihood:
    """What training minimises: minus the likelihood, and the ridge; with its gradient."""

    def __init__(self, x: F64, at: I64, weight: F64, geometric: bool, lam: float) -> None:
        self.x, self.at, self.weight, self.geometric, self.lam = x, at, weight, geometric, lam

    def __call__(self, w: F64) -> tuple[float, F64]:
        gradient = np.empty(w.size)
        total = _likelihood(self.x, F, self.at, self.weight, w, self.geometric, gradient)
        return float(0.5 * (w @ w) / self.lam**2 - total), w / self.lam**2 - gradient


def climb(objective: Likelihood, start: F64, seen: Callable[[F64], Any] | None = None) -> tuple[float, F64]:
    """The best near one start; `seen` gets the weights of each step."""
    options = {"maxiter": 300, "ftol": 1e-8, "gtol": 1e-6}
    found = scipy.optimize.minimize(objective, start, jac=True, method="L-BFGS-B", callback=seen, options=options)
    return float(found.fun), found.x


def rows_of(query: Pairs, places: I64) -> tuple[F64, I64]:
    """(f, g) of the pairs of some entities, laid end to end, and how many each has."""
    pair, at = within(query.at, places)
    return np.concatenate([query.f[query.document[pair]], query.g(pair)], axis=1), np.diff(at)


@dataclass(frozen=True)
class Fang(Learner):
    """Learned relevance of documents x learned association, averaged: Fang, Si & Mathur 2010.

    `alpha` and `beta` are learned; `lam` is the lambda of the ridge, `bad` how many bad candidates a query trains with.
    """

    name: ClassVar[str] = "fang"
    citation: ClassVar[str] = (
        "Fang, Si & Mathur, Discriminative models of integrating document evidence and document-candidate "
        "associations for expert search, SIGIR 2010"
    )
    learned: ClassVar[tuple[str, ...]] = ("alpha", "beta")
    tries: ClassVar[Mapping[str, tuple[str, ...]]] = {"mean": MEANS, "lam": ("0.3", "1", "3")}
    mean: str = "arithmetic"
    lam: float = 1.0
    starts: int = 2
    bad: int = 200
    alpha: tuple[float, ...] = ()
    beta: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_choice(self.name, "mean", self.mean, MEANS)
        if not 1e-6 <= self.lam <= 1e6:
            raise UsageError(f"{self.name}: lam must be a number from 0.000001 to 1,000,000, not {quote(self.lam)}")
        for key, value in (("starts", self.starts), ("bad", self.bad)):
            if not isinstance(value, int) or value < 1:
                raise UsageError(f"{self.name}: {key} must be a whole number from 1 on, not {quote(value)}")
        sizes = (len(self.alpha), len(self.beta))
        if sizes not in ((0, 0), (F, G)):
            raise UsageError(f"{self.name}: alpha and beta must have {F} and {G} numbers or none, not {sizes}")
        if not np.isfinite((*self.alpha, *self.beta)).all():
            raise UsageError(f"{self.name}: alpha and beta must be finite; train it again")

    @property
    def is_fitted(self) -> bool:
        return len(self.alpha) > 0

    def encode(self, contexts: Contexts) -> Pairs:
        return pairs_of(contexts, nearest_mentions(contexts))[0]

    @property
    def encoding(self) -> Hashable:
        return self.name

    def take_candidates(self, query: Pairs, places: I64) -> Pairs:
        pair, at = within(query.at, places)
        used, document = np.unique(query.document[pair], return_inverse=True)
        return Pairs(
            query.entity[places],
            at,
            document.astype(np.int32),
            query.mentions[pair],
            query.first[pair],
            query.confidence[pair],
            query.f[used],
            query.length[used],
            query.mentioned[used],
        )

    def fit(self, examples: Sequence[Example], seed: int) -> Self:
        x, at, weight = self._stack_pairs(examples, seed)
        middle, spread = x.mean(axis=0), x.std(axis=0)
        constants = np.array([F - 1, F + G - 1])
        middle[constants] = 0.0
        spread[(spread < 1e-12) | np.isin(np.arange(F + G), constants)] = 1.0
        objective = Likelihood((x - middle) / spread, at, weight, self.mean == "geometric", self.lam)
        draw = np.random.default_rng(seed)
        begins = [np.zeros(F + G), *(draw.normal(size=F + G) for _ in range(self.starts - 1))]
        _value, w = min((climb(objective, begin) for begin in begins), key=lambda found: found[0])
        plain = w / spread
        plain[constants[0]] -= plain[:F] @ middle[:F]
        plain[constants[1]] -= plain[F:] @ middle[F:]
        return replace(self, alpha=tuple(plain[:F].tolist()), beta=tuple(plain[F:].tolist()))

    def _stack_pairs(self, examples: Sequence[Example], seed: int) -> tuple[F64, I64, F64]:
        """Features of all pairs that train, where each entity's begin, and its weight, below 0 for a bad one."""
        rows, sizes, weights = [], [], []
        for example in examples:
            judged = example.judgments
            places = draw_candidates(judged, self.bad, seed_of(judged.entity, seed))
            good, bad = places[judged.grades[places] > 0], places[judged.grades[places] <= 0]
            x, size = rows_of(example.query, np.concatenate([good, bad]))
            rows.append(x)
            sizes.append(size)
            weights.append(np.repeat([0.5 / good.size, -0.5 / bad.size], [good.size, bad.size]))
        at = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
        return np.concatenate(rows), at, np.concatenate(weights)

    def values_of(self, query: Pairs) -> F64:
        return self._means(self._logs(query).sum(axis=0), query.at)

    def _logs(self, query: Pairs) -> F64:
        """(2, pairs): ln sigma of a document's relevance and of an association."""
        of_document = _log_sigmas(query.f @ np.array(self.alpha))
        return np.stack([of_document[query.document], _log_sigmas(query.g() @ np.array(self.beta))])

    def _means(self, logs: F64, at: I64) -> F64:
        if self.mean == "geometric":
            return Average().values(logs, at)
        values: F64 = LogSumExp().values(logs, at) - np.log(np.diff(at))
        return values

    def value_entities(self, contexts: Contexts) -> tuple[Evidence, F64]:
        self.check_fitted()
        evidence = nearest_mentions(contexts)
        logs = self._logs(pairs_of(contexts, evidence)[0]).sum(axis=0)
        return replace(evidence, scores=logs), self._means(logs, evidence.at)

    def _by_context(self, contexts: Contexts) -> F64:
        query, pair = pairs_of(contexts, nearest_mentions(contexts))
        return self._logs(query)[:, pair]

    def scores(self, contexts: Contexts) -> F64:
        """ln of sigma x sigma, the same for all mentions of an entity in a document."""
        scores: F64 = self._by_context(contexts).sum(axis=0)
        return scores

    def shares(self, contexts: Contexts, ranking: Ranking, i: int) -> F64:
        """ln P in proportion to sigma x sigma."""
        logs = ranking.scores_of(i)
        part = np.exp(logs - logs.max())
        shares: F64 = ranking.score[i] * part / part.sum()
        return shares

    def pieces(self, contexts: Contexts, row: int) -> list[Piece]:
        document, association = self._by_context(contexts)[:, row].tolist()
        return [Piece(self.name, -1, "document", document), Piece(self.name, -1, "association", association)]
