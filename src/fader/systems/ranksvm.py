"""RankSVM on contexts: every context of a good entity should score higher than those of bad ones; scores are added up.

    minimise over w   sum_q 1/|P_q| sum over pairs (x, y) in P_q of max(0, 1 - w.(f(x) - f(y)))^2  +  w.w / (2 lam^2)
    V(e) = sum over contexts of e of  w . f(x)

Joachims has the hinge max(0, 1 - ...); this has its square, as Chapelle & Keerthi do, and so it is not his objective.
The square is smooth, so that L-BFGS, which fits Fader's other linear models, solves it as it stands; the hinge has
kinks, which call for another solver. Both are 0 for the same pairs; of the others the square punishes margins missed by
more than 1 harder, and those missed by less more mildly.

Pairs P_q: each context x of a good entity with contexts y of bad ones of the same query, drawn evenly, about `pairs` in
all; where there are more contexts of good entities than that, so many of them are drawn. The judgments are of entities,
but it is contexts that are compared: which is what the aggregating models do better. Weights may have any sign. The
problem is convex; L-BFGS solves it on the cells of contexts, without vectors. Under the policy `document` the mention
that counts is the one that scores best: chosen by the weights that the features start with, then by those found, until
the choice stays or for `rounds` rounds.

Golden case: one pair, one feature of value 1 and 0: (1 - w)^2 + w^2 / (2 lam^2) is least at w = 2/3 for lam = 1.
Joachims, "Optimizing search engines using clickthrough data", KDD 2002; the squared hinge and the primal problem:
Chapelle & Keerthi, "Efficient algorithms for ranking with SVMs", Information Retrieval 13, 2010. Knows
nothing of folds.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import scipy  # its subpackages load when they are first used
from numpy.typing import NDArray

from fader.aggregate.sum import Sum
from fader.contexts.policy import check_policy
from fader.contexts.table import Contexts
from fader.errors import UsageError, quote
from fader.features.base import Codes, FeatureMap, cell_values
from fader.features.combined import Combined, as_text, feature_map
from fader.kernel import kernel
from fader.lazy import cached_property
from fader.learn.dataset import QueryData, query_data
from fader.learn.learner import Example, Learner
from fader.learn.objective import sum_vectors
from fader.measures import judge
from fader.rank.system import FeatureScorer, FeatureScoring
from fader.systems.shared.thinning import seed_of, some_groups, within

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
SAMPLED_ROWS = 32  # contexts of a query that say how large features are


@dataclass(frozen=True, slots=True)
class Compared:
    """Some contexts of one query, and which of them are compared: group better[i] should score above worse[i]."""

    query: QueryData
    better: I64
    worse: I64

    def best(self, cells: F64) -> Compared:
        """With the mentions that count."""
        return replace(self, query=self.query.best(cells))


def draw_pairs(query: QueryData, good: NDArray[np.bool_], pairs: int, seed: int) -> Compared:
    """About so many pairs of a query whose good candidates are known."""
    draw = np.random.default_rng(seed_of(query.entity, seed))
    better, worse = within(query.at, np.flatnonzero(good))[0], within(query.at, np.flatnonzero(~good))[0]
    if better.size > pairs:
        better = np.sort(draw.choice(better, size=pairs, replace=False))
    drawn = worse[draw.integers(0, worse.size, size=(better.size, max(1, pairs // better.size)))].reshape(-1)
    used, place = np.unique(drawn, return_inverse=True)
    groups = np.concatenate([better, used])
    kept = some_groups(query, groups, np.array([0, groups.size]), query.judgments)
    return Compared(kept, np.repeat(np.arange(better.size), drawn.size // better.size), better.size + place)


@kernel
def _hinges(scores: F64, better: I64, worse: I64, slopes: F64) -> float:
    """The mean squared hinge of pairs; adds its slope by score."""
    total = 0.0
    for i in range(better.size):
        short = 1.0 - scores[better[i]] + scores[worse[i]]
        if short > 0:
            total += short * short
            pull = 2.0 * short / better.size
            slopes[better[i]] -= pull
            slopes[worse[i]] += pull
    return total / better.size


class Hinges:
    """What training minimises, with its gradient, given the contexts that count."""

    def __init__(self, features: FeatureMap, queries: Sequence[Compared], lam: float) -> None:
        self.features, self.queries, self.lam = features, queries, lam

    def __call__(self, w: F64) -> tuple[float, F64]:
        blocks = self.queries[0].query.blocks
        cells = cell_values(blocks, self.features.expand(w))
        counted = [np.zeros(c.size) for c in cells]
        total, one = 0.0, np.ones(1)
        for q in self.queries:
            slopes = np.zeros(q.query.rows)
            total += _hinges(q.query.scores_by_block(cells), q.better, q.worse, slopes)
            q.query.add_histogram(slopes, one, counted)
        whole = [c[:-1] if isinstance(b, Codes) else c for b, c in zip(blocks, counted, strict=True)]
        gradient = self.features.collapse(np.concatenate(whole))
        return total + 0.5 * float(w @ w) / self.lam**2, gradient + w / self.lam**2

    def scale(self) -> F64:
        """1/sqrt of about the curvature along each weight, from some contexts of each query."""
        squares = np.zeros(self.features.size)
        for q in self.queries:
            rows = np.arange(0, q.query.rows, 1 + q.query.rows // SAMPLED_ROWS)
            each = judge(rows.astype(np.int32), rows.tolist(), {})
            some = some_groups(q.query, rows, np.arange(rows.size + 1), each)
            squares += (sum_vectors(some, self.features) ** 2).mean(axis=0)
        scale: F64 = 1.0 / np.sqrt(1.0 / self.lam**2 + 2.0 * squares)
        return scale


def least(objective: Hinges, start: F64) -> F64:
    """The weights that are best."""
    scale = objective.scale()

    def evaluate_scaled(v: F64) -> tuple[float, F64]:
        value, gradient = objective(v * scale)
        return value, gradient * scale

    options = {"maxiter": 500, "maxfun": 1000, "maxcor": 20, "ftol": 1e-7, "gtol": 1e-6}
    found = scipy.optimize.minimize(evaluate_scaled, start / scale, jac=True, method="L-BFGS-B", options=options)
    w: F64 = found.x * scale
    return w


@dataclass(frozen=True)
class RankSVM(FeatureScorer, Learner):
    """Pairs of contexts with a squared hinge, then the sum: Joachims 2002 at context level.

    `weights` are learned; `lam` is the lambda of the ridge, `pairs` about how many pairs a query has.
    """

    name: ClassVar[str] = "ranksvm"
    citation: ClassVar[str] = "Joachims, Optimizing search engines using clickthrough data, KDD 2002"
    learned: ClassVar[tuple[str, ...]] = ("weights",)
    tries: ClassVar[Mapping[str, tuple[str, ...]]] = {"lam": ("0.1", "0.3", "1", "3", "10")}
    features: str = "noprox+rectangle"
    lam: float = 1.0
    pairs: int = 1000
    rounds: int = 3
    policy: str = "document"
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_policy(self.policy, self.name)
        object.__setattr__(self, "features", as_text(self.features))
        if self.maps.learns_edges:
            raise UsageError(f"{self.name}: features must have fixed edges, not {quote(self.features)}")
        if not 1e-6 <= self.lam <= 1e6:
            raise UsageError(f"{self.name}: lam must be a number from 0.000001 to 1,000,000, not {quote(self.lam)}")
        for key, value in (("pairs", self.pairs), ("rounds", self.rounds)):
            if not isinstance(value, int) or value < 1:
                raise UsageError(f"{self.name}: {key} must be a whole number from 1 on, not {quote(value)}")
        if self.weights and len(self.weights) != self.maps.size:
            raise UsageError(
                f"{self.name}: {self.features} needs {self.maps.size} weights, not {len(self.weights)}; train it again"
            )
        if not np.isfinite(self.weights).all():
            raise UsageError(f"{self.name}: weights must be finite; train it again")

    @cached_property
    def maps(self) -> Combined:
        """The feature maps in use."""
        return feature_map(self.features)

    @property
    def is_fitted(self) -> bool:
        return len(self.weights) > 0

    @property
    def encoding(self) -> Hashable:
        return self.name, self.features, self.policy

    @property
    def feature_scoring(self) -> FeatureScoring:
        self.check_fitted()
        return FeatureScoring(self.maps, np.array(self.weights), Sum(), self.policy)

    def encode(self, contexts: Contexts) -> QueryData:
        return query_data("", contexts, self.maps, self.policy, {})

    def take_candidates(self, query: QueryData, places: I64) -> QueryData:
        return query.of(places)

    def fit(self, examples: Sequence[Example], seed: int) -> Self:
        every = [draw_pairs(e.query, e.judgments.grades > 0, self.pairs, seed) for e in examples]
        w, choice = np.zeros(self.maps.size), self.maps.start()
        before: list[Compared] = []
        for _ in range(self.rounds):
            cells = self.maps.expand(choice)
            chosen = [q.best(cells) for q in every]
            if before and all(a.query.same_rows(b.query) for a, b in zip(before, chosen, strict=True)):
                break
            w = choice = least(Hinges(self.maps, chosen, self.lam), w)
            before = chosen
        return replace(self, weights=tuple(w.tolist()))

    def values_of(self, query: QueryData) -> F64:
        cells = self.maps.expand(np.array(self.weights))
        best = query.best(cells)
        return Sum().values(best.scores(cells), best.at)
