"""HTTP on the wire, by uvicorn and httptools, with bounds that these lack.

The head of a request has a largest size, a request must arrive whole within some seconds, and a client must take a
least amount of its answer in such a time: else one client could fill the memory, or hold connections for nothing.
There are so many connections in all, and from one address, unless that is a proxy's; one more is answered with 503 and
closed. A head is counted to the byte, up to the empty line that ends it,
however it comes in; only what arrives together with the body of the request before is not. A body in another transfer
encoding than `chunked` is refused, as nobody here would decode it (RFC 9112, 6.1). Errors here have the form and the
headers of all others. Knows nothing of what is asked.
"""

from __future__ import annotations

import asyncio
import re
import socket
import struct
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from fader.serve.errors import JSON, Refusal
from fader.serve.middleware.headers import SECURITY

LEAST_TAKEN = 16_384  # bytes of its answer that a client must take in `answer_seconds`; for 30 s that is 4 kbit/s
_EMPTY_LINE = re.compile(rb"\n\r?\n")


@dataclass(frozen=True, slots=True)
class Connections:
    """How many connections there may be in all and from one address, proxies aside, and how many there are."""

    most: int
    most_of_address: int
    proxies: frozenset[str] = frozenset()
    count: Counter[str] = field(default_factory=Counter)

    def refuse(self, address: str) -> str:
        """Why there may not be one more from an address; empty where there may."""
        if self.count.total() >= self.most:
            return f"the server has {self.most:,} connections open, the most that it takes"
        if address not in self.proxies and self.count[address] >= self.most_of_address:
            return f"your address has {self.most_of_address:,} connections open, the most that one may have"
        return ""

    def close(self, address: str) -> None:
        """One from an address is gone."""
        self.count[address] -= 1
        if not self.count[address]:
            del self.count[address]


class Wire(HttpToolsProtocol):
    """A connection; uvicorn gives all but the bounds."""

    def __init__(
        self,
        *,
        head_bytes: int,
        arrival_seconds: float,
        answer_seconds: float,
        connections: Connections,
        **given: Any,
    ) -> None:
        super().__init__(**given)
        self._head_bytes, self._arrival_seconds = head_bytes, arrival_seconds
        self._answer_seconds, self._counted = answer_seconds, connections
        self._address: str | None = None  # where the connection is counted
        self._head, self._in_head, self._whole = 0, True, False
        self._begun, self._tail = False, b""  # whether a head has begun, and the last bytes of what there is of it
        self._late: asyncio.TimerHandle | None = None
        self._slow: asyncio.TimerHandle | None = None
        self._answering: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # writing pauses as long as there is anything left to be taken
        address = self.client[0] if self.client else ""
        if why := self._counted.refuse(address):
            self._hang_up(Refusal(503, "overloaded", why, "close some, or try again later", {"Retry-After": "1"}))
            return
        self._counted.count[address] += 1
        self._address = address
        self._await_rest()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_watching()
        if self._address is not None:
            self._counted.close(self._address)
        if self._answering is not None:
            self._answering.disconnected = True  # uvicorn tells only the last request that came
        super().connection_lost(exc)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_watching()

    def _watch_reader(self) -> None:
        """Look some seconds later how much of the answer was taken."""
        left = self.transport.get_write_buffer_size()
        self._slow = self.loop.call_later(self._answer_seconds, self._drop_slow_reader, left)

    def _drop_slow_reader(self, before: int) -> None:
        if before - self.transport.get_write_buffer_size() < LEAST_TAKEN:
            with suppress(OSError):  # what it does not take is not kept, by the system either
                sock = self.transport.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()
        else:
            self._watch_reader()

    def _stop_watching(self) -> None:
        if self._slow is not None:
            self._slow.cancel()
            self._slow = None

    def data_received(self, data: bytes) -> None:
        while data and not self.transport.is_closing():
            piece = data
            if self._in_head:
                piece = data[: self._measure_head(data)]
                self._head += len(piece)
                if self._head > self._head_bytes:
                    self._refuse_head()
                    return
            self._tail = (self._tail + piece)[-2:]
            data = data[len(piece) :]
            super().data_received(piece)
        if self._whole:
            self._stop_waiting()
        else:
            self._await_rest()

    def _measure_head(self, data: bytes) -> int:
        """How many of the bytes are of the head: up to the empty line that ends it, or line ends before it."""
        if not self._begun:
            between = len(data) - len(data.lstrip(b"\r\n"))
            if between:
                return between
        tail = self._tail if self._begun else b""
        end = _EMPTY_LINE.search(tail + data)
        return end.end() - len(tail) if end else len(data)

    def on_message_begin(self) -> None:
        self._in_head, self._whole, self._begun = True, False, True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # those behind a body in chunks would be kept without end, and mean nothing here
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self._has_unknown_encoding():
            raise ValueError("an unknown transfer encoding")  # ends the parser, which lets `send_400_response` answer
        self._in_head, self._head = False, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head, self._whole, self._begun = True, True, False
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if self._has_unknown_encoding():
            message = "a body may come in the transfer encoding chunked, and in no other"
            self._refuse(501, message, "send it as it is", "unsupported")
        elif self._in_head and self._head >= self._head_bytes:
            self._refuse_head()
        else:
            self._refuse(400, "this is not an HTTP request", "ask for http://, not https://, where that was meant")

    def _has_unknown_encoding(self) -> bool:
        encodings = [value for name, value in self.headers or () if name == b"transfer-encoding"]
        return any(value.strip().lower() != b"chunked" for value in encodings)

    def _refuse_head(self) -> None:
        message = f"the head of a request has at most {self._head_bytes:,} bytes, its address included"
        self._refuse(431, message, "send less")

    def _await_rest(self) -> None:
        if self._late is None:
            text = "the request takes too long to arrive"
            self._late = self.loop.call_later(self._arrival_seconds, self._refuse, 408, text)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _refuse(self, status: int, message: str, hint: str = "", code: str = "bad_request") -> None:
        self._hang_up(Refusal(status, code, message, hint))

    def _hang_up(self, refusal: Refusal) -> None:
        """Answer and hang up; only hang up where an answer has begun."""
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(_write(refusal))
        self.transport.close()


def _write(refusal: Refusal) -> bytes:
    body = refusal.body()
    headers = {"Content-Type": JSON, "Content-Length": str(len(body)), "Connection": "close", **SECURITY}
    headers |= refusal.headers
    head = [f"HTTP/1.1 {refusal.status} {HTTPStatus(refusal.status).phrase}"]
    head += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*head, "", ""]).encode() + body
