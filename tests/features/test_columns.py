"""Kernels, confidence, bias and constant: one column each, and popularity two; worked out by hand."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from contracts.tables import contexts_of
from contracts.worlds import Document, Mention, World, worlds
from fader.features.combined import feature_map
from fader.features.kernel import NEAR, SHAPES
from fader.registry import parse
from features.tables import table

DECAYS: dict[str, Any] = {
    "gaussian": lambda d, width: math.exp(-(d**2) / (2 * width**2)),
    "triangle": lambda d, width: max(0.0, 1 - d / width),
    "cosine": lambda d, width: (1 + math.cos(math.pi * d / width)) / 2 if d <= width else 0.0,
    "circle": lambda d, width: math.sqrt(1 - (d / width) ** 2) if d <= width else 0.0,
    "step": lambda d, width: 1.0 if d <= width else 0.0,
    "inverse": lambda d, width: 1 / (1 + d / width),
}


def score(text: str, distances: list[list[int]], df: list[int], w: float = 1.0) -> list[float]:
    contexts = contexts_of(table(distances, df))
    out: list[float] = parse("fader.features", text).score(contexts, np.array([w])).tolist()
    return out


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("gaussian", [1, math.exp(-1 / 8), math.exp(-1 / 2), math.exp(-2), 0]),
        ("triangle", [1, 0.5, 0, 0, 0]),
        ("cosine", [1, 0.5, 0, 0, 0]),
        ("circle", [1, math.sqrt(3) / 2, 0, 0, 0]),
        ("step", [1, 1, 1, 0, 0]),
        ("inverse", [1, 2 / 3, 1 / 2, 1 / 3, 1 / 101]),
    ],
)
def test_golden_kernels(shape: str, expected: list[float]) -> None:
    """All of the IDF at distance 0, half the width, the width, twice it and a hundred times; width 10."""
    found = score(f"kernel(shape={shape})", [[0, 5, 10, 20, 1000, -1]], [7])
    assert found == pytest.approx([*expected, 0], abs=1e-15)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("width", [0.3, 7, 600.5, 100_000])
def test_near_and_far_distances_have_one_decay(shape: str, width: float) -> None:
    """Looked up or computed; the decay of the formula."""
    distances = [0, 1, 7, NEAR - 1, NEAR, NEAR + 1, 600, 601, 5000, 2_000_000_000]
    found = score(f"kernel(shape={shape},width={width})", [distances], [7])
    assert found == pytest.approx([DECAYS[shape](d, width) for d in distances], rel=1e-12, abs=1e-15)
    assert all(a >= b for a, b in pairwise(found))


def test_kernels_add_up_by_share_of_idf() -> None:
    """IDF of the paper: N/df = 10 and 10/9, so 0.9 and 0.1; a weight of 2 doubles."""
    found = score("kernel(shape=triangle,idf=paper)", [[5, -1], [0, 8]], [5, 45], w=2.0)
    assert found == pytest.approx([2 * (0.9 * 0.5 + 0.1), 2 * 0.1 * 0.2])


def test_the_inverse_kernel_is_added_in_query_order() -> None:
    """Bit for bit: share over 1 + l/width, one literal after the other."""
    distances, df = [[3, 700], [11, 1], [2, 9]], [5, 17, 50]
    share = contexts_of(table(distances, df)).statistics.perplexity().tolist()
    expected = []
    for x in range(2):
        total = 0.0
        for t in range(3):
            total += share[t] / (1.0 + distances[t][x] / 7.0)
        expected.append(total)
    assert score("kernel(width=7)", distances, df) == expected


def test_golden_confidence() -> None:
    """0.8 under the weight 2 is 1.6; two matched literals have half of it each."""
    contexts, feature = contexts_of(table([[1, 2], [3, -1]], [5, 5])), parse("fader.features", "confidence")
    contexts.confidence = np.array([0.8, 0.5])
    assert feature.score(contexts, np.array([2.0])).tolist() == [1.6, 1.0]
    assert feature.by_literal(contexts, np.arange(2, dtype=np.int32), np.array([2.0])).tolist() == [[0.8, 1], [0.8, 0]]


def test_golden_bias() -> None:
    """The one weight that is never above 0; it starts below, and lowers every score alike."""
    feature = parse("fader.features", "bias")
    low, high = feature.bounds()
    assert (low[0], high[0]) == (-math.inf, 0)
    assert feature.start()[0] < 0
    assert score("bias", [[1, -1]], [5], w=-0.5) == [-0.5, -0.5]


def test_golden_constant() -> None:
    """1 a context."""
    assert score("constant", [[1, -1]], [5], w=3.0) == [3, 3]


def test_golden_popularity() -> None:
    """One of 8 documents mentions the entity, so that p = ln 2 / ln 9; the query's document is the only one that counts
    for anything else."""
    other = tuple(Document((5, 6), (Mention(0, 1, 3),)) for _ in range(7))
    contexts = World((Document((0, 5), (Mention(1, 2, 2), Mention(1, 2, 2))), *other), 1).contexts()
    feature, p = parse("fader.features", "popularity"), math.log(2) / math.log(9)
    assert feature.score(contexts, np.array([3.0, 5.0])).tolist() == pytest.approx([3 * p + 5 * (1 - p)] * 2)
    assert feature.labels() == ["mentioned in many documents", "mentioned in few"]
    pieces = [(piece.literal, piece.value) for piece in feature.pieces(contexts, 1, np.array([3.0, 5.0]))]
    assert pieces == [(-1, pytest.approx(3 * p)), (-1, pytest.approx(5 * (1 - p)))]


@settings(deadline=None)
@given(worlds())
def test_popularity_is_of_the_entity_in_the_whole_collection(world: World) -> None:
    """p(e) = ln(1 + df(e)) / ln(1 + N) and 1 - p(e), for every context of e, from 0 to 1."""
    feature, contexts = parse("fader.features", "popularity"), world.contexts()
    p = [math.log(1 + world.documents_with(m.entity)) / math.log(1 + len(world.documents)) for _d, m in world.rows]
    assert feature.score(contexts, np.array([1.0, 0.0])).tolist() == pytest.approx(p, rel=1e-12)
    assert feature.score(contexts, np.array([0.0, 1.0])).tolist() == pytest.approx([1 - x for x in p], abs=1e-12)
    assert all(0 <= x <= 1 + 1e-12 for x in p)


@settings(deadline=None)
@given(worlds(least=2))
def test_popularity_under_logsumexp_is_a_prior(world: World) -> None:
    """ln sum exp(a + c) = c + ln sum exp(a): it adds the same to an entity's value, however many contexts it has."""
    contexts, w = world.contexts(), np.array([2.0, 0.5])
    with_it = feature_map("kernel+popularity").score(contexts, np.array([3.0, *w]))
    without = feature_map("kernel").score(contexts, np.array([3.0]))
    groups, values = contexts.groups, parse("fader.aggregate", "logsumexp").values
    prior = feature_map("popularity").score(contexts, w)[groups.order[groups.at[:-1]]]
    expected = values(without[groups.order], groups.at) + prior
    assert values(with_it[groups.order], groups.at) == pytest.approx(expected, rel=1e-12)
