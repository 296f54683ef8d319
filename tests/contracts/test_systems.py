"""Every system, found by discovery, keeps the contract of `fader.systems.base`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.tables import Columns, contexts_of, tables
from fader.errors import UsageError
from fader.features.combined import feature_map
from fader.learn.model import Model
from fader.parts import discover, parse
from fader.systems.base import Ranking, order_entities, system

PACKAGE = "fader.systems"
VARIANTS = [
    f"{name}(policy=mention)"
    for name, part in discover(PACKAGE).items()
    if "policy" in {f.name for f in dataclasses.fields(part)}
]
VARIANTS += ["proximity(width=0.5,idf=paper)"]
NAMED = [system(t) for t in (*discover(PACKAGE), *VARIANTS)]
TRAINED_FIRST = [s for s in NAMED if hasattr(s, "candidates")]


def model(features: str, aggregator: str, policy: str) -> Model:
    """A model with weights that are all different."""
    maps = feature_map(features)
    weights = np.linspace(0.01, 0.3, maps.size)
    return Model(maps, weights, parse("fader.aggregate", aggregator), policy)


MODELS = [model("noprox+rectangle", name, "document") for name in discover("fader.aggregate")]
MODELS += [model("confidence+coverage(4x5)", "logsumexp", "mention"), model("noprox+idfupto", "sum", "mention")]
named = pytest.mark.parametrize("ranker", NAMED, ids=str)
systems = pytest.mark.parametrize("ranker", [s for s in NAMED if s not in TRAINED_FIRST] + MODELS, ids=str)


def listed(ranking: Ranking) -> list[tuple[int, float, int]]:
    columns = (ranking.entity.tolist(), ranking.score.tolist(), ranking.support.tolist())
    return list(zip(*columns, strict=True))


@systems
@settings(deadline=None)
@given(tables())
def test_entities_are_ordered_by_score_then_id(ranker: Any, columns: Columns) -> None:
    """All candidates, each once: scores never rise, and of equal scores the larger id comes first."""
    ranking = ranker.rank(contexts_of(columns), 1000)
    found = listed(ranking)
    assert found == sorted(found, key=lambda row: (-row[1], -row[0]))
    assert sorted(entity for entity, _score, _support in found) == sorted(set(columns.entity.tolist()))
    assert ranking.candidates == len(found)
    assert np.isfinite(ranking.score).all()


@systems
@settings(deadline=None)
@given(tables())
def test_support_counts_the_evidence(ranker: Any, columns: Columns) -> None:
    """|S_e|: an entity's mentions under the policy mention, its documents under the policy document."""
    of_document = getattr(ranker, "policy", "document") == "document"
    places = columns.document if of_document else np.arange(columns.entity.size)
    for entity, _score, support in listed(ranker.rank(contexts_of(columns), 1000)):
        assert support == len(set(places[columns.entity == entity].tolist()))


@systems
@settings(deadline=None)
@given(tables(), st.integers(1, 9))
def test_k_cuts(ranker: Any, columns: Columns, k: int) -> None:
    """The first k of the whole ranking, bit for bit; the candidates are still all counted."""
    whole, head = ranker.rank(contexts_of(columns), 1000), ranker.rank(contexts_of(columns), k)
    assert listed(head) == listed(whole)[:k]
    assert head.candidates == whole.candidates


@systems
@settings(deadline=None)
@given(tables(), st.integers(1, 9))
def test_contributions_add_up(ranker: Any, columns: Columns, k: int) -> None:
    """Shares of an entity's own contexts make its score, and shares of literals make each of them."""
    contexts = contexts_of(columns)
    ranking = ranker.rank(contexts, k)
    for i, (entity, score, support) in enumerate(listed(ranking)):
        parts = ranker.explain(contexts, ranking, i)
        assert parts.row.size == support == len(set(parts.row.tolist()))
        assert (columns.entity[parts.row] == entity).all()
        assert parts.share.sum() == pytest.approx(score, rel=1e-9)
        assert parts.literal.shape == (len(columns.df), support)
        assert parts.literal.sum(axis=0) == pytest.approx(parts.share, rel=1e-9)
        assert (parts.literal[columns.distances[:, parts.row] < 0] == 0).all()


