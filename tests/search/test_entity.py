"""An entity and its contexts, page by page, however far down it is ranked.

The oracle is the answer to the whole query, which has every candidate and all of its evidence.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fader
from contracts.models import portable
from fader import budget
from fader.errors import BudgetError, CatalogError, QueryError, UsageError
from fader.index.textstore import TextStore
from fader.learn.model import Model
from fader.search.models import shipped_model
from fader.systems.base import parse_system
from oracles.strategies import World, worlds

SYSTEMS = ("default", "count(policy=mention)", "proximity", "voting(cutoff=1)", "balog2", "entityrank")
slow = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def check_pages(index: fader.Index, query: str, answer_type: str | None, model: str, size: int) -> None:
    """Rank, score and all contexts of every entity of the catalog, from pages of a size."""
    answer = index.search(query, answer_type, 1000, model=model, snippets=1000)
    found = {r.entity: r for r in answer.results}
    for entity in index.collection.catalog.entity_ids:
        items: list[Any] = []
        while True:
            page = index.evidence(query, entity, answer_type, model, offset=len(items), limit=size)
            assert (page.contexts.offset, page.contexts.limit) == (len(items), size)
            items += page.contexts.items
            if not page.contexts.items:
                break
        assert (page.query, page.type, page.model) == (answer.query, answer.type, answer.model)
        assert page.candidates == answer.candidates
        assert page.entity == entity
        assert [item.place for item in items] == list(range(1, page.contexts.total + 1))
        expected = found.get(entity)
        if expected is None:
            assert (page.rank, page.score, page.support, page.contexts.total) == (None, None, 0, 0)
            assert len(page.warnings) > len([w for w in answer.warnings if not w.startswith("no answer")])
            continue
        assert (page.rank, page.score, page.support) == (expected.rank, expected.score, expected.support)
        assert (page.name, page.warnings) == (expected.name, answer.warnings)
        shown = [{f: getattr(item, f) for f in ("doc", "score", "snippet", "mention", "matches")} for item in items]
        assert shown == [{f: getattr(s, f) for f in shown[0]} for s in expected.evidence]
        json.loads(msgspec.json.encode(page))


@slow
@given(worlds(), st.sampled_from(SYSTEMS), st.integers(1, 3))
def test_pages_are_the_evidence_of_the_whole_answer(world: World, model: str, size: int) -> None:
    """All contexts that count are reached, each once, in the order of the answer's; others are no candidates."""
    with tempfile.TemporaryDirectory() as folder:
        parts: dict[str, Any] = {"corpus": world.corpus, "entities": world.entities, "types": world.types}
        index = fader.build(Path(folder) / "index", **parts)
        for query, answer_type in zip(world.queries[:2], world.answer_types[:2], strict=True):
            try:
                index.parse(query, answer_type)
            except QueryError:
                continue
            check_pages(index, query, answer_type, model, size)


