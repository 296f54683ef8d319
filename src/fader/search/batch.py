"""Many queries at once: to a TREC run, to a Parquet table of contexts, to LETOR vectors. Files appear whole or not.

Knows nothing of terminals; progress is reported to whoever asks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from fader.contexts.query import Query
from fader.corpus.queries import FaultCollector, QueryLine
from fader.errors import FaderError, InputError, LimitError, UsageError, quoted
from fader.features.combined import Combined
from fader.jobs.files import whole_file
from fader.learn.model import Model
from fader.progress import Progress
from fader.search.index import Index, Ranked


@dataclass(frozen=True, slots=True)
class Parsed:
    """A query of a file, understood."""

    id: str
    query: Query


def parse_all(index: Index, lines: list[QueryLine], fault: FaultCollector) -> list[Parsed]:
    """Parse every query before the first is run, so that a fault costs no work."""
    parsed = []
    for line in lines:
        try:
            parsed.append(Parsed(line.id, index.parse(line.query, line.type)))
        except FaderError as error:
            fault(f"{line.place}: {error}")
    return parsed


def refuse_overwriting(output: str, *inputs: str | None) -> None:
    """An output must not be one of the inputs."""
    for given in inputs:
        if given and Path(given).exists() and Path(output).exists() and os.path.samefile(given, output):
            raise UsageError(f"{output}: is also an input; give another name for the output")


def write_run(
    index: Index, queries: list[Parsed], model: Model, k: int, path: str, progress: Progress,
    fault: FaultCollector | None = None,
) -> dict[str, list[str]]:  # fmt: skip
    """A TREC run of all queries; returns the ranked entities of each.

    A query that passes a limit, of time say, is told to `fault`, and is not in the run; without one it is an error.
    """
    found = (ranked_or_refused(index, parsed.query, model, k) for parsed in queries)
    return write_rankings(queries, found, model, path, progress, fault)


def ranked_or_refused(index: Index, query: Query, model: Model, k: int) -> Ranked | LimitError:
    """The ranking of one query, or the limit that it passes."""
    try:
        return index.rank(query, k=k, model=model)
    except LimitError as error:
        return error


def write_rankings(
    queries: list[Parsed], found: Iterable[Ranked | LimitError], model: Model, path: str, progress: Progress,
    fault: FaultCollector | None = None,
) -> dict[str, list[str]]:  # fmt: skip
    """The same of rankings, wherever they come from, in the order of the queries."""
    if path == "-":
        return _write_all(queries, found, model, sys.stdout, progress, fault)
    with whole_file(path) as pending, open(pending, "w", encoding="utf-8") as file:
        ranked = _write_all(queries, found, model, file, progress, fault)
        file.flush()
    return ranked


def _write_all(
    queries: list[Parsed], found: Iterable[Ranked | LimitError], model: Model, out: TextIO, progress: Progress,
    fault: FaultCollector | None,
) -> dict[str, list[str]]:  # fmt: skip
    ranked = {}
    tag = str(model).replace(" ", "")
    for done, (parsed, result) in enumerate(zip(queries, found, strict=True), 1):
        if isinstance(result, LimitError):
            _tell(fault, parsed.id, result)
            continue
        ranked[parsed.id] = result.entities
        pairs = zip(result.entities, result.scores, strict=True)
        for rank, (entity, score) in enumerate(pairs, 1):
            out.write(f"{parsed.id} Q0 {_column(entity)} {rank} {score!r} {tag}\n")
        progress.update(done, len(queries), parsed.id)
    return ranked


def _tell(fault: FaultCollector | None, query: str, error: LimitError) -> None:
    message = f"query {quoted(query)}: {error}"
    if fault is None:
        raise type(error)(message) from None
    fault(message)


def _column(entity: str) -> str:
    if any(c.isspace() for c in entity):
        raise InputError(f"entity id {quoted(entity)} has white space, which a TREC run cannot hold; rename it")
    return entity


def write_contexts(
    index: Index,
    queries: list[Parsed],
    qrels: dict[str, dict[str, int]] | None,
    path: str,
    progress: Progress,
    **options: Any,
) -> int:
    """All contexts of all queries as one Parquet file, sorted by query, entity, document and start."""
    ordered = in_order(queries)
    tables = (index.contexts(parsed.query, **options).to_arrow(parsed.id) for parsed in ordered)
    return write_tables(ordered, tables, qrels, path, progress)


def in_order(queries: list[Parsed]) -> list[Parsed]:
    """Queries in the order in which their contexts are written."""
    return sorted(queries, key=lambda p: p.id)


def write_tables(
    queries: list[Parsed], tables: Iterable[Any], qrels: dict[str, dict[str, int]] | None, path: str, progress: Progress
) -> int:
    """The same of Arrow tables, wherever they come from, in the order of the queries, which are in order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from fader.contexts.table import arrow_schema

    schema = arrow_schema()
    if qrels is not None:
        schema = schema.append(pa.field("grade", pa.int32()))
    rows = 0
    with whole_file(path) as pending, pq.ParquetWriter(pending, schema, compression="zstd") as writer:
        for done, (parsed, table) in enumerate(zip(queries, tables, strict=True), 1):
            if qrels is not None:
                grades = qrels.get(parsed.id, {})
                column = [grades.get(e) for e in table.column("entity").to_pylist()]
                table = table.append_column("grade", pa.array(column, type=pa.int32()))
            writer.write_table(table)
            rows += table.num_rows
            progress.update(done, len(queries), f"{rows:,} contexts")
    return rows


