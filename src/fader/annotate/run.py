"""Annotate files: texts to corpus.jsonl in several processes, in constant memory, resumable.

The parent cuts the input into pieces and writes; workers annotate, sharing the dictionary by mapping its files. Results
are taken in the order of pieces. Beside OUT, the folder OUT.unfinished holds

    job.json       sources and catalog with sizes and times, options: what makes two runs the same
    dictionary/    the names (see dictionary.py); dictionary.json is written last
    corpus         what is done; a part of about 32 MB at a time, a frame of its own where OUT is compressed
    reached.json   pieces, bytes, counts and faults of the whole parts, replaced after a part is synced

A run with the same sources and options goes on after the last whole part, however it ended, and gives the same bytes;
with others it is refused. At the end `corpus` is renamed to OUT. Knows nothing of names and rules.
"""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import shutil
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, BinaryIO

from fader.annotate.annotator import Annotator, make_dictionary
from fader.annotate.dictionary import Dictionary
from fader.annotate.match import policy_number
from fader.annotate.names import read_names
from fader.annotate.texts import Annotates, Converted, Piece, convert, pieces
from fader.corpus.documents import EXAMPLES_KEPT, Faults
from fader.corpus.readers import check_readable, display_name, file_size, read_lines
from fader.errors import InputError, StorageError, UsageError, quoted
from fader.limits import Limits
from fader.progress import Progress, Silent

PART_BYTES = 1 << 25
AHEAD = 3  # pieces under way for each process
DICTIONARY, SPACY = "dictionary", "spacy"


@dataclass(frozen=True)
class Options:
    """How to annotate. Paths are texts; `common_words` None: English, "none": no word is common, else a file."""

    entities: str
    types: str | None = None
    links: tuple[str, ...] = ()
    overlaps: str = "longest"
    min_confidence: float = 0.25
    common_words: str | None = None
    kind: str | None = None
    linker: str = DICTIONARY
    spacy_model: str = "en_core_web_sm"

    def __post_init__(self) -> None:
        policy_number(self.overlaps)
        if not 0.0 <= self.min_confidence <= 1.0:
            raise UsageError(f"min_confidence must be a number from 0 to 1, not {quoted(self.min_confidence)}")
        if self.linker not in (DICTIONARY, SPACY):
            raise UsageError(f"there is no linker {quoted(self.linker)}; known: {DICTIONARY}, {SPACY}")

    def files(self) -> list[str]:
        """The files beside the sources."""
        common = [] if self.common_words in (None, "none") else [self.common_words]
        return [f for f in (self.entities, self.types, *self.links, *common) if f is not None]


@dataclass(slots=True)
class AnnotateReport:
    """What was done."""

    documents: int = 0
    mentions: int = 0
    entities: int = 0
    names: int = 0
    notes: list[str] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)
    resumed: int = 0  # pieces that an earlier run had done
    seconds: float = 0.0


def annotate_files(
    sources: Sequence[str], out: str | Path, options: Options, processes: int = 1, restart: bool = False,
    on_error: str = "skip", catalog_on_error: str = "fail", progress: Progress | None = None,
    part_bytes: int = PART_BYTES,
) -> AnnotateReport:  # fmt: skip
    """Annotate sources into a corpus file; `restart` forgets an unfinished run and replaces a finished one."""
    began = time.perf_counter()
    if processes < 1:
        raise UsageError(f"processes must be 1 or more, not {processes}")
    if not sources:
        raise UsageError("nothing to annotate; give at least one file")
    for source in (*sources, *options.files()):
        check_readable(source)
    if options.linker == SPACY:
        from fader.annotate.spacy_linker import check_spacy

        check_spacy(options.spacy_model)
    if [*sources, *options.files()].count("-") > 1:
        raise UsageError("standard input can be read only once; give files for all but one")
    if str(out) == "-":
        report = _to_standard_output(sources, options, on_error, catalog_on_error, progress or Silent())
    else:
        job = _Job(sources, Path(out), options, processes, on_error, catalog_on_error, part_bytes)
        with _storage_errors(Path(out)):
            report = job.run(restart, progress or Silent())
    report.seconds = time.perf_counter() - began
    return report


def _to_standard_output(
    sources: Sequence[str], options: Options, on_error: str, catalog_on_error: str, progress: Progress
) -> AnnotateReport:
    """One process, nothing to resume."""
    report = AnnotateReport(faults=Faults(on_error))
    annotator = _annotator(options, _made(options, catalog_on_error, report))
    limits = Limits.from_environment()
    for piece in pieces(sources, options.kind, limits):
        done = convert(piece, annotator, report.faults, limits)
        _print(done.lines)
        report.documents += done.documents
        report.mentions += done.mentions
    sys.stdout.flush()
    return report


