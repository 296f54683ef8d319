"""A shard host: the actor of a node, which holds shard groups of some commits and serves them by a socket.

    host = start_host(ray, node, name, given)           an actor pinned to its node; Ray starts it again when it dies
    ray.get(host.about.remote())                     {"address", "pid", "held", ...}; also tells it that it is wanted
    ray.get(host.hold.remote(3, {0: [0, 1]}))        open group 0 of commit 3: segments 0 and 1
    ray.get(host.retire.remote(2))

One actor holds many groups, mapped into memory: an actor for each would cost more in calls than it gives. Queries do
not come through Ray but by the socket (server.py). A host that was started again holds nothing until it is told to;
whoever watches it sees that and tells it. A host that nobody asked anything for a while ends itself, so that a killed
service leaves nothing behind. Knows nothing of replicas or of other hosts.
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
from fader.cluster.shards.scores import dump_features
from fader.cluster.shards.shard import KEPT_BYTES, Shard
from fader.cluster.storage import is_plain, mask_passwords, plain_path
from fader.cluster.wire.serialization import Plain, dump_options, dump_query, dump_statistics
from fader.cluster.wire.server import ShardServer
from fader.contexts.match import MatchOptions
from fader.contexts.query import parse_query
from fader.contexts.statistics import Statistics
from fader.errors import FaderError, StorageError
from fader.index.commit import read_commit
from fader.index.numbering import SegmentIds
from fader.index.reader import CACHE_MB

RESOURCE = "shards"  # what a node offers that holds shards; one for each host
# Of it: hosts of two services exclude each other, also on a node that offers dozens; jobs find quota beside them.
HOST_TAKES, HOLDER_TAKES = 0.99, 0.0005
LEASE_SECONDS = 120.0  # longer than a controller may take to be there again
END_SECONDS = 5.0  # that Ray may take to end an actor, where it has a head
SAMPLE = "the of a in and"  # words that most collections have
WARM_MS = 20_000.0
LEAST_CACHE_MB, LEAST_KEPT = 16, 8 << 20  # of a group, however many there are
LEAST_CALLS = 4
Range = tuple[str, str, int] | None


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
        self._server = ShardServer(given.secret, given.host, calls=given.calls)
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

    def about(self) -> Plain:
        """The same as a plain dict, which a controller of another release can read."""
        plain: Plain = msgspec.to_builtins(self.describe())
        return plain

    def hold(
        self,
        commit: int,
        groups: Mapping[int, Sequence[int]],
        starts: Sequence[int] | None = None,
        files: str | None = None,
    ) -> dict[int, str]:
        """Hold some groups of a commit, by their segments, besides what is held; why some cannot be, by group.

        `starts` are those of all segments (index/part.py), which spare this host the ids of segments it does not hold.
        `files` tell this commit from one of the same number of another index (shards.py).
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
                    except Exception as error:  # whatever it is, who wants it held must hear of it
                        problems[group] = _said(error)
        return problems

    def retire(self, commit: int, groups: Sequence[int] | None = None) -> None:
        """Hold a commit no longer, or some groups of it; nothing while others are opened, which may take long.

        Whoever watches us sees what is held still, and tells us again: calls that wait would take all threads of the
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
        """Serve nothing any more."""
        self._closed.set()
        self._server.close()

    def ranges(self, commit: int, segments: Sequence[int]) -> list[Range] | str:
        """Least and largest id, and how many documents are not deleted, of some segments; or why that is not known."""
        try:
            folder = local_folder(self._given.path, commit, segments)
            return [range_of(folder, commit, segment) for segment in segments]
        except Exception as error:  # as above
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
        # Where ids of segments are mingled, documents can be numbered only by the ids of all.
        is_apart = starts is not None and all(starts[s] >= 0 for s in segments)
        folder = local_folder(self._given.path, commit, segments if is_apart else None)
        cache_mb, kept = max(LEAST_CACHE_MB, self._given.cache_mb // groups), max(LEAST_KEPT, KEPT_BYTES // groups)
        shard = Shard(folder, commit, segments, cache_mb, starts, kept)
        warm(shard)
        self._files[commit] = own
        return shard

    def _end_when_unwanted(self) -> None:
        """End the process when neither a controller nor a client has asked anything for the time of the lease."""
        while (left := self._given.lease_seconds - self._silent()) > 0:
            if self._closed.wait(min(5.0, left)):
                return
        end_process()

    def _silent(self) -> float:
        return time.monotonic() - max(self._wanted_at, self._server.asked_at)


def end_process() -> None:
    """End this process and its actor, so that Ray does not start it again; where no head answers, the process alone."""
    threading.Thread(target=_end_actor, name="ending", daemon=True).start()
    time.sleep(END_SECONDS)
    os._exit(1)


def _end_actor() -> None:
    with suppress(Exception):
        import ray

        ray.kill(ray.get_runtime_context().current_actor)


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, (FaderError, OSError)) else f"{type(error).__name__}: {error}"


def warm(shard: Shard) -> None:
    """Number documents and load kernels, by a query that nobody asked: a first one must not wait for that."""
    from fader.search.models import default_model

    shard.warm()
    scoring = default_model().system.feature_scoring
    assert scoring is not None
    with suppress(FaderError), deadline(WARM_MS):  # a collection may have none of the words
        query = dump_query(parse_query(SAMPLE, shard.reader.analysis))
        counts = shard.call("statistics", {"query": query})
        whole = Statistics(shard.reader.documents, shard.reader.tokens, counts["df"], counts["cf"])
        wanted = {"query": query, "options": dump_options(MatchOptions()), "statistics": dump_statistics(whole)}
        features = {"features": dump_features(scoring.features), "weights": scoring.weights}
        shard.call("scores", wanted | features | {"policy": scoring.policy})


def range_of(folder: Path, commit: int, segment: int) -> Range:
    """The least and the largest id of a segment's documents, and how many are not deleted; None where it is empty."""
    entry = read_commit(folder, commit).segments[segment]
    if not entry.documents:
        return None
    some = SegmentIds(folder, entry)
    ids, order = some.text.ids, some.text.id_order
    return ids[int(order[0])], ids[int(order[-1])], entry.live.documents


