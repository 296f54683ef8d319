"""A cascade ranked in stages: the order, the scores and the snippets of the table of all contexts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fader
from experiment.judged_demo import demo_in, some_queries
from fader.learn.interpreter import default_interpreter
from fader.search.ask import match_question, rank_question, show_question
from fader.search.models import resolve_model
from fader.search.staged import rank_by_evidence
from fader.systems.rerank import Rerank


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("staged")


@pytest.fixture(scope="module")
def index(folder: Path) -> fader.Index:
    index = demo_in(folder)
    index.ask("Which spacecraft landed on Mars?")  # a list of all mentions is decoded when it is asked for again
    return index


@pytest.fixture(params=[3, 20])
def cascade(request: pytest.FixtureRequest, index: fader.Index) -> Rerank:
    """The default cascade with few candidates, so that many entities stand behind them."""
    system = resolve_model("default", index.collection).system
    assert isinstance(system, Rerank)
    return replace(system, candidates=request.param)


def ask(index: fader.Index, folder: Path, cascade: Rerank) -> list[tuple[str, bool]]:
    """Compare every fifth of the demo's questions with the whole table; whether each was ranked in stages."""
    collection, how, found = index.collection, default_interpreter(), []
    options = match_question(cascade, index.limits)
    for query in some_queries(folder, 5)[0]:
        asked = rank_question(
            collection, index._reader, query["question"], how, cascade, index.limits, snippets=2
        )  # fmt: skip
        whole = collection.evidence(asked.query, options, cascade, 10_000)
        ranking, staged = rank_by_evidence(collection, asked.query, options, cascade, 2)
        order = staged or ranking.ranking
        assert np.array_equal(order.entity, whole.ranking.entity)
        assert np.array_equal(order.score, whole.ranking.score)
        assert np.array_equal(order.support, whole.ranking.support)
        shown = show_question(collection, asked, cascade, 10, 2)
        expected = show_question(collection, replace(asked, staged=None, whole=whole), cascade, 10, 2)
        assert [r.entity for r in shown] == [r.entity for r in expected]
        for one, other in zip(shown, expected, strict=True):
            assert [replace(s, score=0.0) for s in one.evidence] == [replace(s, score=0.0) for s in other.evidence]
            assert [s.score for s in one.evidence] == pytest.approx([s.score for s in other.evidence])
        found.append((query["id"], asked.staged is not None))
    return found


def test_stages_give_what_the_whole_table_gives(index: fader.Index, folder: Path, cascade: Rerank) -> None:
    """Entities, scores and supports to the last bit, and the snippets of what is shown, behind candidates too."""
    assert any(in_stages for _id, in_stages in ask(index, folder, cascade))


def test_counts_are_kept(index: fader.Index) -> None:
    """Counted again, alone or beside other literals, a literal has the same counts."""
    collection = index.collection
    options = match_question(resolve_model("default", collection).system, index.limits)
    queries = [index.parse(text) for text in ("mars landed", "landed", 'vienna mars "magic flute" landed')]
    for query in queries:
        fresh = fader.open(collection.folder).collection.count(query, options)
        for _i in range(2):
            again = collection.count(query, options)
            assert (again.df.tolist(), again.cf.tolist()) == (fresh.df.tolist(), fresh.cf.tolist())
