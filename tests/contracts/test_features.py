"""Every feature map, found by discovery, keeps the contract of `fader.testing.features`, on tables that are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from contracts.tables import TableColumns, contexts_of, tables
from fader.features.base import FeatureMap
from fader.features.combined import Combined, feature_map
from fader.registry import discover, parse
from fader.testing import check_feature_map
from fader.testing import features as contract

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


def rows_of(columns: TableColumns, picks: list[int]) -> NDArray[np.int32]:
    size = columns.entity.size
    return np.array([p % size for p in picks] if size else [], dtype=np.int32)


@features
@drawn
@given(tables(bare=True), seeds, seeds, st.randoms(use_true_random=False))
def test_scores(feature: FeatureMap, columns: TableColumns, seed: int, other: int, random: Any) -> None:
    """Finite, what the blocks say, linear in the weights, each by its own context."""
    contract.check_scores(feature, columns, seed)
    contract.check_blocks(feature, columns, seed)
    contract.check_linear(feature, columns, seed, other)
    order = np.array(random.sample(range(columns.entity.size), columns.entity.size), dtype=np.int64)
    contract.check_row_order(feature, columns, order, seed)


@features
@drawn
@given(tables(), st.lists(st.integers(0, 99), max_size=9), seeds)
def test_explanations(feature: FeatureMap, columns: TableColumns, picks: list[int], seed: int) -> None:
    """Literals and pieces add up to the score; what a context does not have explains nothing."""
    contract.check_shares(feature, columns, rows_of(columns, picks), contract.draw_weights(feature, seed))
    contract.check_absent_literals(feature, columns, seed)


@features
@drawn
@given(seeds)
def test_collapse_is_the_transpose_of_expand(feature: FeatureMap, seed: int) -> None:
    contract.check_transpose(feature, seed)


@features
@drawn
@given(st.lists(tables(), max_size=3))
def test_a_fitted_map_is_written_as_it_is_read(feature: FeatureMap, several: list[TableColumns]) -> None:
    """Also where it is one of several with a + between them."""
    contract.check_fitted(feature, several)
    assert feature_map(str(feature)).maps == contract.maps_of(feature)


@features
def test_the_whole_contract(feature: FeatureMap) -> None:
    """As authors of plug-ins run it: also empty tables, labels, and what training asks for."""
    if isinstance(feature, Combined):  # no part by itself, but a map
        contract.check_empty(feature)
        contract.check_training(feature)
        contract.check_labels(feature)
        contract.check_bare_context(feature)
    else:
        check_feature_map(feature)


NEARER = [m for m in MAPS if getattr(m, "name", "") in ("rectangle", "coverage", "idfupto", "kernel")]
NEARER += [m for m in MAPS if getattr(m, "monotone", False)]


@pytest.mark.parametrize("feature", NEARER, ids=str)
@drawn
@given(tables(least=1), seeds, st.integers(0, 99), st.integers(0, 3), st.integers(0, 300))
def test_nearer_is_never_worth_less(
    feature: Any, columns: TableColumns, seed: int, row: int, literal: int, distance: int
) -> None:
    """With weights from 0 on, moving a literal nearer on its side never lowers the score."""
    w, x, t = contract.draw_weights(feature, seed), row % columns.entity.size, literal % len(columns.df)
    before = feature.score(contexts_of(columns), w)[x]
    least = 1 if getattr(feature, "signed", False) else 0
    columns.distances[t, x] = max(min(least, columns.distances[t, x]), min(distance, columns.distances[t, x]))
    assert feature.score(contexts_of(columns), w)[x] >= before - 1e-12 * abs(before)


GRIDS = [m for m in MAPS if getattr(m, "name", "") in ("grid", "rectangle", "coverage")]


@pytest.mark.parametrize("feature", GRIDS, ids=str)
def test_a_weight_grid_has_the_value_of_every_cell(feature: Any) -> None:
    """Rows ascend with IDF, columns with nearness; left and right are a grid each."""
    w = contract.draw_weights(feature, 3)
    grid = feature.weight_grid(w)
    rows, columns = len(feature.row_labels()), len(feature.column_labels())
    assert grid.shape == ((2, rows, columns) if feature.signed else (rows, columns))
    assert grid.reshape(-1).tolist() == feature.expand(w).tolist()
    assert len(set(feature.row_labels())) == rows
    assert len(set(feature.column_labels())) == columns
