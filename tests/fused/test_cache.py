"""What stays decoded is bounded, and does not change answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

import fader
from contexts.drawn import asked, built, examples, oracle_of
from fader.contexts.match import MatchOptions
from fader.errors import UsageError
from fader.fused.ranker import FusedRanker
from fader.systems.base import parse_system
from oracles.strategies import World, worlds


@examples(0.2)
@given(worlds())
def test_nothing_kept(world: World) -> None:
    """An index that keeps nothing decoded does without the fused path and answers the same, refreshed too."""
    with built(world) as index:
        bare = fader.open(index.collection.folder, cache_mb=0)
        fader.add(index.collection.folder, [{"id": "added", "text": "a b"}])
        for kept, decoded in ((index, bare), (index.refresh(), bare.refresh())):
            assert decoded.collection.reader.cache_mb == 0
            for query, answer_type in asked(world, oracle_of(world)):
                options, system = MatchOptions(limits=kept.limits), parse_system("proximity")
                asking = kept.parse(query, answer_type), options, system, 3
                plans = [i.collection.evidence(*asking, best=1).contexts.plan for i in (kept, decoded)]
                assert plans[0] == "fused"
                assert plans[1] != "fused"
                answers = [i.search(query, answer_type, model="proximity") for i in (kept, decoded)]
                assert replace(answers[0], took_ms=0.0) == replace(answers[1], took_ms=0.0)


def test_ranker_without_room_ranks_nothing() -> None:
    with built(World([{"id": "1", "text": "a b"}], [], [], ["a"], [])) as index:
        options, system = MatchOptions(limits=index.limits), parse_system("count")
        assert FusedRanker(index.collection.reader, 0).rank(index.parse("a"), options, system, 3, 0) is None


def test_negative_size_is_refused() -> None:
    with (
        built(World([{"id": "1", "text": "a b"}], [], [], ["a"], [])) as index,
        pytest.raises(UsageError, match="at least 0, not -1"),
    ):
        fader.open(index.collection.folder, cache_mb=-1)
