"""Edges learned from tables with planted distances and shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contracts.tables import contexts_of
from fader.contexts.table import Contexts
from fader.registry import parse
from features.tables import table


def feature_of(text: str) -> Any:
    return parse("fader.features", text)


def planted(*rows: list[int], df: list[int] | None = None, sides: list[list[int]] | None = None) -> Contexts:
    return contexts_of(table(list(rows), df or [5] * len(rows), sides))


def test_distances_are_quantiles() -> None:
    """Of 1..9, thirds: at least a third are <= 3, two thirds <= 6; overlaps and absent literals do not count."""
    contexts = planted([*range(1, 10)])
    fitted = feature_of("grid(3x4,edges=learned)").fit_edges([contexts])
    assert fitted.distances == (0, 3, 6)
    assert feature_of("grid(3x4,edges=learned)").fit_edges([planted([-1, 0, 0, *range(1, 10)])]).distances == (0, 3, 6)
    assert feature_of("idfupto(3,edges=learned)").fit_edges([contexts]).distances == (0, 3, 6)


def test_distances_end_somewhere() -> None:
    """A text longer than any look-up table has its far literals beyond the last edge."""
    fitted = feature_of("grid(1x3,edges=learned)").fit_edges([planted([2_000_000_000, 2_000_000_000, 5])])
    assert fitted.distances == (0, 100_000)
    assert fitted.blocks(planted([2_000_000_000, 100_000, 5]))[0].codes[:, 0].tolist() == [0, 1, 1]


def test_every_query_counts_alike() -> None:
    """A query with many contexts does not outvote one with few."""
    few, many = planted([1, 9]), planted([3] * 10)
    feature = feature_of("grid(1x3,edges=learned)")
    assert feature.fit_edges([few, many]).distances == (0, 3)
    assert feature.fit_edges([few, few, many]).distances == (0, 3)
    assert feature.fit_edges([few, few, few, planted([20] * 10)]).distances == (0, 9)


def test_equal_edges_are_one_edge() -> None:
    """Fewer distinct values make a smaller shape, which the text of the map has too."""
    fitted = feature_of("rectangle(10x12,edges=learned)").fit_edges([planted([5, 5, 5, 8, 0])])
    assert fitted.distances == (0, 5, 8)
    assert fitted.shares == (0, 1)
    assert fitted.size == 2 * 4
    assert str(fitted) == "rectangle(2x4,distances=0/5/8,shares=0/1)"
    assert feature_of(str(fitted)) == fitted


def test_shares_are_quantiles_over_matched_literals() -> None:
    """Two literals alike have a half each, a literal alone has all of it."""
    two, one = planted([1, 1], [2, -1]), planted([3])
    assert feature_of("grid(3x3,edges=learned)").fit_edges([two]).shares == (0, 0.5)
    assert feature_of("grid(2x3,edges=learned)").fit_edges([two, one, one]).shares == (0, 1)
    assert feature_of("grid(4x3,edges=learned)").fit_edges([two, one]).shares == (0, 0.5, 1)


def test_learned_shares_are_cut_downwards() -> None:
    """A third is written 0.33333, and a literal of a third still reaches it."""
    contexts = planted([1, -1], [2, 1], [2, 1])
    fitted = feature_of("grid(2x3,edges=learned)").fit_edges([contexts])
    assert fitted.shares == (0, 0.33333)
    assert (fitted.blocks(contexts)[0].codes[1, 1:] >= fitted.axes.columns).all()


def test_coverage_learns_shares_of_its_curve() -> None:
    """A half at the first literal and all at the second, not a half twice; each side has its own curve."""
    contexts = planted([1, 4], [2, 3], sides=[[-1, 1], [1, 1]])
    feature = feature_of("coverage(3x3,edges=learned)")
    assert feature.fit_edges([contexts]).shares == (0, 0.5, 1)
    assert feature.fit_edges([planted([7, 7], [7, 7])]).shares == (0, 1)
    assert feature_of("coverage(3x3,edges=learned,signed=true)").fit_edges([contexts]).shares == (0, 0.5)


def test_idf_of_the_paper_has_other_shares() -> None:
    """df 5 and 45 of 50 documents: 10 and 10/9, so 0.9 and 0.1."""
    contexts = planted([1, 1], [1, 1], df=[5, 45])
    assert feature_of("grid(3x3,edges=learned,idf=paper)").fit_edges([contexts]).shares == (0, 0.1, 0.9)


@pytest.mark.parametrize("text", ["grid(3x5,edges=learned)", "coverage(3x5,edges=learned)", "idfupto(5,edges=learned)"])
def test_without_anything_to_learn_from_the_shape_decides(text: str) -> None:
    """No tables, no contexts, or none with a literal; a fitted map has nothing more to learn."""
    feature, fixed = feature_of(text), feature_of(text.replace(",edges=learned", ""))
    assert feature.learns_edges
    for tables in ([], [contexts_of(table([[]], [5]))], [planted([-1, -1])]):
        fitted = feature.fit_edges(tables)
        assert not fitted.learns_edges
        assert fitted.axes == fixed.axes
    assert fixed.fit_edges([planted([5])]) == fixed


def test_numbers_of_a_fitted_map_are_plain() -> None:
    """So that a text or a file of it has no trace of how it was computed."""
    fitted = feature_of("rectangle(edges=learned)").fit_edges([planted([*range(1, 400)], [*range(2, 401)])])
    assert all(type(d) is int for d in fitted.distances)
    assert all(type(s) is float for s in fitted.shares)
    assert np.diff(fitted.distances).min() > 0
