"""Run an importer: sources to the four files of a corpus, in several processes, resumable.

An import is a job (`fader.jobs`): the parent cuts the sources into batches, workers convert, and the store appends the
results, in order, to files that grow part by part. OUT/.unfinished/ is the work folder. A run with the same sources and
options goes on where the last one ended, however it ended, and gives the same bytes; with others it is refused.

    job.json           the key: sources with sizes and times, options
    state.part         the result of the importer's first pass, and its faults; state/ has its tables
    000001.part ...    the parts (`store`)
    done/              the joined files; its import.json, the report, is written last, then all moves up

Knows nothing of formats.
"""

from __future__ import annotations

import dataclasses
import gc
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from fader import registry
from fader.corpora.frame.archives import archive_kind
from fader.corpora.frame.base import Batch, Importer
from fader.corpora.frame.faults import FaultRow, from_rows, to_rows
from fader.corpora.frame.inputs import expand_folders
from fader.corpora.frame.joining import write_catalog, write_judged
from fader.corpora.frame.records import EncodedRecords, encode
from fader.corpora.frame.store import PART_BYTES, Store
from fader.corpus.documents import Faults
from fader.corpus.readers import check_readable, display_name
from fader.errors import FaderError, InputError, UsageError, did_you_mean, quote
from fader.jobs import journal as journals
from fader.jobs.files import sync_folder, write_whole
from fader.jobs.job import Job, run_job
from fader.jobs.journal import Journal, Key, from_json, to_json
from fader.jobs.runners import choose_runner
from fader.jobs.storage import LocalFolder, empty_folder, hold_folder, storage_errors
from fader.progress import Progress, Silent
from fader.version import __version__

UNFINISHED = ".unfinished"
REPORT, DONE = "import.json", "done"
STATE = "state"  # the entry with the result of the first pass, and the folder of its tables
RESUMED, MOVED = "resumed", "moved"  # files of the work folder: batches of earlier runs; all but the report is in place
RESULTS = ("corpus.jsonl", "corpus.jsonl.zst", "entities.tsv", "types.tsv", "queries.jsonl", "qrels.txt")
CHANGED = {"stamps": "contents of the sources", "version": "versions of Fader"}


@dataclass(slots=True)
class ImportReport:
    """What an import found: import.json as an object."""

    format: str
    folder: Path
    files: list[str]
    counts: dict[str, int]
    faults: Faults
    notes: list[str]
    seconds: float = 0.0
    resumed: int = 0  # batches that an earlier run had converted

    def lines(self) -> list[str]:
        """For people."""
        return [*self.notes, *self.faults.lines()]


class SourceRow(msgspec.Struct, frozen=True):
    """A source, as import.json has it."""

    name: str
    bytes: int | None


class ImportReportFile(msgspec.Struct, frozen=True):
    """import.json."""

    fader: str
    format: str
    title: str
    citation: str
    options: dict[str, Any]
    sources: list[SourceRow]
    files: list[str]
    counts: dict[str, int]
    cycle_edges: list[str] = msgspec.field(name="cycle edges removed")
    faults: dict[str, FaultRow]

    def to_report(self, folder: Path, resumed: int) -> ImportReport:
        """The same as an object, for people."""
        notes = []
        if self.cycle_edges:
            count = self.counts["cycle edges removed"]
            notes = [f"removed {count:,} edges of cycles among types", *(f"  {e}" for e in self.cycle_edges[:5])]
        return ImportReport(self.format, folder, self.files, self.counts, from_rows(self.faults), notes, 0.0, resumed)


def importer(name: str, **options: Any) -> Importer:
    """An importer by the name of its format; an option may be given as text."""
    part = registry.find_part("fader.corpora.formats", name)
    if part is None:
        known = registry.discover("fader.corpora.formats")
        hint = did_you_mean(name, known) or f"; known: {', '.join(known)}"
        raise UsageError(f"no importer for {quote(name)}{hint}")
    texts = {key: value for key, value in options.items() if isinstance(value, str)}
    made: Importer = registry.build(part, texts)
    others = {key: value for key, value in options.items() if key not in texts}
    for key in others:
        if key not in {field.name for field in dataclasses.fields(made)}:  # type: ignore[arg-type]
            raise UsageError(f"{name} has no option {quote(key)}; `fader import {name} --help` lists them")
    return dataclasses.replace(made, **others)  # type: ignore[type-var]


