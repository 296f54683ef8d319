"""EntityEngine against its formula in plain Python, its golden case, and its limits."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.worlds import Document, Mention, World, worlds
from fader.errors import UsageError
from fader.rank.ranking import rank_entities
from fader.rank.system import Ranking
from fader.systems.base import parse_system
from fader.systems.entityengine import EntityEngine
from systems.windows import literals_of, shares_of_idf, window


def ordered(world: World, document: int, begin: int, end: int) -> bool:
    """Whether some choice of an occurrence for each literal is in order, without overlaps, inside the window."""
    literals = literals_of(world, document)
    for starts in product(*(world.starts(document, t) for t in literals)):
        ends = [s + world.length_of(t) for s, t in zip(starts, literals, strict=True)]
        if all(a <= b for a, b in zip([begin, *ends], [*starts, end], strict=True)):
            return True
    return False


def strength(world: World, document: int, mention: Mention, cap: float, order: float) -> float:
    shares, literals = shares_of_idf(world), literals_of(world, document)
    begin, size = window(world, document, mention)
    tokens = mention.end - mention.start + sum(world.length_of(t) for t in literals)
    kept = 1.0 if ordered(world, document, begin, begin + size) else 1 - order
    return cap * sum(shares[t] for t in literals) * min(1.0, tokens / size) * kept


def oracle(world: World, cap: float, order: float, policy: str) -> dict[int, float]:
    chance: dict[tuple[int, int], float] = {}
    for x, (d, m) in enumerate(world.rows):
        key = (m.entity, d if policy == "document" else x)
        chance[key] = max(chance.get(key, 0.0), strength(world, d, m, cap, order))
    found = {e: 1.0 for e, _d in chance}
    for (e, _d), s in chance.items():
        found[e] *= 1 - s
    return {e: -math.log(wrong) for e, wrong in found.items()}


def values(ranking: Ranking) -> dict[int, float]:
    return dict(zip(ranking.entity.tolist(), ranking.score.tolist(), strict=True))


POLICIES = st.sampled_from(["document", "mention"])
ORDERS = st.sampled_from([0.0, 0.25, 1.0])


@settings(deadline=None)
@given(worlds(least=1), st.sampled_from([0.5, 0.9]), ORDERS, POLICIES)
def test_values_are_those_of_the_formula(world: World, cap: float, order: float, policy: str) -> None:
    """Minus the logarithm of the chance that no context is evidence."""
    found = values(rank_entities(EntityEngine(cap, order, policy), world.contexts(), 100))
    assert found == pytest.approx(oracle(world, cap, order, policy), rel=1e-9, abs=1e-9)


@settings(deadline=None)
@given(worlds(least=1), ORDERS, POLICIES, st.data())
def test_a_context_more_never_lowers_a_value(world: World, order: float, policy: str, data: st.DataObject) -> None:
    """Whatever rows are left out, no entity has a higher value without them, and strengths stay as they are."""
    contexts, ranker = world.contexts(), EntityEngine(order=order, policy=policy)
    kept = data.draw(st.lists(st.booleans(), min_size=len(contexts), max_size=len(contexts)))
    rows = np.flatnonzero(kept)
    fewer = contexts.take(rows)
    assert ranker.scores(fewer).tolist() == ranker.scores(contexts)[rows].tolist()
    whole = values(rank_entities(ranker, contexts, 100))
    for entity, value in values(rank_entities(ranker, fewer, 100)).items():
        assert value <= whole[entity]


@settings(deadline=None)
@given(worlds(least=1))
def test_strengths_are_chances_below_one(world: World) -> None:
    """So that the logarithm is finite."""
    strengths = EntityEngine(cap=1 - 1e-16).scores(world.contexts())
    assert (strengths >= 0).all()
    assert (strengths < 1).all()


def golden(tokens: tuple[int, ...]) -> World:
    return World((Document(tokens, (Mention(1, 2, 3),)),), 2)


def test_golden() -> None:
    """In order, and out of order."""
    ranker = EntityEngine(cap=0.9, order=0.5)
    assert values(rank_entities(ranker, golden((0, 5, 1)).contexts(), 9)) == pytest.approx({3: math.log(10)})
    assert values(rank_entities(ranker, golden((1, 5, 0)).contexts(), 9)) == pytest.approx({3: -math.log(0.55)})


def test_order_is_that_of_the_window_that_begins_last() -> None:
    """`b a M b` for `a b`: of the two smallest windows the later one, `a M b`, is in order."""
    world = World((Document((1, 0, 5, 1), (Mention(2, 3, 3),)),), 2)
    assert EntityEngine(cap=0.5, order=1.0).scores(world.contexts()).tolist() == [0.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("entityengine(cap=1)", "cap must be above 0 and below 1, not 1.0"),
        ("entityengine(cap=0)", "cap must be above 0"),
        ("entityengine(order=2)", "order must be from 0 to 1, not 2.0"),
        ("entityengine(order=-0.1)", "order must be from 0 to 1"),
        ("entityengine(policy=all)", "policy must be one of document, mention"),
    ],
)
def test_bad_parameters_are_refused(text: str, message: str) -> None:
    """The constraint and the value."""
    with pytest.raises(UsageError, match=message):
        parse_system(text)
