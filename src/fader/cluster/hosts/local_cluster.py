"""Several Ray nodes on one machine, for `fader cluster up` and for tests.

The head has no CPU, so the other nodes do all the work; each of them has one `shards` besides its CPUs. Everything
listens on the loopback address and needs a token. Reads the processes of a node from /proc. Knows nothing of what is
run.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from fader.cluster.hosts.runtime import (
    LOOPBACK,
    SETTINGS,
    TOKEN,
    import_ray,
    prepare_environment,
    short_folder,
    unreachable,
)
from fader.errors import ClusterError

TRIES = 3
WAIT_SECONDS = 120


class LocalCluster:
    """A cluster that lives as long as this object; use it in a `with`.

    This process may be a driver of it (`connect(cluster.address)`), and so may others, with `environment`.
    """

    def __init__(
        self, nodes: int = 3, *, cpus: int = 1, object_store_mb: int = 80, token: str | None = None, port: int = 0
    ) -> None:
        self.token = token or secrets.token_hex(32)
        self._cpus, self._of_node = cpus, {"object_store_memory": object_store_mb << 20, "node_ip_address": LOOPBACK}
        self._temporary = tempfile.mkdtemp(prefix="fray-", dir=short_folder())
        self._exit = ExitStack()
        self._exit.callback(shutil.rmtree, self._temporary, ignore_errors=True)
        self._exit.enter_context(
            prepare_environment(self.token, True, RAY_TMPDIR=self._temporary, RAY_AUTH_MODE="token")
        )
        self.cluster: Any = None
        try:
            self._start(nodes, port)
        except BaseException:
            self.stop()
            raise

    def _start(self, nodes: int, port: int) -> None:
        import_ray()
        if port and unreachable(f"{LOOPBACK}:{port}", 1.0) is None:
            raise ClusterError(f"port {port} is in use, perhaps by another cluster; give another --port")
        try:
            from ray.cluster_utils import Cluster
        except ImportError as error:
            raise ClusterError(f"this Ray cannot start several nodes on one machine: {error}") from None
        (Path(self._temporary) / "ray").mkdir()
        head = {"num_cpus": 0, "include_dashboard": False, **self._of_node}
        if port:
            head["gcs_server_port"] = port
        try:
            self.cluster = self._patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
            self.address: str = self.cluster.address
            for _ in range(nodes):
                self.add_node(wait=False)
            until = time.monotonic() + WAIT_SECONDS
            while len(self.cluster.global_state._live_node_ids()) < nodes + 1:  # not all have started completely
                if time.monotonic() > until:
                    raise TimeoutError(f"{nodes} nodes did not start within {WAIT_SECONDS} s")
                time.sleep(0.1)
        except Exception as error:
            said = " ".join(str(error).split())[:400]
            raise ClusterError(f"the cluster cannot be started: {said}; is the port free, and memory?") from error

    def _patiently(self, start: Callable[[], Any]) -> Any:
        """Start a part of Ray, with retries: on a busy machine its fixed time limit may be too short."""
        for _ in range(TRIES - 1):
            before = set(self._own())
            try:
                return start()
            except Exception:  # Ray raises exactly this class
                for pid in set(self._own()) - before:
                    kill_pid(pid)
        return start()

    def _own(self) -> list[int]:
        """The processes of this cluster that this process has started."""
        started = children(os.getpid()) if sys.platform == "linux" else []
        return [pid for pid in started if self._temporary in command_of(pid)]

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that another process needs to be a driver of this cluster."""
        return {TOKEN: self.token, "RAY_ADDRESS": self.address, **SETTINGS}

    def add_node(self, wait: bool = True) -> Any:
        """Add a node; only in the main thread, since Ray sets signal handlers."""
        own = {"num_cpus": self._cpus, "resources": {"shards": 1}, **self._of_node}
        return self._patiently(lambda: self.cluster.add_node(wait=wait, **own))

    def stop(self) -> None:
        """End all processes of the cluster that are left."""
        if self.cluster is not None:
            gone = [*self.cluster.worker_nodes, self.cluster.head_node]
            left = [pid for node in gone if node is not None for pid in below(raylet(node))]
            for node in gone:
                if node is not None:
                    with suppress(Exception):
                        node.kill_all_processes(check_alive=False, allow_graceful=False, wait=True)
            for pid in left:
                kill_pid(pid)
            self.cluster.worker_nodes.clear()
            self.cluster.head_node = None
            self.cluster = None
        self._exit.close()

    def __enter__(self) -> LocalCluster:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()


def kill_pid(pid: int) -> None:
    """End a process at once."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def raylet(node: Any) -> int:
    """The process id of the main process of a node; -1 if it has gone."""
    found = node.all_processes.get("raylet")
    return int(found[0].process.pid) if found else -1


def children(pid: int) -> list[int]:
    """The child processes of a process."""
    if sys.platform != "linux":
        raise ClusterError("processes of nodes can be found only on Linux")
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                stat = Path("/proc", name, "stat").read_text("utf-8", "replace")
                if int(stat.rpartition(")")[2].split()[1]) == pid:
                    found.append(int(name))
    return sorted(found)


def below(pid: int) -> list[int]:
    """All descendants of a process."""
    if pid < 0 or sys.platform != "linux":
        return []
    own = children(pid)
    return [*own, *(lower for child in own for lower in below(child))]


def command_of(pid: int) -> str:
    """The command line of a process, where Ray's workers put their task."""
    with suppress(OSError):
        return Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    return ""
