"""Learned voting: features against the voting systems, the fit against its own conditions, trees against themselves."""

from __future__ import annotations

import importlib
from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from contracts.worlds import Document, Mention, World, worlds
from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.learn.dataset import draw_candidates
from fader.learn.learner import Example
from fader.measures import judge
from fader.rank.ranking import rank_entities
from fader.systems.base import parse_system
from fader.systems.macdonald import Macdonald
from fader.systems.shared.ladder import Rungs, raw_features, rungs
from fader.systems.shared.thinning import seed_of
from fader.systems.shared.weighting import MODELS
from fader.systems.voting import TECHNIQUES
from systems import voting_oracle
from systems.checks import check_contract
from systems.document_scores import scores_of

F64 = NDArray[np.float64]
LADDER = (1, 2, 4, 0)
SMALL = Macdonald(models="bm25/pl2", techniques="votes/rr/combmax/combmed/expcombmnz", cutoffs=(2, 0))


def weighted(learner: Macdonald) -> Macdonald:
    """Trained, so to speak: weights of both signs that are all different."""
    return replace(learner, weights=tuple(np.linspace(-0.3, 1.0, learner.size).tolist()))


@pytest.mark.parametrize("model", MODELS)
@settings(deadline=None, max_examples=40)
@given(worlds())
def test_features_are_the_values_of_voting(model: str, world: World) -> None:
    """Every technique at every cutoff, and nan where there is no vote."""
    contexts = world.contexts()
    found = raw_features(contexts, model, list(TECHNIQUES), LADDER).reshape(-1, len(LADDER), len(TECHNIQUES))
    for k, cutoff in enumerate(LADDER):
        for t, technique in enumerate(TECHNIQUES):
            expected = voting_oracle.voting(world, scores_of(contexts, model), technique, cutoff)
            mine = {int(e): float(v) for e, v in zip(contexts.groups.entity, found[:, k, t], strict=True)}
            assert {e: v for e, v in mine.items() if not np.isnan(v)} == pytest.approx(expected, rel=1e-9, abs=1e-9)


def min_max(column: F64) -> F64:
    """0 to 1 over the candidates with a vote; 0 for the others, and where all are the same."""
    if np.isnan(column).all():
        return np.zeros(column.size)
    low, high = np.nanmin(column), np.nanmax(column)
    flat = high - low <= 1e-9 * max(abs(low), abs(high))
    return np.nan_to_num((column - low) / (1.0 if flat else high - low)) * (not flat)


@settings(deadline=None, max_examples=40)
@given(worlds())
def test_values_are_the_weighted_features(world: World) -> None:
    """The formula, to the digits of 32 bits; of every candidate."""
    contexts, learner = world.contexts(), weighted(Macdonald(cutoffs=LADDER))
    columns = np.hstack([raw_features(contexts, m, list(TECHNIQUES), LADDER) for m in MODELS])
    table = np.stack([min_max(c) for c in columns.T], axis=1)
    ranking = rank_entities(learner, contexts, 1000)
    assert ranking.evidence.entity.tolist() == contexts.groups.entity.tolist()
    assert ranking.values == pytest.approx(table @ np.array(learner.weights), abs=1e-5)
    assert learner.values_of(learner.encode(contexts)).tolist() == ranking.values.tolist()
    assert learner.encode(contexts).to_dense() == pytest.approx(table, abs=1e-6)


@settings(deadline=None, max_examples=40)
@given(worlds())
def test_the_contract_of_systems_holds(world: World) -> None:
    """Order, contributions, pieces, what is left."""
    check_contract(weighted(SMALL), world.contexts())


def test_golden() -> None:
    """a in three documents, b in two, c in one; votes of all documents, weight 2: values 2, 1 and 0."""
    mentions = [[0, 1, 2], [0, 1, 0], [0]]
    documents = [Document((0, 5, 6), tuple(Mention(i, i + 1, e) for i, e in enumerate(m))) for m in mentions]
    learner = Macdonald(models="bm25", techniques="votes", cutoffs=(0,), weights=(2.0,))
    ranking = rank_entities(learner, World(tuple(documents), 1).contexts(), 10)
    assert (ranking.entity.tolist(), ranking.score.tolist()) == ([0, 1, 2], [2.0, 1.0, 0.0])


@settings(deadline=None, max_examples=40)
@given(worlds(), st.data())
def test_thinned_queries_have_the_same_features(world: World, data: st.DataObject) -> None:
    """Values of some candidates are those among all."""
    learner = weighted(SMALL)
    query = learner.encode(world.contexts())
    places = np.array([i for i in range(query.entity.size) if data.draw(st.booleans())], dtype=np.int64)
    thin = learner.take_candidates(query, places)
    assert thin.entity.tolist() == query.entity[places].tolist()
    assert learner.values_of(thin).tolist() == learner.values_of(query)[places].tolist()


