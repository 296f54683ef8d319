"""Every feature map, found by discovery, keeps the contract of `fader.features.base`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.tables import Columns, contexts_of, tables
from fader.parts import discover, parse

PACKAGE = "fader.features"
VARIANTS = ["kernel(width=0.5)", "kernel(width=100,idf=paper)"]
features = pytest.mark.parametrize("feature", [parse(PACKAGE, t) for t in (*discover(PACKAGE), *VARIANTS)], ids=str)


@features
@settings(deadline=None)
@given(tables(bare=True))
def test_scores_are_finite_and_not_negative(feature: Any, columns: Columns) -> None:
    """One number a context, from 0 on."""
    score = feature.score(contexts_of(columns))
    assert score.shape == (columns.entity.size,)
    assert score.dtype == np.float64
    assert np.isfinite(score).all()
    assert (score >= 0).all()


def check_shares(feature: Any, columns: Columns, picks: list[int]) -> None:
    contexts = contexts_of(columns)
    rows = np.array([p % len(contexts) for p in picks] if len(contexts) else [], dtype=np.int32)
    shares = feature.by_literal(contexts, rows)
    assert shares.shape == (len(columns.df), rows.size)
    assert (shares >= 0).all()
    assert shares.sum(axis=0) == pytest.approx(feature.score(contexts)[rows], rel=1e-12)


@features
@settings(deadline=None)
@given(tables(), st.lists(st.integers(0, 99), max_size=9))
def test_literals_shares_add_up_to_the_score(feature: Any, columns: Columns, picks: list[int]) -> None:
    """A share a literal, from 0 on, for any rows; together they are the score, but for rounding."""
    check_shares(feature, columns, picks)


@features
@settings(deadline=None)
@given(tables())
def test_absent_literals_have_no_share(feature: Any, columns: Columns) -> None:
    """What a context does not have cannot explain its score."""
    contexts = contexts_of(columns)
    shares = feature.by_literal(contexts, np.arange(len(contexts), dtype=np.int32))
    assert (shares[columns.distances < 0] == 0).all()


@features
@settings(deadline=None)
@given(tables(bare=True), st.randoms(use_true_random=False))
def test_a_score_depends_on_its_own_context_only(feature: Any, columns: Columns, random: Any) -> None:
    """Rows in another order have the same scores, bit for bit."""
    order = np.array(random.sample(range(columns.entity.size), columns.entity.size), dtype=np.int64)
    there, here = feature.score(contexts_of(columns, order)), feature.score(contexts_of(columns))
    assert there.tolist() == here[order].tolist()


@pytest.mark.parametrize("feature", [parse(PACKAGE, name) for name in discover(PACKAGE)], ids=str)
def test_shares_of_a_context_without_a_literal_add_up_too(feature: Any) -> None:
    """Where overlaps are ignored a mention may be left without any literal: its score is then 0, or shared."""
    place, none = np.zeros(1, dtype=np.int32), np.full((2, 1), -1, dtype=np.int32)
    columns = Columns(place, place, place, none, np.zeros((2, 1), dtype=np.int8), np.ones(1), [3, 4])
    check_shares(feature, columns, [0])
