"""RankSVM on contexts against vectors written out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from contracts.models import feature_model
from contracts.worlds import Document, Mention, World, worlds
from fader.aggregate.sum import Sum
from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.features.combined import feature_map
from fader.learn.learner import Example
from fader.measures import judge
from fader.rank.ranking import explain_entity, rank_entities
from fader.systems.base import parse_system
from fader.systems.ranksvm import Compared, Hinges, RankSVM, draw_pairs
from learn.cases import vectors
from systems.learning import TABLES, examples, grades_of

F64 = NDArray[np.float64]
SMALL = "noprox+rectangle(3x4)"


def slow_pairs(table: Contexts, features: str, pairs: int) -> tuple[F64, Compared]:
    """f(x) - f(y) of each pair, every mention a context, and the pairs."""
    learner = RankSVM(features=features, policy="mention", pairs=pairs)
    query = learner.encode(table)
    marked = judge(query.entity, query.entity.tolist(), grades_of(table)).grades > 0
    found = draw_pairs(query, marked, pairs, 0)
    f = vectors(learner.maps, table)[table.groups.order]
    of_entity = np.repeat(marked, np.diff(query.at))
    w = learner.maps.expand(np.random.default_rng(5).normal(size=learner.maps.size))
    scores, kept = query.scores(w), found.query.scores(w)  # contexts of equal scores have equal features

    def row(i: int, of: NDArray[np.bool_]) -> int:
        return int(np.flatnonzero(of & (np.abs(scores - kept[i]) < 1e-12))[0])

    apart = [f[row(a, of_entity)] - f[row(b, ~of_entity)] for a, b in zip(found.better, found.worse, strict=True)]
    return np.array(apart), found


def slow_objective(apart: list[F64], w: F64, lam: float) -> float:
    """Mean squared hinges of each query, and the ridge."""
    return float(sum((np.maximum(0, 1 - a @ w) ** 2).mean() for a in apart) + 0.5 * w @ w / lam**2)


def test_golden() -> None:
    """One pair, one feature of value 1 and 0: w = 2/3."""
    world = World((Document((0, 5, 5, 5, 5, 5, 5), (Mention(0, 1, 0), Mention(6, 7, 1))),), 1)
    learner, contexts = RankSVM(features="kernel(shape=step,width=2)"), world.contexts()
    query = learner.encode(contexts)
    trained = learner.fit([Example(query, judge(query.entity, [0, 1], {0: 1}))], 0)
    assert trained.weights == pytest.approx([2 / 3], rel=1e-4)
    assert rank_entities(trained, contexts, 2).score == pytest.approx([2 / 3, 0.0], rel=1e-4)


@pytest.mark.parametrize("features", [SMALL, "grid(2x3)+confidence", "noprox+coverage(3x4)"])
def test_objective_and_gradient_are_those_of_vectors(features: str) -> None:
    """On cells as on differences written out; the gradient as by finite differences."""
    slow, queries = zip(*(slow_pairs(table, features, 60) for table in TABLES), strict=True)
    maps = feature_map(features)
    objective = Hinges(maps, queries, 0.7)
    for size in (0.0, 0.1, 1.0):
        w = size * np.random.default_rng(2).normal(size=maps.size)
        value, gradient = objective(w)
        assert value == pytest.approx(slow_objective(list(slow), w, 0.7), rel=1e-9)
        numeric = [
            (slow_objective(list(slow), w + d, 0.7) - slow_objective(list(slow), w - d, 0.7)) / 2e-5
            for d in 1e-5 * np.eye(maps.size)
        ]
        assert gradient == pytest.approx(numeric, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0])
def test_training_finds_the_minimum(lam: float) -> None:
    """As low as a dense minimiser gets."""
    slow = [slow_pairs(table, SMALL, 60)[0] for table in TABLES]

    def value(w: F64) -> tuple[float, F64]:
        short = [np.maximum(0, 1 - a @ w) for a in slow]
        gradient = sum(-2 * a.T @ s / s.size for a, s in zip(slow, short, strict=True))
        return slow_objective(slow, w, lam), gradient + w / lam**2

    learner = RankSVM(features=SMALL, lam=lam, pairs=60, policy="mention")
    trained = learner.fit(examples(learner), 0)
    best = minimize(value, np.zeros(learner.maps.size), jac=True, options={"gtol": 1e-8})
    assert slow_objective(slow, np.array(trained.weights), lam) <= best.fun * (1 + 1e-4)


def test_pairs_are_contexts_of_good_and_of_bad_entities() -> None:
    """Every context of a good entity is compared, about as many pairs in all as asked for, never more than that
    where contexts are many; a draw does not depend on the other queries."""
    learner = RankSVM(features=SMALL)
    for table, e in zip(TABLES, examples(learner), strict=True):
        good = e.judgments.grades > 0
        size = int(np.diff(e.query.at)[good].sum())
        many, few = draw_pairs(e.query, good, 10 * size, 0), draw_pairs(e.query, good, 3, 0)
        assert np.unique(many.better).tolist() == list(range(size))
        assert many.better.size == many.worse.size == 10 * size
        assert (many.worse >= size).all()
        assert few.better.size == 3
        again = draw_pairs(learner.encode(table), good, 3, 0)
        assert again.query.scores(learner.maps.expand(np.ones(learner.maps.size))) == pytest.approx(
            few.query.scores(learner.maps.expand(np.ones(learner.maps.size)))
        )


@pytest.mark.parametrize("policy", ["document", "mention"])
def test_a_trained_one_is_a_pipeline(policy: str) -> None:
    """Features x sum with the learned weights; what is kept gives the same values, thinned or not."""
    learner = RankSVM(features=SMALL, policy=policy)
    trained = learner.fit(examples(learner), 0)
    assert trained == learner.fit(examples(learner), 0)
    assert parse_system(str(trained)) == trained
    assert min(trained.weights) < 0 < max(trained.weights)
    for contexts in TABLES:
        ranking = rank_entities(trained, contexts, 10)
        same = rank_entities(feature_model(SMALL, trained.weights, Sum(), policy), contexts, 10)
        assert ranking.entity.tolist() == same.entity.tolist()
        assert ranking.score.tolist() == same.score.tolist()
        query = trained.encode(contexts)
        assert trained.values_of(query) == pytest.approx(ranking.values, rel=1e-9, abs=1e-12)
        places = np.array([0, 2, 3])
        thin = trained.take_candidates(query, places)
        assert thin.entity.tolist() == query.entity[places].tolist()
        assert trained.values_of(thin) == pytest.approx(ranking.values[places], rel=1e-9, abs=1e-12)


@settings(deadline=None)
@given(worlds(least=1), st.lists(st.floats(-2, 2), min_size=6, max_size=6))
def test_values_are_sums_of_the_best_mentions(world: World, w: list[float]) -> None:
    """V(e) = sum over documents of the largest w . f, with vectors written out."""
    contexts, features = world.contexts(), "noprox+confidence"
    trained = RankSVM(features=features, weights=tuple(w))
    score = vectors(feature_map(features), contexts) @ np.array(w)
    expected: dict[int, dict[int, float]] = {}
    for x, (document, mention) in enumerate(world.rows):
        best = expected.setdefault(mention.entity, {})
        best[document] = max(best.get(document, -math.inf), float(score[x]))
    ranking = rank_entities(trained, contexts, 100)
    found = dict(zip(ranking.entity.tolist(), ranking.score.tolist(), strict=True))
    assert found == pytest.approx({e: math.fsum(v.values()) for e, v in expected.items()}, rel=1e-9, abs=1e-9)


def test_it_learns() -> None:
    """Contexts of good entities have the query's words beside them: most pairs of entities are in order."""
    learner = RankSVM(features=SMALL, lam=10.0)
    trained = learner.fit(examples(learner), 0)
    right = []
    for e in examples(learner):
        q = e.query.best(learner.maps.expand(np.array(trained.weights)))
        mean = trained.values_of(e.query) / np.diff(q.at)
        good = e.judgments.grades > 0
        right.append((mean[good][:, None] > mean[~good]).mean())
    assert np.mean(right) > 0.8


