"""A score splits exactly among feature maps, and what a map with a grid adds splits among the cells of its matches.

Feature maps and aggregators are found by discovery. The oracle goes over contexts and literals one by one, with the
feature vectors of tests/features/oracles.py, and knows neither cell codes nor prefix sums.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from contracts.models import feature_model
from contracts.tables import TableColumns, contexts_of, tables
from fader.contexts.table import Contexts
from fader.features.base import FeatureMap
from fader.features.cellmaps.cellmap import CellMap
from fader.features.combined import Combined, feature_map
from fader.rank.ranking import Contributions, explain_entity, rank_entities, rank_without
from fader.registry import discover, parse
from fader.search.evidence import SHOWN_CONTEXTS, by_weight, explain_entities
from fader.search.grids import WeightGrid, features_of
from fader.systems.base import parse_system
from features.oracles import Match, Plane, shares_of

AGGREGATORS = [parse("fader.aggregate", name) for name in discover("fader.aggregate")]
AGGREGATORS += [parse("fader.aggregate", "softcutoff(decay=1/0.5/0)")]
VARIANTS = [
    "noprox+rectangle(3x4)",
    "noprox+rectangle(3x5,overlap=union)+bias",
    "rectangle(distances=0/1/5,shares=0/0.2/0.6,idf=paper,signed=true)",
    "rectangle(4x5,overlap=union,signed=true)+confidence",
    "grid(3x5,monotone=true,signed=true)+popularity",
    "kernel+grid(2x3)+bias",
    "coverage(3x5,signed=true)+idfupto",
    "noprox+rectangle(3x4)+coverage(4x3)+grid(2x6,signed=true)+bias",
]
FEATURES = [feature_map(text) for text in (*discover("fader.features"), *VARIANTS)]
SCALE = {"sum": lambda n: 1.0, "average": lambda n: 1.0 / n, "mnz": float}
drawn = settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])
seeds = st.integers(0, 2**32 - 1)
near = {"rel": 1e-9, "abs": 1e-9}


def weights(features: FeatureMap, seed: int) -> NDArray[np.float64]:
    """Weights within the bounds, some of them 0."""
    w = np.random.default_rng(seed).exponential(size=features.size)
    w[w < 0.3] = 0.0
    return np.where(features.bounds()[0] < 0, -w, w)


def explained(model: Any, contexts: Contexts) -> list[tuple[float, Contributions]]:
    """Each candidate's score and how it comes about."""
    ranking = rank_entities(model, contexts, 1000)
    return [(float(score), explain_entity(model, contexts, ranking, i)) for i, score in enumerate(ranking.score)]


@pytest.mark.parametrize("aggregator", AGGREGATORS, ids=str)
@drawn
@given(tables(least=1, bare=True), seeds, st.sampled_from(FEATURES), st.sampled_from(["document", "mention"]))
def test_what_features_contribute_adds_up_to_the_score(
    aggregator: Any, columns: TableColumns, seed: int, features: Combined, policy: str
) -> None:
    """Whatever the features and the aggregator; a grid's points are its feature's part where that is linear."""
    contexts = contexts_of(columns)
    model = feature_model(features, weights(features, seed), aggregator, policy)
    for score, shares in explained(model, contexts):
        grids, parts = features_of(model, contexts, shares)
        assert [part.feature for part in parts] == [m.name for m in features.maps]
        assert sum(part.contribution for part in parts) == pytest.approx(score, **near)
        assert {g.feature for g in grids} == {m.name for m in features.maps if isinstance(m, CellMap)}
        for part in parts:
            mine = [g for g in grids if g.feature == part.feature]
            if mine and aggregator.linear:
                total = sum(p.contribution for g in mine for p in g.points)
                assert total == pytest.approx(part.contribution, **near)


# The oracle