def judged(seed: int, queries: int = 12) -> list[Example]:
    """Random worlds of many entities, of which those in many documents are good more often."""
    draw, out = np.random.default_rng(seed), []
    for _ in range(queries):
        documents = []
        for _d in range(30):
            tokens = tuple(draw.integers(0, 9, 12).tolist())
            named = draw.choice(20, 3, p=np.arange(1, 21) / 210)
            documents.append(Document(tokens, tuple(Mention(i, i + 1, int(e)) for i, e in enumerate(named))))
        contexts = World(tuple(documents), 2).contexts()
        query = SMALL.encode(contexts)
        good = {int(e): int(draw.integers(1, 3)) for e in query.entity if draw.random() < e / 25}
        judgments = judge(
            query.entity, query.entity.tolist(), {int(query.entity[-1]): 1, int(query.entity[0]): 0} | good
        )
        out.append(Example(query, judgments))
    return out


def objective(examples: list[Example], w: F64, lam: float) -> float:
    """Pair by pair."""
    total = 0.0
    for example in examples:
        values, good = example.query.to_dense().astype(float) @ w, example.judgments.grades > 0
        margin = 1 + values[~good][None, :] - values[good][:, None]
        total += float(np.logaddexp(0, margin).mean())
    return total + float(w @ w) / (2 * lam**2)


@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0])
def test_the_fit_is_the_minimum(lam: float) -> None:
    """No step along any weight lowers the objective, and the slope is about 0."""
    examples = judged(1)
    w = np.array(replace(SMALL, lam=lam).fit(examples, 0).weights)
    best, step = objective(examples, w, lam), 1e-4
    for i in range(w.size):
        move = np.eye(w.size)[i] * step
        ahead, behind = objective(examples, w + move, lam), objective(examples, w - move, lam)
        assert min(ahead, behind) >= best - 1e-7
        assert abs(ahead - behind) / (2 * step) < 2e-3
    assert best < objective(examples, np.zeros(w.size), lam)


def test_training_is_deterministic_and_draws_bad_candidates() -> None:
    """The same seed gives the same weights; fewer bad candidates other ones; all are finite."""
    examples, few = judged(2), replace(SMALL, bad=2)
    assert SMALL.fit(examples, 3) == SMALL.fit(examples, 3)
    assert few.fit(examples, 3) == few.fit(examples, 3)
    assert few.fit(examples, 3) != few.fit(examples, 4)
    assert np.isfinite(few.fit(examples, 3).weights).all()


@settings(deadline=None, max_examples=20)
@given(worlds())
def test_trees_rank_too(world: World) -> None:
    """LambdaMART on the same features: deterministic, written and read back, explained."""
    pytest.importorskip("lightgbm")
    trained = forest()
    check_contract(trained, world.contexts())
    contexts = world.contexts()
    assert trained.values_of(trained.encode(contexts)).tolist() == rank_entities(trained, contexts, 9).values.tolist()
    assert parse_system(str(trained)) == trained


_FORESTS: list[Macdonald] = []


def forest() -> Macdonald:
    """Trained once for all examples."""
    if not _FORESTS:
        _FORESTS.append(replace(SMALL, learner="lambdamart", trees=5, leaves=4).fit(judged(4), 0))
    return _FORESTS[0]


def test_trees_are_deterministic_and_learn() -> None:
    """The same seed gives the same trees, and good candidates come before bad ones more often than not."""
    pytest.importorskip("lightgbm")
    examples = judged(4)
    trained = forest()
    assert replace(trained, forest="").fit(examples, 0) == trained
    values = [(trained.values_of(e.query), e.judgments.grades > 0) for e in examples]
    assert np.mean([v[g].mean() > v[~g].mean() for v, g in values]) > 0.8


def test_a_learned_one_is_written_as_it_is_read() -> None:
    """Weights survive their text bit for bit."""
    trained = SMALL.fit(judged(5), 0)
    assert parse_system(str(trained)) == trained


@pytest.mark.parametrize("learner", ["linear", "lambdamart"])
def test_what_must_be_trained_says_so(learner: str) -> None:
    """It does not rank."""
    contexts = World((Document((0, 5), (Mention(0, 1, 0),)),), 1).contexts()
    with pytest.raises(UsageError, match="must be trained"):
        rank_entities(Macdonald(learner=learner), contexts, 10)


