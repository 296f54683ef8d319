"""Significance tests against scipy and by hand."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.errors import UsageError
from fader.experiment.significance import (
    compare_with_baseline,
    confidence_interval,
    holm,
    p_value,
    randomisation_test,
    t_test,
)

# Quarters, so that sums are exact and ties among them are common.
quarters = st.integers(0, 4).map(lambda n: n / 4)
pairs = st.lists(st.tuples(quarters, quarters), max_size=10)


def columns(given: list[tuple[float, float]]) -> tuple[Any, Any]:
    array = np.array(given, dtype=np.float64).reshape(-1, 2)
    return array[:, 0], array[:, 1]


def drawn(seed: int, n: int, shift: float) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    a = random.random(n)
    return a, np.clip(a + random.normal(shift, 0.2, size=n), 0, 1)


def test_golden_case() -> None:
    """d = 1, 2, 3: t = 2 sqrt(3) with two degrees of freedom; +++ and --- of eight flips are as large."""
    a, b = np.array([1.0, 2.0, 3.0]), np.zeros(3)
    t = 2 * math.sqrt(3)
    assert t_test(a, b) == pytest.approx(1 - t / math.sqrt(2 + t * t), abs=1e-12)
    assert randomisation_test(a, b) == 2 / 8


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [2, 3, 30, 250])
def test_the_t_test_is_scipys(n: int, seed: int) -> None:
    a, b = drawn(seed, n, 0.05)
    assert t_test(a, b) == pytest.approx(scipy.stats.ttest_rel(a, b).pvalue, rel=1e-9)
    assert t_test(a, b) == t_test(b, a)


@settings(deadline=None, max_examples=200)
@given(pairs)
def test_all_flips_are_counted(given: list[tuple[float, float]]) -> None:
    """Up to 15 differences that are not 0: exactly the share of sign flips with a sum as large, ties included."""
    a, b = columns(given)
    d = a - b
    flips = list(itertools.product([1, -1], repeat=d.size))
    large = sum(abs(np.dot(flip, d)) >= abs(d.sum()) for flip in flips) if d.size > 1 else len(flips)
    assert randomisation_test(a, b) == large / len(flips)


@pytest.mark.parametrize("seed", range(4))
def test_the_exact_randomisation_test_is_scipys(seed: int) -> None:
    a, b = drawn(seed, 11, 0.1)

    def difference(x: Any, y: Any, axis: int) -> Any:
        return np.mean(x - y, axis=axis)

    theirs = scipy.stats.permutation_test((a, b), difference, permutation_type="samples", n_resamples=np.inf)
    assert randomisation_test(a, b) == pytest.approx(theirs.pvalue, abs=1e-12)


def test_fifteen_differences_are_enumerated_and_sixteen_drawn() -> None:
    """The seed matters only for the second; zeros do not count."""
    a = np.arange(1.0, 41.0) % 7 / 7 + 0.1
    few, many = np.zeros(40), np.zeros(40)
    few[:15], many[:16] = a[:15] * np.where(np.arange(15) % 3, 1, -1), a[:16] * np.where(np.arange(16) % 3, 1, -1)
    zero = np.zeros(40)
    assert len({randomisation_test(few, zero, seed) for seed in range(3)}) == 1
    assert randomisation_test(few, zero) == randomisation_test(few[:15], zero[:15])
    assert len({randomisation_test(many, zero, seed, samples=1000) for seed in range(5)}) > 1
    assert randomisation_test(many, zero, 3) == randomisation_test(many, zero, 3)


def test_drawn_flips_come_near_all_flips() -> None:
    """On 18 differences, within four standard errors of the share among all 2^18 flips."""
    a, b = drawn(1, 18, 0.08)
    d = a - b
    total = np.array([0.0])
    for x in d:
        total = np.concatenate([total + x, total - x])
    exact = float(np.mean(np.abs(total) >= abs(d.sum()) - 1e-12))
    samples = 100_000
    error = math.sqrt(exact * (1 - exact) / samples)
    assert 0.02 < exact < 0.9
    assert abs(randomisation_test(a, b, 0, samples) - exact) < 4 * error + 1 / samples


def test_the_smallest_p_of_drawn_flips_is_not_0() -> None:
    """The given signs count as one of the flips: p is at least 1 / (N + 1)."""
    a, b = np.ones(60), np.zeros(60)
    assert randomisation_test(a, b, samples=999) == 1 / 1000


@pytest.mark.parametrize("test", ["t", "randomisation"])
def test_nothing_speaks_for_a_difference(test: str) -> None:
    """p is 1 where all differences are 0, and for fewer than two queries, without a warning."""
    for n in (0, 1, 2, 50):
        assert p_value(np.full(n, 0.3), np.full(n, 0.3), test) == 1
    assert p_value(np.array([1.0]), np.array([0.0]), test) == 1


def test_the_same_difference_everywhere() -> None:
    """t has no bound; of n flips all plus and all minus are as large."""
    a, b = np.full(5, 0.4), np.full(5, 0.3)
    assert t_test(a, b) == 0
    assert randomisation_test(a, b) == 2 / 32


def test_an_unknown_test_and_unpaired_values_are_refused() -> None:
    with pytest.raises(UsageError, match='no test "u"; give t or randomisation'):
        p_value(np.zeros(2), np.zeros(2), "u")
    with pytest.raises(UsageError, match="not 2 and 3"):
        t_test(np.zeros(2), np.zeros(3))


def test_holm_by_hand() -> None:
    """Sorted .01, .03, .04 times 3, 2, 1 is .03, .06, .04; none may be below the one before it."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_rejects_what_the_stepwise_procedure_rejects(p: list[float]) -> None:
    """Holm's procedure: from the smallest on, reject while p_(i) * (m - i + 1) < level."""
    corrected = holm(p)
    for level in (0.05, 0.3):
        rejected: set[int] = set()
        for i, place in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
            if p[place] * (len(p) - i) >= level:
                break
            rejected.add(place)
        assert {i for i, v in enumerate(corrected) if v < level} == rejected


def test_against_a_baseline() -> None:
    """One p for every other system, in order; corrected over these and not over the baseline."""
    a, b = drawn(0, 20, 0.1)
    c = a[::-1].copy()
    plain = compare_with_baseline([a, b, c], baseline=1)
    assert plain == [t_test(a, b), None, t_test(c, b)]
    corrected = compare_with_baseline([a, b, c], 1, correct=True)
    assert [corrected[0], corrected[2]] == holm([t_test(a, b), t_test(c, b)])
    sampled = compare_with_baseline([a, b], 0, "randomisation", seed=5)
    assert sampled == [None, randomisation_test(b, a, 5)]
    assert compare_with_baseline([a], 0) == [None]


def test_the_interval_is_scipys() -> None:
    """Student's t around the mean; of one value it has no width."""
    a, _b = drawn(3, 25, 0)
    theirs = scipy.stats.t.interval(0.9, 24, loc=a.mean(), scale=scipy.stats.sem(a))
    assert confidence_interval(a, 0.9) == pytest.approx(theirs, rel=1e-9)
    assert confidence_interval(a)[0] < confidence_interval(a, 0.9)[0]
    assert confidence_interval(np.array([0.3])) == (0.3, 0.3)
    assert confidence_interval(np.zeros(0)) == (0, 0)
    assert confidence_interval(np.full(3, 0.5)) == (0.5, 0.5)
