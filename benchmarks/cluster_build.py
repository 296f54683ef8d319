"""A sharded build against the local build of the same corpus: CPU by kind of task, and wall time on Ray.

The tasks of `fader cluster build` are run in this process first, one after another: what cutting a corpus into shards
costs beyond the local build. Then by Ray, on several nodes of one core each on this machine, so that no network is in
the figures. A tiny build of each kind goes before, which loads the compiled kernels.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.common import Clock, Dataset

SHARDS = 8
TINY = 0.0005


class Timed:
    """Runs the tasks of a build here, one after another; CPU seconds by kind of task."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def run(self, work: Any, items: Any, take: Callable[[Any, Any], None]) -> None:
        from fader.jobs.runners import InProcess

        for item in items:
            with Clock() as clock:
                InProcess().run(work, [item], take)
            name = type(item).__name__
            self.seconds[name] = self.seconds.get(name, 0.0) + clock.cpu


def sharded(data: Dataset, out: Path, runner: Any) -> Clock:
    """A build of shards."""
    from fader.cluster.build.driver import ClusterBuildOptions, build

    shutil.rmtree(out, ignore_errors=True)
    given = [str(data.folder / "corpus.jsonl")], str(data.folder / "entities.tsv"), str(data.folder / "types.tsv")
    with Clock() as clock:
        build(str(out), *given, ClusterBuildOptions(SHARDS), runner)
    return clock


def local(data: Dataset, out: Path) -> Clock:
    """The build of one machine, by one thread."""
    from benchmarks.peers.fader_peer import build

    shutil.rmtree(out, ignore_errors=True)
    with Clock() as clock:
        build(data.folder, out)
    shutil.rmtree(out)
    return clock


def speed(data: Dataset, clock: Clock) -> dict[str, float]:
    """Wall and CPU seconds of this process, megabytes and documents a second of wall time."""
    megabytes = (data.folder / "corpus.jsonl").stat().st_size / 1e6
    found = {"wall_s": clock.wall, "cpu_s": clock.cpu}
    return {**found, "mb_per_s": megabytes / clock.wall, "documents_per_s": data.documents / clock.wall}


def on_ray(data: Dataset, tiny: Dataset, out: Path, nodes: int) -> dict[str, Any]:
    """The same by Ray, on so many nodes of this machine; the CPU is that of the driver alone."""
    from fader.cluster.hosts.local_cluster import LocalCluster
    from fader.cluster.hosts.runtime import connect
    from fader.cluster.jobs.scheduler import OnRay

    with LocalCluster(nodes) as cluster, connect(cluster.address) as connection:
        for _ in range(2):  # each node's workers load the kernels
            sharded(tiny, out, OnRay(connection))
        runner = OnRay(connection)
        clock = sharded(data, out, runner)
    shutil.rmtree(out)
    return {**speed(data, clock), "nodes": nodes, "lost": runner.lost}


def figures(data: Dataset, out: Path, with_ray: bool) -> dict[str, Any]:
    """All builds; the sharded index of the tasks run here is left in `out`."""
    tiny, beside = common.dataset(data.folder.parent, TINY), data.folder / "built"
    local(tiny, beside)
    own = local(data, beside)
    sharded(tiny, beside, Timed())
    shutil.rmtree(beside)
    runner, tokens = Timed(), len(data.tokens)
    clock = sharded(data, out, runner)
    reduce_s = runner.seconds.get("BuildShard", 0.0)
    found: dict[str, Any] = {
        "tokens": tokens, "documents": data.documents, "shards": SHARDS, "local": speed(data, own),
        "tasks": {**speed(data, clock), "by_task_s": runner.seconds}, "cpu_ratio": clock.cpu / own.cpu,
        "local_s_per_token": own.cpu / tokens, "build_s_per_token": reduce_s / tokens,
        "shuffle_s_per_token": (clock.cpu - reduce_s) / tokens,
    }  # fmt: skip
    if with_ray:
        found["ray"] = on_ray(data, tiny, beside, max(2, min(3, os.cpu_count() or 1)))
        found["ray_ratio"] = found["ray"]["wall_s"] / found["local"]["wall_s"]
    return found


def why_without_ray(is_quick: bool) -> str:
    """Why Ray is left out; nothing where it is not."""
    if importlib.util.find_spec("ray") is None:
        return "Ray is not installed, so that the build on a cluster is left out: pip install 'fader[cluster]'"
    return "the build on a Ray cluster is left out with --quick" if is_quick else ""


def show(found: dict[str, Any]) -> None:
    """Throughput of each build."""
    rows = []
    for name, what in (("local", "local, one thread"), ("tasks", "tasks of a sharded build, here"), ("ray", "by Ray")):
        if name in found:
            row = found[name]
            what += f", {row['nodes']} nodes of one core" if name == "ray" else ""
            ratio = found["local"]["wall_s"] / row["wall_s"]
            figures = [f"{row[key]:,.1f}" for key in ("wall_s", "mb_per_s", "documents_per_s")]
            rows.append((what, *figures, f"{ratio:.2f}"))
    print(common.table((f"build of {found['shards']} shards", "s", "MB/s", "documents/s", "x local"), rows))
    print(f"CPU of the tasks: {found['cpu_ratio']:.2f}x that of the local build")
