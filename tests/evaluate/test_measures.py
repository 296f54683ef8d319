"""AP and RR against ir_measures, an independent reading of trec_eval, on drawn rankings and judgments."""

from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RR, Qrel, ScoredDoc

from fader.evaluate.measures import average_precision, mean_measures, reciprocal_rank

ENTITIES = [f"e{i}" for i in range(12)]
rankings = st.lists(st.sampled_from(ENTITIES), unique=True, min_size=1)
judgments = st.dictionaries(st.sampled_from(ENTITIES), st.integers(-1, 3), min_size=1)


@settings(deadline=None, max_examples=300)
@given(rankings, judgments)
def test_measures_agree_with_ir_measures(ranking: list[str], grades: dict[str, int]) -> None:
    """To 1e-9, on rankings without ties: our order is the run's order, whatever breaks ties."""
    qrels = [Qrel("q", entity, grade) for entity, grade in grades.items()]
    run = [ScoredDoc("q", entity, float(-place)) for place, entity in enumerate(ranking)]
    theirs = ir_measures.calc_aggregate([AP, RR], qrels, run)
    assert average_precision(ranking, grades) == pytest.approx(theirs[AP], abs=1e-9)
    assert reciprocal_rank(ranking, grades) == pytest.approx(theirs[RR], abs=1e-9)


def test_golden_case() -> None:
    """[a, b, c] with a, c and the unfound z good: AP = (1/1 + 2/3) / 3, RR = 1."""
    grades = {"a": 1, "b": 0, "c": 2, "z": 1}
    assert average_precision(["a", "b", "c"], grades) == pytest.approx(5 / 9, abs=1e-15)
    assert reciprocal_rank(["a", "b", "c"], grades) == 1
    assert reciprocal_rank(["b", "c"], grades) == 0.5


def test_nothing_good_or_nothing_found_is_0() -> None:
    assert average_precision(["a"], {}) == 0
    assert average_precision(["a"], {"a": 0, "b": -1}) == 0
    assert average_precision([], {"a": 1}) == 0
    assert reciprocal_rank([], {"a": 1}) == 0


def test_means_are_taken_over_judged_queries_only() -> None:
    """A query without a good entity has no AP; where no query has one there is no mean, rather than a mean of 0."""
    rankings = {"q1": ["a", "b"], "q2": ["b", "a"], "q3": ["a"]}
    means = mean_measures(rankings, {"q1": {"a": 1}, "q2": {"a": 2}, "q3": {"a": 0}})
    assert means == {"judged": 2, "MAP": 0.75, "MRR": 0.75}
    assert mean_measures(rankings, {}) == {"judged": 0}
