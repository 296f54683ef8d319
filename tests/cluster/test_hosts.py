"""A shard host by itself, without Ray: what it is told to hold is served, and what cannot be is said."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import fader
from cluster.http import more, some_index
from cluster.serving import SECRET, mingled_index
from fader.cluster.hosts import actors
from fader.cluster.hosts.actors import HOLDER_TAKES, HOST_TAKES, Given, ShardHost, calls_of, range_of, starts_from
from fader.cluster.shards.collection import ShardedCollection
from fader.cluster.shards.groups import plan
from fader.cluster.shards.requests import DescribeShard
from fader.cluster.shards.shard import KEPT_BYTES
from fader.cluster.wire.client import Shards
from fader.index.commit import read_commit
from fader.index.numbering import read_starts
from fader.search.index import Index
from serve.live import ENTITIES, TYPES


@contextmanager
def host_of(folder: Path) -> Iterator[ShardHost]:
    host = ShardHost(Given(SECRET, str(folder)))
    try:
        yield host
    finally:
        host.close()


@pytest.mark.parametrize("make", [some_index, mingled_index])
def test_starts_follow_from_ranges_of_ids(make: object, tmp_path: Path) -> None:
    """What hosts tell of their own segments gives what the ids of all segments give, in both kinds of index."""
    make(tmp_path / "index")  # type: ignore[operator]
    manifest = read_commit(tmp_path / "index")
    every = range(len(manifest.segments))
    ranges = [range_of(tmp_path / "index", manifest.commit, s) for s in every]
    assert starts_from(ranges) == read_starts(tmp_path / "index", manifest)


def test_starts_of_empty_and_mingled_segments() -> None:
    """An empty segment begins anywhere; segments that overlap, also through a third, have no start of their own."""
    assert starts_from([None, ("a", "c", 3), ("d", "d", 1)]) == [0, 0, 3]
    assert starts_from([("a", "d", 4), ("c", "f", 2), ("e", "g", 5), ("h", "h", 1)]) == [-1, -1, -1, 11]
    assert starts_from([]) == []


def test_a_host_serves_what_it_is_told_to_hold(tmp_path: Path) -> None:
    """Twice told changes nothing; a newer commit is held beside the old one, until that is retired."""
    folder = some_index(tmp_path / "index")
    with host_of(folder) as host:
        first, shards = read_commit(folder), Shards(SECRET)
        groups = dict(enumerate(plan(first, 3)))
        assert host.about()["held"] == []
        assert host.hold(1, groups, read_starts(folder, first)) == {}
        assert host.hold(1, groups) == {}
        assert host.about()["held"] == [(1, 0), (1, 1), (1, 2)]
        shards.update(1, [[host.about()["address"]]] * 3)
        index, local = Index(ShardedCollection(folder, shards)), fader.open(folder)
        assert index.rank("violin physics") == local.rank("violin physics")
        fader.add(folder, more(1), merge=False)
        second = read_commit(folder)
        assert host.hold(2, dict(enumerate(plan(second, 2)))) == {}
        assert host.about()["held"] == [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]
        shards.update(2, [[host.about()["address"]]] * 2)
        assert Index(ShardedCollection(folder, shards)).rank("violin physics") == fader.open(folder).rank(
            "violin physics"
        )
        assert index.rank("violin physics") == local.rank("violin physics")
        host.retire(1)
        assert host.about()["held"] == [(2, 0), (2, 1)]
        shards.close()


def test_a_host_answers_while_it_opens_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Orders to retire neither wait for that, which would leave no thread to answer in, nor are they lost."""
    folder = some_index(tmp_path / "index")
    every = list(range(len(read_commit(folder).segments)))
    opening, go_on = threading.Event(), threading.Event()
    with host_of(folder) as host:
        assert host.hold(1, {0: every}) == {}
        opened = host._open_shard

        def slowly(*given: Any) -> Any:
            opening.set()
            assert go_on.wait(60)
            return opened(*given)

        monkeypatch.setattr(host, "_open_shard", slowly)
        holding = threading.Thread(target=host.hold, args=(1, {1: every}))
        holding.start()
        assert opening.wait(60)
        orders = [threading.Thread(target=host.retire, args=(1, [0]), daemon=True) for _ in range(3)]
        for order in orders:
            order.start()
        for order in orders:
            order.join(20)
        assert not any(order.is_alive() for order in orders)
        assert host.about()["held"] == [(1, 0)]
        go_on.set()
        holding.join(60)
        host.retire(1, [0])
        assert host.about()["held"] == [(1, 1)]


