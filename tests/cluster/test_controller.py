"""The controller with hosts in this process in place of Ray's actors: what it starts, places, tells and retires."""

from __future__ import annotations

import io
import queue
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

import fader
from cluster.http import more, some_index
from cluster.serving import SECRET, mingled_index
from fader.cluster.hosts import controller
from fader.cluster.hosts.actors import Given, ShardHost
from fader.cluster.hosts.controller import Controller
from fader.cluster.hosts.messages import Message, Retire
from fader.cluster.hosts.service_state import Wanted
from fader.cluster.shards.collection import ShardedCollection
from fader.cluster.wire.client import Shards
from fader.errors import FaderError, NotAnIndexError
from fader.search.index import Index
from serve.live import ENTITIES, TYPES


class Lost(Exception):  # noqa: N818 - stands for an error of Ray
    """What a call to a dead host ends with."""


@dataclass
class Actor:
    """A host that is called as Ray's actors are; a reference is the answer itself, or the error."""

    given: Given
    host: ShardHost | None = None
    is_given_up: bool = False
    version: str = fader.__version__
    calls: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.host = ShardHost(self.given)

    def close(self) -> None:
        if self.host is not None:
            self.host.close()
        self.host = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return SimpleNamespace(remote=lambda *given: self._called(name, given))

    def _called(self, name: str, given: tuple[Any, ...]) -> list[Any]:
        self.calls.append(name)
        if self.host is None:
            return Ref([Lost("the actor has died")])
        answer = getattr(self.host, name)(*given)
        return Ref([answer | {"fader": self.version} if name == "about" else answer])


class Ref(list[Any]):
    """A reference, told from others by what it is and not by what it holds."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


class FakeRay:
    """As much of Ray as the controller uses."""

    exceptions = SimpleNamespace(RayError=Lost)
    is_slow = False  # nothing is answered yet but how hosts are
    is_hanging = False  # that neither

    def __init__(self) -> None:
        self.killed: list[Actor] = []

    def wait(self, refs: list[Any], num_returns: int = 1, timeout: float = 0.0) -> tuple[list[Any], list[Any]]:
        return ([], refs) if self.is_hanging or (self.is_slow and timeout == 0) else (refs, [])

    def get(self, ref: Any, timeout: float = 0.0) -> Any:
        if isinstance(ref[0], Exception):
            raise ref[0]
        return ref[0]

    def kill(self, handle: Actor, no_restart: bool) -> None:
        self.killed.append(handle)


class Nodes:
    """A connection to nodes that a test adds and removes."""

    is_silent = False

    def __init__(self, count: int, **resources: float) -> None:
        self.there = {f"node{i}" * 4: dict(resources or {"shards": 1.0, "CPU": 1.0}) for i in range(count)}

    def check(self) -> None:
        pass

    def nodes(self) -> list[dict[str, Any]]:
        return [{"NodeID": n, "Resources": r, "NodeManagerAddress": "127.0.0.1"} for n, r in self.there.items()]


@dataclass
class Trial:
    """A controller, its actors by name, and what it told."""

    controller: Controller
    nodes: Nodes
    ray: FakeRay
    actors: dict[str, Actor]
    told: list[Message]
    clients: list[Shards] = field(default_factory=list)

    def close(self) -> None:
        for actor in self.actors.values():
            actor.close()
        for client in self.clients:
            client.close()

    def succeeded(self, *used: tuple[int, str]) -> Trial:
        """Another controller over the same hosts, as it is started after this one was killed."""
        told: list[Message] = []
        wanted = replace(self.controller._wanted, used=used)
        return replace(self, controller=Controller(self.nodes, wanted, told.append), told=told)  # type: ignore[arg-type]

    def held(self) -> set[int]:
        """The commits that hosts hold."""
        return {number for actor in self.actors.values() if actor.host for number, _g in actor.host.about()["held"]}

    def turns(self, count: int = 3) -> None:
        for _ in range(count):
            self.controller.turn()

    @property
    def maps(self) -> list[dict[str, Any]]:
        return [msgspec.to_builtins(message.map) for message in self.told if message.map]

    @property
    def problems(self) -> dict[str, str]:
        return [message.state for message in self.told if message.state][-1].problems

    def index(self, folder: Path) -> Index:
        shards = Shards(SECRET)
        self.clients.append(shards)
        shards.update(self.maps[-1]["commit"], self.maps[-1]["groups"])
        return Index(ShardedCollection(folder, shards))


@pytest.fixture
def trial(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Trial]]:
    trials: list[Trial] = []

    def make(path: Path | str, nodes: Nodes, groups: int = 4, replicas: int = 2) -> Trial:
        actors: dict[str, Actor] = {}
        ray, told = FakeRay(), []

        def started(_ray: Any, node: dict[str, Any], name: str, given: Given) -> Actor:
            if name not in actors or actors[name].is_given_up:
                actors[name] = Actor(given)
            return actors[name]

        monkeypatch.setattr(controller, "import_ray", lambda: ray)
        monkeypatch.setattr(controller, "start_host", started)
        wanted = Wanted(str(path), SECRET.hex(), "serve-test", groups=groups, replicas=replicas, watch_seconds=0.0)
        made = Controller(nodes, wanted, told.append)  # type: ignore[arg-type]
        trials.append(Trial(made, nodes, ray, actors, told))
        return trials[-1]

    yield make
    for each in trials:
        each.close()


def test_a_map_is_told_once_all_groups_are_held(trial: Callable[..., Trial], tmp_path: Path) -> None:
    """A host on every node that offers shards; asked by the map, they answer as the folder does; told once only."""
    folder = some_index(tmp_path / "index")
    nodes = Nodes(3)
    nodes.there["head" * 4] = {"CPU": 4.0}
    found = trial(folder, nodes)
    found.turns(5)
    assert len(found.actors) == 3
    (told,) = found.maps
    assert told["commit"] == 1
    assert [len(set(addresses)) for addresses in told["groups"]] == [2] * 4
    assert found.problems == {}
    assert found.index(folder).rank("violin physics") == fader.open(folder).rank("violin physics")


def test_a_host_that_died_is_left_out_until_it_holds_again(trial: Callable[..., Trial], tmp_path: Path) -> None:
    found = trial(some_index(tmp_path / "index"), Nodes(3))
    found.turns()
    actor = next(iter(found.actors.values()))
    assert actor.host is not None
    address = actor.host.about()["address"]
    actor.close()
    found.turns()
    assert all(address not in addresses for addresses in found.maps[-1]["groups"])
    assert all(found.maps[-1]["groups"])
    actor.start()
    found.turns()
    assert [len(addresses) for addresses in found.maps[-1]["groups"]] == [2] * 4


def held_by(found: Trial) -> int:
    """How many groups hosts of nodes that are there hold."""
    hosts = [found.actors[name].host for name in found.controller._hosts]
    return sum(len(host.about()["held"]) for host in hosts if host is not None)


def test_a_host_that_ray_has_given_up_is_started_anew(
    trial: Callable[..., Trial], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does with an actor that failed at a start; not at once, since Ray itself may be at it."""
    found = trial(some_index(tmp_path / "index"), Nodes(3))
    found.turns()
    name, actor = next(iter(found.actors.items()))
    actor.close()
    actor.is_given_up = True
    found.turns()
    assert found.actors[name] is actor
    found.controller.settings = replace(found.controller.settings, retry=0.0)
    found.turns()
    assert found.actors[name] is not actor
    assert [len(addresses) for addresses in found.maps[-1]["groups"]] == [2] * 4


