"""Time limits and recent times of calls to shards, which decide when to ask another replica too.

A call is slow if it takes longer than 19 of 20 recent ones; at most one call in twenty is then sent twice. Knows
nothing of sockets or shards.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import dataclass

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
