"""Right of way: a costly call waits, wherever it looks at its clock, while a cheaper one of another client runs.

    way = RightOfWay()
    call = Call(way, client)
    with call.at_work(until), deadline(ms, give_way=call.give_way):     # in the thread that works
        ...

A queue can only decide who is next; a call that runs keeps its thread, the caches and, in Python, the interpreter. So a
call that has taken `FREE` seconds of CPU gives way to one that has taken less than a `CHEAPER`-th of that, the policy
of least attained service (Nuyens and Wierman, 2008). A client that asks its next query when the last one is answered
has none at work between two; for `SOON` seconds it counts as if it had (anticipatory scheduling: Iyer, Druschel, 2001).
Costly calls still come through: their client does not give way to one that has used `FAVOUR` times as much CPU lately,
so that it keeps half as much as any other client that is at work all the time. What holds a lock that others need goes
on (`budget.keeping_way`). Knows nothing of queues or of what is done.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

FREE = 0.02  # seconds of CPU that every call may take
CHEAPER = 4
FAVOUR = 2.0
SOON = 0.003
LATELY = 2.0  # seconds in which what was used counts e times less
MOST_CLIENTS = 10_000  # that are remembered


class RightOfWay:
    """The calls of a lane at work, and what their clients have used lately. Safe to share among threads."""

    def __init__(self, now: Callable[[], float] = time.monotonic, cpu: Callable[[], float] = time.thread_time) -> None:
        self.now, self.cpu = now, cpu
        self._calls: list[Call] = []
        self._ended: Call | None = None  # the one that ended last
        self._used: OrderedDict[str, tuple[float, float]] = OrderedDict()  # seconds, and when they were counted
        self._changed = threading.Condition()

    def enter(self, call: Call) -> None:
        """A call is at work."""
        with self._changed:
            self._calls.append(call)

    def leave(self, call: Call) -> None:
        """A call has ended."""
        with self._changed:
            self._count(call)
            self._calls.remove(call)
            call.ended, self._ended = self.now(), call
            self._changed.notify_all()

    def used(self, client: str) -> float:
        """The seconds of CPU that a client has used lately."""
        seconds, when = self._used.get(client, (0.0, 0.0))
        return seconds * math.exp((when - self.now()) / LATELY)

    def wait(self, call: Call) -> None:
        """Wait as long as a call must."""
        with self._changed:
            self._count(call)
            self._changed.notify_all()  # a call that waits for this one may be the cheaper one by now
            while (seconds := self.find_wait(call)) > 0:
                self._changed.wait(seconds)

    def _count(self, call: Call) -> None:
        seconds = call.take_new()
        self._used[call.client] = self.used(call.client) + seconds, self.now()
        self._used.move_to_end(call.client)
        if len(self._used) > MOST_CLIENTS:
            self._used.popitem(last=False)

    def find_wait(self, call: Call) -> float:
        """How long a call should wait before it looks again, as far as others do not end; 0 where it need not."""
        now = self.now()
        left = call.until - now
        if left > 0 and any(self._goes_before(other, call) for other in self._calls):
            return left
        soon = 0.0 if self._ended is None else self._ended.ended + SOON - now
        if left > 0 and soon > 0 and self._ended is not None and self._goes_before(self._ended, call):
            return min(left, soon)
        return 0.0

    def _goes_before(self, other: Call, call: Call) -> bool:
        if other.client == call.client or other.taken * CHEAPER >= call.taken:
            return False
        return self.used(other.client) < FAVOUR * self.used(call.client)


@dataclass(eq=False)
class Call:
    """A call of a client; what it has taken is known as of its last look at the clock."""

    way: RightOfWay
    client: str
    until: float = 0.0  # when its time is over, by the monotonic clock
    taken: float = 0.0  # seconds of CPU
    ended: float = 0.0
    _counted: float = 0.0
    _began: float = 0.0

    @contextmanager
    def at_work(self, until: float) -> Iterator[None]:
        """Do it inside, by one thread."""
        self.until, self._began = until, self.way.cpu()
        self.way.enter(self)
        try:
            yield
        finally:
            self.way.leave(self)

    def give_way(self) -> None:
        """Wait where the call must; to be called by its thread, often."""
        self.taken = self.way.cpu() - self._began
        if self.taken > FREE:
            self.way.wait(self)

    def take_new(self) -> float:
        """The seconds that were not counted yet; to be called by its thread."""
        self.taken = self.way.cpu() - self._began
        new, self._counted = self.taken - self._counted, self.taken
        return new
