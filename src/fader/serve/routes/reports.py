"""Reports of comparisons over HTTP: which there are, what one holds, how two of its systems differ, its files.

    GET /v1/reports                        name, title, systems, queries, measures, time, and the best of each
    GET /v1/reports/{name}?values          report.json with the table of means as numbers, captions, files;
                                           values=false leaves out what is per query
    GET /v1/reports/{name}/pair?a&b&measure&format
                                           per-query values of two systems, their difference and its p-value
    GET /v1/reports/{name}/files/{file}    a file of the report; theme=dark gives an SVG other colours

A report is read when it is asked for, so that one written anew is seen; what was made of it is kept until its
`report.json` changes. Only files that a report is known to consist of are served, opened one folder after the other
and never through a link. Knows nothing of indexes.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import msgspec
import numpy as np
from fastapi import APIRouter, Query, Request
from fastapi import Path as Placed
from fastapi.responses import Response

from fader.csvtext import format_csv
from fader.errors import FaderError, InputError, did_you_mean, quoted
from fader.experiment.comparison import Comparison, SystemResult, measure_title
from fader.experiment.provenance import list_provenance
from fader.experiment.reporting.page import count_settings
from fader.experiment.reporting.report import MARK, NAMES, StoredReport, parse_report
from fader.experiment.reporting.tables import MeansTable
from fader.experiment.significance import p_value
from fader.serve.api.openapi import EVERYWHERE, describe_errors
from fader.serve.errors import JSON, BadRequest, NotFound
from fader.serve.reports.files import FIGURE, FRESH, KINDS, files_in, opened_file, saved_as, sent_file
from fader.serve.settings import Settings

MOST_BYTES = 256 << 20  # of a report.json
WORTH_PACKING = 4096

Work = Callable[[], Response]

Name = Annotated[str, Placed(description="The report, by name.", examples=["mine"])]
File = Annotated[str, Placed(description="A file of it.", examples=["table.csv"])]
Values = Annotated[Literal["true", "false"], Query(description="Whether to give the values of every query.")]
First = Annotated[str, Query(description="A system of the report; the best without.", max_length=2000)]
Second = Annotated[str, Query(description="Another; the baseline or the next best without.", max_length=2000)]
Measure = Annotated[str, Query(description="A measure of the report; the first without.", max_length=200)]
Form = Annotated[Literal["json", "csv"], Query(description="How the answer is written.")]
Theme = Annotated[Literal["light", "dark"], Query(description="The colours of an SVG.")]

LIST = {"reports": [{
    "name": "mine", "title": "Comparison on index", "time": "2026-11-16T08:57:02Z", "index": "index", "systems": 2,
    "queries": 100, "measures": ["AP"], "best": {"measure": "MAP", "system": "voting", "title": "voting", "mean": 0.4},
}]}  # fmt: skip
ONE = {
    "name": "mine", "title": "Comparison on index", "time": "2026-11-16T08:57:02Z", "index": "index", "queries": 100,
    "measures": ["AP"], "table": {
        "columns": [{"measure": "AP", "title": "MAP", "smaller_is_better": False, "queries": 100, "against": "voting",
                     "tested": True}],
        "rows": [{"name": "count", "title": "count", "cells": [{"mean": 0.3, "worse": True, "p": 0.01}]}],
    },
}  # fmt: skip
PAIR = {
    "report": "mine", "measure": "AP", "title": "MAP", "a": {"system": "voting", "mean": 0.4},
    "b": {"system": "count", "mean": 0.3}, "difference": 0.1, "p": 0.01, "better": 60, "worse": 30, "same": 10,
    "queries": [{"query": "q1", "text": "landed +mars", "type": "spacecraft", "a": 1.0, "b": 0.5, "difference": 0.5,
                 "candidates": 12}],
}  # fmt: skip


@dataclass(frozen=True)
class Read:
    """A report as it was at one moment; `tag` tells it from what it was before."""

    name: str
    tag: str
    time: str
    stored: StoredReport
    table: MeansTable
    files: list[dict[str, Any]]

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Its line in the list."""
        comparison, column = self.stored.comparison, self.table.columns[0]
        best = next((row for row in self.table.rows if row.name == column.against), None)
        return {
            "name": self.name, "title": comparison.title, "time": self.time, "index": _index(comparison),
            "systems": len(comparison.systems), "queries": len(comparison.queries), "measures": comparison.measures,
            "best": None if best is None else
                {"measure": column.title, "system": best.name, "title": best.title, "mean": best.cells[0].mean},
        }  # fmt: skip

    @cached_property
    def whole(self) -> bytes:
        """All of it as JSON."""
        every = {f.name: getattr(self.stored.comparison, f.name) for f in fields(Comparison)}
        return msgspec.json.encode(self._described() | every | self._systems(True))

    @cached_property
    def brief(self) -> bytes:
        """The same without what is per query."""
        comparison = self.stored.comparison
        kept = {key: getattr(comparison, key) for key in ("title", "measures", "smaller_is_better", "provenance")}
        kept["queries"] = len(comparison.queries)
        return msgspec.json.encode(self._described() | kept | self._systems(False))

    @cached_property
    def whole_packed(self) -> bytes:
        """Compressed, as quickly as can be: a large report is mostly digits."""
        return gzip.compress(self.whole, 1, mtime=0)

    @cached_property
    def brief_packed(self) -> bytes:
        return gzip.compress(self.brief, 5, mtime=0)

    def _described(self) -> dict[str, Any]:
        comparison, extras = self.stored.comparison, self.stored.extras
        return {
            "name": self.name, "time": self.time, "index": _index(comparison), "fader": extras.fader,
            "made_by": list_provenance(comparison), "significance": extras.significance,
            "table": asdict(self.table) | {"legend": self.table.legend()},
            "figures": _figures(self.files, {c.name: c for c in extras.figures}), "files": self.files,
        }  # fmt: skip

    @cached_property
    def _chosen(self) -> list[list[dict[str, Any]]]:
        """What each system chose; counting the folds of a large report takes longest."""
        systems = self.stored.comparison.systems
        return [[{"settings": text, "folds": n} for text, n in count_settings(s)] for s in systems]

    def _systems(self, values: bool) -> dict[str, Any]:
        pairs = zip(self.stored.comparison.systems, self._chosen, strict=True)
        return {"systems": [_system(s, chosen, values) for s, chosen in pairs]}


