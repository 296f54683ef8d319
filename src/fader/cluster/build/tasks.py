"""The tasks of a build, each a function of plain data that may be run anywhere, several times, and at the same time.

    sample   some ids of a piece with their weights
    split    the lines of a piece to buckets, one for each shard; lines that are no documents are counted
    catalog  entities and types to the file of the catalog
    build    a shard's buckets, in the order of the corpus, to its segments

Each writes under names of its own, syncs, renames, and leaves a mark last; done twice it leaves the same bytes. What is
wrong with the input is returned and not raised, so that it reaches the user in our words. Knows nothing of Ray.
"""

from __future__ import annotations

import functools
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import convert, to_builtins

from fader import __version__
from fader.cluster.build.buckets import BucketWriter, id_of, placed, unpacked
from fader.cluster.build.journal import FOLDER, Journal
from fader.cluster.build.pieces import Span, lines_of, place_of, windows_of
from fader.cluster.storage import (
    FAULTS,
    UnreadError,
    check_unchanged,
    is_plain,
    masked,
    named,
    opened,
    plain_path,
    reading,
    reason,
    storage_of,
)
from fader.corpus.analysis import Analysis
from fader.corpus.catalog import read_catalog
from fader.corpus.documents import Batch, DocumentReader, Faults
from fader.errors import FaderError, UsageError
from fader.index.catalog import StoredCatalog, StoredNumbers, write_catalog
from fader.index.format import FileEntry
from fader.index.write.builder import CatalogView
from fader.index.write.change import closure_of
from fader.index.write.ingest import Intake
from fader.jobs.files import sync_and_close
from fader.jobs.storage import COPY_BYTES
from fader.limits import Limits
from fader.memory import keep_freed_memory
from fader.progress import Silent

CATALOG = "catalog"
BATCH_LINES = 4096
Given = Mapping[str, Any]
Found = dict[str, Any]


def task(function: Callable[[Given], Found]) -> Callable[[Given], Found]:
    """A task whose errors are returned: `{"error": kind, "message": text, "again": whether to try once more}`."""

    @functools.wraps(function)
    def guarded(given: Given) -> Found:
        try:
            if given["fader"] != __version__:
                here = f"this node has Fader {__version__}, the command Fader {given['fader']}"
                return _error("ClusterError", f"{here}; install the same on all nodes", False)
            return function(given)
        except UsageError as error:  # the command could use what it was given: it is this node that cannot
            return _error("ClusterError", f"a node cannot do what the command can: {error}", False)
        except FaderError as error:
            return _error(type(error).__name__, str(error), False)
        except MemoryError:
            return _error("ClusterError", "a node has too little memory; pass less --memory", True)
        except FAULTS:
            raise  # of the program: told as such, with its trace
        except Exception as error:  # of a disk or of a storage, whose packages raise what they like: it may pass
            return _error("StorageError", f"{named(error, given['out'])}: {reason(error)}", True)

    return guarded


def _error(kind: str, message: str, again: bool) -> Found:
    return {"error": kind, "message": masked(message), "again": again}


def _journal(given: Given) -> Journal:
    return Journal(storage_of(given["out"], f"{FOLDER}/{given['key']}"), given["key"])


@task
def sample(given: Given) -> Found:
    """Ids of some lines of a piece, about one in every so many bytes, each with the bytes that it stands for."""
    kept: list[tuple[str, float]] = []
    limits = Limits(**given["limits"])
    for _number, span in given["spans"]:
        source = given["sources"][str(span[0])]
        windows, times = windows_of(span, source)
        for window in windows:
            kept += [
                (found, weight * times) for found, weight in _sampled(window, source, limits, given["every"] / times)
            ]
    return {"samples": kept}


def _sampled(span: Span, source: Given, limits: Limits, every: float) -> Iterator[tuple[str, float]]:
    passed, due = 0, 0.0
    for first, lines in lines_of(span, source, limits):
        for number, line in enumerate(lines, first):
            if passed >= due and (found := id_of(line, number)):
                yield found, max(every, float(len(line)))
                due = passed + every
            passed += len(line) + 1


@task
def split(given: Given) -> Found:
    """A piece to its buckets."""
    journal, limits = _journal(given), Limits(**given["limits"])
    faults, counts = Faults("skip"), dict[str, int]()
    reader = DocumentReader(faults, limits)
    name = f"{given['piece']:06d}"
    with journal.storage.workspace() as work:
        file = open(work / name, "wb")  # noqa: SIM115  closed by sync_and_close
        try:
            writer = BucketWriter(file, given["splitters"], given["run_bytes"])
            for number, span in given["spans"]:
                counts[str(number)] = _split(number, span, given, limits, reader, writer)
            writer.flush()
            size = file.tell()
            sync_and_close(file)
        finally:
            file.close()
        for source in given["sources"].values():
            check_unchanged(source)
        journal.storage.put({work / name: journal.name(f"map/{name}.buckets")})
    found = {
        "files": {f"{name}.buckets": size}, "runs": writer.runs, "lines": counts,
        "faults": {"counts": faults.counts, "examples": faults.examples},
    }  # fmt: skip
    journal.mark(f"map/{name}", found)
    return found