def test_without_lightgbm_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that installs it."""

    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(UsageError, match=r"macdonald: needs .* pip install 'fader\[lambdamart\]'"):
        replace(SMALL, learner="lambdamart").fit(judged(1, 2), 0)


def test_features_are_shared_by_learners_of_the_same_encoding() -> None:
    """Whatever the regulariser; other cutoffs are another encoding."""
    contexts: Contexts = World((Document((0, 5), (Mention(0, 1, 0),)),), 1).contexts()
    assert SMALL.encode(contexts) is replace(SMALL, lam=10.0).encode(contexts)
    assert SMALL.encoding == replace(SMALL, lam=10.0, learner="lambdamart").encoding
    assert SMALL.encoding != replace(SMALL, cutoffs=(3, 0)).encoding
    assert rungs(contexts, ["bm25"], ["rr"], [0]).columns == 1


def test_columns_are_numbered_in_16_bits() -> None:
    """As many features as that are taken, and no more."""
    most = tuple(range(1, 65_536))
    assert Macdonald(models="bm25", techniques="rr", cutoffs=most).size == 65_535
    message = "macdonald: at most 65,535 features, not 1 models x 1 techniques x 65,536 cutoffs = 65,536; give fewer"
    with pytest.raises(UsageError, match=message):
        Macdonald(models="bm25", techniques="rr", cutoffs=(*most, 0))


def test_bad_candidates_are_drawn_by_query() -> None:
    """Queries with as many candidates as each other do not draw the same places, and the others do not matter."""
    judgments = [judge(np.arange(k, k + 400, dtype=np.int32), range(400), {0: 1}) for k in (0, 1000)]
    first, second = (draw_candidates(j, 20, seed_of(j.entity, 5)).tolist() for j in judgments)
    assert first != second
    examples, few = judged(2), replace(SMALL, bad=2)
    seen: list[list[int]] = []

    class Watched(Rungs):
        def take(self, places: Any) -> Rungs:
            seen.append(places.tolist())
            return super().take(places)

    few.fit([replace(e, query=Watched(*astuple(e.query))) for e in examples], 3)
    assert seen == [draw_candidates(e.judgments, 2, seed_of(e.judgments.entity, 3)).tolist() for e in examples]


def test_large_grades_are_learned_from() -> None:
    """The largest that qrels allow, by trees and by weights; only trees mind how large a grade is."""
    pytest.importorskip("lightgbm")
    large = [replace(e, judgments=replace(e.judgments, grades=e.judgments.grades * (2**30 - 1))) for e in judged(4)]
    assert replace(SMALL, learner="lambdamart", trees=5, leaves=4).fit(large, 0).is_fitted
    assert SMALL.fit(large, 0) == SMALL.fit(judged(4), 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("macdonald(learner=svm)", 'macdonald: learner must be linear or lambdamart, not "svm"'),
        ("macdonald(models=bm25/okapi)", 'macdonald: unknown weighting model "okapi"'),
        ("macdonald(models=bm25/bm25)", "macdonald: models has one more than once"),
        ("macdonald(techniques=vote)", r'macdonald: unknown voting technique "vote"; did you mean "votes"'),
        ("macdonald(cutoffs=0/10)", r'macdonald: cutoffs must be .*, not "0/10"'),
        ("macdonald(cutoffs=10/10)", r'macdonald: cutoffs must be .*, not "10/10"'),
        ("macdonald(cutoffs=1.5)", r'macdonald: cutoffs must be .*, not "1.5"'),
        ("macdonald(cutoffs=inf)", r'macdonald: cutoffs must be .*, not "inf"'),
        ("macdonald(lam=0)", "lambda must be a number"),
        ("macdonald(bad=0)", 'macdonald: bad must be a whole number from 1 to .*, not "0"'),
        ("macdonald(leaves=1)", "macdonald: leaves must be a whole number from 2 to 131,072"),
        ("macdonald(leaves=131073)", "macdonald: leaves must be a whole number from 2 to 131,072"),
        ("macdonald(trees=0)", "macdonald: trees must be a whole number from 1 to 10,000"),
        ("macdonald(trees=10001)", "macdonald: trees must be a whole number from 1 to 10,000"),
        ("macdonald(rate=0)", "macdonald: rate must be a number above 0"),
        ("macdonald(weights=1/2)", "macdonald: 2 weights for 288 features"),
        ("macdonald(cutoffs=0,models=bm25,techniques=rr,weights=nan)", "weights must be finite"),
    ],
)
def test_bad_parameters_are_refused(text: str, message: str) -> None:
    """With the system, the constraint and the value."""
    with pytest.raises(UsageError, match=message):
        parse_system(text)


def test_a_damaged_forest_is_refused() -> None:
    """Not a traceback of another package."""
    pytest.importorskip("lightgbm")
    contexts = World((Document((0, 5), (Mention(0, 1, 0),)),), 1).contexts()
    with pytest.raises(UsageError, match="macdonald: forest is no model"):
        rank_entities(replace(SMALL, learner="lambdamart", forest="abc"), contexts, 1)
