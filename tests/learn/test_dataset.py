"""Queries as arrays: rows by entity, document and position, groups by policy, and the mention that counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.tables import TableColumns, contexts_of, sides_of, tables
from fader.errors import UsageError
from fader.features.base import FeatureMap, cells_of
from fader.features.combined import feature_map
from fader.learn.dataset import Dataset, QueryData, View, query_data
from learn.cases import F64, Judged, data_of, drawn_queries, kept_rows, vectors

MAPS = [
    feature_map("noprox+rectangle(3x4)"),
    feature_map("coverage(2x3,signed=true)+confidence"),
    feature_map("rectangle(17x16,overlap=union)+idfupto(3)"),
]
policies = pytest.mark.parametrize("policy", ["document", "mention"])
drawn = settings(deadline=None, max_examples=40)
POLICY = st.sampled_from(["document", "mention"])
MAP = st.sampled_from(MAPS)


def weights(features: FeatureMap, seed: int) -> F64:
    return np.random.default_rng(seed).integers(0, 3, features.size) / 4.0


def encoded(columns: TableColumns, features: FeatureMap, policy: str) -> QueryData:
    return query_data("q", contexts_of(columns), features, policy, {0: 2, 3: 0, "other": 1})


@drawn
@given(tables(bare=True), MAP, POLICY, st.integers(0, 999))
def test_rows_are_those_of_the_table_by_entity_document_and_position(
    columns: TableColumns, features: FeatureMap, policy: str, seed: int
) -> None:
    """Their scores in that order; a group has an entity's mentions in one document, or each mention for itself."""
    w = weights(features, seed)
    query = encoded(columns, features, policy)
    order = sorted(range(columns.entity.size), key=lambda x: (columns.entity[x], x))
    expected = vectors(features, contexts_of(columns)) @ w
    assert query.rows == len(order)
    assert query.scores(features.expand(w)) == pytest.approx(expected[order], rel=1e-10, abs=1e-12)
    assert query.entity.tolist() == sorted(set(columns.entity.tolist()))
    keys = [(int(columns.entity[x]), int(columns.document[x]), x if policy == "mention" else -1) for x in order]
    groups = sorted(set(keys))
    assert np.diff(query.group_at).tolist() == [keys.count(g) for g in groups]
    assert np.diff(query.at).tolist() == [sum(g[0] == e for g in groups) for e in query.entity]
    assert query.judgments.grades.tolist() == [2 if e == 0 else 0 for e in query.entity.tolist()]
    assert query.judgments.judged.tolist() == [e in (0, 3) for e in query.entity.tolist()]
    assert query.judgments.good == 2


@drawn
@given(tables(bare=True), MAP, POLICY, st.integers(0, 999))
def test_the_best_row_of_each_group_counts_the_first_on_a_tie(
    columns: TableColumns, features: FeatureMap, policy: str, seed: int
) -> None:
    """By brute force, with weights that make many ties; chosen once more, it stays as it is."""
    w = weights(features, seed)
    cells = features.expand(w)
    query = encoded(columns, features, policy)
    best = query.best(cells)
    scores = query.scores(cells)
    groups = [range(a, b) for a, b in zip(query.group_at[:-1], query.group_at[1:], strict=True)]
    expected = [max(group, key=lambda x: (scores[x], -x)) for group in groups]
    assert best.scores(cells).tolist() == scores[expected].tolist()
    assert best.chosen is None or best.chosen.tolist() == expected
    assert best.group_at.tolist() == list(range(len(groups) + 1))
    assert best.at.tolist() == query.at.tolist()
    assert best.best(cells).scores(cells).tolist() == best.scores(cells).tolist()
    other = weights(features, seed + 1)
    assert best.scores(features.expand(other)).tolist() == query.scores(features.expand(other))[expected].tolist()


