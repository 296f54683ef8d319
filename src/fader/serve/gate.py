"""A lane of work: so many threads, so many requests that wait their turn, and an end to waiting.

A request that finds all threads busy waits its turn, which is fair among clients (turns.py); where as many wait as may,
or as could be served in their time, it is refused at once: it would wait in vain. Its time counts from its arrival: one
whose time is over while it waits is never started, and one that is started has what is left. A client that goes away
while it waits gives its place back. A thread that works is never stopped from outside: the clock inside the engine does
that, and there costly calls wait for cheap ones of others (rightofway.py). All but the work itself happens on the event
loop. Knows nothing of HTTP or of what is done.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from fader.budget import deadline
from fader.errors import BudgetError
from fader.serve.errors import OutOfTime, Overloaded
from fader.serve.rightofway import Call, RightOfWay
from fader.serve.turns import Turns

T = TypeVar("T")
RECENT = 0.05  # the weight of the newest call in the mean time of calls
NICE = 4  # of threads that work
SPARE = 0.8  # the share of its time that a request may spend waiting
Gone = Callable[[], Awaitable[None]]


class ClientGone(Exception):  # noqa: N818 - no error: nobody is left to be told
    """The client went away before its turn."""


@dataclass(frozen=True, slots=True)
class Clock:
    """When a request arrived, and the milliseconds it may take from then on."""

    arrived: float
    time_ms: float

    @classmethod
    def now(cls, time_ms: float) -> Clock:
        """A clock that starts now."""
        return cls(time.monotonic(), time_ms)

    @property
    def left_ms(self) -> float:
        """What is left of the time."""
        return self.time_ms - 1000 * (time.monotonic() - self.arrived)


class Gate:
    """A lane; to be used from one event loop."""

    def __init__(
        self, name: str, workers: int, queue: int, time_ms: float = float("inf"), *, is_remote: bool = False
    ) -> None:
        """Where calls are answered elsewhere, `is_remote`, they cost what they last, and none gives way."""
        self.name, self.workers, self.queue = name, workers, queue
        self._longest = SPARE * time_ms / 1000  # waiting
        self._mean = 0.0  # seconds of a call, lately
        self._threads = ThreadPoolExecutor(workers, f"fader-{name}", _yield_to_the_loop)
        self._way, self._is_remote = RightOfWay(cpu=time.monotonic if is_remote else time.thread_time), is_remote
        self._turns: Turns[asyncio.Future[None]] = Turns(workers, time.monotonic)
        self._clocks: dict[int, Clock] = {}  # of calls that run, by thread

    def is_full(self, client: str = "") -> bool:
        """Whether the next request of a client would be refused."""
        if self._turns.running < self.workers:
            return False
        ahead = self._turns.ahead(client)
        return (len(self._turns) >= self.queue and not self._turns.may_displace(client)) or (
            ahead >= self.workers and ahead * self._mean / self.workers > self._longest
        )

    @property
    def mean_ms(self) -> float:
        """How long a call takes, lately."""
        return 1000 * self._mean

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._turns)

    @property
    def busy(self) -> int:
        """How many threads work."""
        return self._turns.running

    def count_overdue(self, seconds: float) -> int:
        """How many threads work on calls whose time has been over for so many seconds."""
        return sum(clock.left_ms < -1000 * seconds for clock in list(self._clocks.values()))

    async def run(
        self, function: Callable[..., T], *args: Any, clock: Clock, gone: Gone | None = None, client: str = ""
    ) -> T:
        """The value of a client's call in a thread, when it is its turn; `gone` returns when the client has gone."""
        await self._wait_turn(clock, gone, client)
        loop, call = asyncio.get_running_loop(), Call(self._way, client)
        try:
            work = self._threads.submit(self._call, call, clock, function, args)
        except BaseException:
            self._release(client, 0.0)
            raise

        done: asyncio.Future[T] = loop.create_future()

        def finish_from_thread(work: Future[T]) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(self._finish, client, call.taken, work, done)

        work.add_done_callback(finish_from_thread)
        try:
            return await done
        except asyncio.CancelledError:
            work.cancel()
            raise

    def _finish(self, client: str, seconds: float, work: Future[T], done: asyncio.Future[T]) -> None:
        """Take back a thread and pass on what it found: the loop is woken once for both."""
        self._release(client, seconds)
        if done.done():
            return
        if work.cancelled():
            done.cancel()
        elif (error := work.exception()) is not None:
            done.set_exception(error)
        else:
            done.set_result(work.result())

    async def _wait_turn(self, clock: Clock, gone: Gone | None, client: str) -> None:
        """Wait for a thread; it is the caller's afterwards."""
        self._turns.note(client)
        if self._turns.may_begin(client):
            self._turns.begin(client)
            return
        if self.is_full(client):
            raise Overloaded
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        if len(self._turns) >= self.queue and self._turns.may_displace(client):
            _end(self._turns.displace(), Overloaded())
        self._turns.wait(client, turn)
        timer = loop.call_later(max(0.0, clock.left_ms / 1000), _end, turn, OutOfTime(clock.time_ms))
        watcher = asyncio.ensure_future(_watch(gone, turn)) if gone else None
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._release(client, 0.0)  # its turn came while it was being cancelled
            else:
                self._turns.leave(client, turn)
            raise
        finally:
            timer.cancel()
            if watcher is not None:
                watcher.cancel()

    def _call(self, call: Call, clock: Clock, function: Callable[..., T], args: tuple[Any, ...]) -> T:
        """The call, with what is left of its time."""
        began, thread = time.monotonic(), threading.get_ident()
        give_way = None if self._is_remote else call.give_way
        self._clocks[thread] = clock
        try:
            left = clock.left_ms
            if left <= 0:
                raise OutOfTime(clock.time_ms)
            with call.at_work(began + left / 1000), deadline(left, give_way=give_way):
                return function(*args)
        except BudgetError:
            raise OutOfTime(clock.time_ms) from None
        finally:  # threads may overwrite each other's mean: any of them will do
            del self._clocks[thread]
            self._mean += RECENT * (time.monotonic() - began - self._mean)

    def _release(self, client: str, seconds: float) -> None:
        """Take back the thread of a client after so many seconds, and hand out what is free."""
        self._turns.end(client, seconds)
        while (found := self._turns.next()) is not None:
            client, turn = found
            if not turn.done():
                self._turns.begin(client)
                turn.set_result(None)

    def close(self) -> None:
        """Take no more work; what is running ends by its own clock."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _yield_to_the_loop() -> None:
    """Let the event loop go first where there are fewer cores than threads: it has little to do, and is waited for."""
    if sys.platform == "linux":  # elsewhere it would be the whole process
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def _end(turn: asyncio.Future[None], error: Exception) -> None:
    if not turn.done():
        turn.set_exception(error)


async def _watch(gone: Gone, turn: asyncio.Future[None]) -> None:
    await gone()
    _end(turn, ClientGone())
