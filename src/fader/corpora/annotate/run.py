"""Annotate files: texts to corpus.jsonl in several processes, in constant memory, resumable.

Annotating is a job (`fader.jobs`): the parent cuts the input into pieces, workers annotate, sharing the dictionary by
mapping its files, and the results are appended, in order, to a file that grows part by part. Beside OUT, the folder
OUT.unfinished holds

    job.json           the key: sources and catalog with sizes and times, options
    dictionary/        the names (see dictionary.py)
    dictionary.part    what it was made of, kept when the dictionary is whole
    corpus             what is done; a part of about 32 MB at a time, a frame of its own where OUT is compressed
    000001.part ...    pieces, counts and faults of the parts

A run with the same sources and options goes on after the last whole part, however it ended, and gives the same bytes;
with others it is refused. At the end `corpus` is renamed to OUT. Knows nothing of names and rules.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import accumulate, islice
from pathlib import Path

import msgspec
import zstandard

from fader.corpora.annotate.annotator import Made
from fader.corpora.annotate.dictionary import Dictionary
from fader.corpora.annotate.options import Options
from fader.corpora.annotate.texts import Converted, TextPiece, convert, cut_pieces
from fader.corpus.documents import Faults
from fader.corpus.readers import check_readable, file_size
from fader.errors import FaderError, InputError, UsageError
from fader.jobs import journal as journals
from fader.jobs.files import sync_folder
from fader.jobs.growing import GrowingFiles
from fader.jobs.job import Job, run_job
from fader.jobs.journal import Journal, Key, from_json, to_json
from fader.jobs.runners import Runner, choose_runner
from fader.jobs.storage import LocalFolder, empty_folder, hold_folder, storage_errors
from fader.limits import Limits
from fader.progress import Progress, Silent
from fader.version import __version__

PART_BYTES = 1 << 25
DICTIONARY, CORPUS = "dictionary", "corpus"
_Sizes = dict[str, int]  # of the sources, in bytes
CHANGED = {"stamps": "contents of the files", "version": "versions of Fader"}


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

    def set_dictionary(self, made: Made) -> None:
        """Take in what the dictionary was made of."""
        self.entities, self.names, self.notes = made.entities, made.names, made.notes

    def add(self, documents: int, mentions: int, faults: Faults) -> None:
        """Count some documents with the others."""
        self.documents += documents
        self.mentions += mentions
        self.faults.merge(faults)


def annotate_files(
    sources: Sequence[str],
    out: str | Path,
    options: Options,
    processes: int = 1,
    restart: bool = False,
    on_error: str = "skip",
    catalog_on_error: str = "fail",
    progress: Progress | None = None,
    part_bytes: int | None = None,
    limits: Limits | None = None,
) -> AnnotateReport:
    """Annotate sources into a corpus file; `restart` forgets an unfinished run and replaces a finished one."""
    began = time.perf_counter()
    runner = choose_runner(processes)
    _check_files(sources, str(out), options)
    options.check()
    task = _Annotation(list(sources), options, on_error, catalog_on_error, limits or Limits.from_environment())
    if str(out) == "-":
        report = task.write_to_standard_output()
    else:
        work = Path(out).with_name(Path(out).name + ".unfinished")
        with storage_errors(work), hold_folder(work, Path(out)):
            key = task.describe(part_bytes or PART_BYTES)
            _enter(work, Path(out), key, restart)
            report = task.write_to_file(Path(out), work, key, runner, progress or Silent())
    report.seconds = time.perf_counter() - began
    return report


def _check_files(sources: Sequence[str], out: str, options: Options) -> None:
    """Refuse at once what cannot be read or must not be written."""
    if not sources:
        raise UsageError("nothing to annotate; give at least one file")
    if not options.entities:
        raise UsageError("no catalog is given; pass --entities FILE")
    every = [*sources, *options.files()]
    for source in every:
        check_readable(source)
    if every.count("-") > 1:
        raise UsageError("standard input can be read only once; give files for all but one")
    if len(set(sources)) < len(sources):
        raise UsageError("a source is given twice; give each once")
    if out != "-" and os.path.isdir(out):
        raise UsageError(f"{out}: is a folder; give the file to write")
    for parent in Path(out).parents:
        if parent.exists() and not parent.is_dir():
            raise UsageError(f"{out}: {parent} is a file, not a folder; choose another output")
    for source in every:
        if "-" not in (source, out) and os.path.exists(out) and os.path.samefile(source, out):
            raise UsageError(f"{out}: is also read; choose another output")


@dataclass(frozen=True)
class _Annotation:
    """What is to be annotated, and how; everything but where it goes."""

    sources: list[str]
    options: Options
    on_error: str
    catalog_on_error: str
    limits: Limits

    def describe(self, part_bytes: int) -> Key:
        """What two runs must share for one to go on with the other's work."""
        return {
            "version": __version__,
            "sources": self.sources,
            "options": asdict(self.options),
            "stamps": [journals.stamp_file(path) for path in (*self.sources, *self.options.files())],
            "on_error": [self.on_error, self.catalog_on_error],
            "limits": asdict(self.limits),
            "part_bytes": part_bytes,
        }

    def write_to_standard_output(self) -> AnnotateReport:
        """One process, nothing to resume."""
        report = AnnotateReport(faults=Faults(self.on_error))
        dictionary, made = self.options.dictionary(self.catalog_on_error, self.limits)
        report.set_dictionary(made)
        annotator = self.options.annotator(dictionary, self.limits)
        for piece in cut_pieces(self.sources, self.options.kind, self.limits):
            faults = Faults(self.on_error)
            done = convert(piece, annotator, faults, self.limits)
            if hasattr(sys.stdout, "buffer"):
                sys.stdout.buffer.write(done.lines)
            else:  # it does not take bytes
                sys.stdout.write(done.lines.decode())
            report.add(done.documents, done.mentions, faults)
        sys.stdout.flush()
        return report

    def write_to_file(
        self, out: Path, work: Path, key: Key, runner: Runner[TextPiece], progress: Progress
    ) -> AnnotateReport:
        """Go on in the work folder, or begin there."""
        journal = Journal(LocalFolder(work), key=journals.digest_key(key))
        report = AnnotateReport(faults=Faults(self.on_error))
        report.set_dictionary(self._make_dictionary(work, journal))
        every = cut_pieces(self.sources, self.options.kind, self.limits)
        worker = partial(_Worker, self.options, str(work / DICTIONARY), self.on_error, self.limits)
        sizes = {source: file_size(source) for source in self.sources}
        job = Job(key, every, worker, lambda own: _Output(own, out, key["part_bytes"], report, sizes, progress))
        run_job(job, journal, runner)
        os.replace(work / CORPUS, out)
        sync_folder(out.parent)
        shutil.rmtree(work)
        return report

    def _make_dictionary(self, work: Path, journal: Journal) -> Made:
        """Make the dictionary's files, unless an earlier run has."""
        if journal.find(DICTIONARY) is None:
            try:
                dictionary, made = self.options.dictionary(self.catalog_on_error, self.limits)
            except FaderError:
                shutil.rmtree(work)  # nothing is done yet, and the input will be corrected
                raise
            dictionary.save(work / DICTIONARY)
            journal.keep(DICTIONARY, to_json(made))
        kept: Made = from_json(journal.get(DICTIONARY), Made)
        return kept


