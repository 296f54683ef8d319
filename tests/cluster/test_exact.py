"""Shards give, bit for bit, what one machine gives: tables, rankings, evidence, explanations; for 1, 2, 4 and 8 shards.

Every system, every aggregator and every feature map, by discovery; ranges of ids that are apart, as a sharded build
makes them, and ranges that overlap, with deleted documents, as a changed index has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

import fader
from cluster.exact import GROUPS, QUERIES, expected, plain, told
from cluster.serving import mingled_index, ranged_index, serving
from contracts.models import feature_model
from dose import dose
from fader.cluster.shards import collection as gather
from fader.cluster.shards.collection import ShardedCollection
from fader.cluster.shards.local import LocalShards
from fader.cluster.wire.transport import for_each
from fader.contexts.match import MatchOptions
from fader.contexts.policy import POLICIES
from fader.errors import BudgetError, LimitError, QueryError
from fader.features.combined import feature_map
from fader.learn.dataset import View
from fader.limits import Limits
from fader.registry import discover, parse
from fader.search.index import Index
from fader.search.info import describe_index
from fader.search.suggest import Suggester
from index.answers import answer, equal_tables

T = TypeVar("T")


# Ranges of ids that are apart by sockets, ranges that overlap in this process.
@pytest.fixture(scope="module", params=["ranges", "mingled"])
def local(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    """An index with segments enough for eight shards."""
    folder = tmp_path_factory.mktemp(request.param) / "index"
    index = ranged_index(folder) if request.param == "ranges" else mingled_index(folder)
    assert len(index.collection.manifest.segments) >= max(GROUPS)
    return index


@pytest.fixture(scope="module", params=GROUPS)
def spread(request: pytest.FixtureRequest, local: fader.Index) -> Iterator[Index]:
    """The same index through its shards, in this process or by sockets."""
    groups: int = request.param
    folder = local.collection.folder
    if folder.parent.name.startswith("mingled"):
        yield Index(ShardedCollection(folder, LocalShards.of(folder, groups)))
        return
    with serving(folder, groups) as served:
        yield Index(ShardedCollection(folder, served.client))


def in_turn(spread: Index, cases: Sequence[T]) -> list[T]:
    """Each case by one number of shards by sockets, and by another in this process; all by all in a full dose."""
    if dose(100, 1) == 100:
        return list(cases)
    turn = GROUPS.index(spread.collection.groups.count) + isinstance(spread.collection.groups.shards, LocalShards)
    return list(cases[turn % len(GROUPS) :: len(GROUPS)])


def test_what_is_known_of_the_whole(local: fader.Index, spread: Index) -> None:
    """Counts, ids, texts, statistics of entities and the description are those of the index."""
    a, b = local.collection, spread.collection
    assert (a.commit, a.documents, a.tokens, a.mentions) == (b.commit, b.documents, b.tokens, b.mentions)
    every = list(range(a.documents))
    assert a.document_ids(every) == b.document_ids(every)
    assert a.read_documents(every) == b.read_documents(every)
    assert b.find_document(a.document_ids([7])[0]) == 7
    assert b.find_document("nowhere") == -1
    some = np.array([0, 3, 6], dtype=np.int32)
    np.testing.assert_array_equal(a.entity_documents[some], b.groups.entity_documents_of(some))
    np.testing.assert_array_equal(a.entity_documents, b.entity_documents)
    assert describe_index(a) == describe_index(b)


@pytest.mark.parametrize(("query", "kind"), QUERIES)
def test_tables(local: fader.Index, spread: Index, query: str, kind: str | None) -> None:
    """Every column, early or late, every statistic, every warning; by any plan, with windows, without overlaps."""
    every: list[dict[str, Any]] = [{}, {"window": 2}, {"overlap": False}, {"plan": "type"}, {"plan": "document"}]
    for options in in_turn(spread, every):
        one, many = (index.contexts(query, kind, **options) for index in (local, spread))
        equal_tables(one, many)
        assert one.empty_because == many.empty_because
        assert set(one.plan.split("+")) == set(many.plan.split("+"))
        np.testing.assert_array_equal(one.entity_documents[one.slot], many.entity_documents[many.slot])
        assert one.to_arrow("q").equals(many.to_arrow("q"))


def test_answers_of_all_rankers(local: fader.Index, spread: Index, rankers: list[Any]) -> None:
    """Ranking, evidence and explanation by each system and each aggregator, all by sockets; queries in turn."""
    every = list(enumerate(rankers))
    is_local = isinstance(spread.collection.groups.shards, LocalShards)
    for n, ranker in in_turn(spread, every) if is_local else every:
        query, kind = QUERIES[n % len(QUERIES)]
        assert expected(local, query, kind, ranker) == told(spread, query, kind, ranker), (query, kind, ranker)


def test_scores_of_all_features(local: fader.Index, spread: Index) -> None:
    """Each feature map by itself and beside another, found where contexts are or not, by both policies."""
    for n, name in in_turn(spread, list(enumerate(discover("fader.features")))):
        beside = feature_map(f"{name}+{'rectangle' if name == 'noprox' else 'noprox'}")
        for features, policy in zip((parse("fader.features", name), beside), POLICIES[:: (-1) ** n], strict=True):
            ranker = feature_model(features, np.linspace(0.1, 0.4, features.size), "sum", policy)
            query, kind = QUERIES[n % 3]
            assert expected(local, query, kind, ranker) == told(spread, query, kind, ranker), (ranker, query)


def test_scores_are_found_where_contexts_are(
    local: fader.Index, spread: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model of features and an aggregator never moves a whole table; what needs the whole collection does."""
    asked: list[str] = []
    ask = spread.collection.groups.ask

    def note(calls: Any, *rest: Any) -> Any:
        asked.append(next(type(call).__name__ for call in for_each(calls, spread.collection.groups.count) if call))
        return ask(calls, *rest)

    spread.collection.groups.ask = note  # type: ignore[method-assign]
    try:
        assert plain(local.search("a b c", model="paper")) == plain(spread.search("a b c", model="paper"))
        assert asked.count("ScoreRows") >= 1
        assert "ReadColumns" not in asked
        asked.clear()
        assert local.rank("a b c", k=3, model="paper") == spread.rank("a b c", k=3, model="paper")
        assert "FindRows" not in asked
        asked.clear()
        spread.collection._elsewhere.clear()
        popular = feature_model("popularity", np.ones(2))
        for _ in range(2):
            assert local.rank("a b", model=popular) == spread.rank("a b", model=popular)
        assert asked.count("ScoreRows") == 1  # it is known then that it is of no use
        monkeypatch.setattr(gather, "KEPT_FEATURES", 1)
        spread.collection._elsewhere = {"others"}
        assert local.rank("a b", model=popular) == spread.rank("a b", model=popular)
        assert len(spread.collection._elsewhere) == 1  # however many are asked for
    finally:
        del spread.collection.groups.ask


