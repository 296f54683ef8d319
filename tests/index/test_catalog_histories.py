"""After any history of a catalog an index gives, bit for bit, what a fresh build with the new catalog gives."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fader
from dose import dose
from fader.errors import QueryError
from fader.index.format import Container
from fader.index.verify.check import check
from fader.search.suggest import Suggester
from index.answers import answer, equal_tables
from index.catalog_histories import NAMES, CatalogHistory
from index.histories import some_query

HISTORIES, QUERIES, CHANGES = dose(full=200, least=15), dose(full=30, least=6), 8


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_history_of_a_catalog_equals_a_fresh_build(seed: int, rankers: list[Any], tmp_path: Path) -> None:
    """The catalog's file, statistics, tables, answers of all systems, completion; and `check` is content."""
    history = CatalogHistory(tmp_path / "index", random.Random(seed))
    history.begin()
    for _ in range(CHANGES):
        history.change()
    changed, fresh = fader.open(history.folder, verify=True), history.fresh(tmp_path / "fresh")
    assert check(history.folder) == []
    a, b = changed.collection, fresh.collection
    assert _arrays(a.catalog.container) == _arrays(b.catalog.container)
    assert (a.documents, a.tokens, a.mentions) == (b.documents, b.tokens, b.mentions)
    np.testing.assert_array_equal(a.entity_documents, b.entity_documents)
    one, other = Suggester(a), Suggester(b)
    for text in ("", *NAMES):
        assert one.entities(text) == other.entities(text)
        assert one.types(text) == other.types(text)
    for n in range(QUERIES):
        query, _kind = some_query(history.chance)
        kind = history.chance.choice([None, *history.types])
        try:
            changed.parse(query, kind)
        except QueryError:
            continue
        equal_tables(changed.contexts(query, kind), fresh.contexts(query, kind))
        equal_tables(changed.contexts(query, kind, entities=True), fresh.contexts(query, kind, entities=True))
        model = rankers[(n + seed) % len(rankers)]
        assert answer(changed, query, kind, model) == answer(fresh, query, kind, model), (query, kind, model)
        question = f"which {kind} has {query}?"
        assert _ask(changed, question) == _ask(fresh, question)


def _arrays(container: Container) -> dict[str, bytes]:
    """All arrays of a catalog but those of ids that stand for others, which a fresh build does not have."""
    names = container._places  # every array, also new ones
    return {name: container[name].tobytes() for name in names if not name.startswith("same_")}


def _ask(index: fader.Index, question: str) -> Any:
    """All that an answer to a question says but the time it took."""
    try:
        return index.ask(question, k=100).to_dict() | {"took_ms": 0}
    except QueryError as error:
        return str(error)
