"""LambdaMART: its vectors, LightGBM's predictions on them, and what goes with a ranking."""

from __future__ import annotations

import importlib
import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from contracts.worlds import World, worlds
from fader import budget
from fader.contexts.table import Contexts
from fader.errors import BudgetError, UsageError
from fader.rank.ranking import explain_entity, rank_entities, rank_without
from fader.systems import lambdamart
from fader.systems.base import parse_system
from fader.systems.lambdamart import LambdaMART
from fader.systems.shared.forest import pack_model, predict, unpack_model
from learn.cases import vectors
from systems.learning import TABLES, examples

lightgbm = pytest.importorskip("lightgbm")
F64 = NDArray[np.float64]
SMALL = LambdaMART(features="noprox+rectangle(3x4)", trees=8, leaves=3, least=1)


def trained(policy: str = "document") -> LambdaMART:
    learner = replace(SMALL, policy=policy)
    return learner.fit(examples(learner), 0)


TRAINED = {policy: trained(policy) for policy in ("document", "mention")}


def slow_vectors(learner: LambdaMART, contexts: Contexts) -> F64:
    """The features of each entity, from vectors of contexts written out."""
    f = vectors(learner.maps, contexts)
    start = learner.maps.start()
    score = learner.maps.score(contexts, start)
    rows = []
    for entity in np.unique(contexts.entity):
        kept: dict[int, int] = {}
        for x in np.flatnonzero(contexts.entity == entity).tolist():
            key = int(contexts.document[x]) if learner.policy == "document" else x
            if key not in kept or score[x] > score[kept[key]]:
                kept[key] = x
        mine = f[list(kept.values())]
        at, largest = 0, []
        for m in learner.maps.maps:
            largest.append((mine[:, at : at + m.size] @ start[at : at + m.size]).max())
            at += m.size
        rows.append([*np.log(1 + mine.sum(axis=0)), np.log(1 + len(kept)), *largest])
    return np.array(rows).reshape(-1, learner.maps.size + 1 + len(learner.maps.maps))


@pytest.mark.parametrize("policy", ["document", "mention"])
@settings(deadline=None)
@given(worlds())
def test_values_are_predictions_on_vectors(policy: str, world: World) -> None:
    """LightGBM's own model on the features of entities written out."""
    ranker, contexts = TRAINED[policy], world.contexts()
    ranking = rank_entities(ranker, contexts, 100)
    written = slow_vectors(ranker, contexts)
    assert ranker.vectors(ranker.encode(contexts)) == pytest.approx(written, rel=1e-9, abs=1e-12)
    if written.size:
        model = lightgbm.Booster(model_str=unpack_model("", "", ranker.trees_text))
        # Where a feature lies on a threshold to the last bit, a tree may go either way.
        assert ranking.values == pytest.approx(model.predict(ranker.vectors(ranker.encode(contexts))), rel=1e-12)
    assert np.isfinite(ranking.values).all()


@pytest.mark.parametrize("policy", ["document", "mention"])
@settings(deadline=None)
@given(worlds(least=1), st.integers(0, 99))
def test_a_ranking_can_be_explained(policy: str, world: World, pick: int) -> None:
    """Shares add up to the value, in proportion to what the starting weights give; what-if is a ranking."""
    ranker, contexts = TRAINED[policy], world.contexts()
    ranking = rank_entities(ranker, contexts, 100)
    for i in range(ranking.entity.size):
        parts = explain_entity(ranker, contexts, ranking, i)
        assert parts.share.sum() == pytest.approx(ranking.score[i], rel=1e-9, abs=1e-12)
        assert parts.literal.sum(axis=0) == pytest.approx(parts.share, rel=1e-9, abs=1e-12)
        assert (parts.literal[contexts.distances[:, parts.row] < 0] == 0).all()
        assert parts.share * parts.score.sum() == pytest.approx(ranking.score[i] * parts.score, rel=1e-9, abs=1e-12)
        x = pick % parts.row.size
        pieces = ranker.pieces(contexts, int(parts.row[x]))
        assert sum(p.value for p in pieces) == pytest.approx(parts.score[x], rel=1e-9)
    i = pick % ranking.entity.size
    row = int(explain_entity(ranker, contexts, ranking, i).row[0])
    left = rank_entities(ranker, contexts.take(np.delete(np.arange(len(contexts)), row)), 100)
    found = [(n, s) for n, (e, s) in enumerate(zip(left.entity, left.score, strict=True), 1) if e == ranking.entity[i]]
    answer = rank_without(ranker, contexts, ranking, i, row)
    assert (answer.rank, answer.score) == (found[0] if found else (None, None))