@drawn
@given(tables(bare=True), MAP, st.integers(0, 999))
def test_a_histogram_is_the_transpose_of_scores(columns: TableColumns, features: FeatureMap, seed: int) -> None:
    """u . scores(cells) = histogram(u) . cells, the code for nothing aside; u is a pull an entity by a slope a row."""
    random = np.random.default_rng(seed)
    query = encoded(columns, features, "mention")
    sizes = [cells_of(block) for block in query.blocks]
    values = [np.append(random.normal(size=n), 0.0) for n in sizes]
    read = [v if hasattr(b, "codes") else v[:-1].copy() for v, b in zip(values, query.blocks, strict=True)]
    slopes, pull = random.normal(size=query.rows), random.normal(size=query.entity.size)
    upstream = slopes * np.repeat(pull, np.diff(query.at))
    counted = [np.zeros(v.size) for v in read]
    query.add_histogram(slopes, pull, counted)
    found = sum(float(c @ v) for c, v in zip(counted, read, strict=True))
    assert found == pytest.approx(float(upstream @ query.scores_by_block(read)), rel=1e-9, abs=1e-9)


def two_mentions() -> Judged:
    """An entity twice in a document: near, and far with more of the query."""
    distances = np.array([[0, 30], [-1, 30]], dtype=np.int32)
    zero = np.zeros(2, dtype=np.int32)
    start = np.array([0, 5], dtype=np.int32)
    return Judged("q", TableColumns(zero, zero, start, distances, sides_of(distances), np.ones(2), [3, 3]), {0: 1})


def test_the_choice_depends_on_the_weights_and_is_compared_by_rows() -> None:
    """Near wins under weights of the near corner, far under those of any distance; policy `mention` has no choice."""
    features = feature_map("rectangle(1x3,distances=0/1)")
    any_distance, overlap = np.array([1.0, 0, 0]), np.array([0.0, 0, 1])
    data = data_of([two_mentions()], features)
    far, near = data.best(any_distance).queries[0], data.best(overlap).queries[0]
    assert far.chosen is not None
    assert near.chosen is not None
    assert (far.chosen.tolist(), near.chosen.tolist()) == ([1], [0])
    assert far.same_rows(data.best(2 * any_distance).queries[0])
    assert not far.same_rows(near)
    assert (data.contexts, data.best(overlap).contexts, len(data)) == (2, 1, 1)
    every = data_of([two_mentions()], features, "mention")
    assert every.best(overlap).queries[0].same_rows(every.best(any_distance).queries[0])
    assert every.best(overlap).contexts == 2
    scores = vectors(features, two_mentions().contexts) @ overlap
    assert kept_rows(two_mentions(), scores, "document") == {0: [0]}


def test_a_policy_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match='training: policy must be one of document, mention, not "all"'):
        View("all")


def check_some(query: QueryData, places: list[int], cells: F64) -> QueryData:
    """A query of some candidates has their groups, rows and judgments, and their scores bit for bit."""
    found, scores = query.of(np.array(places, dtype=np.int64)), query.scores(cells)
    groups = [g for p in places for g in range(query.at[p], query.at[p + 1])]
    rows = [x for g in groups for x in range(query.group_at[g], query.group_at[g + 1])]
    assert found.id == query.id
    assert found.entity.tolist() == query.entity[places].tolist()
    assert found.judgments.grades.tolist() == query.judgments.grades[places].tolist()
    assert found.judgments.judged.tolist() == query.judgments.judged[places].tolist()
    assert (found.judgments.good, found.judgments.ideal.tolist()) == (
        query.judgments.good,
        query.judgments.ideal.tolist(),
    )
    assert (found.at[0], found.group_at[0], found.rows) == (0, 0, len(rows))
    assert np.diff(found.at).tolist() == [query.at[p + 1] - query.at[p] for p in places]
    assert np.diff(found.group_at).tolist() == [query.group_at[g + 1] - query.group_at[g] for g in groups]
    assert found.scores(cells).tolist() == scores[rows].tolist()
    assert found.chosen is None or query.chosen is not None
    if found.chosen is not None:
        assert found.chosen.tolist() == query.chosen[rows].tolist()  # type: ignore[index]
    return found


