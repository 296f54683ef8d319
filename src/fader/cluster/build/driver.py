"""`fader cluster build`: builds an index of N shards from a corpus, by tasks on many nodes, with one commit at the end.

    1  cut the corpus into pieces, and the ids, by a sample, into N ranges: the shards
    2  split each piece into buckets, one per shard; at the same time write the catalog
    3  build the segments of each shard from its buckets, in corpus order
    4  the driver alone gives the files their names in the index, and commits (`publish.py`)

The result is an ordinary index: the segments of a shard are adjacent in the manifest, in id order. Of several documents
with one id the first is used, and faults are counted and shown, as in a build on one machine. A journal (`journal.py`)
keeps every result, so after any crash the same command goes on from there. Knows nothing of Ray: a `Runner` runs the
tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from fader import __version__
from fader.cluster.build.buckets import RUN_BYTES, Blocks, splitters_of
from fader.cluster.build.journal import FOLDER, begin, end
from fader.cluster.build.pieces import PIECE_BYTES, THREADS, Lines, cut
from fader.cluster.build.publish import check_destination, hold_destination, publish
from fader.cluster.build.tasks import (
    CATALOG,
    BuildShard,
    BuildSite,
    CatalogRecord,
    CorpusPiece,
    MakeCatalog,
    SampleIds,
    Samples,
    ShardRecord,
    SplitPiece,
    SplitRecord,
)
from fader.cluster.jobs.task import Task, make_worker
from fader.cluster.storage import (
    SourceFile,
    Storage,
    describe_file,
    expand_paths,
    mask_passwords,
    storage_errors,
    storage_of,
)
from fader.corpus.documents import EXAMPLES_KEPT, Faults
from fader.errors import CorpusError, InputError, UsageError, quote
from fader.index.write.writer import BuildOptions, BuildReport, check_counts
from fader.jobs.journal import Journal, Key, from_json, to_json
from fader.jobs.runners import Runner
from fader.jobs.storage import LocalFolder
from fader.limits import Limits
from fader.progress import Progress, Silent

MOST_SHARDS = 100_000
SAMPLES = 200  # ids per shard
RUNS_HELD = 4  # memory to read or write a run, in runs
PROCESS_BYTES = 100 << 20  # memory of an idle worker
CATALOG_TIMES = 20  # memory to write the catalog, in bytes of its files


@dataclass(frozen=True)
class ClusterBuildOptions:
    """How to build. `memory_mb` bounds the memory of a task; `restart` drops the results of an unfinished build."""

    shards: int
    build: BuildOptions = field(default_factory=BuildOptions)
    piece_bytes: int = PIECE_BYTES
    run_bytes: int = RUN_BYTES
    restart: bool = False

    def __post_init__(self) -> None:
        check_counts(self, shards=1, piece_bytes=1, run_bytes=1)
        if self.shards > MOST_SHARDS:
            raise UsageError(f"shards must be at most {MOST_SHARDS:,}, not {self.shards:,}")


@dataclass(frozen=True)
class ClusterBuildReport:
    """What was built, and how: shards that have documents, tasks in all, and tasks that an earlier run had done."""

    built: BuildReport
    shards: int
    tasks: int
    resumed: int


@dataclass(frozen=True)
class BuildInput:
    """The input of a build: descriptions of the corpus and catalog files, and the limits that hold."""

    sources: list[SourceFile]
    entities: SourceFile
    types: SourceFile | None
    limits: Limits

    @classmethod
    def describe(
        cls, corpus: Sequence[str | Path], entities: str | Path, types: str | Path | None, options: ClusterBuildOptions
    ) -> BuildInput:
        """Describe all files; raises where one cannot be read."""
        if any(str(path) == "-" for path in (*corpus, entities, types)):
            raise UsageError("standard input cannot be read by other nodes; give files that all of them see")
        catalog = [str(entities)] if types is None else [str(entities), str(types)]
        with ThreadPoolExecutor(THREADS) as pool:
            described = list(pool.map(describe_file, [*catalog, *expand_paths(map(str, corpus))]))
        limits = options.build.limits or Limits.from_environment()
        types_file = None if types is None else described[1]
        return cls(described[len(catalog) :], described[0], types_file, limits)

    def make_key(self, options: ClusterBuildOptions) -> Key:
        """Everything that the result depends on, without passwords, since others may read it."""
        how = options.build

        def describe(source: SourceFile) -> list[Any]:
            return [mask_passwords(source.path), source.bytes, mask_passwords(source.version), source.shown]

        return {
            "fader": __version__,
            "sources": [*map(describe, self.sources)],
            "catalog": [describe(source) for source in (self.entities, self.types) if source is not None],
            "shards": options.shards,
            "options": {
                "analysis": how.analysis.to_dict(),
                "on_error": how.on_error,
                "catalog_on_error": how.catalog_on_error,
                "memory_mb": how.memory_mb,
                "segment_tokens": how.segment_tokens,
                "keep_text": how.keep_text,
                "columns": how.columns,
            },
            "limits": asdict(self.limits),
            "piece_bytes": [options.piece_bytes, options.run_bytes],
        }


def build(
    out: str | Path,
    corpus: Sequence[str | Path],
    entities: str | Path,
    types: str | Path | None,
    options: ClusterBuildOptions,
    runner: Runner[Task],
    progress: Progress | None = None,
) -> ClusterBuildReport:
    """Build an index of the corpus in the folder `out`, a plain path that all nodes share or a URL."""
    given = BuildInput.describe(corpus, entities, types, options)
    storage = storage_of(out)
    with storage_errors(str(out)), hold_destination(storage, options.build.overwrite):
        journal = begin(storage, given.make_key(options), options.restart)
        try:
            return _Build(storage, journal, given, options, runner, progress or Silent()).run()
        except (InputError, UsageError):  # other input makes another build, so the results of this one are useless
            storage.remove_folder(FOLDER)
            if isinstance(storage, LocalFolder):
                with suppress(OSError):  # other things are in it
                    storage.folder.rmdir()
            raise


def refuse_early(
    out: str | Path,
    corpus: Sequence[str | Path],
    entities: str | Path,
    types: str | Path | None,
    options: ClusterBuildOptions,
) -> None:
    """Raise the errors that `build` would raise at once, before a caller starts or joins a cluster."""
    BuildInput.describe(corpus, entities, types, options)
    storage = storage_of(out)
    with storage_errors(str(out)):
        if not isinstance(storage, LocalFolder) or storage.folder.is_dir():
            check_destination(storage, options.build.overwrite)


Record = TypeVar("Record")


class _Build:
    """One build in progress."""

    def __init__(
        self,
        storage: Storage,
        journal: Journal,
        given: BuildInput,
        options: ClusterBuildOptions,
        runner: Runner[Task],
        progress: Progress,
    ) -> None:
        self._storage, self._journal, self._given = storage, journal, given
        self._options, self._runner, self._progress = options, runner, progress
        self._spans, self._pieces = cut(given.sources, options.piece_bytes)
        self._site = BuildSite(storage.path, journal.key, given.limits)
        self._blocks = Blocks()
        self._done = self._resumed = 0
        # Memory of a task without data, plus that of runs.
        self._run_memory = PROCESS_BYTES + RUNS_HELD * options.run_bytes

    def run(self) -> ClusterBuildReport:
        """Do the steps that are left."""
        splitters = self._find_splitters()
        pieces, catalog = self._split(splitters)
        lines = Lines(self._spans, self._given.sources, {span: n for p in pieces for span, n in p.lines.items()})
        self._stop_at(pieces, lines)
        shards = self._build_shards(catalog, len(splitters) + 1)
        self._stop_at(shards, lines)
        faults = merge_faults([*(p.faults for p in pieces), *(s.faults for s in shards)], lines)
        segments = [shard.segments for shard in shards]
        manifest = publish(self._storage, self._journal, catalog.catalog, segments, faults, self._options.build)
        end(self._storage, manifest.commit)
        filled = sum(1 for shard in shards if any(s.documents for s in shard.segments))
        return ClusterBuildReport(BuildReport(manifest, faults, catalog.notes), filled, self._done, self._resumed)

    def _describe_pieces(self) -> Iterator[CorpusPiece]:
        for piece, numbers in enumerate(self._pieces):
            spans = [(number, self._spans[number]) for number in numbers]
            yield CorpusPiece(piece, spans, {span.source: self._given.sources[span.source] for _n, span in spans})

    def _find_splitters(self) -> list[str]:
        """The ids at which all shards but the first begin; sampled once, then kept in the journal."""
        kept = self._journal.find("splitters")
        if kept is not None:
            found: list[str] = from_json(kept.data, list[str])
            return found
        samples: dict[str, Samples] = {}
        if self._options.shards > 1:
            memory, site = self._run_memory, self._site
            every = max(1, sum(s.bytes for s in self._given.sources) // (SAMPLES * self._options.shards))
            tasks = [
                SampleIds(name=f"ids of {piece.name}", memory=memory, site=site, piece=piece, every=every)
                for piece in self._describe_pieces()
            ]
            samples = self._run("looking at ids", tasks, len(tasks), {}, lambda _task, data: from_json(data, Samples))
        splitters = splitters_of((one for found in samples.values() for one in found.samples), self._options.shards)
        self._journal.keep("splitters", to_json(splitters))
        return splitters

    def _split(self, splitters: list[str]) -> tuple[list[SplitRecord], CatalogRecord]:
        """Split all pieces, and write the catalog."""
        found: dict[str, Any] = {}  # a CatalogRecord, and a SplitRecord per piece
        for name, (record, runs) in self._journal.read_all("map", _decode_split).items():
            self._blocks.add(int(name), runs)
            found[f"map/{name}"] = record
        kept = self._journal.read_all("", bytes).get(CATALOG)
        if kept is not None:
            found[CATALOG] = from_json(kept, CatalogRecord)
        self._resumed += len(found)

        def decode(task: Task, data: bytes) -> SplitRecord | CatalogRecord:
            if isinstance(task, SplitPiece):
                record, runs = _decode_split(data)
                self._blocks.add(task.piece.number, runs)
                return record
            made: CatalogRecord = from_json(data, CatalogRecord)
            return made

        entities, types = self._given.entities, self._given.types
        memory = PROCESS_BYTES + CATALOG_TIMES * (entities.bytes + (types.bytes if types is not None else 0))
        tasks: list[Task] = [
            MakeCatalog(
                name=f"catalog {quote(entities.shown)}",
                memory=memory,
                site=self._site,
                entities=entities,
                types=types,
                on_error=self._options.build.catalog_on_error,
                columns=self._options.build.columns,
            ),
            *(
                SplitPiece(
                    name=piece.name,
                    memory=self._run_memory,
                    site=self._site,
                    piece=piece,
                    splitters=splitters,
                    run_bytes=self._options.run_bytes,
                )
                for piece in self._describe_pieces()
            ),
        ]
        self._run("reading the corpus", tasks, len(tasks) - len(found), found, decode)
        return [found[f"map/{piece:06d}"] for piece in range(len(self._pieces))], found[CATALOG]

    def _build_shards(self, catalog: CatalogRecord, shards: int) -> list[ShardRecord]:
        """Build the segments of all shards; results in shard order."""

        decode: Callable[[bytes], ShardRecord] = partial(from_json, kind=ShardRecord)
        found = {f"reduce/{name}": record for name, record in self._journal.read_all("reduce", decode).items()}
        self._resumed += len(found)
        how = self._options.build
        memory = (how.memory_mb << 20) + self._run_memory
        # The block table of a shard is made when its task is sent: those of all shards take much memory.
        tasks = (
            BuildShard(
                name=f"shard {shard} of {shards}",
                memory=memory,
                site=self._site,
                shard=shard,
                catalog=catalog.catalog,
                options=how,
                blocks=self._blocks.of(shard),
            )
            for shard in range(shards)
            if f"reduce/{shard:05d}" not in found
        )
        self._run("building shards", tasks, shards - len(found), found, lambda _task, data: decode(data))
        return [found[f"reduce/{shard:05d}"] for shard in range(shards)]

    def _run(
        self,
        note: str,
        tasks: Iterable[Task],
        total: int,
        found: dict[str, Record],
        decode: Callable[[Task, bytes], Record],
    ) -> dict[str, Record]:
        """Run the `total` tasks of a step whose results are not in `found`; tasks write to the journal themselves."""
        count = 0

        def take(task: Task, result: bytes) -> None:
            nonlocal count
            found[task.entry] = decode(task, result)
            count += 1
            self._progress.update(count, total, f"{note}: {count:,} of {total:,}")

        self._runner.run(make_worker, (task for task in tasks if task.entry not in found), take)
        self._done += total
        return found

    def _stop_at(self, found: Iterable[SplitRecord | ShardRecord], lines: Lines) -> None:
        """Raise the first fault where the policy is to fail."""
        if self._options.build.on_error == "fail":
            texts = [text for one in found for examples in one.faults.examples.values() for text in examples]
            if texts:
                first = min(map(lines.restore_place, texts))
                raise CorpusError(f"{first[1]}; correct it, or pass --on-error skip")


def _decode_split(data: bytes) -> tuple[SplitRecord, Any]:
    """Decode the result of splitting a piece, with its runs as an array: lists take five times the memory."""
    record: SplitRecord = from_json(data, SplitRecord)
    runs = np.array(record.runs, dtype=np.int64)
    record.runs = []
    return record, runs


def merge_faults(found: Iterable[Faults], lines: Lines) -> Faults:
    """The faults of all tasks as one machine would have counted them: the first examples in the order of the corpus."""
    counts: dict[str, int] = {}
    examples: dict[str, list[tuple[tuple[int, int], str]]] = {}
    for one in found:
        for kind, count in one.counts.items():
            counts[kind] = counts.get(kind, 0) + count
        for kind, texts in one.examples.items():
            examples.setdefault(kind, []).extend(map(lines.restore_place, texts))
    for placed in examples.values():
        placed.sort(key=lambda named: named[0])
    kinds = sorted(counts, key=lambda kind: examples[kind][0][0])
    shown = {kind: [text for _place, text in examples[kind][:EXAMPLES_KEPT]] for kind in kinds}
    return Faults("skip", {kind: counts[kind] for kind in kinds}, shown)
