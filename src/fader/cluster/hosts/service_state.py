"""What the controller of a service knows: its settings, what to serve, the hosts, and the commits of an index.

    describe_commit("/shared/index", newest_commit("/shared/index"), groups=4)      a Commit in four groups

Does not act on it: controller.py does.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fader.cluster.hosts.actors import LEASE_SECONDS, Node
from fader.cluster.hosts.cache import local_folder
from fader.cluster.hosts.placement import Placed
from fader.cluster.hosts.runtime import PATIENCE_SECONDS
from fader.cluster.shards.groups import plan
from fader.cluster.storage import commits_of, is_plain, mask_passwords, plain_path, storage_errors, storage_of
from fader.errors import ClusterError, UsageError
from fader.index.commit import read_commit
from fader.index.numbering import read_starts


@dataclass(frozen=True, slots=True)
class ControllerSettings:
    """Times of the controller, in seconds."""

    period: float = 0.5  # from one turn to the next
    report_every: float = 2.0  # from one state to the next, also where nothing has changed
    silent_after: float = 5.0  # without an answer: a host leaves the map where its groups have other replicas
    gone_after: float = 15.0  # without an answer: the groups of a host go to others
    hanging_after: float = 30.0  # without an answer: a host is killed, and Ray restarts it
    starting: float = 60.0  # until a host must answer for the first time, with a first compilation of kernels
    all_replicas: float = 20.0  # that a new commit waits for its last replicas
    retry: float = 5.0  # after a host could not open something, or could not be started
    settled: float = 60.0  # after a new map nobody uses the one before
    slow: float = 300.0  # that a host may open shards before that is reported as a problem
    ending: float = 15.0  # that the controller may take to end by itself


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to serve. `groups` 0: as many as there are hosts at the start. `calls` 0: one per CPU of the node.

    `used` has the commits that clients use already, each with its fingerprint.
    """

    path: str
    secret: str = field(repr=False)
    service: str
    address: str | None = None
    groups: int = 0
    replicas: int = 2
    calls: int = 0
    watch_seconds: float = 2.0
    patience: float = PATIENCE_SECONDS
    lease_seconds: float = LEASE_SECONDS
    used: Sequence[tuple[int, str]] = ()


@dataclass(slots=True)
class HostCall:
    """A call to a host that has not been answered yet.

    One that opens shards is of a `commit`; one for ranges of ids has `segments`.
    """

    ref: Any
    commit: int = 0
    segments: Sequence[int] = ()
    since: float = field(default_factory=time.monotonic)


@dataclass(slots=True)
class Host:
    """A host. `problem` says why it is not available, `trouble` why it does not hold what it should."""

    name: str
    place: Node
    handle: Any
    settings: ControllerSettings = field(default_factory=ControllerSettings)
    made: float = field(default_factory=time.monotonic)
    heard: float | None = None
    address: str = ""
    held: frozenset[tuple[int, int]] = frozenset()
    files: Mapping[int, str] = field(default_factory=dict)
    problem: str = ""
    trouble: str = ""
    failing: float | None = None  # since when it answers with errors only
    ping: HostCall | None = None
    work: HostCall | None = None
    again: float = 0.0

    @property
    def node(self) -> str:
        return str(self.place["NodeID"])

    def silent(self) -> float:
        """Seconds without an answer, counted from the question; from the last answer if calls fail."""
        since = self.made if self.heard is None else self.heard
        if self.heard is not None and self.ping is not None and self.failing is None:
            since = max(since, self.ping.since)  # before that the controller was busy and did not ask
        return time.monotonic() - since

    @property
    def is_usable(self) -> bool:
        """Whether groups may be placed on it: it answers, or it is being started."""
        return self.silent() < (self.settings.starting if self.heard is None else self.settings.gone_after)

    @property
    def is_there(self) -> bool:
        return bool(self.address) and self.silent() < self.settings.gone_after

    def holds(self, commit: Commit, group: int) -> bool:
        """Whether it serves a group of this commit, of this index."""
        return (commit.number, group) in self.held and self.files.get(commit.number) == commit.files

    def forget(self) -> None:
        """Note that it is not available."""
        self.address, self.held, self.files = "", frozenset(), {}


@dataclass(slots=True)
class Commit:
    """A commit that is or will be served. `starts` None: not known yet. `told` has the addresses of the last map."""

    number: int
    files: str
    groups: list[list[int]]
    segments: int
    starts: list[int] | None
    seen: float = field(default_factory=time.monotonic)
    places: Placed = field(default_factory=list)
    told: list[list[str]] | None = None
    settled: float = 0.0  # when the last map was sent
    ranges: dict[int, Any] = field(default_factory=dict)


def newest_commit(path: str) -> int:
    """The number of the newest commit of an index."""
    with storage_errors(path):
        there = commits_of(storage_of(path))
    if not there and is_plain(path):
        return read_commit(plain_path(path)).commit  # raises an error that says what the folder is
    if not there:
        raise ClusterError(f"{mask_passwords(path)}: holds no index; build one with `fader cluster build`")
    return there[-1]


def describe_commit(path: str, number: int, groups: int) -> Commit:
    """Read a commit and divide it into groups; with the first document numbers where all nodes see its files."""
    folder = local_folder(path, number, [])
    manifest = read_commit(folder, number)
    if not manifest.segments:
        raise UsageError(f"{mask_passwords(path)}: the index is empty; there is nothing to serve")
    starts = read_starts(folder, manifest) if is_plain(path) else None
    return Commit(number, manifest.fingerprint, plan(manifest, groups), len(manifest.segments), starts)
