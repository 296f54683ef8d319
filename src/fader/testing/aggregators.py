"""The contract of aggregators (`fader.aggregate.base`), on groups of scores that are given or drawn by a seed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from fader.aggregate.base import Aggregator
from fader.testing.expect import expect, expect_close
from fader.testing.parts import check_part

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
Groups = Sequence[Sequence[float]]
SEEDS = range(20)
SIZES = (1, 2, 60, 100_000)  # contexts per entity, with scores of +-700
LEVELS = ((-700.0,), (0.0,), (700.0,), (-700.0, 0.0, 700.0))


def check_aggregator(aggregator: Aggregator) -> None:
    """Run the whole contract on an aggregator; AssertionError says what does not hold.

    It parses back; values do not depend on the order of contexts or on other entities; shares add up to values; no
    better context lowers a value; ranking and loss agree; the gradient is that of finite differences; extreme scores
    stay finite; no entities have no values.
    """
    check_part(aggregator)
    check_no_entities(aggregator)
    for levels in LEVELS:
        check_extremes(aggregator, levels, SIZES)
    for seed in SEEDS:
        signed, positive = draw_groups(seed, -50, 50), draw_groups(seed, 0, 50)
        check_order(aggregator, signed, seed)
        check_alone(aggregator, signed)
        check_shares(aggregator, signed)
        check_signs(aggregator, positive)
        check_rising(aggregator, signed, 0.5 + seed)
        check_agreement(aggregator, draw_groups(seed, -300, 300))
        check_gradient(aggregator, draw_smooth(seed), seed)
        check_upstream(aggregator, signed)
        check_flags(aggregator, signed)
        check_only_context(aggregator, float(seed - 10) * 5)


def draw_groups(seed: int, low: float, high: float) -> list[list[float]]:
    """Scores of up to 8 entities, each with up to 12 contexts."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 13, size=int(draw.integers(0, 9)))
    return [draw.uniform(low, high, int(n)).tolist() for n in sizes]


def draw_smooth(seed: int) -> list[list[float]]:
    """Scores of which no two are alike and none is 0: away from every kink."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 7, size=int(draw.integers(0, 5)))
    return [((2 * draw.permutation(161)[: int(n)] - 159) / 32).tolist() for n in sizes]


def to_arrays(groups: Groups) -> tuple[F64, I64]:
    """Scores in a row, and where each entity's begin."""
    scores = np.array([s for group in groups for s in group], dtype=np.float64)
    return scores, np.array([0, *accumulate(map(len, groups))], dtype=np.int64)


def sum_groups(numbers: F64, at: I64) -> F64:
    """The sum of each entity's numbers."""
    return np.array([numbers[a:b].sum() for a, b in pairwise(at.tolist())], dtype=np.float64)


def check_order(aggregator: Aggregator, groups: Groups, seed: int) -> None:
    """Values do not depend on the order of contexts but for rounding, on that of entities not at all."""
    draw = np.random.default_rng(seed)
    shuffled = [draw.permutation(group).tolist() for group in groups]
    order = draw.permutation(len(groups))
    for function in (aggregator.values, aggregator.loss_values):
        values = function(*to_arrays(groups))
        expect(values.shape == (len(groups),), f"{values.shape} values for {len(groups)} entities")
        expect(values.dtype == np.float64, f"values are {values.dtype}, not float64")
        expect(np.isfinite(values), "a value is not finite")
        message = "values depend on the order of contexts"
        expect_close(function(*to_arrays(shuffled)), values, message, rel=1e-12, tiny=1e-10)
        expect(function(*to_arrays([groups[i] for i in order])) == values[order], "values depend on entities' order")


def check_alone(aggregator: Aggregator, groups: Groups) -> None:
    """An entity alone has the same value."""
    for function in (aggregator.values, aggregator.loss_values):
        alone = [float(function(*to_arrays([group]))[0]) for group in groups]
        expect(function(*to_arrays(groups)).tolist() == alone, "a value depends on other entities")


def check_shares(aggregator: Aggregator, groups: Groups) -> None:
    """A share per context; together they are their entity's value, but for rounding. Scores are left as they were."""
    scores, at = to_arrays(groups)
    before = scores.copy()
    shares = aggregator.shares(scores, at)
    expect(shares.shape == scores.shape, f"{shares.shape} shares for {scores.size} contexts")
    expect(not np.shares_memory(shares, scores), "`shares` gives the scores themselves, not a copy")
    message = "shares do not add up to the value"
    expect_close(sum_groups(shares, at), aggregator.values(scores, at), message, tiny=1e-10)
    expect(scores == before, "`shares` changes the scores")


def check_signs(aggregator: Aggregator, groups: Groups) -> None:
    """A context that scores from 0 on does not count against its entity."""
    expect(aggregator.shares(*to_arrays(groups)) >= 0, "a share is negative though no score is")
    expect(aggregator.values(*to_arrays(groups)) >= 0, "a value is negative though no score is")


