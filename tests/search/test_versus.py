"""Two systems side by side: each side is that system's own answer, and ranks of the other are among all candidates.

The oracle has both whole rankings as lists, and counts pairs two by two.
"""

from __future__ import annotations

import json
import math
import tempfile
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

import fader
from contracts.models import portable
from fader.contexts import match as matching
from fader.errors import BudgetError, QueryError, UsageError
from fader.learn.model import Model
from fader.search import local as searching
from fader.search.models import shipped_model
from fader.search.tau import tau_b
from oracles.strategies import World, worlds

SYSTEMS = ("default", "count", "proximity", "voting(cutoff=1)", "balog2", "count(policy=mention)")
slow = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
scores = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)


def tau_of(pairs: list[tuple[float, float]]) -> float | None:
    """Tau-b by its definition."""
    sign = [
        ((a[0] > b[0]) - (a[0] < b[0]), (a[1] > b[1]) - (a[1] < b[1])) for a, b in combinations(pairs, 2)
    ]  # fmt: skip
    x, y = sum(s[0] != 0 for s in sign), sum(s[1] != 0 for s in sign)
    return sum(s[0] * s[1] for s in sign) / math.sqrt(x * y) if x and y else None


@settings(deadline=None)
@given(scores)
def test_tau_is_that_of_the_pairs(pairs: list[tuple[int, int]]) -> None:
    """By definition, and by scipy; None where there is none."""
    x, y = (np.array([p[i] for p in pairs], dtype=np.float64) for i in (0, 1))
    expected, found = tau_of([(float(a), float(b)) for a, b in pairs]), tau_b(x, y)
    assert (found is None) == (expected is None)
    if found is not None:
        assert found == pytest.approx(expected)
        assert found == pytest.approx(kendalltau(x, y).statistic)


def test_tau_of_many() -> None:
    """As scipy has it, where merging goes on for many rounds."""
    draw = np.random.default_rng(0)
    x = draw.integers(0, 300, 5000).astype(np.float64)
    y = x + draw.integers(0, 400, 5000)
    assert tau_b(x, y) == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)
    assert tau_b(np.arange(9.0), -np.arange(9.0)) == -1.0
    assert tau_b(np.array([3.0, 2.0, 1.0]), np.array([1.0, 2.0, 2.0])) == pytest.approx(-2 / math.sqrt(6))


def check(index: fader.Index, query: str, answer_type: str | None, systems: tuple[str, str], k: int) -> None:
    """Everything of one comparison, from the whole rankings of both."""
    found = index.versus(query, *systems, answer_type, k, snippets=2)
    whole = [index.rank(query, answer_type, 1000, model=s) for s in systems]
    for i, (side, name) in enumerate(zip(found.sides, systems, strict=True)):
        own, other = whole[i], whole[1 - i]
        answer = index.search(query, answer_type, k, model=name, snippets=2)
        assert (side.model, side.warnings, side.candidates) == (answer.model, answer.warnings, answer.candidates)
        assert side.contexts == answer.contexts
        assert len(side.results) == min(k, len(own.entities))
        for mine, plain in zip(side.results, answer.results, strict=True):
            ranks = {e: r for r, e in enumerate(other.entities, 1)}
            assert mine.other_rank == ranks.get(mine.entity)
            for field in ("rank", "entity", "name", "types", "score", "support", "evidence"):
                assert getattr(mine, field) == getattr(plain, field)
    scores = [dict(zip(w.entities, w.scores, strict=True)) for w in whole]
    both = sorted(scores[0].keys() & scores[1].keys())
    tau = tau_of([(scores[0][e], scores[1][e]) for e in both])
    assert found.agreement.tau == (None if tau is None else pytest.approx(tau))
    assert found.agreement.candidates == len(both)
    assert found.agreement.shared == len({*whole[0].entities[:k]} & {*whole[1].entities[:k]})
    assert found.candidates == len(scores[0].keys() | scores[1].keys())
    first = index.search(query, answer_type, snippets=0, model=systems[0])
    assert found.matched_documents == first.matched_documents
    json.loads(msgspec.json.encode(found))


