"""Right of way: cheap calls of others go first, costly ones come through, nobody waits for who is not there."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

import pytest

from fader import budget
from fader.budget import deadline
from fader.fused.arena import Arena, LiteralList
from fader.lazy import cached_property
from fader.serve.rightofway import CHEAPER, FAVOUR, FREE, LATELY, SOON, Call, RightOfWay

LONG = 1e6


class Clocks:
    """Clocks that are set by hand."""

    def __init__(self) -> None:
        self.now = self.cpu = 100.0

    def way(self) -> RightOfWay:
        return RightOfWay(lambda: self.now, lambda: self.cpu)


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


def begin(way: RightOfWay, client: str, taken: float) -> Call:
    """A call at work that has taken so much."""
    call = Call(way, client, until=LONG, taken=taken)
    call._began = way.cpu() - taken
    way.enter(call)
    return call


def test_a_costly_call_waits_for_a_cheap_one(clocks: Clocks) -> None:
    """As long as it has time, whoever came first; not for one of its own client, nor for one nearly as costly."""
    way = clocks.way()
    costly = begin(way, "hog", 1.0)
    way._used["hog"] = 1.0, clocks.now
    assert way.find_wait(costly) == 0
    begin(way, "hog", 0.0)
    begin(way, "other", 1.01 / CHEAPER)
    assert way.find_wait(costly) == 0
    begin(way, "other", 0.99 / CHEAPER)
    assert way.find_wait(costly) == LONG - clocks.now
    clocks.now = LONG + 1
    assert way.find_wait(costly) == 0


def test_it_waits_a_little_for_the_next_one(clocks: Clocks) -> None:
    """Of a client that asks one query after the other."""
    way = clocks.way()
    costly = begin(way, "hog", 1.0)
    way._used["hog"] = 1.0, clocks.now
    way.leave(begin(way, "victim", 0.0))
    assert way.find_wait(costly) == pytest.approx(SOON)
    clocks.now += SOON
    assert way.find_wait(costly) == 0


def test_costly_calls_come_through(clocks: Clocks) -> None:
    """Their client does not wait for one that has used `FAVOUR` times as much lately; what is long ago counts less."""
    way = clocks.way()
    costly = begin(way, "hog", 1.0)
    begin(way, "victim", 0.0)
    way._used |= {"hog": (1.0, clocks.now), "victim": (0.99 * FAVOUR, clocks.now)}
    assert way.find_wait(costly) > 0
    way._used["victim"] = 1.01 * FAVOUR, clocks.now
    assert way.find_wait(costly) == 0
    way._used["victim"] = 1.01 * FAVOUR, clocks.now - LATELY
    assert way.find_wait(costly) > 0


def test_what_is_used_is_counted_once(clocks: Clocks) -> None:
    """At every look and at the end; a call that is cheap so far does not look at all."""
    way = clocks.way()
    call = Call(way, "one")
    with call.at_work(LONG):
        clocks.cpu += FREE / 2
        call.give_way()
        assert way.used("one") == 0
        clocks.cpu += 1
        call.give_way()
        assert way.used("one") == pytest.approx(1 + FREE / 2)
        clocks.cpu += 1
    assert way.used("one") == pytest.approx(2 + FREE / 2)


def test_threads_wait_and_go_on(clocks: Clocks) -> None:
    """A costly call stands still at its look, and goes on when the cheap one ends."""
    way, order = clocks.way(), []
    costly = begin(way, "hog", 0.0)
    way._used["hog"] = 1.0, clocks.now
    cheap = begin(way, "victim", 0.0)
    costly._began = clocks.cpu - 1

    def work() -> None:
        with deadline(LONG, give_way=costly.give_way):
            budget.check()
            order.append("costly")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(0.2)
    order.append("cheap")
    way.leave(cheap)
    clocks.now += SOON
    thread.join(30)
    assert order == ["cheap", "costly"]


def test_who_holds_a_lock_goes_on() -> None:
    """A list that is being decoded, which other queries may need, is decoded to its end."""
    looks = []
    with deadline(LONG, give_way=lambda: looks.append(1)):
        budget.check()
        assert looks == [1]

        def make(_arena: Arena) -> LiteralList:
            with deadline(LONG / 2):
                budget.check()
            return LiteralList(0, 0, 0, 0, 0)

        Arena(16).enter("list", make)
        assert looks == [1]
        with deadline(LONG / 2):
            budget.check()
        assert looks == [1, 1]


def test_lazy_attributes_do_not_wait_for_each_other() -> None:
    """One object's value is computed while another object's is not done; `functools` had one lock for both."""
    entered, let_go = threading.Event(), threading.Event()

    class Lazy:
        def __init__(self, wait: Callable[[], object]) -> None:
            self.wait = wait

        @cached_property
        def value(self) -> object:
            """Waits."""
            return self.wait()

    def hold() -> bool:
        entered.set()
        return let_go.wait(30)

    slow, quick = Lazy(hold), Lazy(lambda: "quick")
    threads = [threading.Thread(target=lambda one=one: one.value, daemon=True) for one in (slow, quick)]  # type: ignore[misc]
    threads[0].start()
    assert entered.wait(30)
    threads[1].start()
    threads[1].join(10)
    assert vars(quick).get("value") == "quick"
    let_go.set()
    threads[0].join(30)
    assert Lazy.value.__doc__ == "Waits."


def test_two_costly_calls_do_not_wait_for_each_other() -> None:
    """One waits for another that has just begun; when that one has become the costlier, the first goes on."""
    own, ended = threading.local(), list[str]()
    way = RightOfWay(cpu=lambda: own.seconds)
    way._used = OrderedDict({"first": (1.0, way.now()), "second": (1.0, way.now())})
    second_begun, first_looks = threading.Event(), threading.Event()

    def work(client: str, seconds: float, said: threading.Event, awaited: threading.Event) -> None:
        own.seconds = 0.0
        call = Call(way, client)
        with call.at_work(way.now() + 60.0):
            said.set()
            awaited.wait(10.0)
            own.seconds = seconds
            call.give_way()
            ended.append(client)

    first = threading.Thread(target=work, args=("first", 2 * FREE, threading.Event(), second_begun), daemon=True)
    second = threading.Thread(target=work, args=("second", 9 * FREE, second_begun, first_looks), daemon=True)
    first.start()
    second.start()
    first.join(0.2)
    assert first.is_alive()
    assert ended == []
    first_looks.set()
    first.join(10.0)
    second.join(10.0)
    assert ended == ["first", "second"]