def _print(lines: bytes) -> None:
    """Lines to standard output, as UTF-8 where it takes bytes."""
    if hasattr(sys.stdout, "buffer"):
        sys.stdout.buffer.write(lines)
    else:
        sys.stdout.write(lines.decode())


def _made(options: Options, on_error: str, report: AnnotateReport) -> Dictionary:
    """The dictionary that the options ask for; what it was made of goes into the report."""
    names = read_names(options.entities, options.types, on_error)
    if names.skipped:
        report.notes.append(f"skipped {names.skipped:,} rows of the catalog")
    dictionary, made = make_dictionary(names, options.links, _common_words(options.common_words))
    report.entities, report.names = made.entities, made.names
    report.notes += made.notes
    if not made.names:
        report.notes.append("the catalog has no usable name: nothing will be found")
    return dictionary


def _common_words(given: str | None) -> Iterable[str] | None:
    if given is None or given == "none":
        return given if given is None else ()
    return [line.split("#", 1)[0].strip() for _number, line in read_lines(given)]


def _annotator(options: Options, dictionary: Dictionary) -> Annotates:
    if options.linker == SPACY:
        from fader.annotate.spacy_linker import SpacyAnnotator

        return SpacyAnnotator(dictionary, options.spacy_model, options.min_confidence)
    return Annotator(dictionary, options.overlaps, options.min_confidence)


class _Job:
    """A run into a file."""

    def __init__(
        self, sources: Sequence[str], out: Path, options: Options, processes: int, on_error: str, catalog_on_error: str,
        part_bytes: int,
    ) -> None:  # fmt: skip
        self.sources, self.out, self.options, self.processes = list(sources), out, options, processes
        self.on_error, self.catalog_on_error, self.part_bytes = on_error, catalog_on_error, part_bytes
        self.work = out.with_name(out.name + ".unfinished")
        self.limits = Limits.from_environment()

    def run(self, restart: bool, progress: Progress) -> AnnotateReport:
        with _locked(self.work):
            self._enter(restart)
            report = AnnotateReport(faults=Faults(self.on_error))
            self._dictionary(report)
            with open(self.work / "corpus", "ab") as file:
                reached = self._reached(report, file)
                self._go_on(reached, report, file, progress)
            os.replace(self.work / "corpus", self.out)
            _sync_folder(self.out.parent)
            shutil.rmtree(self.work)
        return report

    def _enter(self, restart: bool) -> None:
        """Make the work folder ready: empty, or what a run of the same job left."""
        job, kept = self._identity(), self.work / "job.json"
        if kept.exists() and not restart:
            before = json.loads(kept.read_bytes())
            changed = [key for key, value in job.items() if before.get(key) != value]
            if changed:
                here = f"{self.out}: an unfinished run with other {changed[0]} is in {self.work}"
                raise InputError(f"{here}; --restart forgets it, or choose another output")
            return
        if self.out.exists() and not restart:
            shutil.rmtree(self.work)
            raise InputError(f"{self.out}: is there already; --restart replaces it, or choose another output")
        for path in self.work.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != "lock":
                path.unlink()
        _write_whole(kept, job)

    def _identity(self) -> dict[str, Any]:
        """What two runs must share for one to go on with the other's work."""
        identity = {
            "sources": self.sources, "stamps": [_stamp(path) for path in (*self.sources, *self.options.files())],
            "options": asdict(self.options), "on_error": [self.on_error, self.catalog_on_error],
            "part_bytes": self.part_bytes, "limits": asdict(self.limits),
        }  # fmt: skip
        return dict(json.loads(json.dumps(identity)))

    def _dictionary(self, report: AnnotateReport) -> None:
        """Make the dictionary's files, unless an earlier run has."""
        folder, kept = self.work / "dictionary", self.work / "made.json"
        if not kept.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _made(self.options, self.catalog_on_error, report).save(folder)
            _write_whole(kept, {"entities": report.entities, "names": report.names, "notes": report.notes})
        made = json.loads(kept.read_bytes())
        report.entities, report.names, report.notes = made["entities"], made["names"], made["notes"]

    def _reached(self, report: AnnotateReport, file: BinaryIO) -> int:
        """Go back to the last whole part; returns how many pieces are done."""
        kept = self.work / "reached.json"
        reached: dict[str, Any] = json.loads(kept.read_bytes()) if kept.exists() else {"pieces": 0, "bytes": 0}
        file.truncate(reached["bytes"])
        file.seek(reached["bytes"])
        if kept.exists():
            report.documents, report.mentions = reached["documents"], reached["mentions"]
            report.faults.counts, report.faults.examples = reached["counts"], reached["examples"]
        report.resumed = int(reached["pieces"])
        return report.resumed

    def _go_on(self, done: int, report: AnnotateReport, file: BinaryIO, progress: Progress) -> None:
        before, total = {}, 0
        for source in self.sources:
            before[source] = total
            total += file_size(source)
        held, size = list[bytes](), 0
        rest = islice(pieces(self.sources, self.options.kind, self.limits), done, None)
        for piece, converted, faults in self._converted(rest):
            held.append(converted.lines)
            size += len(converted.lines)
            done += 1
            report.documents += converted.documents
            report.mentions += converted.mentions
            _join(report.faults, faults)
            if size >= self.part_bytes:
                self._write_part(held, done, report, file)
                held, size = [], 0
            reached = before.get(piece.source, 0) + piece.consumed
            progress.update(reached, total or None, f"{report.mentions:,} mentions")
        self._write_part(held, done, report, file)

    def _write_part(self, held: list[bytes], done: int, report: AnnotateReport, file: BinaryIO) -> None:
        file.write(_packed(b"".join(held), self.out.name))
        file.flush()
        os.fsync(file.fileno())
        faults = {"counts": report.faults.counts, "examples": report.faults.examples}
        counts = {"documents": report.documents, "mentions": report.mentions}
        _write_whole(self.work / "reached.json", {"pieces": done, "bytes": file.tell(), **counts, **faults})

    def _converted(self, rest: Iterator[Piece]) -> Iterator[tuple[Piece, Converted, Faults]]:
        """The pieces annotated, in their order."""
        setting = (self.options, str(self.work / "dictionary"), self.on_error)
        if self.processes == 1:
            worker = _Worker(*setting)
            for piece in rest:
                yield piece._replace(rows=[]), *worker(piece)
            return
        # Spawned, not forked: the parent may have threads.
        pool = ProcessPoolExecutor(self.processes, get_context("spawn"), _start, setting)
        waiting: deque[tuple[Piece, Future[tuple[Converted, Faults]]]] = deque()
        try:
            for piece in rest:
                waiting.append((piece._replace(rows=[]), pool.submit(_work, piece)))
                if len(waiting) > AHEAD * self.processes:
                    yield _taken(waiting)
            while waiting:
                yield _taken(waiting)
        finally:
            pool.shutdown(cancel_futures=True)


