"""Stored documents come back exactly: id, title, url, prior and every character of the text."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpus.documents import Document
from fader.index.textstore import TextStore, TextWriter

Row = tuple[str, str, str, float, str]


def check(folder: Path, rows: list[Row], threads: int = 0) -> None:
    """Write documents, open them, compare."""
    pool = ThreadPoolExecutor(threads) if threads else None
    writer = TextWriter(folder / "text", pool)
    for at in range(0, len(rows), 7):
        batch = rows[at : at + 7]
        documents = [Document(doc, text, [], title, url, prior) for doc, title, url, prior, text in batch]
        writer.add(documents, [text.encode() for *_fields, text in batch])
    order = np.array(sorted(range(len(rows)), key=lambda i: rows[i][0]), dtype=np.int64)
    described = writer.close(order)
    if pool is not None:
        pool.shutdown()
    store = TextStore(folder / "text", described)
    store.container.verify()
    assert len(store.ids) == len(rows)
    for i, row in reversed(list(enumerate(order.tolist()))):
        doc, title, url, prior, text = rows[row]
        assert (store.ids[i], store.titles[i], store.urls[i], store.priors[i]) == (doc, title, url, prior)
        assert store.text(i) == text
        assert store.find(doc) == i
    assert store.find("no such document") == -1


rows = st.lists(
    st.tuples(st.text(max_size=9), st.text(max_size=9), st.text(max_size=9), st.floats(0, 1e6), st.text(max_size=60)),
    max_size=12,
    unique_by=lambda row: row[0],
)


@settings(deadline=None)
@given(rows)
def test_documents_come_back(given: list[Row]) -> None:
    """Any Unicode, empty texts included, in any order of arrival and of asking; stored in the order of ids."""
    with tempfile.TemporaryDirectory() as folder:
        check(Path(folder), [row for row in given if row[0] != "no such document"])


@pytest.mark.parametrize("threads", [0, 2])
def test_texts_larger_than_a_block_come_back(tmp_path: Path, threads: int) -> None:
    """Long ones, short ones and empty ones between them, compressible or not, in their order."""
    random = np.random.default_rng(7)
    noise = [bytes(random.integers(32, 127, n, dtype=np.uint8)).decode() for n in (300_000, 1, 65_535, 65_536, 65_537)]
    texts = ["", *noise, "", "é" * 200_000, "", *(f"short {i}" for i in range(20_000)), ""]
    check(tmp_path, [(f"d{i}", "", "", 1.0, text) for i, text in enumerate(texts)], threads)


def test_texts_can_be_left_out(tmp_path: Path) -> None:
    """Everything but the text is kept."""
    writer = TextWriter(tmp_path / "text", None, keep_text=False)
    writer.add([Document("d", "text", [], "title", "url")], [b"text"])
    store = TextStore(tmp_path / "text", writer.close(np.zeros(1, dtype=np.int64)))
    assert (store.ids[0], store.titles[0], store.text(0), store.keeps_text) == ("d", "title", "", False)
