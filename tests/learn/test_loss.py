"""Losses against plain Python, their gradients against differences, and two ways to add up pairs against each other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.errors import UsageError
from fader.learn import loss as module
from fader.learn.loss import LOSSES, Loss
from learn.cases import F64, labels, slow_loss, soft_hinge

Query = tuple[list[float], list[int], float]
every_loss = pytest.mark.parametrize("name", LOSSES)
drawn = settings(deadline=None, max_examples=60)


@st.composite
def queries(draw: st.DrawFn, size: float) -> list[Query]:
    """Values, labels and a weight for each of some queries; values tie now and then, a query may have no pair."""
    number = st.one_of(st.floats(-size, size), st.sampled_from([0.0, 1.0, -size, size]))
    one = st.integers(1, 9).flatmap(
        lambda n: st.tuples(
            st.lists(number, min_size=n, max_size=n),
            st.lists(st.sampled_from([-1, 0, 0, 0, 1, 1, 2, 3]), min_size=n, max_size=n),
            st.sampled_from([0.0, 1.0, 1.0, 2.5]),
        )
    )
    return draw(st.lists(one, min_size=1, max_size=4))


def made(name: str, given: Sequence[Query]) -> tuple[Loss, F64]:
    """The loss and the values of some queries, places held at the values backwards."""
    values = np.array([v for query in given for v in query[0]])
    loss = Loss(name, labels([query[1] for query in given], [query[2] for query in given]))
    loss.hold(held(given))
    return loss, values


def held(given: Sequence[Query]) -> F64:
    return np.array([v for query in given for v in reversed(query[0])])


def slow(name: str, given: Sequence[Query]) -> float:
    """The sum over queries, in plain Python."""
    parts = [weight * slow_loss(name, values, label, values[::-1]) for values, label, weight in given if trains(label)]
    return math.fsum(parts)


def trains(label: Sequence[int]) -> bool:
    return max(label) > 0


@every_loss
@drawn
@given(queries(700.0))
def test_a_loss_is_what_its_formula_says(name: str, given: list[Query]) -> None:
    """For several queries, weights of 0, entities that do not train, ties, and values from -700 to 700."""
    loss, values = made(name, given)
    total, gradient = loss(values)
    assert total == pytest.approx(slow(name, given), rel=1e-10, abs=1e-10)
    assert gradient.shape == values.shape
    assert np.isfinite(gradient).all()


@every_loss
@drawn
@given(queries(6.0))
def test_a_gradient_is_that_of_its_loss(name: str, given: list[Query]) -> None:
    """Central differences, with places held; an entity that does not train and a query of weight 0 have none."""
    loss, values = made(name, given)
    gradient, step = loss(values)[1], 1e-5
    ignored = np.array([y < 0 or w == 0 for _v, label, w in given for y in label])
    assert (gradient[ignored] == 0).all()
    for e in range(values.size):
        change = np.where(np.arange(values.size) == e, step, 0.0)
        difference = (loss(values + change)[0] - loss(values - change)[0]) / (2 * step)
        assert gradient[e] == pytest.approx(difference, rel=1e-6, abs=1e-7)


@every_loss
@drawn
@given(queries(700.0))
def test_queries_by_themselves_add_up_to_the_whole(name: str, given: list[Query]) -> None:
    """`of_query` has the query's own part of the loss and its own piece of the gradient, bit for bit."""
    loss, values = made(name, given)
    total, gradient = loss(values)
    at = loss.labels.at
    parts = [loss.of_query(q, values[at[q] : at[q + 1]]) for q in range(len(given))]
    assert total == pytest.approx(math.fsum(part for part, _ in parts), rel=1e-12, abs=1e-12)
    assert gradient.tolist() == np.concatenate([mine for _, mine in parts]).tolist()


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.floats(0, 299.9), min_size=2, max_size=12),
    st.lists(st.booleans(), min_size=12, max_size=12),
    st.floats(-1e6, 1e6),
)
def test_both_ways_to_add_up_pairs_agree(values: list[float], is_good: list[bool], level: float) -> None:
    """One centre and centres that follow the good entities, on the whole range that the first way is used for."""
    good = np.array([e for e in range(len(values)) if is_good[e] or e == 0], dtype=np.int64)
    bad = np.array([e for e in range(len(values)) if not is_good[e] and e > 0], dtype=np.int64)
    here = np.array(values) + level
    centred, factored = np.zeros(here.size), np.zeros(here.size)
    one = module._sum_centred_pairs(here, good, bad, 0.25, centred, np.empty(here.size))
    two = module._sum_factored_pairs(here, good, bad, 0.25, factored, np.empty(here.size))
    assert one == pytest.approx(two, rel=1e-9, abs=1e-12)
    assert centred == pytest.approx(factored, rel=1e-9, abs=1e-12)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.one_of(st.floats(-3000, 3000), st.floats(-5, 5)), min_size=2, max_size=12),
    st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_pairs_that_lie_far_apart_are_those_of_the_formula(values: list[float], is_good: list[bool]) -> None:
    """Each pair by itself: its soft hinge, and the sigmoid as its slope, wherever the centre is."""
    good = [e for e in range(len(values)) if is_good[e] or e == 0]
    bad = [e for e in range(len(values)) if not is_good[e] and e > 0]
    gradient, slow_gradient = np.zeros(len(values)), np.zeros(len(values))
    found = module._sum_centred_pairs(
        np.array(values), np.array(good, np.int64), np.array(bad, np.int64), 0.25, gradient, np.empty(len(values))
    )
    total = 0.0
    for g in good:
        for b in bad:
            a = 1 + values[b] - values[g]
            total += 0.25 * soft_hinge(a)
            slope = 0.25 * math.exp(-soft_hinge(-a))
            slow_gradient[b] += slope
            slow_gradient[g] -= slope
    assert found == pytest.approx(total, rel=1e-12, abs=1e-12)
    assert gradient == pytest.approx(slow_gradient, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("spread", "way"), [(299.0, "factored"), (301.0, "centred"), (1400.0, "centred")])
