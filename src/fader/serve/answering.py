"""A handler's way from a request to an answer: parse, wait for a turn, encode.

Answers are encoded in the thread that found them. Knows requests and the service, nothing of what is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fader.search.answer import Answer
from fader.serve.errors import JSON, BadRequest
from fader.serve.gate import Clock
from fader.serve.middleware.trace import trace_of
from fader.serve.open_index import Served
from fader.serve.parameters import Asked, of_body, of_query
from fader.serve.service import Service

T = TypeVar("T", bound=Asked)
V = TypeVar("V")
CSV = "text/csv; charset=utf-8"


def service_of(request: Request) -> Service:
    """The service that an application was made for."""
    service: Service = request.app.state.service
    return service


async def asked(request: Request, kind: type[T]) -> T:
    """What a request asks: by its body where it has the method POST, else by its query string."""
    settings = service_of(request).settings
    if request.method == "POST":
        if request.scope["query_string"]:
            raise BadRequest("a request with a body has no parameters beside it", "put them into the body")
        found = of_body(kind, request.headers.get("content-type", ""), await request.body(), settings)
    else:
        found = of_query(kind, request.scope["query_string"], settings)
    trace_of(request.scope).query = getattr(found, "q", None)
    return found


def served_for(request: Request, name: str | None) -> Served:
    """The index that is asked, noted for the answer's headers and the log."""
    served = service_of(request).index(name)
    trace = trace_of(request.scope)
    trace.index, trace.commit = served.name, served.index.commit
    return served


async def done(request: Request, lane: str, work: Callable[[], V], timeout_ms: int | None = None) -> V:
    """What `work` makes in its lane, as long as the client is there and the request has time."""
    service = service_of(request)
    clock = Clock(trace_of(request.scope).arrived, service.settings.time_ms)

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    return await service.run(lane, work, clock=clock, timeout_ms=timeout_ms, gone=gone)


async def answered(
    request: Request, lane: str, work: Callable[[], bytes], timeout_ms: int | None = None, media: str = JSON,
    filename: str = "",
) -> Response:  # fmt: skip
    """The answer that `work` makes in its lane."""
    body = await done(request, lane, work, timeout_ms)
    headers = {"Cache-Control": "no-store"}
    if filename:
        headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return Response(body, media_type=media, headers=headers)


def encoded(value: Any) -> bytes:
    """A value as JSON; numbers that JSON does not have are null."""
    return msgspec.json.encode(value)


def plain(value: Any, *without: str) -> dict[str, Any]:
    """The fields of a dataclass, its parts as they are."""
    return {f.name: getattr(value, f.name) for f in fields(value) if f.name not in without}


def answer_json(answer: Answer) -> bytes:
    """An answer as `search --json` prints it: `explain` only where it was asked for."""
    results = [plain(r, *(("explain",) if r.explain is None else ())) for r in answer.results]
    return encoded(plain(answer) | {"results": results})
