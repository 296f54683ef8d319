"""What the controller of a service knows: what is wanted, the hosts, and the commits of an index.

    describe_commit("/shared/index", newest_commit("/shared/index"), groups=4)      a Commit, cut into four groups

Knows nothing of what is done about it (controller.py).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fader.cluster.hosts.actors import LEASE_SECONDS, is_shared
from fader.cluster.hosts.cache import local_folder
from fader.cluster.hosts.placement import Placed
from fader.cluster.hosts.runtime import PATIENCE_SECONDS
from fader.cluster.shards.groups import plan
from fader.cluster.storage import commits_of, mask_passwords, plain_path, storage_errors, storage_of
from fader.errors import ClusterError, UsageError
from fader.index.commit import read_commit
from fader.index.numbering import read_starts

GONE = 15.0  # without an answer a host's groups go to others
STARTING = 60.0  # a host may take to be there, with a first compilation of kernels


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be served; `groups` 0: as many as there are hosts at the start; `calls` 0: as its node has CPUs.

    `used` are commits that are asked already, and what their files are told from others by (shards.py).
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
class Call:
    """A call to a host that is not answered yet."""

    ref: Any
    since: float = field(default_factory=time.monotonic)


@dataclass(slots=True)
class Host:
    """A host as it is known here; `problem` is why it is not there, `trouble` why it does not hold what it should."""

    name: str
    place: Mapping[str, Any]  # its node, as Ray describes it
    handle: Any
    made: float = field(default_factory=time.monotonic)
    heard: float | None = None
    address: str = ""
    held: frozenset[tuple[int, int]] = frozenset()
    files: Mapping[int, str] = field(default_factory=dict)
    problem: str = ""
    trouble: str = ""
    failing: float | None = None  # since when there is nothing but errors
    ping: Call | None = None
    work: Call | None = None
    work_of: tuple[int, str] = (0, "")
    again: float = 0.0

    @property
    def node(self) -> str:
        return str(self.place["NodeID"])

    def silent(self) -> float:
        """Seconds that it has not answered, since it was asked; since it was last heard if it fails, else made."""
        since = self.made if self.heard is None else self.heard
        if self.heard is not None and self.ping is not None and self.failing is None:
            since = max(since, self.ping.since)  # before that nobody asked: whoever does was busy
        return time.monotonic() - since

    @property
    def is_usable(self) -> bool:
        """Whether groups may be placed on it: it is there, or is being started."""
        return self.silent() < (STARTING if self.heard is None else GONE)

    @property
    def is_there(self) -> bool:
        return bool(self.address) and self.silent() < GONE

    def holds(self, commit: Commit, group: int) -> bool:
        """Whether it serves a group of this very commit."""
        return (commit.number, group) in self.held and self.files.get(commit.number) == commit.files

    def forget(self) -> None:
        """It is not there, or not any more."""
        self.address, self.held, self.files = "", frozenset(), {}


@dataclass(slots=True)
class Commit:
    """A commit that is served or will be; `starts` None: not known yet."""

    number: int
    files: str
    groups: list[list[int]]
    segments: int
    starts: list[int] | None
    seen: float = field(default_factory=time.monotonic)
    places: Placed = field(default_factory=list)
    told: list[list[str]] | None = None
    settled: float = 0.0  # since when the map that was told last has stayed
    ranges: dict[int, Any] = field(default_factory=dict)


def newest_commit(path: str) -> int:
    """The number of the newest commit of an index."""
    with storage_errors(path):
        there = commits_of(storage_of(path))
    if not there and is_shared(path):
        return read_commit(plain_path(path)).commit  # else it says what the folder is instead
    if not there:
        raise ClusterError(f"{mask_passwords(path)}: holds no index; build one with `fader cluster build`")
    return there[-1]


def describe_commit(path: str, number: int, groups: int) -> Commit:
    """A commit, cut into groups; where all nodes see its files, with the numbers of documents."""
    folder = local_folder(path, number, [])
    manifest = read_commit(folder, number)
    if not manifest.segments:
        raise UsageError(f"{mask_passwords(path)}: the index is empty; there is nothing to serve")
    starts = read_starts(folder, manifest) if is_shared(path) else None
    return Commit(number, manifest.fingerprint, plan(manifest, groups), len(manifest.segments), starts)
