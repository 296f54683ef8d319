"""Tasks on a cluster: lost ones are done again, hopeless ones end in an error that names what they worked on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from cluster.conftest import needs_ray
from fader.cluster.jobs import scheduler as jobs
from fader.cluster.jobs.scheduler import InProcess, Job, OnRay
from fader.errors import ClusterError, CorpusError

pytestmark = needs_ray
Task = Callable[[Mapping[str, Any]], dict[str, Any]]


def ran(runner: Any, task: Task, count: int = 3, **given: Any) -> list[int]:
    """The numbers of the jobs that were done."""
    found: list[int] = []
    work = [Job(f"piece {n}", task, {"n": n, **given}) for n in range(count)]
    runner.run(work, lambda job, _found: found.append(job.given["n"]))
    return sorted(found)


# Tasks are made inside of functions, so that they reach the nodes by value: there tests cannot be imported.
def dying(folder: Path) -> Task:
    """The process of one task dies at its first try."""

    def dies_once(given: Mapping[str, Any]) -> dict[str, Any]:
        if given["n"] == 1 and not (folder / "died").exists():
            (folder / "died").touch()
            os._exit(1)
        return {}

    return dies_once


def test_a_task_whose_process_dies_is_done_again(driver: Any, tmp_path: Path) -> None:
    runner = OnRay(driver)
    assert ran(runner, dying(tmp_path)) == [0, 1, 2]
    assert runner.lost == 1


def test_one_that_always_dies_is_named(driver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "TRIES", 2)

    def dies(given: Mapping[str, Any]) -> dict[str, Any]:
        return {} if given["n"] != 1 else os._exit(1)

    with pytest.raises(ClusterError, match="piece 1: failed 2 times, at last because its worker died"):
        ran(OnRay(driver), dies)


def test_what_is_done_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not wait for tasks that take longer: another can be given out in its place."""
    waited: list[float] = []

    class Ray:
        done: ClassVar[list[str]] = ["b", "d"]

        def wait(self, flying: list[str], num_returns: int, timeout: float) -> tuple[list[str], list[str]]:
            ready = [one for one in flying if one in self.done][:num_returns]
            waited.append(timeout if len(ready) < num_returns else 0.0)
            return ready, [one for one in flying if one not in ready]

    assert jobs._ready(Ray(), ["a", "b", "c", "d"]) == ["b", "d"]
    assert sum(waited) == 0.0
    assert jobs._ready(Ray(), ["a", "c"]) == []
    monkeypatch.setattr(jobs, "PAUSE", 0.0)
    assert jobs._ready(Ray(), []) == []


def test_all_ends_when_the_watch_says_so(driver: Any) -> None:
    """What it raises is raised, and tasks that are under way are not waited for."""

    def sleeps(_given: Mapping[str, Any]) -> dict[str, Any]:
        time.sleep(3600)
        return {}

    def watch() -> None:
        raise CorpusError("somebody else has failed")

    with pytest.raises(CorpusError, match="somebody else"):
        ran(OnRay(driver, watch=watch), sleeps)
    assert ran(OnRay(driver), lambda _given: {}) == [0, 1, 2]


def test_what_is_wrong_with_the_input_is_not_tried_again(driver: Any) -> None:
    def refuses(given: Mapping[str, Any]) -> dict[str, Any]:
        return {"error": "CorpusError", "message": f"file {given['n']} is no corpus", "again": False}

    for runner in (OnRay(driver), InProcess()):
        with pytest.raises(CorpusError, match="is no corpus"):
            ran(runner, refuses, 1)


def test_an_error_of_the_storage_is_tried_again(driver: Any, tmp_path: Path) -> None:
    """Three times; then it is an error that names the task."""

    def stumbles(given: Mapping[str, Any]) -> dict[str, Any]:
        mark = Path(given["folder"]) / "tried"
        if mark.exists() and given["mends"]:
            return {}
        mark.touch()
        return {"error": "StorageError", "message": "no space left", "again": True}

    runner = OnRay(driver)
    assert ran(runner, stumbles, 1, folder=str(tmp_path), mends=True) == [0]
    assert runner.lost == 1
    with pytest.raises(ClusterError, match="piece 0: failed 3 times, at last because no space left"):
        ran(OnRay(driver), stumbles, 1, folder=str(tmp_path), mends=False)


def test_a_fault_of_ours_is_told_as_one(driver: Any) -> None:
    def wrong(given: Mapping[str, Any]) -> dict[str, Any]:
        raise KeyError("no such thing")

    with pytest.raises(ClusterError, match=r"piece 0: KeyError: .*no such thing.*fault of Fader"):
        ran(OnRay(driver), wrong, 1)


def test_what_no_node_can_hold_is_refused(driver: Any) -> None:
    """Ray would wait for a node that is large enough."""
    with pytest.raises(ClusterError, match=r"no node has a CPU and 1,073,741,824 MB.*--memory"):
        OnRay(driver).run([Job("all", dict, {}, 1 << 50)], lambda _job, _found: None)
