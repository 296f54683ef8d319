"""Documents as they are read to frozen segments: batches, repeated ids, and where a segment ends.

Building an index and adding to one both take documents in here. Knows nothing of commits, nor of what the index holds
already.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xxhash

from fader.corpus.analysis import Analysis
from fader.corpus.documents import Document, DocumentBatch, Faults, read_corpus
from fader.corpus.readers import file_size
from fader.errors import InputError, quote
from fader.index.manifest import SegmentEntry
from fader.index.write.builder import CatalogView, SegmentBuilder
from fader.limits import Limits
from fader.progress import Progress

BATCH_CHARACTERS = 1 << 18


@dataclass(frozen=True)
class Intake:
    """Where documents go and how; segments are named by the commit and numbered from 0."""

    folder: Path
    commit: int
    catalog: CatalogView
    analysis: Analysis
    faults: Faults
    memory_mb: int
    segment_tokens: int | None = None
    threads: int = 1
    keep_text: bool = True
    limits: Limits | None = None

    def read_segments(self, sources: Iterable[Any], progress: Progress) -> list[SegmentEntry]:
        """Read everything; the entries of the segments for the manifest. Their files are written and synced."""
        given = list(sources) if isinstance(sources, list | tuple) else sources
        total = sum(file_size(s) for s in given if isinstance(s, str | Path)) if isinstance(given, list) else 0
        return self.build_segments(read_corpus(given, self.faults, self.limits), progress, total)

    def build_segments(
        self, batches: Iterator[DocumentBatch], progress: Progress, total: int = 0
    ) -> list[SegmentEntry]:
        """The same for documents that are read already."""
        pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        run = _Run(self, pool, progress)
        try:
            with _pause_collector():
                return run.read(batches, total)
        finally:
            run.abort()
            if pool is not None:
                pool.shutdown(cancel_futures=True)


@contextmanager
def _pause_collector() -> Iterator[None]:
    """Keep the collector of cycles from walking over millions of documents and mentions, which have none."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _translate_errors(batches: Iterator[DocumentBatch]) -> Iterator[DocumentBatch]:
    """The same batches; a system error while they are read is the input's, not the index's."""
    try:
        yield from batches
    except OSError as error:
        raise InputError(f"the corpus cannot be read: {error.strerror or error}") from error


def _read_ahead(batches: Iterator[DocumentBatch], pool: ThreadPoolExecutor) -> Iterator[DocumentBatch]:
    """The same batches, the next one read by another thread while this one is indexed."""
    pending = pool.submit(next, batches, None)
    while (batch := pending.result()) is not None:
        pending = pool.submit(next, batches, None)
        yield batch


class _Run:
    """One reading in progress."""

    def __init__(self, how: Intake, pool: ThreadPoolExecutor | None, progress: Progress) -> None:
        self._how, self._pool, self._progress = how, pool, progress
        self._seen: set[int] = set()
        self._segments: list[SegmentEntry] = []
        self._builder: SegmentBuilder | None = None

    def read(self, given: Iterator[DocumentBatch], total: int) -> list[SegmentEntry]:
        """All segments; one at least, which may be empty."""
        before, source = 0, ""
        documents = 0
        consumed = 0
        batches = _translate_errors(given)
        for batch in batches if self._pool is None else _read_ahead(batches, self._pool):
            if batch.source != source:
                before, source = before + consumed, batch.source
            consumed = batch.consumed
            for part in self._parts(batch):
                self._add(part)
            documents += len(batch.documents)
            self._progress.update(before + consumed, total or None, f"{documents:,} documents")
        if self._builder is None and not self._segments:
            self._builder = self._new_builder()
        self._freeze()
        return self._segments

    def abort(self) -> None:
        """Release files that are not finished; the caller removes them."""
        if self._builder is not None:
            self._builder.abort()

    def _parts(self, batch: DocumentBatch) -> Iterator[list[Document]]:
        """A batch without repeated ids, in parts of bounded size, cut where a segment must end."""
        part: list[Document] = []
        size = 0
        limit = self._how.segment_tokens
        for document in batch.documents:
            if self._is_duplicate(document):
                continue
            part.append(document)
            size += len(document.text)
            if size >= BATCH_CHARACTERS or limit is not None:
                yield part
                part, size = [], 0
        if part:
            yield part

    def _is_duplicate(self, document: Document) -> bool:
        """Whether the id was seen before: by a 128-bit hash, so that memory does not grow with the ids' lengths."""
        key = xxhash.xxh3_128_intdigest(document.id.encode("utf-8", "surrogatepass"))
        if key in self._seen:
            self._how.faults.add("repeated documents", f"{document.place}: duplicate document id {quote(document.id)}")
            return True
        self._seen.add(key)
        return False

    def _new_builder(self) -> SegmentBuilder:
        h = self._how
        name = f"{h.commit:08d}-{len(self._segments)}"
        return SegmentBuilder(h.folder, name, h.catalog, h.analysis, h.faults, self._pool, h.keep_text)

    def _add(self, documents: list[Document]) -> None:
        if self._builder is not None and self._builder.quota < sum(len(d.text) + 1 for d in documents):
            self._freeze()
        if self._builder is None:
            self._builder = self._new_builder()
        self._builder.add(documents)
        limit = self._how.segment_tokens
        full = self._builder.memory >= self._how.memory_mb << 20
        if full or (limit is not None and self._builder.tokens >= limit):
            self._freeze()

    def _freeze(self) -> None:
        if self._builder is not None:
            self._segments.append(self._builder.freeze())
            self._builder = None
