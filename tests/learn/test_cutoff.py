"""The decay of a soft cutoff is the exact optimum: against the program with a slack for every pair, and by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from fader.errors import InputError, UsageError
from fader.learn.cutoff import Problem, Solution, fit_decay

F64 = NDArray[np.float64]


def problem(good: list[list[float]], bad: list[list[float]]) -> Problem:
    """A query by the bucket sums of its good and of its bad entities."""
    mask = np.array([True] * len(good) + [False] * len(bad), dtype=bool)
    return np.array([*good, *bad], dtype=np.float64), mask, ~mask


def true_objective(problems: list[Problem], lam: float, decay: F64) -> float:
    """Every pair, one after the other."""
    total = float(decay[0]) / lam
    for sums, good, bad in problems:
        values = sums @ decay
        G, B = values[good].tolist(), values[bad].tolist()
        if G and B:
            total += sum(max(0.0, 1 + b - g) for g in G for b in B) / (len(G) * len(B))
    return total


def full_lp(problems: list[Problem], lam: float) -> tuple[F64, float]:
    """The paper's program as it stands: D, then a slack for every pair, with its two constraints."""
    buckets = problems[0][0].shape[1]
    pairs = [
        (sums[b] - sums[g], 1.0 / (good.sum() * bad.sum()))
        for sums, good, bad in problems
        for g in np.flatnonzero(good)
        for b in np.flatnonzero(bad)
    ]
    falls = np.hstack([np.diff(np.eye(buckets), axis=0), np.zeros((buckets - 1, len(pairs)))])
    hinge = np.hstack([np.array([row for row, _ in pairs]), -np.eye(len(pairs))])
    costs = np.concatenate([[1.0 / lam], np.zeros(buckets - 1), [weight for _, weight in pairs]])
    limits = np.concatenate([np.zeros(buckets - 1), -np.ones(len(pairs))])
    accurate = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(costs, A_ub=np.vstack([falls, hinge]), b_ub=limits, method="highs", options=accurate)
    assert found.status == 0
    return found.x[:buckets], float(found.fun)


def check(problems: list[Problem], lam: float) -> Solution:
    """What must hold of every solution; the same objective as the full program."""
    solution = fit_decay(problems, lam)
    assert all(a >= b for a, b in pairwise(solution.decay.tolist()))
    assert solution.decay[-1] >= 0
    assert solution.objective == pytest.approx(true_objective(problems, lam, solution.decay), rel=1e-9)
    assert solution.bound <= solution.objective <= solution.bound * (1 + 1e-9)
    usable = [p for p in problems if p[1].any() and p[2].any()]
    assert solution.objective == pytest.approx(full_lp(usable, lam)[1], rel=1e-7)
    assert solution.objective <= len(usable) * (1 + 1e-12)
    return solution


def drawn_problems(seed: int, queries: int = 4, entities: int = 12, buckets: int = 10) -> list[Problem]:
    """Sums that speak for the good entities in the first buckets and say nothing in the last."""
    draw = np.random.default_rng(seed)
    problems = []
    for _ in range(queries):
        sums = draw.exponential(size=(entities, buckets)) * draw.integers(1, 20, (entities, 1))
        good = draw.random(entities) < 0.4
        good[:2] = True, False
        sums += np.outer(good, np.linspace(4, 0, buckets))
        problems.append((sums, good, ~good))
    return problems


@pytest.mark.parametrize(("lam", "decay", "objective"), [(4, 0.5, 0.125), (1, 0.5, 0.5), (0.25, 0, 1)])
def test_one_bucket_by_hand(lam: float, decay: float, objective: float) -> None:
    """A good entity of 3, a bad one of 1: D = 1/2 parts them by 1; where D is dear it stays 0."""
    solution = check([problem([[3]], [[1]])], lam)
    assert solution.decay.tolist() == pytest.approx([decay], abs=1e-12)
    assert solution.objective == pytest.approx(objective, rel=1e-12)


