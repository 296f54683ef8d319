"""Catalogs to try: stored in a temporary folder, and drawn graphs of types."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from fader.corpus.catalog import read_catalog
from fader.index.catalog import StoredCatalog, write_catalog

Rows = list[dict[str, Any]]


@contextmanager
def stored_catalog(entities: Rows, types: Rows) -> Iterator[StoredCatalog]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "catalog"
        described = write_catalog(path, read_catalog(entities, types))
        yield StoredCatalog(path, described)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Rows, Rows]:
    """Types in a random DAG under shuffled ids, and entities with some of them."""
    ids = draw(st.permutations([f"T{i}" for i in range(draw(st.integers(1, 9)))]))
    types = []
    for i, name in enumerate(ids):
        above = draw(st.lists(st.sampled_from(ids[:i]), unique=True, max_size=3)) if i else []
        types.append({"id": name, "supertypes": above})
    entities = [
        {"id": f"E{i}", "types": draw(st.lists(st.sampled_from(ids), unique=True, max_size=3))}
        for i in range(draw(st.integers(0, 6)))
    ]
    return entities, types
