"""Fang, Si and Mathur's model against its formula, and what training promises."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from contracts.worlds import Document, Mention, World, worlds
from fader.errors import UsageError
from fader.features.noprox import NoProx
from fader.rank.ranking import explain_entity, rank_entities, rank_without
from fader.systems.base import parse_system
from fader.systems.fang import MEANS, F, Fang, G, Likelihood, climb
from systems.learning import TABLES, example, examples

F64 = NDArray[np.float64]
means = pytest.mark.parametrize("mean", MEANS)
weights = st.lists(st.floats(-3, 3), min_size=F + G, max_size=F + G)


def sigma(a: float) -> float:
    return 1 / (1 + math.exp(-a))


def slow_f(world: World, document: int) -> list[float]:
    """The noprox features of a document, by their formulas."""
    doc, N = world.documents[document], len(world.documents)
    idf = [math.log(1 + N / df) if df else 0.0 for df in world.df]
    tf = [world.tf(document, t) for t in range(world.literals)]
    square = sum(doc.tokens.count(w) ** 2 for w in set(doc.tokens))
    cosine = sum(n * i for n, i in zip(tf, idf, strict=True)) / math.sqrt(square * sum(i * i for i in idf))
    fold = 1.2 * (0.25 + 0.75 * len(doc.tokens) / (world.tokens / N))
    bm25 = sum(
        math.log(1 + (N - df + 0.5) / (df + 0.5)) * n * 2.2 / (n + fold)
        for n, df in zip(tf, world.df, strict=True)
        if n
    )
    matched = [i for n, i in zip(tf, idf, strict=True) if n]
    other = max(0, len(set(doc.tokens)) - len(matched))
    jaccard = sum(matched) / (sum(idf) + math.log(2) * other)
    dirichlet = sum(math.log(1 + n * N / cf) for n, cf in zip(tf, world.cf, strict=True) if n)
    return [cosine, bm25, jaccard, dirichlet, 1.0]


def slow_g(world: World, document: int, entity: int) -> list[float]:
    """The association features of an entity in a document."""
    doc = world.documents[document]
    mine = [m for m in doc.mentions if m.entity == entity]
    first, length = min(m.start for m in mine), len(doc.tokens)
    trust = sum(m.confidence for m in mine) / len(mine)
    return [math.log(1 + len(mine)), len(mine) / len(doc.mentions), first / length, trust, math.log(1 + length), 1.0]


def slow_values(world: World, alpha: list[float], beta: list[float], mean: str) -> dict[int, float]:
    """ln P(e|q), one entity at a time."""
    found = {}
    for entity in sorted({m.entity for _d, m in world.rows}):
        documents = sorted({d for d, m in world.rows if m.entity == entity})
        products = [
            sigma(math.fsum(w * x for w, x in zip(alpha, slow_f(world, d), strict=True)))
            * sigma(math.fsum(w * x for w, x in zip(beta, slow_g(world, d, entity), strict=True)))
            for d in documents
        ]
        if mean == "arithmetic":
            found[entity] = math.log(math.fsum(products) / len(products))
        else:
            found[entity] = math.log(math.prod(p ** (1 / len(products)) for p in products))
    return found


@means
@settings(deadline=None)
@given(worlds(), weights)
def test_values_are_those_of_the_formula(mean: str, world: World, w: list[float]) -> None:
    """ln P(e|q) with every feature written out."""
    ranker = Fang(mean=mean, alpha=tuple(w[:F]), beta=tuple(w[F:]))
    ranking = rank_entities(ranker, world.contexts(), 100)
    expected = slow_values(world, w[:F], w[F:], mean)
    assert dict(zip(ranking.entity.tolist(), ranking.score.tolist(), strict=True)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("mean", "alpha", "beta", "expected"),
    [
        ("arithmetic", 0.0, 0.0, 1 / 4),
        ("geometric", 0.0, 0.0, 1 / 4),
        ("arithmetic", math.log(3), 0.0, 3 / 8),
        ("arithmetic", math.log(3), 1.0, 17 / 32),
        ("geometric", math.log(3), 1.0, 3 / 4 * math.sqrt(1 / 2)),
    ],
)
def test_golden(mean: str, alpha: float, beta: float, expected: float) -> None:
    """Two documents, with two mentions of the entity and with one."""
    twice = Document((0, 5, 6), (Mention(1, 2, 0), Mention(2, 3, 0)))
    world = World((twice, Document((0, 5, 6), (Mention(1, 2, 0),))), 1)
    ranker = Fang(mean=mean, alpha=(0.0, 0.0, 0.0, 0.0, alpha), beta=(beta, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert math.exp(rank_entities(ranker, world.contexts(), 1).score[0]) == pytest.approx(expected, rel=1e-12)


@means
@settings(deadline=None)
@given(worlds(least=1), weights, st.integers(0, 99))
def test_a_ranking_can_be_explained(mean: str, world: World, w: list[float], pick: int) -> None:
    """Shares add up to the value, more for the likelier context; pieces to the context's score; what-if ranks anew."""
    ranker, contexts = Fang(mean=mean, alpha=tuple(w[:F]), beta=tuple(w[F:])), world.contexts()
    ranking = rank_entities(ranker, contexts, 100)
    assert np.isfinite(ranking.values).all()
    for i in range(ranking.entity.size):
        parts = explain_entity(ranker, contexts, ranking, i)
        assert parts.share.sum() == pytest.approx(ranking.score[i], rel=1e-9)
        assert parts.literal.sum(axis=0) == pytest.approx(parts.share, rel=1e-9)
        assert (parts.literal[contexts.distances[:, parts.row] < 0] == 0).all()
        assert (np.diff(-parts.share[np.argsort(parts.score)]) >= -1e-12).all()
        assert len({int(contexts.document[r]) for r in parts.row}) == parts.row.size == ranking.support[i]
        x = pick % parts.row.size
        pieces = ranker.pieces(contexts, int(parts.row[x]))
        assert sum(p.value for p in pieces) == pytest.approx(parts.score[x], rel=1e-9)
        assert ranker.scores(contexts)[parts.row] == pytest.approx(parts.score, rel=1e-9)
    i = pick % ranking.entity.size
    row = int(explain_entity(ranker, contexts, ranking, i).row[0])
    left = rank_entities(ranker, contexts.take(np.delete(np.arange(len(contexts)), row)), 100)
    found = [(n, s) for n, (e, s) in enumerate(zip(left.entity, left.score, strict=True), 1) if e == ranking.entity[i]]
    answer = rank_without(ranker, contexts, ranking, i, row)
    assert (answer.rank, answer.score) == (found[0] if found else (None, None))


