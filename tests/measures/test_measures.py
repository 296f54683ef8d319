"""Measures of one query against their definitions in plain Python, on drawn candidates with many ties."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.errors import InputError, UsageError
from fader.measures import (
    MEASURES,
    NDCG,
    STANDARD,
    AveragePrecision,
    Judgments,
    Measure,
    Pairswap,
    ReciprocalRank,
    average_precision,
    judge,
    ndcg,
    pairswap,
    parse_measure,
    ranks_of_good,
    reciprocal_rank,
)


@dataclass(frozen=True)
class Case:
    """A query: (entity, value, grade or None) of candidates, and grades of judged entities that are not candidates."""

    candidates: list[tuple[int, float, int | None]]
    unfound: list[int]

    @property
    def values(self) -> Any:
        return np.array([value for _e, value, _g in self.candidates], dtype=np.float64)

    @property
    def judgments(self) -> Judgments:
        entity = np.array([e for e, _v, _g in self.candidates], dtype=np.int32)
        grades: dict[Any, int] = {e: g for e, _v, g in self.candidates if g is not None}
        grades |= {f"unfound {i}": grade for i, grade in enumerate(self.unfound)}
        return judge(entity, entity.tolist(), grades)

    @property
    def ranked(self) -> list[int]:
        """Gains in order of rank."""
        ordered = sorted(self.candidates, key=lambda c: (c[1], c[0]), reverse=True)
        return [max(0, grade or 0) for _e, _v, grade in ordered]

    @property
    def all_gains(self) -> list[int]:
        grades = [g for _e, _v, g in self.candidates if g is not None] + self.unfound
        return sorted((max(0, grade) for grade in grades), reverse=True)


def brute_ap(case: Case, candidates_only: bool = False) -> float:
    ranked = case.ranked
    total = sum(sum(g > 0 for g in ranked[:r]) / r for r in range(1, len(ranked) + 1) if ranked[r - 1] > 0)
    good = sum(g > 0 for g in (ranked if candidates_only else case.all_gains))
    return total / good if good else 0.0


def brute_rr(case: Case) -> float:
    return next((1 / r for r, gain in enumerate(case.ranked, 1) if gain > 0), 0.0)


def brute_ndcg(case: Case, cut: int) -> float:
    def dcg(gains: list[int]) -> float:
        return sum(gain / math.log2(r + 1) for r, gain in enumerate(gains[:cut], 1))

    ideal = dcg(case.all_gains)
    return dcg(case.ranked) / ideal if ideal else 0.0


def brute_pairswap(case: Case, judged_only: bool = False) -> float:
    good = [v for _e, v, g in case.candidates if (g or 0) > 0]
    bad = [v for _e, v, g in case.candidates if (g or 0) <= 0 and not (judged_only and g is None)]
    if not good or not bad:
        return 0.0 if good else 1.0
    return sum(1.0 if b > g else 0.5 if b == g else 0.0 for g in good for b in bad) / (len(good) * len(bad))


grades = st.none() | st.integers(-2, 3)
values = st.sampled_from([-math.inf, -1.5, -0.0, 0.0, 1e-300, 1.0, 1.0 + 2**-52, 2.0, math.inf])
cases = st.builds(
    Case,
    st.lists(st.tuples(st.integers(0, 30), values, grades), max_size=14, unique_by=lambda c: c[0]),
    st.lists(st.integers(-2, 3), max_size=4),
)


@settings(deadline=None, max_examples=500)
@given(cases)
def test_measures_are_their_definitions(case: Case) -> None:
    """Ties by the larger entity number, unjudged and negative candidates as bad, unfound good ones counted."""
    assert AveragePrecision().of(case.values, case.judgments) == pytest.approx(brute_ap(case), abs=1e-12)
    only = AveragePrecision(candidates_only=True)
    assert only.of(case.values, case.judgments) == pytest.approx(brute_ap(case, candidates_only=True), abs=1e-12)
    assert ReciprocalRank().of(case.values, case.judgments) == brute_rr(case)
    for cut in (1, 2, 5, 10, 10**9 - 1):
        assert NDCG(cut).of(case.values, case.judgments) == pytest.approx(brute_ndcg(case, cut), abs=1e-12)
    assert Pairswap().of(case.values, case.judgments) == pytest.approx(brute_pairswap(case), abs=1e-12)
    only_judged = Pairswap(judged_only=True).of(case.values, case.judgments)
    assert only_judged == pytest.approx(brute_pairswap(case, judged_only=True), abs=1e-12)


@settings(deadline=None)
@given(cases, st.randoms(use_true_random=False))
def test_the_order_in_which_candidates_are_given_does_not_matter(case: Case, random: Any) -> None:
    """Bit for bit."""
    shuffled = Case(random.sample(case.candidates, len(case.candidates)), case.unfound[::-1])
    for measure in MEASURES.values():
        expected = measure.of(case.values, case.judgments)
        assert measure.of(shuffled.values, shuffled.judgments) == expected
        assert 0 <= expected <= 1


@pytest.mark.parametrize("good", [0, 1, 2, 3, 4, 5, 6, 40, 199, 200])
def test_few_and_many_good_candidates(good: int) -> None:
    """Ranks are those of a full sort, however many are good."""
    random = np.random.default_rng(good)
    value = random.integers(0, 60, size=200).astype(np.float64)
    entity = random.permutation(200).astype(np.int32)
    grade = np.zeros(200, dtype=np.int64)
    grade[random.choice(200, good, replace=False)] = random.integers(1, 4, size=good)
    order = np.lexsort((entity, value))[::-1]
    expected = np.flatnonzero(grade[order] > 0)
    ranks, gains = ranks_of_good(value, entity, grade)
    assert ranks.tolist() == (expected + 1).tolist()
    assert gains.tolist() == grade[order][expected].tolist()


def test_golden_case() -> None:
    """Values a 3, b 2, c 1; a, c and the unfound z are good with grades 1, 2, 1."""
    value, entity, grade = np.array([3.0, 2.0, 1.0]), np.arange(3, dtype=np.int32), np.array([1, 0, 2])
    assert average_precision(value, entity, grade, 3) == pytest.approx(5 / 9, abs=1e-15)
    assert reciprocal_rank(value, entity, grade) == 1
    assert pairswap(value, grade) == 0.5
    expected = (1 + 2 / 2) / (2 + 1 / math.log2(3) + 1 / 2)
    assert ndcg(value, entity, grade, np.array([2, 1, 1]), 5) == pytest.approx(expected, abs=1e-15)


def test_equal_values_are_ordered_by_the_larger_entity() -> None:
    """As trec_eval orders ids; only pairswap knows a tie."""
    value, entity = np.zeros(2), np.array([7, 8], dtype=np.int32)
    assert reciprocal_rank(value, entity, np.array([1, 0])) == 0.5
    assert reciprocal_rank(value, entity, np.array([0, 1])) == 1
    assert pairswap(value, np.array([1, 0])) == 0.5


def test_doubles_are_compared() -> None:
    """Values that 32 bits cannot tell apart are no tie."""
    value, entity = np.array([1 + 2**-52, 1.0]), np.array([7, 8], dtype=np.int32)
    assert reciprocal_rank(value, entity, np.array([1, 0])) == 1


def test_without_candidates() -> None:
    """0 by every measure that wants to be large, and 1 by pairswap: also what stands for a query without answer."""
    nothing = judge(np.zeros(0, dtype=np.int32), [], {"z": 1})
    for measure in MEASURES.values():
        assert measure.of(np.zeros(0), nothing) == measure.worst == (0 if measure.larger else 1)


def test_pairswap_without_a_pair() -> None:
    """1 without a good candidate, else 0 without a bad one."""
    assert pairswap(np.array([1.0, 2.0]), np.array([0, -1])) == 1
    assert pairswap(np.array([1.0, 2.0]), np.array([1, 2])) == 0
    judged = np.array([True, False])
    assert pairswap(np.array([1.0, 2.0]), np.array([1, 0]), judged) == 0
    assert pairswap(np.array([1.0, 2.0]), np.array([1, 0])) == 1


@pytest.mark.parametrize("grade", [[1, 0], [0, 1], [0, 0]])
def test_a_value_that_is_no_number_is_refused(grade: list[int]) -> None:
    """It has no rank, whether it is a good candidate's or not."""
    judgments = judge(np.arange(2, dtype=np.int32), range(2), dict(enumerate(grade)))
    for measure in STANDARD:
        with pytest.raises(InputError, match="nan, which has no rank"):
            measure.of(np.array([math.nan, 1.0]), judgments)