def import_corpus(
    format: str | Importer,
    sources: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    processes: int = 1,
    restart: bool = False,
    on_error: str = "skip",
    compress: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> ImportReport:
    """Import sources of a format into a folder: corpus.jsonl, entities.tsv, types.tsv, queries.jsonl, qrels.txt.

    A format is the name of an importer, with `options`, or an importer.
    """
    given = [sources] if isinstance(sources, str | Path) else list(sources)
    if options and not isinstance(format, str):
        raise UsageError(f"{next(iter(options))} is an option of the importer; give it when it is made")
    made = importer(format, **options) if isinstance(format, str) else format
    return run(made, [str(s) for s in given], Path(out), processes, restart, on_error, compress, progress)


def run(
    importer: Importer,
    sources: Sequence[str],
    out: Path,
    processes: int = 1,
    restart: bool = False,
    on_error: str = "skip",
    compress: bool = False,
    progress: Progress | None = None,
    part_bytes: int | None = None,
) -> ImportReport:
    """Run an importer; `restart` forgets an unfinished or finished import in `out`."""
    began = time.perf_counter()
    if processes > 1:
        registry.check_importable(type(importer))
    runner = choose_runner(processes)
    Faults(on_error)  # refuses an unknown policy
    files = _check_sources(importer, sources)
    key = _describe_job(importer, files, on_error, compress, part_bytes or PART_BYTES)
    work = out / UNFINISHED
    with storage_errors(out), hold_folder(work, out):
        _enter(out, work, key, restart)
        if not (work / DONE / REPORT).exists():
            shutil.rmtree(work / DONE, ignore_errors=True)
            faults = Faults(on_error)  # of the first pass and of cutting
            _prepare(importer, files, work, faults, progress or Silent())
            store = Store(work, on_error, compress, part_bytes or PART_BYTES)
            resumed = store.batches
            store.report = _report_progress(importer, files, progress or Silent())
            convert = partial(_Converter, importer, work, on_error)
            job = Job(key, importer.batches(files, faults), convert, lambda _journal: store)
            run_job(job, Journal(LocalFolder(work), key=journals.digest_key(key)), runner)
            _complete(importer, store, faults, key, resumed)
        report = _move(out, work)
    report.seconds = time.perf_counter() - began
    return report


def _check_sources(importer: Importer, sources: Sequence[str]) -> list[str]:
    """The sources as files, each readable."""
    if not sources:
        raise UsageError("nothing to import; give at least one source")
    if not importer.files:
        return list(sources)
    files = expand_folders(sources)
    for file in files:
        check_readable(file)
        if file == "-" and importer.passes > 1:
            raise UsageError(f"{importer.name} reads its source {importer.passes} times; give a file, not -")
        if not importer.archives and (kind := archive_kind(file)):
            raise InputError(f"{file}: is a {kind} archive; unpack it and give the files or their folder")
    if len(set(files)) < len(files):
        raise UsageError("a source is given twice; give each once")
    return files


def _describe_job(importer: Importer, files: list[str], on_error: str, compress: bool, part_bytes: int) -> Key:
    """What two runs must share for one to go on with the other's work."""
    options = {field.name: getattr(importer, field.name) for field in dataclasses.fields(importer)}  # type: ignore[arg-type]
    named = [f for f in dataclasses.fields(importer) if f.metadata.get("path") and options[f.name]]  # type: ignore[arg-type]
    for field in named:
        check_readable(options[field.name])
    paths = [*(files if importer.files else []), *(options[f.name] for f in named)]
    return {
        "version": __version__,
        "format": importer.name,
        "options": {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()},
        "sources": files,
        "stamps": [journals.stamp_file(path) for path in paths],
        "on_error": on_error,
        "compress": compress,
        "part_bytes": part_bytes,
    }


def _enter(out: Path, work: Path, key: Key, restart: bool) -> None:
    """Make the work folder ready: empty, or what a run with the same key left."""
    remedy = "--restart replaces it; or choose another folder"
    over = (work / MOVED).exists() and not (work / DONE / REPORT).exists()  # it was killed in its very last step
    begun = any(work.glob("0*.part")) or ((work / STATE).is_dir() and any((work / STATE).iterdir()))
    before = None if restart or over or not begun else journals.read_key(LocalFolder(work))
    if before is not None:
        changed = journals.list_changes(before, key, CHANGED)
        if "on_error" in changed and before["on_error"] == "fail":
            changed.remove("on_error")  # there was no fault so far
        if changed:
            raise InputError(f"{out}: an unfinished import with other {changed[0]} is here; {remedy}")
        journals.write_key(LocalFolder(work), key)
        return
    taken = [name for name in (REPORT, *RESULTS) if (out / name).exists()]
    if taken == [REPORT] and not json.loads((out / REPORT).read_bytes())["files"]:
        taken = []  # it had found nothing
    if taken and not restart:
        shutil.rmtree(work)
        what = "a finished import is here" if REPORT in taken else f"{taken[0]} is here already"
        raise InputError(f"{out}: {what}; {remedy}")
    empty_folder(work)
    journals.write_key(LocalFolder(work), key)


class _Prepared(msgspec.Struct):
    """The result of the first pass; the state is decoded by the importer's own type."""

    state: Any
    faults: Faults


def _prepare(importer: Importer, files: list[str], work: Path, faults: Faults, progress: Progress) -> None:
    """Make the importer's first pass, unless an earlier run has done it."""
    journal = Journal(LocalFolder(work))
    if journal.find(STATE) is None:
        shutil.rmtree(work / STATE, ignore_errors=True)
        (work / STATE).mkdir()
        found = Faults(faults.policy)
        state = importer.prepare(files, work / STATE, found, progress)
        journal.keep(STATE, to_json(_Prepared(state, found)))
    prepared: _Prepared = from_json(journal.get(STATE), _Prepared)
    faults.merge(prepared.faults)


def _open_state(importer: Importer, work: Path) -> Any:
    """What `convert` and `finish` get for the result of the first pass."""
    prepared: _Prepared = from_json(Journal(LocalFolder(work)).get(STATE), _Prepared)
    return importer.open_state(msgspec.convert(prepared.state, importer.state_type, str_keys=True), work / STATE)


def _report_progress(importer: Importer, files: list[str], progress: Progress) -> Callable[[Batch, int], None]:
    """What is called with each batch and the number of documents so far."""
    before, total = dict[str, int](), 0
    for file in files:
        before[display_name(file)] = total
        total += os.path.getsize(file) if importer.files and file != "-" else 0

    def report(batch: Batch, documents: int) -> None:
        progress.update(before.get(batch.source, 0) + batch.consumed, total or None, f"{documents:,} documents")

    return report


class _Converter:
    """Converts batches in one process."""

    def __init__(self, importer: Importer, work: Path, policy: str) -> None:
        self._importer, self._policy = importer, policy
        self._state = _open_state(importer, work)

    def __call__(self, batch: Batch) -> EncodedRecords:
        faults = Faults(self._policy)
        collecting = gc.isenabled()
        gc.disable()  # a batch makes many objects and no cycles; looking for cycles takes a third of the time
        try:
            return encode(self._importer.convert(batch, self._state, faults), batch.source, faults)
        except FaderError:
            raise
        except Exception as error:
            where = f"{batch.source}: the piece at {batch.place:,}"
            raise InputError(f"{where} cannot be converted: {type(error).__name__}: {error}") from error
        finally:
            if collecting:
                gc.enable()


def _complete(importer: Importer, store: Store, faults: Faults, key: Key, resumed: int) -> None:
    """Join what the parts hold; done/import.json says that all is there."""
    done = store.folder / DONE
    done.mkdir()
    state = _open_state(importer, store.folder)
    importer.finish(state, store)
    store.end()
    catalog = write_catalog(store, done, lambda name, surface: importer.unknown(name, surface, state))
    judged = write_judged(store, done)
    faults.merge(store.faults)
    edges = catalog.pop("cycle edges")
    named = {"documents": 0, "mentions": 0, **store.counts, **catalog, **judged}
    counts = {name: count for name, count in named.items() if count or name in ("documents", "mentions")}
    with_content = [path.name for path in done.iterdir()]
    if counts["documents"]:
        with_content.append(store.files["corpus"].name)
    stamps = key["stamps"] or [[None]] * len(key["sources"])
    report = ImportReportFile(
        fader=__version__,
        format=importer.name,
        title=importer.title,
        citation=importer.citation,
        options=key["options"],
        sources=[SourceRow(n, s[0] if n != "-" else None) for n, s in zip(key["sources"], stamps, strict=False)],
        files=sorted(with_content),
        counts=counts,
        cycle_edges=edges,
        faults=to_rows(faults),
    )
    write_whole(store.folder / RESUMED, str(resumed).encode())
    sync_folder(done)
    text = json.dumps(msgspec.to_builtins(report), ensure_ascii=False, indent=1)
    write_whole(done / REPORT, f"{text}\n".encode())


def _move(out: Path, work: Path) -> ImportReport:
    """Put the joined files in place of older ones, the report last."""
    report = msgspec.json.decode((work / DONE / REPORT).read_bytes(), type=ImportReportFile)
    for name in RESULTS:
        made = (work if name.startswith("corpus") else work / DONE) / name
        with suppress(FileNotFoundError):
            if name in report.files:
                os.replace(made, out / name)  # not found: it was moved before
            else:
                (out / name).unlink()
    sync_folder(out)
    resumed = int((work / RESUMED).read_bytes())
    write_whole(work / MOVED, b"")
    os.replace(work / DONE / REPORT, out / REPORT)
    sync_folder(out)
    shutil.rmtree(work)
    return report.to_report(out, resumed)