def problem(mean: str, lam: float = 2.0) -> Likelihood:
    """A small training problem on features as they are."""
    x, at, weight = Fang(bad=2)._stack_pairs(examples(Fang()), 0)
    return Likelihood(x, at, weight, mean == "geometric", lam)


@means
@pytest.mark.parametrize("size", [0.0, 0.3, 5.0])
def test_the_gradient_is_that_of_the_likelihood(mean: str, size: float) -> None:
    """Against finite differences."""
    objective, w = problem(mean), size * np.random.default_rng(0).normal(size=F + G)
    step = 1e-5
    slow = [(objective(w + d)[0] - objective(w - d)[0]) / (2 * step) for d in step * np.eye(F + G)]
    assert objective(w)[1] == pytest.approx(slow, rel=1e-5, abs=1e-6)


@means
def test_the_likelihood_is_that_of_the_judged(mean: str) -> None:
    """sum_q of half the mean of ln P over the good and half that of ln(1 - P) over the bad."""
    w = np.random.default_rng(1).normal(size=F + G)
    trained = Fang(mean=mean, alpha=tuple(w[:F].tolist()), beta=tuple(w[F:].tolist()))
    total = 0.0
    for e in examples(trained):
        p, good = np.exp(trained.values_of(e.query)), e.judgments.grades > 0
        total += 0.5 * np.log(p[good]).mean() + 0.5 * np.log(1 - p[~good]).mean()
    x, at, weight = trained._stack_pairs(examples(trained), 0)
    found = Likelihood(x, at, weight, mean == "geometric", 2.0)(w)[0]
    assert found == pytest.approx(0.5 * w @ w / 4 - total, rel=1e-9)


@means
@pytest.mark.parametrize("seed", range(4))
def test_the_likelihood_never_falls_during_training(mean: str, seed: int) -> None:
    """From step to step, from any start."""
    objective, start = problem(mean), np.random.default_rng(seed).normal(size=F + G)
    seen = [objective(start)[0]]
    value, _w = climb(objective, start, lambda w: seen.append(objective(w)[0]))
    assert len(seen) > 3
    assert (np.diff(seen) <= 1e-12).all()
    assert value == pytest.approx(seen[-1])