def gains(plane: Plane, kind: str, w: NDArray[np.float64], matches: dict[int, Match]) -> dict[int, float]:
    """What each literal adds to w . f: all alike where cells add up, else as they come in from near to far."""
    vector = {"grid": plane.grid, "rectangle": plane.rectangle, "union": plane.union, "coverage": plane.coverage}[kind]
    out, before, seen = {}, 0.0, []
    for t in sorted(matches, key=lambda t: (matches[t].distance, t)):
        seen.append(matches[t])
        after = float(np.dot(w, vector(seen)))
        out[t], before = after - before, after
    return out


def cell(plane: Plane, kind: str, matches: dict[int, Match], t: int) -> tuple[int, int, int]:
    """Side, row and column of a literal; where literals reinforce, the row that those up to it reach together."""
    side = int(matches[t].right) if plane.sides == 2 else 0
    share = matches[t].share
    if kind == "coverage":
        up_to = (matches[t].distance, t)
        share = sum(
            m.share
            for u, m in matches.items()
            if (m.distance, u) <= up_to and (plane.sides == 1 or m.right == matches[t].right)
        )
    return side, plane.row(share), plane.column(matches[t].distance)


def points(part: CellMap, w: NDArray[np.float64], contexts: Contexts, rows: Any, scale: float) -> dict[Any, Any]:
    """(side, row, column, literal) -> contexts, contribution."""
    plane = Plane(part.axes.distances, part.axes.shares, part.axes.copies)
    kind = "union" if getattr(part, "overlap", "") == "union" else part.name
    share = shares_of(contexts.statistics.documents, contexts.df, part.idf)
    # Monotone grids have increments as weights: what a literal adds is what a rectangle would.
    kind = "rectangle" if getattr(part, "monotone", False) else kind
    found: dict[Any, Any] = defaultdict(lambda: [0, 0.0])
    for x in rows:
        here = enumerate(zip(contexts.distances[:, x].tolist(), contexts.sides[:, x].tolist(), strict=True))
        matches = {t: Match(share[t], d, side > 0) for t, (d, side) in here if d >= 0}
        for t, gain in gains(plane, kind, w, matches).items():
            place = found[(*cell(plane, kind, matches, t), t)]
            place[0] += 1
            place[1] += scale * gain
    return found


def shown(grids: list[WeightGrid]) -> dict[Any, Any]:
    sides = {"": 0, "left": 0, "right": 1}
    return {(sides[g.side], p.row, p.column, p.literal): [p.contexts, p.contribution] for g in grids for p in g.points}


@pytest.mark.parametrize("features", [f for f in FEATURES if any(isinstance(m, CellMap) for m in f.maps)], ids=str)
@drawn
@given(tables(least=1), seeds, st.sampled_from([a for a in AGGREGATORS if a.linear]))
def test_points_are_where_the_matches_are(
    features: Combined, columns: TableColumns, seed: int, aggregator: Any
) -> None:
    """Cell, number of contexts and contribution of each literal are the oracle's, and the grid is what cells are worth.

    One literal alone in a cell contributes the value that the grid shows there.
    """
    contexts = contexts_of(columns)
    model = feature_model(features, weights(features, seed), aggregator, "mention")
    for _score, shares in explained(model, contexts):
        grids, _parts = features_of(model, contexts, shares)
        for part, w in features.split(np.array(model.weights)):
            if not isinstance(part, CellMap):
                continue
            mine = [g for g in grids if g.feature == part.name]
            scale = SCALE[aggregator.name](shares.row.size)
            expected, found = points(part, w, contexts, shares.row, scale), shown(mine)
            assert found.keys() == expected.keys()
            for place, (count, contribution) in expected.items():
                assert found[place] == [count, pytest.approx(contribution, **near)]
            check_frame(part, w, mine)