def test_groups_of_a_host_share_what_it_may_keep(tmp_path: Path) -> None:
    """Four groups keep as much of matches as one would."""
    folder = some_index(tmp_path / "index")
    with host_of(folder) as host:
        groups = dict(enumerate(plan(read_commit(folder), 4)))
        assert host.hold(1, groups) == {}
        kept = [shard.kept_bytes for shard in host._server._shards.values()]
        assert kept == [KEPT_BYTES // len(groups)] * len(groups)


def test_what_a_host_is_started_with() -> None:
    """Its secret is not told; it answers as many calls at a time as its node has CPUs, and some at least."""
    assert repr(SECRET) not in repr(Given(SECRET, "index"))
    assert [calls_of({"Resources": {"CPU": cpus}}) for cpus in (1.0, 32.0)] == [4, 32]


@pytest.mark.parametrize("offered", [1, 2, 32])
def test_two_services_exclude_each_other(offered: int) -> None:
    """On a node that offers one or many; jobs find room beside a service, and it beside them."""
    left = offered - offered * HOST_TAKES
    assert 10 * HOLDER_TAKES <= left < HOST_TAKES


def test_what_cannot_be_held_is_said(tmp_path: Path) -> None:
    """A commit that is not there, a file that is damaged: the other groups are held."""
    folder = some_index(tmp_path / "index")
    with host_of(folder) as host:
        assert "has no commit 7" in host.hold(7, {0: [0]})[0]
        manifest = read_commit(folder)
        groups = plan(manifest, 3)
        broken = folder / f"{manifest.segments[groups[1][0]].name}.terms"
        broken.write_bytes(broken.read_bytes()[:-7])
        problems = host.hold(1, dict(enumerate(groups)))
        assert list(problems) == [1]
        assert broken.name in problems[1]
        assert host.about()["held"] == [(1, 0), (1, 2)]


def test_a_host_that_nobody_asks_ends_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the time of its lease without a controller or a client; one that was closed does not end the process."""
    folder, ended = some_index(tmp_path / "index"), threading.Event()
    monkeypatch.setattr(actors, "end_process", ended.set)
    host = ShardHost(Given(SECRET, str(folder), lease_seconds=0.2))
    assert ended.wait(60)
    host.close()
    ended.clear()
    closed = ShardHost(Given(SECRET, str(folder), lease_seconds=0.2))
    (lease,) = (thread for thread in threading.enumerate() if thread.name == "lease")
    closed.close()
    lease.join(60)
    assert not ended.is_set()


@pytest.mark.parametrize("asked_by", ["controller", "client"])
def test_a_host_that_is_asked_does_not_end(asked_by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either will do: a service goes on while there is no controller, as when the head is away for long."""
    folder, ended = some_index(tmp_path / "index"), threading.Event()
    monkeypatch.setattr(actors, "end_process", ended.set)
    with host_of(folder) as host:
        assert host.hold(1, {0: list(range(len(read_commit(folder).segments)))}) == {}
        shards = Shards(SECRET)
        shards.update(1, [[host.about()["address"]]])
        host._wanted_at = host._server.asked_at = 0.0
        assert host._silent() > 0
        before = time.monotonic()
        if asked_by == "controller":
            host.about()
        else:
            shards.call_all(DescribeShard())
        assert host._silent() <= time.monotonic() - before
        shards.close()


def test_another_index_of_the_same_commit_is_not_held(tmp_path: Path) -> None:
    """A folder that was built anew has a commit 1 too; it is told from ours by its files."""
    folder = some_index(tmp_path / "index")
    groups = dict(enumerate(plan(read_commit(folder), 2)))
    with host_of(folder) as host:
        assert host.hold(1, {0: groups[0]}) == {}
        other = some_index(tmp_path / "other")
        fader.add(other, more(1), merge=False)
        assert (
            "belongs to another index than the one"
            in host.hold(1, {1: groups[1]}, None, read_commit(other).fingerprint)[1]
        )
        shutil.rmtree(folder)
        fader.build(folder, more(1), ENTITIES, TYPES)
        assert "belongs to another index than the one" in host.hold(1, {1: [0]})[1]
        assert host.about()["held"] == [(1, 0)]