class Shelf:
    """The reports that are served, by name."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = dict(folders)
        self._kept: dict[str, Read] = {}
        self._locks = {name: threading.Lock() for name in folders}

    def names(self) -> list[str]:
        return list(self._folders)

    def folder(self, name: str) -> Path:
        """The folder of a report."""
        if name not in self._folders:
            remedy = did_you_mean(name, self._folders).removeprefix("; ") or "GET /v1/reports lists those there are"
            raise NotFound(f"there is no report {quoted(name)}", remedy)
        return self._folders[name]

    def read(self, name: str) -> Read:
        """A report as it is now; one at a time makes what is kept of it."""
        folder = self.folder(name)
        with self._locks[name]:
            try:
                with opened_file(folder, MARK) as file:
                    about = os.fstat(file.fileno())
                    tag = f"{about.st_mtime_ns:x}-{about.st_size:x}-{about.st_ino:x}"
                    if name not in self._kept or self._kept[name].tag != tag:
                        self._kept[name] = _read(name, tag, about, file, folder)
            except (FaderError, OSError, ValueError, RecursionError) as error:
                self._kept.pop(name, None)
                raise NotFound(f"report {quoted(name)} cannot be read: {_reason(error)}", "write it anew") from None
            return self._kept[name]


async def in_thread(_request: Request, work: Work) -> Response:
    """Do some work in any thread."""
    return await asyncio.to_thread(work)


def router(settings: Settings, run: Callable[[Request, Work], Awaitable[Response]] = in_thread) -> APIRouter:
    """The routes of reports; `run` does their work, which reads files and may take a while, in a thread."""
    routes = APIRouter(prefix="/v1/reports", tags=["reports"], responses=describe_errors(*EVERYWHERE))
    shelf = Shelf(settings.reports)

    @routes.get("", summary="The reports that are served", operation_id="getReports", responses=_told(LIST))
    async def reports(request: Request) -> Response:
        """A report that cannot be read has an `error` and nothing else but its name."""
        return await run(request, lambda: _listed(shelf))

    @routes.get("/{name}", summary="A report: means, tests, systems", operation_id="getReport", responses=_told(ONE))
    async def report(request: Request, name: Name, values: Values = "true") -> Response:
        """Everything, or with `values=false` all but the values of queries and what the figures show."""
        return await run(request, lambda: _told_of(request, shelf.read(name), values == "true"))

    @routes.get(
        "/{name}/pair", summary="Two systems query by query", operation_id="getPair",
        responses=_told(PAIR, "text/csv"),
    )  # fmt: skip
    async def pair(
        request: Request, name: Name, a: First = "", b: Second = "", measure: Measure = "", format: Form = "json"
    ) -> Response:
        """`difference` is a - b; `better` counts the queries on which a is better, be that larger or smaller."""
        return await run(request, lambda: _paired(_pair(shelf.read(name), a, b, measure), format))

    kinds = [kind.partition(";")[0] for kind in KINDS.values() if kind != JSON]

    @routes.get(
        "/{name}/files/{file:path}", summary="A file of a report", operation_id="getReportFile",
        responses=_told({}, *kinds),
    )  # fmt: skip
    async def file_of(request: Request, name: Name, file: File, theme: Theme = "light") -> Response:
        """Tables, per-query values, figures, and the page that needs no server."""
        return await run(request, lambda: sent_file(request, shelf.folder(name), name, file, theme == "dark"))

    return routes


def _told(example: Mapping[str, Any], *others: str) -> dict[int | str, dict[str, Any]]:
    """What a route answers, for its description."""
    content: dict[str, Any] = {JSON: {"schema": {"type": "object"}, "example": example}}
    content |= {kind: {"schema": {"type": "string"}} for kind in others}
    return {200: {"description": "The answer", "content": content}, 304: {"description": "It is as it was"}}


# Reading


def _read(name: str, tag: str, about: os.stat_result, file: BinaryIO, folder: Path) -> Read:
    if about.st_size > MOST_BYTES:
        raise InputError(f"{MARK} has {about.st_size:,} bytes, more than the {MOST_BYTES:,} that are read")
    stored = parse_report(file.read(MOST_BYTES + 1), MARK)
    when = datetime.fromtimestamp(int(about.st_mtime), UTC).isoformat().replace("+00:00", "Z")
    read = Read(name, tag, when, stored, stored.table(), files_in(folder))
    read.brief  # noqa: B018 - what cannot be written as JSON is found out here
    return read


def _reason(error: Exception) -> str:
    """Why a report cannot be read, without the folders of the server."""
    return f"{MARK}: {error.strerror or 'cannot be opened'}" if isinstance(error, OSError) else str(error)


# What is told


def _line(shelf: Shelf, name: str) -> dict[str, Any]:
    try:
        return shelf.read(name).summary
    except NotFound as error:
        return {"name": name, "error": error.message}


def _index(comparison: Comparison) -> str | None:
    """The name of the index that was asked, where the report says it."""
    index = comparison.provenance.get("index")
    return index if isinstance(index, str) else None


def _system(system: SystemResult, chosen: list[dict[str, Any]], values: bool) -> dict[str, Any]:
    plain = {f.name: getattr(system, f.name) for f in fields(system)}
    plain |= {} if values else {"values": {}, "hyperparameters": []}
    more = {"title": system.title, "chosen": chosen if values else chosen[:12], "runs": _asked_as(system)}
    return plain | more


def _asked_as(system: SystemResult) -> str:
    """The ranker that was chosen most often, by its name; it can be asked where it needs no training or is served."""
    models = [fold["model"] for fold in system.hyperparameters if isinstance(fold.get("model"), str)]
    return Counter(models).most_common(1)[0][0] if models else system.name


def _figures(files: list[dict[str, Any]], captions: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The drawings that are there, the means first; those of older reports have no caption but their own title."""
    found = []
    for entry in files:
        match = FIGURE.fullmatch(entry["file"])
        if match and entry["file"].endswith(".svg"):
            told = captions.get(match["name"])
            title, caption = (told.title, told.caption) if told else (entry["about"], "")
            found.append({"name": match["name"], "title": title, "caption": caption, "file": entry["file"]})
    order = list(captions) or ["means"]
    return sorted(found, key=lambda f: order.index(f["name"]) if f["name"] in order else len(order))


