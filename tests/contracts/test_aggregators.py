"""Every aggregator, found by discovery, keeps the contract of `fader.aggregate.base`."""

from __future__ import annotations

import os
from itertools import accumulate, combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fader.registry import discover, parse

PACKAGE = "fader.aggregate"
VARIANTS = [
    "softor(bias=true)", "softcount(form=power)", "softcount(form=power,p=0.1)", "softcount(form=power,p=1)",
    "softcutoff(decay=1/0.9/0.5/0.5/0.25/0.1/0.1/0/0/0)", "softcutoff(decay=2/1/0.125)",
    "logmean(0)", "logmean(1)", "logmean(-1)",
]  # fmt: skip
EVERY = [parse(PACKAGE, text) for text in (*discover(PACKAGE), *VARIANTS)]
Groups = list[list[float]]
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
sizes = (1, 2, 60, 1_000_000)


def arrays(given: Groups) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    scores = np.array([s for group in given for s in group], dtype=np.float64)
    return scores, np.array([0, *accumulate(map(len, given))], dtype=np.int64)


def summed(numbers: NDArray[np.float64], at: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.array([numbers[a:b].sum() for a, b in pairwise(at.tolist())])


@aggregators
def test_the_text_of_an_aggregator_parses_back(aggregator: Any) -> None:
    """To an equal one."""
    assert parse(PACKAGE, str(aggregator)) == aggregator


@aggregators
@drawn
@given(signed, st.randoms(use_true_random=False))
def test_values_do_not_depend_on_order(aggregator: Any, given: Groups, random: Any) -> None:
    """Of contexts within an entity but for rounding; of entities not at all."""
    shuffled = [random.sample(group, len(group)) for group in given]
    order = random.sample(range(len(given)), len(given))
    for function in (aggregator.values, aggregator.loss_values):
        values = function(*arrays(given))
        assert values.shape == (len(given),)
        assert values.dtype == np.float64
        assert np.isfinite(values).all()
        assert function(*arrays(shuffled)) == pytest.approx(values, rel=1e-12, abs=1e-10)
        assert function(*arrays([given[i] for i in order])).tolist() == values[order].tolist()


@aggregators
@drawn
@given(signed)
def test_an_entity_alone_has_the_same_value(aggregator: Any, given: Groups) -> None:
    """Values do not depend on other entities."""
    for function in (aggregator.values, aggregator.loss_values):
        alone = [float(function(*arrays([group]))[0]) for group in given]
        assert function(*arrays(given)).tolist() == alone


@aggregators
@drawn
@given(signed)
def test_shares_add_up_to_values(aggregator: Any, given: Groups) -> None:
    """A share a context; together they are their entity's value, but for rounding. Scores are left as they were."""
    scores, at = arrays(given)
    before = scores.copy()
    shares = aggregator.shares(scores, at)
    assert shares.shape == scores.shape
    assert not np.shares_memory(shares, scores)
    assert summed(shares, at) == pytest.approx(aggregator.values(scores, at), rel=1e-9, abs=1e-10)
    assert scores.tolist() == before.tolist()


@aggregators
@drawn
@given(positive)
def test_no_share_is_negative_where_no_score_is(aggregator: Any, given: Groups) -> None:
    """A context that scores from 0 on does not speak against its entity."""
    assert (aggregator.shares(*arrays(given)) >= 0).all()
    assert (aggregator.values(*arrays(given)) >= 0).all()


@aggregators
@drawn
@given(st.floats(-50, 50))
def test_the_share_of_an_only_context_is_the_value(aggregator: Any, score: float) -> None:
    """Nothing else can have made it."""
    given = arrays([[score]])
    assert aggregator.shares(*given).tolist() == pytest.approx(aggregator.values(*given).tolist(), rel=1e-12)


@aggregators
@drawn
@given(signed, st.floats(0.5, 20))
def test_a_better_context_never_lowers_the_value(aggregator: Any, given: Groups, more: float) -> None:
    """Values do not fall when a context's score rises."""
    raised = [[group[0] + more, *group[1:]] for group in given]
    for function in (aggregator.values, aggregator.loss_values):
        before, after = function(*arrays(given)), function(*arrays(raised))
        assert (after >= before - 1e-9 * np.abs(before) - 1e-10).all()


@aggregators
@drawn
@given(groups_of(st.floats(-300, 300)))
def test_values_and_trained_order_entities_alike(aggregator: Any, given: Groups) -> None:
    """Where what is trained tells two entities apart by more than rounding, the ranking does too, the same way."""
    values, trained = aggregator.values(*arrays(given)), aggregator.loss_values(*arrays(given))
    for e, f in combinations(range(len(given)), 2):
        if abs(trained[e] - trained[f]) > 1e-9 * max(abs(trained[e]), abs(trained[f])):
            assert (trained[e] > trained[f]) == (values[e] > values[f])
            assert values[e] != values[f]


@aggregators
@drawn
@given(smooth, st.data())
def test_the_gradient_is_that_of_what_is_trained(aggregator: Any, given: Groups, data: st.DataObject) -> None:
    """Against central differences, away from ties and kinks, for scores of both signs."""
    scores, at = arrays(given)
    upstream = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=len(given), max_size=len(given))), dtype=float)
    gradient = aggregator.gradient(scores, at, upstream)
    assert gradient.shape == scores.shape
    step = 1e-5
    for x in range(scores.size):
        change = np.where(np.arange(scores.size) == x, step, 0.0)
        ahead, behind = (aggregator.loss_values(s, at) for s in (scores + change, scores - change))
        difference = upstream @ (ahead - behind) / (2 * step)
        size = np.abs(upstream * ahead).max(initial=0.0)
        assert difference == pytest.approx(gradient[x], rel=1e-6, abs=1e-9 * size)


