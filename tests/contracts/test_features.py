"""Every feature map, found by discovery, keeps the contract of `fader.features.base`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from contracts.tables import Columns, contexts_of, tables
from fader.features.base import Codes, FeatureMap, add_scores, cell_values, cells_of
from fader.features.combined import feature_map
from fader.registry import discover, parse

PACKAGE = "fader.features"
VARIANTS = [
    "kernel(shape=gaussian)",
    "kernel(shape=triangle,width=0.5)",
    "kernel(shape=cosine,width=100,idf=paper)",
    "kernel(shape=circle,width=400)",
    "kernel(shape=step,width=5)",
    "noprox(use=constant)",
    "noprox(use=dirichlet/cosine)",
    "idfupto(1)",
    "idfupto(distances=0/2/7,signed=true,idf=paper)",
    "idfupto(5,edges=learned)",
    "grid(1x2)",
    "grid(20x14)",
    "grid(3x5,monotone=true)",
    "grid(3x5,monotone=true,signed=true)",
    "grid(distances=0/1/5,shares=0/0.2/0.6,idf=paper,signed=true)",
    "rectangle(20x14)",
    "rectangle(3x5,regulariser=smooth)",
    "rectangle(3x5,overlap=union)",
    "rectangle(20x14,overlap=union,signed=true)",
    "rectangle(4x6,edges=learned,signed=true)",
    "coverage(1x2)",
    "coverage(3x5,signed=true)",
    "coverage(5x6,edges=learned)",
]
MAPS = [parse(PACKAGE, text) for text in (*discover(PACKAGE), *VARIANTS)]
MAPS += [feature_map("noprox+rectangle(3x4)+coverage(2x3,edges=learned)+bias")]
features = pytest.mark.parametrize("feature", MAPS, ids=str)
# Maps share most of their code, so that a few tables for each are many for all.
drawn = settings(deadline=None, max_examples=30)
seeds = st.integers(0, 2**32 - 1)


def weights(feature: FeatureMap, seed: int) -> NDArray[np.float64]:
    """Weights within the bounds, some of them 0."""
    w = np.random.default_rng(seed).exponential(size=feature.size)
    w[w < 0.3] = 0.0
    low, _high = feature.bounds()
    return np.where(low < 0, -w, w)


def rows_of(columns: Columns, picks: list[int]) -> NDArray[np.int32]:
    size = columns.entity.size
    return np.array([p % size for p in picks] if size else [], dtype=np.int32)


def columns_of(distances: list[list[int]], df: list[int]) -> Columns:
    cells = np.array(distances, dtype=np.int32).reshape(len(df), -1)
    place = np.zeros(cells.shape[1], dtype=np.int32)
    return Columns(place, place, place, cells, np.zeros(cells.shape, dtype=np.int8), np.ones(place.size), df)


@features
@drawn
@given(tables(bare=True), seeds)
def test_scores_are_finite_and_not_negative(feature: FeatureMap, columns: Columns, seed: int) -> None:
    """One number a context, from 0 on where weights are."""
    w = weights(feature, seed)
    score = feature.score(contexts_of(columns), w)
    assert score.shape == (columns.entity.size,)
    assert score.dtype == np.float64
    assert np.isfinite(score).all()
    assert (score >= w[w < 0].sum() - 1e-9).all()


@features
@drawn
@given(tables(bare=True), seeds)
def test_scores_are_what_the_blocks_say(feature: FeatureMap, columns: Columns, seed: int) -> None:
    """Cell values of the weights, read by codes or columns; one block a single map, codes as the contract has them."""
    contexts, w = contexts_of(columns), weights(feature, seed)
    expected, blocks, values = np.zeros(len(contexts)), feature.blocks(contexts), feature.expand(w)
    assert len(blocks) == len(getattr(feature, "maps", [feature]))
    assert values.size == sum(cells_of(block) for block in blocks)
    for block, read in zip(blocks, cell_values(blocks, values), strict=True):
        if isinstance(block, Codes):
            assert block.codes.dtype == (np.uint8 if block.cells < 256 else np.uint16)
            assert block.codes.flags.c_contiguous
            assert block.codes.shape == (len(contexts), block.scale.size)
            assert (block.codes <= block.cells).all()
        else:
            assert block.row.shape == (len(contexts),)
        add_scores(block, read, expected)
    assert feature.score(contexts, w) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@features
@drawn
@given(tables(bare=True), seeds, seeds)
def test_scores_are_linear_in_the_weights(feature: FeatureMap, columns: Columns, one: int, two: int) -> None:
    """w . f and nothing else."""
    contexts, v, w = contexts_of(columns), weights(feature, one), weights(feature, two)
    expected = feature.score(contexts, v) + 2 * feature.score(contexts, w)
    assert feature.score(contexts, v + 2 * w) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def check_shares(feature: FeatureMap, columns: Columns, rows: NDArray[np.int32], w: NDArray[np.float64]) -> None:
    contexts = contexts_of(columns)
    shares, scores = feature.by_literal(contexts, rows, w), feature.score(contexts, w)
    assert shares.shape == (len(columns.df), rows.size)
    assert (shares >= w[w < 0].sum() - 1e-9).all()
    assert shares.sum(axis=0) == pytest.approx(scores[rows], rel=1e-12, abs=1e-12)
    for row in rows:
        pieces = feature.pieces(contexts, int(row), w)
        assert sum(piece.value for piece in pieces) == pytest.approx(scores[row], rel=1e-12, abs=1e-12)
        for piece in pieces:
            assert piece.literal == -1 or columns.distances[piece.literal, row] >= 0
            assert piece.cell
            assert piece.feature in discover(PACKAGE)


@features
@drawn
@given(tables(), st.lists(st.integers(0, 99), max_size=9), seeds)
def test_literals_and_pieces_add_up_to_the_score(
    feature: FeatureMap, columns: Columns, picks: list[int], seed: int
) -> None:
    """A share a literal, for any rows, and pieces by cell: each are the score together, but for rounding."""
    check_shares(feature, columns, rows_of(columns, picks), weights(feature, seed))


@features
def test_shares_of_a_context_without_a_literal_add_up_too(feature: FeatureMap) -> None:
    """Where overlaps are ignored a mention may be left without any literal: its score is then 0, or shared."""
    columns = columns_of([[-1], [-1]], [3, 4])
    check_shares(feature, columns, np.zeros(1, dtype=np.int32), weights(feature, 1))


@features
@drawn
@given(tables(), seeds)
def test_absent_literals_have_no_share(feature: FeatureMap, columns: Columns, seed: int) -> None:
    """What a context does not have cannot explain its score."""
    contexts = contexts_of(columns)
    shares = feature.by_literal(contexts, np.arange(len(contexts), dtype=np.int32), weights(feature, seed))
    assert (shares[columns.distances < 0] == 0).all()


@features
@drawn
@given(tables(bare=True), st.randoms(use_true_random=False), seeds)
def test_a_score_depends_on_its_own_context_only(feature: FeatureMap, columns: Columns, random: Any, seed: int) -> None:
    """Rows in another order have the same scores, bit for bit."""
    w = weights(feature, seed)
    order = np.array(random.sample(range(columns.entity.size), columns.entity.size), dtype=np.int64)
    there, here = feature.score(contexts_of(columns, order), w), feature.score(contexts_of(columns), w)
    assert there.tolist() == here[order].tolist()


@features
def test_no_contexts_are_no_error(feature: FeatureMap) -> None:
    """An empty table has no scores, even where nothing else of it can be found."""
    contexts, none = contexts_of(columns_of([[], []], [3, 0])), np.empty(0, dtype=np.int32)
    contexts.late = None
    assert feature.score(contexts, feature.start()).shape == (0,)
    assert feature.by_literal(contexts, none, feature.start()).shape == (2, 0)
    assert len(feature.blocks(contexts)) == len(getattr(feature, "maps", [feature]))


@features
@drawn
@given(seeds)
def test_collapse_is_the_transpose_of_expand(feature: FeatureMap, seed: int) -> None:
    """v . expand(w) = collapse(v) . w, and for several v at once along the first axis."""
    random = np.random.default_rng(seed)
    w = random.normal(size=feature.size)
    cells = random.normal(size=(feature.expand(w).size, 3))
    expected = cells.T @ feature.expand(w)
    assert feature.collapse(cells).T @ w == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert feature.collapse(cells[:, 0].copy()) @ w == pytest.approx(expected[0], rel=1e-9, abs=1e-9)


@features
def test_what_training_asks_for_fits_together(feature: FeatureMap) -> None:
    """A penalty that is symmetric and positive definite, bounds, and a start within them that is not 0."""
    low, high = feature.bounds()
    start, penalty = feature.start(), feature.penalty()
    assert low.shape == high.shape == start.shape == (feature.size,)
    assert (low <= start).all()
    assert (start <= high).all()
    assert start.any()
    assert penalty.shape == (feature.size, feature.size)
    assert (penalty == penalty.T).all()
    assert np.linalg.eigvalsh(penalty)[0] > 0


@features
def test_labels_tell_weights_apart(feature: FeatureMap) -> None:
    """One for each weight, and no two alike."""
    labels = feature.labels()
    assert len(labels) == feature.size
    assert len(set(labels)) == feature.size
    assert all(labels)


@features
@drawn
@given(st.lists(tables(), max_size=3))
def test_a_fitted_map_is_written_as_it_is_read(feature: FeatureMap, several: list[Columns]) -> None:
    """Fitted, it is a value without anything left to learn, whose text parses back to it and scores alike."""
    found = [contexts_of(columns) for columns in several]
    fitted = feature.fitted(iter(found))
    assert feature_map(str(feature)).maps == getattr(feature, "maps", (feature,))
    assert not fitted.learns_edges
    assert fitted.fitted(found) == fitted
    assert fitted == feature or feature.learns_edges
    again = feature_map(str(fitted))
    assert str(again) == str(fitted)
    assert again.maps == getattr(fitted, "maps", (fitted,))
    w = weights(fitted, 7)
    for contexts in found:
        assert again.score(contexts, w).tolist() == fitted.score(contexts, w).tolist()


NEARER = [m for m in MAPS if getattr(m, "name", "") in ("rectangle", "coverage", "idfupto", "kernel")]
NEARER += [m for m in MAPS if getattr(m, "monotone", False)]


@pytest.mark.parametrize("feature", NEARER, ids=str)
@drawn
@given(tables(least=1), seeds, st.integers(0, 99), st.integers(0, 3), st.integers(0, 300))
def test_nearer_is_never_worth_less(
    feature: Any, columns: Columns, seed: int, row: int, literal: int, distance: int
) -> None:
    """With weights from 0 on, moving a literal nearer on its side never lowers the score."""
    w, x, t = weights(feature, seed), row % columns.entity.size, literal % len(columns.df)
    before = feature.score(contexts_of(columns), w)[x]
    least = 1 if getattr(feature, "signed", False) else 0
    columns.distances[t, x] = max(min(least, columns.distances[t, x]), min(distance, columns.distances[t, x]))
    assert feature.score(contexts_of(columns), w)[x] >= before - 1e-12 * abs(before)


GRIDS = [m for m in MAPS if getattr(m, "name", "") in ("grid", "rectangle", "coverage")]


@pytest.mark.parametrize("feature", GRIDS, ids=str)
def test_a_weight_grid_has_the_value_of_every_cell(feature: Any) -> None:
    """Rows ascend with IDF, columns with nearness; left and right are a grid each."""
    w = weights(feature, 3)
    grid = feature.weight_grid(w)
    rows, columns = len(feature.row_labels()), len(feature.column_labels())
    assert grid.shape == ((2, rows, columns) if feature.signed else (rows, columns))
    assert grid.reshape(-1).tolist() == feature.expand(w).tolist()
    assert len(set(feature.row_labels())) == rows
    assert len(set(feature.column_labels())) == columns