@systems
def test_no_contexts_give_no_ranking(ranker: Any) -> None:
    """An empty table is no error."""
    empty = np.empty(0, dtype=np.int32)
    for literals in (1, 3):
        cells = np.empty((literals, 0), dtype=np.int32)
        columns = Columns(empty, empty, empty, cells, cells.astype(np.int8), empty.astype(float), [0] * literals)
        ranking = ranker.rank(contexts_of(columns), 10)
        assert listed(ranking) == []
        assert ranking.candidates == 0


@systems
@settings(deadline=None)
@given(tables(least=1), st.integers(0, 99))
def test_without_a_context_the_entity_has_the_rank_of_what_is_left(ranker: Any, columns: Columns, pick: int) -> None:
    """The same score and rank as in a table that never had the row; none where it was the only one."""
    contexts = contexts_of(columns)
    ranking = ranker.rank(contexts, 1000)
    i = pick % ranking.entity.size
    rows = ranker.explain(contexts, ranking, i).row
    row = int(rows[pick % rows.size])
    found = ranker.without(contexts, ranking, i, row)
    order = np.delete(np.arange(columns.entity.size), row)
    left = listed(ranker.rank(contexts_of(columns, order), 1000))
    expected = [(n, score) for n, (e, score, _s) in enumerate(left, 1) if e == ranking.entity[i]]
    assert (found.rank, found.score) == (expected[0] if expected else (None, None))


@systems
@settings(deadline=None)
@given(tables(least=1), st.integers(0, 99))
def test_pieces_add_up_to_the_context_score(ranker: Any, columns: Columns, pick: int) -> None:
    """Feature cells make the score that the aggregator sees."""
    contexts = contexts_of(columns)
    ranking = ranker.rank(contexts, 1000)
    parts = ranker.explain(contexts, ranking, pick % ranking.entity.size)
    x = pick % parts.row.size
    pieces = ranker.pieces(contexts, int(parts.row[x]))
    assert sum(piece.value for piece in pieces) == pytest.approx(parts.score[x], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("ranker", TRAINED_FIRST, ids=str)
def test_what_must_be_trained_says_so(ranker: Any) -> None:
    """A description of a model is no model."""
    empty = np.empty(0, dtype=np.int32)
    columns = Columns(empty, empty, empty, empty.reshape(1, 0), np.empty((1, 0), dtype=np.int8), np.empty(0), [0])
    with pytest.raises(UsageError, match="must be trained"):
        ranker.rank(contexts_of(columns), 10)


@named
def test_a_system_is_written_as_it_is_read(ranker: Any) -> None:
    """Its text parses back to an equal system, blanks around its parts or not."""
    assert system(str(ranker)) == ranker
    assert system(f" {ranker} ".replace("=", " = ").replace("(", " ( ")) == ranker
    assert str(ranker).startswith(ranker.name)


@given(st.floats(min_value=1e-6, max_value=1e6))
def test_numbers_are_written_exactly(width: float) -> None:
    """A parameter survives its text bit for bit."""
    text = str(dataclasses.replace(system("proximity"), width=width))
    assert system(text).width == width


@settings(deadline=None)
@given(st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.0]), max_size=60), st.integers(1, 70))
def test_ties_at_the_cut_are_broken_by_id(values: list[float], k: int) -> None:
    """However few are asked for, the first k are those of the whole order."""
    entity = np.arange(len(values), dtype=np.int32) * 7 % 61
    places = order_entities(entity, np.array(values, dtype=np.float64), k)
    expected = sorted(range(len(values)), key=lambda i: (-values[i], -entity[i]))[:k]
    assert places.tolist() == expected
