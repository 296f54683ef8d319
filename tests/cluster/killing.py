"""Ends parts of a cluster on this machine at once, as a power loss would."""

from __future__ import annotations

from typing import Any

from fader.cluster.hosts.local_cluster import LocalCluster, below, children, command_of, kill_pid, raylet

AGENTS = ("ray::DashboardAgent", "ray::RuntimeEnvAgent", "ray::IDLE")


def nodes_of(cluster: LocalCluster) -> list[Any]:
    """The nodes without the head, oldest first."""
    return sorted(cluster.cluster.worker_nodes, key=raylet)


def workers_of(cluster: LocalCluster) -> list[int]:
    """The processes that run tasks and actors."""
    found = []
    for node in nodes_of(cluster):
        for pid in children(raylet(node)):
            title = command_of(pid)
            if title.startswith("ray::") and not title.startswith(AGENTS):
                found.append(pid)
    return found


def kill_node(cluster: LocalCluster, node: Any) -> None:
    """End a node with everything on it."""
    for pid in below(raylet(node)):
        kill_pid(pid)
    cluster.cluster.remove_node(node, allow_graceful=False)


def kill_head(cluster: LocalCluster) -> None:
    """End the head, and with it the cluster."""
    head = cluster.cluster.head_node
    for pid in below(raylet(head)):
        kill_pid(pid)
    head.kill_all_processes(check_alive=False, allow_graceful=False, wait=True)
