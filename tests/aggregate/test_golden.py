"""Small cases worked out by hand: what is ranked by, what is trained, shares, and the gradient."""

from __future__ import annotations

from math import e, exp, log

import numpy as np
import pytest

from fader.aggregate.logspace import exponentiate, in_proportion, log_sums, slope
from fader.aggregate.ranked import sort_contexts
from fader.registry import discover, parse

PACKAGE = "fader.aggregate"
Row = list[float]
AT = np.array([0, 2, 3], dtype=np.int64)
LN2, LN3, LN4 = log(2), log(3), log(4)

# Entities have the scores [a, b] and [c]. Then: values, trained, shares, gradient, each by hand.
GOLDEN = [
    ("average", [1, 2, 4], [1.5, 4], [1.5, 4], [0.5, 1, 4], [0.5, 0.5, 1]),
    ("count", [0.1, 0.9, 5], [2, 1], [2, 1], [1, 1, 1], [0, 0, 0]),
    ("expanz", [0, LN3, LN2], [LN2, LN2], [2, 2], [LN2 / 4, LN2 * 3 / 4, LN2], [1 / 2, 3 / 2, 2]),
    ("expmnz", [0, LN3, LN2], [log(8), LN2], [8, 2], [log(8) / 4, log(8) * 3 / 4, LN2], [2, 6, 2]),
    ("logmean", [0, LN3, LN2], [LN4 - LN2 / 2, LN2], [LN4 - LN2 / 2, LN2],
     [LN2 * 3 / 8, LN2 * 9 / 8, LN2], [1 / 4, 3 / 4, 1]),
    ("logmean(1)", [0, LN3, LN2], [LN2, LN2], [LN2, LN2], [LN2 / 4, LN2 * 3 / 4, LN2], [1 / 4, 3 / 4, 1]),
    ("logmean(-1)", [0, LN3, LN2], [log(8), LN2], [log(8), LN2], [log(8) / 4, log(8) * 3 / 4, LN2], [1 / 4, 3 / 4, 1]),
    ("logsumexp", [0, LN3, LN2], [LN4, LN2], [LN4, LN2], [LN4 / 4, LN4 * 3 / 4, LN2], [1 / 4, 3 / 4, 1]),
    ("max", [1, 2, 4], [2, 4], [2, 4], [0, 2, 4], [0, 1, 1]),
    ("max", [2, 2, 4], [2, 4], [2, 4], [2, 0, 4], [1, 0, 1]),
    ("median", [1, 4, 4], [2.5, 4], [2.5, 4], [0.5, 2, 4], [0.5, 0.5, 1]),
    ("min", [1, 2, 4], [1, 4], [1, 4], [1, 0, 4], [1, 0, 1]),
    ("min", [2, 2, 4], [2, 4], [2, 4], [2, 0, 4], [1, 0, 1]),
    ("mixture", [1, 1, 4], [(1 + LN2 + 1 + 2) / 3, 4], [(1 + LN2 + 1 + 2) / 3, 4],
     [((1 + LN2) / 2 + 2) / 3, ((1 + LN2) / 2 + 1) / 3, 4], [2.5 / 3, 1.5 / 3, 1]),
    ("mixture(of=logsumexp/sum,weights=1/2)", [0, LN3, LN2], [LN4 + 2 * LN3, 3 * LN2], [LN4 + 2 * LN3, 3 * LN2],
     [LN4 / 4, LN4 * 3 / 4 + 2 * LN3, 3 * LN2], [9 / 4, 11 / 4, 3]),
    ("mnz", [1, 2, 4], [6, 4], [6, 4], [2, 4, 4], [2, 2, 1]),
    ("softcount", [1, 3, 0], [log(8), 0], [log(8), 0], [LN2, LN4, 0], [1 / 2, 1 / 4, 1]),
    ("softcount", [-3, 1, 0], [LN2, 0], [LN2, 0], [0, LN2, 0], [0, 1 / 2, 1]),
    ("softcount(form=power)", [1, 4, 9], [3, 3], [3, 3], [1, 2, 3], [1 / 2, 1 / 4, 1 / 6]),
    ("softcount(form=power)", [-1, 4, 0], [2, 0], [2, 0], [0, 2, 0], [0, 1 / 4, 5e5]),
    ("softcutoff", [1, 2, 4], [3, 4], [3, 4], [1, 2, 4], [1, 1, 1]),
    ("softcutoff(decay=1/0.25)", [1, 2, 4], [2.25, 4], [2.25, 4], [0.25, 2, 4], [0.25, 1, 1]),
    ("softcutoff(decay=1/0)", [3, 3, 4], [3, 4], [3, 4], [3, 0, 4], [1, 0, 1]),
    ("softmax", [0, LN3, LN2], [LN4, LN2], [4, 2], [LN4 / 4, LN4 * 3 / 4, LN2], [1, 3, 2]),
    ("softor", [0, 0, LN3], [LN4, LN4], [3 / 4, 3 / 4], [LN2, LN2, LN4], [1 / 8, 1 / 8, 3 / 16]),
    ("softor", [0, 1, -LN3], [LN2 + log(1 + e), LN4 - LN3], [1 - 1 / (2 + 2 * e), 1 / 4],
     [LN2, log(1 + e), LN4 - LN3], [1 / (4 + 4 * e), e / (2 * (1 + e) ** 2), 3 / 16]),
    ("sum", [1, 2, 4], [3, 4], [3, 4], [1, 2, 4], [1, 1, 1]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "scores", "values", "trained", "shares", "gradient"), GOLDEN)
def test_golden(name: str, scores: Row, values: Row, trained: Row, shares: Row, gradient: Row) -> None:
    """What each of the four methods gives."""
    aggregator, given = parse(PACKAGE, name), np.array(scores, dtype=np.float64)
    assert aggregator.values(given, AT).tolist() == pytest.approx(values, rel=1e-14)
    assert aggregator.loss_values(given, AT).tolist() == pytest.approx(trained, rel=1e-14)
    assert aggregator.shares(given, AT).tolist() == pytest.approx(shares, rel=1e-14)
    assert aggregator.gradient(given, AT, np.ones(2)).tolist() == pytest.approx(gradient, rel=1e-14)


def test_every_aggregator_has_a_golden_case() -> None:
    """A new file needs a new line above."""
    assert set(discover(PACKAGE)) <= {case[0] for case in GOLDEN}


def test_sums_of_exponentials_in_log_space() -> None:
    """Two zeros make ln 2, a half each; a lone score is its own logarithm, however large."""
    scores = np.array([0.0, 0.0, -700.0])
    assert log_sums(scores, AT).tolist() == [LN2, -700.0]
    halves = in_proportion(scores, AT, log_sums(scores, AT), np.array([6.0, 5.0]))
    assert halves.tolist() == pytest.approx([3.0, 3.0, 5.0], rel=1e-15)


def test_the_tangent_at_200() -> None:
    """The exponential up to there, and one slope on both sides."""
    logs = np.array([-700.0, 0.0, 1.0, 200.0, 201.0, 1200.0])
    assert exponentiate(logs).tolist() == [exp(-700), 1.0, e, exp(200), 2 * exp(200), 1001 * exp(200)]
    assert slope(logs).tolist() == [exp(-700), 1.0, e, exp(200), exp(200), exp(200)]


def test_ranks_are_by_score_and_ties_in_their_order() -> None:
    """Best first; within each entity."""
    scores, at = np.array([1.0, 3.0, 3.0, -1.0, -2.0, -1.0]), np.array([0, 3, 6], dtype=np.int64)
    assert sort_contexts(scores, at).tolist() == [1, 2, 0, 3, 5, 4]
