"""Shards for the time of a job: an actor on each node opens some groups and serves them through a socket.

    with holding(connection, path, commit, groups, limits) as held:
        open_index(held).rank(...)                   here, or in any task that gets `held` (index_handle.py)

An actor gets its groups at the start, so Ray can restart it without help after it or its node has died, also on another
node, since actors have no state. Actors end with the driver, however that ends. Knows nothing of what is asked.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from fader.cluster.hosts.actors import (
    HOLDER_TAKES,
    RESOURCE,
    Given,
    Range,
    ShardHost,
    calls_of,
    index_path,
    range_of,
    starts_from,
    usable_nodes,
)
from fader.cluster.hosts.cache import local_folder
from fader.cluster.hosts.messages import HostAbout
from fader.cluster.hosts.runtime import Connection, import_ray, line_of
from fader.cluster.jobs.index_handle import Held, forget
from fader.cluster.jobs.scheduler import OnRay
from fader.cluster.jobs.task import Task, make_worker
from fader.cluster.shards.groups import plan
from fader.cluster.storage import is_plain, storage_errors
from fader.errors import ClusterError, StorageError
from fader.index.commit import read_commit
from fader.index.numbering import read_starts
from fader.limits import Limits

START_SECONDS = 600.0
FOREVER = 1e9  # an actor of a job ends with its driver, not by a lease


class Holder:
    """The actor: a `ShardHost` that opens its own groups."""

    def __init__(
        self, given: Given, commit: int, groups: Mapping[int, Sequence[int]], starts: Sequence[int] | None
    ) -> None:
        import ray

        self._host = ShardHost(replace(given, host=ray.util.get_node_ip_address()))
        self._wanted = commit, groups, starts

    def about(self) -> HostAbout:
        """Where it listens, and the reason per group that it could not open; each call tries these again."""
        problems = self._host.hold(*self._wanted)
        return msgspec.structs.replace(self._host.describe(), problems=problems)


@contextmanager
def holding(connection: Connection, path: str, at: int | None, groups: int, limits: Limits) -> Iterator[Held]:
    """Hold all groups of a commit in actors; `groups` 0: one per node."""
    ray, path = import_ray(), index_path(path)
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = sorted(usable_nodes(connection.nodes()), key=lambda node: str(node["NodeID"]))
    if not nodes:
        raise ClusterError(f"{connection.address}: no node can hold shards; start nodes with CPUs")
    with storage_errors(path):
        folder = local_folder(path, at, [])
        manifest = read_commit(folder, at)
    planned = plan(manifest, groups or len(nodes))
    starts = (
        read_starts(folder, manifest) if is_plain(path) else _find_starts(connection, path, manifest.commit, planned)
    )
    secret, hosts = secrets.token_bytes(32), min(len(nodes), len(planned))
    holder = [group * hosts // len(planned) for group in range(len(planned))]
    key, actors = secrets.token_hex(8), []
    try:
        for place in range(hosts):
            own = {group: planned[group] for group in range(len(planned)) if holder[group] == place}
            given = Given(secret, path, calls=calls_of(nodes[place]), lease_seconds=FOREVER)
            # Ray restarts an actor only where `shards` are offered; without the resource even on the head.
            options = ray.remote(Holder).options(
                max_restarts=-1,
                max_task_retries=-1,
                max_concurrency=4,
                num_cpus=0,
                resources={RESOURCE: HOLDER_TAKES} if nodes[place]["Resources"].get(RESOURCE) else {},
                scheduling_strategy=NodeAffinitySchedulingStrategy(nodes[place]["NodeID"], soft=True),
            )
            actors.append(options.remote(given, manifest.commit, own, starts))
        _wait(connection, ray, actors)
        yield Held(key, path, manifest.commit, secret, tuple(actors), tuple(holder), limits)
    finally:
        forget(key)
        for actor in actors:
            with suppress(Exception):
                ray.kill(actor)


def _wait(connection: Connection, ray: Any, actors: Sequence[Any]) -> None:
    """Wait until every actor has opened its groups."""
    pending, until = [actor.about.remote() for actor in actors], time.monotonic() + START_SECONDS
    while pending:
        ready, pending = ray.wait(pending, num_returns=len(pending), timeout=1.0)
        connection.check()
        for one in ready:
            try:
                problems = ray.get(one, timeout=30.0).problems
            except ray.exceptions.RayError as error:
                connection.check()
                raise ClusterError(f"an actor that holds shards cannot be started: {line_of(error)}") from error
            if problems:
                group, why = next(iter(problems.items()))
                raise StorageError(f"group {group} of the shards cannot be opened on its node: {why}")
        if time.monotonic() > until:
            raise ClusterError(f"the shards were not opened within {START_SECONDS:,.0f} s; look at the nodes")


@dataclass(frozen=True, kw_only=True)
class RangesTask(Task):
    """Reads the ranges of ids of some segments, to number documents; copies the segments to the node."""

    path: str
    commit: int
    segments: Sequence[int]

    def run(self) -> bytes:
        folder = local_folder(self.path, self.commit, self.segments)
        return msgspec.msgpack.encode([range_of(folder, self.commit, segment) for segment in self.segments])


def _find_starts(connection: Connection, path: str, commit: int, planned: Sequence[Sequence[int]]) -> list[int]:
    """Compute `starts` (index/numbering.py) of a remote index by tasks."""
    found: dict[int, Range] = {}

    def take(task: Task, data: bytes) -> None:
        assert isinstance(task, RangesTask)
        found.update(zip(task.segments, msgspec.msgpack.decode(data, type=list[Range]), strict=True))

    tasks = [
        RangesTask(name=f"group {n}", path=path, commit=commit, segments=list(segments))
        for n, segments in enumerate(planned)
    ]
    OnRay(connection).run(make_worker, tasks, take)
    return starts_from([found[s] for s in range(len(found))])
