"""After any history an index gives, bit for bit, what a fresh build of the surviving documents gives."""

from __future__ import annotations

import filecmp
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fader
from dose import dose
from fader.index.reader import IndexReader
from fader.index.verify.check import check
from fader.index.write.change import merge
from index.answers import answer, equal_tables
from index.histories import ENTITIES, History

HISTORIES, QUERIES, CHANGES = dose(full=200, least=8), dose(full=50, least=12), 10


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_history_equals_a_fresh_build(seed: int, rankers: list[Any], tmp_path: Path) -> None:
    """Statistics, tables of contexts, answers of all systems with evidence and explanations; and `check` is content."""
    history = History(tmp_path / "index", random.Random(seed))
    history.begin()
    for _ in range(CHANGES):
        history.change()
    changed, fresh = fader.open(history.folder), history.fresh(tmp_path / "fresh")
    assert check(history.folder) == []
    a, b = changed.collection, fresh.collection
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
    fresh, merged = history.fresh(tmp_path / "fresh").collection.reader, IndexReader(history.folder)
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
        assert index.collection.document_ids(range(6)) == ["10", "9", "B", "a", "b", "é"]
        assert [index.collection.find_document(d["id"]) for d in documents] == [4, 5, 2, 3, 0, 1]
        segment, local = index.collection.reader.locate(5)
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
    assert fader.open(history.folder).collection.commit > before.collection.commit
