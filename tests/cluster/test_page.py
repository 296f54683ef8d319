"""What docs/cluster.md tells to type works, on the cluster of three nodes that RAY_ADDRESS names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cluster.conftest import needs_ray
from docs.forked import forking
from docs.running import ON_A_CLUSTER, follow

pytestmark = needs_ray


def test_commands_work_and_print_what_is_shown(ray_cluster: Any, demo_files: Path, tmp_path: Path) -> None:
    with forking(demo_files / "index") as program:
        follow(ON_A_CLUSTER, demo_files, program, tmp_path, **ray_cluster.environment)
