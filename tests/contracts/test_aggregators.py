"""Every aggregator, found by discovery, keeps the contract of `fader.aggregate.base`."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fader.parts import discover, parse

PACKAGE = "fader.aggregate"
Groups = list[list[float]]
aggregators = pytest.mark.parametrize("aggregator", [parse(PACKAGE, name) for name in discover(PACKAGE)], ids=str)
groups = st.lists(st.lists(st.floats(0, 50), min_size=1, max_size=12), max_size=8)


def arrays(given: Groups) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    scores = np.array([s for group in given for s in group], dtype=np.float64)
    return scores, np.array([0, *accumulate(map(len, given))], dtype=np.int64)


@aggregators
@settings(deadline=None)
@given(groups, st.randoms(use_true_random=False))
def test_values_do_not_depend_on_order(aggregator: Any, given: Groups, random: Any) -> None:
    """Of contexts within an entity but for rounding; of entities not at all."""
    values = aggregator.values(*arrays(given))
    assert values.shape == (len(given),)
    assert np.isfinite(values).all()
    shuffled = [random.sample(group, len(group)) for group in given]
    assert aggregator.values(*arrays(shuffled)) == pytest.approx(values, rel=1e-12)
    order = random.sample(range(len(given)), len(given))
    assert aggregator.values(*arrays([given[i] for i in order])).tolist() == values[order].tolist()


@aggregators
@settings(deadline=None)
@given(groups)
def test_an_entity_alone_has_the_same_value(aggregator: Any, given: Groups) -> None:
    """Values do not depend on other entities."""
    alone = [float(aggregator.values(*arrays([group]))[0]) for group in given]
    assert aggregator.values(*arrays(given)).tolist() == alone


@aggregators
@settings(deadline=None)
@given(groups)
def test_shares_add_up_to_values(aggregator: Any, given: Groups) -> None:
    """A share a context; together they are their entity's value, but for rounding."""
    scores, at = arrays(given)
    before = scores.copy()
    shares = aggregator.shares(scores, at)
    assert shares.shape == scores.shape
    sums = [shares[a:b].sum() for a, b in pairwise(at.tolist())]
    assert sums == pytest.approx(aggregator.values(scores, at), rel=1e-9, abs=1e-12)
    assert scores.tolist() == before.tolist()


@aggregators
@settings(deadline=None)
@given(st.floats(0, 50))
def test_the_share_of_an_only_context_is_the_value(aggregator: Any, score: float) -> None:
    """Nothing else can have made it."""
    given = arrays([[score]])
    assert aggregator.shares(*given).tolist() == pytest.approx(aggregator.values(*given).tolist(), rel=1e-12)


@aggregators
@settings(deadline=None)
@given(groups, st.floats(0.5, 20))
def test_a_better_context_never_lowers_the_value(aggregator: Any, given: Groups, more: float) -> None:
    """Values do not fall when a context's score rises."""
    raised = [[group[0] + more, *group[1:]] for group in given]
    before, after = aggregator.values(*arrays(given)), aggregator.values(*arrays(raised))
    assert (after >= before - 1e-9 * np.abs(before)).all()


@pytest.mark.parametrize(("name", "expected"), [("count", [2, 1]), ("sum", [3, 4])])
def test_golden_values(name: str, expected: list[float]) -> None:
    """Scores [1, 2] and [4], worked out by hand."""
    assert parse(PACKAGE, name).values(*arrays([[1, 2], [4]])).tolist() == expected
