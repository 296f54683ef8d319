"""The tasks of a build. Each is plain data; any node may run it, more than once and at the same time as another.

    SampleIds     samples ids of a piece, with weights
    SplitPiece    divides the lines of a piece into buckets, one per shard; counts lines that are not documents
    MakeCatalog   writes the catalog file from entities and types
    BuildShard    builds the segments of a shard from its buckets, in corpus order

A task writes under its own names, syncs, renames, and writes its journal entry last; run twice, it leaves the same
bytes. Knows nothing of Ray.
"""

from __future__ import annotations

import shutil
import tempfile
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import msgspec

from fader.cluster.build.buckets import BucketWriter, Run, id_of, read_blocks, unpack_lines
from fader.cluster.build.journal import FOLDER
from fader.cluster.build.pieces import Span, lines_of, place_of, windows_of
from fader.cluster.jobs.task import Task
from fader.cluster.storage import (
    FAULTS,
    SourceFile,
    Storage,
    UnreadError,
    check_unchanged,
    is_plain,
    mask_passwords,
    name_file,
    open_source,
    plain_path,
    reading,
    reason,
    storage_of,
)
from fader.corpus.catalog import read_catalog
from fader.corpus.documents import DocumentBatch, DocumentReader, Faults
from fader.errors import FaderError, UsageError, quote
from fader.index.catalog import StoredCatalog, StoredNumbers, write_catalog
from fader.index.manifest import CatalogEntry, SegmentEntry
from fader.index.write.builder import CatalogView
from fader.index.write.change import load_closure
from fader.index.write.ingest import Intake
from fader.index.write.writer import BuildOptions
from fader.jobs.files import sync_and_close
from fader.jobs.journal import Journal, to_json
from fader.jobs.runners import Failure
from fader.jobs.storage import COPY_BYTES
from fader.limits import Limits
from fader.memory import keep_freed_memory
from fader.progress import Silent

CATALOG = "catalog"
BATCH_LINES = 4096


class Samples(msgspec.Struct):
    """The result of `SampleIds`: ids, each with the bytes that it stands for."""

    samples: list[tuple[str, float]]


class SplitRecord(msgspec.Struct):
    """The result of `SplitPiece`: the sizes of blocks, the number of lines per span, and faults."""

    runs: list[Run]
    lines: dict[int, int]
    faults: Faults


class CatalogRecord(msgspec.Struct):
    """The result of `MakeCatalog`; the entry gets its name when it is published."""

    catalog: CatalogEntry
    notes: list[str]


class ShardRecord(msgspec.Struct):
    """The result of `BuildShard`; segments get their names when they are published."""

    segments: list[SegmentEntry]
    faults: Faults


@dataclass(frozen=True)
class BuildSite:
    """Where a build writes: the folder of the index and the key of its journal; and the limits that hold."""

    out: str
    key: str
    limits: Limits

    def open_journal(self) -> tuple[Storage, Journal]:
        """Open the folder of the index, and the journal in it."""
        folder = f"{FOLDER}/{self.key}"
        storage = storage_of(self.out, folder)
        return storage, Journal(storage, folder, self.key)


@dataclass(frozen=True)
class CorpusPiece:
    """A piece of the corpus: its number, its spans by their numbers, and the files of the spans."""

    number: int
    spans: Sequence[tuple[int, Span]]
    sources: Mapping[int, SourceFile]

    @property
    def name(self) -> str:
        """What messages call it."""
        first, last = (self.spans[place][1] for place in (0, -1))
        name = quote(self.sources[first.source].shown)
        if len(self.spans) > 1:
            return f"{name} to {quote(self.sources[last.source].shown)}"
        return name if first.whole else f"{name}, bytes {first.start:,} to {first.end:,}"


