"""What is no HTTP, never ends or has too long a head: refused in the one form, and hung up on."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fader.serve import wire
from fader.serve.middleware.headers import SECURITY
from fader.serve.settings import Settings
from serve.live import build, running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wire") / "index")


@contextmanager
def listening(settings: Settings) -> Iterator[tuple[str, int]]:
    with running(settings) as url:
        parts = urlsplit(url)
        yield str(parts.hostname), int(parts.port or 0)


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[tuple[str, int]]:
    with listening(Settings(indexes={"small": folder}, time_ms=30_000)) as found:
        yield found


def said(address: tuple[str, int], *pieces: bytes) -> bytes:
    """All that is answered until the server hangs up."""
    with socket.create_connection(address, timeout=60) as client:
        try:
            for piece in pieces:
                client.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass
        found = b""
        try:
            while more := client.recv(65536):
                found += more
        except ConnectionResetError:
            pass
        return found


def refused(reply: bytes, status: int) -> None:
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode()), head[:100]
    for name, value in SECURITY.items():
        assert f"{name}: {value}".lower().encode() in head.lower()
    assert json.loads(body)["error"]["code"] == "bad_request"


@pytest.mark.parametrize("junk", [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"hello\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
])  # fmt: skip
def test_what_is_no_http_is_refused(address: tuple[str, int], junk: bytes) -> None:
    refused(said(address, junk), 400)


def test_a_head_without_end_is_refused(address: tuple[str, int]) -> None:
    """It is not kept in memory for as long as it comes."""
    endless = [b"GET / HTTP/1.1\r\nHost: localhost\r\n"] + [b"X-A: " + b"a" * 8000 + b"\r\n"] * 40
    refused(said(address, *endless), 431)


def test_an_address_without_end_is_refused(address: tuple[str, int]) -> None:
    refused(said(address, b"GET /?q=", *[b"a" * 8000] * 40), 431)


@pytest.mark.parametrize("step", [1 << 20, 4096, 65_535, 7])
def test_the_head_has_a_limit_to_the_byte(folder: Path, step: int) -> None:
    """However it comes in, also where a body comes with it, and for the second request of a connection too."""
    head = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: %s\r\n"
    body = b'{"q": "violin"}' + b"\r\n\r\n" * 30
    room = 65_536 if step > 7 else 1_000

    def request(size: int, connection: bytes) -> bytes:
        start = head % connection + b"Content-Length: %d\r\nX-A: " % len(body)
        return start + b"a" * (size - len(start) - 4) + b"\r\n\r\n" + body

    def answers(text: bytes) -> bytes:
        return said(address, *(text[i : i + step] for i in range(0, len(text), step)))

    with listening(Settings(indexes={"small": folder}, time_ms=30_000, head_bytes=room)) as address:
        assert answers(request(room, b"close")).startswith(b"HTTP/1.1 200 ")
        refused(answers(request(room + 1, b"close")), 431)
        refused(answers(b"\r\n" * 10 + request(room - 19, b"close")), 431)
        assert answers(b"\r\n" * 10 + request(room - 20, b"close")).startswith(b"HTTP/1.1 200 ")
        both = answers(request(room, b"keep-alive") + request(room, b"close"))
        assert both.count(b"HTTP/1.1 200 ") == 2


@pytest.mark.parametrize("encoding", [b"gzip, chunked", b"gzip", b"identity", b"x"])
def test_other_transfer_encodings_are_refused(address: tuple[str, int], encoding: bytes) -> None:
    """Nobody here would decode them."""
    head = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
    reply = said(address, head + b"Transfer-Encoding: " + encoding + b"\r\n\r\n1\r\na\r\n0\r\n\r\n")
    assert reply.startswith(b"HTTP/1.1 501 Not Implemented\r\n"), reply[:100]
    assert json.loads(reply.partition(b"\r\n\r\n")[2])["error"]["code"] == "unsupported"
    assert reply.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("part", [
    b"", b"GET / HT",
    b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
])  # fmt: skip
def test_a_request_that_does_not_come_is_not_waited_for(folder: Path, part: bytes) -> None:
    """After some seconds the connection is closed."""
    with listening(Settings(indexes={"small": folder}, arrival_seconds=0.2)) as address:
        reply = said(address, part)
    assert reply == b"" or b"408" in reply.partition(b"\r\n")[0]


def test_requests_on_one_connection_are_answered_in_order(address: tuple[str, int]) -> None:
    """Also where they are sent without waiting."""
    one = b"GET /v1/analyze?text=%d HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    reply = said(address, b"".join(one % i for i in range(5)) + last)
    places = [reply.index(b'"text":"%d"' % i) for i in range(5)]
    assert places == sorted(places)
    assert b'"status":"ok"' in reply


def test_a_chunked_body_is_counted_on_the_wire(address: tuple[str, int]) -> None:
    """413 while it is still being sent."""
    head = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    reply = said(address, head + b"Transfer-Encoding: chunked\r\n\r\n", *[b"2000\r\n" + b"a" * 0x2000 + b"\r\n"] * 30)
    assert reply.startswith(b"HTTP/1.1 413 ")
    assert reply.count(b"HTTP/1.1") == 1


def test_headers_behind_a_body_are_dropped(monkeypatch: pytest.MonkeyPatch, address: tuple[str, int]) -> None:
    """Trailers of a body in chunks mean nothing here: none reaches the place where headers are kept."""
    kept: list[bytes] = []
    below = wire.HttpToolsProtocol.on_header
    monkeypatch.setattr(
        wire.HttpToolsProtocol, "on_header", lambda self, name, value: (kept.append(name), below(self, name, value))[1]
    )
    body = b'{"q": "violin"}'
    head = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
    chunked = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n" % (len(body), body)
    trailers = b"".join(b"X-T%d: %s\r\n" % (i, b"a" * 1000) for i in range(500))
    reply = said(address, head + chunked, trailers + b"\r\n")
    assert reply.startswith(b"HTTP/1.1 200 ")
    assert b"Host" in kept
    assert not [name for name in kept if name.startswith(b"X-T")]


def test_connections_are_bounded_with_a_clear_refusal(folder: Path) -> None:
    """One more than an address may have is answered with 503 and closed; another address, and a proxy's, still may."""
    settings = Settings(indexes={"small": folder}, address_connections=3, connections=6, proxies=("127.0.0.9",))
    ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with listening(settings) as address, ExitStack() as held:

        def connect(source: str) -> socket.socket:
            return held.enter_context(socket.create_connection(address, 30, (source, 0)))

        def is_refused(sock: socket.socket, why: bytes) -> bool:
            reply = b"".join(iter(lambda: sock.recv(4096), b""))
            said = (b'"overloaded"', b"\r\nRetry-After: 1\r\n", why)
            return reply.startswith(b"HTTP/1.1 503 ") and all(text in reply for text in said)

        for _ in range(3):
            kept = connect("127.0.0.1")
        assert is_refused(connect("127.0.0.1"), b"your address has 3 connections")
        for source in ("127.0.0.9", "127.0.0.2", "127.0.0.2"):
            connect(source)
        assert is_refused(connect("127.0.0.9"), b"the server has 6 connections")
        kept.sendall(ask)
        assert kept.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_a_client_that_does_not_read_is_dropped(folder: Path) -> None:
    """What it was to get is not kept for it; the connection ends though it never closes it."""
    with listening(Settings(indexes={"small": folder}, time_ms=30_000, answer_seconds=0.3)) as address:
        ask = b"GET /static/js/main.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.settimeout(30)
            sock.connect(address)
            sock.sendall(5_000 * ask)
            end = select.poll()
            end.register(sock, 0)
            assert end.poll(30_000) == [(sock.fileno(), select.POLLERR | select.POLLHUP)]