def _pair(read: Read, a: str, b: str, measure: str) -> dict[str, Any]:
    """Two systems on the queries for which both have a value, the largest difference first."""
    comparison, tested = read.stored.comparison, read.stored.extras.significance
    measure = measure or comparison.measures[0]
    if measure not in comparison.measures:
        remedy = did_you_mean(measure, comparison.measures).removeprefix("; ") or ", ".join(comparison.measures)
        raise BadRequest(f"the report has no measure {quoted(measure)}", remedy, "measure")
    first, second = _two(read, a, b, measure)
    smaller = measure in comparison.smaller_is_better
    values = np.array([first.values[measure], second.values[measure]], dtype=np.float64)
    known = np.flatnonzero(~np.isnan(values).any(axis=0))
    change = values[0, known] - values[1, known]
    gain = -change if smaller else change
    order = np.argsort(-np.abs(change), kind="stable")
    test = NAMES.get(tested.test, "t")
    p = p_value(values[0, known], values[1, known], test, tested.seed) if known.size > 1 else None
    return {
        "report": read.name, "index": _index(comparison), "measure": measure, "title": measure_title(measure),
        "smaller_is_better": smaller, "a": _side(first, values[0, known]), "b": _side(second, values[1, known]),
        "difference": float(change.mean()) if known.size else None, "p": p, "test": test, "level": tested.level,
        "better": int((gain > 0).sum()), "worse": int((gain < 0).sum()), "same": int((gain == 0).sum()),
        "undefined": len(comparison.queries) - int(known.size),
        "queries": [_query(comparison, int(known[i]), values[:, known[i]], float(change[i])) for i in order],
    }  # fmt: skip


