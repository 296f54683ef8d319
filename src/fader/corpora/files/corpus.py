"""From files of any kind to an annotated corpus: read, then annotate, as one step.

`fader annotate`, `fader index` and `fader start` begin here. Knows nothing of indexes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from fader.corpora.annotate.options import Options
from fader.corpora.annotate.run import AnnotateReport, annotate_files
from fader.corpora.annotate.texts import JSON_NAMES
from fader.corpora.files import kinds
from fader.corpora.files.piece import UnreadableError
from fader.corpora.files.read import ReadReport, read_files
from fader.corpora.files.walk import SourceFile, find_files
from fader.corpora.frame.inputs import head
from fader.corpus.documents import Faults
from fader.errors import InputError, UsageError, quote
from fader.jobs.storage import storage_errors
from fader.limits import Limits
from fader.progress import Progress

REPEATED = "repeated documents"
_encode = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Documents:
    """What was read: the report, and the ids of each file's documents, by the file's name."""

    report: ReadReport
    ids: dict[str, list[str]] = field(default_factory=dict)


def write_documents(
    files: Sequence[SourceFile],
    out: Path,
    on_error: str,
    limits: Limits,
    progress: Progress | None = None,
    known: Mapping[str, str] = MappingProxyType({}),
) -> Documents:
    """Read files into JSON lines; of several documents with one id the first is taken.

    `known` are ids that were taken before, with the file of each.
    """
    documents = Documents(ReadReport(faults=Faults(on_error)))
    taken = dict(known)
    with storage_errors(out), open(out, "wb") as file:
        for found in read_files(files, documents.report, limits, progress):
            own = documents.ids.setdefault(found.file.name, [])
            for document in found.documents:
                identity = document["id"]
                if identity in taken:
                    message = f"{found.file.name}: {quote(identity)} is a document of {taken[identity]} already"
                    documents.report.faults.add(REPEATED, message)
                    documents.report.documents -= 1
                    continue
                taken[identity] = found.file.name
                file.write(_encode(document) + b"\n")
                own.append(identity)
    return documents


def is_corpus(source: str) -> bool:
    """Whether a source is a corpus as it is: standard input, a pipe, a file called so, or JSON lines."""
    if source == "-" or not os.path.exists(source) or stat.S_ISFIFO(os.stat(source).st_mode):
        return True
    name = source.lower()
    for packed in (".gz", ".zst", ".bz2"):
        name = name.removesuffix(packed)
    return not os.path.isdir(source) and (name.endswith(JSON_NAMES) or head(source, 512).lstrip().startswith(b"{"))


def split_sources(sources: Sequence[str], leave_out: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is a corpus already, and what is to be read first; a folder with annotated JSON lines is all corpora."""
    corpora, others = list[str](), list[str]()
    for source in sources:
        if not os.path.isdir(source):
            (corpora if is_corpus(source) else others).append(source)
            continue
        below = [file.path for file in find_files([source], leave_out).files]
        if all(is_corpus(path) and b'"mentions"' in head(path, kinds.HEAD) for path in below):
            corpora += below
        else:
            others.append(source)
    return corpora, others


def is_raw(source: str) -> bool:
    """Whether the annotator reads a source by itself: a corpus, or a plain text."""
    if is_corpus(source):
        return True
    if os.path.isdir(source):
        return False
    try:
        return kinds.find_kind(source, source, head(source, kinds.HEAD)) == kinds.TEXT
    except UnreadableError:
        return True


def annotate_sources(
    sources: Sequence[str],
    out: str | Path,
    options: Options,
    processes: int = 1,
    restart: bool = False,
    on_error: str = "skip",
    catalog_on_error: str = "fail",
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> tuple[AnnotateReport, ReadReport | None]:
    """Annotate files and folders of any kind; what was read of them, where the annotator does not read them itself."""
    limits = limits or Limits.from_environment()
    if options.kind is not None or all(map(is_raw, sources)):
        done = annotate_files(
            sources, out, options, processes, restart, on_error, catalog_on_error, progress, limits=limits
        )
        return done, None
    if str(out) == "-":
        raise UsageError("files that are not text cannot be annotated to standard output; give a file")
    if Path(out).exists() and not restart:
        raise InputError(f"{out}: is there already; --restart replaces it, or choose another output")
    files = find_files(sources, [out, *options.files()]).files
    with work_file(Path(out)) as documents:
        read = write_documents(files, documents, on_error, limits, progress).report
        done = annotate_written(documents, out, options, processes, catalog_on_error, progress, limits)
    return done, read


def annotate_written(
    documents: Path,
    out: str | Path,
    options: Options,
    processes: int = 1,
    catalog_on_error: str = "fail",
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> AnnotateReport:
    """Annotate what `write_documents` has written."""
    as_lines = replace(options, jsonl=True)
    return annotate_files(
        [str(documents)], out, as_lines, processes, True, "fail", catalog_on_error, progress, limits=limits
    )


@contextmanager
def work_file(out: Path) -> Iterator[Path]:
    """A file beside the output that is removed at the end."""
    path = out.with_name(f".{out.name}.{os.getpid()}.documents")
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def describe_read(report: ReadReport) -> list[str]:
    """What was read and what was not, for people."""
    return [f"read {report.describe()}", *report.faults.lines()]


def summarise(report: ReadReport) -> dict[str, Any]:
    """The same for programs."""
    return {"files": report.kinds, "documents": report.documents, "unread": report.faults.counts}
