"""How a cluster that serves an index is. Knows nothing of how it is found out or shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class ClusterHealth:
    """`status` is `incomplete` where a shard group has no replica; `lacking` counts missing replicas, per group.

    The controller is `silent` while it runs but says nothing, as one does that is stopped.
    """

    status: Literal["ok", "incomplete"]
    commit: int | None
    groups: int
    replicas: int
    lacking: dict[str, int]
    nodes: int
    hosts: int
    controller: Literal["up", "silent", "down"]