def _split(number: int, span: Span, given: Given, limits: Limits, reader: DocumentReader, writer: BucketWriter) -> int:
    """The lines of a span to their buckets; returns how many there were."""
    count = 0
    for first, lines in lines_of(span, given["sources"][str(span[0])], limits):
        count += len(lines)
        for n, line in enumerate(lines, first):
            found = id_of(line, n)
            if found is None:  # no document, most likely: then this counts it
                for document in reader.lines([(place_of(number, n), n, line)]):
                    found = document.id
            if found is not None:
                writer.add(found, number, n, line)
    return count


@task
def catalog(given: Given) -> Found:
    """The catalog's file."""
    journal = _journal(given)
    with _fetched(given["entities"]) as entities, _fetched(given["types"]) as types:
        shown = {entities: given["entities"]["shown"], types: given["types"]["shown"]}
        try:
            read = read_catalog(entities, types, given["on_error"], Limits(**given["limits"]))
        except FaderError as error:
            if isinstance(error.__cause__, OSError):  # the file could not be read, whatever it holds
                raise UnreadError(_unread(error, shown), error.__cause__) from error
            raise type(error)(_as_given(str(error), shown)) from None
    for name in ("entities", "types"):
        check_unchanged(given[name])
    with journal.storage.workspace() as work:
        described: dict[str, Any] = to_builtins(write_catalog(work / CATALOG, read))
        journal.storage.put({work / CATALOG: journal.name(CATALOG)})
    notes = [_as_given(note, shown) for note in read.notes]
    found = {"files": {CATALOG: described["bytes"]}, "described": described, "notes": notes}
    journal.mark(CATALOG, found)
    return found


def _unread(error: FaderError, shown: Mapping[str, str]) -> str:
    """The file that an error speaks of, by the name that the user has given to it."""
    return next((name for file, name in shown.items() if str(error).startswith(f"{file}: ")), "the catalog")


def _as_given(message: str, shown: Mapping[str, str]) -> str:
    """A message with the names that the user has given to files."""
    for file, name in shown.items():
        message = message.replace(file, name)
    return message


@contextmanager
def _fetched(source: Given) -> Iterator[str]:
    """A file of this machine with what a source holds."""
    path = source["path"]
    if is_plain(path):
        yield str(plain_path(path))
        return
    with tempfile.TemporaryDirectory(prefix="fader-") as folder:
        copy = Path(folder) / (path.rpartition("/")[2] or "file")
        with reading(path), opened(path) as file:
            _copy(file, copy)
        yield str(copy)


def _copy(file: BinaryIO, target: Path) -> None:
    with open(target, "wb") as copy:
        shutil.copyfileobj(file, copy, COPY_BYTES)


@task
def build(given: Given) -> Found:
    """A shard's segments. Places of documents are those of the buckets; the driver knows the lines they stand for."""
    keep_freed_memory()
    journal, limits = _journal(given), Limits(**given["limits"])
    faults = Faults("skip")
    name = f"{given['shard']:05d}"
    with journal.storage.workspace() as work:
        stored = _catalog(journal, given["catalog"], work)
        view = CatalogView(StoredNumbers(stored), closure_of(stored))
        made = work / "segments"
        made.mkdir()
        options = given["options"]
        intake = Intake(
            made, 0, view, Analysis.from_dict(options["analysis"]), faults, options["memory_mb"],
            options["segment_tokens"], 1, options["keep_text"], limits,
        )  # fmt: skip
        segments = intake.segments_of(_documents(given, journal, DocumentReader(faults, limits)), Silent())
        files, moves = dict[str, int](), dict[Path, str]()
        for place, segment in enumerate(segments):
            for part, entry in segment.files.items():
                own = f"{name}-{place}.{part}"
                files[own] = entry.bytes
                moves[made / f"{segment.name}.{part}"] = journal.name(f"reduce/{own}")
        journal.storage.put(moves)
    noted = {"counts": faults.counts, "examples": faults.examples}
    found = {"files": files, "segments": to_builtins(segments), "faults": noted}
    journal.mark(f"reduce/{name}", found)
    return found


def _catalog(journal: Journal, described: dict[str, Any], work: Path) -> StoredCatalog:
    """The catalog, mapped: of a plain folder the file itself."""
    path = journal.name(CATALOG)
    if is_plain(journal.storage.path):
        return StoredCatalog(plain_path(journal.storage.path) / path, convert(described, FileEntry))
    with journal.storage.open(path) as file:
        _copy(file, work / CATALOG)
    return StoredCatalog(work / CATALOG, convert(described, FileEntry))


def _documents(given: Given, journal: Journal, reader: DocumentReader) -> Iterator[Batch]:
    """The documents of a shard, in the order of the corpus."""
    for piece, blocks in placed(given["blocks"]):
        name = journal.name(f"map/{piece:06d}.buckets")
        for block in _blocks(journal, name, blocks):
            lines = unpacked(block, name)
            while some := [(place_of(span, n), n, line) for span, n, line in islice(lines, BATCH_LINES)]:
                yield Batch(reader.lines(some), name, 0)


def _blocks(journal: Journal, name: str, blocks: list[tuple[int, int]]) -> Iterator[bytes]:
    """The bytes of some blocks of a piece."""
    with reading(f"{journal.storage.path}/{name}"), journal.storage.open(name) as file:
        for at, size in blocks:
            file.seek(at)
            yield file.read(size)


def limits_to(limits: Limits) -> dict[str, Any]:
    """Limits as plain data."""
    return asdict(limits)
