"""The gate: bounded, in order, by the clock; places are given back whatever happens."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fader import budget
from fader.serve.errors import OutOfTime, Overloaded
from fader.serve.gate import ClientGone, Clock, Gate
from fader.serve.turns import LATELY, Turns

LONG = 60_000.0


class Work:
    """Calls that go on until they are let go; `order` is that in which they began."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.order: list[int] = []

    def __call__(self, number: int) -> int:
        self.order.append(number)
        assert self.let_go.wait(30)
        return number


def trial(workers: int, queue: int, play: Callable[[Gate, Work], Awaitable[Any]]) -> Any:
    """Play a scene with a gate of so many workers and places."""
    work = Work()

    async def scene() -> Any:
        gate = Gate("test", workers, queue)
        try:
            return await play(gate, work)
        finally:
            work.let_go.set()
            gate.close()

    return asyncio.run(scene())


def begin(gate: Gate, work: Callable[..., Any], number: int = 0, **more: Any) -> asyncio.Task[Any]:
    return asyncio.ensure_future(gate.run(work, number, **{"clock": Clock.now(LONG), **more}))


async def settled(condition: Callable[[], bool]) -> None:
    """Let the loop turn until something holds."""
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.001)


def test_threads_that_do_not_come_back_are_counted() -> None:
    """From some seconds after the time of their call on, or before it, until they come back."""

    async def scene(gate: Gate, work: Work) -> list[int]:
        late = begin(gate, work, clock=Clock.now(LONG))
        fine = begin(gate, work, clock=Clock.now(10 * LONG))
        await settled(lambda: len(work.order) == 2)
        seen = [gate.count_overdue(0), gate.count_overdue(-5 * LONG / 1000), gate.count_overdue(60)]
        work.let_go.set()
        await asyncio.gather(late, fine)
        return [*seen, gate.count_overdue(-LONG)]

    assert trial(2, 0, scene) == [0, 1, 0, 0]


def test_who_would_wait_in_vain_is_refused_at_once() -> None:
    """Where calls take as long as a request has time, no more wait than there are threads, whatever the places."""

    async def scene() -> None:
        work, gate = Work(), Gate("test", 1, 100, time_ms=20)
        try:
            for _ in range(200):
                await gate.run(time.sleep, 0.03, clock=Clock.now(LONG))
                if gate.mean_ms > 20:
                    break
            tasks = [begin(gate, work, 0), begin(gate, work, 1)]
            await settled(lambda: len(work.order) == 1)
            assert (gate.busy, gate.waiting, gate.is_full()) == (1, 1, True)
            with pytest.raises(Overloaded):
                await begin(gate, work, 2)
            work.let_go.set()
            assert await asyncio.gather(*tasks) == [0, 1]
        finally:
            work.let_go.set()
            gate.close()

    asyncio.run(scene())


def test_no_more_work_than_threads_and_no_more_waiting_than_places() -> None:
    """Of 2 threads and 3 places, the sixth request is refused at once, and only it."""

    async def play(gate: Gate, work: Work) -> None:
        tasks = [begin(gate, work, i) for i in range(5)]
        await settled(lambda: len(work.order) == 2)
        assert (gate.busy, gate.waiting, gate.is_full()) == (2, 3, True)
        with pytest.raises(Overloaded) as refused:
            await begin(gate, work, 5)
        assert refused.value.headers["Retry-After"] == "1"
        work.let_go.set()
        assert await asyncio.gather(*tasks) == list(range(5))
        await settled(lambda: gate.busy == 0)
        assert not gate.is_full()

    trial(2, 3, play)


def test_turns_come_in_order_of_arrival() -> None:
    """With one thread, requests are begun in the order in which they came."""

    async def play(gate: Gate, work: Work) -> None:
        tasks = [begin(gate, work, i) for i in range(8)]
        await settled(lambda: len(work.order) == 1)
        work.let_go.set()
        await asyncio.gather(*tasks)
        assert work.order == list(range(8))

    trial(1, 8, play)


def test_time_counts_from_arrival() -> None:
    """A request that arrived long ago is not begun, though a thread is free; one that waits is ended by the clock."""

    async def play(gate: Gate, work: Work) -> None:
        with pytest.raises(OutOfTime, match="1,000 ms"):
            await begin(gate, work, clock=Clock(time.monotonic() - 5, 1000.0))
        busy = begin(gate, work, 1)
        await settled(lambda: work.order == [1])
        with pytest.raises(OutOfTime):
            await begin(gate, work, 2, clock=Clock.now(20.0))
        assert gate.waiting == 0
        work.let_go.set()
        assert await busy == 1
        assert work.order == [1]

    trial(1, 4, play)


def test_work_has_what_is_left_of_the_time() -> None:
    """The clock inside the engine ends at the request's end, and its error says the time that was asked for."""

    def spend(_: int) -> None:
        while True:
            budget.check()

    async def play(gate: Gate, work: Work) -> None:
        began = time.monotonic()
        with pytest.raises(OutOfTime, match="300 ms"):
            await begin(gate, spend, clock=Clock(began - 0.25, 300.0))

    trial(1, 0, play)


