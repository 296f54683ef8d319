"""Every system, found by discovery, keeps the contract of `fader.systems.base`; learners are trained first."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from contracts.models import feature_model
from contracts.worlds import World, drawn_world, worlds
from fader.errors import UsageError
from fader.features.combined import feature_map
from fader.learn.learner import Learner
from fader.learn.model import Model, parse_model
from fader.learn.modelfile import ModelScope
from fader.learn.tuned import example_of
from fader.rank.ranking import explain_entity, order_entities, rank_entities, rank_without
from fader.rank.system import Ranking
from fader.registry import discover
from fader.systems.base import parse_system
from fader.systems.fader import FeatureModel

PACKAGE = "fader.systems"
FEW = settings(deadline=None, max_examples=15)


def fields_of(part: Any) -> set[str]:
    return {f.name for f in dataclasses.fields(part)}


def variants(part: Any) -> list[str]:
    """Other settings: every value worth trying by itself, and the other policy."""
    texts = [f"{part.name}({key}={value})" for key, values in getattr(part, "tries", {}).items() for value in values]
    return texts + ([f"{part.name}(policy=mention)"] if "policy" in fields_of(part) else [])


def trained(learner: Any) -> Any:
    """A learner fitted to three small worlds, in which entities of even numbers are good."""
    grades = {e: int(e % 2 == 0) for e in range(6)}
    draw = np.random.default_rng(0)
    return learner.fit([example_of(learner, drawn_world(s).contexts(), grades, draw) for s in range(3)], seed=0)


def model(features: str, aggregator: str, policy: str) -> Any:
    """A model with weights that are all different."""
    maps = feature_map(features)
    weights = np.linspace(0.01, 0.3, maps.size)
    return feature_model(features, weights, aggregator, policy)


VARIANTS = [text for part in discover(PACKAGE).values() for text in variants(part)]
VARIANTS += ["proximity(width=0.5,idf=paper)"]
NAMED = list(dict.fromkeys(parse_system(t) for t in (*discover(PACKAGE), *VARIANTS)))
LEARNERS = [s for s in NAMED if isinstance(s, Learner)]
TRAINED_FIRST = [s for s in NAMED if isinstance(s, Learner | FeatureModel)]
MODELS = [model("noprox+rectangle", name, "document") for name in discover("fader.aggregate")]
MODELS += [model("confidence+coverage(4x5)", "logsumexp", "mention"), model("noprox+idfupto", "sum", "mention")]
READY: list[Any] = [*(s for s in NAMED if s not in TRAINED_FIRST), *LEARNERS, *MODELS]
named = pytest.mark.parametrize("ranker", NAMED, ids=str)
learners = pytest.mark.parametrize("learner", LEARNERS, ids=str)


@pytest.fixture(scope="module", params=READY, ids=str)
def ranker(request: pytest.FixtureRequest) -> Any:
    """Each of them, able to rank."""
    return trained(request.param) if isinstance(request.param, Learner) else request.param


def columns(world: World) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Entity and document of each context."""
    entity = np.array([m.entity for _d, m in world.rows], dtype=np.int32)
    return entity, np.array([d for d, _m in world.rows], dtype=np.int32)


def listed(ranking: Ranking) -> list[tuple[int, float, int]]:
    columns = (ranking.entity.tolist(), ranking.score.tolist(), ranking.support.tolist())
    return list(zip(*columns, strict=True))


@FEW
@given(world=worlds())
def test_entities_are_ordered_by_score_then_id(ranker: Any, world: World) -> None:
    """Candidates, each once: scores never rise, of equal scores the larger id comes first; all unless some are cut."""
    ranking = rank_entities(ranker, world.contexts(), 1000)
    found = listed(ranking)
    assert found == sorted(found, key=lambda row: (-row[1], -row[0]))
    entities = [entity for entity, _score, _support in found]
    assert len(set(entities)) == len(entities)
    candidates = set(columns(world)[0].tolist())
    assert set(entities) <= candidates
    assert set(entities) == candidates or hasattr(ranker, "cutoff")
    assert ranking.candidates == len(found)
    assert np.isfinite(ranking.score).all()


@FEW
@given(world=worlds())
def test_support_counts_the_evidence(ranker: Any, world: World) -> None:
    """|S_e|: an entity's mentions under the policy mention, its documents under the policy document."""
    of_document = getattr(ranker, "policy", "document") == "document"
    entities, document = columns(world)
    places = document if of_document else np.arange(entities.size)
    for entity, _score, support in listed(rank_entities(ranker, world.contexts(), 1000)):
        every = len(set(places[entities == entity].tolist()))
        assert support <= every
        assert support == every or hasattr(ranker, "cutoff")


@FEW
@given(world=worlds(), k=st.integers(1, 9))
def test_k_cuts(ranker: Any, world: World, k: int) -> None:
    """The first k of the whole ranking, bit for bit; the candidates are still all counted."""
    whole, head = rank_entities(ranker, world.contexts(), 1000), rank_entities(ranker, world.contexts(), k)
    assert listed(head) == listed(whole)[:k]
    assert head.candidates == whole.candidates


@FEW
@given(world=worlds(), k=st.integers(1, 9))
def test_contributions_add_up(ranker: Any, world: World, k: int) -> None:
    """Shares of an entity's own contexts make its score, and shares of literals make each of them."""
    contexts, entities = world.contexts(), columns(world)[0]
    ranking = rank_entities(ranker, contexts, k)
    for i, (entity, score, support) in enumerate(listed(ranking)):
        parts = explain_entity(ranker, contexts, ranking, i)
        assert parts.row.size == support == len(set(parts.row.tolist()))
        assert (entities[parts.row] == entity).all()
        assert parts.share.sum() == pytest.approx(score, rel=1e-9, abs=1e-12)
        assert parts.literal.shape == (world.literals, support)
        assert parts.literal.sum(axis=0) == pytest.approx(parts.share, rel=1e-9, abs=1e-12)
        assert (parts.literal[contexts.distances[:, parts.row] < 0] == 0).all()


