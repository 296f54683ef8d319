"""What is read off per-query results: means, the best, p-values, and which way a difference goes."""

from __future__ import annotations

import numpy as np
import pytest

from fader.experiment.results import Results, measure_runs
from fader.experiment.significance import confidence_interval, holm, t_test
from fader.measures import AveragePrecision, Pairswap

HIGH, LOW = np.array([0.9, 0.8, 0.9, 0.7, 0.8]), np.array([0.1, 0.2, 0.1, 0.1, 0.3])
# "swap" is the mirror image: what is good by AP is bad by pairswap, where smaller is better.
RESULTS = Results(
    ("low", "high", "same"),
    (AveragePrecision(), Pairswap()),
    ("q1", "q2", "q3", "q4", "q5"),
    np.array([[LOW, HIGH], [HIGH, LOW], [HIGH, LOW]]),
)


def test_means_and_the_best() -> None:
    """The best is the largest, or the smallest where smaller is better; of equal ones the first, but all are best."""
    assert RESULTS.means[0] == pytest.approx([LOW.mean(), HIGH.mean()])
    assert (RESULTS.best(0), RESULTS.best(1)) == (1, 1)
    assert [RESULTS.is_best(s, 1) for s in range(3)] == [False, True, True]
    assert RESULTS.confidence_interval(0, 0) == confidence_interval(LOW)


def test_p_values_are_by_system_and_measure() -> None:
    """Against the baseline, which has none; Holm's correction over the systems of one measure."""
    p = t_test(LOW, HIGH)
    assert RESULTS.p_values(1) == [[p, t_test(HIGH, LOW)], [None, None], [1.0, 1.0]]
    assert RESULTS.p_values(1, correct=True)[0][0] == holm([p, 1.0])[0]


def test_directions() -> None:
    """-1 where significantly worse than the baseline, 1 where better, for both kinds of measure."""
    assert [RESULTS.direction(0, m, 1, 0.01) for m in (0, 1)] == [-1, -1]
    assert [RESULTS.direction(1, m, 0, 0.01) for m in (0, 1)] == [1, 1]
    assert RESULTS.direction(0, 0, 1, 0.05) == 0
    assert RESULTS.direction(1, 0, 1, None) == 0


def test_results_of_runs() -> None:
    """Over the queries with a good entity, in the order of the judgments; a missing query has the worst value."""
    grades = {"q2": {"a": 1}, "q0": {"a": 0}, "q1": {"a": 1, "z": 1}}
    runs = [{"q1": {"a": 1.0, "b": 2.0}}, {"q2": {"a": 1.0}, "q1": {"a": 2.0, "b": 1.0}}]
    results = measure_runs(["x", "y"], runs, grades, [AveragePrecision(), Pairswap()])
    assert (results.systems, results.queries) == (("x", "y"), ("q2", "q1"))
    assert results.values.tolist() == [[[0, 0.25], [1, 1]], [[1, 0.5], [0, 0]]]
