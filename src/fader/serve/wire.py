"""HTTP on the wire, by uvicorn and httptools, with two bounds that these lack.

The head of a request has so many bytes at most, and a request must have come whole after so many seconds: else one
client could fill the memory, or hold connections for nothing. Refusals here have the form and the headers of all
others. Knows nothing of what is asked.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from fader.serve.errors import JSON, Refusal
from fader.serve.middleware.headers import SECURITY

HEAD_BYTES = 65_536
ARRIVAL_SECONDS = 30.0
TOO_LARGE = f"the head of a request has at most {HEAD_BYTES:,} bytes, its address included", "send less"


class Wire(HttpToolsProtocol):
    """A connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head, self._in_head, self._whole = 0, True, False
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_rest()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._head += len(data)
        super().data_received(data)
        if self._in_head and self._head > HEAD_BYTES:
            self._refuse(431, *TOO_LARGE)
        elif self._whole:
            self._stop_waiting()
        else:
            self._await_rest()

    def on_message_begin(self) -> None:
        self._in_head, self._whole = True, False
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # those behind a body in chunks would be kept without end, and mean nothing here
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head, self._head = False, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head, self._whole = True, True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if self._in_head and self._head >= HEAD_BYTES:
            self._refuse(431, *TOO_LARGE)
            return
        self._refuse(400, "this is no HTTP request", "ask for http://, not https://, where that was meant")

    def _await_rest(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(ARRIVAL_SECONDS, self._refuse, 408, "the request takes too long to come")

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _refuse(self, status: int, message: str, hint: str = "") -> None:
        """Answer and hang up; only hang up where an answer has begun."""
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(_bytes(Refusal(status, "bad_request", message, hint)))
        self.transport.close()


def _bytes(refusal: Refusal) -> bytes:
    body = refusal.body()
    headers = {"Content-Type": JSON, "Content-Length": str(len(body)), "Connection": "close", **SECURITY}
    head = [f"HTTP/1.1 {refusal.status} {HTTPStatus(refusal.status).phrase}"]
    head += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*head, "", ""]).encode() + body