def check_only_context(aggregator: Aggregator, score: float) -> None:
    """The share of an only context is the value."""
    given = to_arrays([[score]])
    message = "the share of an only context is not the value"
    expect_close(aggregator.shares(*given), aggregator.values(*given), message, rel=1e-12)


def check_rising(aggregator: Aggregator, groups: Groups, more: float) -> None:
    """Values do not fall when a context's score rises."""
    raised = [[group[0] + more, *group[1:]] for group in groups]
    for function in (aggregator.values, aggregator.loss_values):
        before, after = function(*to_arrays(groups)), function(*to_arrays(raised))
        expect(after >= before - 1e-9 * np.abs(before) - 1e-10, "a better context lowers the value")


def check_agreement(aggregator: Aggregator, groups: Groups) -> None:
    """Where the loss tells two entities apart by more than rounding, the ranking does too, the same way."""
    values, trained = aggregator.values(*to_arrays(groups)), aggregator.loss_values(*to_arrays(groups))
    for e, f in combinations(range(len(groups)), 2):
        if abs(trained[e] - trained[f]) > 1e-9 * max(abs(trained[e]), abs(trained[f])):
            agree = (trained[e] > trained[f]) == (values[e] > values[f]) and values[e] != values[f]
            expect(agree, "`values` and `loss_values` order two entities differently")


def check_gradient(aggregator: Aggregator, groups: Groups, seed: int) -> None:
    """The gradient is that of `loss_values` by central differences; scores must be away from ties and kinks."""
    scores, at = to_arrays(groups)
    upstream = np.random.default_rng(seed).integers(-3, 4, size=len(groups)).astype(np.float64)
    gradient = aggregator.gradient(scores, at, upstream)
    expect(gradient.shape == scores.shape, f"a gradient of {gradient.shape} for {scores.size} contexts")
    step = 1e-5
    for x in range(scores.size):
        change = np.where(np.arange(scores.size) == x, step, 0.0)
        ahead, behind = (aggregator.loss_values(s, at) for s in (scores + change, scores - change))
        difference = upstream @ (ahead - behind) / (2 * step)
        tiny = 1e-9 * np.abs(upstream * ahead).max(initial=0.0)
        expect_close(difference, gradient[x], "the gradient is not that of finite differences", 1e-6, tiny)


def check_upstream(aggregator: Aggregator, groups: Groups) -> None:
    """Each context's slope times what comes from its own entity, and nothing from others."""
    scores, at = to_arrays(groups)
    upstream = np.arange(len(groups), dtype=np.float64) - 1.5
    slopes = aggregator.gradient(scores, at, np.ones(len(groups)))
    expected = slopes * np.repeat(upstream, np.diff(at))
    message = "the gradient is not linear in what comes from its own entity"
    expect_close(aggregator.gradient(scores, at, upstream), expected, message, rel=1e-12, tiny=0.0)
    expect(slopes >= 0, "a slope is negative")


def check_flags(aggregator: Aggregator, groups: Groups) -> None:
    """Linear: V is the gradient times the scores, whatever these are. Constant: V does not see the scores."""
    scores, at = to_arrays(groups)
    zeros = np.zeros(scores.size)
    slopes = aggregator.gradient(zeros, at, np.ones(len(groups)))
    trained = aggregator.loss_values(scores, at)
    if aggregator.linear:
        expect_close(sum_groups(slopes * scores, at), trained, "V is not linear, though `linear` says so", tiny=1e-9)
    if aggregator.constant:
        expect(trained == aggregator.loss_values(zeros, at), "V sees the scores, though `constant` says it does not")
        expect(not slopes.any(), "the gradient of a constant V is not 0")
    convex = aggregator.linear or aggregator.constant
    expect(aggregator.convex == convex, "`convex` must be set where V is linear or constant, and only there")


def check_extremes(aggregator: Aggregator, levels: Sequence[float], sizes: Sequence[int]) -> None:
    """Values, V, shares and gradient are finite for scores of +-700 and many contexts; shares still add up."""
    at = np.array([0, *accumulate(sizes)], dtype=np.int64)
    scores = np.random.default_rng(3).choice(np.array(levels), int(at[-1]))
    values, shares = aggregator.values(scores, at), aggregator.shares(scores, at)
    upstream = np.where(np.arange(len(sizes)) % 2 == 0, 1.0, -1.0)
    for numbers in (values, shares, aggregator.loss_values(scores, at), aggregator.gradient(scores, at, upstream)):
        expect(np.isfinite(numbers), "a number is not finite for extreme scores")
    difference = np.abs(sum_groups(shares, at) - values)
    expect(difference <= 1e-9 * sum_groups(np.abs(shares), at), "shares of extreme scores do not add up")


def check_no_entities(aggregator: Aggregator) -> None:
    """Empty in, empty out."""
    scores, at = to_arrays([])
    for numbers in (aggregator.values(scores, at), aggregator.loss_values(scores, at), aggregator.shares(scores, at)):
        expect(numbers.shape == (0,), "no entities have values")
    expect(aggregator.gradient(scores, at, np.zeros(0)).shape == (0,), "no entities have a gradient")
