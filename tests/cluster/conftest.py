"""A Ray cluster of three nodes on this machine, and the demo with its index, each made once for a test process."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HAS_RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not HAS_RAY, reason="ray is not installed; pip install -e '.[cluster]'")


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[Any]:
    """Three nodes with a CPU and a `shards` each; a test that kills a node adds another."""
    if not HAS_RAY:
        pytest.skip("ray is not installed; pip install -e '.[cluster]'")
    from fader.cluster.hosts.local_cluster import LocalCluster

    with LocalCluster(3) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def driver(ray_cluster: Any) -> Iterator[Any]:
    """This process as a driver of the cluster, for the tests of a module: workers end with their driver."""
    from fader.cluster.hosts.runtime import connect

    with connect(ray_cluster.address) as connection:
        yield connection


@pytest.fixture(scope="session")
def demo_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `fader demo DIR` writes, with `index/` in it; tests must not change it."""
    from cli.running import passed

    place = tmp_path_factory.mktemp("cluster") / "demo"
    passed("demo", place, "--quiet")
    return place


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the cluster: `-m "not ray"` may be run by several processes, `-m ray` by one."""
    for item in items:
        if "ray_cluster" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.ray)