def _taken(waiting: deque[tuple[Piece, Future[tuple[Converted, Faults]]]]) -> tuple[Piece, Converted, Faults]:
    piece, future = waiting.popleft()
    try:
        return piece, *future.result()
    except BrokenProcessPool:
        where = f"{display_name(piece.source)}: a worker process ended"
        remedy = "it may have run out of memory: run the same command with fewer --processes; it goes on where it was"
        raise StorageError(f"{where}; {remedy}") from None


class _Worker:
    """Annotates pieces in one process."""

    def __init__(self, options: Options, dictionary: str, on_error: str) -> None:
        self._annotator = _annotator(options, Dictionary.load(Path(dictionary)))
        self._on_error, self._limits = on_error, Limits.from_environment()

    def __call__(self, piece: Piece) -> tuple[Converted, Faults]:
        faults = Faults(self._on_error)
        return convert(piece, self._annotator, faults, self._limits), faults


_worker: _Worker | None = None


def _start(options: Options, dictionary: str, on_error: str) -> None:
    global _worker
    _worker = _Worker(options, dictionary, on_error)


def _work(piece: Piece) -> tuple[Converted, Faults]:
    assert _worker is not None
    return _worker(piece)


def _join(faults: Faults, more: Faults) -> None:
    """Count a piece's faults with the others."""
    for kind, count in more.counts.items():
        faults.counts[kind] = faults.counts.get(kind, 0) + count
        kept = faults.examples.setdefault(kind, [])
        kept += more.examples[kind][: EXAMPLES_KEPT - len(kept)]


def _packed(data: bytes, name: str) -> bytes:
    """The bytes as they are written: a frame of their own where the name says so."""
    if not data:
        return b""
    if name.endswith(".zst"):
        import zstandard

        return zstandard.ZstdCompressor(level=3).compress(data)
    return gzip.compress(data, 6, mtime=0) if name.endswith(".gz") else data


def _stamp(path: str) -> list[int]:
    """Size and time of change; standard input is never the same again."""
    if path == "-":
        return [time.time_ns(), os.getpid()]
    found = os.stat(path)
    return [found.st_size, found.st_mtime_ns]


def _write_whole(path: Path, value: Any) -> None:
    """Write JSON so that the file has all of it or is as before."""
    beside = path.with_name(path.name + ".new")
    with open(beside, "wb") as file:
        file.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace"))
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _locked(work: Path) -> Iterator[None]:
    """One run into a file at a time."""
    work.mkdir(parents=True, exist_ok=True)
    with open(work / "lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StorageError(f"{work}: another run is writing here; wait for it, or choose another output") from None
        yield


@contextmanager
def _storage_errors(out: Path) -> Iterator[None]:
    """System errors while writing in the project's words."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{out}: cannot be written: {error.strerror or error}; what is done is kept") from None
