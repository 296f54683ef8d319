"""Small judged collections for the tests of learning, and the slow way to compute what is learned from them.

Queries are drawn tables of contexts (`contracts.tables`) with a grade for each of their ten entities. `Given` serves
them as datasets, as `fader.experiment.judged` does for an index. Nothing here is compiled or clever.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from contracts.tables import ENTITIES, TableColumns, contexts_of, sides_of
from fader.aggregate.base import Aggregator
from fader.contexts.table import Contexts
from fader.features.base import FeatureMap
from fader.learn.dataset import Dataset, View, dataset
from fader.learn.loss import Labels

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
Grades = dict[Hashable, int]
FAR = np.array([-1, -1, 0, 1, 1, 2, 3, 5, 8, 10, 20, 60, 300], dtype=np.int32)


@dataclass(frozen=True)
class Judged:
    """A query with the table of its contexts and its grades by entity number."""

    id: str
    columns: TableColumns
    grades: Grades

    @cached_property
    def contexts(self) -> Contexts:
        return contexts_of(self.columns)


def drawn_columns(random: np.random.Generator, rows: int, literals: int) -> TableColumns:
    """Contexts of ten entities in ten documents, several mentions of one entity in one document among them."""
    distances = random.choice(FAR, size=(literals, rows)).astype(np.int32)
    bare = (distances < 0).all(axis=0)
    distances[0, bare] = 4
    place = np.sort(random.integers(0, 310, size=rows)).astype(np.int32)
    return TableColumns(
        entity=random.choice(ENTITIES, size=rows).astype(np.int32),
        document=place // np.int32(31),
        start=place % np.int32(31),
        distances=distances,
        sides=sides_of(distances),
        confidence=np.linspace(1, 0.5, rows),
        df=random.integers(1, 50, size=literals).tolist(),
    )


def entities_of(columns: TableColumns) -> list[int]:
    """The candidates, ascending."""
    return [int(e) for e in np.unique(columns.entity)]


def drawn_queries(seed: int, queries: int = 6, rows: int = 40, good: float = 0.35) -> list[Judged]:
    """Judged queries, each with a good and a bad candidate, some of grade 2, some unjudged, one that is none."""
    random = np.random.default_rng(seed)
    out = []
    for q in range(queries):
        columns = drawn_columns(random, rows + 2 * q, 1 + q % 4)
        grades: Grades = {}
        for entity in entities_of(columns):
            draw = random.random()
            if draw < good:
                grades[entity] = 1 + (draw < good / 3)
            elif draw < 0.8:
                grades[entity] = -1 if draw > 0.75 else 0
        first, last = entities_of(columns)[0], entities_of(columns)[-1]
        grades |= {first: 1, last: 0, "nowhere": 1}
        out.append(Judged(f"q{q}", columns, grades))
    return out


class Given:
    """A source of datasets; remembers which queries edges were learned from."""

    def __init__(self, queries: Sequence[Judged]) -> None:
        self.queries = list(queries)
        self.learned_from: list[list[int]] = []

    @property
    def ids(self) -> list[str]:
        return [q.id for q in self.queries]

    def dataset(self, features: FeatureMap, view: View, training: I64) -> Dataset:
        if features.learns_edges:
            self.learned_from.append(training.tolist())
            features = features.fit_edges(self.queries[int(i)].contexts for i in training)
        return dataset(((q.id, q.contexts, q.grades) for q in self.queries), features, view)


def data_of(queries: Iterable[Judged], features: FeatureMap, policy: str = "document") -> Dataset:
    """The queries encoded."""
    return Given(list(queries)).dataset(features, View(policy), np.empty(0, dtype=np.int64))


def swapped(query: Judged) -> Judged:
    """The same query with good and bad candidates exchanged; what is unjudged becomes good too."""
    other: Grades = {e: int(query.grades.get(e, 0) <= 0) for e in entities_of(query.columns)}
    return replace(query, grades=other)


def vectors(features: FeatureMap, contexts: Contexts) -> F64:
    """f(x) of every context, written out: (contexts, weights)."""
    return np.stack([features.score(contexts, unit) for unit in np.eye(features.size)], axis=1)


def kept_rows(query: Judged, scores: F64, policy: str) -> dict[int, list[int]]:
    """The rows of each entity that count, by brute force."""
    rows: dict[int, list[int]] = {e: [] for e in entities_of(query.columns)}
    for e, mine in rows.items():
        best: dict[int, int] = {}
        for x in range(scores.size):
            if query.columns.entity[x] == e:
                key = int(query.columns.document[x]) if policy == "document" else x
                if key not in best or scores[x] > scores[best[key]]:
                    best[key] = x
        mine += [best[key] for key in sorted(best)]
    return rows


def slow_values(query: Judged, features: FeatureMap, w: F64, aggregator: Aggregator, policy: str) -> F64:
    """V(e) of each candidate, from vectors written out, one entity at a time."""
    scores = vectors(features, query.contexts) @ w
    out = []
    for rows in kept_rows(query, scores, policy).values():
        at = np.array([0, len(rows)], dtype=np.int64)
        out.append(float(aggregator.loss_values(scores[rows], at)[0]))
    return np.array(out)


def slow_labels(query: Judged, judged_only: bool = False) -> list[int]:
    """The grade of each candidate that is good, 0 for bad, -1 for one that does not train."""
    unjudged = -1 if judged_only else 0
    return [max(query.grades[e], 0) if e in query.grades else unjudged for e in entities_of(query.columns)]


def labels(label: Sequence[Sequence[int]], weight: Sequence[float]) -> Labels:
    """Labels of some queries."""
    at = np.cumsum([0, *map(len, label)]).astype(np.int64)
    flat = np.array([x for query in label for x in query], dtype=np.int32)
    return Labels(at, flat, np.array(weight, dtype=np.float64))


def soft_hinge(a: float) -> float:
    return max(a, 0.0) + math.log1p(math.exp(-abs(a)))


def slow_pairwise(values: Sequence[float], label: Sequence[int]) -> float:
    """The paper's loss of one query; 0 without a pair."""
    good = [v for v, y in zip(values, label, strict=True) if y > 0]
    bad = [v for v, y in zip(values, label, strict=True) if y == 0]
    pairs = [soft_hinge(1 + b - g) for g in good for b in bad]
    return math.fsum(pairs) / len(pairs) if pairs else 0.0


