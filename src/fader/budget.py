"""The time that a query may take, checked between the steps of long work and inside them.

    with deadline(200):                              # milliseconds; None: no end of its own
        for begin, end in chunks(rows.size):         # the clock is checked before each chunk
            _kernel(rows[begin:end], out[begin:end])

Work is cut into chunks only under a deadline, so that nothing is slower otherwise; cutting never changes a result. The
deadline belongs to the thread that set it: other threads go on. A caller that goes away ends the work as the clock
does. Work that others are to be let before waits where the clock is looked at. Knows nothing of what is being done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.errors import BudgetError, UsageError, quote
from fader.limits import variable

CHUNK = 1 << 18  # elements between two checks of the clock: a few milliseconds


@dataclass(frozen=True, slots=True)
class Budget:
    """A number of milliseconds, and the moment when they are over."""

    time_ms: float
    deadline: float
    is_gone: Callable[[], bool] | None = None  # whether nobody waits for the answer any more
    give_way: Callable[[], None] | None = None  # waits while others are to be let before

    def check(self) -> None:
        """Raise if the time is over or nobody waits."""
        if self.give_way is not None:
            self.give_way()
        if time.monotonic() >= self.deadline or (self.is_gone is not None and self.is_gone()):
            raise self.error()

    def error(self) -> BudgetError:
        """The error for a query whose time is over."""
        return BudgetError(
            f"the query needs more than its {self.time_ms:,g} ms; ask with fewer or rarer words, a narrower type "
            f"or a smaller k, or give it more time: --timeout-ms, timeout_ms= or {variable('time_ms')}"
        )


_running: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def deadline(
    time_ms: float | None, is_gone: Callable[[], bool] | None = None, give_way: Callable[[], None] | None = None
) -> Iterator[None]:
    """Limit the time of the block; of nested deadlines the earliest holds.

    `is_gone` says whether nobody waits any more; it must be quick. `give_way` may wait, but not beyond the end of the
    time. Both are called whenever the clock is checked.
    """
    outer, mine = _running.get(), _budget(time_ms, is_gone, give_way)
    if mine is None or (outer is not None and outer.deadline <= mine.deadline):
        yield
        return
    if outer is not None:
        mine = replace(mine, is_gone=is_gone or outer.is_gone, give_way=give_way or outer.give_way)
    token = _running.set(mine)
    try:
        yield
    finally:
        _running.reset(token)


@contextmanager
def keeping_way() -> Iterator[None]:
    """Do not let others before inside the block: what holds a lock that they may need must go on."""
    outer = _running.get()
    if outer is None or outer.give_way is None:
        yield
        return
    token = _running.set(replace(outer, give_way=None))
    try:
        yield
    finally:
        _running.reset(token)


def _budget(
    time_ms: float | None, is_gone: Callable[[], bool] | None, give_way: Callable[[], None] | None
) -> Budget | None:
    if time_ms is None:
        return None
    if isinstance(time_ms, bool) or not isinstance(time_ms, int | float) or not 0 < time_ms < float("inf"):
        raise UsageError(f"timeout_ms must be a number of milliseconds above 0, not {quote(time_ms)}")
    return Budget(time_ms, time.monotonic() + time_ms / 1000, is_gone, give_way)


def check() -> None:
    """Raise if the time of this query is over; without a deadline do nothing."""
    budget = _running.get()
    if budget is not None:
        budget.check()


def current() -> Budget | None:
    """The budget that ends first; None without a deadline."""
    return _running.get()


def is_counted() -> bool:
    """Whether there is a deadline."""
    return _running.get() is not None


def chunks(count: int, weight: int = 1) -> Iterator[tuple[int, int]]:
    """[0, count) in chunks, the clock checked before each; in one chunk without a deadline.

    `weight` is how many times longer than usual an element takes: chunks are as many times smaller.
    """
    budget, size = _running.get(), max(1, CHUNK // weight)
    if budget is None or count <= size:
        check()
        yield 0, count
        return
    for begin in range(0, count, size):
        budget.check()
        yield begin, min(count, begin + size)


def gather_chunks(count: int, part: Callable[[int, int], NDArray[Any]]) -> Any:
    """The arrays that `part` makes of the chunks of [0, count), concatenated."""
    arrays = [part(begin, end) for begin, end in chunks(count)]
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
