"""The service without HTTP: what is asked, on which index, by which ranker, in which lane.

    service = Service(settings)
    served = service.index("enwiki")
    answer = await service.run("engine", served.index.search, "landed +mars", None, 10, served.ranker(None))

Handlers are thin above it: they parse, `await run`, and encode. Knows nothing of requests or routes.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from fader.serve.errors import Damaged, OutOfTime
from fader.serve.examples import read_examples_file
from fader.serve.gate import Clock, Gate, Gone
from fader.serve.judging import JudgingDesk
from fader.serve.library import Library
from fader.serve.open_index import Served
from fader.serve.settings import Settings
from fader.serve.training import TrainingRoom

T = TypeVar("T")
log = logging.getLogger("fader.serve")

LOADING = "systems are still being loaded or compiled, which happens once; try again in a minute"
GUARD_SECONDS = 2.0  # between two looks at the files of indexes
# How long a thread may keep the interpreter from the event loop, which refuses requests. A kernel gives it away anyway;
# every switch between threads costs CPU time.
SWITCH_SECONDS = 0.002


class Service:
    """Opened indexes and the lanes to them. Lanes: `engine` for what ranks, `light` for what looks up."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.library = Library(settings)
        self.judging = JudgingDesk(settings.indexes)
        self.training = TrainingRoom(self.reread_models)
        self.examples = read_examples_file(settings.examples) if settings.examples else []
        self.lanes = {
            "engine": Gate("engine", settings.workers, settings.queue, settings.time_ms, is_remote=settings.is_remote),
            "light": Gate("light", settings.light_workers, settings.light_queue, is_remote=settings.is_remote),
        }
        self.ready, self.preparing = False, True
        self._changing = threading.Lock()  # the watcher and a signal may want to change what is served at once
        self.problems: dict[str, str] = {}
        self.damaged: frozenset[str] = frozenset()  # indexes with files that must not be read any more

    def index(self, name: str | None = None) -> Served:
        """The index of a name, at the commit that is served now; the first without one."""
        served = self.library.find(name)
        if served.name in self.damaged:
            raise Damaged
        return served

    async def run(
        self,
        lane: str,
        function: Callable[..., T],
        *args: Any,
        clock: Clock | None = None,
        timeout_ms: float | None = None,
        gone: Gone | None = None,
        client: str = "",
    ) -> T:
        """The value of a call in a lane; its time counts from the clock's start, and is never above the limit."""
        most = float(self.settings.time_ms)
        asked = min(timeout_ms or most, most)
        clock = Clock.now(asked) if clock is None else Clock(clock.arrived, asked)
        try:
            return await self.lanes[lane].run(function, *args, clock=clock, gone=gone, client=client)
        except OutOfTime:
            raise OutOfTime(asked, LOADING if self.preparing else "") from None

    def warm(self) -> None:
        """Load what a first request would wait for: kernels, by a query that nobody asked."""
        sys.setswitchinterval(SWITCH_SECONDS)
        for served in self.library:
            served.warm()
        self.ready = True

    def prepare(self) -> None:
        """Load the rest, beside the first requests; the collector need not look through what is there then."""
        try:
            for served in self.library:
                served.prepare()
            self.index().load_systems()
        finally:
            self.preparing = False
        gc.freeze()

    def reload(self) -> list[str]:
        """Serve the newest commits; the names of the indexes that had one. What cannot be opened stays as it is."""
        with self._changing:
            return [served.name for served in self.library if self._reload_one(served)]

    def reread_models(self) -> None:
        """Read the model files again; none is replaced where one cannot be used."""
        with self._changing:
            self.library.reread_models()

    def _reload_one(self, served: Served) -> bool:
        try:
            newer = self.library.open_newer(served)
            if newer is not None:
                newer.warm()
                newer.prepare()
        except Exception as error:  # whatever it is, the old commit is as good as before
            if self.problems.get(served.name) != str(error):
                log.error("reload failed", extra={"fields": {"index": served.name, "problem": str(error)}})
            self.problems[served.name] = str(error)
            return False
        self.problems.pop(served.name, None)
        if newer is None:
            return False
        self.library.replace(newer)
        log.info("reloaded", extra={"fields": {"index": newer.name, "commit": newer.index.commit}})
        return True

    async def watch(self) -> None:
        """Reload whenever there is a new commit, for as long as the service runs."""
        while self.settings.watch_seconds > 0:
            await asyncio.sleep(self.settings.watch_seconds)
            await asyncio.to_thread(self.reload)

    async def guard(self) -> None:
        """Look at the files of indexes again and again, for as long as the service runs."""
        while True:
            await asyncio.to_thread(self.look_for_damage)
            await asyncio.sleep(GUARD_SECONDS)

    def look_for_damage(self) -> None:
        """Find indexes whose files were truncated: they are not asked any more, and the log says why."""
        found = {served.name: self.settings.backing.find_damage(served.index) for served in self.library}
        for name, problem in found.items():
            if problem and name not in self.damaged:
                log.error("index damaged", extra={"fields": {"index": name, "problem": problem}})
        self.damaged = frozenset(name for name, problem in found.items() if problem)

    def find_overdue(self) -> dict[str, int]:
        """How many threads of each lane do not come back, where there are any.

        While systems are compiled, a thread may well wait for that.
        """
        seconds = self.settings.overdue_seconds
        found = {name: 0 if self.preparing else gate.count_overdue(seconds) for name, gate in self.lanes.items()}
        return {name: count for name, count in found.items() if count}

    def close(self) -> None:
        """Take no more work."""
        for gate in self.lanes.values():
            gate.close()