def test_untrained_it_says_so() -> None:
    """It cannot rank before it is trained."""
    with pytest.raises(UsageError, match="must be trained"):
        rank_entities(RankSVM(), TABLES[0], 10)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lam": -1.0}, "ranksvm: lam must be a number from"),
        ({"pairs": 0}, "ranksvm: pairs must be a whole number from 1 on"),
        ({"rounds": 0}, "ranksvm: rounds must be a whole number from 1 on"),
        ({"policy": "page"}, "ranksvm: policy must be one of document, mention"),
        ({"features": "noproxx"}, "unknown feature"),
        ({"features": "rectangle(edges=learned)"}, "ranksvm: features must have fixed edges"),
        ({"features": "noprox", "weights": (1.0,)}, "ranksvm: noprox needs 5 weights, not 1"),
        ({"features": "noprox", "weights": (math.inf,) * 5}, "ranksvm: weights must be finite"),
    ],
)
def test_bad_parameters_are_refused(given: dict[str, Any], message: str) -> None:
    """With the parameter, what it may be, and what it was."""
    with pytest.raises(UsageError, match=message):
        RankSVM(**given)


@settings(deadline=None)
@given(worlds(least=1), st.integers(0, 99))
def test_a_ranking_can_be_explained(world: World, seed: int) -> None:
    """Weights of any sign: shares add up to the value, literals to shares, pieces to the context's score."""
    maps = feature_map(SMALL)
    ranker = RankSVM(features=SMALL, weights=tuple(np.random.default_rng(seed).normal(size=maps.size).tolist()))
    contexts = world.contexts()
    ranking = rank_entities(ranker, contexts, 100)
    for i in range(ranking.entity.size):
        parts = explain_entity(ranker, contexts, ranking, i)
        assert parts.share.sum() == pytest.approx(ranking.score[i], rel=1e-9, abs=1e-9)
        assert parts.literal.sum(axis=0) == pytest.approx(parts.share, rel=1e-9, abs=1e-9)
        pieces = ranker.pieces(contexts, int(parts.row[0]))
        assert sum(p.value for p in pieces) == pytest.approx(parts.score[0], rel=1e-9, abs=1e-9)