@slow
@given(worlds(), st.sampled_from(SYSTEMS), st.sampled_from(SYSTEMS), st.integers(1, 4))
def test_each_side_is_its_own_answer(world: World, a: str, b: str, k: int) -> None:
    """With ranks, shared entities and tau as both whole rankings have them."""
    with tempfile.TemporaryDirectory() as folder:
        parts: dict[str, Any] = {"corpus": world.corpus, "entities": world.entities, "types": world.types}
        index = fader.build(Path(folder) / "index", **parts)
        for query, answer_type in zip(world.queries, world.answer_types, strict=True):
            try:
                index.parse(query, answer_type)
            except QueryError:
                continue
            check(index, query, answer_type, (a, b), k)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    """Forty entities; the larger its number, the farther is an entity from the word, and the more often it is there."""
    corpus = []
    for i in range(40):
        for j in range(1 + i // 4):
            text = "word " + "x " * i + "name"
            mention = {"start": len(text) - 4, "end": len(text), "entity": f"E{i:02}"}
            corpus.append({"id": f"d{i}-{j}", "text": text, "mentions": [mention]})
    entities = [{"id": f"E{i:02}", "name": f"Name {i}"} for i in range(40)]
    folder: Path = tmp_path_factory.mktemp("versus") / "index"
    return fader.build(folder, corpus=corpus, entities=entities, types=[])


def windowed(window: int | None, top: int = 0) -> Model:
    system: Any = shipped_model("paper").system
    return portable(replace(system, window=str(window or 0), top=str(top)))


@pytest.fixture
def matched(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The options of every matching."""
    seen: list[Any] = []

    def counting(reader: Any, query: Any, options: Any) -> Any:
        seen.append(options)
        return matching.match(reader, query, options)

    monkeypatch.setattr(searching, "match", counting)
    return seen


@pytest.mark.parametrize(
    ("a", "b", "times"),
    [
        ("paper", "count", 1), ("count(policy=mention)", "count", 1), (windowed(None, 5), "count", 1),
        (windowed(10), windowed(10, 3), 1), (windowed(10), "count", 2), (windowed(10), windowed(20), 2),
    ],
    ids=str,
)  # fmt: skip
def test_contexts_are_matched_once_where_both_want_them_alike(
    index: fader.Index, matched: list[Any], a: Any, b: Any, times: int
) -> None:
    """The policy does not count, nor how many documents are kept: both are decided after matching."""
    index.versus("word", a, b)
    assert len(matched) == times


def test_an_entity_that_the_other_does_not_rank_has_no_other_rank(index: fader.Index) -> None:
    """Ranks are among all: deep in the other answer they are still told, and None is only for no candidate."""
    found = index.versus("word", windowed(10), "count", k=40)
    assert (len(found.sides[0].results), len(found.sides[1].results)) == (10, 40)
    assert {r.other_rank for r in found.sides[1].results if int(r.entity[1:]) >= 10} == {None}
    assert all(r.other_rank is not None and r.other_rank > 25 for r in found.sides[0].results)
    assert (found.candidates, found.contexts) == (40, max(side.contexts for side in found.sides))


def test_the_same_system_twice_agrees(index: fader.Index) -> None:
    found = index.versus("word", "proximity", "proximity", k=7)
    assert (found.agreement.shared, found.agreement.tau, found.agreement.candidates) == (7, 1.0, 40)
    assert [r.rank for r in found.sides[0].results] == [r.other_rank for r in found.sides[0].results]


def test_nothing_found_is_no_error(index: fader.Index) -> None:
    found = index.versus("+nowhere word", "default", "count")
    assert [side.results for side in found.sides] == [[], []]
    assert (found.agreement.shared, found.agreement.tau, found.candidates) == (0, None, 0)
    assert all("nowhere" in side.warnings[-1] for side in found.sides)


def test_limits_and_time_hold(index: fader.Index) -> None:
    with pytest.raises(UsageError, match="k must be a whole number"):
        index.versus("word", "default", "count", k=0)
    with pytest.raises(UsageError, match="snippets must be a whole number"):
        index.versus("word", "default", "count", snippets=-1)
    with pytest.raises(UsageError, match="no_such_system"):
        index.versus("word", "default", "no_such_system")
    with pytest.raises(BudgetError):
        index.versus("word", "default", "count", timeout_ms=1e-6)
