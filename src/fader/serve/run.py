"""The service as a process: a port, indexes opened and warm, then requests until a signal ends it.

The port is taken first, so that one in use is known at once, and so that clients that come while indexes are being
opened wait instead of being turned away. SIGHUP reads everything again. SIGTERM and SIGINT end the process when the
requests that are there are answered; SIGINT a second time, at once. A thread that is stuck in native code cannot be
stopped, and Python waits for it when it ends: a watchdog then ends the process without that, with exit code 1.
Knows nothing of routes.
"""

from __future__ import annotations

import errno
import gc
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from fader.errors import InputError
from fader.serve import logs
from fader.serve.app import create_app
from fader.serve.settings import Settings
from fader.serve.wire import Connections, Wire

BACKLOG = 2048
ENDING = (signal.SIGINT, signal.SIGTERM)
log = logging.getLogger("fader.serve")


class HttpServer(uvicorn.Server):
    """uvicorn's server; one that a signal ended has not failed.

    With `stop_seconds`, the process has so much longer to end than requests have to be answered.
    """

    on_ready: Callable[[], None] = staticmethod(lambda: None)
    stop_seconds: float | None = None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.stop_seconds is not None:
            seconds = (self.config.timeout_graceful_shutdown or 0) + self.stop_seconds
            watchdog = threading.Timer(seconds, _end_process, (seconds,))
            watchdog.daemon = True
            watchdog.start()
        await super().shutdown(sockets)

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
    """Serve until a signal ends it; `on_ready` gets the address."""
    gc.freeze()  # modules stay, so that the collector need not look through them again; indexes, opened below, may go
    listening = listen(settings.host, settings.port)
    try:
        logs.configure(settings.log)
        app = create_app(settings)
        app.state.service.warm()
        gc.enable()
        server = HttpServer(configure(app, settings))
        server.stop_seconds = settings.stop_seconds
        server.on_ready = lambda: on_ready(address_of(listening))
        server.run([listening])
    finally:
        listening.close()


def _end_process(seconds: float) -> None:
    """End the process whatever its threads do."""
    try:
        log.critical("ended by force", extra={"fields": {"seconds": seconds, "reason": "threads do not come back"}})
        logging.shutdown()
    finally:
        os._exit(1)


def configure(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """uvicorn's settings: no log and no headers of its own."""
    wire: Any = partial(
        Wire,
        head_bytes=settings.head_bytes,
        arrival_seconds=settings.arrival_seconds,
        answer_seconds=settings.answer_seconds,
        connections=Connections(settings.connections, settings.address_connections, frozenset(settings.proxies)),
    )
    return uvicorn.Config(
        app,
        http=wire,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        backlog=BACKLOG,
        timeout_graceful_shutdown=int(settings.time_ms // 1000 + settings.drain_seconds),
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at an address."""
    try:
        family, *_rest = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, UnicodeError, OverflowError) as error:
        reasons = {
            errno.EADDRINUSE: "the port is in use; give another with --port, or 0 for any that is free",
            errno.EACCES: "not allowed; give a port above 1023 with --port",
        }
        reason = reasons.get(getattr(error, "errno", None) or 0) or getattr(error, "strerror", None) or error
        raise InputError(f"cannot listen at {host}, port {port}: {reason}") from None


def address_of(listening: socket.socket) -> str:
    """Where a browser finds it."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
