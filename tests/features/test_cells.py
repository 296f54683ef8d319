"""Grid, rectangle, coverage and IdfUpto against vectors written out, and worked out by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from contracts.tables import TableColumns, contexts_of, tables
from fader.features.base import Codes
from fader.registry import parse
from features.oracles import Match, Plane, Vector, shares_of
from features.tables import table

LADDER = (0, 1, 2, 3, 6, 11, 19, 34, 62, 111, 200)
EDGES = "distances=0/1/5,shares=0/0.2/0.5/0.9"
PLANE = Plane((0, 1, 5), (0, 0.2, 0.5, 0.9))
SIGNED = Plane(PLANE.distances, PLANE.shares, 2)
TENTHS = Plane(LADDER, tuple(i / 10 for i in range(10)))
CASES = [
    ("grid", TENTHS.grid),
    (f"grid({EDGES})", PLANE.grid),
    (f"grid({EDGES},idf=paper)", PLANE.grid),
    (f"grid({EDGES},signed=true)", SIGNED.grid),
    (f"grid({EDGES},monotone=true,signed=true)", SIGNED.rectangle),
    ("rectangle", TENTHS.rectangle),
    (f"rectangle({EDGES})", PLANE.rectangle),
    (f"rectangle({EDGES},signed=true,idf=paper)", SIGNED.rectangle),
    ("rectangle(overlap=union)", TENTHS.union),
    (f"rectangle({EDGES},overlap=union)", PLANE.union),
    (f"rectangle({EDGES},overlap=union,signed=true)", SIGNED.union),
    ("coverage", TENTHS.coverage),
    (f"coverage({EDGES})", PLANE.coverage),
    (f"coverage({EDGES},idf=paper)", PLANE.coverage),
    (f"coverage({EDGES},signed=true)", SIGNED.coverage),
    ("idfupto(distances=0/1/5)", PLANE.idfupto),
    ("idfupto(distances=0/1/5,signed=true,idf=paper)", SIGNED.idfupto),
    ("idfupto(11)", TENTHS.idfupto),
]


def feature_of(text: str) -> Any:
    return parse("fader.features", text)


def vectors(columns: TableColumns, idf: str, vector_of: Any) -> list[Vector]:
    """The vector of every context, of 50 documents."""
    share = shares_of(50, columns.df, idf)
    contexts = [
        [
            Match(share[t], int(columns.distances[t, x]), columns.sides[t, x] > 0)
            for t in range(len(share))
            if columns.distances[t, x] >= 0
        ]
        for x in range(columns.entity.size)
    ]
    return [vector_of(context) for context in contexts]


def scores(text: str, columns: TableColumns, w: NDArray[np.float64] | None = None) -> list[float]:
    feature = feature_of(text)
    out: list[float] = feature.score(contexts_of(columns), np.ones(feature.size) if w is None else w).tolist()
    return out


@pytest.mark.parametrize(("text", "vector_of"), CASES, ids=[text for text, _v in CASES])
@settings(deadline=None)
@given(tables(bare=True), st.integers(0, 2**32 - 1))
def test_scores_are_those_of_the_vectors(text: str, vector_of: Any, columns: TableColumns, seed: int) -> None:
    """w . f, with f written out cell by cell; a share of exactly an edge, as 1/2 is, reaches it."""
    feature = feature_of(text)
    w = np.random.default_rng(seed).exponential(size=feature.size)
    expected = [float(np.dot(v, w)) for v in vectors(columns, feature.idf, vector_of)]
    assert feature.score(contexts_of(columns), w) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(deadline=None)
@given(tables(bare=True), st.integers(0, 2**32 - 1), st.booleans())
def test_a_monotone_grid_is_a_smooth_rectangle(columns: TableColumns, seed: int, signed: bool) -> None:
    """The same scores for the same weights, bit for bit, and the same penalty."""
    one = feature_of(f"grid(4x5,monotone=true,signed={signed})")
    two = feature_of(f"rectangle(4x5,regulariser=smooth,signed={signed})")
    w = np.random.default_rng(seed).exponential(size=one.size)
    assert one.score(contexts_of(columns), w).tolist() == two.score(contexts_of(columns), w).tolist()
    assert (one.penalty() == two.penalty()).all()
    assert one.labels() == two.labels()


@settings(deadline=None)
@given(tables(bare=True), st.integers(0, 2**32 - 1))
def test_one_literal_alone_is_worth_the_same_in_every_way(columns: TableColumns, seed: int) -> None:
    """Sum, union and a grid under monotonicity differ only in how literals go together."""
    alone = table(columns.distances[:1].tolist(), [7])
    w = np.random.default_rng(seed).exponential(size=120)
    texts = ("rectangle", "rectangle(overlap=union)", "coverage", "grid(monotone=true)")
    one, *others = (scores(text, alone, w) for text in texts)
    assert all(other == one for other in others)


def test_golden_rectangle() -> None:
    """All w = 1: cell (1, 2) of a 2 x 4 grid is worth 2 * 3; twice that for two literals there, but once in a union."""
    columns = table([[1, 1, -1, 9], [-1, 1, 0, -1]], [5, 5])
    edges = "distances=0/1/3,shares=0/0.5"
    assert scores(f"rectangle({edges})", columns) == [6, 12, 8, 2]
    assert scores(f"rectangle({edges},overlap=union)", columns) == [6, 6, 8, 2]
    assert scores(f"grid({edges})", columns) == [1, 2, 1, 1]


def test_golden_union_of_a_staircase() -> None:
    """The rare literal far, the common one near: 2 cells and 3 cells that share the corner are 4."""
    columns = table([[9], [1]], [1, 50])
    feature = feature_of("rectangle(distances=0/1/3,shares=0/0.5,overlap=union)")
    block = feature.blocks(contexts_of(columns))[0]
    assert isinstance(block, Codes)
    assert block.codes.tolist() == [[4, 2, 0]]
    assert block.scale.tolist() == [1, 1, -1]
    assert scores(str(feature), columns) == [4]


def test_golden_coverage() -> None:
    """Two literals of half the IDF at distances 0 and 1: 2 rows in overlap, 3 rows in the two columns farther out."""
    columns = table([[0, 0, 1, -1], [1, -1, 1, -1]], [5, 5])
    text = "coverage(distances=0/1,shares=0/0.5/1)"
    assert scores(text, columns) == [2 + 3 + 3, 2 * 3, 3 * 2, 0]
    feature, contexts = feature_of(text), contexts_of(columns)
    assert feature.by_literal(contexts, np.arange(4, dtype=np.int32), np.ones(9)).tolist() == [
        [6, 6, 4, 0],
        [2, 0, 2, 0],
    ]
    cells = [(p.literal, p.cell, p.value) for p in feature.pieces(contexts, 0, np.ones(9))]
    assert cells == [(0, "IDF share >= 0.5, overlap", 6), (1, "IDF share >= 1, distance <= 1", 2)]


def test_coverage_counts_the_nearer_literal_first() -> None:
    """Whatever their order in the query; of those as near, the first in the query."""
    feature = feature_of("coverage(distances=0/1/5,shares=0/0.5/1)")
    contexts = contexts_of(table([[5, 1], [1, 1]], [5, 5]))
    gains = feature.by_literal(contexts, np.arange(2, dtype=np.int32), np.ones(12))
    assert gains.tolist() == [[2, 6], [6, 3]]


def test_golden_idfupto() -> None:
    """One of two equal literals at distance 1 is half of the IDF within 1 and within 3; beyond 3 it is nothing."""
    columns = table([[1, 0, 4], [-1, 3, -1]], [5, 5])
    text = "idfupto(distances=0/1/3)"
    each = [scores(text, columns, w) for w in np.eye(3)]
    assert each == [[0.5, 1, 0], [0.5, 0.5, 0], [0, 0.5, 0]]
    assert feature_of(text).labels() == ["IDF share within 3", "IDF share within 1", "IDF share overlap"]
    assert feature_of(text).pieces(contexts_of(columns), 2, np.ones(3)) == []


def test_an_overlap_is_on_the_left() -> None:
    """With sides apart; the right has cells of its own."""
    columns = table([[0, 2, 2]], [5], [[0, -1, 1]])
    feature = feature_of("grid(distances=0/3,shares=0/0.5,signed=true)")
    block = feature.blocks(contexts_of(columns))[0]
    assert block.codes.tolist() == [[5], [4], [10]]
    assert [feature.labels()[c] for c in (5, 4, 10)] == [
        "IDF share 0.5 to 1, overlap, left",
        "IDF share 0.5 to 1, distance 1 to 3, left",
        "IDF share 0.5 to 1, distance 1 to 3, right",
    ]


def test_shares_in_floating_point_fall_where_they_should() -> None:
    """Ten literals alike have a tenth each: 0.1 is reached by one, 0.3 by three, though sums of tenths fall short."""
    columns = table([[0 if t < n else -1 for n in range(11)] for t in range(10)], [5] * 10)
    assert scores("coverage(10x2)", columns) == [0, *(2 * min(10, n + 1) for n in range(1, 11))]
    assert scores("rectangle(10x2)", columns) == [n * 2 * 2 for n in range(11)]


def test_labels_say_what_cells_mean() -> None:
    """Rows ascend with IDF, columns with nearness."""
    feature = feature_of("rectangle(2x4)")
    assert feature.row_labels() == [">= 0", ">= 0.5"]
    assert feature.column_labels() == ["anywhere", "<= 200", "<= 1", "overlap"]
    assert feature.labels()[4:] == [
        "IDF share >= 0.5, anywhere",
        "IDF share >= 0.5, distance <= 200",
        "IDF share >= 0.5, distance <= 1",
        "IDF share >= 0.5, overlap",
    ]
    assert feature_of("coverage(2x4)").labels()[1] == "IDF share > 0, distance <= 200"
    assert feature_of("grid(2x4)").labels()[:4] == [
        "IDF share 0 to 0.5, distance > 200",
        "IDF share 0 to 0.5, distance 2 to 200",
        "IDF share 0 to 0.5, distance 1",
        "IDF share 0 to 0.5, overlap",
    ]


@pytest.mark.parametrize(
    ("columns", "expected"), [(2, (0,)), (3, (0, 1)), (4, (0, 1, 200)), (12, LADDER), (7, (0, 1, 4, 14, 53, 200))]
)
def test_a_shape_has_a_ladder_of_distances(columns: int, expected: tuple[int, ...]) -> None:
    """0, then about geometric from 1 to 200."""
    assert feature_of(f"grid(1x{columns})").axes.distances == expected


@pytest.mark.parametrize("columns", [20, 60, 300])
def test_a_long_ladder_still_ascends(columns: int) -> None:
    """Whole numbers that are never the same."""
    edges = feature_of(f"grid(1x{columns})").axes.distances
    assert len(edges) == columns - 1
    assert all(a < b for a, b in pairwise(edges))
    assert edges[-1] == max(200, columns - 2)


def test_golden_penalty() -> None:
    """[[a, b], [c, d]]: squared differences of neighbours, each pair once, and 1e-3 of the squares."""
    w = np.array([1.0, 2.0, 4.0, 8.0])
    feature = feature_of("grid(2x2)")
    expected = (2 - 1) ** 2 + (8 - 4) ** 2 + (4 - 1) ** 2 + (8 - 2) ** 2 + 1e-3 * (1 + 4 + 16 + 64)
    assert w @ feature.penalty() @ w == pytest.approx(expected, rel=1e-12)
    u = np.array([1.0, 1.0, 3.0, 3.0])
    smooth = feature_of("rectangle(2x2,regulariser=smooth)")
    assert smooth.expand(u).tolist() == w.tolist()
    assert u @ smooth.penalty() @ u == pytest.approx(expected, rel=1e-12)


def test_sides_are_smooth_by_themselves() -> None:
    """A constant on the left and another on the right cost only the little ridge."""
    feature = feature_of("grid(2x3,signed=true)")
    w = np.repeat([1.0, 5.0], 6)
    assert w @ feature.penalty() @ w == pytest.approx(1e-3 * (6 + 150), rel=1e-9)
