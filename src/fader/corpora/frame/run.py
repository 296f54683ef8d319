"""Run an importer: sources to the four files of a corpus, in several processes, resumable.

The parent cuts the sources into batches and writes; workers convert. Results are taken in the order of batches, and
only a few batches are under way at a time. OUT/.unfinished/ holds what is done (`store`). A run with the same sources
and options goes on where the last one ended, however it ended, and gives the same bytes; with others it is refused.

    job.json           sources with sizes and times, options: what makes two runs the same
    state.pickle       the result of the importer's first pass
    done/              the joined files; its import.json, the report, is written last, then all moves up

Knows nothing of formats.
"""

from __future__ import annotations

import dataclasses
import gc
import json
import os
import pickle
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from fader import registry
from fader.corpora.frame.archives import archive_kind
from fader.corpora.frame.base import Batch, Importer
from fader.corpora.frame.faults import as_dict, join
from fader.corpora.frame.inputs import expanded
from fader.corpora.frame.joining import write_catalog, write_judged
from fader.corpora.frame.records import Encoded, encode
from fader.corpora.frame.store import PART_BYTES, Store
from fader.corpus.documents import Faults
from fader.corpus.readers import check_readable, display_name
from fader.errors import FaderError, InputError, UsageError, did_you_mean, quoted
from fader.jobs.resumable import LOCK, in_order, locked, stamp, storage_errors, sync_folder, write_whole
from fader.progress import Progress, Silent
from fader.version import __version__

UNFINISHED = ".unfinished"
REPORT = "import.json"
JOB, STATE = "job.json", "state.pickle"
RESUMED, MOVED = "resumed", "moved"  # files of the work folder: batches of earlier runs; all but the report is in place
RESULTS = ("corpus.jsonl", "corpus.jsonl.zst", "entities.tsv", "types.tsv", "queries.jsonl", "qrels.txt")


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


def importer(name: str, **options: Any) -> Importer:
    """An importer by the name of its format; an option may be given as text."""
    known = registry.discover("fader.corpora.formats")
    if name not in known:
        hint = did_you_mean(name, known) or f"; known: {', '.join(known)}"
        raise UsageError(f"no importer for {quoted(name)}{hint}")
    texts = {key: value for key, value in options.items() if isinstance(value, str)}
    made: Importer = registry.build(known[name], texts)
    others = {key: value for key, value in options.items() if key not in texts}
    for key in others:
        if key not in {field.name for field in dataclasses.fields(made)}:  # type: ignore[arg-type]
            raise UsageError(f"{name} has no option {quoted(key)}; `fader import {name} --help` lists them")
    return dataclasses.replace(made, **others)  # type: ignore[type-var]


def import_corpus(
    format: str, sources: str | Path | Sequence[str | Path], out: str | Path, *, processes: int = 1,
    restart: bool = False, on_error: str = "skip", compress: bool = False, progress: Progress | None = None,
    **options: Any,
) -> ImportReport:  # fmt: skip
    """Import sources of a format into a folder: corpus.jsonl, entities.tsv, types.tsv, queries.jsonl, qrels.txt."""
    given = [sources] if isinstance(sources, str | Path) else list(sources)
    made = importer(format, **options)
    return run(made, [str(s) for s in given], Path(out), processes, restart, on_error, compress, progress)


def run(
    importer: Importer, sources: Sequence[str], out: Path, processes: int = 1, restart: bool = False,
    on_error: str = "skip", compress: bool = False, progress: Progress | None = None, part_bytes: int | None = None,
) -> ImportReport:  # fmt: skip
    """Run an importer; `restart` forgets an unfinished or finished import in `out`."""
    part_bytes = part_bytes or PART_BYTES
    began = time.perf_counter()
    if processes < 1:
        raise UsageError(f"processes must be 1 or more, not {processes}")
    Faults(on_error)  # refuses an unknown policy
    files = _checked(importer, sources)
    job = _job(importer, files, on_error, compress, part_bytes)
    work = out / UNFINISHED
    with storage_errors(out), locked(work, out):
        _enter(out, work, job, restart)
        if not (work / "done" / REPORT).exists():
            shutil.rmtree(work / "done", ignore_errors=True)
            store = Store(work, on_error, compress, part_bytes)
            resumed = store.batches
            cutter = _convert_all(importer, files, store, processes, progress or Silent())
            _complete(importer, store, cutter, job, resumed)
        report = _move(out, work)
    report.seconds = time.perf_counter() - began
    return report


