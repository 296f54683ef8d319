"""One call to all shard groups: a loop over their sockets, in the thread of the caller.

    with Call(shards, commit, calls, deadline_ms, allow_partial) as call:
        call.answers()

Implements failover, hedging and deadlines as client.py describes them. At the end, connections that may still receive
an answer are closed, which tells their servers to stop. Knows nothing of what is asked.
"""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import fader.errors
from fader import budget
from fader.cluster.shards.requests import Request
from fader.cluster.wire.connections import RemoteServer, ShardConnection, said
from fader.cluster.wire.server import INTERNAL, NOT_HELD
from fader.cluster.wire.transport import Missing, Reply, ShardCall, ShardError
from fader.errors import BudgetError, FaderError, IncompleteError, StorageError

if TYPE_CHECKING:
    from fader.cluster.wire.client import Shards

REMEDY = "ask again, or look whether all nodes are up"


@dataclass(eq=False)
class _Attempt:
    """A call to one replica of one group: connecting, or waiting for the answer."""

    group: _Group
    server: RemoteServer
    began: float
    connection: ShardConnection | None = None


@dataclass(eq=False)
class _Group:
    """The state of one group in one call."""

    number: int
    call: ShardCall
    attempts: list[_Attempt] = field(default_factory=list)
    tried: set[str] = field(default_factory=set)
    why: str = "no replica is known"
    began: float = 0.0
    again: float | None = None  # when to try all replicas again
    look_at: float | None = None  # when to check again whether a replica hangs
    is_refused: bool = False  # the last replica answered that it cannot
    answer: Any = None
    is_done: bool = False


