"""The time that a query may take, looked at between the steps of long work and inside them.

    with deadline(200):                              # milliseconds; None: no end of its own
        for begin, end in chunks(rows.size):         # the clock is looked at before each piece
            _kernel(rows[begin:end], out[begin:end])

Work is cut into pieces only while time is counted, so that nothing is slower otherwise; cutting never changes a result.
The clock belongs to the thread that asked: other threads go on. Whoever asked may also go away, which ends the work as
the clock does. Knows nothing of what is being done.
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

from fader.errors import BudgetError, UsageError, quoted
from fader.limits import variable

PIECE = 1 << 18  # elements between two looks at the clock: a few milliseconds


@dataclass(frozen=True, slots=True)
class Budget:
    """So many milliseconds, and when they are over."""

    time_ms: float
    deadline: float
    is_gone: Callable[[], bool] | None = None  # whether nobody waits for the answer any more

    def check(self) -> None:
        """Raise where the time is over, or nobody waits."""
        if time.monotonic() >= self.deadline or (self.is_gone is not None and self.is_gone()):
            raise self.error()

    def error(self) -> BudgetError:
        """What is raised where the time is over."""
        return BudgetError(
            f"the query needs more than its {self.time_ms:,g} ms; ask with fewer or rarer words, with a narrower "
            f"type or for less, or give it more time: --timeout-ms, timeout_ms= or {variable('time_ms')}"
        )


_running: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def deadline(time_ms: float | None, is_gone: Callable[[], bool] | None = None) -> Iterator[None]:
    """Count the time of what is done inside; where it is counted already, the nearer end holds.

    `is_gone` is asked whenever the clock is looked at: whether nobody waits any more. It must be quick.
    """
    outer, mine = _running.get(), _budget(time_ms, is_gone)
    if mine is None or (outer is not None and outer.deadline <= mine.deadline):
        yield
        return
    if outer is not None and is_gone is None:
        mine = replace(mine, is_gone=outer.is_gone)
    token = _running.set(mine)
    try:
        yield
    finally:
        _running.reset(token)


def _budget(time_ms: float | None, is_gone: Callable[[], bool] | None) -> Budget | None:
    if time_ms is None:
        return None
    if isinstance(time_ms, bool) or not isinstance(time_ms, int | float) or not 0 < time_ms < float("inf"):
        raise UsageError(f"timeout_ms must be a number of milliseconds above 0, not {quoted(time_ms)}")
    return Budget(time_ms, time.monotonic() + time_ms / 1000, is_gone)


def check() -> None:
    """Raise where the time of this query is over; nothing where none is counted."""
    budget = _running.get()
    if budget is not None:
        budget.check()


def current() -> Budget | None:
    """The budget whose end is nearest; None where no time is counted."""
    return _running.get()


def is_counted() -> bool:
    """Whether time is counted."""
    return _running.get() is not None


def chunks(count: int, weight: int = 1) -> Iterator[tuple[int, int]]:
    """[0, count) in pieces, the clock looked at before each; in one piece where no time is counted.

    `weight` is how many times longer than usual an element takes: pieces are as many times smaller.
    """
    budget, size = _running.get(), max(1, PIECE // weight)
    if budget is None or count <= size:
        check()
        yield 0, count
        return
    for begin in range(0, count, size):
        budget.check()
        yield begin, min(count, begin + size)


def gather_chunks(count: int, part: Callable[[int, int], NDArray[Any]]) -> Any:
    """The arrays that `part` makes of the pieces of [0, count), laid end to end."""
    arrays = [part(begin, end) for begin, end in chunks(count)]
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
