"""Annotate files: texts to corpus.jsonl in several processes, in constant memory, resumable.

The parent cuts the input into pieces and writes; workers annotate, sharing the dictionary by mapping its files. Results
are taken in the order of pieces. Beside OUT, the folder OUT.unfinished holds

    job.json       sources and catalog with sizes and times, options: what makes two runs the same
    dictionary/    the names (see dictionary.py)
    made.json      what it was made of, written when the dictionary is whole
    corpus         what is done; a part of about 32 MB at a time, a frame of its own where OUT is compressed
    reached.json   pieces, bytes, counts and faults of the whole parts, replaced after a part is synced

A run with the same sources and options goes on after the last whole part, however it ended, and gives the same bytes;
with others it is refused. At the end `corpus` is renamed to OUT. Knows nothing of names and rules.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from fader.corpora.annotate.annotator import Made
from fader.corpora.annotate.dictionary import Dictionary
from fader.corpora.annotate.options import Options
from fader.corpora.annotate.texts import Converted, Piece, convert, pieces
from fader.corpus.documents import EXAMPLES_KEPT, Faults
from fader.corpus.readers import check_readable, file_size
from fader.errors import FaderError, InputError, UsageError
from fader.jobs.resumable import LOCK, in_order, locked, stamp, storage_errors, sync, sync_folder, write_whole
from fader.limits import Limits
from fader.progress import Progress, Silent
from fader.version import __version__

PART_BYTES = 1 << 25
JOB, MADE, REACHED = "job.json", "made.json", "reached.json"


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

    def made(self, made: Made) -> None:
        """Take in what the dictionary was made of."""
        self.entities, self.names, self.notes = made.entities, made.names, made.notes

    def add(self, converted: Converted, faults: Faults) -> None:
        """Count a piece with the others."""
        self.documents += converted.documents
        self.mentions += converted.mentions
        for kind, count in faults.counts.items():
            self.faults.counts[kind] = self.faults.counts.get(kind, 0) + count
            kept = self.faults.examples.setdefault(kind, [])
            kept += faults.examples[kind][: EXAMPLES_KEPT - len(kept)]


def annotate_files(
    sources: Sequence[str], out: str | Path, options: Options, processes: int = 1, restart: bool = False,
    on_error: str = "skip", catalog_on_error: str = "fail", progress: Progress | None = None,
    part_bytes: int | None = None, limits: Limits | None = None,
) -> AnnotateReport:  # fmt: skip
    """Annotate sources into a corpus file; `restart` forgets an unfinished run and replaces a finished one."""
    began = time.perf_counter()
    if processes < 1:
        raise UsageError(f"processes must be 1 or more, not {processes}")
    _check_files(sources, str(out), options)
    options.check()
    job = _Job(list(sources), options, on_error, catalog_on_error, limits or Limits.from_environment())
    if str(out) == "-":
        report = job.to_standard_output()
    else:
        work = Path(out).with_name(Path(out).name + ".unfinished")
        with storage_errors(work), locked(work, Path(out)):
            report = job.to_file(Path(out), work, processes, restart, part_bytes or PART_BYTES, progress or Silent())
    report.seconds = time.perf_counter() - began
    return report


def _check_files(sources: Sequence[str], out: str, options: Options) -> None:
    """Refuse at once what cannot be read or must not be written."""
    if not sources:
        raise UsageError("nothing to annotate; give at least one file")
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


@dataclass
class _Job:
    """Everything but where it goes."""

    sources: list[str]
    options: Options
    on_error: str
    catalog_on_error: str
    limits: Limits

    def to_standard_output(self) -> AnnotateReport:
        """One process, nothing to resume."""
        report = AnnotateReport(faults=Faults(self.on_error))
        dictionary, made = self.options.dictionary(self.catalog_on_error, self.limits)
        report.made(made)
        annotator = self.options.annotator(dictionary, self.limits)
        for piece in pieces(self.sources, self.options.kind, self.limits):
            faults = Faults(self.on_error)
            done = convert(piece, annotator, faults, self.limits)
            _print(done.lines)
            report.add(done, faults)
        sys.stdout.flush()
        return report

    def to_file(
        self, out: Path, work: Path, processes: int, restart: bool, part_bytes: int, progress: Progress
    ) -> AnnotateReport:
        """Go on in the work folder, or begin there."""
        _enter(work, out, {"version": __version__, **self._identity(), "part_bytes": part_bytes}, restart)
        report = AnnotateReport(faults=Faults(self.on_error))
        report.made(self._made(work))
        with open(work / "corpus", "ab") as file:
            output = _Output(work, file, out.name, part_bytes)
            report.resumed = output.take_back(report)
            self._go_on(output, report, processes, progress)
        os.replace(work / "corpus", out)
        sync_folder(out.parent)
        shutil.rmtree(work)
        return report

    def _identity(self) -> dict[str, Any]:
        """What two runs must share for one to go on with the other's work."""
        return {
            "sources": self.sources, "options": asdict(self.options),
            "stamps": [stamp(path) for path in (*self.sources, *self.options.files())],
            "on_error": [self.on_error, self.catalog_on_error], "limits": asdict(self.limits),
        }  # fmt: skip

    def _made(self, work: Path) -> Made:
        """Make the dictionary's files, unless an earlier run has."""
        kept = work / MADE
        if not kept.exists():
            try:
                dictionary, made = self.options.dictionary(self.catalog_on_error, self.limits)
            except FaderError:
                shutil.rmtree(work)  # nothing is done yet, and it will be mended
                raise
            dictionary.save(work / "dictionary")
            _write(kept, asdict(made))
        return Made(**json.loads(kept.read_bytes()))

    def _go_on(self, output: _Output, report: AnnotateReport, processes: int, progress: Progress) -> None:
        before, total = {}, 0
        for source in self.sources:
            before[source] = total
            total += file_size(source)
        rest = islice(pieces(self.sources, self.options.kind, self.limits), output.pieces, None)
        make = partial(_Worker, self.options, str(output.work / "dictionary"), self.on_error, self.limits)
        for (source, consumed), (converted, faults) in in_order(rest, make, _place, processes):
            report.add(converted, faults)
            output.put(converted.lines, report)
            progress.update(before[source] + consumed, total or None, f"{report.mentions:,} mentions")
        output.end_part(report)


