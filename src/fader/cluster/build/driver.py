"""`fader cluster build`: a corpus to an index of N shards, by tasks on many nodes, with one commit at the end.

    1  the corpus is cut into pieces, and a sample of its ids into N ranges: the shards
    2  each piece is split into buckets, one for each shard; beside that the catalog is written
    3  each shard's buckets, in the order of the corpus, become segments
    4  the driver alone gives the files their names in the index, and commits (`publish.py`)

What is left is an ordinary index: the segments of a shard follow each other in the manifest, in the order of ids. The
first of several documents with one id is taken, and faults are counted and shown, as in a build on one machine. All
that is finished is kept in a journal (`journal.py`), so that the same command goes on after any crash.
Knows nothing of Ray: tasks are run by a `Runner`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fader import __version__
from fader.cluster.build import tasks
from fader.cluster.build.buckets import RUN_BYTES, Blocks, splitters_of, with_arrays
from fader.cluster.build.journal import FOLDER, Journal, begun, end
from fader.cluster.build.pieces import PIECE_BYTES, THREADS, Lines, Span, cut
from fader.cluster.build.publish import check_destination, publish, writing
from fader.cluster.jobs.scheduler import Job, Runner
from fader.cluster.storage import Storage, described, expanded, masked, storage_errors, storage_of
from fader.corpus.documents import EXAMPLES_KEPT, Faults
from fader.errors import CorpusError, InputError, UsageError, quoted
from fader.index.write.writer import BuildOptions, BuildReport, check_counts
from fader.jobs.storage import LocalFolder
from fader.limits import Limits
from fader.progress import Progress, Silent

MOST_SHARDS = 100_000
SAMPLES = 200  # ids for each shard that is to be cut
RUNS_HELD = 4  # memory that reading or writing a run takes, in runs
PROCESS_BYTES = 100 << 20  # what a worker takes before it does anything
CATALOG_TIMES = 20  # memory that making the catalog takes, in bytes of its files


@dataclass(frozen=True)
class ClusterBuildOptions:
    """How to build. `memory_mb` bounds what a task may need; `restart` drops what an unfinished build has done."""

    shards: int
    build: BuildOptions = field(default_factory=BuildOptions)
    piece_bytes: int = PIECE_BYTES
    run_bytes: int = RUN_BYTES
    restart: bool = False

    def __post_init__(self) -> None:
        check_counts(self, shards=1, piece_bytes=1, run_bytes=1)
        if self.shards > MOST_SHARDS:
            raise UsageError(f"shards must be at most {MOST_SHARDS:,}, not {self.shards:,}")


@dataclass
class ClusterBuildReport(BuildReport):
    """What was built, and how: shards with documents in them, tasks in all, and those that were done before."""

    shards: int = 0
    tasks: int = 0
    resumed: int = 0


def build(
    out: str | Path,
    corpus: Sequence[str | Path],
    entities: str | Path,
    types: str | Path,
    options: ClusterBuildOptions,
    runner: Runner,
    progress: Progress | None = None,
) -> ClusterBuildReport:
    """Build an index of the corpus in the folder `out`, a plain path that all nodes share or a URL."""
    plan = _plan(corpus, entities, types, options)
    storage = storage_of(out)
    with storage_errors(str(out)), writing(storage, options.build.overwrite):
        journal = begun(storage, plan, options.restart)
        try:
            return _Build(journal, plan, options, runner, progress or Silent()).run()
        except (InputError, UsageError):  # with other input it is another build, so nothing of this one is of use
            _forget(storage)
            raise


def refuse_early(
    out: str | Path, corpus: Sequence[str | Path], entities: str | Path, types: str | Path, options: ClusterBuildOptions
) -> None:
    """Raise what `build` would raise before it does anything: for callers who have a cluster to start or to join."""
    _plan(corpus, entities, types, options)
    storage = storage_of(out)
    with storage_errors(str(out)):
        if not isinstance(storage, LocalFolder) or storage.folder.is_dir():
            check_destination(storage, options.build.overwrite)


def _plan(
    corpus: Sequence[str | Path], entities: str | Path, types: str | Path, options: ClusterBuildOptions
) -> dict[str, Any]:
    """All that the result depends on."""
    given = options.build
    if any(str(path) == "-" for path in (*corpus, entities, types)):
        raise UsageError("standard input cannot be read by other nodes; give files that all of them see")
    paths = [str(entities), str(types), *expanded(map(str, corpus))]
    with ThreadPoolExecutor(THREADS) as pool:
        entities_file, types_file, *sources = pool.map(lambda path: described(path) | {"shown": masked(path)}, paths)
    return {
        "fader": __version__,
        "sources": sources,
        "catalog": {"entities": entities_file, "types": types_file},
        "shards": options.shards,
        "options": {
            "analysis": given.analysis.to_dict(), "on_error": given.on_error,
            "catalog_on_error": given.catalog_on_error, "memory_mb": given.memory_mb,
            "segment_tokens": given.segment_tokens, "keep_text": given.keep_text,
        },
        "limits": tasks.limits_to(given.limits or Limits.from_environment()),
        "piece_bytes": [options.piece_bytes, options.run_bytes],
    }  # fmt: skip


def _forget(storage: Storage) -> None:
    """Remove what an unfinished build has left, and the folder where nothing else is in it."""
    storage.remove_folder(FOLDER)
    if isinstance(storage, LocalFolder):
        with suppress(OSError):
            storage.folder.rmdir()


class _OfShard(Mapping[str, Any]):
    """What the task of a shard is given. Where its blocks lie is made when it is sent: for all shards that is much."""

    def __init__(self, given: Mapping[str, Any], blocks: Blocks) -> None:
        self._given, self._blocks = given, blocks

    def __getitem__(self, name: str) -> Any:
        return self._blocks.of(self._given["shard"]) if name == "blocks" else self._given[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*self._given, "blocks"])

    def __len__(self) -> int:
        return len(self._given) + 1


class _Build:
    """One build in progress."""

    def __init__(
        self, journal: Journal, plan: dict[str, Any], options: ClusterBuildOptions, runner: Runner, progress: Progress
    ) -> None:
        self._journal, self._storage, self._plan = journal, journal.storage, plan
        self._options, self._runner, self._progress = options, runner, progress
        self._sources: list[dict[str, Any]] = plan["sources"]
        self._spans, self._pieces = cut(self._sources, options.piece_bytes)
        self._common = {"fader": __version__, "out": self._storage.path, "key": journal.key, "limits": plan["limits"]}
        self._blocks = Blocks()
        self._done = self._resumed = 0

    def run(self) -> ClusterBuildReport:
        splitters = self._splitters()
        pieces, catalog = self._split(splitters)
        lines = Lines(self._spans, self._sources, {int(s): n for p in pieces for s, n in p["lines"].items()})
        self._stop_at(pieces, lines)
        shards = self._reduce(catalog["described"], len(splitters) + 1)
        self._stop_at(shards, lines)
        faults = merged([*pieces, *shards], lines)
        segments = [one["segments"] for one in shards]
        manifest = publish(self._journal, catalog["described"], segments, faults, self._options.build)
        end(self._storage, manifest.commit)
        filled = sum(1 for shard in shards if any(s["documents"] for s in shard["segments"]))
        return ClusterBuildReport(manifest, faults, catalog["notes"], filled, self._done, self._resumed)

    @property
    def _of_runs(self) -> int:
        """The memory that a task needs for itself and for runs."""
        return PROCESS_BYTES + RUNS_HELD * self._options.run_bytes

    def _of_piece(self, piece: int) -> dict[str, Any]:
        spans = [(number, self._spans[number]) for number in self._pieces[piece]]
        return {
            **self._common, "piece": piece, "spans": spans,
            "sources": {str(span[0]): self._sources[span[0]] for _number, span in spans},
        }  # fmt: skip

    def _named(self, piece: int) -> str:
        """What messages call a piece."""
        spans: list[Span] = [self._spans[number] for number in self._pieces[piece]]
        first, last = spans[0], spans[-1]
        name = quoted(self._sources[first[0]]["shown"])
        if len(spans) > 1:
            return f"{name} to {quoted(self._sources[last[0]]['shown'])}"
        return name if first[3] else f"{name}, bytes {first[1]:,} to {first[2]:,}"

    def _splitters(self) -> list[str]:
        """The ids at which shards begin, but the first: found once, then kept."""
        kept = self._journal.marked("splitters")
        if kept is not None:
            found: list[str] = kept["splitters"]
            return found
        samples: list[tuple[str, float]] = []
        if self._options.shards > 1:
            every = max(1, sum(s["bytes"] for s in self._sources) // (SAMPLES * self._options.shards))
            jobs = [
                Job(
                    f"ids of {self._named(piece)}",
                    tasks.sample,
                    self._of_piece(piece) | {"every": every},
                    self._of_runs,
                )
                for piece in range(len(self._pieces))
            ]
            self._run("looking at ids", jobs, lambda _job, got: samples.extend((i, w) for i, w in got["samples"]))
        splitters = splitters_of(samples, self._options.shards)
        self._journal.mark("splitters", {"files": {}, "splitters": splitters})
        return splitters

    def _split(self, splitters: list[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """What splitting every piece has found, and writing the catalog."""
        found = {int(name): mark for name, mark in self._journal.finished("map", with_arrays).items()}
        kept = self._journal.marked(tasks.CATALOG)
        there = self._storage.names(self._journal.folder)
        is_kept = kept is not None and there.get(tasks.CATALOG) == kept["files"][tasks.CATALOG]
        catalog = [kept] if kept is not None and is_kept else list[dict[str, Any]]()
        more = {"splitters": splitters, "run_bytes": self._options.run_bytes}
        jobs = [
            Job(self._named(piece), tasks.split, self._of_piece(piece) | more, self._of_runs)
            for piece in range(len(self._pieces))
            if piece not in found
        ]
        if not catalog:
            files = self._plan["catalog"]
            given = {**self._common, **files, "on_error": self._plan["options"]["catalog_on_error"]}
            memory = PROCESS_BYTES + CATALOG_TIMES * sum(file["bytes"] for file in files.values())
            jobs.insert(0, Job(f"catalog {quoted(files['entities']['shown'])}", tasks.catalog, given, memory))
        self._resumed += len(found) + len(catalog)

        def done(job: Job, got: dict[str, Any]) -> None:
            if "piece" in job.given:
                piece = job.given["piece"]
                self._blocks.add(piece, got.pop("runs"))
                found[piece] = got
            else:
                catalog.append(got)

        for piece, mark in found.items():
            self._blocks.add(piece, mark.pop("runs"))
        self._run("reading the corpus", jobs, done)
        return [found[piece] for piece in range(len(self._pieces))], catalog[0]

    def _reduce(self, catalog: dict[str, Any], shards: int) -> list[dict[str, Any]]:
        """The segments of every shard, in order."""
        found = {int(name): mark for name, mark in self._journal.finished("reduce").items()}
        self._resumed += len(found)
        given = {**self._common, "catalog": catalog, "options": self._plan["options"]}
        memory = (self._plan["options"]["memory_mb"] << 20) + self._of_runs
        jobs = [
            Job(f"shard {shard} of {shards}", tasks.build, _OfShard(given | {"shard": shard}, self._blocks), memory)
            for shard in range(shards)
            if shard not in found
        ]
        self._run("building shards", jobs, lambda job, got: found.update({job.given["shard"]: got}))
        return [found[shard] for shard in range(shards)]

    def _run(self, note: str, jobs: list[Job], done: Callable[[Job, dict[str, Any]], None]) -> None:
        count = 0

        def one(job: Job, got: dict[str, Any]) -> None:
            nonlocal count
            done(job, got)
            count += 1
            self._progress.update(count, len(jobs), f"{note}: {count:,} of {len(jobs):,}")

        if jobs:
            self._runner.run(jobs, one)
        self._done += len(jobs)

    def _stop_at(self, found: Iterable[Mapping[str, Any]], lines: Lines) -> None:
        """Raise the first fault where the policy is to fail."""
        if self._plan["options"]["on_error"] == "fail":
            examples = [
                lines.named(text) for one in found for texts in one["faults"]["examples"].values() for text in texts
            ]
            if examples:
                raise CorpusError(f"{min(examples)[1]}; mend it, or pass --on-error skip")


def merged(found: Iterable[Mapping[str, Any]], lines: Lines) -> Faults:
    """The faults of all tasks as one machine would have counted them: the first examples in the order of the corpus."""
    counts: dict[str, int] = {}
    examples: dict[str, list[tuple[tuple[int, int], str]]] = {}
    for one in found:
        for kind, count in one["faults"]["counts"].items():
            counts[kind] = counts.get(kind, 0) + count
        for kind, texts in one["faults"]["examples"].items():
            examples.setdefault(kind, []).extend(map(lines.named, texts))
    for texts in examples.values():
        texts.sort(key=lambda named: named[0])
    kinds = sorted(counts, key=lambda kind: examples[kind][0][0])
    shown = {kind: [text for _place, text in examples[kind][:EXAMPLES_KEPT]] for kind in kinds}
    return Faults("skip", {kind: counts[kind] for kind in kinds}, shown)
