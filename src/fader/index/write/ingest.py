"""Documents as they are read to frozen segments: batches, repeated ids, and where a segment ends.

Building an index and adding to one both take documents in here. Knows nothing of commits, nor of what the index holds
already.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xxhash

from fader.corpus.analysis import Analysis
from fader.corpus.columns import ColumnBatch, ColumnReader, Columns, join_columns, read_columns
from fader.corpus.documents import DocumentBatch, Faults
from fader.corpus.readers import file_size
from fader.errors import InputError, quote
from fader.index.manifest import SegmentEntry
from fader.index.write.builder import CatalogView, EntityNumbers, SegmentBuilder
from fader.jobs.runners import count_cores
from fader.limits import Limits
from fader.progress import Progress

BATCH_CHARACTERS = 1 << 18


@dataclass(frozen=True)
class Intake:
    """Where documents go and how; segments are named by the commit and numbered from `first` on.

    Without a number of threads there is one a core; a corpus that is no list of files is then read by the caller's own.
    """

    folder: Path
    commit: int
    catalog: CatalogView
    analysis: Analysis
    faults: Faults
    memory_mb: int
    segment_tokens: int | None = None
    threads: int | None = 1
    keep_text: bool = True
    limits: Limits | None = None
    first: int = 0

    def read_segments(self, sources: Iterable[Any], progress: Progress) -> list[SegmentEntry]:
        """Read everything; the entries of the segments for the manifest. Their files are written and synced."""
        given = list(sources) if isinstance(sources, list | tuple) else sources
        total = sum(file_size(s) for s in given if isinstance(s, str | Path)) if isinstance(given, list) else 0
        ahead = self.threads is not None or (isinstance(given, list) and not any(isinstance(s, Mapping) for s in given))
        return self._build(read_columns(given, self.faults, self.limits), progress, total, ahead)

    def build_segments(
        self, batches: Iterator[DocumentBatch], progress: Progress, total: int = 0
    ) -> list[SegmentEntry]:
        """The same for documents that are read already."""
        reader = ColumnReader(self.faults, self.limits or Limits.from_environment())
        return self._build(map(reader.documents, batches), progress, total, self.threads is not None)

    def _build(self, batches: Iterator[ColumnBatch], progress: Progress, total: int, ahead: bool) -> list[SegmentEntry]:
        """Segments of batches; with `ahead` and several threads the next batch is read while one is indexed."""
        threads = self.threads or count_cores()
        pool = ThreadPoolExecutor(threads) if threads > 1 else None
        run = _Run(self, pool, progress)
        try:
            with _pause_collector():
                return run.read(batches, total, ahead)
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


def _translate_errors(batches: Iterator[ColumnBatch]) -> Iterator[ColumnBatch]:
    """The same batches; a system error while they are read is the input's, not the index's."""
    try:
        yield from batches
    except OSError as error:
        raise InputError(f"the corpus cannot be read: {error.strerror or error}") from error


def _read_ahead(batches: Iterator[ColumnBatch], pool: ThreadPoolExecutor) -> Iterator[ColumnBatch]:
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
        self._entities = EntityNumbers(how.catalog.number)
        self._segments: list[SegmentEntry] = []
        self._builder: SegmentBuilder | None = None

    def read(self, given: Iterator[ColumnBatch], total: int, ahead: bool) -> list[SegmentEntry]:
        """All segments; one at least, which may be empty."""
        before, source = 0, ""
        documents = 0
        consumed = 0
        batches = _translate_errors(given)
        for batch in _read_ahead(batches, self._pool) if ahead and self._pool is not None else batches:
            if batch.source != source:
                before, source = before + consumed, batch.source
            consumed = batch.consumed
            self._entities.learn(batch.names, batch.first_name)
            for part in self._parts(batch.columns):
                self._add(part)
            documents += len(batch.columns)
            self._progress.update(before + consumed, total or None, f"{documents:,} documents")
        if self._builder is None and not self._segments:
            self._builder = self._new_builder()
        self._freeze()
        return self._segments

    def abort(self) -> None:
        """Release files that are not finished; the caller removes them."""
        if self._builder is not None:
            self._builder.abort()

    def _parts(self, columns: Columns) -> Iterator[Columns]:
        """A batch without repeated ids, in parts of bounded size, cut where a segment must end."""
        # By a 128-bit hash, so that memory does not grow with the ids' lengths.
        keys = [xxhash.xxh3_128_intdigest(head.id.encode("utf-8", "surrogatepass")) for head in columns.heads]
        kept, size, a = list[Columns](), 0, 0
        limit = BATCH_CHARACTERS if self._how.segment_tokens is None else 0
        for d, (key, characters) in enumerate(zip(keys, columns.characters.tolist(), strict=True)):
            if key in self._seen:
                place, name = columns.place(d), quote(columns.heads[d].id)
                self._how.faults.add("repeated documents", f"{place}: duplicate document id {name}")
                kept, a = [*kept, columns.cut(a, d)], d + 1
                continue
            self._seen.add(key)
            size += characters
            if size >= limit:
                yield join_columns([*kept, columns.cut(a, d + 1)])
                kept, size, a = [], 0, d + 1
        rest = join_columns([*kept, columns.cut(a, len(columns))])
        if len(rest):
            yield rest

    def _new_builder(self) -> SegmentBuilder:
        h = self._how
        name = f"{h.commit:08d}-{h.first + len(self._segments)}"
        return SegmentBuilder(h.folder, name, h.catalog, h.analysis, h.faults, self._pool, h.keep_text)

    def _add(self, part: Columns) -> None:
        if self._builder is not None and self._builder.quota < int(part.characters.sum()) + len(part):
            self._freeze()
        if self._builder is None:
            self._builder = self._new_builder()
        self._builder.add(part, self._entities)
        limit = self._how.segment_tokens
        full = self._builder.memory >= self._how.memory_mb << 20
        if full or (limit is not None and self._builder.tokens >= limit):
            self._freeze()

    def _freeze(self) -> None:
        if self._builder is not None:
            self._segments.append(self._builder.freeze())
            self._builder = None