TYPES = [
    {"id": "thing", "name": "Thing"}, {"id": "agent", "name": "Agent", "supertypes": ["thing"]},
    {"id": "person", "name": "Person", "supertypes": ["agent"]}, {"id": "place", "name": "Place"},
    {"id": "poet", "name": "Poet", "supertypes": ["person", "writer"]}, {"id": "writer", "name": "Writer"},
]  # fmt: skip
ENTITIES = [
    {"id": "Ada", "name": "Ada Lovelace", "types": ["person", "poet"], "aliases": ["Ada King", "Countess"]},
    {"id": "Rome", "name": "Rome", "types": ["place"]},
    {"id": "Nobody", "name": "Nobody", "types": ["person"]},
    {"id": "Untyped", "name": "", "types": []},
]
CORPUS = [
    {"id": f"d{i:02}", "text": "far " * i + "word " + "x " * (i % 5) + "Ada", "mentions": [
        {"start": 4 * i + 5 + 2 * (i % 5), "end": 4 * i + 8 + 2 * (i % 5), "entity": "Ada"}]}
    for i in range(30)
]  # fmt: skip
CORPUS += [
    {"id": "e0", "text": "word in Rome", "mentions": [{"start": 8, "end": 12, "entity": "Rome"}]},
    {"id": "e1", "text": "other Nobody", "mentions": [{"start": 6, "end": 12, "entity": "Nobody"}]},
    {"id": "e2", "text": "word " + "x " * 20 + "Untyped", "mentions": [{"start": 45, "end": 52, "entity": "Untyped"}]},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    folder: Path = tmp_path_factory.mktemp("entity") / "index"
    return fader.build(folder, corpus=CORPUS, entities=ENTITIES, types=TYPES)


def test_a_card_has_what_the_catalog_knows(index: fader.Index) -> None:
    """Names, aliases, how many documents mention it, and of each direct type a shortest way down from a root."""
    card = index.entity("Ada")
    assert (card.id, card.name, card.aliases, card.documents) == ("Ada", "Ada Lovelace", ["Ada King", "Countess"], 30)
    paths = {t.id: [step.name for step in t.path] for t in card.types}
    assert paths == {"person": ["Thing", "Agent", "Person"], "poet": ["Writer", "Poet"]}
    assert [t.name for t in card.types] == ["Person", "Poet"]
    plain = json.loads(msgspec.json.encode(card))
    assert plain == json.loads(json.dumps(card.to_dict()))
    assert plain["types"][1]["path"] == [{"id": "writer", "name": "Writer"}, {"id": "poet", "name": "Poet"}]
    assert (index.entity("Untyped").types, index.entity("Nobody").documents) == ([], 1)


@pytest.mark.parametrize("wanted", ["Adaa", "", "zzz", "Ada ", "\ud800", "A" * 5000, "\x00"])
def test_an_unknown_entity_is_an_error_that_helps(index: fader.Index, wanted: str) -> None:
    """Of every call; nothing is ranked for it."""
    for call in (index.entity, lambda e: index.evidence("word", e), lambda e: index.why("word", e)):
        with pytest.raises(CatalogError, match="unknown entity") as caught:
            call(wanted)
        assert ('did you mean "Ada"' in str(caught.value)) == (wanted in ("Adaa", "Ada "))
        assert len(str(caught.value)) < 300


def test_an_entity_is_given_as_text(index: fader.Index) -> None:
    wrong: Any = 7
    with pytest.raises(UsageError, match="given by its id"):
        index.entity(wrong)


def windowed(window: int | None = None, top: int = 0) -> Model:
    system: Any = shipped_model("paper").system
    return portable(replace(system, window=str(window or 0), top=str(top)))


@pytest.mark.parametrize(
    ("query", "entity", "answer_type", "model", "why"),
    [
        ("word", "Rome", "person", "default", 'not of the type "person"; its types: "place"'),
        ("word", "Untyped", "person", "default", 'not of the type "person"; its types: none'),
        ("word", "Nobody", "person", "paper", "no document that matches the query mentions it"),
        ("word", "Untyped", None, windowed(5), "no document that matches mentions it within 5 tokens"),
        ("word", "Untyped", None, windowed(top=2), "none of the 2 best documents mentions it"),
        ("word", "Untyped", None, parse_system("voting(cutoff=1)"), "none of its contexts counts for voting(cutoff=1)"),
        ("+nowhere word", "Ada", None, "default", 'the required "nowhere" occurs nowhere'),
    ],
)
def test_no_candidate_is_told_why(
    index: fader.Index, query: str, entity: str, answer_type: str | None, model: Any, why: str
) -> None:
    """It is no error: rank and score are None, and the last warning gives the reason."""
    for found in (index.evidence(query, entity, answer_type, model), index.why(query, entity, answer_type, model)):
        assert (found.rank, found.score, found.support) == (None, None, 0)
        assert why in found.warnings[-1]


def test_a_page_reads_its_own_texts_only(index: fader.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many contexts come before it."""
    read = []
    read_bytes = TextStore.read_bytes
    monkeypatch.setattr(TextStore, "read_bytes", lambda store, a, b: read.append((a, b)) or read_bytes(store, a, b))
    page = index.evidence("word", "Ada", model="paper", offset=25, limit=3).contexts
    assert ([item.place for item in page.items], len(read)) == ([26, 27, 28], 3)
    assert page.total == 30


def test_what_contributes_most_comes_first_and_ties_keep_their_order(index: fader.Index) -> None:
    items = index.evidence("word", "Ada", model="paper", limit=100).contexts.items
    assert [i.score for i in items] == sorted((i.score for i in items), reverse=True)
    same = [i.doc for i in index.evidence("word", "Ada", model="count", limit=100).contexts.items]
    assert same == sorted(same)
    assert len(same) == 30


def test_a_page_behind_the_last_is_empty(index: fader.Index) -> None:
    page = index.evidence("word", "Ada", model="paper", offset=10**30).contexts
    assert (page.total, page.items, page.offset) == (30, [], 10**30)


@pytest.mark.parametrize("given", [{"offset": -1}, {"offset": 1.5}, {"offset": True}, {"offset": "1"}])
def test_an_offset_is_a_number_from_0_on(index: fader.Index, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="offset must be a whole number from 0 on"):
        index.evidence("word", "Ada", **given)


@pytest.mark.parametrize("limit", [0, -1, 1001, 2.0, None, "all"])
def test_a_limit_is_within_the_limits(index: fader.Index, limit: Any) -> None:
    with pytest.raises(UsageError, match="limit must be a whole number from 1 to 1,000"):
        index.evidence("word", "Ada", limit=limit)


def test_the_query_is_checked_and_time_counted(index: fader.Index) -> None:
    with pytest.raises(QueryError):
        index.evidence('"open', "Ada")
    with pytest.raises(QueryError, match="unknown type"):
        index.evidence("word", "Ada", "persn")
    with pytest.raises(UsageError, match="has its type already"):
        index.evidence(index.parse("word"), "Ada", "person")
    with pytest.raises(BudgetError):
        index.evidence("word", "Ada", timeout_ms=1e-6)
    assert index.evidence(index.parse("word", "person"), "Ada").rank == 1


class Clock:
    """A clock that goes on by a millisecond when it is looked at."""

    def __init__(self) -> None:
        self.looks = 0

    def monotonic(self) -> float:
        self.looks += 1
        return self.looks * 1.000001 / 1000


CALLS: dict[str, Callable[[fader.Index, float | None], Any]] = {
    "evidence": lambda index, ms: index.evidence("word", "Ada", limit=5, timeout_ms=ms),
    "why": lambda index, ms: index.why("word", "Ada", timeout_ms=ms),
    "versus": lambda index, ms: index.versus("word", "default", "count", timeout_ms=ms).agreement,
}


@pytest.mark.parametrize("name", CALLS)
def test_time_is_looked_at_between_steps_and_changes_nothing(
    index: fader.Index, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many looks it is given, a call is cut off or gives what it gives without an end; it takes many looks."""
    whole = CALLS[name](index, None)
    cut = 0
    for looks in range(1, 2000, 3):
        monkeypatch.setattr(budget, "time", Clock())
        try:
            assert CALLS[name](index, float(looks)) == whole
            break
        except BudgetError:
            cut += 1
    assert 5 < cut < 600