def _enter(work: Path, out: Path, job: dict[str, Any], restart: bool) -> None:
    """Make the work folder ready: empty, or what a run of the same job left once its dictionary was whole.

    Only a restart replaces an output that is there.
    """
    job, kept = json.loads(json.dumps(job)), work / JOB
    if kept.exists() and (work / MADE).exists() and not restart:
        before = json.loads(kept.read_bytes())
        changed = [key for key, value in job.items() if before.get(key) != value]
        if changed:
            what = {"stamps": "contents of the files", "version": "versions of Fader"}.get(changed[0], changed[0])
            here = f"{out}: an unfinished run with other {what} is in {work}"
            raise InputError(f"{here}; --restart forgets it, or choose another output")
        return
    if out.exists() and not restart:
        shutil.rmtree(work)
        raise InputError(f"{out}: is there already; --restart replaces it, or choose another output")
    for path in work.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()
    _write(kept, job)


def _write(path: Path, value: Any) -> None:
    """A file of JSON, whole or as before."""
    write_whole(path, json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace"))


def _place(piece: Piece) -> tuple[str, int]:
    return piece.source, piece.consumed


class _Worker:
    """Annotates pieces in one process."""

    def __init__(self, options: Options, dictionary: str, on_error: str, limits: Limits) -> None:
        self._annotator = options.annotator(Dictionary.load(Path(dictionary)), limits)
        self._on_error, self._limits = on_error, limits

    def __call__(self, piece: Piece) -> tuple[Converted, Faults]:
        faults = Faults(self._on_error)
        return convert(piece, self._annotator, faults, self._limits), faults


class _Output:
    """The corpus as it grows, part by part."""

    def __init__(self, work: Path, file: BinaryIO, name: str, part_bytes: int) -> None:
        self.work, self.pieces = work, 0
        self._file, self._name, self._part_bytes = file, name, part_bytes
        self._held, self._size = list[bytes](), 0

    def take_back(self, report: AnnotateReport) -> int:
        """Go back to the last whole part; returns how many pieces are done."""
        kept = self.work / REACHED
        reached: dict[str, Any] = json.loads(kept.read_bytes()) if kept.exists() else {"pieces": 0, "bytes": 0}
        self._file.truncate(reached["bytes"])
        self._file.seek(reached["bytes"])
        if kept.exists():
            report.documents, report.mentions = reached["documents"], reached["mentions"]
            report.faults.counts, report.faults.examples = reached["counts"], reached["examples"]
        self.pieces = int(reached["pieces"])
        return self.pieces

    def put(self, lines: bytes, report: AnnotateReport) -> None:
        """The next piece; the report counts it already."""
        self._held.append(lines)
        self._size += len(lines)
        self.pieces += 1
        if self._size >= self._part_bytes:
            self.end_part(report)

    def end_part(self, report: AnnotateReport) -> None:
        """Write what is held, then say so."""
        self._file.write(_packed(b"".join(self._held), self._name))
        sync(self._file)
        self._held, self._size = [], 0
        faults = {"counts": report.faults.counts, "examples": report.faults.examples}
        counts = {"documents": report.documents, "mentions": report.mentions}
        reached = {"pieces": self.pieces, "bytes": self._file.tell(), **counts, **faults}
        _write(self.work / REACHED, reached)


def _packed(data: bytes, name: str) -> bytes:
    """The bytes as they are written: a frame of their own where the name says so."""
    if not data:
        return b""
    if name.endswith(".zst"):
        import zstandard

        return zstandard.ZstdCompressor(level=3).compress(data)
    return gzip.compress(data, 6, mtime=0) if name.endswith(".gz") else data


def _print(lines: bytes) -> None:
    """Lines to standard output, as UTF-8 where it takes bytes."""
    if hasattr(sys.stdout, "buffer"):
        sys.stdout.buffer.write(lines)
    else:
        sys.stdout.write(lines.decode())