def starts_from(ranges: Sequence[Range]) -> list[int]:
    """`starts` of segments (index/numbering.py) by the ranges of their ids alone."""
    found, before = [0 if one is None else -1 for one in ranges], 0
    clump: list[int] = []
    last = ""
    for first, end, s in sorted((one[0], one[1], s) for s, one in enumerate(ranges) if one is not None):
        if clump and first > last:
            before = _number_clump(found, clump, ranges, before)
            clump = []
        clump.append(s)
        last = max(last, end) if len(clump) > 1 else end
    _number_clump(found, clump, ranges, before)
    return found


def _number_clump(found: list[int], clump: list[int], ranges: Sequence[Range], before: int) -> int:
    """Note where the only segment of a clump begins; where the next clump does."""
    if len(clump) == 1:
        found[clump[0]] = before
    return before + sum(one[2] for s in clump if (one := ranges[s]) is not None)


def is_shared(path: str) -> bool:
    """Whether all nodes see the index under this path; else each copies what it holds."""
    return is_plain(path)


def index_path(path: str) -> str:
    """The path as other processes can use it, whatever folder they are in."""
    return str(plain_path(path)) if is_plain(path) else path


def calls_of(node: Mapping[str, Any]) -> int:
    """How many calls a host on a node answers at a time: one for each CPU that it offers, and some at least."""
    return max(LEAST_CALLS, int(node["Resources"].get("CPU", 0)))


def start_host(ray: Any, node: Mapping[str, Any], name: str, given: Given) -> Any:
    """A host on a node, or the one of that name that is there already."""
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
