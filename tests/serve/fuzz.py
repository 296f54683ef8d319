"""A program for a process of its own: drawn requests to a service over a crowded index, for so many seconds.

    python -m serve.fuzz SEED SECONDS [DOCUMENTS]

Prints JSON: how many requests were answered with each status, those that were a fault of the server, the longest
stretch of CPU time of a thread between two looks at the clock of its budget, and the peak of the process's memory,
before and after.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx

import fader
from fader import budget
from fader.serve.settings import Settings
from hostile.crowd import ENTITIES, document
from hostile.stretches import Stretch
from serve.drawn import draw_request
from serve.live import running

CLIENTS, WARMING = 2, 1_000
FAULTS = range(500, 503)


class Stretches(threading.local):
    """The stretches of every thread; a thread that has waited for work begins anew with a new deadline."""

    longest: tuple[float, str] = (0.0, "")

    def __init__(self) -> None:
        self.own = Stretch()

    def monotonic(self) -> float:
        """A look at the clock; the one that sets a deadline only begins."""
        if sys._getframe(1).f_code.co_name == "_budget":
            self.own = Stretch()
            return time.monotonic()
        now = self.own.monotonic()
        if self.own.seconds > Stretches.longest[0]:
            Stretches.longest = self.own.seconds, str(self.own)
        return now


def read_peak() -> int:
    """The peak of the process's memory, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def ask(url: str, seeds: range, until: float, statuses: Counter[int], faults: list[Any]) -> None:
    with httpx.Client(base_url=url, timeout=300) as client:
        for seed in seeds:
            if time.monotonic() > until:
                break
            route, asked = draw_request(seed)
            try:
                found = client.get(route, params=asked)
            except httpx.HTTPError as error:
                faults.append([seed, repr(error)])
                continue
            statuses[found.status_code] += 1
            if found.status_code in FAULTS:
                faults.append([seed, found.status_code, found.text[:300]])


def load(url: str, seeds: range, until: float) -> tuple[Counter[int], list[Any]]:
    """What several clients are answered, who share the seeds."""
    statuses, faults = [Counter[int]() for _ in range(CLIENTS)], list[Any]()
    own = [(url, seeds[n::CLIENTS], until, statuses[n], faults) for n in range(CLIENTS)]
    threads = [threading.Thread(target=ask, args=each) for each in own]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(statuses, Counter[int]()), faults


def run(seed: int, seconds: float, documents: int) -> dict[str, Any]:
    """Two clients at a time; what came of it."""
    stretches = Stretches()
    with tempfile.TemporaryDirectory() as work:
        named = [{"id": f"E{i}", "name": f"w{i % 40} name {i}", "types": ["thing"]} for i in range(ENTITIES)]
        fader.build(Path(work, "index"), map(document, range(documents)), named, [{"id": "thing"}])
        settings = Settings(indexes={"crowded": Path(work, "index")}, time_ms=5_000)
        with running(settings) as url:
            load(url, range(-WARMING, 0), time.monotonic() + seconds)  # kernels are loaded when they are first used
            before = read_peak()
            with patch.object(budget, "time", stretches):
                statuses, faults = load(url, range(seed, 10**9), time.monotonic() + seconds)
            health = httpx.get(f"{url}/healthz", timeout=60).json()["status"]
    return {
        "requests": statuses.total(),
        "statuses": dict(statuses),
        "faults": faults,
        "longest": Stretches.longest,
        "peak_mb": [before, read_peak()],
        "health": health,
    }


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1_000)))
