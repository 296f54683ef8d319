"""What was stored of each document: id, title, url, prior and the text, compressed in blocks.

Texts are laid end to end and cut, at document ends, into blocks of about 64 KiB, each a zstandard frame; a
document's text costs the decompression of one block. `row` says which text is a document's: texts stand in the order in
which they came, all else in the order of ids. Knows nothing of tokens or mentions.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import zstandard
from numpy.typing import NDArray

from fader.corpus.documents import Document
from fader.errors import DamagedError
from fader.index.encoding.strings import Strings, write_strings
from fader.index.format import Container, FileEntry, FileWriter

KIND = "text"
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
BLOCK_BYTES = 1 << 16
LEVEL = 1
CACHED_BLOCKS = 64
COPIED = 1024


class TextWriter:
    """Appends documents; blocks are compressed behind the caller's back and written in order."""

    def __init__(self, path: Path, pool: ThreadPoolExecutor | None, keep_text: bool = True) -> None:
        self._writer = FileWriter(path, KIND)
        self._writer.begin("text", np.uint8)
        self._pool = pool
        self._keep_text = keep_text
        self._pending: list[Future[bytes]] = []
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._document_at = [0]
        self._block_at = [0]
        self._raw_at = [0]
        self.ids: list[str] = []
        self._titles: list[str] = []
        self._urls: list[str] = []
        self._priors: list[float] = []

    def add(self, documents: list[Document], texts: list[bytes]) -> None:
        """The next documents and their texts as UTF-8."""
        self.ids += [d.id for d in documents]
        self._titles += [d.title for d in documents]
        self._urls += [d.url for d in documents]
        self._priors += [d.prior for d in documents]
        for text in texts if self._keep_text else [b""] * len(texts):
            self._held.append(text)
            self._held_bytes += len(text)
            self._document_at.append(self._document_at[-1] + len(text))
            if self._held_bytes >= BLOCK_BYTES:
                self._flush()

    def copy(self, store: TextStore, alive: NDArray[np.uint8] | None) -> I32:
        """Add the documents of a store that are not deleted; returns them in the order in which they were added."""
        by_row = np.argsort(store.row).astype(np.int32)
        if alive is None and self._keep_text and store.has_full_blocks:
            self._copy_blocks(store, by_row)
            return by_row
        documents = by_row if alive is None else by_row[alive[by_row] > 0]
        for first in range(0, documents.size, COPIED):
            some = [store.document(d) for d in documents[first : first + COPIED].tolist()]
            self.add(some, [d.text.encode("utf-8") for d in some])
        return documents

    def _copy_blocks(self, store: TextStore, by_row: I32) -> None:
        """Add all documents of a store, their texts compressed as they are."""
        if self._held_bytes:
            self._flush()
        while self._pending:
            self._write_block(self._pending.pop(0).result())
        first = self._raw_at[-1]
        for block in range(store.blocks):
            self._write_block(store.read_compressed(block))
        self._raw_at += (first + store.raw_at[1:]).tolist()
        self._document_at += (first + store.document_at[1:]).tolist()
        rows = by_row.tolist()
        self.ids += [store.ids[d] for d in rows]
        self._titles += [store.titles[d] for d in rows]
        self._urls += [store.urls[d] for d in rows]
        self._priors += store.priors[by_row].tolist()

    def _flush(self) -> None:
        data = b"".join(self._held)
        self._raw_at.append(self._raw_at[-1] + len(data))
        self._held, self._held_bytes = [], 0
        if self._pool is None:
            self._write_block(_compress(data))
            return
        self._pending.append(self._pool.submit(_compress, data))
        while len(self._pending) > 16:
            self._write_block(self._pending.pop(0).result())

    def _write_block(self, block: bytes) -> None:
        self._writer.append(block)
        self._block_at.append(self._block_at[-1] + len(block))

    def close(self, order: I64) -> FileEntry:
        """Write what is held and finish the file, documents in a given order; texts stay in the order they came."""
        if self._held_bytes:
            self._flush()
        for future in self._pending:
            self._write_block(future.result())
        w = self._writer
        w.end()
        w.array("document_at", np.array(self._document_at, dtype=np.int64))
        w.array("block_at", np.array(self._block_at, dtype=np.int64))
        w.array("raw_at", np.array(self._raw_at, dtype=np.int64))
        w.array("row", order.astype(np.int32))
        w.array("prior", np.array(self._priors, dtype=np.float64)[order])
        for name, values in (("id", self.ids), ("title", self._titles), ("url", self._urls)):
            write_strings(w, name, (values[i] for i in order.tolist()))
        w.meta["keeps_text"] = self._keep_text
        return w.close()

    def abort(self) -> None:
        self._writer.abort()


def _compress(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=LEVEL).compress(data)


class TextStore:
    """The stored documents of a segment."""

    def __init__(self, path: Path, expected: FileEntry) -> None:
        c = self.container = Container(path, KIND, expected)
        self.ids, self.titles, self.urls = Strings(c, "id"), Strings(c, "title"), Strings(c, "url")
        self.priors = c["prior"]
        self.in_order = c.version > 1
        self.keeps_text = bool(c.meta["keeps_text"])
        self.document_at, self._block_at, self.raw_at = c["document_at"], c["block_at"], c["raw_at"]
        self._block = lru_cache(maxsize=CACHED_BLOCKS)(self._read_block)

    @cached_property
    def id_order(self) -> I32:
        """The documents in the order of their ids; in the first version they stood as they came, like their texts."""
        return np.arange(len(self.ids), dtype=np.int32) if self.in_order else self.container["id_order"]

    @cached_property
    def row(self) -> I32:
        """Which text is a document's."""
        return self.container["row"] if self.in_order else np.arange(len(self.ids), dtype=np.int32)

    def text(self, doc: int) -> str:
        """The text of a document; empty where texts were not kept."""
        row = int(self.row[doc])
        start, end = int(self.document_at[row]), int(self.document_at[row + 1])
        if start == end:
            return ""
        block = int(np.searchsorted(self.raw_at, start, side="right")) - 1
        offset = start - int(self.raw_at[block])
        return self._block(block)[offset : offset + end - start].decode("utf-8")

    def document(self, doc: int) -> Document:
        """All that is stored of a document; its mentions are not."""
        return Document(self.ids[doc], self.text(doc), [], self.titles[doc], self.urls[doc], float(self.priors[doc]))

    @property
    def blocks(self) -> int:
        return int(self._block_at.size) - 1

    @property
    def has_full_blocks(self) -> bool:
        """Whether texts were kept, and compressed in blocks of the usual size on the average."""
        return self.keeps_text and int(self.raw_at[-1]) >= BLOCK_BYTES // 2 * self.blocks > 0

    def read_compressed(self, block: int) -> bytes:
        """A block as it is stored."""
        return self.container.slice("text", int(self._block_at[block]), int(self._block_at[block + 1]))

    def _read_block(self, block: int) -> bytes:
        size = int(self.raw_at[block + 1] - self.raw_at[block])
        frame = self.read_compressed(block)
        try:
            # The decompressor allocates what the frame claims, so the claim is compared first.
            if zstandard.frame_content_size(frame) != size:
                raise DamagedError(f"{self.container.path}: text block {block} is not of the size it should have")
            return zstandard.ZstdDecompressor().decompress(frame, max_output_size=size)
        except zstandard.ZstdError as error:
            raise DamagedError(f"{self.container.path}: text block {block} cannot be read ({error})") from None

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
