"""From files to an index in one go, and again when files have changed: what `fader start` does.

    started = start(["notes"], "notes.fader", catalog="people.csv", say=print)

The folder holds

    start.json      what was read: sources, catalog, and per file its size, time and documents
    catalog.tsv     the entities that were found, where no catalog was given; a person may edit it
    index/          the index

A run over a folder that is there takes up new, changed and deleted files as commits of the index; where the catalog or
how it is read has changed, the index is built anew, as one commit. The state is written last, so that an interrupted
run is done again by the next one. Documents are annotated one by one by the catalog alone, so that an index with a
history answers as a fresh one. Knows nothing of how it is shown or served.
"""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import msgspec
import xxhash

from fader.corpora.annotate.options import Options
from fader.corpora.annotate.run import AnnotateReport
from fader.corpora.discover.find import LEAST, discover, read_texts, write_entities
from fader.corpora.discover.spacy_names import SpacyFinder, find_model
from fader.corpora.files.corpus import Documents, annotate_written, describe_read, write_documents
from fader.corpora.files.walk import SourceFile, find_files
from fader.corpus.analysis import Analysis
from fader.corpus.readers import check_readable
from fader.errors import InputError, StorageError, UsageError
from fader.index.manifest import Manifest
from fader.index.write.change import ChangeOptions, add, delete
from fader.index.write.writer import BuildOptions, build
from fader.jobs.files import write_whole
from fader.jobs.storage import storage_errors
from fader.limits import Limits
from fader.progress import Progress, Silent
from fader.version import __version__

STATE, CATALOG, INDEX, WORK = "start.json", "catalog.tsv", "index", "work"
Say = Callable[[str], None]
Reporting = Callable[[str], AbstractContextManager[Progress]]


class FileState(msgspec.Struct):
    """A file as it was read: size and time, and the ids of its documents."""

    stamp: list[int]
    ids: list[str]


class State(msgspec.Struct):
    """What an index was made of."""

    version: str
    sources: list[str]
    how: dict[str, str | None]
    files: dict[str, FileState]


@dataclass(frozen=True, slots=True)
class StartOptions:
    """How files become an index. Without a catalog, entities are found in the texts; `discover` finds them anew.

    Files that cannot be read are skipped and rows of the catalog that are faulty are an error, unless `on_error` says
    what to do with both.
    """

    catalog: str | None = None
    types: str | None = None
    columns: str | None = None
    discover: bool = False
    stemmer: str | None = None
    processes: int = 1
    on_error: str | None = None

    @property
    def catalog_on_error(self) -> str:
        return self.on_error or "fail"


@dataclass(slots=True)
class Started:
    """What a run has done; the manifest is that of the newest commit."""

    index: Path
    manifest: Manifest | None
    read: Documents | None = None
    annotated: AnnotateReport | None = None
    entities: int | None = None
    added: int = 0
    deleted: int = 0
    fresh: bool = False
    seconds: float = 0.0


def start(
    sources: Sequence[str],
    output: str | Path,
    options: StartOptions = StartOptions(),
    say: Say = lambda _line: None,
    reporting: Reporting = lambda _title: nullcontext(Silent()),
    limits: Limits | None = None,
) -> Started:
    """Bring an index up to date with files; `say` is told each step and the command that does just that step."""
    began = time.perf_counter()
    run = _Run(list(sources), Path(output), options, say, reporting, limits or Limits.from_environment())
    started = run.run()
    started.seconds = time.perf_counter() - began
    return started


