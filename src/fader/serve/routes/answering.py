"""A handler's way from parameters to an answer: the index, a turn in a lane, the bytes.

Answers are encoded in the thread that found them. Knows requests and the service, nothing of what is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from fader.search.answer import Answer
from fader.search.csv import to_csv
from fader.search.entity import EntityEvidence
from fader.search.versus import Versus
from fader.serve.api.parameters import CompareParameters, EntityParameters, SearchParameters
from fader.serve.errors import JSON
from fader.serve.gate import Clock
from fader.serve.middleware.trace import trace_of
from fader.serve.open_index import Served
from fader.serve.service import Service

V = TypeVar("V")
W = TypeVar("W", Answer, EntityEvidence, Versus)
CSV = "text/csv; charset=utf-8"
MayBeCsv = SearchParameters | EntityParameters | CompareParameters


def service_of(request: Request) -> Service:
    """The service that an application was made for."""
    service: Service = request.app.state.service
    return service


def find_index(request: Request, name: str | None, query: str | None = None) -> Served:
    """The index that is asked, noted with the query for the answer's headers and the log."""
    served = service_of(request).index(name)
    trace = trace_of(request.scope)
    trace.index, trace.commit, trace.query = served.name, served.index.commit, query
    return served


async def run_in_lane(request: Request, lane: str, work: Callable[[], V], timeout_ms: int | None = None) -> V:
    """What `work` returns in its lane, as long as the client is there and the request has time."""
    service = service_of(request)
    trace = trace_of(request.scope)
    clock = Clock(trace.arrived, service.settings.time_ms)

    async def wait_until_gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    return await service.run(lane, work, clock=clock, timeout_ms=timeout_ms, gone=wait_until_gone, client=trace.asker)


async def send_json(request: Request, lane: str, work: Callable[[], bytes], timeout_ms: int | None = None) -> Response:
    """The JSON that `work` makes in its lane."""
    body = await run_in_lane(request, lane, work, timeout_ms)
    return Response(body, media_type=JSON, headers={"Cache-Control": "no-store"})


async def send_ranked(
    request: Request, find: Callable[[], W], write: Callable[[W], bytes], asked: MayBeCsv, filename: str
) -> Response:
    """What `find` ranks in the engine's lane: JSON that `write` makes of it, or CSV as a file to be saved."""
    if asked.format == "json":
        return await send_json(request, "engine", lambda: write(find()), asked.timeout_ms)
    body = await run_in_lane(request, "engine", lambda: to_csv(find()).encode(), asked.timeout_ms)
    headers = {"Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="{filename}"'}
    return Response(body, media_type=CSV, headers=headers)
