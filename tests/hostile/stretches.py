"""How long a thread works between two looks at the clock of its budget, in its own CPU seconds.

CPU time of the thread, not time: other processes of a busy machine do not count. Garbage collection, which may come at
any time, is put off.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from fader import budget

FOREVER = 10**12


@dataclass
class Stretch:
    """The longest stretch, and the places in the code where it began and ended."""

    seconds: float = 0.0
    began: str = "the beginning"
    ended: str = ""
    looks: int = 0
    _last: float = field(default_factory=time.thread_time)
    _place: str = "the beginning"

    def monotonic(self) -> float:
        """A look at the clock."""
        self.end(_find_place(sys._getframe(1)))
        return time.monotonic()

    def end(self, place: str) -> None:
        taken = time.thread_time() - self._last
        if taken > self.seconds:
            self.seconds, self.began, self.ended = taken, self._place, place
        self.looks += 1
        self._place, self._last = place, time.thread_time()

    def __str__(self) -> str:
        return f"{1000 * self.seconds:.0f} ms of {self.looks} looks, from {self.began} to {self.ended}"


def _find_place(frame: Any) -> str:
    """The innermost lines outside of the budget's own code."""
    found = []
    while frame is not None and len(found) < 3:
        code = frame.f_code
        if "fader" in code.co_filename and not code.co_filename.endswith("budget.py"):
            found.append(f"{code.co_filename.rpartition('fader/')[2]}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(found)


@contextmanager
def longest_stretch() -> Iterator[Stretch]:
    """Measure what is done inside; it has a deadline that never comes."""
    stretch = Stretch()
    gc.collect()
    gc.disable()
    try:
        with patch.object(budget, "time", stretch), budget.deadline(FOREVER):
            stretch.seconds, stretch.looks, stretch._last = 0.0, 0, time.thread_time()
            yield stretch
            stretch.end("the end")
    finally:
        gc.enable()
