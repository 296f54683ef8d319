"""The index that a task of a job works on: shards in actors, found again after one of them has died.

    open_index(held).rank(...)                       an index like any other, in any process of the cluster

A task gets a `Held`, which can be pickled, and opens the index with it. A process keeps the index that it opened
last, since its next task has the same one. When a group does not answer, Ray may be restarting its actor, perhaps on
another node: the actors are asked again where they listen, until patience ends or the head is gone. The time limit of a
query still holds. Knows nothing of what is asked, or of how actors are started.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fader import budget
from fader.cluster.hosts.cache import local_folder
from fader.cluster.hosts.messages import HostAbout
from fader.cluster.hosts.runtime import PATIENCE_SECONDS, Connection, import_ray, line_of
from fader.cluster.shards.collection import ShardedCollection
from fader.cluster.wire.client import ClientSettings, Shards
from fader.cluster.wire.transport import Calls
from fader.errors import IncompleteError
from fader.limits import Limits
from fader.search.index import Index


@dataclass(frozen=True, slots=True)
class HandleSettings:
    """How long tasks wait for actors that hold shards; times in seconds."""

    patience: float = 600.0  # for a group that does not answer: Ray must find a node and open the shards there
    pause: float = 0.2
    about: float = 30.0  # for all actors to say where they listen
    turn: float = 1.0
    head_patience: float = PATIENCE_SECONDS
    # A node that vanishes silently costs the deadline of a call; no group takes that long for its part of a query.
    client: ClientSettings = field(default_factory=lambda: ClientSettings(deadline_ms=120_000.0, patience_ms=1_000.0))


@dataclass(frozen=True)
class Held:
    """What a process needs to open a commit whose groups are held by actors: group g by `actors[holder[g]]`.

    `key` is equal only for the same actors.
    """

    key: str
    path: str
    commit: int
    secret: bytes = field(repr=False)
    actors: tuple[Any, ...]
    holder: tuple[int, ...]
    limits: Limits

    def open(self) -> ShardedCollection:
        folder, shards = local_folder(self.path, self.commit, []), HeldShards(self)
        return ShardedCollection(folder, shards, reopen=partial(open_collection, self))


_open: dict[str, ShardedCollection] = {}
_opening = threading.Lock()


def open_index(held: Held) -> Index:
    """Open the index. A pickled copy of it opens it in its own process."""
    return Index(open_collection(held), held.limits)


def open_collection(held: Held) -> ShardedCollection:
    """Open the collection, unless it is the one that this process has open."""
    with _opening:
        if held.key not in _open:
            _open.clear()
            _open[held.key] = held.open()
        return _open[held.key]


def forget(key: str) -> None:
    """Close the collection of a key, if this process has it open: its shards have ended."""
    with _opening:
        collection = _open.pop(key, None)
    if collection is not None and isinstance(collection.groups.shards, HeldShards):
        collection.groups.shards.close()


class HeldShards:
    """The groups of a commit, on whatever nodes their actors are. Safe to share among threads."""

    def __init__(self, held: Held, settings: HandleSettings | None = None) -> None:
        self.settings = own = settings or HandleSettings()
        self._held, self._shards = held, Shards(held.secret, own.client)
        self._head = Connection(import_ray().get_runtime_context().gcs_address, own.head_patience)
        self._lock, self._looked, self._problem = threading.Lock(), 0.0, ""
        until = time.monotonic() + own.patience
        while not self._look():
            if time.monotonic() > until:
                raise IncompleteError("the actors that hold the shards do not answer; look whether all nodes are up")
            time.sleep(own.pause)

    @property
    def commit(self) -> int:
        return self._held.commit

    def groups(self, commit: int) -> int:
        """How many groups there are."""
        return self._shards.groups(commit)

    def call_all(
        self, calls: Calls, *, commit: int | None = None, deadline_ms: float | None = None, allow_partial: bool = False
    ) -> list[Any]:
        """The answer of each group."""
        until = time.monotonic() + self.settings.patience
        while True:
            began = time.monotonic()
            try:
                return self._shards.call_all(calls, commit=commit, deadline_ms=deadline_ms, allow_partial=allow_partial)
            except IncompleteError as error:
                budget.check()
                self._head.check()
                if time.monotonic() > until:
                    raise IncompleteError(f"{error}{self._problem}") from error
                if self._looked < began:
                    self._look()
                time.sleep(self.settings.pause)

    def close(self) -> None:
        """Close all connections."""
        self._shards.close()

    def _look(self) -> bool:
        """Ask the actors where they listen; returns whether all have answered. Waits for one that is being started."""
        with self._lock:
            ray, until = import_ray(), time.monotonic() + self.settings.about
            asked = [actor.about.remote() for actor in self._held.actors]
            while ray.wait(asked, num_returns=len(asked), timeout=self.settings.turn)[1]:
                self._head.check()
                if time.monotonic() > until:
                    return False
            try:
                about: list[HostAbout] = ray.get(asked, timeout=self.settings.about)
            except (ray.exceptions.GetTimeoutError, ray.exceptions.ActorUnavailableError):
                return False
            except ray.exceptions.RayError as error:
                self._head.check()
                raise IncompleteError(f"an actor that holds shards has ended for good ({line_of(error)})") from error
            self._problem = next((f"; its actor says: {why}" for a in about for why in a.problems.values()), "")
            self._shards.update(self._held.commit, [[about[place].address] for place in self._held.holder])
            self._looked = time.monotonic()
        return True
