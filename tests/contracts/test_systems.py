"""Every system, found by discovery, keeps the contract of `fader.testing.systems`; learners are trained first."""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.models import feature_model
from contracts.worlds import World, worlds
from fader.errors import UsageError
from fader.features.combined import feature_map
from fader.learn.learner import Learner
from fader.learn.model import Model, parse_model
from fader.learn.modelfile import ModelScope
from fader.rank.ranking import order_entities, rank_entities
from fader.registry import discover
from fader.systems.base import parse_system
from fader.testing import systems as contract

PACKAGE = "fader.systems"
FEW = settings(deadline=None, max_examples=15)


def fields_of(part: Any) -> set[str]:
    return {f.name for f in dataclasses.fields(part)}


def variants(part: Any) -> list[str]:
    """Other settings: every value worth trying by itself, and the other policy."""
    texts = [f"{part.name}({key}={value})" for key, values in getattr(part, "tries", {}).items() for value in values]
    return texts + ([f"{part.name}(policy=mention)"] if "policy" in fields_of(part) else [])


def model(features: str, aggregator: str, policy: str) -> Any:
    """A model with weights that are all different."""
    maps = feature_map(features)
    weights = np.linspace(0.01, 0.3, maps.size)
    return feature_model(features, weights, aggregator, policy)


VARIANTS = [text for part in discover(PACKAGE).values() for text in variants(part)]
VARIANTS += ["proximity(width=0.5,idf=paper)"]
NAMED = list(dict.fromkeys(parse_system(t) for t in (*discover(PACKAGE), *VARIANTS)))
LEARNERS = [s for s in NAMED if isinstance(s, Learner)]
TRAINED_FIRST = [s for s in NAMED if isinstance(s, Learner)]
MODELS = [model("noprox+rectangle", name, "document") for name in discover("fader.aggregate")]
MODELS += [model("confidence+coverage(4x5)", "logsumexp", "mention"), model("noprox+idfupto", "sum", "mention")]
READY: list[Any] = [*(s for s in NAMED if s not in TRAINED_FIRST), *LEARNERS, *MODELS]
named = pytest.mark.parametrize("ranker", NAMED, ids=str)
learners = pytest.mark.parametrize("learner", LEARNERS, ids=str)


trained = functools.cache(contract.train_learner)  # which gives the same twice, as `test_learners` says


@pytest.fixture(scope="module", params=READY, ids=str)
def ranker(request: pytest.FixtureRequest) -> Any:
    """Each of them, able to rank."""
    return trained(request.param) if isinstance(request.param, Learner) else request.param


@FEW
@given(world=worlds(), k=st.integers(1, 9))
def test_rankings(ranker: Any, world: World, k: int) -> None:
    """In order, all candidates, with their support; the first k of the whole; shares and literals add up."""
    contract.check_ranking(ranker, world)
    contract.check_support(ranker, world)
    contract.check_cut(ranker, world, k)
    contract.check_explanations(ranker, world, k)


@FEW
@given(world=worlds(least=1), pick=st.integers(0, 99))
def test_contexts_of_an_entity(ranker: Any, world: World, pick: int) -> None:
    """Without one the rank is that of what is left; pieces add up to its score."""
    contract.check_without(ranker, world, pick)
    contract.check_pieces(ranker, world, pick)


def test_no_contexts_give_no_ranking(ranker: Any) -> None:
    contract.check_empty(ranker)


@learners
def test_learners(learner: Any) -> None:
    """Trained first, the same twice, from what they keep of a query."""
    contract.check_learner(learner)


@named
def test_a_system_says_what_it_is(ranker: Any) -> None:
    contract.check_description(ranker)


@learners
def test_a_trained_learner_survives_its_file(learner: Any) -> None:
    """Bit for bit."""
    fitted = trained(learner)
    text = Model(fitted, ModelScope({"stemmer": None}, None, True, {"queries": 3})).to_text()
    assert parse_model(text, "m.json").system == fitted
    assert json.loads(text)["provenance"] == {"queries": 3}


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
