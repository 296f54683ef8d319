"""Queries and judgments from files, dictionaries or data frames, as Python callers have them.

A frame is one of pandas, Polars or Arrow. Columns are those of PyTerrier and ir_datasets (`qid`, `query`, `docno`,
`label`) or Fader's own; rows may also be dictionaries or named tuples. Knows nothing of indexes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fader.corpus.queries import MOST, FaultCollector, QueryLine, read_qrels, read_queries
from fader.errors import InputError, UsageError, quote

QUERY_ID = ("id", "qid", "query_id")
TEXT = ("query", "text")
ENTITY = ("entity", "docno", "doc_id")
GRADE = ("grade", "label", "relevance")


def load_queries(given: Any) -> list[QueryLine]:
    """Queries from a path, from dictionaries with id (or qid), query and optionally type, or from a frame."""
    if isinstance(given, str | Path):
        return read_queries(given, FaultCollector())
    lines: dict[str, QueryLine] = {}
    for number, row in enumerate(_list_rows(given), 1):
        place = f"query {number}"
        if isinstance(row, QueryLine):
            if row.id in lines:
                raise InputError(f"{place}: duplicate query id {quote(row.id)}")
            lines[row.id] = row
            continue
        row = _to_dict(row, place)
        name, text = _first(row, QUERY_ID), _first(row, TEXT)
        if _is_missing(name) or _is_missing(text):
            raise InputError(f'{place}: needs "id" (or "qid") and "query": {quote(row)}')
        if str(name) in lines:
            raise InputError(f"{place}: duplicate query id {quote(name)}")
        kind = None if _is_missing(row.get("type")) else str(row["type"])
        question = "" if _is_missing(row.get("question")) else str(row["question"])
        lines[str(name)] = QueryLine(str(name), str(text), kind, question, place)
    return list(lines.values())


def load_qrels(given: Any) -> dict[str, dict[str, int]]:
    """Judgments from a path, from `{query: {entity: grade}}`, or from a frame with qid, docno and label."""
    if isinstance(given, str | Path):
        return read_qrels(given, FaultCollector())
    if isinstance(given, Mapping):
        return {str(q): _check_grades(of, f"judgments of {quote(q)}") for q, of in given.items()}
    qrels: dict[str, dict[str, int]] = {}
    for number, row in enumerate(_list_rows(given), 1):
        place = f"judgment {number}"
        row = _to_dict(row, place)
        name, entity, value = _first(row, QUERY_ID), _first(row, ENTITY), _first(row, GRADE)
        if _is_missing(name) or _is_missing(entity) or value is None:
            raise InputError(f'{place}: needs "qid", "docno" and "label": {quote(row)}')
        grade = _parse_grade(value, place)
        before = qrels.setdefault(str(name), {}).setdefault(str(entity), grade)
        if before != grade:
            conflict = f"{quote(entity)} has grade {grade} for query {quote(name)}, but {before} before"
            raise InputError(f"{place}: {conflict}; keep one")
    return qrels


def _check_grades(given: Any, place: str) -> dict[str, int]:
    if not isinstance(given, Mapping):
        raise InputError(f"{place}: must be a dictionary of grades by entity, not {quote(given)}")
    return {str(e): _parse_grade(g, f"{place}, {quote(e)}") for e, g in given.items()}


def _parse_grade(value: Any, place: str) -> int:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (abs(number) <= MOST and number == int(number)):
        raise InputError(f"{place}: grade {quote(value)} is not a whole number within ±{MOST}")
    return int(number)


def _list_rows(given: Any) -> Iterable[Any]:
    if hasattr(given, "to_pylist"):
        return given.to_pylist()  # type: ignore[no-any-return]
    if hasattr(given, "to_dicts"):
        return given.to_dicts()  # type: ignore[no-any-return]
    if is_frame(given):
        return given.to_dict("records")  # type: ignore[no-any-return]
    if isinstance(given, Mapping):
        return [given]
    if not isinstance(given, Iterable):
        raise UsageError(f"queries and judgments must be files, dictionaries or frames, not {quote(given)}")
    return given


def _to_dict(row: Any, place: str) -> dict[str, Any]:
    """A row as a dictionary by column names."""
    named = row._asdict() if hasattr(row, "_asdict") else row
    if not isinstance(named, Mapping):
        raise InputError(f"{place}: must be a dictionary, not {quote(row)}")
    return dict(named)


def is_frame(given: Any) -> bool:
    """Whether this is a frame of pandas or Polars, without importing them."""
    return hasattr(given, "columns") and hasattr(given, "to_dict") and not hasattr(given, "to_pylist")


def _first(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((row[name] for name in names if name in row), None)


def _is_missing(value: Any) -> bool:
    """Whether a cell is empty in any of the ways of frames; pandas' NA is not comparable."""
    nothing = value is None or type(value).__name__ == "NAType"
    return nothing or (isinstance(value, str) and not value) or (isinstance(value, float) and math.isnan(value))
