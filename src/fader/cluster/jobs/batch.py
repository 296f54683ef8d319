"""Many queries over the shards of a cluster: a TREC run, a Parquet table of contexts, or LETOR vectors.

    ranked = run(runner, recipe, queries, model, k, "out.run", progress)

Queries are divided into chunks, one task each, which asks all shards and works on the joined tables as one machine does
(`fader.search.batch`). A journal beside the output (`open_journal`) keeps the results; when it is complete, the file is
written, byte for byte that of one machine. The chunks depend only on the number of queries, so the command has the same
chunks when it is run again. Knows nothing of Ray: a `Runner` runs the tasks.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

import fader.errors
from fader import __version__
from fader.cluster.jobs.index_handle import Held, open_index
from fader.cluster.jobs.task import Task, make_worker
from fader.corpus.queries import FaultCollector
from fader.errors import LimitError, StorageError, quote
from fader.jobs.job import Job, KeptResults, run_job
from fader.jobs.journal import Journal, Key, digest_key
from fader.jobs.runners import Runner
from fader.jobs.storage import LocalFolder, hold_folder
from fader.learn.model import Model
from fader.progress import Progress
from fader.search.batch import ContextsBatch, Grades, LetorBatch, Parsed, RunBatch, sort_queries
from fader.search.index import Ranked
from fader.search.models import contents_of

CHUNKS = 64  # least number of tasks, if there are enough queries
MOST_RANKED, MOST_TABLES = 16, 4  # queries per task: tables are large
Out = TypeVar("Out")


@dataclass(frozen=True, kw_only=True)
class ChunkTask(Task):
    """Some queries; `first` is the number of queries before them."""

    recipe: Held
    batch: RunBatch | ContextsBatch | LetorBatch
    pack: Callable[[Any], Any]
    queries: Sequence[Parsed]
    first: int
    chunk: int

    @property
    def entry(self) -> str:
        return f"{self.chunk:06d}"

    def run(self) -> bytes:
        index = open_index(self.recipe)
        numbered = enumerate(self.queries, self.first + 1)
        return msgspec.msgpack.encode([self.pack(self.batch.find(index, n, query)) for n, query in numbered])


def run(
    runner: Runner[Task],
    recipe: Held,
    queries: Sequence[Parsed],
    model: Model,
    k: int,
    path: str,
    progress: Progress,
    fault: FaultCollector | None = None,
) -> dict[str, list[str]]:
    """Write a TREC run of all queries; see `fader.search.batch.write_run`."""
    open_index(recipe).limits.check("k", k)
    batch = RunBatch(model, k)
    key = {"run": model.key, "k": k}

    def write(rows: Iterator[Any]) -> dict[str, list[str]]:
        return batch.write(queries, map(unpack_ranking, rows), path, progress, fault)

    cut = _cut(recipe, queries, batch, pack_ranking, MOST_RANKED)
    return _run(runner, _describe(recipe, queries, key), cut, write, path, progress)


def pack_ranking(found: Ranked | LimitError) -> list[Any]:
    """A ranking, or the error of a query over a limit, as plain data."""
    if isinstance(found, LimitError):
        return [type(found).__name__, str(found)]
    return [found.entities, found.scores, found.support]


def unpack_ranking(row: list[Any]) -> Ranked | LimitError:
    """The inverse of `pack_ranking`."""
    return Ranked(*row) if len(row) == 3 else getattr(fader.errors, row[0])(row[1])


def contexts(
    runner: Runner[Task],
    recipe: Held,
    queries: Sequence[Parsed],
    qrels: Grades | None,
    path: str,
    progress: Progress,
    **options: Any,
) -> int:
    """Write all contexts of all queries as one Parquet file; see `fader.search.batch.write_contexts`."""
    ordered, batch = sort_queries(queries), ContextsBatch(options)

    def write(rows: Iterator[Any]) -> int:
        return batch.write(ordered, map(unpack_table, rows), qrels, path, progress)

    cut = _cut(recipe, ordered, batch, pack_table, MOST_TABLES)
    return _run(runner, _describe(recipe, ordered, {"contexts": options}), cut, write, path, progress)


def pack_table(table: Any) -> bytes:
    """An Arrow table in the Arrow stream format."""
    import pyarrow as pa  # heavy: only this output needs it

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def unpack_table(data: bytes) -> Any:
    """The inverse of `pack_table`."""
    import pyarrow as pa  # heavy: only this output needs it

    return pa.ipc.open_stream(data).read_all()


def letor(
    runner: Runner[Task],
    recipe: Held,
    queries: Sequence[Parsed],
    qrels: Grades | None,
    path: str,
    progress: Progress,
    features: str = "noprox+rectangle",
    policy: str = "document",
    **options: Any,
) -> int:
    """Write one line per entity with its summed features; see `fader.search.batch.write_letor`."""
    batch = LetorBatch.create(open_index(recipe), queries, qrels, features, policy, **options)
    key = {"letor": options, "features": str(batch.maps), "policy": policy, "grades": qrels}

    def write(rows: Iterator[Any]) -> int:
        return batch.write(queries, rows, path, progress)

    cut = _cut(recipe, queries, batch, list, MOST_RANKED)
    return _run(runner, _describe(recipe, queries, key), cut, write, path, progress)


def _cut(recipe: Held, queries: Sequence[Parsed], batch: Any, pack: Callable[[Any], Any], most: int) -> list[ChunkTask]:
    """The tasks of all queries."""
    made = []
    for chunk, place in enumerate(cut_chunks(len(queries), most)):
        own = list(queries[place.start : place.stop])
        made.append(
            ChunkTask(
                name=f"queries {quote(own[0].id)} to {quote(own[-1].id)}",
                recipe=recipe,
                batch=batch.narrow(own) if isinstance(batch, LetorBatch) else batch,
                pack=pack,
                queries=own,
                first=place.start,
                chunk=chunk,
            )
        )
    return made


def cut_chunks(count: int, most: int) -> list[range]:
    """Divide `count` queries into chunks."""
    size = max(1, min(most, count // CHUNKS))
    return [range(at, min(count, at + size)) for at in range(0, count, size)]


def _run(
    runner: Runner[Task],
    key: Key,
    tasks: Sequence[ChunkTask],
    write: Callable[[Iterator[Any]], Out],
    path: str,
    progress: Progress,
) -> Out:
    """Run the tasks without a result in the journal, then write the output."""
    done, total = 0, sum(len(task.queries) for task in tasks)

    def count(task: Task) -> None:
        nonlocal done
        done += len(task.queries) if isinstance(task, ChunkTask) else 0
        progress.update(done, total, task.name)

    def write_all(results: Iterator[bytes]) -> Out:
        return write(row for data in results for row in msgspec.msgpack.decode(data))

    with open_journal(path, key) as journal:
        job = Job[Task, bytes, Out](key, tasks, make_worker, lambda own: KeptResults(own, write_all, count))
        return run_job(job, journal, runner)


@contextmanager
def open_journal(output: str, key: Key) -> Iterator[Journal]:
    """Open the journal of the job that writes `output`: `OUT.unfinished/KEY/`, where KEY is the digest of the key.

    Results of a job with another key are removed. Only one job at a time can write an output. The journal is removed
    on success.
    """
    digest, final = digest_key(key), Path(output).resolve()
    if final.is_dir():
        raise StorageError(f"{output}: is a folder; give a file")
    if output == "-" or (final.exists() and not final.is_file()):  # no journal can lie beside it
        with tempfile.TemporaryDirectory(prefix="fader-") as place:
            yield Journal(LocalFolder(Path(place)), key=digest)
        return
    folder = final.with_name(f"{final.name}.unfinished")
    try:
        folder.mkdir(exist_ok=True)  # the folder of the output must exist
        with hold_folder(folder, final):
            for other in folder.iterdir():
                if other.is_dir() and other.name != digest:
                    shutil.rmtree(other)
            (folder / digest).mkdir(exist_ok=True)
            yield Journal(LocalFolder(folder), digest, digest)
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise StorageError(f"{error.filename or folder}: cannot be written: {error.strerror or error}") from error


def _describe(recipe: Held, queries: Sequence[Parsed], asked: Mapping[str, Any]) -> Key:
    """The key of a job: everything that results depend on."""
    index = open_index(recipe)
    return {
        "fader": __version__,
        "collection": contents_of(index.collection),
        "analysis": index.collection.analysis.to_dict(),
        "queries": [[q.id, repr(q.query)] for q in queries],
        "limits": str(index.limits),
        **asked,
    }
