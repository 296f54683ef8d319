"""Builds on a cluster of three nodes, while workers, nodes, the driver and the head are killed.

Whatever dies, the index that is left has the bytes of an undisturbed build: no shard is lost, no line is counted twice.
All twenty kills of each kind with FADER_DOSE=1, one of a worker and one of a node otherwise; what a driver that dies
between any two changes of the storage leaves is in test_build.py.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cluster.conftest import needs_ray
from cluster.corpora import catalog, corpus, files_of
from cluster.killing import kill_head, kill_node, nodes_of, workers_of
from dose import dose
from fader.cluster.build.driver import ClusterBuildOptions, build
from fader.cluster.hosts.local_cluster import kill_pid
from fader.cluster.jobs.scheduler import OnRay
from fader.jobs.runners import InProcess

pytestmark = needs_ray
long = pytest.mark.skipif(dose(2, 1) < 2, reason="takes a minute or more; FADER_DOSE=1 runs it")
KILLS = 20
SHARDS = 4
PIECE = 20_000


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A corpus, its catalog, and the files of an undisturbed build in this process."""
    folder = tmp_path_factory.mktemp("given")
    made = {"corpus": corpus(folder, count=300), **catalog(folder)}
    return made | {"files": build_of(made, folder / "whole", InProcess()) and files_of(folder / "whole")}


def build_of(given: dict[str, Any], out: Path, runner: Any, shards: int = SHARDS) -> Any:
    how = ClusterBuildOptions(shards, piece_bytes=PIECE)
    return build(out, given["corpus"], given["entities"], given["types"], how, runner)


@pytest.mark.parametrize("shards", [1, 2, 4, 8])
def test_the_bytes_are_those_of_one_process(given: dict[str, Any], driver: Any, tmp_path: Path, shards: int) -> None:
    build_of(given, tmp_path / "here", InProcess(), shards)
    build_of(given, tmp_path / "there", OnRay(driver), shards)
    assert files_of(tmp_path / "there") == files_of(tmp_path / "here")


def until_killed(
    given: dict[str, Any], folder: Path, connection: Any, kill: Callable[[], bool], most: int
) -> tuple[int, str]:
    """Build again and again, and kill up to four times in each build; returns the kills, and what is to be told.

    Builds run in another thread, as Ray starts nodes only in the main one.
    """
    rng = random.Random(most)
    kills = lost = n = 0
    longest, began = 0.0, time.monotonic()
    build_of(given, folder / "undisturbed", OnRay(connection))
    undisturbed = time.monotonic() - began
    with ThreadPoolExecutor(1) as pool:
        while kills < most:
            runner, before, began = OnRay(connection), kills, time.monotonic()
            building = pool.submit(build_of, given, folder / f"out-{n}", runner)
            while not building.done():
                wait([building], rng.uniform(0.05, 0.5))
                if kills < min(most, before + 4) and not building.done():
                    kills += kill()
            building.result()
            longest = max(longest, time.monotonic() - began)
            assert files_of(folder / f"out-{n}") == given["files"]
            lost, n = lost + runner.lost, n + 1
            assert n < 10 * most
    return kills, f"{lost} tasks lost, {n} builds, the longest {longest:.1f} s, undisturbed {undisturbed:.1f} s"


def test_killed_workers(given: dict[str, Any], ray_cluster: Any, driver: Any, tmp_path: Path) -> None:
    rng = random.Random(4)

    def kill() -> bool:
        busy = workers_of(ray_cluster)
        if busy:
            kill_pid(rng.choice(busy))
        return bool(busy)

    kills, told = until_killed(given, tmp_path, driver, kill, dose(KILLS, 1))
    print(f"{kills} workers killed, {told}")


def test_killed_nodes(given: dict[str, Any], ray_cluster: Any, driver: Any, tmp_path: Path) -> None:
    """Another node takes the place of each."""
    rng = random.Random(5)

    def kill() -> bool:
        kill_node(ray_cluster, rng.choice(nodes_of(ray_cluster)))
        ray_cluster.add_node()
        return True

    kills, told = until_killed(given, tmp_path, driver, kill, dose(KILLS, 1))
    print(f"{kills} nodes killed, {told}")
    assert len(nodes_of(ray_cluster)) == 3


