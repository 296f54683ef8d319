"""A shard host: the actor of a node that holds shard groups of some commits and serves them through a socket.

    host = start_host(ray, node, name, given)           an actor pinned to its node; Ray restarts it when it dies
    ray.get(host.about.remote())                     {"address", "pid", "held", ...}; also renews its lease
    ray.get(host.hold.remote(3, {0: [0, 1]}))        open group 0 of commit 3: segments 0 and 1
    ray.get(host.retire.remote(2))

One actor holds many groups, mapped into memory: an actor per group would cost more in calls than it gains. Queries come
through the socket (server.py), not through Ray. A host holds nothing after a restart; the controller sees that and
calls `hold` again. A host that nobody has called for a while ends itself, so a killed service leaves nothing behind.
Knows nothing of replicas or of other hosts.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from fader import __version__
from fader.budget import deadline
from fader.cluster.hosts.cache import local_folder
from fader.cluster.hosts.messages import HostAbout
from fader.cluster.shards.requests import CountLiterals, Question, ScoreRows
from fader.cluster.shards.scores import dump_features
from fader.cluster.shards.shard import KEPT_BYTES, Shard
from fader.cluster.storage import is_plain, mask_passwords, plain_path
from fader.cluster.wire.server import ServerSettings, ShardServer
from fader.contexts.query import parse_query
from fader.contexts.statistics import Statistics
from fader.errors import FaderError, StorageError
from fader.index.commit import read_commit
from fader.index.numbering import SegmentIds
from fader.index.reader import CACHE_MB

RESOURCE = "shards"  # the Ray resource of nodes that hold shards; one per host
# Shares of it: hosts of two services exclude each other, even on a node that offers dozens; jobs fit beside them.
HOST_TAKES, HOLDER_TAKES = 0.99, 0.0005
LEASE_SECONDS = 120.0  # longer than a controller takes to restart
END_SECONDS = 5.0  # for Ray to end an actor, if the head answers
SAMPLE = "the of a in and"  # words that occur in most collections
WARM_MS = 20_000.0
LEAST_CACHE_MB, LEAST_KEPT = 16, 8 << 20  # per group, for any number of groups
LEAST_CALLS = 4
Range = tuple[str, str, int] | None
Node = Mapping[str, Any]  # as Ray describes it


@dataclass(frozen=True, slots=True)
class Given:
    """What a host is started with; it answers `calls` at a time."""

    secret: bytes = field(repr=False)
    path: str
    host: str = "127.0.0.1"
    calls: int = 4
    cache_mb: int = CACHE_MB
    lease_seconds: float = LEASE_SECONDS


class ShardHost:
    """The actor; a plain class, so that it can be tested without Ray."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._server = ShardServer(given.secret, given.host, settings=ServerSettings(calls=given.calls))
        self._server.start()
        self._changing = threading.Lock()
        self._files: dict[int, str] = {}
        self._wanted_at = time.monotonic()
        self._closed = threading.Event()
        threading.Thread(target=self._end_when_unwanted, name="lease", daemon=True).start()

    def describe(self) -> HostAbout:
        """Where it listens and what it holds; renews the lease."""
        self._wanted_at = time.monotonic()
        return HostAbout(self._server.address, os.getpid(), self._server.held, dict(self._files), __version__)

    def about(self) -> Any:
        """The same as a plain dict, which a controller of another release can read."""
        return msgspec.to_builtins(self.describe())

    def hold(
        self,
        commit: int,
        groups: Mapping[int, Sequence[int]],
        starts: Sequence[int] | None = None,
        files: str | None = None,
    ) -> dict[int, str]:
        """Open some groups of a commit, given by their segments; returns the reason per group that could not be opened.

        `starts` are the first document numbers of all segments (index/numbering.py); with them this host need not read
        the ids of segments that it does not hold. `files` is the fingerprint of the commit.
        """
        problems: dict[int, str] = {}
        with self._changing:
            held = {group for number, group in self._server.held if number == commit}
            for group, segments in groups.items():
                if group not in held:
                    try:
                        self._server.serve(
                            group, self._open_shard(commit, segments, starts, files, len(held | {*groups}))
                        )
                    except Exception as error:  # report any error to the controller
                        problems[group] = _said(error)
        return problems

    def retire(self, commit: int, groups: Sequence[int] | None = None) -> None:
        """Drop a commit, or some groups of it. Does nothing while `hold` runs, which may take long.

        The controller sees what is still held and calls again. Calls that wait here would use up the threads of the
        actor, and `about` would not be answered.
        """
        if not self._changing.acquire(blocking=False):
            return
        try:
            self._server.retire(commit, groups)
            if all(number != commit for number, _group in self._server.held):
                self._files.pop(commit, None)
        finally:
            self._changing.release()

    def close(self) -> None:
        """Stop serving."""
        self._closed.set()
        self._server.close()

    def ranges(self, commit: int, segments: Sequence[int]) -> list[Range] | str:
        """Range of ids and number of documents that are not deleted, per segment; or why they could not be read."""
        try:
            folder = local_folder(self._given.path, commit, segments)
            return [range_of(folder, commit, segment) for segment in segments]
        except Exception as error:  # report any error, as above
            return _said(error)

    def _open_shard(
        self, commit: int, segments: Sequence[int], starts: Sequence[int] | None, files: str | None, groups: int
    ) -> Shard:
        own = read_commit(local_folder(self._given.path, commit, []), commit).fingerprint
        if {files or own, self._files.get(commit, own)} != {own}:
            raise StorageError(
                f"{mask_passwords(self._given.path)}: commit {commit} belongs to another index than the one that is "
                "served; restart the service to serve that index"
            )
        # Where ranges of ids overlap, numbering documents needs the ids of all segments.
        is_apart = starts is not None and all(starts[s] >= 0 for s in segments)
        folder = local_folder(self._given.path, commit, segments if is_apart else None)
        cache_mb, kept = max(LEAST_CACHE_MB, self._given.cache_mb // groups), max(LEAST_KEPT, KEPT_BYTES // groups)
        shard = Shard(folder, commit, segments, cache_mb, starts, kept)
        warm(shard)
        self._files[commit] = own
        return shard

    def _end_when_unwanted(self) -> None:
        """End the process when neither the controller nor a client has called it for the time of the lease."""
        while (left := self._given.lease_seconds - self._silent()) > 0:
            if self._closed.wait(min(5.0, left)):
                return
        end_process()

    def _silent(self) -> float:
        return time.monotonic() - max(self._wanted_at, self._server.asked_at)


def end_process() -> None:
    """End this process and its actor, so that Ray does not restart it; without a head, the process only."""

    def end_actor() -> None:
        with suppress(Exception):
            import ray

            ray.kill(ray.get_runtime_context().current_actor)

    threading.Thread(target=end_actor, name="ending", daemon=True).start()
    time.sleep(END_SECONDS)
    os._exit(1)


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, (FaderError, OSError)) else f"{type(error).__name__}: {error}"