@pytest.mark.parametrize("model", ["default", "voting", "balog2"])
def test_questions_about_entities(local: fader.Index, spread: Index, model: str) -> None:
    """Why, pages of evidence, cards and suggestions, also of entities that are no candidates."""
    for entity, (query, kind) in in_turn(spread, list(product(("E0", "E3", "E5"), QUERIES[1:4]))):
        assert plain(local.why(query, entity, kind, model)) == plain(spread.why(query, entity, kind, model))
        pages = (index.evidence(query, entity, kind, model, offset=1, limit=4) for index in (local, spread))
        one, many = map(plain, pages)
        assert one == many
        assert plain(local.entity(entity)) == plain(spread.entity(entity))
    one, many = (Suggester(index.collection).entities("name", 5, None) for index in (local, spread))
    assert one == many


def test_rows_of_some_entities(local: fader.Index, spread: Index) -> None:
    """They are those of the whole table, on one machine and on many."""
    options = MatchOptions()
    for query, kind in in_turn(spread, QUERIES):
        parsed, whole = local.parse(query, kind), local.contexts(query, kind)
        some = whole.entities[::2]
        wanted = [row for row in whole.rows() if row[0] in {local.collection.catalog.entity_ids[e] for e in some}]
        for index in (local, spread):
            assert index.collection.rows(parsed, options, some).rows() == wanted


def test_two_systems_side_by_side(local: fader.Index, spread: Index) -> None:
    """Both tables, both rankings, and how they agree."""
    one, many = (plain(index.versus("a b d", "default", "voting", "person")) for index in (local, spread))
    assert one == many


@pytest.mark.parametrize("view", [View("document", 3, True, 0), View("document", None, False, 5), View(top=2)])
def test_views(local: fader.Index, spread: Index, view: View) -> None:
    """Windows, overlaps and the best documents."""
    for query, kind in in_turn(spread, QUERIES):
        equal_tables(local.view_contexts(query, kind, view), spread.view_contexts(query, kind, view))


def test_a_limit_holds_over_all_shards(local: fader.Index, spread: Index) -> None:
    """As many contexts as there are pass; one fewer is refused, though no shard has so many."""
    count = len(local.contexts("a b c d", window=1))
    taken = len(local.contexts("a b c d"))
    assert 0 < count < taken
    for model in ("default", "count", "voting"):
        for limits, passes in ((Limits(contexts=taken), True), (Limits(contexts=taken - 1), False)):
            limited = Index(ShardedCollection(spread.collection.folder, spread.collection.groups.shards), limits)
            if passes:
                assert limited.search("a b c d", model=model).contexts == taken
            else:
                with pytest.raises(LimitError, match="contexts or more; at most"):
                    limited.search("a b c d", model=model)
    narrow = Index(
        ShardedCollection(spread.collection.folder, spread.collection.groups.shards), Limits(contexts=taken - 1)
    )
    with pytest.raises(LimitError):
        narrow.contexts("a b c d", window=1)


def test_time_and_faults(spread: Index) -> None:
    """A budget that is over is told as on one machine, and so is a fault of the query."""
    with pytest.raises(BudgetError, match=r"needs more than its 0\.001 ms"):
        spread.search("a b", timeout_ms=0.001)
    with pytest.raises(QueryError, match="unknown type"):
        spread.search("a b", "nonsense")


def test_an_index_without_documents(tmp_path: Path) -> None:
    """Nothing is found, as on one machine."""
    local = fader.build(tmp_path / "index", [], [{"id": "E"}], [{"id": "thing"}])
    spread = Index(ShardedCollection(tmp_path / "index", LocalShards.of(tmp_path / "index", 4)))
    equal_tables(local.contexts("a"), spread.contexts("a"))
    assert answer(local, "a", None, "default") == answer(spread, "a", None, "default")
