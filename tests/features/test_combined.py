"""Feature maps side by side: scores add up, weights stay apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.tables import TableColumns, contexts_of, tables
from fader.errors import UsageError
from fader.features.combined import feature_map
from fader.registry import parse


@settings(deadline=None)
@given(tables(bare=True), st.integers(0, 2**32 - 1))
def test_scores_add_up(columns: TableColumns, seed: int) -> None:
    """Each map has its own stretch of the weights."""
    names = ["noprox", "rectangle(3x4)", "idfupto(3)"]
    maps, contexts = [parse("fader.features", name) for name in names], contexts_of(columns)
    weights = [np.random.default_rng(seed).exponential(size=m.size) for m in maps]
    together = feature_map("+".join(names)).score(contexts, np.concatenate(weights))
    apart = sum(m.score(contexts, w) for m, w in zip(maps, weights, strict=True))
    assert together == pytest.approx(apart, rel=1e-12)


def test_labels_and_penalties_are_those_of_the_maps() -> None:
    """Labels under the map's name; no penalty across maps."""
    feature = feature_map("constant + grid(1x2)")
    assert feature.labels()[:2] == ["constant: 1", "grid: IDF share 0 to 1, distance > 0"]
    assert str(feature) == "constant+grid(1x2)"
    assert feature.penalty()[0].tolist() == [1, 0, 0]
    assert feature.penalty()[1:, 1:].tolist() == parse("fader.features", "grid(1x2)").penalty().tolist()


def test_only_maps_that_learn_are_fitted() -> None:
    """A map without anything to learn stays what it is, and no table is looked at for it."""
    fixed = feature_map("noprox+grid")
    assert fixed.fit_edges(iter([])) == fixed
    assert not fixed.learns_edges
    assert feature_map("noprox+grid(edges=learned)").learns_edges


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names no features"),
        (" + ", "names no features"),
        ("noprox+noprox(use=bm25)", "noprox is there more than once"),
        ("noprox+gird", 'unknown feature "gird"; did you mean "grid"?'),
    ],
)
def test_a_text_that_names_no_map_is_refused(text: str, message: str) -> None:
    """With what is wrong."""
    with pytest.raises(UsageError) as caught:
        feature_map(text)
    assert message in str(caught.value)
