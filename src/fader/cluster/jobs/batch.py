"""Many queries over the shards of a cluster: to a TREC run, to a Parquet table of contexts, to LETOR vectors.

    ranked = run(runner, recipe, queries, model, k, "out.run", progress)

Queries are cut into chunks, a task each, that asks all shards and ranks by the merged tables; the driver keeps what
tasks have found (parts.py) and at last writes the file as one machine does (fader.search.batch), byte for byte. A task
may be run anywhere and several times. How queries are cut follows from their number alone, so that a killed driver is
followed by one that takes the same chunks. Knows nothing of Ray: tasks are run by a `Runner`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

import fader.errors
from fader import __version__
from fader.cluster.jobs.checkpoint import Parts, parts_of
from fader.cluster.jobs.index_handle import Found, Given, Recipe, asking, open_index
from fader.cluster.jobs.scheduler import Job, Runner
from fader.corpus.queries import FaultCollector
from fader.errors import LimitError, quoted
from fader.learn.model import Model
from fader.progress import Progress
from fader.search.batch import (
    Parsed,
    in_order,
    letor_lines,
    letor_maps,
    ranked_or_refused,
    write_rankings,
    write_tables,
    write_vectors,
)
from fader.search.index import Ranked
from fader.search.models import contents_of

CHUNKS = 64  # tasks of a job at least, where there are queries for them
MOST_RANKED, MOST_TABLES = 16, 4  # queries of a task: tables are large
Grades = Mapping[str, Mapping[str, int]]


def run(
    runner: Runner, recipe: Recipe, queries: list[Parsed], model: Model, k: int, path: str, progress: Progress,
    fault: FaultCollector | None = None,
) -> dict[str, list[str]]:  # fmt: skip
    """A TREC run of all queries; see `write_run`."""
    open_index(recipe).limits.check("k", k)
    asked = {"model": model, "k": k}
    about = _about(recipe, queries) | {"run": model.key, "k": k}
    with parts_of(path, about) as parts:
        cut = _found(runner, parts, ranked_chunk, recipe, queries, asked, MOST_RANKED, progress)
        found = (_ranked(one) for data in cut for one in msgspec.msgpack.decode(data))
        return write_rankings(queries, found, model, path, progress, fault)


@asking
def ranked_chunk(given: Given) -> Found:
    """The rankings of some queries; of one that passes a limit what it is told."""
    index = open_index(given["recipe"])
    rows: list[list[Any]] = []
    for query in given["queries"]:
        found = ranked_or_refused(index, query.query, given["model"], given["k"])
        if isinstance(found, LimitError):
            rows.append([type(found).__name__, str(found)])
        else:
            rows.append([found.entities, found.scores, found.support])
    return {"data": msgspec.msgpack.encode(rows)}


def _ranked(row: list[Any]) -> Ranked | LimitError:
    if len(row) == 3:
        return Ranked(*row)
    error: LimitError = getattr(fader.errors, row[0])(row[1])
    return error


def contexts(
    runner: Runner, recipe: Recipe, queries: list[Parsed], qrels: Grades | None, path: str, progress: Progress,
    **options: Any,
) -> int:  # fmt: skip
    """All contexts of all queries as one Parquet file; see `write_contexts`."""
    ordered = in_order(queries)
    about = _about(recipe, ordered) | {"contexts": options}
    with parts_of(path, about) as parts:
        asked = {"options": options}
        cut = _found(runner, parts, tables_chunk, recipe, ordered, asked, MOST_TABLES, progress)
        tables = (_table(one) for data in cut for one in msgspec.msgpack.decode(data))
        grades = None if qrels is None else {q: dict(of) for q, of in qrels.items()}
        return write_tables(ordered, tables, grades, path, progress)


@asking
def tables_chunk(given: Given) -> Found:
    """The contexts of some queries, as streams of Arrow."""
    import pyarrow as pa

    index, rows = open_index(given["recipe"]), []
    for query in given["queries"]:
        table = index.contexts(query.query, **given["options"]).to_arrow(query.id)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
            writer.write_table(table)
        rows.append(sink.getvalue().to_pybytes())
    return {"data": msgspec.msgpack.encode(rows)}


def _table(data: bytes) -> Any:
    import pyarrow as pa

    return pa.ipc.open_stream(data).read_all()


def letor(
    runner: Runner, recipe: Recipe, queries: list[Parsed], qrels: Grades | None, path: str, progress: Progress,
    features: str = "noprox+rectangle", policy: str = "document", **options: Any,
) -> int:  # fmt: skip
    """One line an entity with its summed features; see `write_letor`."""
    maps = letor_maps(open_index(recipe), queries, features, **options)
    about = _about(recipe, queries) | {"letor": options, "features": str(maps), "policy": policy, "grades": qrels}
    with parts_of(path, about) as parts:
        asked = {"options": options, "maps": maps, "policy": policy, "qrels": qrels or {}}
        cut = _found(runner, parts, letor_chunk, recipe, queries, asked, MOST_RANKED, progress)
        lines = (one for data in cut for one in msgspec.msgpack.decode(data))
        return write_vectors(maps, lines, len(queries), path, progress)


@asking
def letor_chunk(given: Given) -> Found:
    """The lines of some queries."""
    index = open_index(given["recipe"])
    how = given["maps"], given["policy"]
    rows = [
        letor_lines(index, query, number, given["qrels"].get(query.id, {}), *how, **given["options"])
        for number, query in enumerate(given["queries"], given["first"] + 1)
    ]
    return {"data": msgspec.msgpack.encode(rows)}


def _found(
    runner: Runner, parts: Parts, function: Callable[[Given], Found], recipe: Recipe, queries: Sequence[Parsed],
    asked: dict[str, Any], most: int, progress: Progress,
) -> Iterator[bytes]:  # fmt: skip
    """What tasks find for each chunk of queries, in order; chunks that are kept already are not done again."""
    cut = chunks(len(queries), most)
    left = [n for n in range(len(cut)) if parts.find(n) is None]
    done = len(queries) - sum(len(cut[n]) for n in left)

    def take(job: Job, found: Found) -> None:
        nonlocal done
        parts.put(job.given["chunk"], found["data"])
        done += len(job.given["queries"])
        progress.update(done, len(queries), job.name)

    jobs = []
    for n in left:
        first, own = cut[n].start, list(queries[cut[n].start : cut[n].stop])
        given = {"fader": __version__, "recipe": recipe, "queries": own, "first": first, "chunk": n, **asked}
        if "qrels" in asked:
            given["qrels"] = {q.id: asked["qrels"][q.id] for q in own if q.id in asked["qrels"]}
        jobs.append(Job(f"queries {quoted(own[0].id)} to {quoted(own[-1].id)}", function, given))
    if jobs:
        runner.run(jobs, take)
    return (parts.get(n) for n in range(len(cut)))


def chunks(count: int, most: int) -> list[range]:
    """So many queries in chunks."""
    size = max(1, min(most, count // CHUNKS))
    return [range(at, min(count, at + size)) for at in range(0, count, size)]


def _about(recipe: Recipe, queries: Sequence[Parsed]) -> dict[str, Any]:
    """What results hang on besides what is asked."""
    index = open_index(recipe)
    collection, analysis = contents_of(index.collection), index.collection.analysis.to_dict()
    asked = {"queries": [[q.id, repr(q.query)] for q in queries], "limits": str(index.limits)}
    return {"fader": __version__, "collection": collection, "analysis": analysis} | asked
