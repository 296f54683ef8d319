"""Balog's model 2 against its formula, evaluated naively."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.worlds import World, worlds
from fader.errors import UsageError
from fader.systems.balog2 import ASSOCIATIONS, Balog2
from fader.systems.base import parse_system
from systems.language import (
    GOLDEN,
    background,
    check_contract,
    documents_of,
    entities,
    frequency,
    known,
    length,
    mentions_of,
    named,
    near,
    pair_share,
    ranked_values,
    windows,
)

VARIANTS = st.builds(
    Balog2,
    association=st.sampled_from(ASSOCIATIONS),
    beta=st.sampled_from([0.0, 0.5, 100.0]),
    window=st.sampled_from([(0.0,), (1.0,), (3.0,), (0.0, 2.0), (1.0, 4.0, 50.0)]),
)


def naive_association(kind: str, world: World, d: int, e: int) -> float:
    if kind == "candidate":
        return 1 / len(documents_of(world, e))
    if kind == "document":
        return 1 / named(world, d)
    if kind == "frequency":
        return frequency(world, d, e)
    if kind == "frequency-candidate":
        return frequency(world, d, e) / sum(frequency(world, other, e) for other in documents_of(world, e))
    if kind == "frequency-document":
        return len(mentions_of(world, d, e)) / len(world.documents[d].mentions)
    return 1.0


def likelihood(model: Balog2, world: World, d: int, e: int) -> float:
    beta = model.beta or world.tokens / len(world.documents)
    lam, product = beta / (beta + length(world, d)), 1.0
    for t in known(world):
        p = pair_share(world, d, e, t, windows(*map(int, model.window)))
        product *= (1 - lam) * p + lam * background(world, t)
    return product


def naive(model: Balog2, world: World) -> dict[int, float]:
    values = {}
    for e in entities(world):
        terms = [
            likelihood(model, world, d, e) * naive_association(model.association, world, d, e)
            for d in documents_of(world, e)
        ]
        values[e] = math.log(sum(terms))
    return values


def test_golden() -> None:
    """The cases of the docstring."""
    assert ranked_values(Balog2(), GOLDEN) == {1: near(math.log(37 / 35)), 2: near(math.log(7 / 10))}
    by_document = ranked_values(Balog2(association="document"), GOLDEN)
    assert by_document == {1: near(math.log(99 / 140)), 2: near(math.log(7 / 20))}


def test_golden_window() -> None:
    """A window of 1 has three tokens of the first document, one of them alpha."""
    expected = math.log(4 / 7 / 3 + 3 / 14 + 7 / 10)
    assert ranked_values(Balog2(window=(1.0,)), GOLDEN)[1] == near(expected)


@settings(deadline=None)
@given(worlds(), VARIANTS)
def test_values_are_those_of_the_formula(world: World, model: Balog2) -> None:
    """To 1e-9."""
    assert ranked_values(model, world) == {e: near(v) for e, v in naive(model, world).items()}


@settings(deadline=None)
@given(worlds())
def test_boolean_association_adds_document_likelihoods(world: World) -> None:
    """Nothing but the sum of the likelihoods of an entity's documents."""
    for e, value in ranked_values(Balog2(), world).items():
        assert math.exp(value) == near(sum(likelihood(Balog2(), world, d, e) for d in documents_of(world, e)))


@settings(deadline=None, max_examples=50)
@given(worlds(least=1), VARIANTS)
def test_contract(world: World, model: Balog2) -> None:
    """It ranks and explains as every system does."""
    check_contract(model, world)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"association": "tfidf"}, 'balog2: association must be boolean, .* or frequency-document, not "tfidf"'),
        ({"beta": -1.0}, "balog2: beta must be 0 for the average document length, or .* not -1.0"),
        ({"beta": math.inf}, "balog2: beta must be"),
        ({"window": (2.5,)}, 'balog2: window must be .* not "2.5"'),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    """The message names the system, the constraint and the value."""
    with pytest.raises(UsageError, match=message):
        Balog2(**parameters)


def test_text() -> None:
    """Parameters are written as they are read."""
    model = parse_system("balog2(association=frequency-candidate,beta=20,window=20/50)")
    assert model == Balog2("frequency-candidate", 20.0, (20.0, 50.0))
    assert parse_system(str(model)) == model
