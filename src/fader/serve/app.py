"""The application: routes, and the layers in front of them, put together.

    traced > hosts > (cors, where it is on) > keys > heads > bodies > refusals > routed > FastAPI

A layer is plain ASGI and knows nothing of the others; what they share of a request is its trace.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from fader import __version__
from fader.errors import FaderError
from fader.serve.api import openapi
from fader.serve.api.answers import encode
from fader.serve.errors import JSON
from fader.serve.logs import access_log
from fader.serve.mcp import endpoint as mcp
from fader.serve.metrics import Metrics
from fader.serve.middleware.bodies import Bodies, Heads
from fader.serve.middleware.hosts import Hosts
from fader.serve.middleware.keys import Keys
from fader.serve.middleware.load_shedding import Refusals
from fader.serve.middleware.trace import Routed, Traced
from fader.serve.routes import about, judging, lookup, pages, ranking, reports, training
from fader.serve.routes.answering import run_in_lane
from fader.serve.routes.failures import add_error_handlers
from fader.serve.service import Service
from fader.serve.settings import Settings

log = logging.getLogger("fader.serve")
EXPOSED = ["Fader-Index", "Fader-Commit", "Fader-Request-Id", "Retry-After"]


class Application(FastAPI):
    """FastAPI with our layers in front; `app.state.service` is what it serves."""

    def __init__(self, service: Service) -> None:
        super().__init__(
            title="Fader",
            version=__version__,
            docs_url=None,
            redoc_url=None,
            openapi_url=None,
            lifespan=lambda app: _live(service, app.keys),
            redirect_slashes=False,
        )
        settings = service.settings
        self.state.service, self.state.metrics = service, Metrics(service)
        routed = Refusals(Routed(super().__call__), service.lanes["engine"])
        self.keys = Keys(Heads(Bodies(routed, settings.body_bytes)), settings.keys, settings.rate)
        hosts = Hosts(_with_cors(self.keys, settings.cors), settings.host, settings.allow_hosts)
        self._layers = Traced(hosts, [self.state.metrics.observe, access_log(settings.log_queries)])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._layers(scope, receive, send)

    def openapi(self) -> dict[str, object]:
        return openapi.describe(self, self.state.service.settings.keys is not None)


def _with_cors(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    if not origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=origins,
        allow_methods=["GET", "HEAD", "POST"],
        allow_headers=["Authorization", "X-Api-Key", "Content-Type", "MCP-Protocol-Version", "Mcp-Session-Id"],
        expose_headers=EXPOSED,
    )


def create_app(settings: Settings) -> Application:
    """The application over the indexes of the settings, which are opened here."""
    service = Service(settings)
    app = Application(service)
    routers = (
        ranking.router(settings),
        lookup.router(settings),
        judging.router(settings),
        training.router(settings),
        about.router(settings),
        about.monitoring_router(),
        reports.router(settings, lambda request, work: run_in_lane(request, "light", work)),
        pages.router(about.write_opening),
    )
    for router in routers:  # one flat list: FastAPI matches the routes of an included router twice, on every request
        app.router.routes.extend(router.routes)

    async def describe(request: Request) -> Response:
        return Response(encode(request.app.openapi()), media_type=JSON)

    app.add_api_route("/openapi.json", describe, methods=["GET"], include_in_schema=False)
    mcp.mount(app, service)
    add_error_handlers(app, settings.time_ms)
    return app


@asynccontextmanager
async def _live(service: Service, keys: Keys) -> AsyncIterator[None]:
    """From the first query, which nobody asked, to the last."""
    if not service.ready:
        await asyncio.to_thread(service.warm)
    tasks = [asyncio.create_task(work) for work in (_prepare(service), service.watch(), service.guard())]
    on_signal = threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGHUP")
    if on_signal:
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, lambda: reload_all(service, keys))
    try:
        yield
    finally:
        if on_signal:
            asyncio.get_running_loop().remove_signal_handler(signal.SIGHUP)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        service.close()


async def _prepare(service: Service) -> None:
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