def _checked(importer: Importer, sources: Sequence[str]) -> list[str]:
    """The sources as files, each readable."""
    if not sources:
        raise UsageError("nothing to import; give at least one source")
    if not importer.files:
        return list(sources)
    files = expanded(sources)
    for file in files:
        check_readable(file)
        if file == "-" and importer.passes > 1:
            raise UsageError(f"{importer.name} reads its source {importer.passes} times; give a file, not -")
        if not importer.archives and (kind := archive_kind(file)):
            raise InputError(f"{file}: is a {kind} archive; unpack it and give the files or their folder")
    if len(set(files)) < len(files):
        raise UsageError("a source is given twice; give each once")
    return files


def _job(importer: Importer, files: list[str], on_error: str, compress: bool, part_bytes: int) -> dict[str, Any]:
    """What two runs must share for one to go on with the other's work."""
    options = {field.name: getattr(importer, field.name) for field in dataclasses.fields(importer)}  # type: ignore[arg-type]
    named = [f for f in dataclasses.fields(importer) if f.metadata.get("path") and options[f.name]]  # type: ignore[arg-type]
    for field in named:
        check_readable(options[field.name])
    paths = [*(files if importer.files else []), *(options[f.name] for f in named)]
    job = {
        "version": __version__,
        "format": importer.name,
        "options": {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()},
        "sources": files,
        "stamps": [stamp(path) for path in paths],
        "on_error": on_error,
        "compress": compress,
        "part_bytes": part_bytes,
    }
    return dict(json.loads(json.dumps(job)))


def _enter(out: Path, work: Path, job: dict[str, Any], restart: bool) -> None:
    """Make the work folder ready: empty, or what a run of the same job left."""
    remedy = "--restart replaces it; or choose another folder"
    over = (work / MOVED).exists() and not (work / "done" / REPORT).exists()  # it was killed in its very last step
    if _begun(work) and not restart and not over:
        before = json.loads((work / JOB).read_bytes())
        changed = [key for key, value in job.items() if before.get(key) != value]
        if before["on_error"] == "fail" and "on_error" in changed:
            changed.remove("on_error")  # there was no fault so far
        if changed:
            what = {"stamps": "contents of the sources", "version": "versions of Fader"}.get(changed[0], changed[0])
            raise InputError(f"{out}: an unfinished import with other {what} is here; {remedy}")
        _note(work, job)
        return
    taken = [name for name in (REPORT, *RESULTS) if (out / name).exists()]
    if taken == [REPORT] and not json.loads((out / REPORT).read_bytes())["files"]:
        taken = []  # it had found nothing
    if taken and not restart:
        shutil.rmtree(work)
        what = "a finished import is here" if REPORT in taken else f"{taken[0]} is here already"
        raise InputError(f"{out}: {what}; {remedy}")
    for path in work.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()
    _note(work, job)


def _begun(work: Path) -> bool:
    """Whether an earlier run has left work that is worth to be kept."""
    kept = any(work.glob("*.part")) or ((work / STATE).exists() and any((work / "state").iterdir()))
    return kept and (work / JOB).exists()


def _note(work: Path, job: dict[str, Any]) -> None:
    write_whole(work / JOB, json.dumps(job, ensure_ascii=False, indent=1).encode())


def _convert_all(importer: Importer, files: list[str], store: Store, processes: int, progress: Progress) -> Faults:
    """Convert every batch that is not in the store yet; returns the faults of preparing and cutting."""
    faults = Faults(store.faults.policy)
    _prepare(importer, files, store.folder, faults, progress)
    before, total = _sizes(importer, files)
    batches = islice(importer.batches(files, faults), store.batches, None)
    done = 0
    make = partial(_Converter, importer, store.folder, store.faults.policy)
    for batch, encoded in in_order(batches, make, _without_payload, processes):
        store.put(encoded)
        done += len(encoded.documents)
        progress.update(before.get(batch.source, 0) + batch.consumed, total or None, f"{done:,} documents")
    store.end_part()
    return faults


