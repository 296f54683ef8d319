"""Why an entity has its rank: every number adds up, every index points at what it says, for every system.

The oracle is the answer to the whole query with its explanation, and the Contexts table.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fader
from contracts.models import feature_model, portable
from fader.errors import BudgetError, QueryError
from fader.features.combined import feature_map
from fader.learn.learner import Learner
from fader.learn.model import Model
from fader.registry import discover
from fader.search.models import resolve_model
from fader.search.why import Why
from oracles.strategies import World, worlds

TRAINED = {name for name, part in discover("fader.systems").items() if issubclass(part, Learner)} | {"fader"}
UNTRAINED = sorted(set(discover("fader.systems")) - TRAINED)
slow = settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
near = {"rel": 1e-9, "abs": 1e-9}


def model(features: str, aggregator: str, policy: str = "document") -> Model:
    """Weights that are all different."""
    maps = feature_map(features)
    weights = [0.01 + 0.3 * ((7 * i) % 11) for i in range(maps.size)]
    return portable(feature_model(features, weights, aggregator, policy))


MODELS = [
    "default", *UNTRAINED, model("noprox+rectangle(3x4,signed=true)", "average"),
    model("noprox+rectangle(3x4,overlap=union)", "mnz", "mention"), model("coverage(3x5)+grid(2x4)", "sum", "mention"),
    model("noprox+grid(3x4)", "logsumexp"), model("rectangle", "softcount"),
]  # fmt: skip


def check(index: fader.Index, query: str, answer_type: str | None, ranker: Any) -> None:
    """Every candidate of a query."""
    answer = index.search(query, answer_type, 1000, model=ranker, snippets=20, explain=True)
    view = resolve_model(ranker, index.collection).system.view
    contexts = index.contexts(query, answer_type, stem=view.stem, entities=view.entities, relax=view.relax)
    table = {row[:4]: row[5:] for row in contexts.rows()}
    for result in answer.results:
        why = index.why(query, result.entity, answer_type, ranker)
        assert (why.rank, why.score, why.support) == (result.rank, result.score, result.support)
        assert (why.query, why.type, why.model) == (answer.query, answer.type, answer.model)
        assert (why.candidates, why.warnings, why.name) == (answer.candidates, answer.warnings, result.name)
        assert why.explain == result.explain
        assert why.evidence == result.evidence
        check_literals(why, contexts)
        check_matches(why, table)
        if why.features:
            assert sum(part.contribution for part in why.features) == pytest.approx(result.score, **near)
        check_points(why)
        assert json.loads(msgspec.json.encode(why)) == json.loads(json.dumps(why.to_dict(), allow_nan=False))


def check_literals(why: Why, contexts: Any) -> None:
    """In the query's order, with the collection's counts; shares add up to 1."""
    assert [x.text for x in why.literals] == [x.text for x in contexts.query.literals]
    assert [x.required for x in why.literals] == list(contexts.query.required)
    assert [x.documents for x in why.literals] == contexts.df
    assert sum(x.share for x in why.literals) == pytest.approx(1.0)
    assert [x.idf for x in why.literals] == contexts.statistics.idf().tolist()


def check_matches(why: Why, table: dict[Any, Any]) -> None:
    """Distances and sides are the table's; contributions make up those of their contexts."""
    listed = why.explain.contexts
    found: dict[int, list[Any]] = {i: [] for i in range(len(listed))}
    for match in why.matches:
        found[match.context].append(match)
        assert match.share == why.literals[match.literal].share
    for i, context in enumerate(listed):
        distances, sides = table[why.entity, context.doc, context.start, context.end]
        expected = [
            (t, d, {-1: "left", 0: "overlap", 1: "right"}[s])
            for t, (d, s) in enumerate(zip(distances, sides, strict=True))
            if d >= 0
        ]
        assert [(m.literal, m.distance, m.side) for m in found[i]] == expected
        assert [m.contribution for m in found[i]] == [part.contribution for part in context.literals]
        assert sum(m.contribution for m in found[i]) == pytest.approx(context.contribution, **near)
        assert (why.evidence[i].doc, why.evidence[i].score) == (context.doc, context.contribution)