@dataclass(slots=True)
class _Run:
    sources: list[str]
    folder: Path
    options: StartOptions
    say: Say
    reporting: Reporting
    limits: Limits

    def run(self) -> Started:
        state = self._load()
        files = find_files(self.sources, [self.folder, *filter(None, (self.options.catalog, self.options.types))])
        if files.hidden:
            self.say(f"{_count(files.hidden, 'hidden file or folder', 'hidden files or folders')} left out")
        if files.links:
            self.say(f"{_count(files.links, 'link to a folder', 'links to folders')} not followed")
        with storage_errors(self.folder):
            (self.folder / WORK).mkdir(parents=True, exist_ok=True)
        try:
            return self._update(state, files.files)
        finally:
            shutil.rmtree(self.folder / WORK, ignore_errors=True)
            if not any(self.folder.iterdir()):
                self.folder.rmdir()

    @property
    def _index(self) -> Path:
        return self.folder / INDEX

    @property
    def _catalog(self) -> Path:
        return Path(self.options.catalog) if self.options.catalog else self.folder / CATALOG

    def _load(self) -> State | None:
        """The state of the last run; refuses a folder of other things, and other sources."""
        for given in filter(None, (self.options.catalog, self.options.types)):
            check_readable(given)
        if self.options.catalog and self.options.discover:
            raise UsageError("--discover finds a catalog and --catalog gives one; give one of them")
        if not self.folder.exists():
            return None
        if not self.folder.is_dir():
            raise StorageError(f"{self.folder}: is a file; give the name of a folder")
        path = self.folder / STATE
        if not path.exists():
            if any(each.name not in (CATALOG, INDEX, WORK) for each in self.folder.iterdir()):
                raise StorageError(f"{self.folder}: is a folder with other things in it; give a new or empty one")
            return None
        try:
            state = msgspec.json.decode(path.read_bytes(), type=State)
        except (msgspec.MsgspecError, OSError) as error:
            raise StorageError(f"{path}: cannot be read ({error}); delete it to build the index anew") from None
        if state.sources != self._places():
            others = ", ".join(state.sources)
            raise InputError(f"{self.folder}: holds the index of {others}; give the same files, or another -o")
        return state

    def _places(self) -> list[str]:
        return sorted({os.path.realpath(source) for source in self.sources})

    def _how(self) -> dict[str, str | None]:
        """What all documents depend on."""

        def digest(path: str | Path | None) -> str | None:
            if path is None or not Path(path).exists():
                return None
            return xxhash.xxh3_128_hexdigest(Path(path).read_bytes())

        o = self.options
        found = {"catalog": digest(self._catalog), "types": digest(o.types), "columns": o.columns, "stemmer": o.stemmer}
        found["on_error"] = o.catalog_on_error
        return found | {"fader": __version__}

    def _update(self, state: State | None, files: list[SourceFile]) -> Started:
        fresh = state is None or not self._index.is_dir() or state.how != self._how() or self.options.discover
        if fresh and state is not None:
            self.say("The catalog or an option has changed: everything is read again")
        known = {} if state is None or fresh else state.files
        stamps = {file.name: file.stamp() for file in files}
        # A file that gave nothing is tried again, so that it is named again.
        changed = [
            f for f in files if f.name not in known or known[f.name].stamp != stamps[f.name] or not known[f.name].ids
        ]
        gone = [name for name in known if name not in stamps]
        work = self.folder / WORK
        read_now = {file.name for file in changed}
        unchanged = {name: known[name] for name in stamps if name in known and name not in read_now}
        documents = self._read(changed, work / "documents.jsonl", unchanged, again=bool(known))
        kept = {name: known[name] for name in stamps if name in known and name not in documents.ids}
        if fresh and not documents.report.documents:
            raise InputError("no document could be read, so there is nothing to index; the reasons are above")
        started = Started(self._index, None, documents, fresh=fresh)
        if fresh and self.options.catalog is None and (self.options.discover or not self._catalog.exists()):
            started.entities = self._discover(work / "documents.jsonl")
        elif self.options.catalog is None:
            self.say(f"Entities: those of {self._catalog}, found before; --discover finds them anew")
        if documents.report.documents:
            started.annotated = self._annotate(work)
        self._commit(started, known, kept, gone, work)
        entries = {name: FileState(stamps[name], ids) for name, ids in documents.ids.items()}
        new = State(__version__, self._places(), self._how(), dict(sorted((kept | entries).items())))
        write_whole(self.folder / STATE, msgspec.json.format(msgspec.json.encode(new), indent=1))
        return started

    def _read(
        self, files: list[SourceFile], out: Path, unchanged: Mapping[str, FileState], *, again: bool
    ) -> Documents:
        began = time.perf_counter()
        known = {identity: name for name, state in unchanged.items() for identity in state.ids}
        with self.reporting("Reading") as progress:
            documents = write_documents(files, out, self.options.on_error or "skip", self.limits, progress, known)
        first, *faults = describe_read(documents.report)
        what = "new or changed: " if again else ""
        self.say(f"Read {what}{first.removeprefix('read ')}, in {time.perf_counter() - began:.1f} s")
        for line in faults:
            self.say(f"  {line}")
        return documents

    def _discover(self, documents: Path) -> int:
        began = time.perf_counter()
        with self.reporting("Finding entities") as progress:
            model, finder = find_model(), None
            try:
                finder = SpacyFinder(model) if model else None
            except UsageError as error:
                self.say(f"Names are found by capitals alone: {error}")
            entities = discover(read_texts(documents, progress), LEAST, finder)
        if not entities:
            raise InputError("no name was found in the texts; give a catalog: --catalog FILE")
        write_entities(entities, self._catalog)
        typed = sum(bool(each.types) for each in entities)
        how = "by spaCy and by capitals" if finder else "by capitals"
        number = _count(len(entities), "entity", "entities")
        self.say(
            f"Found {number} {how}, {typed:,} with types, in {time.perf_counter() - began:.1f} s: "
            f"{self._catalog}, which you can edit"
        )
        self.say(f"  just this step: fader discover {self._shown()} -o {_quote(self._catalog)}")
        return len(entities)

    def _annotate(self, work: Path) -> AnnotateReport:
        options = Options(str(self._catalog), self.options.types, self.options.columns)
        with self.reporting("Annotating") as progress:
            report = annotate_written(
                work / "documents.jsonl",
                work / "corpus.jsonl",
                options,
                self.options.processes,
                self.options.catalog_on_error,
                progress,
                self.limits,
            )
        for note in report.notes:
            self.say(note)
        self.say(
            f"Annotated {_count(report.mentions, 'mention', 'mentions')} of "
            f"{_count(report.entities, 'entity', 'entities')}, in {report.seconds:.1f} s"
        )
        if not report.mentions:
            self.say("  no name of the catalog is in these texts; look at its names")
        self.say(f"  just this step: fader annotate {self._shown()} {self._with_catalog()} -o corpus.jsonl")
        return report

    def _commit(
        self, started: Started, known: dict[str, FileState], kept: dict[str, FileState], gone: list[str], work: Path
    ) -> None:
        """Build the index, or change it."""
        began, documents = time.perf_counter(), started.read
        assert documents is not None
        corpus, index = str(work / "corpus.jsonl"), _quote(self._index)
        if started.fresh:
            options = BuildOptions(
                Analysis(self.options.stemmer),
                overwrite=True,
                limits=self.limits,
                columns=self.options.columns,
                catalog_on_error=self.options.catalog_on_error,
            )
            with self.reporting("Indexing") as progress:
                report = build(self._index, [corpus], str(self._catalog), self.options.types, options, progress)
            started.manifest, started.added = report.manifest, report.manifest.live.documents
            for line in report.faults.lines():
                self.say(f"  {line}")
            number = _count(started.added, "document", "documents")
            self.say(f"Indexed {number}, in {time.perf_counter() - began:.1f} s: {self._index}")
            stem = f" --stemmer {self.options.stemmer}" if self.options.stemmer else ""
            self.say(f"  just this step: fader index corpus.jsonl {self._with_catalog()}{stem} -o {index}")
            return
        left = {each for file in kept.values() for each in file.ids} | {
            i for ids in documents.ids.values() for i in ids
        }
        before = {each for name in (*documents.ids, *gone) if name in known for each in known[name].ids}
        away = sorted(before - left)
        how = ChangeOptions(limits=self.limits)
        if documents.report.documents:
            change = add(self._index, [corpus], how)
            started.manifest, started.added = change.manifest, change.added
            self.say(
                f"Added or replaced {_count(change.added, 'document', 'documents')}: commit {change.manifest.commit}"
            )
            self.say(f"  just this step: fader add {index} corpus.jsonl")
        if away:
            change = delete(self._index, away, how)
            started.manifest, started.deleted = change.manifest, change.deleted
            self.say(f"Deleted {_count(change.deleted, 'document', 'documents')}: commit {change.manifest.commit}")
            self.say(f"  just this step: fader delete {index} --id {_quote(away[0])}{' ...' if len(away) > 1 else ''}")
        if not documents.report.documents and not away:
            self.say("Nothing has changed since the last time")

    def _shown(self) -> str:
        return " ".join(_quote(source) for source in self.sources)

    def _with_catalog(self) -> str:
        o = self.options
        given = [("--catalog", self._catalog), ("--types", o.types), ("--columns", o.columns)]
        return " ".join(f"{flag} {_quote(value)}" for flag, value in given if value)


def _quote(value: object) -> str:
    return shlex.quote(str(value))


def _count(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
