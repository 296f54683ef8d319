"""Measures of rankings and runs against trec_eval, through ir_measures, on drawn runs and judgments."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RR, Qrel, ScoredDoc, nDCG

from fader.experiment.measures import (
    average_measures,
    average_precision,
    find_judged_queries,
    measure_run,
    parse_measures,
    reciprocal_rank,
)
from fader.measures import parse_measure

ENTITIES = [f"e{i}" for i in range(12)] + ["é", "Z", "漢", "😀"]  # byte order and code point order are the same
QUERIES = ["q1", "q2", "q3"]
THEIRS = {"AP": AP, "RR": RR, "nDCG@5": nDCG @ 5, "nDCG@10": nDCG @ 10, "nDCG@1": nDCG @ 1}
rankings = st.lists(st.sampled_from(ENTITIES), unique=True, min_size=1)
judgments = st.dictionaries(st.sampled_from(ENTITIES), st.integers(-1, 3), min_size=1)
# trec_eval keeps 32 bits of a score: only what these hold exactly is ordered alike.
scores = st.sampled_from([-2.0, 0.0, 0.5, 1.0, 1.0 + 2**-23, 3.25]) | st.floats(width=32, min_value=-1e6, max_value=1e6)
answers = st.dictionaries(st.sampled_from(ENTITIES), scores, min_size=1)


@settings(deadline=None, max_examples=300)
@given(rankings, judgments)
def test_measures_agree_with_ir_measures(ranking: list[str], grades: dict[str, int]) -> None:
    """To 1e-9, on rankings without ties: our order is the run's order, whatever breaks ties."""
    qrels = [Qrel("q", entity, grade) for entity, grade in grades.items()]
    run = [ScoredDoc("q", entity, float(-place)) for place, entity in enumerate(ranking)]
    theirs = ir_measures.calc_aggregate([AP, RR], qrels, run)
    assert average_precision(ranking, grades) == pytest.approx(theirs[AP], abs=1e-9)
    assert reciprocal_rank(ranking, grades) == pytest.approx(theirs[RR], abs=1e-9)


@settings(deadline=None, max_examples=500)
@given(
    st.dictionaries(st.sampled_from(QUERIES), answers, min_size=1),
    st.dictionaries(st.sampled_from(QUERIES), judgments, min_size=1),
)
def test_runs_agree_with_trec_eval(run: dict[str, dict[str, float]], grades: dict[str, dict[str, int]]) -> None:
    """To 1e-9, with ties, unjudged entities, negative grades, good entities that are not found, missing queries."""
    queries = find_judged_queries(grades)
    for name, measure in THEIRS.items():
        theirs = {m.query_id: m.value for m in ir_measures.iter_calc([measure], grades, run)}
        ours = measure_run([parse_measure(name)], run, grades, queries)
        assert ours[0].tolist() == pytest.approx([theirs[q] for q in queries], abs=1e-9)


def test_doubles_decide_where_trec_eval_sees_a_tie() -> None:
    """It reads scores as floats of 32 bits, and then takes the larger id; our order is that of the doubles."""
    run, grades = {"q": {"a": 1.0 + 1e-9, "b": 1.0}}, {"q": {"a": 1}}
    assert ir_measures.calc_aggregate([RR], grades, run)[RR] == 0.5
    assert measure_run([parse_measure("RR")], run, grades, ["q"]).tolist() == [[1.0]]


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


def test_a_query_without_answer_has_the_worst_value() -> None:
    """0, and 1 for pairswap, where smaller is better."""
    grades = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 2.0, "b": 1.0}}
    values = measure_run(parse_measures("AP,nDCG@5,pairswap,P@1"), run, grades, ["q1", "q2"])
    assert values.tolist() == [[1, 0], [1, 0], [0, 1], [1, 0]]


def test_judged_queries_are_those_with_a_good_entity() -> None:
    assert find_judged_queries({"q3": {"a": 1}, "q1": {"a": 0, "b": -1}, "q2": {"a": 0, "b": 2}}) == ["q3", "q2"]


def test_means_are_taken_over_judged_queries_only() -> None:
    """A query without a good entity has no AP; where no query has one there is no mean, rather than a mean of 0."""
    rankings = {"q1": ["a", "b"], "q2": ["b", "a"], "q3": ["a"]}
    means = average_measures(rankings, {"q1": {"a": 1}, "q2": {"a": 2}, "q3": {"a": 0}})
    gain = (1 + 1 / np.log2(3)) / 2
    assert means == {"judged": 2, "MAP": 0.75, "MRR": 0.75, "nDCG@5": gain, "nDCG@10": gain}
    assert average_measures(rankings, {}) == {"judged": 0}


def test_a_list_of_measures() -> None:
    """Commas inside brackets do not split, a measure named twice is there once, and AP may be limited."""
    parsed = parse_measures(" MAP, ndcg@5,AP,, nDCG(dcg='log2',judged_only=True)@3")
    assert list(map(str, parsed)) == ["AP", "nDCG@5", "nDCG(judged_only=True)@3"]
    assert list(map(str, parse_measures("AP,RR", candidates_only=True))) == ["AP(candidates-only)", "RR"]
    assert parse_measures(" ,") == []
