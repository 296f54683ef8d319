"""Shards in this process behind the interface of a cluster: for tests, and for small jobs on one machine.

    shards = LocalShards.of(folder, groups=4)
    index = Index(ShardedCollection(folder, shards))

Knows nothing of sockets.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from fader import budget
from fader.cluster.shards.groups import plan
from fader.cluster.shards.shard import Shard
from fader.cluster.wire.transport import Calls, for_each
from fader.errors import IncompleteError
from fader.index.commit import read_commit


class LocalShards:
    """Some shards, one per group."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._shards = list(shards)

    @classmethod
    def of(cls, folder: str | Path, groups: int, at: int | None = None) -> Self:
        """Open a commit of an index folder in `groups` groups."""
        manifest = read_commit(Path(folder), at)
        return cls([Shard(folder, manifest.commit, segments) for segments in plan(manifest, groups)])

    @property
    def commit(self) -> int:
        return self._shards[0].commit

    def groups(self, commit: int) -> int:
        """The number of groups."""
        if commit != self.commit:
            raise IncompleteError(f"no shards of commit {commit} are here, only of commit {self.commit}")
        return len(self._shards)

    def call_all(
        self, calls: Calls, *, commit: int | None = None, deadline_ms: float | None = None, allow_partial: bool = False
    ) -> list[Any]:
        """The answer of each group; None for one that was not asked."""
        each = for_each(calls, self.groups(self.commit if commit is None else commit))
        found = []
        for shard, given in zip(self._shards, each, strict=True):
            budget.check()
            found.append(None if given is None else shard.call(given, deadline_ms))
        return found
