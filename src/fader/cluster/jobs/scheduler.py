"""The runner on Ray: sends tasks to a cluster, repeats lost ones, and always ends cleanly.

Ray does not retry: a task whose worker or node died is started again here, up to `tries` times; the error then names
the task. The head is watched all the time, since Ray would kill this process when it is gone; so is `watch`, if given.
Results come in any order. Knows nothing of what tasks do.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from fader.cluster.hosts.runtime import Connection, import_ray, line_of
from fader.cluster.jobs.task import Task
from fader.errors import ClusterError
from fader.jobs.runners import Failure, Result, Take, Work


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How often tasks are tried, and times in seconds."""

    tries: int = 12  # workers that may die while they run one task
    error_tries: int = 3  # storage errors of one task
    pause: float = 1.0
    starved: float = 60.0  # without a node that has a CPU
    count_every: float = 5.0


@dataclass
class OnRay:
    """Runs tasks on a cluster. `lost` counts tasks that were repeated; `watch` raises to end all tasks."""

    connection: Connection
    lost: int = 0
    watch: Callable[[], None] | None = None
    settings: RunSettings = RunSettings()
    _tries: dict[tuple[str, int], int] = field(default_factory=dict)
    _starved_since: float | None = None
    _cpus: int = 0
    _count_again: float = 0.0
    _room: int = -1  # memory that a node is known to have

    def run(self, work: Work[Task, Result], items: Iterable[Task], take: Take[Task, Result]) -> None:
        """Run all tasks; `items` is read lazily, as tasks are sent."""
        ray, source = import_ray(), iter(items)
        lost, flying = deque[Task](), dict[Any, Task]()
        coming = next(source, None)
        try:
            while coming is not None or flying:
                while coming is not None and len(flying) < self._most() and not self.connection.is_silent:
                    self._check_room(coming.memory)
                    named = {"name": f"fader.{type(coming).__name__}", "memory": coming.memory or None}
                    remote = ray.remote(num_cpus=1, max_retries=0, **named)(_run_there)
                    flying[remote.remote(work, coming)] = coming
                    coming = lost.popleft() if lost else next(source, None)
                ready = _ready(ray, list(flying), self.settings.pause)
                self.connection.check()
                if self.watch is not None:
                    self.watch()
                for one in ready:
                    task = flying.pop(one)
                    result = self._result(ray, one, task)
                    if result is None:
                        lost.append(task)
                    else:
                        take(task, result)
                if coming is None and lost:
                    coming = lost.popleft()
                if not ready:
                    self._check_nodes()
        except KeyboardInterrupt:
            flying.clear()  # tasks end with this process; cancelling one that has just ended may make Ray abort
            raise
        finally:
            for one in flying:
                with suppress(Exception):  # raise the first error
                    ray.cancel(one, force=True)

    def _most(self) -> int:
        """The number of tasks in flight; the CPUs are counted from time to time."""
        if time.monotonic() >= self._count_again:
            self._cpus, self._count_again = self.connection.cpus(), time.monotonic() + self.settings.count_every
        return max(2, 2 * self._cpus)

    def _result(self, ray: Any, reference: Any, task: Task) -> Any:
        """The result of a task; None where it must be repeated."""
        try:
            result = ray.get(reference, timeout=60.0)
        except ray.exceptions.RayTaskError as error:
            said = " ".join(str(error.cause).split())[:300]
            raise ClusterError(f"{task.name}: {type(error.cause).__name__}: {said}; this is a bug in Fader") from error
        except ray.exceptions.RayError as error:
            self.connection.check()
            self._count_failure(task, self.settings.tries, f"its worker died ({line_of(error)})")
            return None
        if not isinstance(result, Failure):
            return result
        if not result.again:
            raise result.to_error()
        self._count_failure(task, self.settings.error_tries, result.message)
        return None

    def _count_failure(self, task: Task, most: int, why: str) -> None:
        """Count a failure of a task; raises at the `most`th of its kind."""
        self.lost, kind = self.lost + 1, (task.name, most)
        self._tries[kind] = self._tries.get(kind, 0) + 1
        if self._tries[kind] >= most:
            remedy = "check this input and the memory of the nodes" if most == self.settings.tries else "correct that"
            raise ClusterError(
                f"{task.name}: failed {most} times, at last because {why}; {remedy}, then run the same command again: "
                "it continues from there"
            )

    def _check_room(self, memory: int) -> None:
        """Raise if no node could ever run a task: Ray would wait for one."""
        if memory <= self._room:
            return
        nodes = [node["Resources"] for node in self.connection.nodes()]
        if not any(has.get("CPU", 0) >= 1 and has.get("memory", 0) >= memory for has in nodes):
            largest = max((has.get("memory", 0) for has in nodes if has.get("CPU", 0) >= 1), default=0)
            raise ClusterError(
                f"{self.connection.address}: no node has a CPU and {memory >> 20:,} MB of memory, the most is "
                f"{int(largest) >> 20:,} MB; add nodes, or where the command has --memory pass less"
            )
        self._room = memory

    def _check_nodes(self) -> None:
        """Raise when there has been no node with a CPU for a while."""
        now = time.monotonic()
        if self.connection.cpus():
            self._starved_since = None
        elif self._starved_since is None:
            self._starved_since = now
        elif now - self._starved_since > self.settings.starved:
            raise ClusterError(
                f"{self.connection.address}: no node with a CPU is left; add nodes, then run the same command again: "
                "it continues from there"
            )


def _ready(ray: Any, flying: list[Any], pause: float) -> list[Any]:
    """Wait until a task is done; returns all that are, none after `pause` seconds."""
    if not flying:  # no task is sent while the head is silent
        time.sleep(pause)
        return []
    if not ray.wait(flying, num_returns=1, timeout=pause)[0]:
        return []
    return ray.wait(flying, num_returns=len(flying), timeout=0)[0]  # type: ignore[no-any-return]


def _run_there(work: Work[Task, Any], task: Task) -> Any:
    return work()(task)