def test_no_contexts_give_no_ranking(ranker: Any) -> None:
    """An empty table is no error."""
    for literals in (1, 3):
        ranking = rank_entities(ranker, World((), literals).contexts(), 10)
        assert listed(ranking) == []
        assert ranking.candidates == 0


@FEW
@given(world=worlds(least=1), pick=st.integers(0, 99))
def test_without_a_context_the_entity_has_the_rank_of_what_is_left(ranker: Any, world: World, pick: int) -> None:
    """The same score and rank as in a table that never had the row; none where it was the only one."""
    contexts = world.contexts()
    ranking = rank_entities(ranker, contexts, 1000)
    i = pick % ranking.entity.size
    rows = explain_entity(ranker, contexts, ranking, i).row
    row = int(rows[pick % rows.size])
    found = rank_without(ranker, contexts, ranking, i, row)
    left = listed(rank_entities(ranker, contexts.take(np.delete(np.arange(len(contexts)), row)), 1000))
    expected = [(n, score) for n, (e, score, _s) in enumerate(left, 1) if e == ranking.entity[i]]
    assert (found.rank, found.score) == (expected[0] if expected else (None, None))


@FEW
@given(world=worlds(least=1), pick=st.integers(0, 99))
def test_pieces_add_up_to_the_context_score(ranker: Any, world: World, pick: int) -> None:
    """Feature cells make the score that the aggregator sees."""
    contexts = world.contexts()
    ranking = rank_entities(ranker, contexts, 1000)
    parts = explain_entity(ranker, contexts, ranking, pick % ranking.entity.size)
    x = pick % parts.row.size
    pieces = ranker.pieces(contexts, int(parts.row[x]))
    assert sum(piece.value for piece in pieces) == pytest.approx(parts.score[x], rel=1e-9, abs=1e-12)


@FEW
@given(world=worlds())
def test_ranking_twice_is_the_same(ranker: Any, world: World) -> None:
    """What is shared between systems does not change the answer."""
    contexts = world.contexts()
    assert listed(rank_entities(ranker, contexts, 1000)) == listed(rank_entities(ranker, contexts, 1000))


@learners
def test_what_a_learner_keeps_of_a_query_is_enough_to_rank_it(learner: Any) -> None:
    """`values_of(encode(..))` are the values of `rank`, also of some candidates only; training twice is the same."""
    fitted = trained(learner)
    assert fitted.is_fitted
    assert not learner.is_fitted
    assert fitted == trained(learner)
    for seed in (5, 6):
        contexts = drawn_world(seed).contexts()
        query, ranking = fitted.encode(contexts), rank_entities(fitted, contexts, 1000)
        assert query.entity.tolist() == contexts.groups.entity.tolist()
        places = np.searchsorted(query.entity, ranking.evidence.entity)
        values = fitted.values_of(query)
        assert values[places] == pytest.approx(ranking.values, rel=1e-9, abs=1e-12)
        some = np.arange(0, query.entity.size, 2)
        thin = fitted.take_candidates(query, some)
        assert thin.entity.tolist() == query.entity[some].tolist()
        assert fitted.values_of(thin) == pytest.approx(values[some], rel=1e-9, abs=1e-12)


@learners
def test_a_trained_learner_survives_its_file(learner: Any) -> None:
    """Bit for bit."""
    fitted = trained(learner)
    text = Model(fitted, ModelScope({"stemmer": None}, None, True, {"queries": 3})).to_text()
    again = parse_model(text, "m.json")
    assert again.system == fitted
    assert json.loads(text)["provenance"] == {"queries": 3}


@named
def test_a_system_says_what_it_is(ranker: Any) -> None:
    """One line, a citation unless it is our own, and values worth trying that parse."""
    part = type(ranker)
    assert (part.__doc__ or "").split("\n")[0].strip()
    assert isinstance(getattr(part, "citation", ""), str)
    assert set(getattr(part, "tries", {})) <= fields_of(part)


@pytest.mark.parametrize("ranker", TRAINED_FIRST, ids=str)
def test_what_must_be_trained_says_so(ranker: Any) -> None:
    """A description of a model is no model."""
    with pytest.raises(UsageError, match="must be trained"):
        rank_entities(ranker, World((), 1).contexts(), 10)


@named
def test_a_system_is_written_as_it_is_read(ranker: Any) -> None:
    """Its text parses back to an equal system, blanks around its parts or not."""
    assert parse_system(str(ranker)) == ranker
    assert parse_system(f" {ranker} ".replace("=", " = ").replace("(", " ( ")) == ranker
    assert str(ranker).startswith(ranker.name)


@given(st.floats(min_value=1e-6, max_value=1e6))
def test_numbers_are_written_exactly(width: float) -> None:
    """A parameter survives its text bit for bit."""
    text = str(dataclasses.replace(parse_system("proximity"), width=width))
    assert parse_system(text).width == width


@settings(deadline=None)
@given(st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.0]), max_size=60), st.integers(1, 70))
def test_ties_at_the_cut_are_broken_by_id(values: list[float], k: int) -> None:
    """However few are asked for, the first k are those of the whole order."""
    entity = np.arange(len(values), dtype=np.int32) * 7 % 61
    places = order_entities(entity, np.array(values, dtype=np.float64), k)
    expected = sorted(range(len(values)), key=lambda i: (-values[i], -entity[i]))[:k]
    assert places.tolist() == expected
