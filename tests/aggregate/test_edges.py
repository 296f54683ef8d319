"""Where single aggregators are delicate: popular entities, deciles, steep slopes, and parameters that are refused."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fader.aggregate.base import Aggregator
from fader.aggregate.logmean import LogMean
from fader.aggregate.logsumexp import LogSumExp
from fader.aggregate.softcount import SoftCount
from fader.aggregate.softcutoff import SoftCutoff
from fader.aggregate.softor import SoftOr
from fader.errors import UsageError
from fader.registry import parse, write_part

PACKAGE = "fader.aggregate"
I64 = NDArray[np.int64]


def offsets(sizes: list[int]) -> I64:
    return np.array([0, *accumulate(sizes)], dtype=np.int64)


@pytest.mark.parametrize("score", [0.0, 0.5, 5.0])
def test_soft_or_ranks_popular_entities_strictly(score: float) -> None:
    """With 1, 60 and 10,000 contexts, though V itself is 1.0 for the last two."""
    at = offsets([1, 60, 10_000])
    scores = np.full(at[-1], score)
    assert (np.diff(SoftOr().values(scores, at)) > 0).all()
    assert SoftOr().loss_values(scores, at)[1:].tolist() == [1.0, 1.0]


def test_soft_or_of_zeros_is_one_from_55_contexts_on() -> None:
    """1 - 2^-53 is the last double below 1."""
    at = offsets([53, 55])
    assert SoftOr().loss_values(np.zeros(108), at).tolist() == [1 - 2**-53, 1.0]


def test_soft_or_keeps_chances_that_are_next_to_nothing() -> None:
    """V of one context far below 0 is e^a, not 0."""
    assert SoftOr().loss_values(np.array([-600.0]), offsets([1])).tolist() == pytest.approx([np.exp(-600.0)], rel=1e-12)


def test_a_soft_or_with_bias_computes_the_same() -> None:
    """The scores that it is given are shifted already."""
    scores, at = np.array([-1.0, 2.0, 0.5]), offsets([2, 1])
    assert SoftOr(bias=True).values(scores, at).tolist() == SoftOr().values(scores, at).tolist()
    assert SoftOr(bias=True).wants_bias
    assert not SoftOr().wants_bias


@pytest.mark.parametrize("p", [1e-3, 0.5, 1.0])
def test_the_power_form_has_a_finite_slope_at_0(p: float) -> None:
    """The one at 1e-12, and none below 0."""
    slopes = SoftCount("power", p).gradient(np.array([-1.0, 0.0, 1e-300, 1e-12]), offsets([4]), np.ones(1))
    assert slopes.tolist() == pytest.approx([0.0] + [p * 1e-12 ** (p - 1)] * 3, rel=1e-12)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(-3, 9).map(float), min_size=1, max_size=35), max_size=5), st.integers(1, 12))
def test_deciles_are_sums_by_bucket_of_ranks(groups: list[list[float]], buckets: int) -> None:
    """Against plain Python, with ties; with D they give the values."""
    decay = tuple(1.0 / (r + 1) for r in range(buckets))
    expected = np.zeros((len(groups), buckets))
    for e, group in enumerate(groups):
        for rank, score in enumerate(sorted(group, reverse=True)):
            expected[e, buckets * rank // len(group)] += score
    scores, at = np.array([s for g in groups for s in g]), offsets([len(g) for g in groups])
    found = SoftCutoff(decay).deciles(scores, at)
    assert found.tolist() == expected.tolist()
    assert SoftCutoff(decay).values(scores, at) == pytest.approx(found @ np.array(decay), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("size", "filled"), [(1, [0]), (2, [0, 5]), (3, [0, 3, 6]), (10, list(range(10))), (11, list(range(10)))]
)
def test_small_entities_use_some_deciles_only(size: int, filled: list[int]) -> None:
    """The best context is always in decile 0."""
    deciles = SoftCutoff().deciles(np.ones(size), offsets([size]))[0]
    assert np.flatnonzero(deciles).tolist() == filled


def test_a_decay_of_numpy_numbers_can_be_written() -> None:
    """As it comes out of training, to the last digit."""
    part = SoftCutoff(tuple(np.array([1 / 3, 0.25, 1e-17])))
    assert write_part(part) == "softcutoff(decay=0.3333333333333333/0.25/1e-17)"
    assert parse(PACKAGE, str(part)) == part


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("softcount(form=cubic)", 'softcount: form must be log or power, not "cubic"'),
        ("softcount(form=power,p=0)", "softcount: p must be above 0 and at most 1, not 0.0"),
        ("softcount(form=power,p=1.5)", "softcount: p must be above 0 and at most 1, not 1.5"),
        ("softcount(form=power,p=nan)", "softcount: p must be above 0 and at most 1, not nan"),
        ("softcount(p=0.3)", "softcount: p is of form=power only; write softcount(form=power,p=0.3)"),
        ("logmean(1.5)", "logmean: share must be from -1 to 1, not 1.5"),
        ("logmean(-2)", "logmean: share must be from -1 to 1, not -2.0"),
        ("logmean(nan)", "logmean: share must be from -1 to 1, not nan"),
        ("logmean(half)", 'logmean: share must be a number like 0.5, not "half"'),
        ("mixture(of=max)", 'mixture: of must name two aggregators at least, each once, not "max"'),
        ("mixture(of=max/max)", 'mixture: of must name two aggregators at least, each once, not "max/max"'),
        (
            "mixture(of=max/softor)",
            "mixture: softor ranks by other values than it trains on; take logsumexp, max or sum",
        ),
        ("mixture(weights=1/2)", "mixture: weights must be 3 numbers from 0 on and not all 0, not 1/2"),
        ("mixture(weights=0/0/0)", "mixture: weights must be 3 numbers from 0 on and not all 0, not 0/0/0"),
        ("mixture(weights=1/-1/0)", "mixture: weights must be 3 numbers from 0 on and not all 0, not 1/-1/0"),
        ("softor(bias=maybe)", 'softor: bias must be true or false, not "maybe"'),
        ("softcutoff(decay=1/-1)", "softcutoff: decay must be numbers from 0 on, like 1/0.5/0.1, not 1/-1"),
        ("softcutoff(decay=inf/1)", "softcutoff: decay must be numbers from 0 on, like 1/0.5/0.1, not inf/1"),
        ("softcutoff(decay=nan)", "softcutoff: decay must be numbers from 0 on, like 1/0.5/0.1, not nan"),
        ("softcutoff(decay=1/2)", "softcutoff: decay must never rise from one bucket of ranks to the next, not 1/2"),
    ],
)
def test_a_bad_parameter_is_refused(text: str, message: str) -> None:
    """Part, parameter, constraint and value."""
    with pytest.raises(UsageError) as caught:
        parse(PACKAGE, text)
    assert str(caught.value) == message


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(-50, 50), min_size=1, max_size=12), max_size=5))
def test_the_ends_of_a_log_mean_are_other_aggregators(groups: list[list[float]]) -> None:
    """Share 0 is log-sum-exp bit for bit; 1 and -1 rank by what expanz and expmnz rank by."""
    scores, at = np.array([s for g in groups for s in g]), offsets([len(g) for g in groups])
    for share, name in ((0, "logsumexp"), (1, "expanz"), (-1, "expmnz")):
        found, other = parse(PACKAGE, f"logmean({share})"), parse(PACKAGE, name)
        assert found.values(scores, at) == pytest.approx(other.values(scores, at), rel=1e-12, abs=1e-12)
        assert found.shares(scores, at) == pytest.approx(other.shares(scores, at), rel=1e-12, abs=1e-12)
    assert LogMean(0.0).values(scores, at).tolist() == LogSumExp().values(scores, at).tolist()
    assert LogMean(0.0).gradient(scores, at, np.ones(at.size - 1)).tolist() == (
        LogSumExp().gradient(scores, at, np.ones(at.size - 1)).tolist()
    )


@pytest.mark.parametrize(("share", "order"), [(-1.0, 1), (0.0, 1), (0.5, 1), (1.0, 0)])
def test_how_far_more_of_the_same_counts(share: float, order: int) -> None:
    """With a share of 1 not at all, with any smaller one always."""
    at = offsets([1, 60, 10_000])
    found = np.diff(LogMean(share).values(np.full(at[-1], 0.5), at))
    assert np.sign(np.round(found, 9)).tolist() == [order] * 2


def test_no_decay_at_all_is_refused() -> None:
    """There must be a bucket."""
    with pytest.raises(UsageError, match="not none"):
        SoftCutoff(())


@pytest.mark.parametrize("name", ["median", "softcutoff(decay=1/0.5/0)"])
def test_ranks_do_not_depend_on_equal_scores_of_other_entities(name: str) -> None:
    """Each entity has its own ranks."""
    aggregator: Aggregator = parse(PACKAGE, name)
    scores, at = np.tile([5.0, 1.0, 5.0], 4), offsets([3] * 4)
    assert len(set(aggregator.values(scores, at).tolist())) == 1
    assert aggregator.shares(scores, at).tolist() == aggregator.shares(scores[:3], at[:2]).tolist() * 4
