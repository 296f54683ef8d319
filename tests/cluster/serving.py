"""Shard servers in this process, some replicas of each group, and the client that asks them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fader
from fader.cluster.shards.groups import plan
from fader.cluster.shards.shard import Shard
from fader.cluster.wire.client import ClientSettings, Shards
from fader.cluster.wire.server import ServerSettings, ShardServer
from fader.index.commit import read_commit
from index.histories import ENTITIES, STOP, TYPES, History, some_document

SECRET = b"a secret of tests"


@dataclass
class Serving:
    """Servers by group and replica, the shards behind them, and a client that knows them all."""

    servers: list[list[ShardServer]]
    shards: list[Shard]
    client: Shards
    commit: int
    settings: ServerSettings

    @property
    def map(self) -> dict[str, Any]:
        return {"commit": self.commit, "groups": [[s.address for s in group] for group in self.servers]}

    def start(self, group: int) -> ShardServer:
        """A server more for a group; the client does not know it yet."""
        server = ShardServer(SECRET, settings=self.settings)
        server.serve(group, self.shards[group])
        server.start()
        return server


@contextmanager
def serving(
    folder: Path,
    groups: int,
    replicas: int = 1,
    settings: ClientSettings | None = None,
    at: int | None = None,
    of_servers: ServerSettings | None = None,
) -> Iterator[Serving]:
    """All groups of a commit, served."""
    manifest = read_commit(folder, at)
    shards = [Shard(folder, manifest.commit, segments) for segments in plan(manifest, groups)]
    client = Shards(SECRET, settings or ClientSettings())
    found = Serving([[] for _ in shards], shards, client, manifest.commit, of_servers or ServerSettings())
    try:
        for g, servers in enumerate(found.servers):
            servers += [found.start(g) for _ in range(replicas)]
        found.client.update(**found.map)
        yield found
    finally:
        found.client.close()
        for servers in found.servers:
            for server in servers:
                server.close()


def ranged_index(folder: Path, seed: int = 0, documents: int = 70) -> fader.Index:
    """Some documents in the order of their ids, in ten segments or more whose ranges of ids are apart."""
    chance = random.Random(seed)
    drawn = {d["id"]: d for d in (some_document(chance) for _ in range(3 * documents))}
    some = sorted(drawn.values(), key=lambda d: str(d["id"]).encode())[:documents]
    return fader.build(folder, some, ENTITIES, TYPES, stopwords=STOP, segment_tokens=40)


def mingled_index(folder: Path, seed: int = 1) -> fader.Index:
    """An index after a history: segments whose ranges of ids overlap, with deleted documents."""
    history = History(folder, random.Random(seed))
    documents = [some_document(history.chance) for _ in range(80)]
    fader.build(folder, documents, ENTITIES, TYPES, stopwords=STOP, segment_tokens=40)
    for _ in range(3):
        fader.add(folder, [some_document(history.chance) for _ in range(6)], merge=False)
        fader.delete(folder, [some_document(history.chance)["id"] for _ in range(3)], merge=False)
    return fader.open(folder)