def check_points(why: Why) -> None:
    """Points lie in their grid, each place once; where all contexts are listed they are as many as the matches."""
    for name in {grid.feature for grid in why.grids}:
        counted = 0
        for grid in (g for g in why.grids if g.feature == name):
            assert len({(p.row, p.column, p.literal) for p in grid.points}) == len(grid.points)
            for point in grid.points:
                assert 0 <= point.row < len(grid.rows)
                assert 0 <= point.column < len(grid.columns)
                assert 0 <= point.literal < len(why.literals)
                counted += point.contexts
        if not why.explain.others.contexts:
            assert counted == len(why.matches)


@slow
@given(worlds(), st.sampled_from(MODELS))
def test_every_candidate_is_explained(world: World, ranker: Any) -> None:
    """As the answer to the whole query explains it, and more."""
    with tempfile.TemporaryDirectory() as folder:
        parts: dict[str, Any] = {"corpus": world.corpus, "entities": world.entities, "types": world.types}
        index = fader.build(Path(folder) / "index", **parts)
        for query, answer_type in zip(world.queries[:2], world.answer_types[:2], strict=True):
            try:
                index.parse(query, answer_type)
            except QueryError:
                continue
            check(index, query, answer_type, ranker)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    """Forty entities, the larger the number the nearer to the word; the last has forty contexts, the others one."""
    corpus = []
    for i in range(80):
        text = "word " + "x " * max(0, 40 - i) + "name"
        mention = {"start": len(text) - 4, "end": len(text), "entity": f"E{min(i, 40):02}"}
        corpus.append({"id": f"d{i:02}", "text": text, "mentions": [mention]})
    entities = [{"id": f"E{i:02}", "name": f"Name {i}"} for i in range(41)]
    folder: Path = tmp_path_factory.mktemp("why") / "index"
    return fader.build(folder, corpus=corpus, entities=entities, types=[])


@pytest.mark.parametrize("ranker", MODELS, ids=str)
def test_every_system_explains_the_first_and_the_last(index: fader.Index, ranker: Any) -> None:
    """However far down; beyond twenty contexts the rest is summed, and points still cover all of them.

    Of an entity's support a cascade counts the ten best contexts alone.
    """
    ranked = index.rank("word", k=1000, model=ranker)
    for place in (0, len(ranked.entities) // 2, len(ranked.entities) - 1):
        why = index.why("word", ranked.entities[place], model=ranker)
        assert (why.rank, why.score) == (place + 1, ranked.scores[place])
        assert why.candidates == len(ranked.entities)
        counted = min(why.support, 10 if ranker == "default" else why.support)
        assert len(why.evidence) == len(why.explain.contexts) == min(20, counted)
        for name in {grid.feature for grid in why.grids}:
            assert sum(p.contexts for g in why.grids if g.feature == name for p in g.points) == counted
        near_score = pytest.approx(why.score, **near)
        listed = sum(c.contribution for c in why.explain.contexts)
        assert listed + why.explain.others.contribution == near_score


def test_no_candidate_has_the_grid_without_points(index: fader.Index) -> None:
    """Nothing to explain, in the same shape."""
    why = index.why("+nowhere word", "E00", model="paper")
    assert (why.rank, why.score, why.evidence, why.matches) == (None, None, [], [])
    assert why.explain.contexts == []
    assert [(g.feature, g.points) for g in why.grids] == [("rectangle", [])]
    assert [p.contribution for p in why.features] == [0.0, 0.0]


def test_time_is_counted(index: fader.Index) -> None:
    with pytest.raises(BudgetError):
        index.why("word", "E00", timeout_ms=1e-6)


@pytest.mark.parametrize(
    ("ranker", "quick"), [("paper", True), ("default", False), ("voting", True), ("balog2", False)]
)
def test_what_ifs_are_few_where_each_ranks_everything_again(index: fader.Index, ranker: str, quick: bool) -> None:
    """Five, of the contexts that contribute most; the others have none."""
    contexts = index.why("word", "E40", model=ranker).explain.contexts
    looked_into = [context.without is not None for context in contexts]
    assert looked_into == [True] * 20 if quick else [True] * 5 + [False] * 15
