"""Many queries at once: to a TREC run, to a Parquet table of contexts, to LETOR vectors. Files appear whole or not.

Each output is a batch: `find` works on one query, `write` makes the file of what was found, in the order of queries.
`fader.cluster.jobs.batch` uses the same batches with tasks on a cluster. Knows nothing of terminals.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO, TypeVar

import numpy as np

from fader.contexts.query import Query
from fader.contexts.table import arrow_schema
from fader.corpus.queries import FaultCollector, QueryLine
from fader.errors import FaderError, InputError, LimitError, UsageError, quote
from fader.features.combined import Combined, feature_map
from fader.jobs.files import whole_file
from fader.jobs.runners import count_cores
from fader.learn.dataset import query_data
from fader.learn.model import Model
from fader.learn.objective import sum_vectors
from fader.progress import Progress
from fader.search.index import Index, Ranked
from fader.search.models import DEFAULT

T = TypeVar("T")
AHEAD = 32  # queries that are ranked before the first of them is written
Grades = Mapping[str, Mapping[str, int]]  # of the entities of a query, by its id


@dataclass(frozen=True, slots=True)
class Parsed:
    """A query of a file, understood."""

    id: str
    query: Query
    question: str | None = None  # asked in plain words instead of the query


def parse_all(index: Index, lines: list[QueryLine], fault: FaultCollector, questions: bool = False) -> list[Parsed]:
    """Parse every query, or read every question, before the first is run, so that a fault costs no work."""
    parsed = []
    for line in lines:
        try:
            if questions:
                read = index.read(line.question, correct=False)
                parsed.append(Parsed(line.id, index.parse(read.readings[0].query), line.question))
            else:
                parsed.append(Parsed(line.id, index.parse(line.query, line.type)))
        except FaderError as error:
            fault(f"{line.place}: {error}")
    return parsed


def refuse_overwriting(output: str, *inputs: str | None) -> None:
    """An output must not be one of the inputs."""
    for given in inputs:
        if given and Path(given).exists() and Path(output).exists() and os.path.samefile(given, output):
            raise UsageError(f"{output}: is also an input; give another name for the output")


@dataclass(frozen=True)
class RunBatch:
    """Queries to their rankings, and these to a TREC run."""

    model: Model
    k: int
    interpreter: Any = DEFAULT

    def find(self, index: Index, number: int, query: Parsed) -> Ranked | LimitError:
        """The ranking of a query, or the limit that it passes; `number` counts queries from 1."""
        try:
            if query.question is not None:
                return index.rank_question(query.question, self.k, self.model, self.interpreter)
            return index.rank(query.query, k=self.k, model=self.model)
        except LimitError as error:
            return error

    def write(
        self,
        queries: Sequence[Parsed],
        found: Iterable[Ranked | LimitError],
        path: str,
        progress: Progress,
        fault: FaultCollector | None = None,
    ) -> dict[str, list[str]]:
        """Write the rankings of all queries, in their order; returns the ranked entities of each.

        A query that passes a limit, of time say, goes to `fault`, and is not in the run; without one it is an error.
        """
        if path == "-":
            return self._write_lines(queries, found, sys.stdout, progress, fault)
        with whole_file(path) as pending, open(pending, "w", encoding="utf-8") as file:
            return self._write_lines(queries, found, file, progress, fault)

    def _write_lines(
        self,
        queries: Sequence[Parsed],
        found: Iterable[Ranked | LimitError],
        out: TextIO,
        progress: Progress,
        fault: FaultCollector | None,
    ) -> dict[str, list[str]]:
        ranked = {}
        tag = str(self.model).replace(" ", "")
        for done, (parsed, result) in enumerate(zip(queries, found, strict=True), 1):
            if isinstance(result, LimitError):
                message = f"query {quote(parsed.id)}: {result}"
                if fault is None:
                    raise type(result)(message)
                fault(message)
                continue
            ranked[parsed.id] = result.entities
            if len("".join(result.entities).split(maxsplit=1)) > 1:
                entity = next(e for e in result.entities if len(f"({e})".split()) > 1)
                what = f"entity id {quote(entity)} has white space"
                raise InputError(f"{what}, which a TREC run cannot hold; rename it")
            pairs = enumerate(zip(result.entities, result.scores, strict=True), 1)
            out.writelines([f"{parsed.id} Q0 {entity} {rank} {score!r} {tag}\n" for rank, (entity, score) in pairs])
            progress.update(done, len(queries), parsed.id)
        return ranked


@dataclass(frozen=True)
class ContextsBatch:
    """Queries to their contexts, and these to a Parquet file, sorted by query, entity, document and start."""

    options: Mapping[str, Any]

    def find(self, index: Index, number: int, query: Parsed) -> Any:
        """The contexts of a query as an Arrow table."""
        return index.contexts(query.query, **self.options).to_arrow(query.id)

    def write(
        self, queries: Sequence[Parsed], found: Iterable[Any], qrels: Grades | None, path: str, progress: Progress
    ) -> int:
        """Write the tables of queries sorted by id; returns the number of rows."""
        import pyarrow as pa  # heavy: only this output needs it
        import pyarrow.parquet as pq

        schema = arrow_schema()
        if qrels is not None:
            schema = schema.append(pa.field("grade", pa.int32()))
        rows = 0
        with whole_file(path) as pending, pq.ParquetWriter(pending, schema, compression="zstd") as writer:
            for done, (parsed, table) in enumerate(zip(queries, found, strict=True), 1):
                if qrels is not None:
                    grades = qrels.get(parsed.id, {})
                    column = [grades.get(e) for e in table.column("entity").to_pylist()]
                    table = table.append_column("grade", pa.array(column, type=pa.int32()))
                writer.write_table(table)
                rows += table.num_rows
                progress.update(done, len(queries), f"{rows:,} contexts")
        return rows


@dataclass(frozen=True)
class LetorBatch:
    """Queries to one line per entity, `grade qid:1 1:0.5 2:3 # entity query`: features summed over its contexts.

    Under the policy `document` the mention that counts is the best by the features' start weights. The grade of an
    entity that is not judged is 0; so are all without judgments.
    """

    maps: Combined
    policy: str
    qrels: Grades
    options: Mapping[str, Any]

    @classmethod
    def create(
        cls,
        index: Index,
        queries: Sequence[Parsed],
        qrels: Grades | None,
        features: str = "noprox+rectangle",
        policy: str = "document",
        **options: Any,
    ) -> LetorBatch:
        """With the feature map of a text; edges that are to be learned are learned from all queries."""
        maps = feature_map(features)
        if maps.learns_edges:
            maps = maps.fit_edges(index.contexts(q.query, **options) for q in queries)
        return cls(maps, policy, qrels or {}, options)

    def narrow(self, queries: Iterable[Parsed]) -> LetorBatch:
        """The same with the judgments of some queries alone."""
        return replace(self, qrels={q.id: self.qrels[q.id] for q in queries if q.id in self.qrels})

    def find(self, index: Index, number: int, query: Parsed) -> list[str]:
        """The lines of a query."""
        ids = index.collection.catalog.entity_ids
        grades: dict[Hashable, int] = {ids.find(e): grade for e, grade in self.qrels.get(query.id, {}).items()}
        contexts = index.contexts(query.query, **self.options)
        data = query_data(query.id, contexts, self.maps, self.policy, grades)
        vectors = sum_vectors(data.best(self.maps.expand(self.maps.start())), self.maps)
        lines = []
        for entity, grade, vector in zip(data.entity.tolist(), data.judgments.grades.tolist(), vectors, strict=True):
            cells = " ".join(f"{i + 1}:{vector[i]:.9g}" for i in np.flatnonzero(vector))
            lines.append(f"{max(grade, 0)} qid:{number} {cells} # {ids[entity]} {query.id}\n")
        return lines

    def write(self, queries: Sequence[Parsed], found: Iterable[list[str]], path: str, progress: Progress) -> int:
        """Write the lines of all queries; returns their number."""
        count = 0
        with whole_file(path) as pending, open(pending, "w", encoding="utf-8") as out:
            out.writelines(f"# {i}: {label}\n" for i, label in enumerate(self.maps.labels(), 1))
            for done, lines in enumerate(found, 1):
                out.writelines(lines)
                count += len(lines)
                progress.update(done, len(queries), f"{count:,} entities")
        return count


def write_run(
    index: Index,
    queries: Sequence[Parsed],
    model: Model,
    k: int,
    path: str,
    progress: Progress,
    fault: FaultCollector | None = None,
    interpreter: Any = DEFAULT,
) -> dict[str, list[str]]:
    """Write a TREC run of all queries; see `RunBatch`."""
    batch = RunBatch(model, k, interpreter)
    with find_all(partial(batch.find, index), queries) as found:
        return batch.write(queries, found, path, progress, fault)


@contextmanager
def find_all(find: Callable[[int, Parsed], T], queries: Sequence[Parsed]) -> Iterator[Iterator[T]]:
    """What `find` gives for each query, in their order; as many at once as there are cores, as kernels need no lock."""
    with ThreadPoolExecutor(count_cores()) as pool:
        waiting: deque[Future[T]] = deque()

        def take() -> Iterator[T]:
            for number, query in enumerate(queries, 1):
                waiting.append(pool.submit(find, number, query))
                if len(waiting) > AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

        try:
            yield take()
        finally:
            pool.shutdown(cancel_futures=True)


def write_contexts(
    index: Index, queries: Sequence[Parsed], qrels: Grades | None, path: str, progress: Progress, **options: Any
) -> int:
    """Write all contexts of all queries as one Parquet file; see `ContextsBatch`."""
    batch, ordered = ContextsBatch(options), sort_queries(queries)
    found = (batch.find(index, number, query) for number, query in enumerate(ordered, 1))
    return batch.write(ordered, found, qrels, path, progress)


def sort_queries(queries: Sequence[Parsed]) -> list[Parsed]:
    """Queries in the order in which their contexts are written."""
    return sorted(queries, key=lambda p: p.id)


def write_letor(
    index: Index,
    queries: Sequence[Parsed],
    qrels: Grades | None,
    path: str,
    progress: Progress,
    features: str = "noprox+rectangle",
    policy: str = "document",
    **options: Any,
) -> int:
    """Write the feature vectors of all queries; see `LetorBatch`."""
    batch = LetorBatch.create(index, queries, qrels, features, policy, **options)
    found = (batch.find(index, number, query) for number, query in enumerate(queries, 1))
    return batch.write(queries, found, path, progress)
