"""What was stored of each document: id, title, url, prior and the text, compressed in blocks.

Texts are laid end to end and cut, at document ends, into blocks of about 64 KiB, each a zstandard frame; a
document's text costs the decompression of one block. Knows nothing of tokens or mentions.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from fader.corpus.documents import Document
from fader.errors import DamagedError
from fader.index.format import Container, FileWriter
from fader.index.strings import Strings, write_strings

KIND = "text"
BLOCK_BYTES = 1 << 16
LEVEL = 1
CACHED_BLOCKS = 64


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

    def close(self) -> dict[str, Any]:
        """Write what is held and finish the file."""
        if self._held_bytes:
            self._flush()
        for future in self._pending:
            self._write_block(future.result())
        w = self._writer
        w.end()
        w.array("document_at", np.array(self._document_at, dtype=np.int64))
        w.array("block_at", np.array(self._block_at, dtype=np.int64))
        w.array("raw_at", np.array(self._raw_at, dtype=np.int64))
        w.array("prior", np.array(self._priors, dtype=np.float64))
        w.array("id_order", np.array(sorted(range(len(self.ids)), key=self.ids.__getitem__), dtype=np.int32))
        for name, values in (("id", self.ids), ("title", self._titles), ("url", self._urls)):
            write_strings(w, name, values)
        w.meta["keeps_text"] = self._keep_text
        return w.close()

    def abort(self) -> None:
        self._writer.abort()


def _compress(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=LEVEL).compress(data)


class TextStore:
    """The stored documents of a segment."""

    def __init__(self, path: Path, expected: dict[str, Any]) -> None:
        c = self.container = Container(path, KIND, expected)
        self.ids, self.titles, self.urls = Strings(c, "id"), Strings(c, "title"), Strings(c, "url")
        self.priors = c["prior"]
        self.id_order = c["id_order"]
        self.keeps_text = bool(c.meta["keeps_text"])
        self._document_at, self._block_at, self._raw_at = c["document_at"], c["block_at"], c["raw_at"]
        self._block = lru_cache(maxsize=CACHED_BLOCKS)(self._read_block)

    def text(self, doc: int) -> str:
        """The text of a document; empty where texts were not kept."""
        start, end = int(self._document_at[doc]), int(self._document_at[doc + 1])
        if start == end:
            return ""
        block = int(np.searchsorted(self._raw_at, start, side="right")) - 1
        offset = start - int(self._raw_at[block])
        return self._block(block)[offset : offset + end - start].decode("utf-8")

    def _read_block(self, block: int) -> bytes:
        start, end = int(self._block_at[block]), int(self._block_at[block + 1])
        size = int(self._raw_at[block + 1] - self._raw_at[block])
        try:
            return zstandard.ZstdDecompressor().decompress(
                self.container.slice("text", start, end), max_output_size=size
            )
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