def slow_listwise(values: Sequence[float], label: Sequence[int]) -> float:
    """Each good entity against all bad ones; 0 where there are not both."""
    bad = [v for v, y in zip(values, label, strict=True) if y == 0]
    each = [soft_hinge(_log_sum([b - v for b in bad])) for v, y in zip(values, label, strict=True) if y > 0 and bad]
    return math.fsum(each) / len(each) if each else 0.0


def _log_sum(values: Sequence[float]) -> float:
    top = max(values)
    return top + math.log(math.fsum(math.exp(v - top) for v in values))


def slow_softmax(values: Sequence[float], label: Sequence[int]) -> float:
    """ListNet's loss of one query; 0 without a grade above 0."""
    kept = [(v, y) for v, y in zip(values, label, strict=True) if y >= 0]
    gains = sum(y for _v, y in kept)
    if not gains:
        return 0.0
    top = max(v for v, _y in kept)
    level = top + math.log(math.fsum(math.exp(v - top) for v, _y in kept))
    return math.fsum(y / gains * (level - v) for v, y in kept)


def slow_ndcg(values: Sequence[float], label: Sequence[int], held: Sequence[float]) -> float:
    """The NDCG-weighted pairs of one query, with places by held values, equal ones in their order."""
    kept = [e for e, y in enumerate(label) if y >= 0]
    order = sorted(kept, key=lambda e: -held[e])
    discount = {e: 1 / math.log2(2 + place) for place, e in enumerate(order)}
    ideal = math.fsum(
        y / math.log2(2 + place) for place, y in enumerate(sorted((label[e] for e in kept), reverse=True))
    )
    return math.fsum(
        (label[i] - label[j]) * abs(discount[i] - discount[j]) / ideal * soft_hinge(1 + values[j] - values[i])
        for i in kept
        for j in kept
        if label[i] > label[j]
    )


def slow_loss(name: str, values: Sequence[float], label: Sequence[int], held: Sequence[float]) -> float:
    """A loss of one query by name."""
    if name == "ndcg":
        return slow_ndcg(values, label, held)
    slow = {"pairwise": slow_pairwise, "listwise": slow_listwise, "softmax": slow_softmax}[name]
    return slow(values, label)


def summed(query: Judged, features: FeatureMap, w: F64, policy: str) -> F64:
    """The feature vectors of each entity's contexts that count under w, added up: (entities, weights)."""
    f = vectors(features, query.contexts)
    return np.stack([f[rows].sum(axis=0) for rows in kept_rows(query, f @ w, policy).values()])


def best_of(
    matrices: Sequence[F64],
    labels: Sequence[Sequence[int]],
    loss: str,
    penalty: F64,
    start: F64,
    free: Sequence[bool] | None = None,
) -> tuple[float, F64]:
    """The least objective over w >= 0 (but for free weights) and where it is, by scipy on dense pairs."""
    pairs, shares, lists = [], [], []
    for x, label in zip(matrices, labels, strict=True):
        y = np.array(label)
        apart = (x[y == 0][None, :, :] - x[y > 0][:, None, :]).reshape(-1, x.shape[1])
        pairs.append(apart)
        shares.append(np.full(len(apart), 1 / max(1, len(apart))))
        lists.append((x[y >= 0], y[y >= 0] / max(1, y[y >= 0].sum())))
    every, share = np.concatenate(pairs), np.concatenate(shares)

    def objective(w: F64) -> tuple[float, F64]:
        total, gradient = 0.5 * w @ penalty @ w, penalty @ w
        if loss == "pairwise":
            a = 1 + every @ w
            return total + share @ np.logaddexp(0, a), gradient + every.T @ (share * np.exp(-np.logaddexp(0, -a)))
        for x, target in lists:
            level = np.logaddexp.reduce(x @ w)
            total += target @ (level - x @ w)
            gradient = gradient + x.T @ (np.exp(x @ w - level) - target)
        return total, gradient

    bounds = [(None if unbound else 0, None) for unbound in (free if free is not None else [False] * start.size)]
    options = {"maxiter": 20_000, "maxfun": 50_000, "maxcor": 50, "ftol": 1e-16, "gtol": 1e-11}
    found: Any = None
    for _ in range(3):  # started again where it stopped, as its line search may give up early
        found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        start = found.x
    return float(found.fun), found.x


QUERIES_OF_MODELS = drawn_queries(41, queries=3, rows=25)
