"""HEAD is GET without the body: whatever answers GET answers HEAD. Knows nothing else."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


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
