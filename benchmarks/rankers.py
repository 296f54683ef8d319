"""Rankers that other libraries train on one vector an entity: LightGBM's LambdaRank and a RankSVM by liblinear.

Both get the entity's contexts summed, the vectors that Fader's sum is linear in. What they cannot take is left out and
said: LightGBM has a limit of rows a query, the RankSVM a budget of pairs.

Knows vectors, offsets and labels; nothing of contexts or of Fader's training.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.common import Clock

MOST_ROWS = 10_000  # LightGBM refuses a query with more
PAIRS = 100_000


@dataclass(frozen=True)
class Vectors:
    """Entities of all queries: query q has the rows `at[q]:at[q+1]`."""

    rows: np.ndarray
    at: np.ndarray
    good: np.ndarray

    def of(self, query: int) -> slice:
        return slice(int(self.at[query]), int(self.at[query + 1]))


class Ranker(ABC):
    """`fit` on some queries, then `values` of any rows. `note` says how it was run; `package` what it needs."""

    name: str
    package: str
    note: str

    @abstractmethod
    def fit(self, vectors: Vectors, queries: np.ndarray, seed: int) -> Clock:
        """Train; the seconds of the training alone, without laying out its input."""

    @abstractmethod
    def values(self, rows: np.ndarray) -> np.ndarray: ...


class LambdaRank(Ranker):
    """Gradient-boosted trees with LambdaRank's loss."""

    name, package = "LightGBM LambdaRank", "lightgbm"

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.note = f"{rounds} trees, trained on {MOST_ROWS:,} candidates a query at most"
        self.model: Any = None

    def fit(self, vectors: Vectors, queries: np.ndarray, seed: int) -> Clock:
        import lightgbm

        draw = np.random.default_rng(seed)
        kept = [_thinned(vectors, int(q), draw) for q in queries]
        picked = np.concatenate(kept)
        data = lightgbm.Dataset(vectors.rows[picked], vectors.good[picked].astype(int), group=[k.size for k in kept])
        settings = {
            "objective": "lambdarank", "num_threads": 1, "deterministic": True, "force_row_wise": True, "seed": seed,
            "verbosity": -1,
        }  # fmt: skip
        with Clock() as clock:
            self.model = lightgbm.train(settings, data, self.rounds)
        return clock

    def values(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.model.predict(rows, num_threads=1))


def _thinned(vectors: Vectors, query: int, draw: np.random.Generator) -> np.ndarray:
    """Rows of a query: all good ones, and as many drawn ones of the others as are allowed."""
    rows = np.arange(*vectors.of(query).indices(vectors.rows.shape[0]))
    good = vectors.good[rows]
    if rows.size <= MOST_ROWS:
        return rows
    others = draw.choice(rows[~good], MOST_ROWS - int(good.sum()), replace=False)
    return np.sort(np.concatenate([rows[good], others]))


class RankSVM(Ranker):
    """A linear SVM on differences of good and bad vectors: Joachims, KDD 2002, solved by liblinear."""

    name, package = "liblinear RankSVM", "scikit-learn"

    def __init__(self, pairs: int) -> None:
        self.pairs = pairs
        self.note = f"{pairs:,} pairs drawn evenly over queries"
        self.weights = np.zeros(0)

    def fit(self, vectors: Vectors, queries: np.ndarray, seed: int) -> Clock:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import LinearSVC

        draw = np.random.default_rng(seed)
        scale = 1.0 / np.maximum(1e-12, np.sqrt(np.mean(vectors.rows**2, axis=0)))
        each = max(1, self.pairs // queries.size)
        apart = np.concatenate([_differences(vectors, int(q), each, draw) for q in queries]) * scale
        sign = np.where(draw.random(apart.shape[0]) < 0.5, -1.0, 1.0)
        svm = LinearSVC(loss="hinge", dual=True, fit_intercept=False, random_state=seed)
        with Clock() as clock, warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # said in the note
            svm.fit(apart * sign[:, None], sign)
        if svm.n_iter_ >= svm.max_iter:
            self.note += f", stopped after {svm.max_iter} passes"
        self.weights = svm.coef_[0] * scale
        return clock

    def values(self, rows: np.ndarray) -> np.ndarray:
        return rows @ self.weights


def _differences(vectors: Vectors, query: int, count: int, draw: np.random.Generator) -> np.ndarray:
    rows, good = vectors.rows[vectors.of(query)], vectors.good[vectors.of(query)]
    first, second = (draw.choice(np.flatnonzero(which), count) for which in (good, ~good))
    return rows[first] - rows[second]
