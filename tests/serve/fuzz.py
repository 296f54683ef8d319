"""A program for a process of its own: drawn requests to a service over a crowded index.

    python -m serve.fuzz SEED REQUESTS [DOCUMENTS]

It serves every learner too, trained on small worlds, and some judgments. Two clients ask at a time; requests that load
kernels are not counted. Prints JSON: how many requests were answered with each status, how many ranked, those that
were a fault of the server, the longest stretch of CPU time of a thread between two looks at the clock of its budget,
and the peak of the process's memory, before and after.
"""

from __future__ import annotations

import http.client
import json
import resource
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlencode, urlsplit

import fader
from fader import budget
from fader.judging.judge import judge_answer
from fader.judging.store import JudgmentStore, path_beside
from fader.learn.learner import Learner
from fader.learn.model import Model
from fader.serve.settings import Settings
from fader.systems.base import parse_system
from hostile.crowd import ENTITIES, NAMED, document, make_system
from hostile.stretches import Stretch
from serve.drawn import RANKING, draw_request
from serve.live import running

CLIENTS, WARMING = 2, 2_000
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


@dataclass
class Answered:
    """What came of requests; `ranked` counts answers of routes that rank."""

    statuses: Counter[int] = field(default_factory=Counter)
    ranked: int = 0
    faults: list[Any] = field(default_factory=list)

    def add(self, other: Answered) -> None:
        self.statuses += other.statuses
        self.ranked += other.ranked
        self.faults += other.faults


def read_peak() -> int:
    """The peak of the process's memory, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def ask(url: str, seeds: range, served: Sequence[str], found: Answered) -> None:
    """Ask one request after the other, on one connection for as long as it is kept."""
    client = http.client.HTTPConnection(urlsplit(url).netloc, timeout=300)
    for seed in seeds:
        route, asked = draw_request(seed, served)
        try:
            client.request("GET", f"{route}?{urlencode(asked, errors='surrogatepass')}")
            answer = client.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as error:
            found.faults.append([seed, repr(error)])
            client.close()
            continue
        found.statuses[answer.status] += 1
        found.ranked += answer.status == 200 and route in RANKING
        if answer.status in FAULTS:
            found.faults.append([seed, answer.status, body[:300].decode()])
    client.close()


def load(url: str, seeds: range, served: Sequence[str]) -> Answered:
    """What several clients are answered, who share the seeds."""
    found = [Answered() for _ in range(CLIENTS)]
    own = [(url, seeds[n::CLIENTS], served, found[n]) for n in range(CLIENTS)]
    threads = [threading.Thread(target=ask, args=each) for each in own]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for other in found[1:]:
        found[0].add(other)
    return found[0]


def write_models(folder: Path) -> dict[str, tuple[Path, str | None]]:
    """A file of every learner, trained."""
    files: dict[str, tuple[Path, str | None]] = {}
    for name in NAMED:
        if name not in ("default", "joint") and isinstance(parse_system(name), Learner):
            files[name] = folder / f"{name}.json", None
            files[name][0].write_text(Model(make_system(name)).to_text())
    return files


def judge_some(folder: Path) -> None:
    """Judgments of questions whose answers are not clear."""
    index, store = fader.open(folder), JudgmentStore(path_beside(folder))
    for i in range(20):
        store.add(judge_answer(index, "ada", f"w{i} w{i + 1}", f"E{i}", i % 3, f"w{i} w{i + 1}"))


def run(seed: int, requests: int, documents: int) -> dict[str, Any]:
    """Two clients at a time; what came of it."""
    stretches = Stretches()
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work, "index")
        named = [{"id": f"E{i}", "name": f"w{i % 40} name {i}", "types": ["thing"]} for i in range(ENTITIES)]
        fader.build(folder, map(document, range(documents)), named, [{"id": "thing"}])
        models = write_models(Path(work))
        judge_some(folder)
        settings = Settings(indexes={"crowded": folder}, models=models, judge=True, time_ms=5_000)
        served = ["default", "joint", *models]
        with running(settings) as url:
            load(url, range(-min(WARMING, requests), 0), served)  # kernels are loaded when they are first used
            before = read_peak()
            with patch.object(budget, "time", stretches):
                found = load(url, range(seed, seed + requests), served)
            client = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
            client.request("GET", "/healthz")
            health = json.loads(client.getresponse().read())["status"]
            client.close()
    return {
        "requests": found.statuses.total(),
        "ranked": found.ranked,
        "statuses": dict(found.statuses),
        "faults": found.faults,
        "longest": Stretches.longest,
        "peak_mb": [before, read_peak()],
        "health": health,
    }


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 100)))
