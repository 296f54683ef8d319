"""Every aggregator, found by discovery, keeps the contract of `fader.testing.aggregators`, on scores that are drawn."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.registry import discover, parse
from fader.testing import aggregators as contract
from fader.testing import check_aggregator
from fader.testing.aggregators import Groups

PACKAGE = "fader.aggregate"
VARIANTS = [
    "softor(bias=true)", "softcount(form=power)", "softcount(form=power,p=0.1)", "softcount(form=power,p=1)",
    "softcutoff(decay=1/0.9/0.5/0.5/0.25/0.1/0.1/0/0/0)", "softcutoff(decay=2/1/0.125)",
    "logmean(0)", "logmean(1)", "logmean(-1)",
]  # fmt: skip
EVERY = [parse(PACKAGE, text) for text in (*discover(PACKAGE), *VARIANTS)]
aggregators = pytest.mark.parametrize("aggregator", EVERY, ids=str)
drawn = settings(deadline=None, max_examples=int(os.environ.get("FADER_EXAMPLES", "30")))


def groups_of(scores: st.SearchStrategy[float]) -> st.SearchStrategy[Groups]:
    return st.lists(st.lists(scores, min_size=1, max_size=12), max_size=8)


# Learned scores are from 0 on; with a bias they are shifted below.
positive = groups_of(st.floats(0, 50))
signed = groups_of(st.floats(-50, 50))
# No two alike, and none at 0: away from every kink.
smooth = st.lists(
    st.lists(st.integers(-80, 80).map(lambda i: (2 * i + 1) / 32), min_size=1, max_size=6, unique=True), max_size=4
)
seeds = st.integers(0, 2**32 - 1)


@aggregators
@drawn
@given(signed, seeds)
def test_values(aggregator: Any, given: Groups, seed: int) -> None:
    """They depend on no order and on no other entity."""
    contract.check_order(aggregator, given, seed)
    contract.check_alone(aggregator, given)


@aggregators
@drawn
@given(signed, positive, st.floats(-50, 50))
def test_shares(aggregator: Any, given: Groups, positive: Groups, score: float) -> None:
    """They add up to values; none is negative where no score is."""
    contract.check_shares(aggregator, given)
    contract.check_signs(aggregator, positive)
    contract.check_only_context(aggregator, score)


@aggregators
@drawn
@given(signed, st.floats(0.5, 20), groups_of(st.floats(-300, 300)))
def test_a_better_context_is_better(aggregator: Any, given: Groups, more: float, wide: Groups) -> None:
    """A value does not fall when a score rises, and the loss orders entities as the ranking does."""
    contract.check_rising(aggregator, given, more)
    contract.check_agreement(aggregator, wide)


@aggregators
@drawn
@given(smooth, signed, seeds)
def test_gradients(aggregator: Any, smooth: Groups, given: Groups, seed: int) -> None:
    """Those of finite differences, linear in what comes from their own entity; flags say what V is."""
    contract.check_gradient(aggregator, smooth, seed)
    contract.check_upstream(aggregator, given)
    contract.check_flags(aggregator, given)


@aggregators
def test_the_whole_contract(aggregator: Any) -> None:
    """As authors of plug-ins run it."""
    check_aggregator(aggregator)


def test_which_aggregators_are_which() -> None:
    """The loss is convex for the four that are linear or constant; only a soft-or told so wants a bias."""
    assert {str(a) for a in EVERY if a.linear} == {"average", "mnz", "sum"}
    assert {str(a) for a in EVERY if a.constant} == {"count"}
    assert {str(a) for a in EVERY if a.wants_bias} == {"softor(bias=True)"}


@aggregators
@pytest.mark.parametrize("levels", contract.LEVELS, ids=str)
def test_a_million_contexts_and_extreme_scores_stay_finite(aggregator: Any, levels: tuple[float, ...]) -> None:
    """Values, V, shares and gradient, without a warning, for small and large entities; shares still add up."""
    contract.check_extremes(aggregator, levels, (1, 2, 60, 1_000_000))