@aggregators
@drawn
@given(signed)
def test_the_gradient_is_linear_in_upstream(aggregator: Any, given: Groups) -> None:
    """Each context's slope times what comes from its own entity, and nothing from others."""
    scores, at = arrays(given)
    upstream = np.arange(len(given)) - 1.5
    slopes = aggregator.gradient(scores, at, np.ones(len(given)))
    expected = slopes * np.repeat(upstream, np.diff(at))
    assert aggregator.gradient(scores, at, upstream) == pytest.approx(expected, rel=1e-12, abs=0)
    assert (slopes >= 0).all()


@aggregators
@drawn
@given(signed)
def test_flags_say_what_an_aggregator_is(aggregator: Any, given: Groups) -> None:
    """Linear: V is the gradient times the scores, whatever these are. Constant: V does not see the scores."""
    scores, at = arrays(given)
    slopes = aggregator.gradient(np.zeros(scores.size), at, np.ones(len(given)))
    if aggregator.linear:
        assert summed(slopes * scores, at) == pytest.approx(aggregator.loss_values(scores, at), rel=1e-9, abs=1e-9)
    if aggregator.constant:
        assert aggregator.loss_values(scores, at).tolist() == aggregator.loss_values(np.zeros(scores.size), at).tolist()
        assert not slopes.any()
    assert aggregator.convex == (aggregator.linear or aggregator.constant)


def test_which_aggregators_are_which() -> None:
    """The loss is convex for the four that are linear or constant; only a soft-or told so wants a bias."""
    assert {str(a) for a in EVERY if a.linear} == {"average", "mnz", "sum"}
    assert {str(a) for a in EVERY if a.constant} == {"count"}
    assert {str(a) for a in EVERY if a.wants_bias} == {"softor(bias=True)"}


@aggregators
@pytest.mark.parametrize("levels", [(-700.0,), (0.0,), (700.0,), (-700.0, 0.0, 700.0)], ids=str)
def test_a_million_contexts_and_extreme_scores_stay_finite(aggregator: Any, levels: tuple[float, ...]) -> None:
    """Values, V, shares and gradient, without a warning, for small and large entities; shares still add up."""
    at = np.array([0, *accumulate(sizes)], dtype=np.int64)
    scores = np.random.default_rng(3).choice(np.array(levels), int(at[-1]))
    values, trained = aggregator.values(scores, at), aggregator.loss_values(scores, at)
    shares = aggregator.shares(scores, at)
    gradient = aggregator.gradient(scores, at, np.array([1.0, -1.0, 1.0, -1.0]))
    for numbers in (values, trained, shares, gradient):
        assert np.isfinite(numbers).all()
    difference = np.abs(summed(shares, at) - values)
    assert (difference <= 1e-9 * summed(np.abs(shares), at)).all()


@aggregators
def test_no_entities_have_no_values(aggregator: Any) -> None:
    """Empty in, empty out."""
    scores, at = arrays([])
    assert aggregator.values(scores, at).shape == aggregator.loss_values(scores, at).shape == (0,)
    assert aggregator.shares(scores, at).shape == aggregator.gradient(scores, at, np.zeros(0)).shape == (0,)
