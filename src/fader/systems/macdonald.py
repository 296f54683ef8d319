"""Learned voting: a model over many voting techniques at once, each by several weighting models and cutoffs.

    linear        V(e) = sum_f w_f f(e), with f the features of systems/ladder.py (weighting model x cutoff x technique,
                  each from 0 to 1 over the query's candidates), and w of any sign minimising

                      sum over queries of 1/(|G||B|) sum_{g,b} ln(1 + exp(1 + V(b) - V(g)))  +  |w|^2 / (2 lam^2)

    lambdamart    V(e) = a sum of regression trees on the same features (systems/forest.py), the grades as gains and
                  1/lam^2 the penalty of leaves

The linear objective is convex; L-BFGS finds its minimum in variables in which the curvature at w = 0 is about one.
Learning sees all good candidates of a query and at most `bad` others, drawn by seed and query: each counts for as many
as it was drawn from, so that the loss is the same in expectation. All candidates are ranked, also those without a vote.

A context is worth the mean over the weighting models of 1/rank of its document; the value of an entity is shared by
its contexts in proportion to that, since techniques such as the median have no parts of their own. Golden case: one
model, technique votes and cutoff 0, weight 2; a is in three documents, b in two and c in one: values 2, 1, 0.

Macdonald & Ounis, "Learning models for ranking aggregates", ECIR 2011; Burges, "From RankNet to LambdaRank to
LambdaMART", 2010. Knows nothing of how documents get their scores, or of folds.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import scipy  # its subpackages load when they are first used
from numpy.typing import NDArray

from fader.contexts.policy import Evidence, select
from fader.contexts.table import Contexts
from fader.errors import UsageError, quote
from fader.learn.dataset import draw_candidates
from fader.learn.learner import Example, Learner
from fader.learn.loss import Labels, Loss
from fader.learn.objective import Sparse
from fader.learn.threads import one_blas_thread
from fader.learn.train import check_lambda
from fader.rank.system import Ranking
from fader.systems.shared.forest import (
    LEAVES,
    TREES,
    check_forest,
    check_rate,
    check_sizes,
    grow_forest,
    lightgbm,
    predict,
)
from fader.systems.shared.ladder import MOST_COLUMNS, Rungs, rungs
from fader.systems.shared.thinning import seed_of
from fader.systems.shared.weighting import MODELS, check_model, document_ranking
from fader.systems.voting import TECHNIQUES, check_technique

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

LEARNERS = ("linear", "lambdamart")
CURVED_QUERIES = 40  # so many show how the loss is curved at 0
MOST = 10**9
FLAT = 0.25 * (1.0 - np.tanh(0.5) ** 2)  # the soft hinge's second derivative at a margin of 0, sigma(1) sigma(-1)


@dataclass(frozen=True)
class Macdonald(Learner):
    """Many voting techniques, weighting models and cutoffs at once, weighed by learning; a cutoff of 0 is none."""

    name: ClassVar[str] = "macdonald"
    citation: ClassVar[str] = "Macdonald & Ounis, Learning models for ranking aggregates, ECIR 2011"
    learned: ClassVar[tuple[str, ...]] = ("weights", "forest")
    tries: ClassVar[Mapping[str, tuple[str, ...]]] = {"lam": ("0.03", "0.1", "0.3", "1", "3")}
    policy = "document"
    learner: str = "linear"
    models: str = "/".join(MODELS)
    techniques: str = "/".join(TECHNIQUES)
    cutoffs: tuple[float, ...] = (10, 30, 100, 300, 1000, 0)
    lam: float = 1.0
    bad: int = 500
    trees: int = 100
    leaves: int = 15
    rate: float = 0.1
    weights: tuple[float, ...] = ()
    forest: str = ""

    def __post_init__(self) -> None:
        if self.learner not in LEARNERS:
            known = " or ".join(LEARNERS)
            raise UsageError(f"{self.name}: learner must be {known}, not {quote(self.learner)}")
        for model in self._names("models"):
            check_model(model, self.name)
        for technique in self._names("techniques"):
            check_technique(technique, self.name)
        self._check_cutoffs()
        check_lambda(self.lam)
        self._check_sizes()
        if self.weights and len(self.weights) != self.size:
            raise UsageError(f"{self.name}: {len(self.weights)} weights for {self.size} features; train it anew")
        if not np.isfinite(self.weights).all():
            raise UsageError(f"{self.name}: weights must be finite")
        if self.forest:
            check_forest(self.name, "forest", self.forest)

    def _names(self, field: str) -> list[str]:
        names: list[str] = getattr(self, field).split("/")
        if len(set(names)) < len(names):
            raise UsageError(f"{self.name}: {field} has one more than once in {quote('/'.join(names))}")
        return names

    def _check_cutoffs(self) -> None:
        ends = [n or np.inf for n in self.cutoffs]
        whole = all(0 <= n < np.inf and n == int(n) for n in self.cutoffs)
        if not ends or not whole or any(b <= a for a, b in pairwise(ends)):
            shown = "/".join(f"{n:g}" for n in self.cutoffs)
            raise UsageError(
                f"{self.name}: cutoffs must be numbers of documents that rise, with 0 for all as the last one, as in "
                f"10/100/0, not {quote(shown)}"
            )

    def _check_sizes(self) -> None:
        bounds = {"bad": (1, MOST), "trees": TREES, "leaves": LEAVES}
        check_sizes(self.name, {key: (getattr(self, key), bound) for key, bound in bounds.items()})
        check_rate(self.name, self.rate)
        if self.size > MOST_COLUMNS:
            models, techniques = len(self._names("models")), len(self._names("techniques"))
            raise UsageError(
                f"{self.name}: at most {MOST_COLUMNS:,} features, not {models} models x {techniques} techniques x "
                f"{len(self.cutoffs):,} cutoffs = {self.size:,}; give fewer cutoffs"
            )

    def check_packages(self) -> None:
        if self.learner == "lambdamart":
            lightgbm(self.name)

    @property
    def size(self) -> int:
        """How many features there are."""
        return len(self._names("models")) * len(self._names("techniques")) * len(self.cutoffs)

    @property
    def is_fitted(self) -> bool:
        return bool(self.weights if self.learner == "linear" else self.forest)

    @property
    def encoding(self) -> Hashable:
        return (self.name, self.models, self.techniques, self.cutoffs)

    def encode(self, contexts: Contexts) -> Rungs:
        cutoffs = [int(n) for n in self.cutoffs]
        return rungs(contexts, self._names("models"), self._names("techniques"), cutoffs)

    def take_candidates(self, query: Rungs, places: I64) -> Rungs:
        return query.take(places)

    def values_of(self, query: Rungs) -> F64:
        self.check_fitted()
        if self.learner == "linear":
            return query.times(np.array(self.weights))
        return predict(self.name, "forest", self.forest, query.to_dense())

    def fit(self, examples: Sequence[Example], seed: int) -> Self:
        features, grades = [], []
        for example in examples:
            judgments = example.judgments
            places = draw_candidates(judgments, self.bad, seed_of(judgments.entity, seed))
            features.append(example.query.take(places))
            grades.append(np.maximum(judgments.grades[places], 0).astype(np.int32))
        if self.learner == "linear":
            return replace(self, weights=tuple(fit_weights(features, grades, self.lam).tolist()))
        tables = [query.to_dense() for query in features]
        settings = {"num_leaves": self.leaves, "learning_rate": self.rate, "lambda_l2": self.lam**-2}
        return replace(self, forest=grow_forest(self.name, tables, grades, self.trees, seed, settings))

    def scores(self, contexts: Contexts) -> F64:
        """The mean reciprocal rank of each context's document."""
        models = self._names("models")
        total = np.zeros(contexts.matching.length.size)
        for model in models:
            ranking = document_ranking(contexts, model)
            total[ranking] += 1.0 / np.arange(1.0, ranking.size + 1.0)
        return (total / len(models))[contexts.matching.row]

    def value_entities(self, contexts: Contexts) -> tuple[Evidence, F64]:
        self.check_fitted()
        return select(contexts, self.scores(contexts), self.policy), self.values_of(self.encode(contexts))

    def shares(self, contexts: Contexts, ranking: Ranking, i: int) -> F64:
        worth = ranking.scores_of(i)
        whole: F64 = worth / worth.sum() * ranking.score[i]
        return whole


