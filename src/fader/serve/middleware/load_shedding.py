"""Requests that would find the queue full are refused before anything else is done for them.

The gate refuses too; looking here spares the work of routing and parsing when there are ten times as many requests as
can be served. Knows which paths rank, nothing of what they do.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from fader.serve.errors import Overloaded
from fader.serve.gate import Gate
from fader.serve.middleware.trace import refuse, trace_of

RANKING = ("/v1/search", "/v1/explain", "/v1/compare")
ENTITY = "/v1/entity"


class Refusals:
    """Refuses what would have to be ranked while the gate is full."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app, self._gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and ranks(scope) and self._gate.is_full(trace_of(scope).asker):
            trace_of(scope).route = scope["path"] if scope["path"] in RANKING else ENTITY
            await refuse(Overloaded(), send)
            return
        await self._app(scope, receive, send)


def ranks(scope: Scope) -> bool:
    """Whether a request needs the engine."""
    path: str = scope["path"]
    return path in RANKING or (path.startswith((ENTITY, ENTITY + "/")) and b"q=" in scope["query_string"])
