"""What is known of a request while it is answered, and the outermost layer that watches it.

Every request gets a number and a clock. Its answer gets the headers that every answer has; an error that nobody
understood becomes a 500 with the number; observers (log, metrics) learn how it ended. Knows nothing of routes.
"""

from __future__ import annotations

import itertools
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fader.serve.errors import JSON, Refusal, internal
from fader.serve.middleware.headers import EVERY_ANSWER

log = logging.getLogger("fader.serve")
KEY = "fader"  # of the trace in a scope


@dataclass(slots=True)
class Trace:
    """A request: its number, when it came, and what became of it."""

    id: str
    method: str
    path: str
    client: str
    arrived: float = field(default_factory=time.monotonic)
    route: str = ""
    index: str = ""
    commit: int | None = None
    key: str = ""
    rights: frozenset[str] = frozenset()  # of the key
    query: str | None = None
    status: int = 0
    bytes: int = 0

    @property
    def asker(self) -> str:
        """Whose turn a request takes: that of its key, or of its address where it has none."""
        return f"key {self.key}" if self.key else self.client

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.arrived


Observer = Callable[[Trace], None]


def trace_of(scope: Scope) -> Trace:
    """The trace of a request."""
    trace: Trace = scope[KEY]
    return trace


class Traced:
    """Gives each request its trace, each answer its headers, and tells observers how it ended."""

    def __init__(self, app: ASGIApp, observers: Sequence[Observer] = ()) -> None:
        self._app, self._observers = app, observers
        self._start, self._count = secrets.token_hex(4), itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        number, client = f"{self._start}-{next(self._count)}", scope.get("client")
        trace = Trace(number, scope["method"], scope["path"], client[0] if client else "")
        scope[KEY] = trace

        async def send_traced(message: Message) -> None:
            if message["type"] == "http.response.start":
                trace.status = message["status"]
                headers = message.get("headers", ())
                given = {bytes(name).lower() for name, _ in headers}  # a handler may have been stricter, which stays
                ours = [each for each in EVERY_ANSWER if each[0] not in given]
                message["headers"] = [*headers, *ours, *_about(trace)]
            elif message["type"] == "http.response.body":
                trace.bytes += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, send_traced)
        except Exception:
            log.exception("fault", extra={"fields": {"id": trace.id, "method": trace.method, "route": trace.route}})
            if not trace.status:
                await refuse(internal(trace.id), send_traced)
        finally:
            for observe in self._observers:
                observe(trace)


class Routed:
    """Notes the route that answered; the innermost layer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        finally:
            if scope["type"] == "http":
                trace_of(scope).route = getattr(scope.get("route"), "path", "")


def _about(trace: Trace) -> list[tuple[bytes, bytes]]:
    """The request's number, and which index answered at which commit."""
    about = [(b"fader-request-id", trace.id.encode())]
    if trace.index:
        about.append((b"fader-index", trace.index.encode("ascii", "replace")))
    if trace.commit is not None:
        about.append((b"fader-commit", str(trace.commit).encode()))
    return about


async def refuse(refusal: Refusal, send: Send) -> None:
    """Send an error."""
    body = refusal.body()
    headers = [(name.lower().encode(), value.encode()) for name, value in refusal.headers.items()]
    headers += [(b"content-type", JSON.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