def test_the_way_is_chosen_by_the_spread_of_values(spread: float, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One centre is used only where exponentials cannot overflow; uncompiled, so that calls can be seen."""
    called = []
    for name in ("centred", "factored"):
        function = getattr(module, f"_sum_{name}_pairs")
        monkeypatch.setattr(
            module, f"_sum_{name}_pairs", lambda *a, n=name, f=function: called.append(n) or f(*a), raising=True
        )
    values, gradient = np.array([0.0, spread, 1.0]), np.zeros(3)
    total = getattr(module._pairwise, "py_func", module._pairwise)(
        values, np.array([0, 3]), np.array([1, 0, 0], dtype=np.int32), np.ones(1), gradient
    )
    assert called == [way]
    assert total == pytest.approx(slow_loss("pairwise", values.tolist(), [1, 0, 0], []), rel=1e-12)


def test_many_far_pairs_do_not_overflow() -> None:
    """Products of factors are turned into logarithms before one more factor could make them infinite."""
    values = [0.0, *([298.0, 140.0, 298.0, 60.0] * 50)]
    label = [1, *([0] * 200)]
    total, gradient = Loss("pairwise", labels([label], [1.0]))(np.array(values))
    assert total == pytest.approx(slow_loss("pairwise", values, label, []), rel=1e-12)
    assert gradient.sum() == pytest.approx(0, abs=1e-12)


def test_a_separated_query_loses_little_and_a_reversed_one_by_its_margin() -> None:
    """Golden: one pair at V(g) - V(b) = 1 costs ln 2; far right of it nothing, far left the distance and 1."""
    pair = Loss("pairwise", labels([[1, 0]], [1.0]))
    assert pair(np.array([1.0, 0.0]))[0] == pytest.approx(math.log(2), rel=1e-15)
    assert pair(np.array([800.0, 0.0]))[0] == 0.0
    assert pair(np.array([0.0, 800.0]))[0] == 801.0
    listwise = Loss("softmax", labels([[1, 0]], [1.0]))
    assert listwise(np.array([3.0, 3.0]))[0] == pytest.approx(math.log(2), rel=1e-15)


def test_places_are_those_that_were_held() -> None:
    """The NDCG weight of a pair stays as it was held, whatever the values; held again, it changes."""
    loss = Loss("ndcg", labels([[2, 0, 1]], [1.0]))
    near, far = np.array([3.0, 2.0, 1.0]), np.array([1.0, 3.0, 2.0])
    loss.hold(near)
    assert loss(far)[0] == pytest.approx(slow_loss("ndcg", far.tolist(), [2, 0, 1], near.tolist()), rel=1e-12)
    loss.hold(far)
    assert loss(far)[0] == pytest.approx(slow_loss("ndcg", far.tolist(), [2, 0, 1], far.tolist()), rel=1e-12)


def test_a_query_by_itself_needs_held_places() -> None:
    """Places that were never held are no places."""
    with pytest.raises(ValueError, match="held"):
        Loss("ndcg", labels([[1, 0]], [1.0])).of_query(0, np.zeros(2))


def test_an_unknown_loss_is_refused() -> None:
    """With what was meant, or all that there are."""
    with pytest.raises(UsageError, match='unknown loss "pairwize"; did you mean "pairwise"'):
        Loss("pairwize", labels([[1, 0]], [1.0]))
    with pytest.raises(UsageError, match="known: pairwise, listwise, softmax, ndcg"):
        Loss("zzz", labels([[1, 0]], [1.0]))
