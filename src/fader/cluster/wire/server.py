"""A socket server for shards: one thread per connection, and a bounded number of calls at a time.

    server = ShardServer(secret)
    server.serve(0, Shard(folder, commit, [0, 1]))
    server.start()
    server.address                                   "127.0.0.1:40123", for the client's map

A client sends a `Request` and gets a `Reply`. A server may hold several commits and groups: a new commit is served
beside the old one, until nobody uses that. Only clients that know the secret are served (frames.py); others take
neither time nor connections from them. When a client hangs up, as it does when another replica answered first, work on
its call stops. Binds the loopback address by default. Knows nothing of Ray.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fader.budget import deadline
from fader.cluster.shards.requests import Request
from fader.cluster.shards.shard import Shard
from fader.cluster.wire.frames import (
    GREETING_S,
    MOST_REQUEST,
    check_secret,
    frame,
    prepare,
    receive,
    send_frame,
    welcome,
)
from fader.cluster.wire.tls import find_files, peek, secure_server, shake_hands
from fader.cluster.wire.transport import Reply, ShardError
from fader.errors import BudgetError, FaderError, StorageError

NOT_HELD, INTERNAL = "not held", "internal"


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How many calls and connections a server has at a time, and times in seconds."""

    calls: int = 4  # that are answered at a time; others wait
    connections: int = 512  # after the greeting; a new one replaces the one idle longest, whose client reconnects
    strangers: int = 64  # connections before the greeting; a new one replaces the oldest
    frame: float = 60.0  # longest pause while a frame is received or sent
    look: float = 0.25  # between two checks whether a client still waits for its turn


