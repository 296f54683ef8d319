"""Measures of ir_measures by name: the same values, our order of entities, errors with a remedy."""

from __future__ import annotations

import shutil
import sys
from typing import Any

import ir_measures
import pytest

from fader.errors import UsageError
from fader.experiment.foreign import Foreign, parse_foreign_measure
from fader.experiment.measures import parse_measures

GRADES = {"first": {"a": 2, "c": 1, "z": 1}, "a b": {"b": 1, "c": -1}, "last-1": {"a": 1}}
RUN = {"first": {"a": 3.0, "b": 2.0, "c": 1.0}, "a b": {"c": 2.0, "b": 1.0, "d": 0.5}, "unjudged": {"a": 1.0}}
QUERIES = list(GRADES)


@pytest.mark.parametrize("name", ["P@2", "Rprec", "R@10", "Bpref", "AP@1", "nDCG", "Success@1", "Judged@2", "RR@1"])
def test_values_are_those_of_ir_measures(name: str) -> None:
    """For every query asked for, 0 where there is no answer, whatever queries are called."""
    measure = parse_foreign_measure(name)
    parsed = ir_measures.parse_measure(name)
    theirs = {m.query_id: m.value for m in ir_measures.iter_calc([parsed], GRADES, RUN)}
    assert measure.per_query(RUN, GRADES, QUERIES).tolist() == pytest.approx([theirs[q] for q in QUERIES], abs=1e-12)
    assert measure.larger


@pytest.mark.skipif(shutil.which("perl") is None, reason="this measure is computed by a Perl program")
def test_a_tool_that_reads_only_numbered_queries() -> None:
    """ERR of gains (2^grade - 1) / 16: the first of grade 2 gives 3/16, printed with five digits."""
    values = parse_foreign_measure("ERR@1").per_query(RUN, GRADES, QUERIES)
    assert values.tolist() == pytest.approx([3 / 16, 0, 0], abs=1e-5)


def test_entities_are_in_our_order() -> None:
    """By score as a double, then by id descending, although the tools keep 32 bits."""
    run = {"q": {"a": 1.0 + 1e-12, "b": 1.0, "c": 1.0}}
    first = [parse_foreign_measure("P@1").per_query(run, {"q": {e: 1}}, ["q"])[0] for e in "abc"]
    second = [parse_foreign_measure("P@2").per_query(run, {"q": {e: 1}}, ["q"])[0] for e in "abc"]
    assert (first, second) == ([1, 0, 0], [0.5, 0, 0.5])


def test_an_empty_run_and_no_query() -> None:
    assert parse_foreign_measure("P@1").per_query({}, GRADES, QUERIES).tolist() == [0, 0, 0]
    assert parse_foreign_measure("P@1").per_query({"first": {}}, GRADES, QUERIES).tolist() == [0, 0, 0]
    assert parse_foreign_measure("P@1").per_query(RUN, GRADES, []).tolist() == []


@pytest.mark.parametrize("name", ["P@10", "nDCG(dcg='exp-log2')@5", "AP(rel=2)", "Rprec"])
def test_a_name_parses_back(name: str) -> None:
    assert str(parse_foreign_measure(name)) == name
    assert parse_measures(name) == [Foreign(name)]


def test_case_does_not_matter() -> None:
    """As for Fader's own names."""
    assert list(map(str, parse_measures("p@10,RPREC,err@20,ap@5"))) == ["P@10", "Rprec", "ERR@20", "AP@5"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Rprek", 'unknown measure "Rprek"; did you mean "Rprec"'),
        ("pairswop", 'unknown measure "pairswop"; did you mean "pairswap"'),
        ("qqqqqq@5", 'unknown measure "qqqqqq@5"; known: AP, RR,'),
        ("@5", 'unknown measure "@5"'),
        ("P@ten", 'measure "P@ten": ir_measures says: '),
        ("P", 'measure "P": ir_measures says: invalid param cutoff'),
        ("Rprec@5", 'measure "Rprec@5": ir_measures says: unsupported params'),
        ("P(rel=", 'measure "P(rel=": ir_measures says: '),
    ],
)
def test_a_wrong_name_is_an_error_that_helps(name: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_foreign_measure(name)
    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)


def test_a_measure_that_cannot_be_computed_here_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_arguments: Any) -> Any:
        raise ValueError("Unsupported measures.\n - tool (install it)")

    monkeypatch.setattr(ir_measures, "iter_calc", fails)
    with pytest.raises(UsageError, match=r'measure "P@1": ir_measures says: Unsupported measures. - tool \(install it'):
        Foreign("P@1").per_query(RUN, GRADES, QUERIES)


def test_a_value_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = [ir_measures.Metric("1", None, float("nan"))]
    monkeypatch.setattr(ir_measures, "iter_calc", lambda *_arguments: unknown)
    with pytest.raises(UsageError, match="it has no value for some queries"):
        Foreign("P@1").per_query(RUN, GRADES, QUERIES)


def test_without_the_package_there_is_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fader's own measures work; another name says how to get the package, and what may have been meant."""
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    assert list(map(str, parse_measures("AP,nDCG@7,pairswap"))) == ["AP", "nDCG@7", "pairswap"]
    with pytest.raises(UsageError, match=r"unknown measure \"Rprec\".*pip install 'fader\[measures\]'"):
        parse_measures("AP,Rprec")
    with pytest.raises(UsageError, match=r'did you mean "pairswap".*pip install'):
        parse_measures("pairswop")
