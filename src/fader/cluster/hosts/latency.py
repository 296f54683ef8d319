"""How long calls to shards may take and do take, and when another replica is asked too.

An answer is slow where it takes longer than 19 of 20 lately did; one call in twenty may be asked twice for it. Knows
nothing of sockets or shards.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import dataclass

RECENT = 256  # calls of a method by which it is told what is slow
EVERY = 8  # calls after which that is told anew


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Times in milliseconds, and how often another replica may be asked too."""

    deadline_ms: float = 60_000.0  # of a call, where no budget is counted
    connect_ms: float = 1_000.0
    patience_ms: float = 10_000.0  # how long a group is tried again and again
    pause_ms: float = 50.0  # between two rounds through all replicas
    hang_ms: float = 2_000.0  # after which a replica seems to hang
    hedge_least_ms: float = 3.0
    hedge_rate: float = 0.05
    hedge_after: int = 20  # calls of a method before it is known what is slow


class Pace:
    """How long calls take, and whether another hedge is within the rate."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._recent: dict[str, deque[float]] = {}
        self._slow: dict[str, float] = {}
        self._noted: Counter[str] = Counter()
        self._tokens = 1.0
        self._lock = threading.Lock()

    def note(self, method: str, seconds: float) -> None:
        """A call was answered after so long."""
        with self._lock:
            recent = self._recent.setdefault(method, deque(maxlen=RECENT))
            recent.append(seconds)
            self._tokens = min(10.0, self._tokens + self._settings.hedge_rate)
            self._noted[method] += 1
            is_due = method not in self._slow or self._noted[method] % EVERY == 0
            if is_due and len(recent) >= self._settings.hedge_after:
                self._slow[method] = sorted(recent)[int(0.95 * (len(recent) - 1))]

    def slow(self, method: str) -> float | None:
        """The seconds after which an answer is slow; None where too little is known."""
        found = self._slow.get(method)
        return None if found is None else max(found, self._settings.hedge_least_ms / 1000)

    def may_hedge(self) -> bool:
        """Whether one call more may be asked twice; counts it."""
        with self._lock:
            if self._tokens < 1.0:
                return False
            self._tokens -= 1.0
            return True
