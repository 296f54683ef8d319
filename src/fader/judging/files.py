"""Judgments as judged queries: queries.jsonl and qrels.txt, written and read.

    {"id": "j...", "question": ..., "query": ..., "type": ...}         a line per judged question and reading
    j... 0 ENTITY GRADE                                                a line per judged entity: 2, 1 or 0

What one person says of a question that others judged too is combined (`record.combine`). Grades above 2 are read as 2,
those below 0 as 0. Knows nothing of indexes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from fader.corpus.queries import FaultCollector, QueryLine, read_qrels, read_queries
from fader.errors import InputError
from fader.jobs.files import whole_file
from fader.judging.record import RIGHT, WRONG, JudgedReading, Judgment, combine, limit_shares, now

QUERIES, QRELS = "queries.jsonl", "qrels.txt"


class JudgedFiles(NamedTuple):
    """Queries, and grades by query and entity."""

    queries: list[QueryLine]
    grades: dict[str, dict[str, int]]


def as_judged(judgments: Iterable[Judgment]) -> JudgedFiles:
    """Judgments that count as judged queries."""
    combined = combine(limit_shares(list(judgments)))
    lines = [QueryLine(r.id, r.query or r.question, r.type, r.question, "judgments") for r in combined]
    return JudgedFiles(lines, {reading.id: grades for reading, grades in combined.items()})


def export_judgments(judgments: Iterable[Judgment], folder: str | Path) -> JudgedFiles:
    """Write queries.jsonl and qrels.txt into a folder; each file appears whole."""
    queries, grades = as_judged(judgments)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if any(entity.split() != [entity] for graded in grades.values() for entity in graded):
        raise InputError("an entity's id has white space, which a file cannot hold; take the judgment back")
    with whole_file(folder / QUERIES) as pending:
        plain = [{"id": q.id, "question": q.question, "query": q.query, "type": q.type} for q in queries]
        pending.write_text("".join(json.dumps(p, ensure_ascii=False) + "\n" for p in plain), encoding="utf-8")
    with whole_file(folder / QRELS) as pending:
        rows = [f"{q.id} 0 {entity} {grade}\n" for q in queries for entity, grade in grades[q.id].items()]
        pending.write_text("".join(rows), encoding="utf-8")
    return JudgedFiles(queries, grades)


def import_judgments(queries: str | Path, qrels: str | Path, who: str, fault: FaultCollector) -> list[Judgment]:
    """The judgments of files, as one person's; those of queries that are not in the file are left out."""
    lines = {line.id: line for line in read_queries(queries, fault)}
    when, found = now(), []
    for query, graded in read_qrels(qrels, fault).items():
        line = lines.get(query)
        if line is None:
            fault(f"{qrels}: judgments of the query {query}, which is not in {queries}")
            continue
        reading = JudgedReading(line.question, line.query, line.type)
        found += [
            Judgment(who, when, reading, entity, min(RIGHT, max(WRONG, grade))) for entity, grade in graded.items()
        ]
    return found