def check_frame(part: CellMap, w: NDArray[np.float64], grids: list[WeightGrid]) -> None:
    assert [g.side for g in grids] == (["left", "right"] if part.signed else [""])
    for copy, grid in enumerate(grids):
        assert (len(grid.rows), len(grid.columns)) == (part.axes.rows, part.axes.columns)
        half = part.expand(w).reshape(part.axes.copies, -1)[copy]
        assert np.array(grid.values).reshape(-1).tolist() == half.tolist()


def test_golden_case() -> None:
    """One literal of all the IDF in cell (1, 2) of 2 x 4, twice; values are those of the docstring of buckets.py."""
    features = feature_map("rectangle(distances=0/1/3,shares=0/0.3)")
    one = np.zeros(2, dtype=np.int32)
    columns = TableColumns(
        one, np.arange(2, dtype=np.int32), one, np.array([[1, 1]], dtype=np.int32), np.zeros((1, 2), dtype=np.int8),
        np.ones(2), [5],
    )  # fmt: skip
    contexts = contexts_of(columns)
    model = feature_model(features, np.ones(8))
    ((score, shares),) = explained(model, contexts)
    (grid,), (part,) = features_of(model, contexts, shares)
    assert (score, part.contribution) == (12.0, 12.0)
    assert (grid.rows, grid.columns) == (["0 to 0.3", "0.3 to 1"], ["> 3", "2 to 3", "1", "overlap"])
    assert grid.values == [[1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0]]
    assert [(p.row, p.column, p.literal, p.contexts, p.contribution) for p in grid.points] == [(1, 2, 0, 2, 12.0)]


def nothing() -> tuple[Contexts, Contributions]:
    """A table without contexts, and an entity that is no candidate."""
    none, row = np.zeros(0), np.zeros(0, dtype=np.int32)
    columns = TableColumns(row, row, row, row.reshape(1, 0), row.reshape(1, 0).astype(np.int8), none, [1])
    return contexts_of(columns), Contributions(row, none, none, lambda: none.reshape(1, 0))


@pytest.mark.parametrize("name", ["voting", "balog2", "plm"])
def test_systems_without_features_have_no_grids(name: str) -> None:
    assert features_of(parse_system(name), *nothing()) == ([], [])


def test_a_saved_system_has_the_grids_of_what_was_saved() -> None:
    """`ranksvm` is features with learned weights."""
    features = feature_map("noprox+rectangle")
    ranker: Any = parse_system("ranksvm")
    ranker = type(ranker)(weights=tuple(np.ones(features.size)))
    grids, parts = features_of(ranker, *nothing())
    assert [(g.feature, g.points) for g in grids] == [("rectangle", [])]
    assert [(p.feature, p.contribution) for p in parts] == [("noprox", 0.0), ("rectangle", 0.0)]


class _Documents:
    """As much of a collection as an explanation reads: no texts."""

    def document_ids(self, numbers: list[int]) -> list[str]:
        return [f"d{number}" for number in numbers]


@pytest.mark.parametrize("features", FEATURES, ids=str)
@drawn
@given(tables(least=1), seeds, st.sampled_from(["document", "mention"]))
def test_an_explanation_needs_no_contexts_of_others(
    features: Combined, columns: TableColumns, seed: int, policy: str
) -> None:
    """Cells and what-ifs are bit for bit those found in the whole table."""
    contexts = contexts_of(columns)
    model = feature_model(features, weights(features, seed), "sum", policy)
    ranking = rank_entities(model, contexts, 1000)
    reader: Any = _Documents()
    every = [explain_entity(model, contexts, ranking, i) for i in range(ranking.entity.size)]
    explained = explain_entities(reader, contexts, model, ranking, every)
    for i, shares in enumerate(every):
        order = by_weight(shares)[:SHOWN_CONTEXTS]
        listed = explained[i].contexts
        for context, row in zip(listed, shares.row[order].tolist(), strict=True):
            assert [c.value for c in context.cells] == [p.value for p in model.pieces(contexts, row)]
            left = rank_without(model, contexts, ranking, i, row)
            assert context.without == left