@dataclass(frozen=True, kw_only=True)
class BuildTask(Task):
    """A task of a build."""

    site: BuildSite

    @abstractmethod
    def run(self) -> bytes: ...

    def explain(self, error: Exception) -> Failure | None:
        if isinstance(error, UsageError):  # the command could use the input, so the fault is that of this node
            return self._fail("ClusterError", f"a node cannot do what the command can: {error}")
        if isinstance(error, FaderError):
            return self._fail(type(error).__name__, str(error))
        if isinstance(error, MemoryError):
            return self._fail("ClusterError", "a node has too little memory; pass less --memory", again=True)
        if isinstance(error, FAULTS):
            return None
        # An error of a disk or of a storage package, which may raise anything: it may pass.
        return self._fail("StorageError", f"{name_file(error, self.site.out)}: {reason(error)}", again=True)

    def _fail(self, kind: str, message: str, again: bool = False) -> Failure:
        return Failure(self.name, kind, mask_passwords(message), again)


@dataclass(frozen=True, kw_only=True)
class SampleIds(BuildTask):
    """Samples ids of a piece, about one per `every` bytes, each with the bytes that it stands for."""

    piece: CorpusPiece
    every: int

    @property
    def entry(self) -> str:
        return f"sample/{self.piece.number:06d}"

    def run(self) -> bytes:
        kept: list[tuple[str, float]] = []
        for _number, span in self.piece.spans:
            source = self.piece.sources[span.source]
            windows, times = windows_of(span, source)
            every = self.every / times
            for window in windows:
                passed, due = 0, 0.0
                for first, lines in lines_of(window, source, self.site.limits):
                    for number, line in enumerate(lines, first):
                        if passed >= due and (found := id_of(line, number)):
                            kept.append((found, max(every, float(len(line))) * times))
                            due = passed + every
                        passed += len(line) + 1
        return to_json(Samples(kept))


@dataclass(frozen=True, kw_only=True)
class SplitPiece(BuildTask):
    """Divides the lines of a piece among its buckets."""

    piece: CorpusPiece
    splitters: Sequence[str]
    run_bytes: int

    @property
    def entry(self) -> str:
        return f"map/{self.piece.number:06d}"

    def run(self) -> bytes:
        storage, journal = self.site.open_journal()
        faults, counts = Faults("skip"), dict[int, int]()
        reader, name = DocumentReader(faults, self.site.limits), f"{self.piece.number:06d}.buckets"
        with storage.workspace() as work:
            file = open(work / name, "wb")  # noqa: SIM115  closed by sync_and_close
            try:
                writer = BucketWriter(file, self.splitters, self.run_bytes)
                for number, span in self.piece.spans:
                    source = self.piece.sources[span.source]
                    counts[number] = _split(number, span, source, self.site.limits, reader, writer)
                writer.flush()
                size = file.tell()
                sync_and_close(file)
            finally:
                file.close()
            for source in self.piece.sources.values():
                check_unchanged(source)
            storage.put({work / name: journal.path(f"map/{name}")})
        found = to_json(SplitRecord(writer.runs, counts, faults))
        journal.keep(self.entry, found, {name: size})
        return found


def _split(
    number: int, span: Span, source: SourceFile, limits: Limits, reader: DocumentReader, writer: BucketWriter
) -> int:
    """Write the lines of a span to their buckets; returns the number of lines."""
    count = 0
    for first, lines in lines_of(span, source, limits):
        count += len(lines)
        for n, line in enumerate(lines, first):
            found = id_of(line, n)
            if found is None:  # most likely not a document: the reader counts the fault
                for document in reader.lines([(place_of(number, n), n, line)]):
                    found = document.id
            if found is not None:
                writer.add(found, number, n, line)
    return count


@dataclass(frozen=True, kw_only=True)
class MakeCatalog(BuildTask):
    """Writes the catalog file."""

    entities: SourceFile
    types: SourceFile | None
    on_error: str
    columns: str | None = None

    @property
    def entry(self) -> str:
        return CATALOG

    def run(self) -> bytes:
        storage, journal = self.site.open_journal()
        given = [source for source in (self.entities, self.types) if source is not None]
        with ExitStack() as stack:
            files = [stack.enter_context(_fetch(source)) for source in given]
            shown = {file: source.shown for file, source in zip(files, given, strict=True)}
            types = files[1] if self.types is not None else None
            try:
                read = read_catalog(files[0], types, self.on_error, self.site.limits, self.columns)
            except FaderError as error:
                if isinstance(error.__cause__, OSError):  # the storage failed, not the contents of the file
                    starts = ((file, name) for file, name in shown.items() if str(error).startswith(f"{file}: "))
                    raise UnreadError(next(starts, ("", "the catalog"))[1], error.__cause__) from error
                raise type(error)(_name_as_given(str(error), shown)) from None
        for source in given:
            check_unchanged(source)
        with storage.workspace() as work:
            entry = msgspec.structs.replace(write_catalog(work / CATALOG, read), name=f"{0:08d}.catalog")
            storage.put({work / CATALOG: journal.path(CATALOG)})
        found = to_json(CatalogRecord(entry, [_name_as_given(note, shown) for note in read.notes]))
        journal.keep(CATALOG, found, {CATALOG: entry.bytes})
        return found


