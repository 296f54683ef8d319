"""A commit whose groups each process opens itself, in the place of one that actors hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from fader.cluster.jobs.index_handle import open_collection
from fader.cluster.shards.collection import ShardedCollection
from fader.cluster.shards.local import LocalShards
from fader.limits import Limits


@dataclass(frozen=True)
class Here:
    """Used as `fader.cluster.jobs.index_handle.Held` is."""

    path: str
    commit: int
    groups: int
    limits: Limits

    @property
    def key(self) -> str:
        return f"{self.path} {self.commit} {self.groups} {self.limits}"

    def open(self) -> ShardedCollection:
        shards = LocalShards.of(self.path, self.groups, self.commit)
        return ShardedCollection(self.path, shards, reopen=partial(open_collection, self))
