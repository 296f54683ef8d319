"""Shards asked from a task of a job: where they are is asked of the actors that hold them, again whenever one has died.

    open_index(held).rank(...)                       an index like any other, in whatever process of the cluster

A task gets a `Recipe`, plain enough to travel, and opens the index that it stands for; a process keeps the one that it
opened last, as its next task has the same. When a group does not answer, its actor may be being started again, on
another node perhaps: the actors are asked anew where they are, until patience is over, or the head is gone. A query's
own time, where it has one, is not stretched by that. Knows nothing of what is asked, or of how actors are started.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from fader import budget
from fader.cluster.hosts.cache import local_folder
from fader.cluster.hosts.runtime import Connection, import_ray, line_of
from fader.cluster.shards.collection import ShardedCollection
from fader.cluster.shards.local import LocalShards
from fader.cluster.wire.client import ClientSettings, Shards
from fader.cluster.wire.transport import Arguments
from fader.errors import IncompleteError
from fader.limits import Limits
from fader.search.index import Index

PATIENCE_SECONDS = 600.0  # for a group that does not answer: a node must be found, and the shards opened there
PAUSE_SECONDS = 0.2
ABOUT_SECONDS, TURN_SECONDS = 30.0, 1.0
# A node that vanishes without a word costs a call's deadline; no group takes so long for its share of a query.
SETTINGS = ClientSettings(deadline_ms=120_000.0, patience_ms=1_000.0)


class Recipe(Protocol):
    """What an index can be opened by in another process."""

    @property
    def key(self) -> str:
        """Equal for recipes of the same index alone."""
        ...

    @property
    def limits(self) -> Limits: ...

    def open(self) -> ShardedCollection:
        """Open the collection here."""
        ...


@dataclass(frozen=True)
class Held:
    """A commit whose groups are held by actors: `holder[g]` is the place, among the actors, of who holds group g."""

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


@dataclass(frozen=True)
class Here:
    """A commit whose groups are opened by whoever asks: for one machine, and for tests."""

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


_open: dict[str, ShardedCollection] = {}
_opening = threading.Lock()


def open_index(recipe: Recipe) -> Index:
    """The index of a recipe. A copy in another process opens it there by the same recipe."""
    return Index(open_collection(recipe), recipe.limits)


def open_collection(recipe: Recipe) -> ShardedCollection:
    """The collection of a recipe; the one that this process has open, if it is that."""
    with _opening:
        if recipe.key not in _open:
            _open.clear()
            _open[recipe.key] = recipe.open()
        return _open[recipe.key]


def forget(key: str) -> None:
    """Close the collection of a recipe, if this process has it open; its shards have ended."""
    with _opening:
        collection = _open.pop(key, None)
    if collection is not None and isinstance(collection.groups.shards, HeldShards):
        collection.groups.shards.close()


class HeldShards:
    """The groups of a commit, wherever their actors are at the moment. Safe to share among threads."""

    def __init__(self, held: Held) -> None:
        self._held, self._shards = held, Shards(held.secret, SETTINGS)
        self._head, self._problem = Connection(import_ray().get_runtime_context().gcs_address), ""
        self._lock, self._looked = threading.Lock(), 0.0
        until = time.monotonic() + PATIENCE_SECONDS
        while not self._look():
            if time.monotonic() > until:
                raise IncompleteError("the actors that hold the shards do not answer; look whether all nodes are up")
            time.sleep(PAUSE_SECONDS)

    @property
    def commit(self) -> int:
        return self._held.commit

    def groups(self, commit: int) -> int:
        """How many groups there are."""
        return self._shards.groups(commit)

    def call_all(
        self,
        method: str,
        arguments: Arguments,
        *,
        commit: int | None = None,
        deadline_ms: float | None = None,
        allow_partial: bool = False,
    ) -> list[Any]:
        """The answer of each group."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            began = time.monotonic()
            try:
                return self._shards.call_all(
                    method, arguments, commit=commit, deadline_ms=deadline_ms, allow_partial=allow_partial
                )
            except IncompleteError as error:
                budget.check()
                self._head.check()
                if time.monotonic() > until:
                    raise IncompleteError(f"{error}{self._problem}") from error
                if self._looked < began:
                    self._look()
                time.sleep(PAUSE_SECONDS)

    def close(self) -> None:
        """Close all connections."""
        self._shards.close()

    def _look(self) -> bool:
        """Ask the actors where they are; whether all have answered. One that is being started is waited for."""
        with self._lock:
            about = self._about()
            if about is None:
                return False
            self._problem = next((f"; its actor says: {why}" for a in about for why in a["problems"].values()), "")
            groups = [[about[place]["address"]] for place in self._held.holder]
            self._shards.update({"commit": self._held.commit, "groups": groups})
            self._looked = time.monotonic()
        return True

    def _about(self) -> list[dict[str, Any]] | None:
        """What the actors say of themselves; None where some do not answer."""
        ray = import_ray()
        asked, until = [actor.about.remote() for actor in self._held.actors], time.monotonic() + ABOUT_SECONDS
        while ray.wait(asked, num_returns=len(asked), timeout=TURN_SECONDS)[1]:
            self._head.check()
            if time.monotonic() > until:
                return None
        try:
            found: list[dict[str, Any]] = ray.get(asked, timeout=ABOUT_SECONDS)
        except (ray.exceptions.GetTimeoutError, ray.exceptions.ActorUnavailableError):
            return None
        except ray.exceptions.RayError as error:
            self._head.check()
            raise IncompleteError(f"an actor that holds shards has ended for good ({line_of(error)})") from error
        return found
