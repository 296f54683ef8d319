"""Stored documents come back exactly: id, title, url, prior, every character of the text and the samples of tokens."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpus.analysis import spans
from fader.corpus.documents import Document
from fader.corpus.tokenise import batch_bytes, scan_tokens
from fader.errors import DamagedError
from fader.index import textframes
from fader.index.format import FileEntry
from fader.index.textstore import TextStore, TextWriter
from fader.index.tokensamples import EVERY, Samples, sample_tokens

Row = tuple[str, str, str, float, str]


def sampled(texts: list[bytes]) -> Samples:
    """The samples of some texts, by the compiled scanner."""
    buf, ends = batch_bytes(texts)
    begin, _end, tokens_end = scan_tokens(buf, ends)
    return sample_tokens(buf, ends, begin, tokens_end)


def check_samples(store: TextStore, document: int, text: str) -> None:
    """Those of a document are the tokens 64, 128, ... that the plain definition finds."""
    assert store.samples is not None
    found = store.samples.take(store.row[document : document + 1])
    begins = [begin for begin, _end in spans(text)][EVERY::EVERY]
    assert found.character.tolist() == begins
    assert found.extra.tolist() == [len(text[:begin].encode()) - begin for begin in begins]
    assert found.count.tolist() == [len(begins)]


def check(folder: Path, rows: list[Row], threads: int = 0) -> None:
    """Write documents, open them, compare."""
    pool = ThreadPoolExecutor(threads) if threads else None
    writer = TextWriter(folder / "text", pool)
    for at in range(0, len(rows), 7):
        batch = rows[at : at + 7]
        documents = [Document(doc, text, [], title, url, prior) for doc, title, url, prior, text in batch]
        texts = [text.encode() for *_fields, text in batch]
        writer.add(documents, texts, sampled(texts))
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
        check_samples(store, i, text)
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
def test_texts_larger_than_a_frame_come_back(tmp_path: Path, threads: int) -> None:
    """Long ones, short ones and empty ones between them, compressible or not, in their order."""
    random = np.random.default_rng(7)
    sizes = (300_000, 1, 4095, 4096, 4097, 65_536)
    noise = [bytes(random.integers(32, 127, n, dtype=np.uint8)).decode() for n in sizes]
    texts = ["", *noise, "", "é" * 200_000, "é ü" * 9_000, "", *(f"short {i}" for i in range(20_000)), ""]
    check(tmp_path, [(f"d{i}", "", "", 1.0, text) for i, text in enumerate(texts)], threads)


def words(count: int, seed: int) -> str:
    """A text of common and rare words."""
    random = np.random.default_rng(seed)
    return " ".join(f"word{n}" for n in np.minimum(random.zipf(1.3, count), 10_000))


@pytest.mark.parametrize("threads", [0, 2])
def test_texts_come_back_with_a_dictionary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    """Those it was trained on and those that came later; the same file with any number of threads."""
    monkeypatch.setattr(textframes, "SAMPLE_BYTES", 1 << 18)
    rows = [(f"d{i}", "", "", 1.0, words(i % 700, i)) for i in range(400)]
    check(tmp_path, rows, threads)
    store = TextStore(tmp_path / "text", write(tmp_path / "again", rows))
    assert (tmp_path / "again").read_bytes() == (tmp_path / "text").read_bytes()
    assert store.container["dictionary"].size == (1 << 18) // textframes.SAMPLE_PER_DICTIONARY
    assert store.container["frame_at"].size > (1 << 18) // textframes.FRAME_BYTES


def test_a_sample_without_repetitions_gives_no_dictionary(tmp_path: Path) -> None:
    """Whatever the trainer makes of it, texts come back."""
    noise = np.random.default_rng(1).integers(0, 2**16 - 2**11, 200_000).astype(np.uint16)
    text = "".join(chr(c if c < 0xD800 else c + 0x800) for c in noise.tolist())
    check(tmp_path, [("d", "", "", 1.0, text)])


def test_little_text_has_no_dictionary(tmp_path: Path) -> None:
    """It would take more bytes than it saves."""
    entry = write(tmp_path / "text", [("d", "", "", 1.0, words(20_000, 1))])
    assert TextStore(tmp_path / "text", entry).container["dictionary"].size == 0


def write(path: Path, rows: list[Row]) -> FileEntry:
    """The file of some documents, in the order of their ids."""
    writer = TextWriter(path, None)
    texts = [text.encode() for *_fields, text in rows]
    writer.add(
        [Document(doc, text, [], title, url, prior) for doc, title, url, prior, text in rows], texts, sampled(texts)
    )
    return writer.close(np.array(sorted(range(len(rows)), key=lambda i: rows[i][0]), dtype=np.int64))


def test_texts_can_be_left_out(tmp_path: Path) -> None:
    """Everything but the text is kept."""
    writer = TextWriter(tmp_path / "text", None, keep_text=False)
    writer.add([Document("d", "text", [], "title", "url")], [b"text"], sampled([b"text"]))
    store = TextStore(tmp_path / "text", writer.close(np.zeros(1, dtype=np.int64)))
    assert (store.ids[0], store.titles[0], store.text(0), store.keeps_text) == ("d", "title", "", False)
    assert store.samples is None


def test_a_copy_has_the_samples_of_what_is_left(tmp_path: Path) -> None:
    """Deleted documents leave none; a store without samples leaves all without."""
    rows = [(f"d{i}", "", "", 1.0, words(30 * i, i)) for i in range(12)]
    store = TextStore(tmp_path / "text", write(tmp_path / "text", rows))
    alive = np.array([i % 3 > 0 for i in range(12)], dtype=np.uint8)
    writer = TextWriter(tmp_path / "copy", None)
    documents = np.concatenate([writer.copy(store, None), writer.copy(store, alive)])
    copied = TextStore(tmp_path / "copy", writer.close(np.arange(documents.size)))
    for d, source in enumerate(documents.tolist()):
        assert copied.text(d) == store.text(source)
        check_samples(copied, d, store.text(source))
    writer = TextWriter(tmp_path / "without", None)
    writer.add([Document("a", "b", [])], [b"b"], None)
    writer.copy(store, alive)
    without = TextStore(tmp_path / "without", writer.close(np.arange(9)))
    assert without.samples is None
    assert [without.text(d) for d in range(1, 9)] == [store.text(d) for d in documents[12:].tolist()]


def test_a_damaged_frame_is_told(tmp_path: Path) -> None:
    """By the checksum of its content, where the file's own is not compared."""
    entry = write(tmp_path / "text", [("d", "", "", 1.0, words(2_000, 1))])
    data = bytearray((tmp_path / "text").read_bytes())
    for at in (40, 1000, 3000):
        data[at] ^= 16
        (tmp_path / "text").write_bytes(bytes(data))
        store = TextStore(tmp_path / "text", entry)
        with pytest.raises(DamagedError, match=r"text: text frame \d cannot be read|is not of the size"):
            store.text(0)
        data[at] ^= 16
