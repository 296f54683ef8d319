"""EntityRank against its formula in plain Python, its golden case, and its limits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.worlds import Document, Mention, World, worlds
from fader.rank.ranking import explain_entity, rank_entities
from fader.rank.system import Ranking
from fader.systems.base import parse_system
from fader.systems.entityrank import EntityRank, compute_signed_g
from systems.windows import literals_of, shares_of_idf, window


def g(o: float, r: float) -> float:
    """The signed G statistic, where both are above 0 and below 1."""
    o, r = (min(max(p, 1e-300), 1 - 1e-16) for p in (o, r))
    value = 2 * (o * math.log(o / r) + (1 - o) * (math.log1p(-o) - math.log1p(-r)))
    return value if o >= r else -value


def oracle(world: World, test: bool) -> dict[int, float]:
    """The formula, a document and a mention after the other."""
    shares, matching, N = shares_of_idf(world), world.matching, len(world.documents)
    share = {d: sum(shares[t] for t in literals_of(world, d)) for d in matching}
    priors = sum(world.documents[d].prior for d in matching) / len(matching) * N
    p = {d: world.documents[d].prior / priors for d in matching}
    sizes = [window(world, d, m)[1] for d, m in world.rows]
    best: dict[tuple[int, int], float] = {}
    for (d, m), size in zip(world.rows, sizes, strict=True):
        sure_and_near = m.confidence * sum(s >= size for s in sizes) / len(sizes)
        best[m.entity, d] = max(best.get((m.entity, d), 0.0), sure_and_near)
    mean = sum(best.values()) / len(best)
    of_query = sum(p[d] * share[d] for d in matching)
    found = {}
    for e in {entity for entity, _d in best}:
        mine = [d for entity, d in best if entity == e]
        observed = sum(p[d] * best[e, d] * share[d] for d in mine)
        of_entity = sum(p[d] for d in mine) + (world.documents_with(e) - len(mine)) / N
        found[e] = g(observed, of_entity * of_query * mean) if test else observed
    return found


def values(ranking: Ranking) -> dict[int, float]:
    return dict(zip(ranking.entity.tolist(), ranking.score.tolist(), strict=True))


@settings(deadline=None)
@given(worlds(least=1), st.booleans())
def test_values_are_those_of_the_formula(world: World, test: bool) -> None:
    """With the test and without."""
    found = values(rank_entities(EntityRank(test=test), world.contexts(), 100))
    assert found == pytest.approx(oracle(world, test), abs=1e-9, rel=1e-9)


@settings(deadline=None)
@given(worlds(least=1), st.booleans())
def test_shares_add_up(world: World, test: bool) -> None:
    """What contexts add makes the value, and what literals add makes that."""
    contexts, ranker = world.contexts(), EntityRank(test=test)
    ranking = rank_entities(ranker, contexts, 100)
    for i in range(ranking.entity.size):
        parts = explain_entity(ranker, contexts, ranking, i)
        assert parts.share.sum() == pytest.approx(ranking.score[i], rel=1e-9, abs=1e-12)
        assert parts.literal.sum(axis=0) == pytest.approx(parts.share, rel=1e-9, abs=1e-12)


def golden(prior: float = 1.0, elsewhere: bool = True) -> World:
    """Entity 1 is E, entity 2 is F, which the fourth document, that does not match, may mention as well."""
    return World(
        (
            Document((0, 5), (Mention(1, 2, 1),), prior),
            Document((0, 6, 5), (Mention(2, 3, 1),), prior),
            Document((5, 0), (Mention(0, 1, 2),), prior),
            Document((7,), (Mention(0, 1, 2),) if elsewhere else (), prior),
        ),
        1,
    )


@pytest.mark.parametrize("prior", [1.0, 0.25, 0.0, 1e308, 5e-324])
def test_golden(prior: float) -> None:
    """Equal priors are uniform ones, also if they are all 0, or so large or small that sums leave the doubles."""
    contexts = golden(prior).contexts()
    assert values(rank_entities(EntityRank(test=False), contexts, 9)) == pytest.approx({1: 1 / 3, 2: 1 / 4})
    tested = values(rank_entities(EntityRank(), contexts, 9))
    assert tested == pytest.approx({1: g(1 / 3, 7 / 24), 2: g(1 / 4, 7 / 24)})
    assert tested == pytest.approx({1: 0.00819, 2: -0.00866}, abs=1e-5)
    rare = values(rank_entities(EntityRank(), golden(prior, elsewhere=False).contexts(), 9))
    assert rare == pytest.approx({1: g(1 / 3, 7 / 24), 2: g(1 / 4, 7 / 48)})
    assert rare == pytest.approx({1: 0.00819, 2: 0.07442}, abs=1e-5)


@settings(deadline=None)
@given(worlds(least=1), st.sampled_from([1e308, 1e-300]))
def test_priors_are_relative(world: World, scale: float) -> None:
    """The largest that a double holds rank as small ones do, some documents having half of it."""

    def scaled(by: float) -> World:
        return World(tuple(replace(d, prior=d.prior / 2 * by) for d in world.documents), world.literals)

    found = values(rank_entities(EntityRank(), scaled(scale).contexts(), 99))
    assert found == pytest.approx(oracle(scaled(1.0), True), abs=1e-9, rel=1e-9)


@settings(deadline=None)
@given(worlds(least=1), st.integers(1, 5))
def test_the_popular_must_be_seen_more_often(world: World, more: int) -> None:
    """Of two collections, the entity that more of the documents outside mention passes the test worse, if at all."""
    entity = world.rows[0][1].entity
    quiet, loud = (
        World((*world.documents, *[Document((7,), mentions)] * more), world.literals)
        for mentions in ((), (Mention(0, 1, entity),))
    )
    before, after = (values(rank_entities(EntityRank(), w.contexts(), 99)) for w in (quiet, loud))
    assert after[entity] < before[entity] + 1e-12
    assert {e: v for e, v in after.items() if e != entity} == {e: v for e, v in before.items() if e != entity}


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1))
def test_the_statistic_is_finite_and_has_the_sign_of_the_difference(pairs: list[tuple[float, float]]) -> None:
    """Also where a probability is 0 or 1; what is less than expected ranks below what is as expected."""
    observed, expected = np.array(pairs).T
    found = compute_signed_g(observed, expected)
    assert np.isfinite(found).all()
    assert (found[observed > expected] >= 0).all()
    assert (found[observed < expected] <= 0).all()
    assert (found[observed == expected] == 0).all()


def test_unsure_mentions_are_worth_nothing() -> None:
    """Confidence 0 everywhere: every value is 0, and contexts share that."""
    world = World((Document((0, 5), (Mention(1, 2, 1, 0.0), Mention(0, 1, 2, 0.0))),), 1)
    contexts = world.contexts()
    for text in ("entityrank", "entityrank(test=false)"):
        ranking = rank_entities(parse_system(text), contexts, 9)
        assert ranking.score.tolist() == [0.0, 0.0]
        assert explain_entity(parse_system(text), contexts, ranking, 0).share.tolist() == [0.0]


def test_all_is_certain() -> None:
    """One document with all there is: observed and expected are both 1, so that nothing is surprising."""
    ranking = rank_entities(EntityRank(), World((Document((0,), (Mention(0, 1, 1),)),), 1).contexts(), 9)
    assert ranking.score.tolist() == [0.0]
