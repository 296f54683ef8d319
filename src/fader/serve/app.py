"""The application: routes, and the layers in front of them, put together.

    traced > hosts > (cors, where it is on) > keys > heads > bodies > refusals > routed > FastAPI

A layer is plain ASGI and knows nothing of the others; what they share of a request is its trace.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp, Receive, Scope, Send

from fader import __version__
from fader.errors import FaderError, IncompleteError, quoted
from fader.serve import mcp, reports, schemas
from fader.serve.answering import done
from fader.serve.errors import JSON, BadRequest, NotFound, Refusal, internal, refusal_of
from fader.serve.gate import ClientGone
from fader.serve.logs import access_log
from fader.serve.metrics import Metrics
from fader.serve.middleware.bodies import Bodies
from fader.serve.middleware.heads import Heads
from fader.serve.middleware.hosts import Hosts
from fader.serve.middleware.keys import Keys
from fader.serve.middleware.load_shedding import Refusals
from fader.serve.middleware.trace import Routed, Traced, trace_of
from fader.serve.routes import about, lookup, pages, ranking
from fader.serve.service import Service
from fader.serve.settings import Settings

log = logging.getLogger("fader.serve")
CLIENT_GONE = 499  # nobody sees it but the log
EXPOSED = ["Fader-Index", "Fader-Commit", "Fader-Request-Id", "Retry-After"]


class Application(FastAPI):
    """FastAPI with our layers in front; `app.state.service` is what it serves."""

    def __init__(self, service: Service) -> None:
        super().__init__(
            title="Fader", version=__version__, docs_url=None, redoc_url=None, openapi_url=None,
            lifespan=lambda app: _living(service, app.keys), redirect_slashes=False,
        )  # fmt: skip
        settings = service.settings
        self.state.service, self.state.metrics = service, Metrics(service)
        self.keys = Keys(self._routed(service), settings.keys, settings.rate)
        hosts = Hosts(_with_cors(self.keys, settings.cors), settings.host, settings.allow_hosts)
        self._layers = Traced(hosts, [self.state.metrics.observe, access_log(settings.log_queries)])

    def _routed(self, service: Service) -> ASGIApp:
        """The layers behind the keys."""
        routed = Refusals(Routed(super().__call__), service.lanes["engine"])
        return Heads(Bodies(routed, service.settings.body_bytes))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._layers(scope, receive, send)

    def openapi(self) -> dict[str, object]:
        return schemas.describe(self, self.state.service.settings.keys is not None)


def _with_cors(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    if not origins:
        return app
    return CORSMiddleware(
        app, allow_origins=origins, allow_methods=["GET", "HEAD", "POST"],
        allow_headers=["Authorization", "X-Api-Key", "Content-Type", "MCP-Protocol-Version", "Mcp-Session-Id"],
        expose_headers=EXPOSED,
    )  # fmt: skip


def create_app(settings: Settings) -> Application:
    """The application over the indexes of the settings, which are opened here."""
    service = Service(settings)
    app = Application(service)
    groups = (
        ranking.router(settings), lookup.router(settings), about.router(settings),
        reports.router(settings, _in_light_lane), pages.router(),
    )  # fmt: skip
    for routes in groups:
        app.include_router(routes)
    app.add_api_route("/openapi.json", _openapi, methods=["GET"], include_in_schema=False)
    mcp.mount(app, service)
    app.state.routes = [*(route for group in groups for route in group.routes), *app.routes]
    for kind in (Refusal, FaderError, Exception):
        app.add_exception_handler(kind, _error)
    app.add_exception_handler(ClientGone, _gone)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    return app


async def _in_light_lane(request: Request, work: Callable[[], Response]) -> Response:
    return await done(request, "light", work)


async def _openapi(request: Request) -> Response:
    import msgspec

    return Response(msgspec.json.encode(request.app.openapi()), media_type=JSON)


@asynccontextmanager
async def _living(service: Service, keys: Keys) -> AsyncIterator[None]:
    """From the first query, which nobody asked, to the last."""
    if not service.ready:
        await asyncio.to_thread(service.warm)
    preparing = asyncio.create_task(_prepared(service))
    watching = asyncio.create_task(service.watch())
    on_signal = threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGHUP")
    if on_signal:
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, lambda: reload_all(service, keys))
    try:
        yield
    finally:
        if on_signal:
            asyncio.get_running_loop().remove_signal_handler(signal.SIGHUP)
        for task in (preparing, watching):
            task.cancel()
        await asyncio.gather(preparing, watching, return_exceptions=True)
        service.close()


async def _prepared(service: Service) -> None:
    """What is not ready is made when it is asked for; that it could not be made before is in the log."""
    try:
        await asyncio.to_thread(service.prepare)
    except Exception:
        log.exception("prepare failed")


def reload_all(service: Service, keys: Keys) -> None:
    """Read keys, models and indexes again, in a thread; of these, what cannot be read stays as it was."""

    def work() -> None:
        for what, read in (
            ("key file", keys.reload),
            ("model files", service.reread_models),
            ("indexes", service.reload),
        ):
            try:
                read()
                service.problems.pop(what, None)
            except (FaderError, OSError) as error:
                service.problems[what] = str(error)
                log.error("reload failed", extra={"fields": {"what": what, "problem": str(error)}})
            except Exception as error:
                service.problems[what] = str(error)
                log.exception("reload failed", extra={"fields": {"what": what}})

    threading.Thread(target=work, name="fader-reload", daemon=True).start()


def _sent(refusal: Refusal) -> Response:
    return Response(refusal.body(), refusal.status, refusal.headers, JSON)


async def _error(request: Request, error: Exception) -> Response:
    refusal = refusal_of(error, request.app.state.service.settings.time_ms)
    if refusal is None:
        trace = trace_of(request.scope)
        if isinstance(error, FaderError):  # others are raised again, and logged there
            log.error("fault", extra={"fields": {"id": trace.id, "problem": str(error)}})
        refusal = internal(trace.id)
    elif isinstance(error, IncompleteError):  # clients are not told of machines
        log.warning("incomplete", extra={"fields": {"id": trace_of(request.scope).id, "problem": str(error)}})
    return _sent(refusal)


async def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=CLIENT_GONE)


async def _http_error(request: Request, error: Exception) -> Response:
    """What routing has to say: no such path, another method."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allowed = sorted(_methods(request))
        hint = f"use {' or '.join(allowed)}"
        return _sent(Refusal(405, "not_allowed", f"{trace_of(request.scope).method} is not allowed here", hint, {
            "Allow": ", ".join(allowed)
        }))  # fmt: skip
    if error.status_code == 404 and pages.wanted(request):
        return pages.not_found()
    if error.status_code == 404:
        return _sent(NotFound(f"there is nothing at {quoted(request.scope['path'])}", "/openapi.json lists all paths"))
    return _sent(Refusal(error.status_code, "bad_request", str(error.detail)))


def _methods(request: Request) -> set[str]:
    """All methods of a path; HEAD goes with GET."""
    found: set[str] = set()
    for route in request.app.state.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= set(getattr(route, "methods", None) or ())
    return found | {"HEAD"} if "GET" in found else found


async def _invalid(request: Request, error: Exception) -> Response:
    """A parameter that FastAPI refuses."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    field = str(first["loc"][-1])
    return _sent(BadRequest(f"{field}: {first['msg']}", "", field))
