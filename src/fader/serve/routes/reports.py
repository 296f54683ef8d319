"""Reports of comparisons over HTTP: which there are, what one holds, how two of its systems differ, its files.

    GET /v1/reports                        name, title, systems, queries, measures, time, and the best of each
    GET /v1/reports/{name}?values          report.json with the table of means as numbers, captions, files;
                                           values=false leaves out what is per query
    GET /v1/reports/{name}/pair?a&b&measure&format
                                           per-query values of two systems, their difference and its p-value
    GET /v1/reports/{name}/files/{file}    a file of the report; theme=dark gives an SVG other colours

Only files that a report is known to consist of are served, opened one folder after the other and never through a link.
Knows nothing of indexes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi import Path as Placed
from fastapi.responses import Response

from fader.serve.api.answers import encode
from fader.serve.api.openapi import EVERYWHERE, Responses, describe_errors, read_examples
from fader.serve.errors import JSON
from fader.serve.reports.files import FRESH, KINDS, save_as, send_file
from fader.serve.reports.pair import Pair, compare_pair
from fader.serve.reports.shelf import ServedReport, Shelf
from fader.serve.settings import Settings

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


async def run_in_thread(_request: Request, work: Work) -> Response:
    """Do some work in any thread."""
    return await asyncio.to_thread(work)


def router(settings: Settings, run: Callable[[Request, Work], Awaitable[Response]] = run_in_thread) -> APIRouter:
    """The routes of reports; `run` does their work, which reads files and may take a while, in a thread."""
    routes = APIRouter(prefix="/v1/reports", tags=["reports"], responses=describe_errors(*EVERYWHERE))
    shelf = Shelf(settings.reports, settings.report_bytes)
    others = [kind.partition(";")[0] for kind in KINDS.values() if kind != JSON]

    @routes.get("", summary="The reports that are served", operation_id="getReports", responses=_describe("Reports"))
    async def reports(request: Request) -> Response:
        """A report that cannot be read has an `error` and nothing else but its name."""
        return await run(request, lambda: _send({"reports": shelf.list_reports()}))

    @routes.get(
        "/{name}",
        summary="A report: means, tests, systems",
        operation_id="getReport",
        responses=_describe("Report"),
    )
    async def report(request: Request, name: Name, values: Values = "true") -> Response:
        """Everything, or with `values=false` all but the values of queries and what the figures show."""
        return await run(request, lambda: _send_report(request, shelf.read(name), values == "true"))

    @routes.get(
        "/{name}/pair",
        summary="Two systems query by query",
        operation_id="getPair",
        response_model=Pair,
        responses=_describe("Pair", "text/csv"),
    )
    async def pair(
        request: Request, name: Name, a: First = "", b: Second = "", measure: Measure = "", format: Form = "json"
    ) -> Response:
        """`difference` is a - b; `better` counts the queries on which a is better, be that larger or smaller."""

        def find() -> Response:
            found = compare_pair(shelf.read(name), a, b, measure)
            if format == "json":
                return _send(found)
            return Response(found.to_csv(), media_type=KINDS["csv"], headers=FRESH | save_as("differences.csv"))

        return await run(request, find)

    @routes.get(
        "/{name}/files/{file:path}",
        summary="A file of a report",
        operation_id="getReportFile",
        responses=_describe("", *others),
    )
    async def file_of(request: Request, name: Name, file: File, theme: Theme = "light") -> Response:
        """Tables, per-query values, figures, and the page that needs no server."""
        return await run(request, lambda: send_file(request, shelf.folder(name), name, file, theme == "dark"))

    return routes


def _describe(shape: str, *others: str) -> Responses:
    """What a route answers, for its description: JSON with an example, and other types."""
    content: dict[str, Any] = {JSON: {"schema": {"type": "object"}, "example": read_examples().get(shape, {})}}
    if shape == "Pair":
        del content[JSON]["schema"]  # FastAPI has it
    content |= {kind: {"schema": {"type": "string"}} for kind in others}
    return {200: {"description": "The answer", "content": content}, 304: {"description": "It is as it was"}}


def _send(value: object) -> Response:
    return Response(encode(value), media_type=JSON, headers=FRESH)


def _send_report(request: Request, read: ServedReport, every: bool) -> Response:
    headers = FRESH | {"ETag": f'"{read.tag}-{every:d}"', "Vary": "Accept-Encoding"}
    if request.headers.get("If-None-Match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    body = read.whole if every else read.brief
    if len(body) > WORTH_PACKING and "gzip" in request.headers.get("Accept-Encoding", ""):
        packed = read.whole_packed if every else read.brief_packed
        return Response(packed, headers=headers | {"Content-Encoding": "gzip"}, media_type=JSON)
    return Response(body, headers=headers, media_type=JSON)