def fit_weights(features: Sequence[Rungs], labels: Sequence[I32], lam: float) -> F64:
    """The weights of least pairwise loss + |w|^2 / (2 lam^2)."""
    with one_blas_thread():
        sparse = _join_queries(features)
        loss = Loss("pairwise", Labels(sparse.at, np.concatenate(labels), np.ones(len(labels))))
        root = scipy.linalg.cholesky(_curvature(features, labels) + np.eye(sparse.cells) / lam**2)

        def objective(v: F64) -> tuple[float, F64]:
            w = scipy.linalg.solve_triangular(root, v)
            total, pull = loss(sparse.times(w, loss.labels.weight))
            slope = sparse.multiply_transposed(pull, loss.labels.weight) + w / lam**2
            return total + 0.5 * float(w @ w) / lam**2, scipy.linalg.solve_triangular(root, slope, trans="T")

        options = {"maxiter": 500, "maxfun": 1000, "maxcor": 30, "ftol": 1e-11, "gtol": 1e-5}
        found: Any = scipy.optimize.minimize(
            objective, np.zeros(sparse.cells), jac=True, method="L-BFGS-B", options=options
        )
        return np.asarray(scipy.linalg.solve_triangular(root, found.x))


def _join_queries(features: Sequence[Rungs]) -> Sparse:
    """All queries' candidates, laid end to end."""
    sizes = np.concatenate([[0], *(np.diff(query.at) for query in features)])
    column = np.concatenate([query.column for query in features]).astype(np.int32)
    data = np.concatenate([query.data for query in features]).astype(np.float64)
    at = np.cumsum([0, *(query.entity.size for query in features)]).astype(np.int64)
    return Sparse(np.cumsum(sizes).astype(np.int64), column, data, at, features[0].columns)


def _curvature(features: Sequence[Rungs], labels: Sequence[I32]) -> F64:
    """The Hessian of the loss at w = 0, from some of the queries: the mean of d d' over pairs, d = f(g) - f(b)."""
    step = 1 + (len(features) - 1) // CURVED_QUERIES
    total, chosen = np.zeros((features[0].columns, features[0].columns)), range(0, len(features), step)
    for q in chosen:
        table, good = features[q].to_dense(), labels[q] > 0
        share = np.where(good, 1.0 / max(1, good.sum()), 1.0 / max(1, (~good).sum())).astype(np.float32)
        means = [(table[side] * share[side, None]).sum(axis=0) for side in (good, ~good)]
        cross = np.outer(means[0], means[1])
        total += table.T @ (table * share[:, None]) - cross - cross.T
    # Rounding of 32-bit products may leave it slightly asymmetric or indefinite.
    total = 0.5 * (total + total.T) + 1e-5 * np.trace(total) * np.eye(total.shape[0])
    hessian: F64 = total * (FLAT * len(features) / len(chosen))
    return hessian
