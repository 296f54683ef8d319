"""No body beyond the limit: one that says so is refused before it is read, one that does not is counted as it comes.

Once the limit is passed the rest is not read and whatever the handler would say is dropped. Knows nothing of what is
in a body.
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
        if scope["type"] != "http" or not _has_body(scope):
            await self._app(scope, receive, send)
            return
        if _read_content_length(scope) > self._limit:
            await refuse(TooLarge(self._limit), send)
            return
        await self._count(scope, receive, send)

    async def _count(self, scope: Scope, receive: Receive, send: Send) -> None:
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


def _has_body(scope: Scope) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])


def _read_content_length(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return max((int(value) for value in lengths if value.isdigit()), default=0)
