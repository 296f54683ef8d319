"""Lv & Zhai's positional language model against its formula, evaluated naively."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.worlds import Mention, World, worlds
from fader.errors import UsageError
from fader.rank.ranking import explain_entity, rank_entities, rank_without
from fader.systems.base import parse_system
from fader.systems.plm import KERNELS, Plm
from systems.language import (
    GOLDEN,
    background,
    check_contract,
    documents_of,
    entities,
    kernel_sums,
    known,
    mentions_of,
    near,
    ranked_values,
)

VARIANTS = st.builds(
    Plm,
    kernel=st.sampled_from(KERNELS),
    width=st.sampled_from([0.1, 0.5, 1.0, 2.5, 7.0, 100.0]),
    mu=st.sampled_from([0.01, 1.0, 1000.0]),
    aggregator=st.sampled_from(["sum", "max"]),
    policy=st.sampled_from(["document", "mention"]),
)


def likelihood(model: Plm, world: World, d: int, mention: Mention) -> float:
    product = 1.0
    for t in known(world):
        count, mass = kernel_sums(world, d, mention, t, model.kernel, model.width)
        product *= (count + model.mu * background(world, t)) / (mass + model.mu)
    return product


def naive(model: Plm, world: World) -> dict[int, float]:
    values = {}
    for e in entities(world):
        contexts = [[likelihood(model, world, d, m) for m in mentions_of(world, d, e)] for d in documents_of(world, e)]
        counted = [max(c) for c in contexts] if model.policy == "document" else [p for c in contexts for p in c]
        values[e] = math.log(sum(counted) if model.aggregator == "sum" else max(counted))
    return values


def test_golden() -> None:
    """The cases of the docstring."""
    model = Plm(kernel="triangle", width=2.0, mu=1.0)
    assert ranked_values(model, GOLDEN) == {1: near(math.log(17 / 15)), 2: near(math.log(4 / 5))}
    best = Plm(kernel="triangle", width=2.0, mu=1.0, aggregator="max")
    assert ranked_values(best, GOLDEN) == {1: near(math.log(4 / 5)), 2: near(math.log(4 / 5))}


@settings(deadline=None)
@given(worlds(), VARIANTS)
def test_values_are_those_of_the_formula(world: World, model: Plm) -> None:
    """To 1e-9."""
    assert ranked_values(model, world) == {e: near(v) for e, v in naive(model, world).items()}


@settings(deadline=None)
@given(worlds(least=1))
def test_a_further_context_never_counts_against_its_entity(world: World) -> None:
    """Likelihoods are added: without one of several contexts an entity's value is no larger."""
    contexts, model = world.contexts(), Plm(width=2.0, mu=1.0, policy="mention")
    ranking = rank_entities(model, contexts, 1000)
    for i in range(ranking.entity.size):
        for row in explain_entity(model, contexts, ranking, i).row.tolist():
            left = rank_without(model, contexts, ranking, i, row).score
            assert left is None or left <= ranking.score[i] + 1e-12


@settings(deadline=None, max_examples=50)
@given(worlds(least=1), VARIANTS)
def test_contract(world: World, model: Plm) -> None:
    """It ranks and explains as every system does."""
    check_contract(model, world)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "step"}, 'plm: kernel must be gaussian, triangle, cosine, circle or passage, not "step"'),
        ({"width": -1.0}, "plm: width must be a number of tokens above 0, not -1.0"),
        ({"mu": 0.0}, "plm: mu must be at least 1e-06 tokens, not 0.0"),
        ({"aggregator": "average"}, 'plm: aggregator must be sum or max, not "average"'),
        ({"policy": "best"}, 'plm: policy must be one of document, mention, not "best"'),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    """The message names the system, the constraint and the value."""
    with pytest.raises(UsageError, match=message):
        Plm(**parameters)


def test_text() -> None:
    """Parameters are written as they are read."""
    model = parse_system("plm(kernel=passage,width=20,mu=300,aggregator=max,policy=mention)")
    assert model == Plm("passage", 20.0, 300.0, "max", "mention")
    assert parse_system(str(model)) == model