def _name_as_given(message: str, shown: Mapping[str, str]) -> str:
    """Replace the paths in a message by the names that the user gave."""
    for file, name in shown.items():
        message = message.replace(file, name)
    return message


@contextmanager
def _fetch(source: SourceFile) -> Iterator[str]:
    """A local file with the contents of a source."""
    if is_plain(source.path):
        yield str(plain_path(source.path))
        return
    with tempfile.TemporaryDirectory(prefix="fader-") as folder:
        copy = Path(folder) / (source.path.rpartition("/")[2] or "file")
        with reading(source.path), open_source(source.path) as file:
            _copy(file, copy)
        yield str(copy)


def _copy(file: BinaryIO, target: Path) -> None:
    with open(target, "wb") as copy:
        shutil.copyfileobj(file, copy, COPY_BYTES)


@dataclass(frozen=True, kw_only=True)
class BuildShard(BuildTask):
    """Builds the segments of a shard. Faults name places in buckets; the driver maps these to corpus lines."""

    shard: int
    catalog: CatalogEntry
    options: BuildOptions
    blocks: bytes

    @property
    def entry(self) -> str:
        return f"reduce/{self.shard:05d}"

    def run(self) -> bytes:
        keep_freed_memory()
        storage, journal = self.site.open_journal()
        faults, how = Faults("skip"), self.options
        with storage.workspace() as work:
            stored = StoredCatalog(self._find_catalog(storage, journal, work), self.catalog)
            view = CatalogView(StoredNumbers(stored), load_closure(stored))
            made = work / "segments"
            made.mkdir()
            intake = Intake(
                made,
                0,
                view,
                how.analysis,
                faults,
                how.memory_mb,
                how.segment_tokens,
                1,
                how.keep_text,
                self.site.limits,
            )
            documents = self._read_documents(storage, journal, DocumentReader(faults, self.site.limits))
            segments = intake.build_segments(documents, Silent())
            files, moves = dict[str, int](), dict[Path, str]()
            for place, segment in enumerate(segments):
                for part, entry in segment.files.items():
                    own = f"{self.shard:05d}-{place}.{part}"
                    files[own] = entry.bytes
                    moves[made / f"{segment.name}.{part}"] = journal.path(f"reduce/{own}")
            storage.put(moves)
        found = to_json(ShardRecord(list(segments), faults))
        journal.keep(self.entry, found, files)
        return found

    def _find_catalog(self, storage: Storage, journal: Journal, work: Path) -> Path:
        """The catalog as a local file: the file itself where the folder is local."""
        if is_plain(storage.path):
            return plain_path(storage.path) / journal.path(CATALOG)
        with storage.open(journal.path(CATALOG)) as file:
            _copy(file, work / CATALOG)
        return work / CATALOG

    def _read_documents(self, storage: Storage, journal: Journal, reader: DocumentReader) -> Iterator[DocumentBatch]:
        """The documents of a shard, in corpus order."""
        for piece, blocks in read_blocks(self.blocks):
            name = journal.path(f"map/{piece:06d}.buckets")
            with reading(f"{storage.path}/{name}"), storage.open(name) as file:
                for at, size in blocks:
                    file.seek(at)
                    lines = unpack_lines(file.read(size), name)
                    while some := [(place_of(span, n), n, line) for span, n, line in islice(lines, BATCH_LINES)]:
                        yield DocumentBatch(reader.lines(some), name, 0)