def warm(shard: Shard) -> None:
    """Number documents and load kernels by a sample query, so the first real query does not wait for it."""
    from fader.search.models import PAPER, shipped_model

    shard.warm()
    scoring = shipped_model(PAPER).system.feature_scoring
    assert scoring is not None
    with suppress(FaderError), deadline(WARM_MS):  # the collection may have none of the words
        question = Question.of(parse_query(SAMPLE, shard.reader.analysis))
        counts = shard.call(CountLiterals(question))
        whole = Statistics(shard.reader.documents, shard.reader.tokens, counts.df, counts.cf)
        features = dump_features(scoring.features)
        assert features is not None
        shard.call(ScoreRows(question, whole, features, scoring.weights, scoring.policy, combined=True))


def range_of(folder: Path, commit: int, segment: int) -> Range:
    """First and last id of a segment, and its number of documents that are not deleted; None where it is empty."""
    entry = read_commit(folder, commit).segments[segment]
    if not entry.documents:
        return None
    some = SegmentIds(folder, entry)
    ids, order = some.text.ids, some.text.id_order
    return ids[int(order[0])], ids[int(order[-1])], entry.live.documents


def starts_from(ranges: Sequence[Range]) -> list[int]:
    """Compute `starts` (index/numbering.py) from the ranges of ids; -1 for a segment that overlaps another."""
    found, before, last = [0 if one is None else -1 for one in ranges], 0, ""
    there = sorted((*one, s) for s, one in enumerate(ranges) if one is not None)
    for i, (first, end, documents, s) in enumerate(there):
        if (i == 0 or first > last) and (i + 1 == len(there) or there[i + 1][0] > end):
            found[s] = before
        before, last = before + documents, max(last, end)
    return found


def index_path(path: str) -> str:
    """The path in a form that does not depend on the working folder."""
    return str(plain_path(path)) if is_plain(path) else path


def usable_nodes(nodes: Sequence[Node]) -> list[Node]:
    """Nodes that may hold shards: those that offer `shards`, else those with a CPU."""
    offering = [node for node in nodes if node["Resources"].get(RESOURCE)]
    return offering or [node for node in nodes if node["Resources"].get("CPU", 0) > 0]


def calls_of(node: Node) -> int:
    """The number of calls that a host answers at a time: one per CPU of its node, but at least `LEAST_CALLS`."""
    return max(LEAST_CALLS, int(node["Resources"].get("CPU", 0)))


def start_host(ray: Any, node: Node, name: str, given: Given) -> Any:
    """Start a host on a node, or return the existing one of that name."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    wanted = {RESOURCE: HOST_TAKES} if node["Resources"].get(RESOURCE) else {}
    options = ray.remote(ShardHost).options(
        name=name,
        lifetime="detached",
        get_if_exists=True,
        max_restarts=-1,
        max_concurrency=8,
        num_cpus=0,
        resources=wanted,
        scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
    )
    return options.remote(given)
