"""The service as a process: a port, indexes opened and warm, then requests until a signal ends it.

The port is taken first, so that one in use is known at once, and so that clients that come while indexes are being
opened wait instead of being turned away. SIGHUP reads everything again. SIGTERM and SIGINT end the process when the
requests that are there are answered; SIGINT a second time, at once. Knows nothing of routes.
"""

from __future__ import annotations

import errno
import gc
import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import uvicorn

from fader.errors import InputError
from fader.serve import logs
from fader.serve.app import create_app
from fader.serve.settings import Settings
from fader.serve.wire import Wire

BACKLOG = 2048
DRAIN_SECONDS = 10  # on top of the longest request
ENDING = (signal.SIGINT, signal.SIGTERM)


class Server(uvicorn.Server):
    """uvicorn's server; one that was told to end, and has, is no failure."""

    on_ready: Callable[[], None] = staticmethod(lambda: None)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.on_ready()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in ENDING}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run(settings: Settings, on_ready: Callable[[str], None] = lambda address: None) -> None:
    """Serve until told to end; `on_ready` is given the address."""
    gc.freeze()  # modules stay, so that they need not be looked through ever again; indexes, opened below, may go
    listening = bound(settings.host, settings.port)
    try:
        logs.configure(settings.log)
        app = create_app(settings)
        app.state.service.warm()
        gc.enable()
        server = Server(config(app, settings))
        server.on_ready = lambda: on_ready(address_of(listening))
        server.run([listening])
    finally:
        listening.close()


def config(app: object, settings: Settings) -> uvicorn.Config:
    """uvicorn's settings: no log and no headers of its own."""
    return uvicorn.Config(
        app, http=Wire, ws="none", lifespan="on", log_config=None, access_log=False, server_header=False,  # type: ignore[arg-type]
        proxy_headers=bool(settings.proxies), forwarded_allow_ips=list(settings.proxies), backlog=BACKLOG,
        timeout_graceful_shutdown=settings.time_ms // 1000 + DRAIN_SECONDS,
    )  # fmt: skip


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens at an address."""
    try:
        family, *_rest = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, UnicodeError, OverflowError) as error:
        raise InputError(f"cannot listen at {host}, port {port}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    if number == errno.EADDRINUSE:
        return "the port is in use; give another with --port, or 0 for any that is free"
    if number == errno.EACCES:
        return "not allowed; give a port above 1023 with --port"
    return str(getattr(error, "strerror", None) or error)


def address_of(listening: socket.socket) -> str:
    """Where a browser finds it."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