def _two(read: Read, a: str, b: str, measure: str) -> tuple[SystemResult, SystemResult]:
    """The systems asked for; without names the best, and the baseline or the next best that differs from it."""
    comparison, column = read.stored.comparison, read.stored.comparison.measures.index(measure)
    if len(comparison.systems) < 2:
        raise BadRequest("the report has one system, and a difference takes two", "compare more systems")
    sign = 1 if measure in comparison.smaller_is_better else -1
    means = {row.name: sign * (row.cells[column].mean or 0.0) for row in read.table.rows}
    for name, field in ((a, "a"), (b, "b")):
        if name in means or not name:
            continue
        remedy = did_you_mean(name, means).removeprefix("; ") or "GET /v1/reports/{name} lists its systems"
        raise BadRequest(f"the report has no system {quoted(name)}", remedy, field)
    ranked = sorted(means, key=means.__getitem__)
    first = a or next(name for name in ranked if name != b)
    same = comparison.find_system(first).values[measure]
    others = [name for name in ranked if name != first]
    others.sort(key=lambda name: (name != read.table.baseline, comparison.find_system(name).values[measure] == same))
    second = b or others[0]
    return comparison.find_system(first), comparison.find_system(second)


def _side(system: SystemResult, values: Any) -> dict[str, Any]:
    return {"system": system.name, "title": system.title, "mean": float(values.mean()) if values.size else None}


def _query(comparison: Comparison, i: int, values: Any, difference: float) -> dict[str, Any]:
    return {
        "query": comparison.queries[i], "text": comparison.text_of(i),
        "type": comparison.types[i] if comparison.types else None,
        "a": float(values[0]), "b": float(values[1]), "difference": difference,
        "candidates": comparison.candidates[i] if comparison.candidates else None,
    }  # fmt: skip


def _pair_csv(found: Mapping[str, Any]) -> str:
    """The queries of a pair, a line each."""
    heads = ["query", "text", "type", found["a"]["system"], found["b"]["system"], "difference", "candidates"]
    keys = ("query", "text", "type", "a", "b", "difference", "candidates")
    return format_csv([heads, *([query[key] for key in keys] for query in found["queries"])])


# Sending


def _listed(shelf: Shelf) -> Response:
    lines = [_line(shelf, name) for name in shelf.names()]
    return Response(msgspec.json.encode({"reports": lines}), media_type=JSON, headers=FRESH)


def _told_of(request: Request, read: Read, every: bool) -> Response:
    headers = FRESH | {"ETag": f'"{read.tag}-{every:d}"', "Vary": "Accept-Encoding"}
    if request.headers.get("If-None-Match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    body = read.whole if every else read.brief
    if len(body) > WORTH_PACKING and "gzip" in request.headers.get("Accept-Encoding", ""):
        packed = read.whole_packed if every else read.brief_packed
        return Response(packed, headers=headers | {"Content-Encoding": "gzip"}, media_type=JSON)
    return Response(body, headers=headers, media_type=JSON)


def _paired(found: Mapping[str, Any], form: str) -> Response:
    if form == "csv":
        return Response(_pair_csv(found), media_type=KINDS["csv"], headers=FRESH | saved_as("differences.csv"))
    return Response(msgspec.json.encode(found), media_type=JSON, headers=FRESH)
