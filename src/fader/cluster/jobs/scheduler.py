"""Many idempotent tasks over a cluster: some in flight, lost ones again, and a clean end whatever happens.

A task is a function of plain data. Ray is told not to retry: a task whose worker or node died is given out again here,
up to `TRIES` times, and an error names what it was working on. The head is looked after all the time, as Ray would end
this process when that is gone; so is, where it is given, whatever else may call for an end. Knows nothing of what tasks
do.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from fader import errors
from fader.cluster.hosts.runtime import Connection, imported, line_of
from fader.errors import ClusterError, FaderError

TRIES = 12  # deaths of workers under one task before it is held to be the task's fault
ERROR_TRIES = 3  # the same for errors of the storage
PAUSE = 1.0
STARVED_SECONDS = 60.0
COUNT_SECONDS = 5.0
Found = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One task to do: what messages call it, a function, what that is given, and the memory it may take."""

    name: str
    function: Callable[[Mapping[str, Any]], Found]
    given: Mapping[str, Any]
    memory: int = 0


class Runner(Protocol):
    """What runs jobs."""

    def run(self, jobs: Iterable[Job], done: Callable[[Job, Found], None]) -> None:
        """Run all, in any order, and tell of each when it is done; the first that cannot be done is an error."""
        ...


class InProcess:
    """Runs jobs here, one after another."""

    def run(self, jobs: Iterable[Job], done: Callable[[Job, Found], None]) -> None:
        for job in jobs:
            found = job.function(job.given)
            if "error" in found:
                raise _raised(job, found)
            done(job, found)


@dataclass
class OnRay:
    """Runs jobs on a cluster; `lost` counts the tasks that had to be given out again; `watch` raises to end them."""

    connection: Connection
    lost: int = 0
    watch: Callable[[], None] | None = None
    _tries: dict[tuple[str, int], int] = field(default_factory=dict)
    _starved_since: float | None = None
    _cpus: int = 0
    _count_again: float = 0.0

    def run(self, jobs: Iterable[Job], done: Callable[[Job, Found], None]) -> None:
        ray = imported()
        waiting, flying = deque(jobs), dict[Any, Job]()
        self._check_room(waiting)
        try:
            while waiting or flying:
                while waiting and len(flying) < self._most() and not self.connection.is_silent:
                    job = waiting.popleft()
                    flying[_started(ray, job)] = job
                ready = _ready(ray, list(flying))
                self.connection.check()
                if self.watch is not None:
                    self.watch()
                for one in ready:
                    job = flying.pop(one)
                    found = self._result(ray, one, job)
                    if found is None:
                        waiting.append(job)
                    else:
                        done(job, found)
                if not ready:
                    self._check_nodes()
        except KeyboardInterrupt:
            flying.clear()  # tasks end with us; where one has just ended, cancelling it may make Ray abort this process
            raise
        finally:
            for one in flying:
                with suppress(Exception):  # the error that ends us is the one to be told
                    ray.cancel(one, force=True)

    def _most(self) -> int:
        """How many tasks to have out at once; the nodes are counted now and then."""
        if time.monotonic() >= self._count_again:
            self._cpus, self._count_again = self.connection.cpus(), time.monotonic() + COUNT_SECONDS
        return max(2, 2 * self._cpus)

    def _result(self, ray: Any, reference: Any, job: Job) -> Found | None:
        """What a task has returned, None where it has to be done again."""
        try:
            found: Found = ray.get(reference, timeout=60.0)
        except ray.exceptions.RayTaskError as error:
            said = " ".join(str(error.cause).split())[:300]
            raise ClusterError(f"{job.name}: {type(error.cause).__name__}: {said}; this is a fault of Fader") from error
        except ray.exceptions.RayError as error:
            self.connection.check()
            self._again(job, TRIES, f"its worker died ({line_of(error)})")
            return None
        if "error" not in found:
            return found
        if not found["again"]:
            raise _raised(job, found)
        self._again(job, ERROR_TRIES, found["message"])
        return None

    def _again(self, job: Job, most: int, why: str) -> None:
        """Count a failure of one kind, which may happen `most` times to a job."""
        self.lost, kind = self.lost + 1, (job.name, most)
        self._tries[kind] = self._tries.get(kind, 0) + 1
        if self._tries[kind] >= most:
            remedy = "look into this input and the memory of the nodes" if most == TRIES else "mend that"
            raise ClusterError(
                f"{job.name}: failed {most} times, at last because {why}; {remedy}, then run the same command again: "
                "it goes on where it was"
            )

    def _check_room(self, jobs: Iterable[Job]) -> None:
        """Refuse what no node could ever run: Ray would wait for one."""
        memory = max((job.memory for job in jobs), default=0)
        nodes = [node["Resources"] for node in self.connection.nodes()]
        if not any(has.get("CPU", 0) >= 1 and has.get("memory", 0) >= memory for has in nodes):
            largest = max((has.get("memory", 0) for has in nodes if has.get("CPU", 0) >= 1), default=0)
            raise ClusterError(
                f"{self.connection.address}: no node has a CPU and {memory >> 20:,} MB of memory, the most is "
                f"{int(largest) >> 20:,} MB; add nodes, or where the command has --memory pass less"
            )

    def _check_nodes(self) -> None:
        """Raise when no node has been left for a while that could do anything."""
        now = time.monotonic()
        if self.connection.cpus():
            self._starved_since = None
        elif self._starved_since is None:
            self._starved_since = now
        elif now - self._starved_since > STARVED_SECONDS:
            raise ClusterError(
                f"{self.connection.address}: no node with a CPU is left; add nodes, then run the same command again: "
                "it goes on where it was"
            )


def _ready(ray: Any, flying: list[Any]) -> list[Any]:
    """All tasks that are done, as soon as one is; none after a while."""
    if not flying:  # nothing is given out while the head is silent
        time.sleep(PAUSE)
        return []
    if not ray.wait(flying, num_returns=1, timeout=PAUSE)[0]:
        return []
    ready: list[Any] = ray.wait(flying, num_returns=len(flying), timeout=0)[0]
    return ready


def _started(ray: Any, job: Job) -> Any:
    name = f"fader.{job.function.__name__}"
    remote = ray.remote(num_cpus=1, memory=job.memory or None, max_retries=0, name=name)(job.function)
    return remote.remote(dict(job.given))


def _raised(job: Job, found: Found) -> FaderError:
    """The error that a task has returned; one of the storage does not say what was being done."""
    made: FaderError = getattr(errors, str(found["error"]), FaderError)(str(found["message"]))
    return ClusterError(f"{job.name}: {made}") if found["again"] else made
