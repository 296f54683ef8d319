"""Every aggregator is its formula: values, V, shares and gradient against decimal arithmetic."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from aggregate import oracle
from fader.registry import discover, parse

PACKAGE = "fader.aggregate"
drawn = settings(deadline=None, max_examples=int(os.environ.get("FADER_EXAMPLES", "50")))
every = pytest.mark.parametrize("name", list(oracle.V))
entity = st.lists(st.floats(-50, 50), min_size=1, max_size=12)
smooth = st.lists(st.integers(-60, 60).map(lambda i: (2 * i + 1) / 16), min_size=1, max_size=8, unique=True)


def parts(name: str, scores: list[float]) -> tuple[Any, NDArray[np.float64], NDArray[np.int64]]:
    return parse(PACKAGE, name), np.array(scores), np.array([0, len(scores)], dtype=np.int64)


def test_every_aggregator_has_an_oracle() -> None:
    """A new file needs a new formula."""
    assert set(discover(PACKAGE)) <= set(oracle.V)


@every
@drawn
@given(entity)
def test_values_and_shares_are_the_formula(name: str, scores: list[float]) -> None:
    """In doubles, for scores of both signs."""
    aggregator, *given = parts(name, scores)
    expected = oracle.evaluate(oracle.VALUE[name], scores)
    assert aggregator.values(*given).tolist() == pytest.approx([expected], rel=1e-11, abs=1e-11)
    expected = oracle.evaluate(oracle.V[name], scores)
    assert aggregator.loss_values(*given).tolist() == pytest.approx([expected], rel=1e-11, abs=1e-11)
    if name != "median":
        assert aggregator.shares(*given).tolist() == pytest.approx(oracle.shares(name, scores), rel=1e-11, abs=1e-11)


@every
@drawn
@given(smooth)
def test_the_gradient_is_the_derivative(name: str, scores: list[float]) -> None:
    """To ten digits, however small it is beside V."""
    aggregator, *given = parts(name, scores)
    gradient = aggregator.gradient(*given, np.ones(1)).tolist()
    assert gradient == pytest.approx(oracle.slopes(name, scores), rel=1e-10, abs=1e-60)


@pytest.mark.parametrize("name", ["softmax", "expanz", "expmnz"])
@drawn
@given(st.lists(st.floats(190, 210), min_size=1, max_size=5))
def test_past_200_the_exponential_goes_on_straight(name: str, scores: list[float]) -> None:
    """V and its gradient are those of the tangent in ln V."""
    aggregator, *given = parts(name, scores)
    expected = oracle.evaluate(oracle.V[name], scores)
    assert aggregator.loss_values(*given).tolist() == pytest.approx([expected], rel=1e-11)
    gradient = aggregator.gradient(*given, np.ones(1)).tolist()
    assert gradient == pytest.approx(oracle.slopes(name, scores), rel=1e-10)


@drawn
@given(entity)
def test_the_shares_of_a_median_lie_in_the_middle(scores: list[float]) -> None:
    """On one context or on two, half of their scores each."""
    aggregator, *given = parts("median", scores)
    shares = aggregator.shares(*given)
    expected = sorted(scores)[(len(scores) - 1) // 2 : len(scores) // 2 + 1]
    having = np.flatnonzero(shares).tolist()
    assert len(having) <= len(expected)
    assert all(scores[x] in expected for x in having)
    assert sum(shares) == pytest.approx(sum(expected) / len(expected), rel=1e-12, abs=1e-12)
