"""Balog's model 1 against its formula, evaluated naively."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.worlds import World, worlds
from fader.contexts.columns import GivenColumns
from fader.errors import UsageError
from fader.rank.ranking import rank_entities
from fader.systems.balog1 import Balog1
from fader.systems.base import parse_system
from systems.language import (
    GOLDEN,
    candidate_model,
    check_contract,
    documents_of,
    frequency,
    near,
    ranked_values,
    uniform,
    whole_document,
    windows,
)

VARIANTS = st.builds(
    Balog1,
    association=st.sampled_from(["boolean", "frequency"]),
    normalise=st.booleans(),
    beta=st.sampled_from([0.0, 0.5, 100.0]),
    window=st.sampled_from([(0.0,), (1.0,), (3.0,), (0.0, 2.0), (1.0, 4.0, 50.0)]),
)


def naive(model: Balog1, world: World) -> dict[int, float]:
    def association(d: int, e: int) -> float:
        def a(document: int) -> float:
            return frequency(world, document, e) if model.association == "frequency" else 1.0

        return a(d) / sum(map(a, documents_of(world, e))) if model.normalise else a(d)

    return candidate_model(world, model.beta, windows(*map(int, model.window)), association)


def test_golden() -> None:
    """The case of the docstring."""
    assert ranked_values(Balog1(), GOLDEN) == {1: near(math.log(0.575)), 2: near(math.log(2 / 3))}


def test_golden_frequency() -> None:
    """Two candidates; the first document names one, the second both: weights ln 3 and ln 2."""
    a, b = math.log(3), math.log(2)
    expected = math.log(0.6 * (a / 4 + b) / (a + b) + 0.2)
    assert ranked_values(Balog1(association="frequency"), GOLDEN)[1] == near(expected)


def test_golden_window() -> None:
    """A window of 1 has three tokens of the first document, one of them alpha: p(t|e) = 2/3."""
    assert ranked_values(Balog1(window=(1.0,)), GOLDEN)[1] == near(math.log(0.6))
    assert ranked_values(Balog1(window=(0.0, 1.0)), GOLDEN)[1] == near(math.log(0.6 * (5 / 8 + 2 / 3) / 2 + 0.2))


@settings(deadline=None)
@given(worlds(), VARIANTS)
def test_values_are_those_of_the_formula(world: World, model: Balog1) -> None:
    """To 1e-9."""
    assert ranked_values(model, world) == {e: near(v) for e, v in naive(model, world).items()}


@settings(deadline=None)
@given(worlds())
def test_a_window_beyond_the_document_is_the_document(world: World) -> None:
    """Model 1B with a wide window is model 1."""
    expected = candidate_model(world, 0.0, whole_document, uniform(world))
    assert ranked_values(Balog1(window=(1000.0,)), world) == {e: near(v) for e, v in expected.items()}


@settings(deadline=None, max_examples=50)
@given(worlds(least=1), VARIANTS)
def test_contract(world: World, model: Balog1) -> None:
    """It ranks and explains as every system does."""
    check_contract(model, world)


def test_values_are_finite_whatever_the_smoothing() -> None:
    """Sixty-four literals, one of which the entity never has: its likelihood is below what doubles hold."""
    contexts = GOLDEN.contexts()
    statistics = replace(contexts.statistics, tokens=10**9, df=np.full(64, 1), cf=np.full(64, 1))
    documents = replace(contexts.documents, counts=np.zeros((64, 2), dtype=np.int32))
    distances = np.full((64, len(contexts)), -1, dtype=np.int32)
    many = replace(
        contexts, statistics=statistics, distances=distances, columns=GivenColumns(documents=documents), memo={}
    )
    lam = 1e-6 / (1e-6 + 6)
    ranking = rank_entities(Balog1(beta=1e-6), many, 10)
    assert ranking.score[ranking.entity == 1] == near(64 * math.log(lam * 1e-9))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"association": "tfidf"}, 'balog1: association must be boolean or frequency, not "tfidf"'),
        ({"normalise": 1}, 'balog1: normalise must be true or false, not "1"'),
        ({"beta": -1.0}, r"balog1: beta must be 0 for the average n\(e\), or .* not -1.0"),
        ({"beta": math.nan}, "balog1: beta must be"),
        ({"window": ()}, "balog1: window must be"),
        ({"window": (1.5,)}, 'balog1: window must be .* not "1.5"'),
        ({"window": (10.0, -1.0)}, 'balog1: window must be .* not "10/-1"'),
        ({"window": (math.inf,)}, "balog1: window must be"),
        ({"window": 20}, 'balog1: window must be .* not "20"'),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    """The message names the system, the constraint and the value."""
    with pytest.raises(UsageError, match=message):
        Balog1(**parameters)


def test_text() -> None:
    """Parameters are written as they are read."""
    model = parse_system("balog1(association=frequency,normalise=false,beta=20,window=0/20/50)")
    assert model == Balog1("frequency", False, 20.0, (0.0, 20.0, 50.0))
    assert parse_system(str(model)) == model