def write_letor(
    index: Index, queries: list[Parsed], qrels: dict[str, dict[str, int]] | None, path: str, progress: Progress,
    features: str = "noprox+rectangle", policy: str = "document", **options: Any,
) -> int:  # fmt: skip
    """One line an entity, `grade qid:1 1:0.5 2:3 # entity query`: features summed over the contexts that count.

    Under the policy `document` the mention that counts is the best by the features' start weights. The grade of an
    entity that is not judged is 0; so are all without judgments. Returns the number of lines.
    """
    maps = letor_maps(index, queries, features, **options)
    found = (letor_lines(index, q, n, (qrels or {}).get(q.id, {}), maps, policy, **options)
             for n, q in enumerate(queries, 1))  # fmt: skip
    return write_vectors(maps, found, len(queries), path, progress)


def letor_maps(index: Index, queries: list[Parsed], features: str, **options: Any) -> Combined:
    """The feature map of a text; edges that are to be learned are learned from all queries."""
    from fader.features.combined import feature_map

    maps = feature_map(features)
    return maps.fitted(index.contexts(q.query, **options) for q in queries) if maps.learns_edges else maps


def letor_lines(
    index: Index, query: Parsed, number: int, grades: dict[str, int], maps: Combined, policy: str, **options: Any
) -> list[str]:
    """The lines of one query, the number-th of its file."""
    from fader.learn.dataset import query_data
    from fader.learn.objective import summed_vectors

    ids, find = index.collection.catalog.entity_ids, index.collection.catalog.entity_ids.find
    numbered: dict[Hashable, int] = {find(e): grade for e, grade in grades.items()}
    data = query_data(query.id, index.contexts(query.query, **options), maps, policy, numbered)
    vectors = summed_vectors(data.best(maps.expand(maps.start())), maps)
    lines = []
    for entity, grade, vector in zip(data.entity.tolist(), data.judgments.grades.tolist(), vectors, strict=True):
        cells = " ".join(f"{i + 1}:{vector[i]:.9g}" for i in np.flatnonzero(vector))
        lines.append(f"{max(grade, 0)} qid:{number} {cells} # {ids[entity]} {query.id}\n")
    return lines


def write_vectors(maps: Combined, found: Iterable[list[str]], queries: int, path: str, progress: Progress) -> int:
    """A LETOR file of the lines of each query, wherever they come from; returns their number."""
    count = 0
    with whole_file(path) as pending, open(pending, "w", encoding="utf-8") as out:
        out.writelines(f"# {i}: {label}\n" for i, label in enumerate(maps.labels(), 1))
        for done, lines in enumerate(found, 1):
            out.writelines(lines)
            count += len(lines)
            progress.update(done, queries, f"{count:,} entities")
    return count