@means
def test_extreme_weights_are_no_harm(mean: str) -> None:
    """Likelihood and gradient stay finite where every sigma is 0 or 1 in doubles."""
    objective = problem(mean)
    for size in (-900.0, 900.0):
        value, gradient = objective(np.full(F + G, size))
        assert math.isfinite(value)
        assert np.isfinite(gradient).all()


@means
def test_training_finds_what_is_in_the_data(mean: str) -> None:
    """The trained model is likelier than a constant, the same each time, and survives text and JSON."""
    learner = Fang(mean=mean, lam=30.0)
    trained = learner.fit(examples(learner), 0)
    assert trained == learner.fit(examples(learner), 0)
    assert trained.is_fitted
    assert not learner.is_fitted
    assert parse_system(str(trained)) == trained
    back = {k: tuple(v) if isinstance(v, list) else v for k, v in json.loads(json.dumps(asdict(trained))).items()}
    assert Fang(**back) == trained
    x, at, weight = trained._stack_pairs(examples(trained), 0)
    value = Likelihood(x, at, weight, mean == "geometric", 1e6)(np.array(trained.alpha + trained.beta))[0]
    assert value < len(TABLES) * math.log(2)  # P = 1/2 for all


def test_more_starts_are_never_worse() -> None:
    """The best of several starts is kept; the first is the same."""
    learner = Fang(mean="arithmetic", lam=100.0)
    x, at, weight = learner._stack_pairs(examples(learner), 0)
    objective = Likelihood(x, at, weight, False, 1e9)
    fits = [replace(learner, starts=n).fit(examples(learner), 0) for n in (1, 4)]
    one, four = (objective(np.array(f.alpha + f.beta))[0] for f in fits)
    assert four <= one + 1e-3


@means
def test_values_of_what_is_kept_are_those_ranked(mean: str) -> None:
    """`encode` keeps all that `rank` needs, thinned or not."""
    trained = Fang(mean=mean).fit(examples(Fang()), 0)
    for contexts in TABLES:
        query, values = trained.encode(contexts), rank_entities(trained, contexts, 10).values
        assert trained.values_of(query) == pytest.approx(values, rel=1e-12)
        places = np.arange(0, values.size, 2)
        thin = trained.take_candidates(query, places)
        assert thin.entity.tolist() == query.entity[places].tolist()
        assert trained.values_of(thin) == pytest.approx(values[places], rel=1e-12)


def test_few_bad_candidates_are_drawn_by_the_seed() -> None:
    """A query's draw depends on the seed and on itself, not on the other queries."""
    learner = Fang(bad=1)
    both, last = examples(learner)[:2], examples(learner)[1:2]
    _x, at, weight = learner._stack_pairs(both, 0)
    assert (weight < 0).sum() == 2
    alone = learner._stack_pairs(last, 0)[0]
    assert learner._stack_pairs(both, 0)[0][-alone.shape[0] :].tolist() == alone.tolist()
    assert at[-1] == learner._stack_pairs(both, 0)[0].shape[0]


def test_untrained_it_says_so() -> None:
    """It cannot rank before it is trained."""
    with pytest.raises(UsageError, match="must be trained"):
        rank_entities(Fang(), TABLES[0], 10)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mean": "harmonic"}, 'fang: mean must be arithmetic or geometric, not "harmonic"'),
        ({"lam": 0.0}, "fang: lam must be a number from"),
        ({"starts": 0}, "fang: starts must be a whole number from 1 on"),
        ({"bad": 0}, "fang: bad must be a whole number from 1 on"),
        ({"alpha": (1.0,)}, "fang: alpha and beta must have 5 and 6 numbers or none"),
        ({"alpha": (math.nan,) * F, "beta": (1.0,) * G}, "fang: alpha and beta must be finite"),
    ],
)
def test_bad_parameters_are_refused(given: dict[str, Any], message: str) -> None:
    """With the parameter, what it may be, and what it was."""
    with pytest.raises(UsageError, match=message):
        Fang(**given)


def test_f_is_noprox() -> None:
    """alpha has a number for each noprox feature, in their order."""
    assert NoProx().labels() == ["cosine", "bm25", "jaccard", "dirichlet", "constant"]
    assert example(Fang(), TABLES[0]).query.f.shape[1] == F
