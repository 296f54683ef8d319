"""Layers asked directly: a scope in, messages out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fader.serve.middleware.trace import KEY, Trace

Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Reply:
    """What was answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(self.body)["error"]
        return found


def ask(
    app: ASGIApp,
    path: str = "/v1/search",
    headers: Headers = (),
    body: Sequence[bytes] = (b"",),
    method: str = "GET",
    query_string: bytes = b"",
) -> Reply:
    """One request, its body in pieces."""
    scope = {"type": "http", "method": method, "path": path, "query_string": query_string, "headers": list(headers)}
    scope[KEY] = Trace("1", method, path, "10.0.0.1")
    sent: list[Message] = []
    pieces = [{"type": "http.request", "body": b, "more_body": i + 1 < len(body)} for i, b in enumerate(body)]

    async def receive() -> Message:
        return pieces.pop(0) if pieces else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(_called(app, scope, receive, send))
    start = sent[0]
    assert [m["type"] for m in sent] == ["http.response.start"] + ["http.response.body"] * (len(sent) - 1)
    found = {name.decode(): value.decode() for name, value in start["headers"]}
    return Reply(start["status"], found, b"".join(m.get("body", b"") for m in sent[1:]))


async def _called(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    await app(scope, receive, send)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the body of the request."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RuntimeError("the client is gone")
        body, more = body + message["body"], message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})