@drawn
@given(tables(bare=True), MAP, POLICY, st.integers(0, 999), st.randoms(use_true_random=False))
def test_some_candidates_of_a_query(
    columns: TableColumns, features: FeatureMap, policy: str, seed: int, random: Any
) -> None:
    """Any, none or all of them; of all rows or of those that count, in either order."""
    query, cells = encoded(columns, features, policy), features.expand(weights(features, seed))
    n = query.entity.size
    places = sorted(random.sample(range(n), random.randint(0, n)))
    some = check_some(query, places, cells)
    check_some(query, list(range(n)), cells)
    of_best = check_some(query.best(cells), places, cells)
    assert some.best(cells).scores(cells).tolist() == of_best.scores(cells).tolist()
    assert some.best(cells).at.tolist() == of_best.at.tolist()
    check_some(some, list(range(0, len(places), 2)), cells)


def check_thinned(whole: Dataset, bad: int, seed: int) -> Dataset:
    """All good candidates stay, and as many bad ones as asked for or as there are."""
    thin = whole.sample_bad(bad, seed)
    assert (thin.features, thin.view, len(thin)) == (whole.features, whole.view, len(whole))
    cells = whole.features.expand(weights(whole.features, 1))
    for one, all_ in zip(thin.queries, whole.queries, strict=True):
        places = np.searchsorted(all_.entity, one.entity).tolist()
        assert all_.entity[places].tolist() == one.entity.tolist()
        assert places == sorted(set(places))
        good = all_.judgments.grades > 0
        assert set(all_.entity[good]) <= set(one.entity)
        assert np.count_nonzero(one.judgments.grades <= 0) == min(bad, np.count_nonzero(~good))
        same = check_some(all_, places, cells)
        assert same.scores(cells).tolist() == one.scores(cells).tolist()
        assert (same.at.tolist(), same.group_at.tolist()) == (one.at.tolist(), one.group_at.tolist())
        assert same.judgments.grades.tolist() == one.judgments.grades.tolist()
    return thin


@policies
@pytest.mark.parametrize("features", MAPS, ids=str)
def test_thinning_keeps_the_good_and_some_of_the_bad(features: FeatureMap, policy: str) -> None:
    """Those kept score as they do in the whole; the seed draws them, and where nothing is to be left out all stays."""
    whole = data_of(drawn_queries(5), features, policy)
    entities = []
    for bad in (1, 2, 3):
        for seed in (0, 0, 1):
            thin = check_thinned(whole, bad, seed)
            entities.append([q.entity.tolist() for q in thin.queries])
    for i in (0, 3, 6):
        assert entities[i] == entities[i + 1]
    assert any(entities[i] != entities[i + 2] for i in (0, 3, 6))
    assert whole.sample_bad(0, 3) is whole
    assert whole.sample_bad(10, 3) is whole
    assert whole.sample_bad(9, 3).contexts == whole.contexts


def test_a_draw_does_not_depend_on_other_queries() -> None:
    """What is kept of a query is drawn by the seed and its number; every bad candidate has its chance."""
    queries = drawn_queries(5)
    one = data_of(queries, MAPS[0]).sample_bad(1, 7).queries
    two = data_of([queries[0], *drawn_queries(6)[1:3], *queries[3:]], MAPS[0]).sample_bad(1, 7).queries
    for q in (0, 3, 4, 5):
        assert one[q].entity.tolist() == two[q].entity.tolist()
    whole = data_of(queries[:1], MAPS[0])
    kept = {int(e) for seed in range(60) for e in whole.sample_bad(1, seed).queries[0].entity}
    assert kept == set(whole.queries[0].entity.tolist())