class ShardServer:
    """A socket server for some shards."""

    def __init__(
        self, secret: bytes, host: str = "127.0.0.1", port: int = 0, settings: ServerSettings | None = None
    ) -> None:
        self._secret, self.settings = check_secret(secret), settings or ServerSettings()
        find_files()  # what is wrong with them is told at the start
        self._shards: dict[tuple[int, int], Shard] = {}
        self._room = threading.BoundedSemaphore(self.settings.calls)
        self._connections: set[socket.socket] = set()
        self._idle: dict[socket.socket, None] = {}  # connections that wait for a request, the longest first
        self._strangers: dict[socket.socket, None] = {}
        self._lock = threading.Lock()
        self._closed = False
        self.asked_at = time.monotonic()  # when a client with the secret last sent a request
        try:
            self._listening = socket.create_server((host, port), backlog=128)
        except OSError as error:
            raise StorageError(f"{host}:{port}: cannot listen there: {error.strerror or error}") from error
        self.address = "{}:{}".format(*self._listening.getsockname()[:2])  # where it is reached

    def start(self) -> None:
        """Accept connections from now on, each in its own thread."""
        threading.Thread(target=self._accept, name="shard server", daemon=True).start()

    def serve(self, group: int, shard: Shard) -> None:
        """Serve a shard as a group of its commit."""
        with self._lock:
            self._shards = {**self._shards, (shard.commit, group): shard}

    def retire(self, commit: int, groups: Collection[int] | None = None) -> None:
        """Stop serving a commit, or some groups of it; calls under way are completed."""
        with self._lock:
            self._shards = {
                (number, group): shard
                for (number, group), shard in self._shards.items()
                if number != commit or (groups is not None and group not in groups)
            }

    @property
    def held(self) -> list[tuple[int, int]]:
        """The (commit, group) pairs that are served."""
        return sorted(self._shards)

    def close(self) -> None:
        """Accept no more connections, and end the open ones."""
        self._closed = True
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self._lock:
            connections = [*self._connections, *self._strangers]
        for connection in connections:
            _hang_up(connection)

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection, _address = self._listening.accept()
            except OSError:
                time.sleep(0.05)  # closed; or a passing error, such as too many open files
                continue
            try:
                connection = secure_server(connection)
            except (FaderError, OSError, ValueError):  # nobody is served without TLS, where it is wanted
                connection.close()
                continue
            with self._lock:
                if len(self._strangers) >= self.settings.strangers:
                    oldest = next(iter(self._strangers))
                    del self._strangers[oldest]
                    _hang_up(oldest)
                self._strangers[connection] = None
            try:
                threading.Thread(target=self._attend, args=(connection,), name="shard call", daemon=True).start()
            except RuntimeError:  # no thread can be started at the moment
                self._drop(connection)

    def _attend(self, connection: socket.socket) -> None:
        """Greet a client and answer it until it goes."""
        try:
            shake_hands(connection, GREETING_S)
            prepare(connection)
            welcome(connection, self._secret)
            while self._is_known(connection):
                connection.settimeout(None)
                peek(connection)  # wait for the next request without a time limit
                with self._lock:
                    self._idle.pop(connection, None)
                connection.settimeout(self.settings.frame)
                request = receive(connection, MOST_REQUEST, Request)
                self.asked_at = time.monotonic()
                connection.settimeout(None)
                answer = self._answer(request, connection)
                connection.settimeout(self.settings.frame)
                send_frame(connection, answer)
        except OSError:
            pass  # the client has gone, or does not know the secret
        finally:
            self._drop(connection)

    def _is_known(self, connection: socket.socket) -> bool:
        """Register a connection after its greeting as idle; returns whether it may stay.

        At the limit a new one replaces the one that is idle longest.
        """
        with self._lock:
            self._strangers.pop(connection, None)
            if connection not in self._connections and len(self._connections) >= self.settings.connections:
                longest = next(iter(self._idle), None)
                if longest is None:
                    return False
                del self._idle[longest]
                self._connections.discard(longest)
                _hang_up(longest)
            if not self._closed:
                self._connections.add(connection)
                self._idle[connection] = None
            return not self._closed

    def _drop(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.discard(connection)
            self._idle.pop(connection, None)
            self._strangers.pop(connection, None)
        connection.close()

    def _answer(self, request: Request, connection: socket.socket) -> list[Any]:
        """The frame of the reply: the answer, or the error where there is none or it cannot be sent."""
        shard = self._shards.get((request.commit, request.group))
        if shard is None:
            text = f"does not hold group {request.group} of commit {request.commit}"
            return frame(Reply[Any](error=ShardError(NOT_HELD, text)))
        try:
            return frame(Reply(self._call_shard(shard, request, connection)))
        except FaderError as error:
            told = ShardError(type(error).__name__, str(error), getattr(error, "position", None))
        except Exception as error:  # report any error to the caller, and go on
            what = f"{type(request.call).__name__}: {type(error).__name__}"
            told = ShardError(INTERNAL, f"failed at {what}: {error}")
        return frame(Reply[Any](error=told))

    def _call_shard(self, shard: Shard, request: Request, connection: socket.socket) -> Any:
        """Call the shard when it is the turn of this call, unless its time is over or the client has gone."""
        until = time.monotonic() + request.deadline_ms / 1000
        while not self._room.acquire(timeout=max(0.0, min(self.settings.look, until - time.monotonic()))):
            if time.monotonic() >= until or _has_gone(connection):
                raise BudgetError("the shard was too busy for the call in time")
        try:
            left = 1000 * (until - time.monotonic())
            if left <= 0 or _has_gone(connection):
                raise BudgetError("the shard was too busy for the call in time")
            with deadline(left, lambda: _has_gone(connection)):
                return shard.call(request.call)
        finally:
            self._room.release()


def _has_gone(connection: socket.socket) -> bool:
    """Whether the other end has hung up; False on systems that cannot tell without blocking."""
    if not hasattr(socket, "MSG_DONTWAIT"):
        return False
    try:
        return not peek(connection, socket.MSG_DONTWAIT)
    except (BlockingIOError, InterruptedError):
        return False
    except OSError:
        return True


def _hang_up(connection: socket.socket) -> None:
    """End a connection that another thread reads."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
