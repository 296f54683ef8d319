"""What was stored of each document: id, title, url, prior and the text, compressed.

Texts are laid end to end (`textframes.py`), text r from byte `document_at[r]` to byte `document_at[r+1]`; with them is
stored where some of their tokens begin (`tokensamples.py`). `row` says which text is a document's: texts stand in the
order in which they came, all else in the order of ids. Knows nothing of terms or mentions.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fader.corpus.documents import Document
from fader.corpus.sentences import Sentences
from fader.errors import DamagedError
from fader.index.encoding.shapes import check_array, check_flag, check_offsets, check_range, damage_error
from fader.index.encoding.strings import Strings, narrow, write_strings
from fader.index.format import WITH_FRAMES, Array, Container, FileEntry, FileWriter
from fader.index.sentences import StoredSentences, read_sentences, write_sentences
from fader.index.textframes import Blocks, Frames, FrameWriter
from fader.index.tokensamples import Samples, StoredSamples, write_samples
from fader.lazy import cached_property

KIND = "text"
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class TextWriter:
    """Appends documents; their texts are written as they come.

    Where a text without samples of its tokens is added, none are stored; so it is with sentences.
    """

    def __init__(self, path: Path, pool: ThreadPoolExecutor | None, keep_text: bool = True) -> None:
        self._writer = FileWriter(path, KIND)
        self._frames = FrameWriter(self._writer, pool)
        self._keep_text = keep_text
        self._document_at = [0]
        self._samples: list[Samples] | None = [] if keep_text else None
        self._sentences: list[Sentences] | None = []
        self.ids: list[str] = []
        self._titles: list[str] = []
        self._urls: list[str] = []
        self._priors: list[float] = []

    def add(
        self, documents: list[Document], texts: list[bytes], samples: Samples | None, sentences: Sentences | None = None
    ) -> None:
        """The next documents, their texts as UTF-8, the samples of their tokens, and their sentences."""
        self.ids += [d.id for d in documents]
        self._titles += [d.title for d in documents]
        self._urls += [d.url for d in documents]
        self._priors += [d.prior for d in documents]
        self._add_texts(texts if self._keep_text else [b""] * len(texts))
        self._add_samples(samples)
        self._add_sentences(sentences)

    def _add_texts(self, texts: Iterable[bytes]) -> None:
        for text in texts:
            self._frames.append(text)
            self._document_at.append(self._document_at[-1] + len(text))

    def _add_samples(self, samples: Samples | None) -> None:
        if samples is None:
            self._samples = None
        elif self._samples is not None:
            self._samples.append(samples)

    def _add_sentences(self, sentences: Sentences | None) -> None:
        if sentences is None:
            self._sentences = None
        elif self._sentences is not None:
            self._sentences.append(sentences)

    def copy(self, store: TextStore, alive: NDArray[np.uint8] | None) -> I32:
        """Add the documents of a store that are not deleted; returns them in the order in which they were added."""
        by_row = np.argsort(store.row).astype(np.int32)
        documents = by_row if alive is None else by_row[alive[by_row] > 0]
        rows = documents.tolist()
        self.ids += [store.ids[d] for d in rows]
        self._titles += [store.titles[d] for d in rows]
        self._urls += [store.urls[d] for d in rows]
        self._priors += store.priors[documents].tolist()
        self._add_texts(store.read_text(d) if self._keep_text else b"" for d in rows)
        self._add_samples(None if store.samples is None else store.samples.take(store.row[documents]))
        known = store.sentences is not None or store.keeps_text
        self._add_sentences(read_sentences(store, documents) if known else None)
        return documents

    def close(self, order: I64) -> FileEntry:
        """Write what is held and finish the file, documents in a given order; texts stay in the order they came."""
        self._frames.close()
        w = self._writer
        w.array("document_at", narrow(np.array(self._document_at, dtype=np.int64)))
        w.array("row", order.astype(np.int32))
        w.array("prior", np.array(self._priors, dtype=np.float64)[order])
        for name, values in (("id", self.ids), ("title", self._titles), ("url", self._urls)):
            write_strings(w, name, (values[i] for i in order.tolist()))
        if self._samples is not None:
            write_samples(w, Samples.join(self._samples))
        if self._sentences is not None:
            write_sentences(w, Sentences.join(self._sentences))
        w.meta["keeps_text"], w.meta["has_samples"] = self._keep_text, self._samples is not None
        w.meta["has_sentences"] = self._sentences is not None
        return w.close()

    def abort(self) -> None:
        self._writer.abort()


class TextStore:
    """The stored documents of a segment."""

    def __init__(self, path: Path, expected: FileEntry) -> None:
        c = self.container = Container(path, KIND, expected)
        self.ids = Strings(c, "id")
        count = len(self.ids)
        self.titles, self.urls = Strings(c, "title", count), Strings(c, "url", count)
        self.priors = check_array(c, "prior", "f8", size=count)
        self.in_order = c.version > 1
        self.keeps_text = check_flag(c, "keeps_text")
        in_frames = c.version >= WITH_FRAMES
        at = check_array(c, "document_at", *(("u4", "u8") if in_frames else ("i8",)), size=count + 1)
        self.document_at: Array = check_offsets(c, "document_at", count, int(at[-1]), at.dtype.str[1:])
        self._texts: Frames | Blocks = Frames(c, int(at[-1])) if in_frames else Blocks(c)
        self.samples = StoredSamples(c, count) if in_frames and check_flag(c, "has_samples") else None
        has_sentences = "has_sentences" in c.meta and check_flag(c, "has_sentences")
        self.sentences = StoredSentences(c, count) if has_sentences else None

    @cached_property
    def id_order(self) -> I32:
        """The documents in the order of their ids; in the first version they stood as they came, like their texts."""
        return np.arange(len(self.ids), dtype=np.int32) if self.in_order else self._permutation("id_order")

    @cached_property
    def row(self) -> I32:
        """Which text is a document's."""
        return self._permutation("row") if self.in_order else np.arange(len(self.ids), dtype=np.int32)

    def _permutation(self, name: str) -> I32:
        """Numbers of documents, each once."""
        size = len(self.ids)
        values = check_array(self.container, name, "i4", size=size)
        check_range(self.container, name, values, size)
        if (np.bincount(values, minlength=size) != 1).any():
            raise damage_error(self.container, f"{name!r} does not name every document once")
        return values

    def read_text(self, doc: int) -> bytes:
        """The text of a document as UTF-8; empty where texts were not kept."""
        return self.read_bytes(*self.bounds(int(self.row[doc])))

    def bounds(self, row: int) -> tuple[int, int]:
        """Where a text begins and ends among all texts."""
        return int(self.document_at[row]), int(self.document_at[row + 1])

    def read_bytes(self, start: int, end: int) -> bytes:
        """The bytes [start, end) of all texts, laid end to end; in files of versions 1 to 3, of one text."""
        return self._texts.read(start, end)

    def text(self, doc: int) -> str:
        """The text of a document."""
        try:
            return self.read_text(doc).decode("utf-8")
        except UnicodeDecodeError:
            raise DamagedError(f"{self.container.path}: text {self.row[doc]} is not UTF-8") from None

    def find(self, doc_id: str) -> int:
        """The document with an id, -1 if there is none."""
        low, high = 0, len(self.ids)
        while low < high:
            middle = (low + high) // 2
            if self.ids[self.id_order[middle]] < doc_id:
                low = middle + 1
            else:
                high = middle
        return int(self.id_order[low]) if low < len(self.ids) and self.ids[self.id_order[low]] == doc_id else -1
