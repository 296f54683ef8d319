"""No body beyond the limit, and none in an answer to HEAD.

A body that says that it is larger is refused before it is read, one that does not is counted as it comes. Once the
limit is passed the rest is not read and whatever the handler would say is dropped. HEAD is GET without the body:
whatever answers GET answers HEAD. Knows nothing of what is in a body.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fader.serve.errors import TooLarge
from fader.serve.middleware.trace import refuse


class Bodies:
    """Refuses bodies of more than `limit` bytes."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app, self._limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        lengths = [value for name, value in scope.get("headers", ()) if name == b"content-length"]
        has_body = bool(lengths) or any(name == b"transfer-encoding" for name, _ in scope.get("headers", ()))
        if scope["type"] != "http" or not has_body:
            await self._app(scope, receive, send)
            return
        if any(value.isdigit() and int(value) > self._limit for value in lengths):
            await refuse(TooLarge(self._limit), send)
            return
        seen, started, refused = 0, False, False

        async def receive_counted() -> Message:
            nonlocal seen, refused
            if refused:
                return {"type": "http.disconnect"}
            message = await receive()
            if message["type"] == "http.request":
                seen += len(message.get("body", b""))
                if seen > self._limit:
                    refused = True
                    if not started:
                        await refuse(TooLarge(self._limit), send)
                    return {"type": "http.disconnect"}
            return message

        async def unless_refused(message: Message) -> None:
            nonlocal started
            if not refused:
                started = True
                await send(message)

        try:
            await self._app(scope, receive_counted, unless_refused)
        except Exception:
            if not refused:  # a handler may well complain that its client is gone
                raise


class Heads:
    """Answers HEAD by asking for GET and dropping the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def headers_only(message: Message) -> None:
            if message["type"] == "http.response.body":
                if message.get("more_body"):
                    return
                message = {"type": "http.response.body", "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"}, receive, headers_only)
