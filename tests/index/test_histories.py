"""After any history an index gives, bit for bit, what a fresh build of the surviving documents gives."""

from __future__ import annotations

import filecmp
import json
import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fader
from dose import dose
from fader.contexts.table import Contexts
from fader.features.combined import feature_map
from fader.index.verify.check import check
from fader.index.write.change import merge
from fader.learn.learner import Learner
from fader.learn.tuned import example_of
from fader.rank.pipeline import Pipeline
from fader.registry import discover
from fader.systems.base import system
from fader.systems.fader import Fader
from index.histories import ENTITIES, History

HISTORIES, QUERIES, CHANGES = dose(full=200, least=8), dose(full=50, least=12), 10
COLUMNS = ("entity", "document", "distances", "sides", "start", "end", "confidence")
OF_DOCUMENTS = ("row", "number", "counts", "length", "distinct", "square", "prior")


def equal_tables(a: Contexts, b: Contexts) -> None:
    """Every column, every statistic, every late column."""
    assert (a.df, a.cf, a.matched_documents, a.warnings) == (b.df, b.cf, b.matched_documents, b.warnings)
    assert (a.statistics.documents, a.statistics.tokens) == (b.statistics.documents, b.statistics.tokens)
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    for values in ("documents", "matching"):
        for name in OF_DOCUMENTS:
            one, other = getattr(getattr(a, values), name), getattr(getattr(b, values), name)
            np.testing.assert_array_equal(one, other, err_msg=f"{values}.{name}")
    for name in ("at", "start", "length"):
        np.testing.assert_array_equal(getattr(a.positions, name), getattr(b.positions, name), err_msg=name)
    assert a.document_ids() == b.document_ids()


@pytest.fixture(scope="module")
def rankers(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The default model, all features by every aggregator, and every prior system, learners fitted to a few queries."""
    history = History(tmp_path_factory.mktemp("trained") / "index", random.Random(0))
    history.begin()
    index = fader.open(history.folder)
    tables = [index.contexts(query) for query in ("a b", "c d e", "b the é")]
    maps = feature_map("noprox+rectangle+coverage+idfupto+confidence")
    weights = np.linspace(0.01, 0.3, maps.size)
    found: list[Any] = ["default"]
    for n, part in enumerate(discover("fader.aggregate").values()):
        found.append(Pipeline(maps, weights, part(), ("document", "mention")[n % 2]))
    for name, part in discover("fader.systems").items():
        if issubclass(part, Learner):
            found.append(fitted(system(name), tables))
        elif not issubclass(part, Fader):
            found.append(name)
    return found


def fitted(learner: Any, tables: list[Contexts]) -> Any:
    """A learner that has seen a few queries; every second candidate is good."""
    chance = np.random.default_rng(0)
    grades = [{int(e): 1 for e in t.groups.entity[::2]} for t in tables]
    return learner.fit([example_of(learner, t, g, chance) for t, g in zip(tables, grades, strict=True)], seed=0)


def answer(index: fader.Index, query: str, kind: str | None, model: Any) -> str:
    """All that a search says but the time it took."""
    found = asdict(index.search(query, kind, k=100, model=model, snippets=3, explain=True))
    found.pop("took_ms")
    return json.dumps(found, sort_keys=True)


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_history_equals_a_fresh_build(seed: int, rankers: list[Any], tmp_path: Path) -> None:
    """Statistics, tables of contexts, answers of all systems with evidence and explanations; and `check` is content."""
    history = History(tmp_path / "index", random.Random(seed))
    history.begin()
    for _ in range(CHANGES):
        history.change()
    changed, fresh = fader.open(history.folder), history.fresh(tmp_path / "fresh")
    assert check(history.folder) == []
    a, b = changed.reader, fresh.reader
    assert (a.documents, a.tokens, a.mentions) == (b.documents, b.tokens, b.mentions)
    assert a.documents == len(history.living)
    np.testing.assert_array_equal(a.entity_documents, b.entity_documents)
    for n, (query, kind) in enumerate(history.queries(QUERIES)):
        equal_tables(changed.contexts(query, kind), fresh.contexts(query, kind))
        model = rankers[(n + seed) % len(rankers)]
        assert answer(changed, query, kind, model) == answer(fresh, query, kind, model), (query, kind, model)


@pytest.mark.parametrize("seed", range(dose(full=100, least=6)))
def test_a_merged_index_has_the_bytes_of_a_fresh_one(seed: int, tmp_path: Path) -> None:
    """Dictionary, postings and document tables; mentions and texts hold the same in another order of arrival."""
    history = History(tmp_path / "index", random.Random(seed))
    history.begin()
    for _ in range(CHANGES):
        history.change()
    merge(history.folder)
    fresh, merged = history.fresh(tmp_path / "fresh").reader, fader.open(history.folder).reader
    assert len(merged.segments) == 1
    assert not merged.segments[0].deleted.size
    for part in ("terms", "documents"):
        one, other = (r.folder / f"{r.segments[0].name}.{part}" for r in (fresh, merged))
        assert filecmp.cmp(one, other, shallow=False), part


def test_documents_are_numbered_by_id_whatever_the_order_of_arrival(tmp_path: Path) -> None:
    """Three orders of the same documents, in one segment or in many, are one index."""
    documents = [{"id": name, "text": f"a b {name}", "mentions": []} for name in ("b", "é", "B", "a", "10", "9")]
    for n, (order, limit) in enumerate([(documents, None), (documents[::-1], 1), (documents, 7)]):
        index = fader.build(tmp_path / str(n), order, ENTITIES, [{"id": "thing"}, {"id": "person"}, {"id": "poet"}],
                            segment_tokens=limit)  # fmt: skip
        assert [index.reader.document_id(i) for i in range(6)] == ["10", "9", "B", "a", "b", "é"]
        assert [index.reader.find_document(d["id"]) for d in documents] == [4, 5, 2, 3, 0, 1]
        segment, local = index.reader.locate(5)
        assert segment.text.text(local) == "a b é"


def test_a_reader_keeps_its_snapshot(tmp_path: Path) -> None:
    """An open index answers from its commit, though later ones have replaced and removed its files."""
    history = History(tmp_path / "index", random.Random(5))
    history.begin()
    before = fader.open(history.folder)
    query = ("a b c", None)
    answers = answer(before, *query, "default")
    for _ in range(12):
        history.change()
    assert answer(before, *query, "default") == answers
    assert fader.open(history.folder).reader.commit > before.reader.commit