class Call:
    """A call to all groups."""

    def __init__(
        self,
        shards: Shards,
        commit: int,
        each: Sequence[ShardCall | None],
        deadline_ms: float | None,
        allow_partial: bool,
    ) -> None:
        self._shards, self._commit = shards, commit
        self._settings, self._allow_partial = shards.settings, allow_partial
        self._each = each
        self._groups = [_Group(g, call) for g, call in enumerate(each) if call is not None]
        now = time.monotonic()
        self._budget = budget.current()
        own = shards.settings.deadline_ms if deadline_ms is None and self._budget is None else deadline_ms
        ends = [] if own is None else [now + own / 1000]
        self._until = min([*ends, *([self._budget.deadline] if self._budget else [])])
        # Where a partial answer is allowed, leave time to compute it.
        self._enough = (now + self._until) / 2 if allow_partial else self._until
        self._patience = min(now + shards.settings.patience_ms / 1000, self._enough)
        self._selector = selectors.DefaultSelector()
        self._wake: tuple[socket.socket, socket.socket] | None = None
        self._connected: deque[tuple[_Attempt, Future[ShardConnection]]] = deque()
        self._lock = threading.Lock()
        self._is_over = False

    def __enter__(self) -> Call:
        return self

    def __exit__(self, *_error: object) -> None:
        """Close the connections whose answers are no longer needed."""
        with self._lock:
            self._is_over = True
            late = list(self._connected)
        for attempt, future in late:
            _keep(attempt.server, future)
        for group in self._groups:
            for attempt in group.attempts:
                if attempt.connection is not None:
                    attempt.connection.close()
        self._selector.close()
        for end in self._wake or ():
            end.close()

    def answers(self) -> list[Any]:
        """Make the call; returns one answer per group."""
        self._shards.count("calls")
        for group in self._groups:
            self._begin(group)
        while waiting := [g for g in self._groups if not g.is_done]:
            self._look_at_clock(waiting)
            for key, _events in self._selector.select(self._pause(waiting)):
                if key.data is None:
                    self._take_connected()
                else:
                    self._read(key.data)
            self._ask_more(waiting)
        found = {group.number: group.answer for group in self._groups}
        lost = [group for group in self._groups if isinstance(group.answer, Missing)]
        if lost:
            self._shards.count("incomplete")
            if not self._allow_partial:
                raise self._incomplete(lost)
        return [found.get(g) for g in range(len(self._each))]

    def _look_at_clock(self, waiting: list[_Group]) -> None:
        now = time.monotonic()
        if now >= self._until:
            if self._budget is not None and now >= self._budget.deadline:
                raise self._budget.error()
            if not self._allow_partial:
                self._shards.count("incomplete")
                raise self._incomplete(waiting, "in time")
        for group in waiting:
            if now >= (self._enough if group.attempts else self._patience):
                why = group.why if not group.attempts else f"{group.attempts[-1].server.address} does not answer"
                self._end(group, Missing(group.number, why))

    def _incomplete(self, lost: Sequence[_Group], when: str = "") -> IncompleteError:
        names = ", ".join(str(g.number) for g in lost[:8])
        number = f"shard group{'s' if len(lost) > 1 else ''} {names}{' and more' if len(lost) > 8 else ''}"
        first = lost[0]
        why = first.answer.why if isinstance(first.answer, Missing) else first.why
        if first.attempts:
            why = f"{first.attempts[-1].server.address} does not answer"
        return IncompleteError(
            f"{number} of commit {self._commit} did not answer{' ' + when if when else ''} ({why}), and a partial "
            f"answer would be a wrong one; {REMEDY}"
        )

    def _pause(self, waiting: list[_Group]) -> float:
        """Seconds until the next deadline, hedge or round."""
        ends = [self._until]
        for group in waiting:
            ends.append(self._enough if group.attempts else self._patience)
            ends.append(self._hedge_at(group) if group.again is None else group.again)
        return max(0.0, min(ends) - time.monotonic())

    def _hedge_at(self, group: _Group) -> float:
        """When to ask another replica too."""
        if group.look_at is not None:
            return group.look_at
        slow, hang = self._shards.pace.slow(type(group.call).__name__), self._settings.hang_ms / 1000
        return group.began + (hang if slow is None else min(slow, hang))

    def _begin(self, group: _Group) -> None:
        """Start a round through all replicas."""
        group.tried.clear()
        group.again, group.look_at, group.began = None, None, time.monotonic()
        self._ask_another(group)

    def _ask_more(self, waiting: list[_Group]) -> None:
        """Start the hedges and rounds that are due."""
        now = time.monotonic()
        for group in waiting:
            if group.is_done:
                continue
            if group.again is not None and now >= group.again:
                self._begin(group)
            elif group.attempts and now >= self._hedge_at(group):
                self._hedge(group, now)

    def _hedge(self, group: _Group, now: float) -> None:
        """Ask another replica too: always where a replica seems to hang, within the hedge rate where it is slow."""
        hang = self._settings.hang_ms / 1000
        is_hanging = now - group.began >= hang
        group.look_at = now + hang if is_hanging else group.began + hang
        if is_hanging:
            for attempt in group.attempts:
                attempt.server.note_failure(f"does not answer for {1000 * (now - attempt.began):,.0f} ms")
        elif not self._shards.pace.may_hedge():
            return
        if self._ask_another(group):
            self._shards.count("hedges")

    def _ask_another(self, group: _Group) -> bool:
        """Ask a replica that was not asked in this round; returns whether there is one."""
        for server in self._shards.in_turn(self._commit, group.number):
            if server.address not in group.tried:
                group.tried.add(server.address)
                self._ask(group, server)
                return True
        if not group.attempts and group.is_refused:
            self._end(group, Missing(group.number, group.why))
        elif not group.attempts:
            group.again = time.monotonic() + self._settings.pause_ms / 1000
        return False

    def _ask(self, group: _Group, server: RemoteServer) -> None:
        attempt = _Attempt(group, server, time.monotonic())
        group.attempts.append(attempt)
        connection = server.idle()
        if connection is not None:
            self._send(attempt, connection)
            return
        if self._wake is None:
            self._wake = socket.socketpair()
            self._wake[0].setblocking(False)
            self._selector.register(self._wake[0], selectors.EVENT_READ, None)
        self._shards.connect(server).add_done_callback(lambda future: self._note_connected(attempt, future))

    def _note_connected(self, attempt: _Attempt, future: Future[ShardConnection]) -> None:
        """Pass a new connection to the loop; called in another thread."""
        with self._lock:
            if not self._is_over and self._wake is not None:
                self._connected.append((attempt, future))
                self._wake[1].send(b"x")
                return
        _keep(attempt.server, future)

    def _take_connected(self) -> None:
        assert self._wake is not None
        self._wake[0].recv(4096)
        while True:
            with self._lock:
                if not self._connected:
                    return
                attempt, future = self._connected.popleft()
            if attempt not in attempt.group.attempts:
                _keep(attempt.server, future)
            elif (error := future.exception()) is not None:
                self._fail(attempt, said(error))
            else:
                self._send(attempt, future.result())

    def _send(self, attempt: _Attempt, connection: ShardConnection) -> None:
        attempt.connection = connection
        left = 1000 * (self._until - time.monotonic())
        request = Request(self._commit, attempt.group.number, max(1.0, left), attempt.group.call)  # type: ignore[arg-type]
        try:
            connection.send(request, self._settings.connect_ms / 1000)
        except OSError as error:
            self._lose(attempt, error)
            return
        self._selector.register(connection, selectors.EVENT_READ, attempt)

    def _read(self, attempt: _Attempt) -> None:
        connection = attempt.connection
        if connection is None or attempt not in attempt.group.attempts:
            return
        try:
            if not connection.is_answered():
                return
            reply: Reply[Any] = connection.answer(attempt.group.call.reply)
        except OSError as error:
            self._selector.unregister(connection)
            self._lose(attempt, error)
            return
        self._selector.unregister(connection)
        attempt.connection = None
        attempt.server.give_back(connection)
        if reply.error is not None:
            self._hear(attempt, reply.error)
        else:
            self._shards.pace.note(type(attempt.group.call).__name__, time.monotonic() - attempt.began)
            self._end(attempt.group, reply.value)

    def _hear(self, attempt: _Attempt, told: ShardError) -> None:
        """Handle an error of a shard: raise one of the query, go on where it is one of this replica."""
        error = error_of(told.kind, told.text, told.position)
        if told.kind == NOT_HELD:
            self._fail(attempt, told.text)
            return
        if told.kind == INTERNAL or isinstance(error, StorageError):
            attempt.group.is_refused = True
            self._fail(attempt, told.text, is_down=False)
            return
        if isinstance(error, BudgetError):
            error = self._budget.error() if self._budget else self._incomplete([attempt.group], "in time")
        raise error

    def _lose(self, attempt: _Attempt, error: OSError) -> None:
        """Handle a broken connection. One that was idle may have lost its server long ago; the server may be well."""
        assert attempt.connection is not None
        was_fresh = attempt.connection.is_fresh
        attempt.connection.close()
        attempt.connection = None
        if not was_fresh:
            attempt.group.tried.discard(attempt.server.address)
            attempt.server.close()
        self._fail(attempt, said(error), is_down=was_fresh)

    def _fail(self, attempt: _Attempt, why: str, is_down: bool = True) -> None:
        """End an attempt, and go on with another replica."""
        group = attempt.group
        if is_down:
            attempt.server.note_failure(why)
            group.is_refused = False
        group.attempts.remove(attempt)
        group.why = f"{attempt.server.address} {why}"
        if not group.attempts and self._ask_another(group):
            self._shards.count("failovers")

    def _end(self, group: _Group, answer: Any) -> None:
        """Set the answer of a group, and drop its other attempts."""
        for attempt in group.attempts:
            if attempt.connection is not None:
                self._selector.unregister(attempt.connection)
                attempt.connection.close()
        group.attempts.clear()
        group.answer, group.is_done = answer, True


def _keep(server: RemoteServer, future: Future[ShardConnection]) -> None:
    """Keep a connection that came too late for the next call."""
    if not future.cancelled() and future.exception() is None:
        server.give_back(future.result())


def error_of(name: str, text: str, position: int | None = None) -> FaderError:
    """Restore an error that a shard raised."""
    kind = getattr(fader.errors, name, None)
    if not (isinstance(kind, type) and issubclass(kind, FaderError)):
        return IncompleteError(f"a shard failed: {text}")
    error: FaderError = kind.__new__(kind)
    Exception.__init__(error, text)
    if position is not None:
        error.position = position  # type: ignore[attr-defined]
    return error
