"""Build an index: read, cut into segments, freeze, commit. The folder appears whole or not at all.

A new index is built in a folder beside its destination and renamed into place; in a folder that is there already,
empty or an index, it is a new commit, so that an old one answers until the very last step. Knows nothing of queries.
"""

from __future__ import annotations

import gc
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import xxhash

from fader.corpus.analysis import Analysis
from fader.corpus.catalog import Catalog, Rows, read_catalog
from fader.corpus.documents import Batch, Document, Faults, read_corpus
from fader.corpus.readers import check_readable, file_size
from fader.errors import InputError, StorageError, UsageError, quoted
from fader.index.builder import CatalogView, Numbers, SegmentBuilder
from fader.index.catalog import csr, type_ancestors, write_catalog
from fader.index.commit import commit_numbers, remove_debris, remove_unneeded, write_commit
from fader.index.format import sync_folder
from fader.index.lock import writing_alone
from fader.memory import keep_freed_memory
from fader.progress import Progress, Silent

Corpus = str | Path | Iterable[str | Path] | Iterable[Mapping[str, Any]]
BATCH_CHARACTERS = 1 << 18


@dataclass(frozen=True)
class BuildOptions:
    """How to build. `memory_mb` bounds what a segment may need before it is written out."""

    analysis: Analysis = field(default_factory=Analysis)
    on_error: str = "skip"
    catalog_on_error: str = "fail"
    memory_mb: int = 2048
    segment_tokens: int | None = None
    threads: int = 1
    keep_text: bool = True
    overwrite: bool = False

    def __post_init__(self) -> None:
        if self.catalog_on_error not in ("skip", "fail"):
            raise UsageError(f'catalog_on_error must be "skip" or "fail", not {quoted(self.catalog_on_error)}')
        for name, least in (("memory_mb", 16), ("threads", 1), ("segment_tokens", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise UsageError(f"{name} must be at least {least}, not {value}")


@dataclass(slots=True)
class BuildReport:
    """What was built, and what could not be used."""

    manifest: dict[str, Any]
    faults: Faults
    catalog_notes: list[str]


def build(
    folder: Path,
    corpus: Corpus,
    entities: Rows,
    types: Rows,
    options: BuildOptions,
    progress: Progress | None = None,
) -> BuildReport:
    """Build an index of the corpus in `folder`."""
    keep_freed_memory()
    sources = _checked_sources(corpus)
    folder = folder.resolve()
    existing = _check_destination(folder, options.overwrite)
    catalog = read_catalog(entities, types, options.catalog_on_error)
    if not folder.is_dir():
        return _build_beside(folder, sources, catalog, options, progress or Silent())
    with _storage_errors(folder), writing_alone(folder):
        remove_debris(folder, existing)
        report = _build_in(folder, existing + 1, sources, catalog, options, progress or Silent())
        remove_unneeded(folder, report.manifest)
    return report


def _build_beside(
    folder: Path, sources: Iterable[Any], catalog: Catalog, options: BuildOptions, progress: Progress
) -> BuildReport:
    """Build in a new folder beside the destination and rename it: the index appears whole or not at all."""
    work = folder.parent / f".{folder.name}.building-{uuid.uuid4().hex[:8]}"
    parents = [p for p in folder.parents if not p.exists()]
    place = work
    with _storage_errors(folder):
        try:
            work.mkdir(parents=True)
            report = _build_in(work, 1, sources, catalog, options, progress)
            os.rename(work, folder)
            place = folder
            for parent in (folder.parent, *(p.parent for p in parents)):
                sync_folder(parent)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            for parent in parents:
                with suppress(OSError):
                    parent.rmdir()
            raise
    return report


def _build_in(
    folder: Path, number: int, sources: Iterable[Any], catalog: Catalog, options: BuildOptions, progress: Progress
) -> BuildReport:
    """Build as a commit of a folder: what was there answers until the last step, and stays if that fails."""
    run = _Build(folder, number, catalog, options, progress)
    try:
        manifest = run.commit(sources)
    except BaseException:
        remove_debris(folder, number - 1)
        raise
    return BuildReport(manifest, run.faults, catalog.notes)


@contextmanager
def _storage_errors(folder: Path) -> Iterator[None]:
    """System errors while writing, in the project's words."""
    try:
        yield
    except OSError as error:
        message = f"{folder}: cannot be written: {error.strerror or error}; nothing was left behind"
        raise StorageError(message) from error


def _checked_sources(corpus: Corpus) -> Iterable[Any]:
    """The corpus as an iterable of paths or dictionaries; paths that cannot be read are refused at once."""
    if isinstance(corpus, Mapping):
        raise UsageError("corpus must be files or an iterable of dictionaries, not one dictionary")
    sources: Iterable[Any] = [corpus] if isinstance(corpus, str | Path) else corpus
    if isinstance(sources, list | tuple):
        for source in sources:
            check_readable(source)
    return sources


def _check_destination(folder: Path, overwrite: bool) -> int:
    """The number of the commit that is there already, 0 for none."""
    if not folder.exists():
        return 0
    if not folder.is_dir():
        raise StorageError(f"{folder}: is a file; give the name of a folder")
    numbers = commit_numbers(folder)
    if numbers and not overwrite:
        raise StorageError(f"{folder}: holds an index already; pass --overwrite to replace it")
    if not numbers and any(folder.iterdir()):
        raise StorageError(f"{folder}: is a folder with other things in it; give a new or empty one")
    return numbers[-1] if numbers else 0


@contextmanager
def _no_cycles() -> Iterator[None]:
    """Keep the collector of cycles from walking over millions of documents and mentions, which have none."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _guarded(batches: Iterator[Batch]) -> Iterator[Batch]:
    """The same batches; a system error while they are read is the input's, not the index's."""
    try:
        yield from batches
    except OSError as error:
        raise InputError(f"the corpus cannot be read: {error.strerror or error}") from error


def _ahead(batches: Iterator[Batch], pool: ThreadPoolExecutor) -> Iterator[Batch]:
    """The same batches, the next one read by another thread while this one is indexed."""
    pending = pool.submit(next, batches, None)
    while (batch := pending.result()) is not None:
        pending = pool.submit(next, batches, None)
        yield batch


class _Build:
    """One build in progress."""

    def __init__(self, work: Path, number: int, catalog: Catalog, options: BuildOptions, progress: Progress) -> None:
        self._work, self._number, self._options, self._progress = work, number, options, progress
        self._catalog = catalog
        entity_number = Numbers((e.id, i) for i, e in enumerate(catalog.entities))
        self._view = CatalogView(entity_number, csr(catalog.entity_types), type_ancestors(catalog))
        self.faults = Faults(options.on_error)
        self._seen: set[int] = set()
        self._segments: list[dict[str, Any]] = []
        self._builder: SegmentBuilder | None = None

    def commit(self, sources: Iterable[Any]) -> dict[str, Any]:
        """Write everything and publish it."""
        name = f"{self._number:08d}.catalog"
        described = {"name": name, **write_catalog(self._work / name, self._catalog)}
        described |= {"entities": len(self._catalog.entities), "types": len(self._catalog.types)}
        pool = ThreadPoolExecutor(self._options.threads) if self._options.threads > 1 else None
        try:
            with _no_cycles():
                self._read(sources, pool)
        finally:
            if self._builder is not None:
                self._builder.abort()
            if pool is not None:
                pool.shutdown(cancel_futures=True)
        manifest = {
            "commit": self._number,
            "catalog": described,
            "segments": self._segments,
            "analysis": self._options.analysis.to_dict(),
            "skipped": self.faults.counts,
        }
        write_commit(self._work, manifest)
        return manifest

    def _read(self, sources: Iterable[Any], pool: ThreadPoolExecutor | None) -> None:
        given = list(sources) if isinstance(sources, list | tuple) else sources
        total = sum(file_size(s) for s in given if isinstance(s, str | Path)) if isinstance(given, list) else 0
        before, source = 0, ""
        documents = 0
        consumed = 0
        batches = _guarded(read_corpus(given, self.faults))
        for batch in batches if pool is None else _ahead(batches, pool):
            if batch.source != source:
                before, source = before + consumed, batch.source
            consumed = batch.consumed
            for part in self._parts(batch):
                self._add(part, pool)
            documents += len(batch.documents)
            self._progress.update(before + consumed, total or None, f"{documents:,} documents")
        if self._builder is None and not self._segments:
            self._builder = self._new_builder(pool)
        self._freeze()

    def _parts(self, batch: Batch) -> Iterator[list[Document]]:
        """A batch without repeated ids, in parts of bounded size, cut where a segment must end."""
        part: list[Document] = []
        size = 0
        limit = self._options.segment_tokens
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
            self.faults.add("repeated documents", f"{document.place}: duplicate document id {quoted(document.id)}")
            return True
        self._seen.add(key)
        return False

    def _new_builder(self, pool: ThreadPoolExecutor | None) -> SegmentBuilder:
        name = f"{self._number:08d}-{len(self._segments)}"
        o = self._options
        return SegmentBuilder(self._work, name, self._view, o.analysis, self.faults, pool, o.keep_text)

    def _add(self, documents: list[Document], pool: ThreadPoolExecutor | None) -> None:
        if self._builder is not None and self._builder.room < sum(len(d.text) + 1 for d in documents):
            self._freeze()
        if self._builder is None:
            self._builder = self._new_builder(pool)
        self._builder.add(documents)
        limit = self._options.segment_tokens
        full = self._builder.memory >= self._options.memory_mb << 20
        if full or (limit is not None and self._builder.tokens >= limit):
            self._freeze()

    def _freeze(self) -> None:
        if self._builder is not None:
            self._segments.append(self._builder.freeze())
            self._builder = None
