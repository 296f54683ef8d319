"""Groups that are held by actors, as tasks see them: what is waited for, for how long, and what is said in the end.

Ray is played by a few lines here; the real one is in test_many_ray.py.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cluster.serving import ranged_index
from fader.cluster.hosts.messages import HostAbout
from fader.cluster.jobs import index_handle as asking
from fader.cluster.jobs.index_handle import HandleSettings, Held, HeldShards
from fader.cluster.shards.requests import DescribeShard
from fader.cluster.shards.shard import Shard
from fader.cluster.wire.client import ClientSettings
from fader.cluster.wire.server import ShardServer
from fader.errors import ClusterError, IncompleteError
from fader.limits import Limits

SECRET = b"0123456789abcdef"


class RayError(Exception): ...


class GetTimeoutError(RayError): ...


class ActorUnavailableError(RayError): ...


class Actor:
    """Answers `about` with the next of what it was given; the last again and again."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.about = SimpleNamespace(remote=self._about)

    def _about(self) -> Any:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Ray:
    """Of Ray what is used to ask actors; its head is at an address of this machine."""

    exceptions = SimpleNamespace(
        RayError=RayError, GetTimeoutError=GetTimeoutError, ActorUnavailableError=ActorUnavailableError
    )

    def __init__(self, head: str) -> None:
        self.get_runtime_context = lambda: SimpleNamespace(gcs_address=head)

    def wait(self, asked: list[Any], num_returns: int, timeout: float) -> tuple[list[Any], list[Any]]:
        assert num_returns == len(asked)
        late = [one for one in asked if one is None]
        return [one for one in asked if one is not None], late

    def get(self, asked: list[Any], timeout: float) -> list[Any]:
        for one in asked:
            if isinstance(one, Exception):
                raise one
        return asked


@pytest.fixture
def head() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


QUICK = HandleSettings(patience=0.5, pause=0.01, about=0.0, head_patience=0.1, client=ClientSettings(patience_ms=20.0))


@pytest.fixture
def ray(head: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Ray whose head is `head`."""
    port = head.getsockname()[1]
    monkeypatch.setattr(asking, "import_ray", lambda: Ray(f"127.0.0.1:{port}"))


def held(*actors: Actor) -> Held:
    return Held("key", "path", 1, SECRET, actors, tuple(range(len(actors))), Limits())


def about(address: str, **problems: str) -> HostAbout:
    return HostAbout(address, problems=dict(problems))


def nowhere() -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ShardServer]:
    index = ranged_index(tmp_path / "index")
    serving = ShardServer(SECRET)
    serving.serve(0, Shard(index.collection.folder, 1, list(range(len(index.collection.manifest.segments)))))
    serving.start()
    yield serving
    serving.close()


@pytest.mark.usefixtures("ray")
def test_an_actor_is_found_where_it_is_started_again(server: ShardServer) -> None:
    """It is asked where it is until it answers, at first and after it has died."""
    actor = Actor(None, ActorUnavailableError(), about(nowhere()), ActorUnavailableError(), about(server.address))
    shards = HeldShards(held(actor), replace(QUICK, patience=3600.0))
    assert len(shards.call_all(DescribeShard())) == 1
    assert len(actor.answers) == 1
    shards.close()


@pytest.mark.usefixtures("ray")
def test_in_the_end_it_is_told_why_a_group_is_not_there() -> None:
    """Its actor answers, but cannot open it."""
    shards = HeldShards(held(Actor(about(nowhere(), group="disk is full"))), QUICK)
    with pytest.raises(IncompleteError, match="its actor says: disk is full"):
        shards.call_all(DescribeShard())


@pytest.mark.usefixtures("ray")
def test_actors_that_never_answer() -> None:
    with pytest.raises(IncompleteError, match="look whether all nodes are up"):
        HeldShards(held(Actor(None)), QUICK)
    with pytest.raises(IncompleteError, match="ended for good"):
        HeldShards(held(Actor(RayError("no restart is left\nand more"))), QUICK)


@pytest.mark.usefixtures("ray")
def test_nothing_is_waited_for_when_the_head_is_gone(head: socket.socket) -> None:
    """Neither for a group nor for an actor: none will be started again."""
    actor = Actor(about(nowhere()))
    shards = HeldShards(held(actor), replace(QUICK, patience=3600.0, about=3600.0))
    head.close()
    for answer in (about(nowhere()), None):
        actor.answers = [answer]
        with pytest.raises(ClusterError, match="the head of the cluster is gone"):
            shards.call_all(DescribeShard())