def test_a_client_that_goes_away_gives_its_place_back() -> None:
    """It is never begun, and the next one has its place at once."""

    async def play(gate: Gate, work: Work) -> None:
        gone = asyncio.Event()

        async def wait() -> None:
            await gone.wait()

        busy = begin(gate, work, 0)
        leaving = begin(gate, work, 1, gone=wait)
        await settled(gate.is_full)
        gone.set()
        with pytest.raises(ClientGone):
            await leaving
        assert not gate.is_full()
        staying = begin(gate, work, 2)
        work.let_go.set()
        assert await asyncio.gather(busy, staying) == [0, 2]
        assert work.order == [0, 2]

    trial(1, 1, play)


def test_a_cancelled_request_gives_its_place_back_and_its_thread_when_it_ends() -> None:
    """A thread that works is counted until it is done, whether anyone still waits for it or not."""

    async def play(gate: Gate, work: Work) -> None:
        busy, waiting = begin(gate, work, 0), begin(gate, work, 1)
        await settled(lambda: work.order == [0] and gate.waiting == 1)
        for task in (waiting, busy):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert (gate.busy, gate.waiting) == (1, 0)
        work.let_go.set()
        await settled(lambda: gate.busy == 0)

    trial(1, 1, play)


def test_an_error_of_the_work_is_the_callers_and_frees_the_thread() -> None:
    """Errors pass through; the gate goes on."""

    def fail(_: int) -> None:
        raise KeyError("x")

    async def play(gate: Gate, work: Work) -> None:
        for _ in range(3):
            with pytest.raises(KeyError):
                await begin(gate, fail)
        await settled(lambda: gate.busy == 0)

    trial(1, 0, play)


def test_whatever_comes_and_goes_all_places_are_free_in_the_end() -> None:
    """200 requests of which some are cancelled, some late, some refused: afterwards nothing is counted."""

    async def play(gate: Gate, work: Work) -> None:
        work.let_go.set()
        tasks = [begin(gate, work, i, clock=Clock.now(LONG if i % 3 else 0.5)) for i in range(200)]
        for task in tasks[::7]:
            await asyncio.sleep(0)
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(e, int | Overloaded | OutOfTime | asyncio.CancelledError) for e in ends)
        await settled(lambda: gate.busy == 0)
        assert gate.waiting == 0

    trial(3, 16, play)


def test_a_client_with_one_request_is_served_before_one_with_eight() -> None:
    """One thread: of eight costly requests of one client that came first, at most one more is begun before it."""

    async def play(gate: Gate, work: Work) -> None:
        tasks = [begin(gate, work, i, client="hog") for i in range(8)]
        await settled(lambda: len(work.order) == 1)
        tasks.append(begin(gate, work, 8, client="victim"))
        await asyncio.sleep(0)
        work.let_go.set()
        await asyncio.gather(*tasks)
        assert work.order == [0, 8, *range(1, 8)]

    trial(1, 8, play)


def test_turns_are_fair_by_cost() -> None:
    """Two clients with requests waiting at all times get the same seconds, though one's take ten times as long."""
    spent, now = {"dear": 0.0, "cheap": 0.0}, 0.0
    turns: Turns[str] = Turns(1, lambda: now)
    cost = {"dear": 1.0, "cheap": 0.1}
    for client in spent:
        for _ in range(2000):
            turns.note(client)
            turns.wait(client, client)
    for _ in range(1100):
        found = turns.next()
        assert found is not None
        turns.begin(found[0])
        now += cost[found[1]]
        spent[found[1]] += cost[found[1]]
        turns.end(found[0], cost[found[1]])
    assert abs(spent["dear"] - spent["cheap"]) <= 1.0 + 1e-9


def test_pauses_are_not_saved_up() -> None:
    """Who comes after an hour of another's work has no hour ahead of it: from then on both get the same."""
    turns: Turns[str] = Turns(1, lambda: 0.0)
    for _ in range(3600):
        turns.note("early")
        turns.begin("early")
        turns.end("early", 1.0)
    order = []
    for client in ("early", "late"):
        for _ in range(10):
            turns.note(client)
            turns.wait(client, client)
    for _ in range(10):
        found = turns.next()
        assert found is not None
        order.append(found[0])
        turns.begin(found[0])
        turns.end(found[0], 1.0)
    assert order.count("early") >= 4


def test_no_client_has_all_threads_while_others_ask() -> None:
    """Alone it has all; for some seconds after another asked, one is left to the others, and then it has all again."""
    now = 0.0
    turns: Turns[int] = Turns(2, lambda: now)
    for _ in range(2):
        turns.note("hog")
        assert turns.may_begin("hog")
        turns.begin("hog")
    turns.note("victim")
    assert not turns.may_begin("victim")
    turns.end("hog", 1.0)
    assert turns.may_begin("victim")
    assert not turns.may_begin("hog")
    now += LATELY
    assert turns.may_begin("hog")


def test_a_full_queue_takes_a_place_from_who_has_most() -> None:
    """The newest request of the client with most is refused for the first of another; its second has no such right."""

    async def play(gate: Gate, work: Work) -> None:
        hogs = [begin(gate, work, i, client="hog") for i in range(4)]
        await settled(lambda: len(work.order) == 1 and gate.waiting == 3)
        assert gate.is_full("hog")
        assert not gate.is_full("victim")
        victim = begin(gate, work, 4, client="victim")
        with pytest.raises(Overloaded):
            await hogs[3]
        assert gate.waiting == 3
        assert gate.is_full("victim")
        work.let_go.set()
        assert await asyncio.gather(*hogs[:3], victim) == [0, 1, 2, 4]
        await settled(lambda: gate.busy == 0)

    trial(1, 3, play)
