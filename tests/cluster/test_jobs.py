"""Tasks on a cluster: lost ones are done again, hopeless ones end in an error that names what they worked on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from cluster.conftest import needs_ray
from fader.cluster.jobs import scheduler as jobs
from fader.cluster.jobs.scheduler import OnRay, RunSettings
from fader.cluster.jobs.task import Task
from fader.errors import ClusterError, CorpusError
from fader.jobs.runners import Failure, InProcess

pytestmark = needs_ray
Work = Callable[[Any], Any]


def ran(runner: Any, work: Work, count: int = 3, memory: int = 0) -> list[int]:
    """The numbers of the tasks that were done."""

    @dataclass(frozen=True, kw_only=True)
    class Numbered(Task):
        n: int

        def run(self) -> bytes:
            return b""

    found: list[int] = []
    tasks = (Numbered(name=f"piece {n}", n=n, memory=memory) for n in range(count))
    runner.run(lambda: work, tasks, lambda task, _found: found.append(task.n))
    return sorted(found)


# Tasks are made inside of functions, so that they reach the nodes by value: there tests cannot be imported.
def dying(folder: Path) -> Work:
    """The process of one task dies at its first try."""

    def dies_once(task: Any) -> Any:
        if task.n == 1 and not (folder / "died").exists():
            (folder / "died").touch()
            os._exit(1)
        return b""

    return dies_once


def test_a_task_whose_process_dies_is_done_again(driver: Any, tmp_path: Path) -> None:
    runner = OnRay(driver)
    assert ran(runner, dying(tmp_path)) == [0, 1, 2]
    assert runner.lost == 1


def test_one_that_always_dies_is_named(driver: Any) -> None:
    def dies(task: Any) -> Any:
        return b"" if task.n != 1 else os._exit(1)

    with pytest.raises(ClusterError, match="piece 1: failed 2 times, at last because its worker died"):
        ran(OnRay(driver, settings=RunSettings(tries=2)), dies)


def test_what_is_done_is_told_at_once() -> None:
    """It does not wait for tasks that take longer: another can be given out in its place."""
    waited: list[float] = []

    class Ray:
        done: ClassVar[list[str]] = ["b", "d"]

        def wait(self, flying: list[str], num_returns: int, timeout: float) -> tuple[list[str], list[str]]:
            ready = [one for one in flying if one in self.done][:num_returns]
            waited.append(timeout if len(ready) < num_returns else 0.0)
            return ready, [one for one in flying if one not in ready]

    assert jobs._ready(Ray(), ["a", "b", "c", "d"], 1.0) == ["b", "d"]
    assert sum(waited) == 0.0
    assert jobs._ready(Ray(), ["a", "c"], 1.0) == []
    assert jobs._ready(Ray(), [], 0.0) == []


def test_all_ends_when_the_watch_says_so(driver: Any) -> None:
    """What it raises is raised, and tasks that are under way are not waited for."""

    def sleeps(_task: Any) -> Any:
        time.sleep(3600)
        return b""

    def watch() -> None:
        raise CorpusError("somebody else has failed")

    with pytest.raises(CorpusError, match="somebody else"):
        ran(OnRay(driver, watch=watch), sleeps)
    assert ran(OnRay(driver), lambda _task: b"") == [0, 1, 2]


def test_what_is_wrong_with_the_input_is_not_tried_again(driver: Any) -> None:
    def refuses(task: Any) -> Any:
        return Failure(task.name, "CorpusError", f"file {task.n} is no corpus")

    for runner in (OnRay(driver), InProcess()):
        with pytest.raises(CorpusError, match="is no corpus"):
            ran(runner, refuses, 1)


def test_an_error_of_the_storage_is_tried_again(driver: Any, tmp_path: Path) -> None:
    """Three times; then it is an error that names the task."""

    def stumbles(passes: bool) -> Work:
        def stumble(task: Any) -> Any:
            mark = tmp_path / "tried"
            if mark.exists() and passes:
                return b""
            mark.touch()
            return Failure(task.name, "StorageError", "no space left", again=True)

        return stumble

    runner = OnRay(driver)
    assert ran(runner, stumbles(passes=True), 1) == [0]
    assert runner.lost == 1
    with pytest.raises(ClusterError, match="piece 0: failed 3 times, at last because no space left"):
        ran(OnRay(driver), stumbles(passes=False), 1)


def test_a_fault_of_ours_is_told_as_one(driver: Any) -> None:
    def wrong(task: Any) -> Any:
        raise KeyError("no such thing")

    with pytest.raises(ClusterError, match=r"piece 0: KeyError: .*no such thing.*bug in Fader"):
        ran(OnRay(driver), wrong, 1)


def test_what_no_node_can_hold_is_refused(driver: Any) -> None:
    """Ray would wait for a node that is large enough."""
    with pytest.raises(ClusterError, match=r"no node has a CPU and 1,073,741,824 MB.*--memory"):
        ran(OnRay(driver), lambda _task: b"", 1, memory=1 << 50)