def test_a_host_is_silent_from_when_it_was_asked(trial: Callable[..., Trial], tmp_path: Path) -> None:
    """A controller that was busy for long has asked nobody, and ends no host for that; one that hangs is ended."""
    found = trial(some_index(tmp_path / "index"), Nodes(2))
    found.turns()
    hosts = list(found.controller._hosts.values())
    for host in hosts:
        assert host.heard is not None
        host.heard -= 10 * found.controller.settings.hanging_after
    found.ray.is_hanging = True
    found.turns()
    assert found.ray.killed == []
    assert all(host.is_there for host in hosts)
    assert hosts[0].ping is not None
    hosts[0].ping.since -= 10 * found.controller.settings.hanging_after
    found.turns(1)
    assert found.ray.killed == [hosts[0].handle]


def test_what_hosts_do_is_told(trial: Callable[..., Trial], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many open shards, those apart that only try again what they could not; calls follow from CPUs."""
    monkeypatch.setattr(FakeRay, "is_slow", True)
    found = trial(some_index(tmp_path / "index"), Nodes(2, shards=1.0, CPU=16.0))
    found.turns()
    assert found.controller._state.opening == 2
    next(iter(found.controller._hosts.values())).trouble = "no room"
    found.turns()
    assert found.controller._state.opening == 1
    assert {actor.given.calls for actor in found.actors.values()} == {16}


@pytest.mark.parametrize("line", ["none\n", ""])
def test_whatever_ends_the_orders_is_the_end(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That nobody writes any more, or a line that is no order."""
    ended: list[int] = []
    monkeypatch.setattr(controller.os, "_exit", ended.append)
    monkeypatch.setattr(controller.sys, "stdin", io.StringIO('{"retire": 1}\n' + line))
    orders: queue.Queue[Any] = queue.Queue()
    with suppress(msgspec.DecodeError):
        controller._read_orders(orders, 0.0)
    assert [orders.get_nowait(), orders.get_nowait()] == [Retire(1), None]
    assert ended == [1]


def test_groups_of_a_lost_node_go_to_others_and_come_back(trial: Callable[..., Trial], tmp_path: Path) -> None:
    """With two nodes left both hold everything; a new node takes its part, which the others then hold no longer."""
    found = trial(some_index(tmp_path / "index"), Nodes(3))
    found.turns()
    lost, resources = found.nodes.there.popitem()
    found.turns()
    assert [len(set(addresses)) for addresses in found.maps[-1]["groups"]] == [2] * 4
    assert len({a for addresses in found.maps[-1]["groups"] for a in addresses}) == 2
    found.nodes.there[lost.replace("2", "9")] = resources
    found.turns()
    assert len({a for addresses in found.maps[-1]["groups"] for a in addresses}) == 3
    assert held_by(found) > 2 * 4
    for commit in found.controller._commits.values():
        commit.settled -= found.controller.settings.settled
    found.turns()
    assert held_by(found) == 2 * 4
    assert [len(set(addresses)) for addresses in found.maps[-1]["groups"]] == [2] * 4
    found.controller.end()
    assert len(found.ray.killed) == 4


def test_too_few_nodes_are_warned_of(trial: Callable[..., Trial], tmp_path: Path) -> None:
    """One node cannot hold two replicas apart; it is used all the same, also where no node offers shards."""
    found = trial(some_index(tmp_path / "index"), Nodes(1, CPU=2.0))
    found.turns()
    assert "2 replicas need as many nodes" in found.problems["replicas"]
    assert [len(addresses) for addresses in found.maps[-1]["groups"]] == [1] * 4


def test_a_new_commit_is_held_beside_the_old_one(trial: Callable[..., Trial], tmp_path: Path) -> None:
    """Both are asked until the old one is retired, which the newest cannot be; a commit nobody was told of goes."""
    folder = some_index(tmp_path / "index")
    found = trial(folder, Nodes(2))
    found.turns()
    old = fader.open(folder).rank("violin physics")
    before = found.index(folder)
    new = fader.add(folder, more(1), merge=False)
    found.turns()
    assert [told["commit"] for told in found.maps] == [1, 2]
    assert before.rank("violin physics") == old
    assert found.index(folder).rank("violin physics") == new.rank("violin physics") != old
    found.controller.retire(2)
    found.controller.retire(1)
    assert found.held() == {2}


def test_a_commit_that_is_being_opened_is_served_before_a_newer_one(
    trial: Callable[..., Trial], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where commits come faster than hosts open them, each that was begun is told; none is dropped for the next."""
    folder = some_index(tmp_path / "index")
    found = trial(folder, Nodes(2))
    found.turns()
    with monkeypatch.context() as patched:
        patched.setattr(FakeRay, "is_slow", True)
        for number in (2, 3):
            fader.add(folder, more(number), merge=False)
            found.turns()
        found.controller.settings = replace(found.controller.settings, slow=0.0)
        found.turns()
        assert "has been opening shards for more than" in found.problems["slow"]
    found.turns(1)
    assert [told["commit"] for told in found.maps] == [1, 2]
    found.turns()
    assert [told["commit"] for told in found.maps] == [1, 2, 3]


def test_the_next_controller_goes_on_with_the_commits_that_are_used(
    trial: Callable[..., Trial], tmp_path: Path
) -> None:
    """It tells where they are, and retires what is not used: an order that its predecessor did not hear is not lost."""
    folder = some_index(tmp_path / "index")
    first = trial(folder, Nodes(2))
    first.turns()
    for number in (2, 3):
        fader.add(folder, more(number), merge=False)
        first.turns()
    assert first.held() == {1, 2, 3}
    files = {told["commit"]: told["files"] for told in first.maps}
    second = first.succeeded((2, files[2]), (3, files[3]))
    second.turns()
    assert [told["commit"] for told in second.maps] == [2, 3]
    for before, after in zip(first.maps[1:], second.maps, strict=True):
        assert [set(addresses) for addresses in after["groups"]] == [set(addresses) for addresses in before["groups"]]
    assert second.held() == {2, 3}
    second.controller.retire(2)
    assert second.held() == {3}


def test_another_index_in_the_place_of_ours_is_not_mixed_with_it(trial: Callable[..., Trial], tmp_path: Path) -> None:
    """Commit 1 of another index: what hosts hold is served on, a host that starts again does not open the other."""
    folder = some_index(tmp_path / "index")
    expected = fader.open(folder).rank("violin physics")
    first = trial(folder, Nodes(2))
    first.turns()
    index = first.index(folder)
    shutil.rmtree(folder)
    fader.build(folder, more(1), ENTITIES, TYPES, segment_tokens=10)
    actor = next(iter(first.actors.values()))
    actor.close()
    actor.start()
    first.turns()
    assert "belongs to another index than the one" in first.problems["shards"]
    assert [len(addresses) for addresses in first.maps[-1]["groups"]] == [1] * 4
    index.collection.groups.shards.update(first.maps[-1]["commit"], first.maps[-1]["groups"])
    assert index.rank("violin physics") == expected
    second = first.succeeded((1, first.maps[-1]["files"]))
    second.turns()
    assert "no longer the one that is served" in second.problems["index"]
    assert second.maps == []
    assert index.rank("violin physics") == expected


def test_a_host_that_fails_while_it_opens_shards_is_told(
    trial: Callable[..., Trial], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it raises, and where it dies; it is not asked again at once."""
    folder = some_index(tmp_path / "index")

    def fail(*_given: object) -> None:
        raise MemoryError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(ShardHost, "_open_shard", fail)
        found = trial(folder, Nodes(2))
        found.turns(5)
        assert found.problems["shards"] == "MemoryError: no room"
        assert all(actor.calls.count("hold") == 1 for actor in found.actors.values())
        patched.setattr(ShardHost, "hold", lambda *_given: Lost("out of memory"))
        for host in found.controller._hosts.values():
            host.again = time.monotonic()
        found.turns(2)
        assert found.problems["shards"] == "a host failed while it opened shards: out of memory"
    assert found.maps == []
    for host in found.controller._hosts.values():
        host.again = time.monotonic()
    found.turns()
    assert found.problems == {}
    assert [told["commit"] for told in found.maps] == [1]


def test_a_commit_that_cannot_be_opened_leaves_the_old_one(trial: Callable[..., Trial], tmp_path: Path) -> None:
    """It is told as a problem, and served when it is mended; hosts are not asked again at once."""
    folder = some_index(tmp_path / "index")
    found = trial(folder, Nodes(2))
    found.turns()
    fader.add(folder, more(1), merge=False)
    broken = sorted(folder.glob("00000002-*.terms"))[0]
    whole = broken.read_bytes()
    broken.write_bytes(whole[:-9])
    found.turns(6)
    assert [told["commit"] for told in found.maps] == [1]
    assert broken.name in found.problems["shards"]
    assert sum(actor.calls.count("hold") for actor in found.actors.values()) <= 4
    broken.unlink()
    broken.write_bytes(whole)
    for host in found.controller._hosts.values():
        host.again = time.monotonic()
    found.turns()
    assert [told["commit"] for told in found.maps] == [1, 2]
    assert found.problems == {}


def test_nodes_of_another_release_are_not_used(trial: Callable[..., Trial], tmp_path: Path) -> None:
    """Those that are of ours hold everything; the others are told of as long as they are there."""
    found = trial(some_index(tmp_path / "index"), Nodes(3))
    found.controller._look_for_nodes()
    first, second, third = found.actors.values()
    first.version = third.version = "0.0.0"
    found.turns()
    assert "install the same release on all nodes" in found.problems["host"]
    assert second.host is not None
    address = second.host.about()["address"]
    for host in found.controller._hosts.values():
        host.made -= found.controller.settings.starting  # they were waited for
    found.turns()
    assert found.maps[-1]["groups"] == [[address]] * 4
    assert "install the same release on all nodes" in found.problems["host"]


@pytest.mark.parametrize("make", [some_index, mingled_index])
def test_an_index_elsewhere_is_copied_by_who_holds_it(
    make: Callable[[Path], Any], trial: Callable[..., Trial], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an fsspec URL: hosts tell the ranges of ids of what they copied, by which documents are numbered."""
    pytest.importorskip("fsspec")
    monkeypatch.setenv("FADER_CLUSTER_CACHE", str(tmp_path / "cache"))
    make(tmp_path / "index")
    found = trial(f"local://{tmp_path}/index", Nodes(3))
    found.turns(5)
    assert [told["groups"] for told in found.maps] == [found.maps[-1]["groups"]]
    assert any("ranges" in actor.calls for actor in found.actors.values())
    index, local = found.index(tmp_path / "index"), fader.open(tmp_path / "index")
    query = "violin physics" if make is some_index else "a b c"
    assert index.rank(query) == local.rank(query)


def test_what_is_no_index_ends_it_at_the_start(trial: Callable[..., Trial], tmp_path: Path) -> None:
    for path in (tmp_path, f"local://{tmp_path}/none"):
        with pytest.raises(FaderError if isinstance(path, str) else NotAnIndexError):
            trial(path, Nodes(1)).turns()