def test_arrays_of_other_kinds_are_taken() -> None:
    """Grades of 32 bits, every other element, whole numbers as values."""
    value, entity = np.array([3, 9, 2, 9, 1, 9])[::2], np.arange(6, dtype=np.int64)[::2]
    grade = np.array([1, 9, 0, 9, 2, 9], dtype=np.int32)[::2]
    found: Any = average_precision(value, entity, grade, 3)  # type: ignore[arg-type]
    assert found == pytest.approx(5 / 9)


@pytest.mark.parametrize("measure", [*MEASURES.values(), NDCG(1), NDCG(20)], ids=str)
def test_a_name_parses_back(measure: Measure) -> None:
    assert parse_measure(str(measure)) == measure
    assert parse_measure(f" {str(measure).upper()} ") == measure
    assert hash(parse_measure(str(measure))) == hash(measure)


def test_names() -> None:
    """The five of the paper's tables, and what others call them."""
    assert [str(measure) for measure in STANDARD] == ["AP", "RR", "nDCG@5", "nDCG@10", "pairswap"]
    assert [measure.larger for measure in STANDARD] == [True, True, True, True, False]
    assert (parse_measure("MAP"), parse_measure("MRR"), parse_measure("NDCG@5")) == (STANDARD[0], STANDARD[1], NDCG(5))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pairswop", 'unknown measure "pairswop"; did you mean "pairswap"'),
        ("zzzz", 'unknown measure "zzzz"; known: AP, RR, nDCG@5'),
        ("nDCG@0", "nDCG@0: the cut must be 1 or more"),
        ("nDCG@-1", 'unknown measure "nDCG@-1"'),
        ("", 'unknown measure ""; known: '),
    ],
)
def test_an_unknown_name_is_an_error_that_helps(name: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_measure(name)
    assert str(caught.value).startswith(message)
