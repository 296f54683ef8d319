"""Where the judgments of served indexes are, and how often one may judge. Knows nothing of HTTP but its refusals."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path

from fader.judging.store import JudgmentStore, path_beside
from fader.serve.errors import Refusal
from fader.serve.middleware.keys import Bucket

RATE = 3.0  # judgments a second of one who judges, and twice as many at once
MOST_BUCKETS = 10_000


class JudgingDesk:
    """The files of judgments of a service's indexes, each opened when it is first needed."""

    def __init__(self, folders: Mapping[str, Path], clock: Callable[[], float] = time.monotonic) -> None:
        self._folders, self._clock = folders, clock
        self._stores: dict[str, JudgmentStore] = {}
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()
        self._lock = threading.Lock()

    def store(self, name: str) -> JudgmentStore:
        """The judgments of an index."""
        with self._lock:
            if name not in self._stores:
                self._stores[name] = JudgmentStore(path_beside(self._folders[name]))
            return self._stores[name]

    def meter(self, who: str) -> None:
        """Refuse one who judges more often than a person can."""
        with self._lock:
            bucket = self._buckets.setdefault(who, Bucket(RATE, self._clock()))
            self._buckets.move_to_end(who)
            if len(self._buckets) > MOST_BUCKETS:
                self._buckets.popitem(last=False)
            seconds = bucket.take(self._clock())
        if seconds:
            wait = math.ceil(seconds)
            headers = {"Retry-After": str(wait)}
            raise Refusal(429, "rate_limited", f"more than {RATE:g} judgments per second", f"try in {wait} s", headers)