def _enter(work: Path, out: Path, key: Key, restart: bool) -> None:
    """Make the work folder ready: empty, or what a run with the same key left once its dictionary was whole.

    Only a restart replaces an output that exists.
    """
    folder = LocalFolder(work)
    before = None if restart else journals.read_key(folder)
    if before == {} or (before is not None and Journal(folder).find(DICTIONARY) is not None):
        if changed := journals.list_changes(before, key, CHANGED):
            here = f"{out}: an unfinished run with other {changed[0]} is in {work}"
            raise InputError(f"{here}; --restart forgets it, or choose another output")
        return
    if out.exists() and not restart:
        shutil.rmtree(work)
        raise InputError(f"{out}: is there already; --restart replaces it, or choose another output")
    empty_folder(work)
    journals.write_key(folder, key)


class _Annotated(msgspec.Struct, frozen=True):
    """A piece, done."""

    converted: Converted
    faults: Faults


class _Worker:
    """Annotates pieces in one process."""

    def __init__(self, options: Options, dictionary: str, on_error: str, limits: Limits) -> None:
        self._annotator = options.annotator(Dictionary.load(Path(dictionary)), limits)
        self._on_error, self._limits = on_error, limits

    def __call__(self, piece: TextPiece) -> _Annotated:
        faults = Faults(self._on_error)
        return _Annotated(convert(piece, self._annotator, faults, self._limits), faults)


class _Mark(msgspec.Struct):
    """What the journal holds of a part: pieces up to its end, and what it adds."""

    pieces: int = 0
    documents: int = 0
    mentions: int = 0
    faults: Faults = msgspec.field(default_factory=Faults)


class _Output:
    """The join: the corpus as it grows, part by part."""

    def __init__(
        self, journal: Journal, out: Path, part_bytes: int, report: AnnotateReport, sizes: _Sizes, progress: Progress
    ) -> None:
        work = out.with_name(out.name + ".unfinished")
        self._growing = GrowingFiles(journal, work, [CORPUS])
        self._name, self._part_bytes, self._report = out.name, part_bytes, report
        self._total, self._progress = sum(sizes.values()) or None, progress
        self._before = dict(zip(sizes, accumulate(sizes.values(), initial=0), strict=False))  # bytes before a source
        self._held, self._size, self._mark = list[bytes](), 0, _Mark()
        for data in self._growing.restore():
            mark: _Mark = from_json(data, _Mark)
            report.add(mark.documents, mark.mentions, mark.faults)
            report.resumed = self._mark.pieces = mark.pieces

    def choose_left(self, items: Iterable[TextPiece]) -> Iterator[TextPiece]:
        """The pieces that are in no whole part."""
        return islice(items, self._mark.pieces, None)

    def take(self, item: TextPiece, result: _Annotated) -> None:
        """Add the next piece; a part ends where it has grown large enough."""
        converted, mark = result.converted, self._mark
        self._report.add(converted.documents, converted.mentions, result.faults)
        self._held.append(converted.lines)
        self._size += len(converted.lines)
        mark.pieces += 1
        mark.documents += converted.documents
        mark.mentions += converted.mentions
        mark.faults.merge(result.faults)
        if self._size >= self._part_bytes:
            self.end_part()
        reached = self._before[item.source] + item.consumed
        self._progress.update(reached, self._total, f"{self._report.mentions:,} mentions")

    def end_part(self) -> None:
        """Make what is held durable."""
        data = b"".join(self._held)  # written as a frame of its own where the name says so
        if data and self._name.endswith(".zst"):
            data = zstandard.ZstdCompressor(level=3).compress(data)
        elif data and self._name.endswith(".gz"):
            data = gzip.compress(data, 6, mtime=0)
        self._growing.end_part({CORPUS: data}, to_json(self._mark))
        self._held, self._size, self._mark = [], 0, _Mark(self._mark.pieces)

    def finish(self) -> None:
        """Make the last part durable."""
        self.end_part()
