"""Connections to one server, kept open between calls, and its recent failures.

A connection carries one call at a time. After a failure a server is tried after the other replicas for a while, longer
after each further failure. Knows nothing of groups or calls.
"""

from __future__ import annotations

import logging
import socket
import ssl
import threading
import time
from contextlib import suppress
from typing import Any

from fader.cluster.wire.frames import MOST_ANSWER, MOST_REQUEST, Receiver, WireError, greet, prepare, send
from fader.cluster.wire.tls import peek, secure_client, shake_hands

log = logging.getLogger("fader.cluster")
KEPT = 16  # open connections per server
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0


class ShardConnection:
    """A connection after the greeting; `is_fresh` until its first call."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock, self.is_fresh = sock, True
        self._receiver = Receiver(MOST_ANSWER)

    def fileno(self) -> int:
        return self.sock.fileno()

    def send(self, request: Any, seconds: float) -> None:
        """Send a request; the answer is then read without blocking."""
        self.sock.settimeout(seconds)
        send(self.sock, request, MOST_REQUEST)
        self.sock.setblocking(False)
        self._receiver = Receiver(MOST_ANSWER)

    def is_answered(self) -> bool:
        """Read what has arrived; returns whether the answer is complete."""
        return self._receiver.take(self.sock)

    def answer(self, kind: Any) -> Any:
        return self._receiver.value(kind)

    def is_open(self) -> bool:
        """Whether the other end has neither closed it nor sent unexpected data."""
        try:
            self.sock.setblocking(False)
            peek(self.sock)
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            return False
        return False

    def close(self) -> None:
        with suppress(OSError):
            self.sock.close()


class RemoteServer:
    """A server by its address, `host:port`."""

    def __init__(self, address: str, secret: bytes) -> None:
        self.address, self._secret = address, secret
        self._idle: list[ShardConnection] = []
        self._is_left = False
        self._failures, self._until = 0, 0.0
        self._failed = 0.0, ""  # time and reason of the last failed connection
        self._lock = threading.Lock()

    @property
    def is_down(self) -> bool:
        """Whether it failed recently."""
        return time.monotonic() < self._until

    def idle(self) -> ShardConnection | None:
        """Take an open connection that no call uses; None if there is none."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            if connection.is_open():
                return connection
            connection.close()

    def connect(self, seconds: float, asked_at: float | None = None) -> ShardConnection:
        """Open a new connection, greeting included, within some seconds.

        Fails at once if the server has failed since `asked_at`: otherwise many calls to a machine that is gone would
        wait one after another.
        """
        at, why = self._failed
        if asked_at is not None and at > asked_at:
            raise WireError(why)
        try:
            return self._open(time.monotonic() + seconds)
        except OSError as error:
            self._failed = time.monotonic(), said(error)
            raise

    def _open(self, until: float) -> ShardConnection:
        host, _, port = self.address.rpartition(":")
        sock = socket.create_connection((host.strip("[]"), int(port)), timeout=until - time.monotonic())
        try:
            prepare(sock)
            sock = secure_client(sock)
            shake_hands(sock, until - time.monotonic())
            greet(sock, self._secret, until - time.monotonic())
        except BaseException:
            sock.close()
            raise
        return ShardConnection(sock)

    def give_back(self, connection: ShardConnection) -> None:
        """Take back a connection after a complete answer, which shows that the server is well."""
        connection.is_fresh = False
        with self._lock:
            was_down, self._failures, self._until = self._failures > 0, 0, 0.0
            is_kept = not self._is_left and len(self._idle) < KEPT
            if is_kept:
                self._idle.append(connection)
        if not is_kept:
            connection.close()
        if was_down:
            log.info("shard server %s answers again", self.address)

    def note_failure(self, why: str) -> None:
        """Prefer other servers for a while, and drop the open connections."""
        with self._lock:
            is_new = self._failures == 0
            self._failures += 1
            self._until = time.monotonic() + min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** min(self._failures - 1, 8))
        if is_new:
            log.info("shard server %s %s", self.address, why)
        self.close()

    def leave(self) -> None:
        """Keep no connection from now on, not even those that are given back."""
        with self._lock:
            self._is_left = True
        self.close()

    def close(self) -> None:
        """Close the connections that no call uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def said(error: BaseException) -> str:
    """Why a connection failed, as text."""
    if isinstance(error, WireError):
        return str(error)
    if isinstance(error, ssl.SSLError):
        return f"does not agree on TLS ({error.reason or error}); certificates must be of one authority"
    if isinstance(error, TimeoutError):
        return "does not answer"
    if isinstance(error, ConnectionRefusedError):
        return "refuses the connection; no server is there"
    return f"cannot be reached: {getattr(error, 'strerror', None) or error or type(error).__name__}"
