"""Calls to all shard groups at once through sockets: to any replica of a group, to another where it fails or is slow.

    shards = Shards(secret)
    shards.update(3, [["10.0.0.1:4001", "10.0.0.2:4001"], ["10.0.0.3:4001", "10.0.0.1:4002"]])   groups of commit 3
    shards.call_all(FindRows(question))                                         one answer per group

    failover   a call to a replica that fails goes to another at once; where none answers, all replicas of the current
               map are tried again, until patience or time ends
    hedging    a call that takes longer than 19 of 20 recent ones also goes to another replica, and the first answer is
               used; for at most one call in twenty, but always where a replica seems to hang
    deadline   what is left of the query's budget (fader.budget), else `deadline_ms`

A group without an answer raises IncompleteError, or gives a `Missing` where a partial answer is allowed. Calls are pure
functions, so repeating one changes nothing. calls.py makes a single call. Knows nothing of what is asked, or of Ray.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from fader.cluster.wire.calls import Call, error_of
from fader.cluster.wire.connections import RemoteServer, ShardConnection
from fader.cluster.wire.frames import WireError, check_secret
from fader.cluster.wire.transport import Calls, for_each
from fader.errors import IncompleteError, UsageError, quote

__all__ = ["ClientSettings", "Shards", "error_of"]
CONNECTORS = 16
RECENT = 256  # calls per method that decide what is slow
EVERY = 8  # calls between two updates of that


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Times in milliseconds, and the rate of hedged calls."""

    deadline_ms: float = 60_000.0  # of a call without a budget
    connect_ms: float = 1_000.0
    patience_ms: float = 10_000.0  # for a group without an answer
    pause_ms: float = 50.0  # between two rounds through all replicas
    hang_ms: float = 2_000.0  # after which a replica seems to hang
    hedge_least_ms: float = 3.0
    hedge_rate: float = 0.05
    hedge_after: int = 20  # calls of a method before its slow calls are hedged


class Pace:
    """Recent times of calls, and the rate of hedges."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._recent: dict[str, deque[float]] = {}
        self._slow: dict[str, float] = {}
        self._noted: Counter[str] = Counter()
        self._tokens = 1.0
        self._lock = threading.Lock()

    def note(self, method: str, seconds: float) -> None:
        """Record the time of an answered call."""
        with self._lock:
            recent = self._recent.setdefault(method, deque(maxlen=RECENT))
            recent.append(seconds)
            self._tokens = min(10.0, self._tokens + self._settings.hedge_rate)
            self._noted[method] += 1
            is_due = method not in self._slow or self._noted[method] % EVERY == 0
            if is_due and len(recent) >= self._settings.hedge_after:
                self._slow[method] = sorted(recent)[int(0.95 * (len(recent) - 1))]

    def slow(self, method: str) -> float | None:
        """The seconds after which a call is slow; None after too few calls."""
        found = self._slow.get(method)
        return None if found is None else max(found, self._settings.hedge_least_ms / 1000)

    def may_hedge(self) -> bool:
        """Whether one more call may be hedged; counts it."""
        with self._lock:
            if self._tokens < 1.0:
                return False
            self._tokens -= 1.0
            return True


class Shards:
    """The shard groups of a cluster. Safe to share among threads."""

    def __init__(self, secret: bytes, settings: ClientSettings = ClientSettings()) -> None:
        self._secret, self.settings = check_secret(secret), settings
        self._maps: dict[int, tuple[tuple[str, ...], ...]] = {}
        self._servers: dict[str, RemoteServer] = {}
        self._turns: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._connectors = ThreadPoolExecutor(CONNECTORS, thread_name_prefix="connecting")
        self.pace = Pace(settings)
        self.counts: Counter[str] = Counter()

    def update(self, commit: int, groups: Sequence[Sequence[str]]) -> None:
        """Set where the groups of a commit are served from now on: the addresses of the replicas, per group."""
        addresses = tuple(map(tuple, groups))
        wrong = next((a for replicas in addresses for a in replicas if not _is_address(a)), None)
        if not addresses or wrong is not None:
            raise UsageError(f"a map of shard groups has addresses host:port, not {quote(wrong)}")
        with self._lock:
            if len(self._maps.get(commit, addresses)) != len(addresses):
                message = f"commit {commit} has {len(self._maps[commit])} shard groups, not {len(addresses)}"
                raise UsageError(f"{message}; answers of one cut must not be mixed with those of another")
            self._maps = {**self._maps, commit: addresses}
            self._drop_servers()

    def forget(self, commit: int) -> None:
        """Drop a commit."""
        with self._lock:
            self._maps = {known: addresses for known, addresses in self._maps.items() if known != commit}
            self._drop_servers()

    def _drop_servers(self) -> None:
        """Leave the servers that are in no map: no connection to them is kept, not even after calls under way."""
        named = {a for addresses in self._maps.values() for replicas in addresses for a in replicas}
        for address in [a for a in self._servers if a not in named]:
            self._servers.pop(address).leave()

    def close(self) -> None:
        """Close all connections; those of calls under way when the calls end."""
        with self._lock:
            self._maps = {}
            self._drop_servers()
        self._connectors.shutdown(wait=False, cancel_futures=True)

    @property
    def commit(self) -> int:
        """The newest commit that has a map."""
        if not self._maps:
            raise IncompleteError("no shards are known yet; wait until the cluster is up")
        return max(self._maps)

    def groups(self, commit: int) -> int:
        """The number of groups of a commit."""
        return len(self.replicas(commit))

    def replicas(self, commit: int) -> tuple[tuple[str, ...], ...]:
        """The current addresses, per group."""
        found = self._maps.get(commit)
        if found is None:
            known = ", ".join(map(str, sorted(self._maps))) or "none"
            raise IncompleteError(f"no shards of commit {commit} are known, or no longer (known: {known}); ask again")
        return found

    def in_turn(self, commit: int, group: int) -> list[RemoteServer]:
        """The servers of a group, in rotation; those that failed recently come last."""
        with self._lock:
            replicas = self.replicas(commit)[group]
            self._turns[group] += 1
            turn = self._turns[group] % max(1, len(replicas))
            found = [self._server(address) for address in (*replicas[turn:], *replicas[:turn])]
        return sorted(found, key=lambda server: server.is_down)

    def _server(self, address: str) -> RemoteServer:
        if address not in self._servers:
            self._servers[address] = RemoteServer(address, self._secret)
        return self._servers[address]

    def connect(self, server: RemoteServer) -> Future[ShardConnection]:
        """Open a new connection in another thread."""
        try:
            return self._connectors.submit(server.connect, self.settings.connect_ms / 1000, time.monotonic())
        except RuntimeError:  # the pool is closed, or no thread can be started
            failed: Future[ShardConnection] = Future()
            failed.set_exception(WireError("cannot be asked: the client is closed"))
            return failed

    def count(self, name: str) -> None:
        """Count an event."""
        with self._lock:
            self.counts[name] += 1

    def call_all(
        self, calls: Calls, *, commit: int | None = None, deadline_ms: float | None = None, allow_partial: bool = False
    ) -> list[Any]:
        """The answer of each group; None for one that was not asked."""
        commit = self.commit if commit is None else commit
        each = for_each(calls, self.groups(commit))
        with Call(self, commit, each, deadline_ms, allow_partial) as call:
            return call.answers()


def _is_address(text: str) -> bool:
    host, colon, port = text.rpartition(":")
    return bool(host and colon) and port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16