def test_a_cutoff_by_hand() -> None:
    """Good 2 and 0, bad 1 and 3: only without the second bucket is the good one ahead, D = (1, 0)."""
    solution = check([problem([[2, 0]], [[1, 3]])], 5)
    assert solution.decay.tolist() == pytest.approx([1, 0], abs=1e-12)
    assert solution.objective == pytest.approx(1 / 5, rel=1e-12)


def test_what_does_not_help_early_must_still_be_taken_to_use_what_helps_late() -> None:
    """Good 0 and 2, bad 1 and 0: the second bucket needs the first, D = (1, 1), for 2 - 1 = 1."""
    solution = check([problem([[0, 2]], [[1, 0]])], 8)
    assert solution.decay.tolist() == pytest.approx([1, 1], abs=1e-12)


def test_two_queries_by_hand() -> None:
    """One wants D = 1/2 and has no more to win; the other wins 1 for every unit of D up to 1, at a price of 1/2."""
    solution = check([problem([[2]], [[0]]), problem([[1]], [[0]])], 2)
    assert solution.decay.tolist() == pytest.approx([1], rel=1e-12)
    assert solution.objective == pytest.approx(1 / 2, rel=1e-12)


@pytest.mark.parametrize("lam", [0.01, 0.3, 1, 30, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_the_same_optimum_and_decay_as_the_full_program(seed: int, lam: float) -> None:
    """Sums of many digits have one optimal decay."""
    problems = drawn_problems(seed)
    solution = check(problems, lam)
    decay, objective = full_lp(problems, lam)
    assert solution.objective == pytest.approx(objective, rel=1e-8)
    assert solution.decay == pytest.approx(decay, rel=1e-6, abs=1e-6 * max(decay[0], 1e-3))


numbers = st.integers(-4, 8).map(float) | st.floats(-10, 100).map(lambda v: round(v, 3))


@st.composite
def small_problems(draw: st.DrawFn) -> list[Problem]:
    buckets = draw(st.integers(1, 5))
    row = st.lists(numbers, min_size=buckets, max_size=buckets)
    rows = st.lists(row, min_size=1, max_size=4)
    return draw(st.lists(st.builds(problem, rows, rows), min_size=1, max_size=4))


@settings(deadline=None)
@given(small_problems(), st.sampled_from([0.01, 0.5, 1.0, 7.0, 1000.0]))
def test_any_small_problem_has_the_optimum_of_the_full_program(problems: list[Problem], lam: float) -> None:
    """With ties, zeros, negative sums and repeated rows."""
    check(problems, lam)


@settings(deadline=None)
@given(small_problems(), st.sampled_from([0.5, 7.0]))
def test_no_other_decay_is_better(problems: list[Problem], lam: float) -> None:
    """Nor twice as large, smaller, flatter or steeper."""
    solution = fit_decay(problems, lam)
    D = solution.decay
    for other in (2 * D, 0.9 * D, np.full(D.size, D[0]), D * (np.arange(D.size) == 0), D + 0.1):
        assert true_objective(problems, lam, other) >= solution.objective * (1 - 1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e6, 1e9])
def test_the_unit_of_scores_does_not_matter(scale: float) -> None:
    """Scores a million times larger and lambda as much smaller have a decay as much smaller, and one objective."""
    problems = drawn_problems(7)
    plain = fit_decay(problems, 3.0)
    scaled = fit_decay([(sums * scale, good, bad) for sums, good, bad in problems], 3.0 / scale)
    assert scaled.objective == pytest.approx(plain.objective, rel=1e-9)
    assert scaled.decay * scale == pytest.approx(plain.decay, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_huge_scores_as_they_are(lam: float) -> None:
    """Sums of a million, lambda as for small ones: a bound as tight."""
    problems = [(sums * 1e6, good, bad) for sums, good, bad in drawn_problems(8)]
    solution = fit_decay(problems, lam)
    assert solution.bound <= solution.objective <= solution.bound * (1 + 1e-9)
    assert solution.objective == pytest.approx(true_objective(problems, lam, solution.decay), rel=1e-9)


def test_queries_of_very_different_sums() -> None:
    """From 1e-4 to 1e4 within one problem."""
    problems = [
        (sums * 10.0**k, good, bad) for k, (sums, good, bad) in zip((-4, -1, 1, 4), drawn_problems(9), strict=True)
    ]
    solution = fit_decay(problems, 1e5)
    assert solution.bound <= solution.objective <= solution.bound * (1 + 1e-9)
    assert solution.objective == pytest.approx(full_lp(problems, 1e5)[1], rel=1e-6)


@pytest.mark.parametrize("lam", [2.0, 1e4, 1e8])
def test_where_all_pairs_can_be_parted_only_the_decay_costs(lam: float) -> None:
    """Good entities of 3 and 5, bad ones of 1 and 2 in the first bucket: D(0) = 1, no loss."""
    solution = fit_decay([problem([[3, 0], [5, 0]], [[1, 0], [2, 0]])] * 3, lam)
    assert solution.decay == pytest.approx([1, 0], abs=1e-9)
    assert solution.objective == pytest.approx(1 / lam, rel=1e-9)


@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e6])
def test_where_nothing_helps_the_decay_is_0(lam: float) -> None:
    """Bad entities are ahead in every bucket, or all sums are 0: the loss is 1 a query."""
    for problems in ([problem([[1, 1]], [[2, 3], [1, 2]])] * 2, [problem([[0, 0]], [[0, 0]])] * 2):
        solution = fit_decay(problems, lam)
        assert solution.decay.tolist() == [0, 0]
        assert solution.objective == 2