def command(given: dict[str, Any], out: Path, address: str) -> list[str]:
    """The command line of a build; small pieces are not on offer there, so each file is one."""
    files = ["--entities", given["entities"], "--types", given["types"], "-o", str(out)]
    build = ["-m", "fader", "cluster", "build", *given["corpus"], *files]
    return [sys.executable, *build, "--shards", str(SHARDS), "--address", address, "--json", "--quiet"]


def marks(out: Path) -> int:
    """How many tasks of an unfinished build have left their mark; folders come and go meanwhile."""
    names: list[str] = []
    with suppress(OSError):
        for key in os.listdir(out / ".unfinished"):
            for folder in ("", "map", "reduce"):
                with suppress(OSError):
                    names += os.listdir(out / ".unfinished" / key / folder)
    return sum(name.endswith(".part") for name in names)


@long
def test_killed_drivers(given: dict[str, Any], ray_cluster: Any, tmp_path: Path) -> None:
    """A driver that is killed at any moment is followed by another with the same command, which goes on: what the dead
    one has finished is not done again, and the end is the same."""
    environment = {**os.environ, **ray_cluster.environment}
    how = ClusterBuildOptions(SHARDS)
    build(tmp_path / "whole", given["corpus"], given["entities"], given["types"], how, InProcess())
    rng = random.Random(6)
    kills = builds = resumed = late = 0
    longest, most = 0.0, KILLS
    while kills < most or not resumed:
        out = tmp_path / f"out-{builds}"
        line, began = command(given, out, ray_cluster.address), time.monotonic()
        driver = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        may_end = kills >= most and (resumed or marks(out))  # the last one killed must leave something to go on with
        enough = 1000 if may_end else marks(out) + rng.randint(1, 3)
        while driver.poll() is None and marks(out) < enough:
            time.sleep(0.01)
        with suppress(subprocess.TimeoutExpired):
            driver.wait(rng.uniform(0.0, 0.3))
        if driver.poll() is None:
            driver.kill()
            driver.communicate()
            kills += 1
            print(f"killed {kills} of {most}, with {marks(out)} tasks done", flush=True)
            continue
        printed, said = driver.communicate()
        if b"holds an index already" in said:  # the one before was killed when all was done, but not told yet
            late += 1
        else:
            assert driver.returncode == 0, said
            resumed += json.loads(printed)["tasks"]["done before"]
            longest = max(longest, time.monotonic() - began)
        assert files_of(out) == files_of(tmp_path / "whole")
        builds += 1
    told = f"{late} after the commit; {resumed} tasks found done, the last run of a build {longest:.1f} s at most"
    print(f"{kills} drivers killed in {builds} builds, {told}")


@long
def test_a_killed_head_is_a_clean_error_and_the_next_run_goes_on(
    given: dict[str, Any], ray_cluster: Any, tmp_path: Path
) -> None:
    """One line that says what to do, exit code 1, no traceback; then the same command on another cluster."""
    from fader.cluster.hosts.local_cluster import LocalCluster

    with LocalCluster(1) as cluster:
        process = subprocess.Popen(
            command(given, tmp_path / "out", cluster.address), env={**os.environ, **cluster.environment},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        while not marks(tmp_path / "out") and process.poll() is None:
            time.sleep(0.01)
        kill_head(cluster)
        began = time.monotonic()
        printed, said = process.communicate(timeout=120)
        print(f"the head killed, told after {time.monotonic() - began:.1f} s")
    assert process.returncode == 1, said
    assert printed == ""
    assert "the head of the cluster is gone" in said
    assert "Traceback" not in said
    assert (tmp_path / "out" / ".unfinished").exists()
    done = subprocess.run(
        command(given, tmp_path / "out", ray_cluster.address), env={**os.environ, **ray_cluster.environment},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["documents"] > 0
    how = ClusterBuildOptions(SHARDS)
    build(tmp_path / "whole", given["corpus"], given["entities"], given["types"], how, InProcess())
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")
