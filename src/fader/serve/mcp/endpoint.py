"""POST /mcp and /mcp/pair: the Model Context Protocol over streamable HTTP, by its official Python SDK.

The first has Fader's tools, the second the pair `search` and `fetch` that assistant platforms expect.

No sessions: a request has all that its answer needs, so that any client may ask at any time and nothing is kept. An
answer is one JSON message, never a stream; GET and DELETE, which sessions and streams need, are not allowed. A failure
is a tool's error with the code, message and hint that HTTP would give. In front of it stand the service's own checks of
host, key, rate and size; behind it its lanes. Knows nothing of what the tools do.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from fader.errors import quote
from fader.serve.errors import Refusal
from fader.serve.middleware.trace import refuse
from fader.serve.service import Service

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
PATHS = {PATH: "fader", f"{PATH}/pair": "pair"}
Toolset = tuple[Sequence[Any], str]  # tools, and instructions for who uses them
SERVER = "fader.serve.mcp.server"  # imported at the first request: the SDK takes a second


def _own_tools() -> Toolset:
    from fader.serve.mcp.tools import INSTRUCTIONS, TOOLS

    return TOOLS, INSTRUCTIONS


def _pair() -> Toolset:
    from fader.serve.mcp.pair import PAIR, PAIR_INSTRUCTIONS

    return PAIR, PAIR_INSTRUCTIONS


TOOLSETS: dict[str, Callable[[], Toolset]] = {"fader": _own_tools, "pair": _pair}


def mount(app: FastAPI, service: Service) -> None:
    """Serve the tools, for as long as the app lives."""
    endpoints = [Endpoint(service, toolset) for toolset in PATHS.values()]
    for path, endpoint in zip(PATHS, endpoints, strict=True):
        app.router.routes.append(Route(path, endpoint, methods=["POST"], include_in_schema=False))
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(running: FastAPI) -> AsyncIterator[Any]:
        async with inner(running) as state:
            try:
                yield state
            finally:
                for each in endpoints:
                    await each.close()

    app.router.lifespan_context = lifespan


class Endpoint:
    """The ASGI application of one path; the SDK's manager lives in a task from the first request on."""

    def __init__(self, service: Service, toolset: str = "fader") -> None:
        self.service, self._toolset = service, toolset
        self._task: asyncio.Task[None] | None = None
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._over = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if refusal := refuse_foreign(Headers(scope=scope), self.service.settings.cors):
            await refuse(refusal, send)
            return
        if self._manager is None:
            self._manager = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._live(self._manager))
        manager = await asyncio.shield(self._manager)
        await manager.handle_request(scope, receive, send)

    async def _live(self, ready: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        """What the manager starts must be started and ended in one task, which no request is."""
        try:
            module = await asyncio.to_thread(import_module, SERVER)
            manager = module.create_server(self.service, *TOOLSETS[self._toolset]()).session_manager
            async with manager.run():
                ready.set_result(manager)
                await self._over.wait()
        except Exception as error:
            if not ready.done():
                ready.set_exception(error)
                self._manager = None  # the next request tries again
            raise

    async def close(self) -> None:
        """End the task; a later request would start another."""
        self._over.set()
        if self._task is not None:
            await self._task
        self._task, self._manager, self._over = None, None, asyncio.Event()


def refuse_foreign(headers: Headers, allowed: Sequence[str]) -> Refusal | None:
    """The refusal of a request that a page of another site has made; the host it names was checked before."""
    origin = headers.get("origin")
    if origin is None or "*" in allowed or origin in allowed or origin.partition("://")[2] == headers.get("host"):
        return None
    return Refusal(
        403,
        "forbidden",
        f"pages of {quote(origin)} may not use this endpoint",
        "call it without a browser, or let the administrator allow the origin with --cors",
    )