def _without_payload(batch: Batch) -> Batch:
    return batch._replace(payload=None)


def _prepare(importer: Importer, files: list[str], work: Path, faults: Faults, progress: Progress) -> None:
    """The importer's first pass, unless an earlier run has done it."""
    kept = work / STATE
    if not kept.exists():
        shutil.rmtree(work / "state", ignore_errors=True)
        (work / "state").mkdir()
        mine = Faults(faults.policy)
        state = importer.prepare(files, work / "state", mine, progress)
        write_whole(kept, pickle.dumps((state, as_dict(mine))))
    join(faults, pickle.loads(kept.read_bytes())[1])


def _opened(importer: Importer, work: Path) -> Any:
    return importer.opened(pickle.loads((work / STATE).read_bytes())[0], work / "state")


def _sizes(importer: Importer, files: list[str]) -> tuple[dict[str, int], int]:
    """Bytes before each source, and of all."""
    before, total = {}, 0
    for file in files:
        before[display_name(file)] = total
        total += os.path.getsize(file) if importer.files and file != "-" else 0
    return before, total


class _Converter:
    """Converts batches in one process."""

    def __init__(self, importer: Importer, work: Path, policy: str) -> None:
        self._importer, self._policy = importer, policy
        self._state = _opened(importer, work)

    def __call__(self, batch: Batch) -> Encoded:
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


def _complete(importer: Importer, store: Store, cutter: Faults, job: dict[str, Any], resumed: int) -> None:
    """Join what the parts hold; done/import.json says that all is there."""
    done = store.folder / "done"
    done.mkdir()
    state = _opened(importer, store.folder)
    importer.finish(state, store)
    store.end()
    catalog = write_catalog(store, done, lambda name, surface: importer.unknown(name, surface, state))
    judged = write_judged(store, done)
    join(cutter, as_dict(store.faults))
    edges = catalog.pop("cycle edges")
    named = {"documents": 0, "mentions": 0, **store.counts, **catalog, **judged}
    counts = {name: count for name, count in named.items() if count or name in ("documents", "mentions")}
    with_content = [path.name for path in done.iterdir()]
    if counts["documents"]:
        with_content.append(store.files["corpus"].name)
    report = {
        "fader": __version__,
        "format": importer.name,
        "title": importer.title,
        "citation": importer.citation,
        "options": job["options"],
        "sources": [
            {"name": name, "bytes": stamp[0] if name != "-" else None}
            for name, stamp in zip(job["sources"], job["stamps"] or [[None]] * len(job["sources"]), strict=False)
        ],
        "files": sorted(with_content),
        "counts": counts,
        "cycle edges removed": edges,
        "faults": as_dict(cutter),
    }
    write_whole(store.folder / RESUMED, str(resumed).encode())
    sync_folder(done)
    write_whole(done / REPORT, (json.dumps(report, ensure_ascii=False, indent=1) + "\n").encode())


def _move(out: Path, work: Path) -> ImportReport:
    """Put the joined files in place of older ones, the report last."""
    report = json.loads((work / "done" / REPORT).read_bytes())
    for name in RESULTS:
        made = (work if name.startswith("corpus") else work / "done") / name
        with suppress(FileNotFoundError):
            if name in report["files"]:
                os.replace(made, out / name)  # not found: it was moved before
            else:
                (out / name).unlink()
    sync_folder(out)
    resumed = int((work / RESUMED).read_bytes())
    write_whole(work / MOVED, b"")
    os.replace(work / "done" / REPORT, out / REPORT)
    sync_folder(out)
    shutil.rmtree(work)
    return _as_report(out, report, resumed)


def _as_report(out: Path, report: Mapping[str, Any], resumed: int) -> ImportReport:
    faults = Faults()
    join(faults, report["faults"])
    notes = []
    if report["cycle edges removed"]:
        count = report["counts"]["cycle edges removed"]
        notes = [
            f"removed {count:,} edges of cycles among types",
            *(f"  {e}" for e in report["cycle edges removed"][:5]),
        ]
    return ImportReport(report["format"], out, report["files"], report["counts"], faults, notes, resumed=resumed)
