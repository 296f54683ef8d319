"""Collections keep their contract: local ones, sharded ones; and what breaks it is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fader
from cluster.serving import mingled_index
from fader.cluster.shards.collection import ShardedCollection
from fader.cluster.shards.local import LocalShards
from fader.search.collection import Collection
from fader.testing import check_collection
from fader.testing.collections import draw_queries


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """A changed index of several segments, with deleted documents."""
    return mingled_index(tmp_path_factory.mktemp("collections") / "index").collection


def test_a_local_collection(reference: Collection) -> None:
    """The same folder, opened again."""
    check_collection(fader.open(reference.folder).collection, reference)


@pytest.mark.parametrize("groups", [1, 3])
def test_a_sharded_collection(reference: Collection, groups: int) -> None:
    """The same folder, divided into groups of segments."""
    check_collection(ShardedCollection(reference.folder, LocalShards.of(reference.folder, groups)), reference)


def test_queries_are_drawn(reference: Collection) -> None:
    """Words, required words, phrases, and words that nothing has; some of them have contexts."""
    drawn = draw_queries(reference)
    assert {text[0] for text, _kind in drawn} >= {"+", '"'}
    assert any(kind is not None for _text, kind in drawn)
    assert sum(len(fader.Index(reference).contexts(text, kind)) > 0 for text, kind in drawn) > len(drawn) // 2


class Altered:
    """A collection that answers as another one, but for one method."""

    def __init__(self, inner: Collection, name: str, alter: Callable[[Any], Any]) -> None:
        self.inner, self.name, self.alter = inner, name, alter

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        if name == "refresh":
            return lambda: self.alter(found()) if self.name == name else self
        if name != self.name:
            return found
        return (lambda *given, **more: self.alter(found(*given, **more))) if callable(found) else self.alter(found)


def drop_last(contexts: Any) -> Any:
    """A table without its last row."""
    return contexts.take(np.arange(max(0, len(contexts) - 1)))


def turn_scores(found: Any) -> Any:
    """Scores of the other sign."""
    return replace(found, ranking=replace(found.ranking, score=-found.ranking.score))


def lose_rows(found: Any) -> Any:
    """A ranking whose rows were not sent."""
    evidence = found.ranking.evidence
    return replace(
        found, ranking=replace(found.ranking, evidence=replace(evidence, row=np.full_like(evidence.row, -1)))
    )


def untitled(stored: Sequence[Any]) -> list[Any]:
    """Documents without their titles."""
    return [document._replace(id="x") for document in stored]


def test_what_alters_nothing_is_no_fault(reference: Collection) -> None:
    """So that it is the altered method, and not the wrapping, that is found below."""
    check_collection(Altered(reference, "", lambda value: value), reference)


@pytest.mark.parametrize(
    ("name", "alter", "message"),
    [
        ("documents", lambda count: count + 1, "documents is"),
        ("entity_documents", lambda counts: counts + 1, "entity_documents"),
        ("document_ids", lambda ids: ids[::-1], "document_ids gives other ids"),
        ("read_documents", untitled, "read_documents gives"),
        ("find_document", lambda number: max(0, number), "return -1"),
        ("contexts", drop_last, "contexts of"),
        ("rows", drop_last, "rows of every second entity"),
        ("evidence", turn_scores, "score of the 1 best"),
        ("evidence", lose_rows, "rows that were asked for are missing"),
        ("refresh", lambda inner: inner, "return the collection itself"),
    ],
)
def test_a_broken_collection_is_found(reference: Collection, name: str, alter: Any, message: str) -> None:
    """Whatever method it is; `refresh` comes after all queries, of which one is enough then."""
    queries = draw_queries(reference)[:1] if name == "refresh" else None
    with pytest.raises(AssertionError, match=message):
        check_collection(Altered(reference, name, alter), reference, queries)


def test_a_newer_commit_is_opened(tmp_path: Path) -> None:
    """Both are refreshed to it, and answer alike then; one that stays behind is found."""
    old = mingled_index(tmp_path / "index").collection
    fader.delete(old.folder, [old.document_ids([0])[0]])
    check_collection(fader.open(old.folder, at=old.commit).collection, old)
    newest = old.refresh()
    assert newest.commit > old.commit
    check_collection(fader.open(old.folder).collection, newest)
    with pytest.raises(AssertionError, match="refresh opens commit"):
        check_collection(Altered(old, "refresh", lambda _newest: old), old, draw_queries(old)[:1])