def test_training_is_determined_and_survives_text_and_json() -> None:
    """The same model each time, whoever reads it back."""
    model = TRAINED["document"]
    assert SMALL.fit(examples(SMALL), 0) == model
    assert parse_system(str(model)) == model
    assert LambdaMART(**json.loads(json.dumps(asdict(model)))) == model


def test_it_learns() -> None:
    """On the queries it was trained with, nearly all pairs are in order."""
    learner = replace(SMALL, trees=50)
    model, right = learner.fit(examples(learner), 0), []
    for e in examples(learner):
        values, good = model.values_of(e.query), e.judgments.grades > 0
        right.append((values[good][:, None] > values[~good]).mean())
    assert np.mean(right) > 0.9


def test_few_bad_candidates_are_enough() -> None:
    """`bad` bounds what a query shows; other models come of it, as of another seed."""
    few = replace(SMALL, bad=1)
    assert few.fit(examples(few), 0).is_fitted
    assert few.fit(examples(few), 0).trees_text != TRAINED["document"].trees_text


def test_values_of_what_is_kept_are_those_ranked() -> None:
    """`encode` keeps all that `rank` needs, thinned or not."""
    for policy, model in TRAINED.items():
        for contexts in TABLES:
            query, values = model.encode(contexts), rank_entities(model, contexts, 10).values
            assert model.values_of(query).tolist() == values.tolist(), policy
            places = np.array([1, 2])
            thin = model.take_candidates(query, places)
            assert thin.entity.tolist() == query.entity[places].tolist()
            assert model.values_of(thin) == pytest.approx(values[places], rel=1e-12)


def test_untrained_it_says_so() -> None:
    """It cannot rank before it is trained."""
    with pytest.raises(UsageError, match="must be trained"):
        rank_entities(SMALL, TABLES[0], 10)


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of the extra, as a command."""

    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(UsageError, match=r"pip install 'fader\[lambdamart\]'"):
        SMALL.fit(examples(SMALL), 0)


@pytest.mark.parametrize("letters", ["no-model", pack_model("", "something else")])
def test_what_is_no_model_is_refused(letters: str) -> None:
    """Whether it cannot be unpacked or is something else."""
    with pytest.raises(UsageError, match="lambdamart: trees_text is no model"):
        rank_entities(replace(SMALL, trees_text=letters), TABLES[0], 10)


def test_trees_of_other_features_are_refused() -> None:
    """They ask for features by number."""
    with pytest.raises(UsageError, match=r"lambdamart: trees_text was grown on .* features, but there are"):
        rank_entities(replace(TRAINED["document"], features="noprox"), TABLES[0], 10)


def test_large_grades_are_learned_from() -> None:
    """The largest that qrels allow."""
    large = [
        replace(e, judgments=replace(e.judgments, grades=e.judgments.grades * (2**30 - 1))) for e in examples(SMALL)
    ]
    assert SMALL.fit(large, 0).is_fitted


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"trees": 0}, "lambdamart: trees must be a whole number from 1 to 10,000"),
        ({"trees": 10_001}, "lambdamart: trees must be a whole number from 1 to 10,000"),
        ({"leaves": 131_073}, "lambdamart: leaves must be a whole number from 2 to 131,072"),
        ({"leaves": 1}, "lambdamart: leaves must be a whole number from 2 to 131,072"),
        ({"least": 0}, "lambdamart: least must be a whole number from 1 to"),
        ({"bad": 0}, "lambdamart: bad must be a whole number from 1 to"),
        ({"rate": 0.0}, "lambdamart: rate must be a number above 0 and at most 1"),
        ({"policy": "page"}, "lambdamart: policy must be one of document, mention"),
        ({"features": "coverage(edges=learned)"}, "lambdamart: features must have fixed edges"),
    ],
)
def test_bad_parameters_are_refused(given: dict[str, Any], message: str) -> None:
    """With the parameter, what it may be, and what it was."""
    with pytest.raises(UsageError, match=message):
        LambdaMART(**given)


def test_time_is_counted_while_trees_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table has a few rows only, and the clock is looked at before each; the values are the same to the bit."""
    ranker = TRAINED["document"]
    query = ranker.encode(TABLES[0])
    whole, rows = ranker.values_of(query), []

    def counted(owner: str, field: str, letters: str, table: F64) -> F64:
        rows.append(table.shape[0])
        return predict(owner, field, letters, table)

    monkeypatch.setattr(budget, "CHUNK", 2 * ranker.maps.size)
    monkeypatch.setattr(lambdamart, "predict", counted)
    with budget.deadline(10**9):
        assert ranker.values_of(query).tobytes() == whole.tobytes()
    assert sum(rows) == whole.size > max(rows) == 2
    with budget.deadline(1e-6), pytest.raises(BudgetError):
        ranker.values_of(query)
