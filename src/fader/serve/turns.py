"""Whose turn is next: fair among clients by what their calls cost, in order of arrival for each.

Start-time fair queueing (Goyal, Vin and Cheng, 1996). A client has spent the CPU time of its calls; whoever has spent
least is next. One that comes back after a pause starts where those at work are, so that pauses are not saved up. Where
all places are taken, a client with fewer requests that wait takes the place of the newest of the one with most. While
others have asked lately, no client has all threads: a call is never interrupted, and theirs would wait for it to end.
Knows nothing of threads, clocks or errors.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
LATELY = 2.0  # seconds for which a client that asked is expected to ask again
MOST_CLIENTS = 10_000  # that are remembered


class Turns(Generic[T]):
    """Requests that wait for one of `threads`, and what their clients have spent; `now` tells the time in seconds."""

    def __init__(self, threads: int, now: Callable[[], float]) -> None:
        self._threads, self._now = threads, now
        self._waiting: dict[str, deque[T]] = {}
        self._running: Counter[str] = Counter()
        self._spent: OrderedDict[str, float] = OrderedDict()  # by client, the one that asked last at the end
        self._asked: dict[str, float] = {}  # when each asked last
        self._level = 0.0  # what the client had spent whose call was begun last

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    @property
    def running(self) -> int:
        """How many threads work."""
        return self._running.total()

    def note(self, client: str) -> None:
        """A client asks."""
        if client not in self._waiting and not self._running[client]:
            self._spent[client] = max(self._spent.get(client, 0.0), self._level)
        self._spent.move_to_end(client)
        self._asked[client] = self._now()
        if len(self._spent) > MOST_CLIENTS:
            idle = next((c for c in self._spent if c not in self._waiting and not self._running[c]), None)
            if idle is not None:
                del self._spent[idle], self._asked[idle]

    def may_begin(self, client: str) -> bool:
        """Whether a thread is free that the client may have."""
        free = self._threads - self.running
        return free > 1 or (free == 1 and (not self._running[client] or not self._others_asked(client)))

    def _others_asked(self, client: str) -> bool:
        last = next((c for c in reversed(self._spent) if c != client), None)
        return last is not None and self._now() - self._asked[last] < LATELY

    def begin(self, client: str) -> None:
        """A call of a client is begun."""
        self._running[client] += 1
        self._level = max(self._level, self._spent[client])

    def end(self, client: str, seconds: float) -> None:
        """A call of a client has ended, after so many seconds."""
        self._running[client] -= 1
        if not self._running[client]:
            del self._running[client]
        self._spent[client] = self._spent.get(client, self._level) + seconds
        self._asked.setdefault(client, self._now())

    def ahead(self, client: str) -> int:
        """How many of those who wait would have their turn before a new request of a client."""
        own, spent = len(self._waiting.get(client, ())), max(self._spent.get(client, 0.0), self._level)
        return own + sum(
            min(len(turns), own + (self._spent[c] <= spent)) for c, turns in self._waiting.items() if c != client
        )

    def wait(self, client: str, turn: T) -> None:
        """A request of a client waits from now on."""
        self._waiting.setdefault(client, deque()).append(turn)

    def leave(self, client: str, turn: T) -> None:
        """A request does not wait any more, if it did."""
        turns = self._waiting.get(client, deque())
        if turn in turns:
            turns.remove(turn)
        if not turns:
            self._waiting.pop(client, None)

    def next(self) -> tuple[str, T] | None:
        """The request that a free thread is for, if there is one: it does not wait any more."""
        found = [c for c in self._waiting if self.may_begin(c)]
        if not found:
            return None
        client = min(found, key=self._spent.__getitem__)
        turn = self._waiting[client][0]
        self.leave(client, turn)
        return client, turn

    def most_waiting(self) -> int:
        """How many requests wait of the client that has most of them."""
        return max(map(len, self._waiting.values()), default=0)

    def may_displace(self, client: str) -> bool:
        """Whether a client has so few requests waiting that it may have the place of another's."""
        return len(self._waiting.get(client, ())) + 1 < self.most_waiting()

    def displace(self) -> T:
        """The newest request of the client that has most waiting: it loses its place."""
        client = max(self._waiting, key=lambda c: len(self._waiting[c]))
        turn = self._waiting[client][-1]
        self.leave(client, turn)
        return turn