def test_queries_without_a_good_or_a_bad_entity_do_not_count() -> None:
    """Nor do entities that are neither."""
    problems = drawn_problems(5)
    sums, good, _ = problems[0]
    nobody = np.zeros(good.size, dtype=bool)
    more = (np.vstack([sums, sums * 100]), np.append(good, nobody), np.append(~good, nobody))
    plain = fit_decay(problems, 2.0)
    same = fit_decay([(sums, good, nobody), more, (sums, nobody, good), *problems[1:]], 2.0)
    assert same.decay.tolist() == plain.decay.tolist()
    assert same.objective == plain.objective


@pytest.mark.parametrize("problems", [[], [problem([[1.0]], [])], [problem([], [[1.0]])]])
def test_no_query_to_learn_from_is_an_error(problems: list[Problem]) -> None:
    """A decay of 0 would rank nothing."""
    with pytest.raises(InputError, match="no query has both a good and a bad entity"):
        fit_decay(problems, 1.0)


@pytest.mark.parametrize("lam", [0.0, -1.0, float("inf"), float("nan")])
def test_a_bad_lambda_is_refused(lam: float) -> None:
    """It must be a number above 0."""
    with pytest.raises(UsageError, match="lambda must be a number above 0, not"):
        fit_decay(drawn_problems(1), lam)


@pytest.mark.parametrize("tolerance", [0.0, -1.0, 1.0, float("nan")])
def test_a_bad_tolerance_is_refused(tolerance: float) -> None:
    """It must be between 0 and 1."""
    with pytest.raises(UsageError, match="tolerance must be between 0 and 1, not"):
        fit_decay(drawn_problems(1), 1.0, tolerance)


def test_the_same_again() -> None:
    """To the last bit."""
    first, second = fit_decay(drawn_problems(3), 5.0), fit_decay(drawn_problems(3), 5.0)
    assert first.decay.tolist() == second.decay.tolist()
    assert (first.objective, first.bound, first.cuts) == (second.objective, second.bound, second.cuts)


def test_millions_of_pairs() -> None:
    """A query of 2,000 good and 3,000 bad entities: six million slacks in the full program, a few tangents here."""
    draw = np.random.default_rng(11)
    good = np.arange(5000) < 2000
    sums = draw.exponential(size=(5000, 10)) + np.outer(good, np.linspace(0.4, -0.2, 10))
    solution = fit_decay([(sums, good, ~good)], 100.0)
    values = sums @ solution.decay
    loss = np.maximum(0, 1 + values[~good][None, :] - values[good][:, None]).mean()
    assert solution.objective == pytest.approx(solution.decay[0] / 100 + loss, rel=1e-9)
    assert solution.bound <= solution.objective <= solution.bound * (1 + 1e-9)
    assert solution.cuts < 1000
    assert 0 <= solution.decay[-1] < solution.decay[0]
