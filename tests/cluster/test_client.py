"""Calls to all groups: any replica answers, a bad one is replaced, a slow one overtaken, and nothing is ever partial.

Servers run in threads of this process; a hanging one is a socket that greets and then keeps silent.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import fader
from cluster.serving import SECRET, Serving, mingled_index, ranged_index, serving
from fader import budget
from fader.budget import deadline
from fader.cluster.shards.collection import ShardedCollection
from fader.cluster.shards.columns import Column
from fader.cluster.shards.requests import DescribeShard, FindRows, Question, ScoreRows
from fader.cluster.shards.shard import Shard
from fader.cluster.wire import frames as wire
from fader.cluster.wire.client import ClientSettings, Pace, Shards, error_of
from fader.cluster.wire.connections import RemoteServer
from fader.cluster.wire.frames import receive, welcome
from fader.cluster.wire.server import ServerSettings, ShardServer
from fader.cluster.wire.transport import Missing
from fader.contexts.query import Literal, Query
from fader.contexts.statistics import Statistics
from fader.errors import (
    BudgetError,
    DamagedError,
    FaderError,
    IncompleteError,
    LimitError,
    QueryError,
    StorageError,
    UsageError,
)  # fmt: skip
from fader.search.index import Index
from index.answers import answer

ASKED = FindRows(Question.of(Query("", (Literal(("a",), (0,), "optional", "a"),), ())))
PATIENT = ClientSettings(connect_ms=20_000, patience_ms=60_000, pause_ms=10)
QUICK = ClientSettings(connect_ms=20_000, patience_ms=300, pause_ms=10)  # where a group is to be given up


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ranged_index(tmp_path_factory.mktemp("client") / "index").collection.folder


@contextmanager
def hanging() -> Iterator[str]:
    """The address of a server that takes calls and never answers."""
    listening = socket.create_server(("127.0.0.1", 0))
    held = []

    def attend() -> None:
        with suppress(OSError):
            while True:
                connection, _address = listening.accept()
                held.append(connection)
                welcome(connection, SECRET)

    threading.Thread(target=attend, daemon=True).start()
    host, port = listening.getsockname()
    try:
        yield f"{host}:{port}"
    finally:
        listening.close()
        for connection in held:
            connection.close()


def nobody() -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        host, port = listening.getsockname()
    return f"{host}:{port}"


def with_address(served: Serving, group: int, *first: str) -> dict[str, Any]:
    """The map, with other addresses before those of a group."""
    groups = [list(replicas) for replicas in served.map["groups"]]
    groups[group][:0] = first
    return {"commit": served.commit, "groups": groups}


def test_one_answer_a_group(folder: Path) -> None:
    """In the order of groups; a group that is not asked gives None."""
    with serving(folder, 3, settings=QUICK) as served:
        found = served.client.call_all(DescribeShard())
        assert [about.segments for about in found] == [shard.segments for shard in served.shards]
        some = served.client.call_all([None, DescribeShard(), None])
        assert [about is None for about in some] == [True, False, True]
        assert served.client.call_all([None] * 3) == [None] * 3
        with pytest.raises(UsageError, match="3 shard groups, but calls for 2"):
            served.client.call_all([DescribeShard()] * 2)


def test_replicas_take_turns(folder: Path) -> None:
    """Both replicas of a group are asked alike."""
    with serving(folder, 1, replicas=2, settings=ClientSettings(hang_ms=60_000)) as served:
        asked: list[int] = []
        for i, server in enumerate(served.servers[0]):
            answer_of = server._answer
            server._answer = lambda *r, i=i, of=answer_of: asked.append(i) or of(*r)  # type: ignore[method-assign]
        for _ in range(10):
            served.client.call_all(DescribeShard())
        assert sorted(asked) == [0] * 5 + [1] * 5


def test_a_dead_replica_is_replaced(folder: Path) -> None:
    """At once, call after call, whichever replica is dead; then it is left alone for a while."""
    with serving(folder, 2, replicas=2, settings=PATIENT) as served:
        served.client.update(**with_address(served, 1, nobody(), nobody()))
        for _ in range(12):
            assert len(served.client.call_all(DescribeShard())) == 2
        assert served.client.counts["failovers"] >= 1
        assert served.client.counts["incomplete"] == 0


def test_a_server_that_dies_under_calls(folder: Path) -> None:
    """Connections that were open break; another replica answers, and none is asked for what it did not see."""
    local = fader.open(folder)
    with serving(folder, 4, replicas=2, settings=PATIENT) as served:
        index = Index(ShardedCollection(folder, served.client))
        wanted = local.rank("a b c")
        assert index.rank("a b c") == wanted
        for group in range(4):
            served.servers[group][group % 2].close()
            for _ in range(3):
                assert index.rank("a b c") == wanted
        assert served.client.counts["incomplete"] == 0


def test_a_server_that_starts_again(folder: Path) -> None:
    """Without another replica a group is tried again until a new map names a server that is there."""
    with serving(folder, 2, settings=PATIENT) as served:
        assert served.client.call_all(DescribeShard())
        served.servers[1][0].close()

        def again() -> None:
            time.sleep(0.3)
            served.servers[1].append(served.start(1))
            served.client.update(**with_address(served, 0))

        helper = threading.Thread(target=again)
        helper.start()
        found = served.client.call_all(DescribeShard())
        helper.join()
        assert [about.segments for about in found] == [shard.segments for shard in served.shards]


def test_nobody_answers(folder: Path) -> None:
    """An error that says which group, why, and what to do; where a partial answer is allowed, what is missing."""
    with serving(folder, 3, settings=QUICK) as served:
        served.servers[1][0].close()
        with pytest.raises(IncompleteError, match=r"shard group 1 of commit 1 did not answer .*refuses.*ask again"):
            served.client.call_all(DescribeShard())
        found = served.client.call_all(DescribeShard(), allow_partial=True)
        assert isinstance(found[1], Missing)
        assert not isinstance(found[0], Missing)
        assert not isinstance(found[2], Missing)
        assert served.client.counts["incomplete"] == 2


def test_a_hanging_replica_is_overtaken(folder: Path) -> None:
    """A replica that keeps silent costs a bounded delay once, and is asked last then."""
    settings = ClientSettings(connect_ms=20_000, patience_ms=60_000, hang_ms=150)
    with serving(folder, 2, settings=settings) as served, hanging() as silent:
        served.client.update(**with_address(served, 0, silent))
        for _ in range(6):
            assert len(served.client.call_all(DescribeShard())) == 2
        assert served.client.counts["hedges"] >= 1


def test_a_new_replica_of_a_hanging_group(folder: Path) -> None:
    """Where all replicas keep silent, one that the map names later is asked."""
    settings = ClientSettings(connect_ms=20_000, patience_ms=60_000, hang_ms=100)
    with serving(folder, 2, settings=settings) as served, hanging() as one, hanging() as other:
        good = [servers[0].address for servers in served.servers]
        served.client.update(1, [[good[0]], [one, other]])
        again = threading.Timer(0.4, lambda: served.client.update(1, [[good[0]], [one, other, good[1]]]))
        again.start()
        found = served.client.call_all(DescribeShard())
        again.join()
        assert found[1].segments == served.shards[1].segments


def test_a_hanging_group_ends_with_the_time(folder: Path) -> None:
    """By the call's own deadline an IncompleteError, by the query's budget a BudgetError as on one machine."""
    with serving(folder, 2, settings=QUICK) as served, hanging() as silent:
        served.client.update(1, [[served.servers[0][0].address], [silent]])
        with pytest.raises(IncompleteError, match=r"shard group 1 .* in time \(.* does not answer\)"):
            served.client.call_all(DescribeShard(), deadline_ms=300)
        with deadline(250), pytest.raises(BudgetError, match="needs more than its 250 ms"):
            served.client.call_all(DescribeShard())
        found = served.client.call_all(DescribeShard(), deadline_ms=600, allow_partial=True)
        assert isinstance(found[1], Missing)
        assert "does not answer" in found[1].why


def test_slow_answers_are_hedged(folder: Path) -> None:
    """After calls that were quick a slow one is asked of another replica too, whose answer counts."""
    settings = ClientSettings(hang_ms=600_000, hedge_least_ms=1, hedge_after=10)
    with serving(folder, 1, replicas=2, settings=settings) as served:
        for _ in range(40):
            served.client.call_all(DescribeShard())
        release, slow = threading.Event(), served.servers[0][0]
        slow._call_shard = lambda *_given: release.wait(60)  # type: ignore[method-assign]
        before = served.client.counts["hedges"]
        assert served.client.call_all(DescribeShard())[0].segments == served.shards[0].segments
        assert served.client.call_all(DescribeShard())[0].segments == served.shards[0].segments
        assert served.client.counts["hedges"] > before
        release.set()


@pytest.mark.parametrize("is_waiting", [False, True])
def test_work_for_a_client_that_hangs_up_ends(folder: Path, is_waiting: bool) -> None:
    """A call that is overtaken by another replica, or given up, goes on no longer on the first; one that waits for room
    there neither."""
    settings = ClientSettings(deadline_ms=600_000, hang_ms=100)
    with serving(folder, 1, settings=settings) as served:
        slow, ended = ShardServer(SECRET, settings=ServerSettings(calls=1)), threading.Event()

        class Endless:
            commit = served.commit

            def call(self, *_given: Any) -> Any:
                try:
                    while True:
                        budget.check()
                        time.sleep(0.005)
                finally:
                    ended.set()

        slow.serve(0, Endless())  # type: ignore[arg-type]
        slow.start()
        try:
            if is_waiting:
                slow._room.acquire()
            served.client.update(**with_address(served, 0, slow.address))
            for _ in range(2):  # one of them is asked of the slow one first
                assert served.client.call_all(DescribeShard())[0].segments == served.shards[0].segments
            if is_waiting:
                wait_until(lambda: not slow._connections)
                assert not ended.is_set()
            else:
                assert ended.wait(60)
        finally:
            slow.close()


def wait_until(is_so: Callable[[], bool]) -> None:
    for _ in range(6000):
        if is_so():
            return
        time.sleep(0.01)
    pytest.fail("waited for a minute")


def test_strangers_take_no_room(folder: Path) -> None:
    """More connections that never greet than a server has room for: the oldest go; who knows the secret comes in."""
    with serving(folder, 1, settings=PATIENT) as served, ExitStack() as stack:
        server = served.servers[0][0]
        host, port = server.address.split(":")
        opened = (socket.create_connection((host, int(port))) for _ in range(server.settings.strangers + 9))
        strangers = [stack.enter_context(one) for one in opened]
        assert served.client.call_all(DescribeShard())[0].segments == served.shards[0].segments
        strangers[0].settimeout(60)
        with suppress(ConnectionError):
            while strangers[0].recv(100):
                pass
        assert len(server._strangers) <= server.settings.strangers


def test_idle_connections_make_room(folder: Path) -> None:
    """More clients than a server has room for: the one that was silent longest goes, and comes again when it asks."""
    with serving(folder, 1, settings=QUICK, of_servers=ServerSettings(connections=2)) as served, ExitStack() as stack:
        server = served.servers[0][0]
        clients = [Shards(SECRET, QUICK) for _ in range(4)]
        for client in clients:
            stack.callback(client.close)
            client.update(**served.map)
        for client in [*clients, *clients]:
            assert client.call_all(DescribeShard())[0].segments == served.shards[0].segments
            wait_until(lambda: len(server._idle) == len(server._connections))
            assert len(server._connections) <= 2
        assert sum(client.counts["incomplete"] for client in clients) == 0


def test_connections_in_use_are_not_hung_up_on(folder: Path) -> None:
    """Where none is idle, the new one has to wait."""
    with serving(folder, 1, settings=PATIENT, of_servers=ServerSettings(connections=1)) as served:
        server, other, found = served.servers[0][0], Shards(SECRET, QUICK), []
        other.update(**served.map)
        with ExitStack() as stack:
            for _ in range(4):
                stack.enter_context(server._room)
            asking = threading.Thread(target=lambda: found.append(served.client.call_all(DescribeShard())))
            asking.start()
            wait_until(lambda: len(server._connections) == 1 and not server._idle)
            used = set(server._connections)
            with pytest.raises(IncompleteError):
                other.call_all(DescribeShard())
            assert server._connections == used
        asking.join(60)
        assert len(found) == 1
        assert other.call_all(DescribeShard())[0] == found[0][0]
        other.close()


def test_what_is_too_large_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer or a request beyond what a frame may have is an error in words, and the connection serves on."""
    with serving(folder, 2, settings=QUICK) as served:
        with monkeypatch.context() as patched:
            patched.setattr("fader.cluster.wire.connections.MOST_REQUEST", 100)
            with pytest.raises(LimitError, match="cannot be sent between machines at once, 100 at most"):
                served.client.call_all(ASKED)
        with monkeypatch.context() as patched:
            patched.setattr("fader.cluster.wire.server.frame", lambda value: wire.frame(value, 300))
            with pytest.raises(LimitError, match="300 at most; ask for less"):
                served.client.call_all(ASKED)
        assert len(served.client.call_all(ASKED)) == 2


def test_connections_are_closed(folder: Path) -> None:
    """One that is given back to a server that no map names any more is not kept; a closed client says so."""
    with serving(folder, 1, settings=QUICK) as served:
        server = served.client._server(served.servers[0][0].address)
        connection = server.connect(20)
        served.client.forget(served.commit)
        server.give_back(connection)
        assert connection.fileno() == -1
        served.client.update(**served.map)
        assert served.client.call_all(DescribeShard())
        served.client.close()
        with pytest.raises(IncompleteError, match="no shards are known"):
            served.client.call_all(DescribeShard())
        wait_until(lambda: not served.servers[0][0]._connections)


def test_a_machine_that_is_gone_is_waited_for_once() -> None:
    """Connections that were asked for before it failed fail then at once, with its reason."""
    server = RemoteServer(nobody(), SECRET)
    asked_at = time.monotonic()
    with pytest.raises(ConnectionRefusedError):
        server.connect(20, asked_at)
    with pytest.raises(ConnectionError, match="refuses the connection; no server is there"):
        server.connect(20, asked_at)
    with pytest.raises(ConnectionRefusedError):
        server.connect(20, time.monotonic())


def test_few_calls_are_hedged() -> None:
    """One to begin with, then one in twenty; what is slow is told by nineteen of twenty calls, once some are known."""
    pace = Pace(ClientSettings())
    assert pace.slow("contexts") is None
    assert [pace.may_hedge() for _ in range(3)] == [True, False, False]
    for n in range(200):
        pace.note("contexts", (n % 20) / 100)
    assert 0.17 <= pace.slow("contexts") <= 0.18
    assert pace.slow("texts") is None
    assert sum(pace.may_hedge() for _ in range(50)) in (9, 10)


def test_errors_cross_as_they_are(folder: Path) -> None:
    """By class, with their texts; those of the question end the call, those of a replica are another's to answer."""
    with serving(folder, 2, replicas=2, settings=QUICK) as served:
        statistics = Statistics(1, 1, np.ones(1, dtype=np.int64), np.ones(1, dtype=np.int64))
        with pytest.raises(UsageError, match=r'unknown feature "evil"; known: adjacency, bias'):
            served.client.call_all(ScoreRows(ASKED.question, statistics, "evil", np.ones(1), "document", True))
        some = FindRows(ASKED.question, np.zeros(1, dtype=np.int32), (Column.MATCHING,))
        with pytest.raises(UsageError, match="the rows of some entities have no values of all matching documents"):
            served.client.call_all(some)
    error = error_of("QueryError", "wrong (at character 3)", 2)
    assert (type(error), str(error), error.position) == (QueryError, "wrong (at character 3)", 2)  # type: ignore[attr-defined]
    assert isinstance(error_of("LimitError", "x"), LimitError)
    assert isinstance(error_of("SystemExit", "x"), IncompleteError)
    assert isinstance(error_of("quoted", "x"), IncompleteError)


@pytest.mark.parametrize("error", [DamagedError("a file is cut"), RuntimeError("a bug")])
def test_a_replica_that_cannot_answer(folder: Path, error: Exception) -> None:
    """A damaged copy or a failure is the replica's own: the other answers; where none can, that is said at once."""
    settings = ClientSettings(patience_ms=60_000, deadline_ms=60_000)
    with serving(folder, 1, replicas=2, settings=settings) as served:

        def fail(*_given: Any) -> Any:
            raise error

        served.servers[0][0]._call_shard = fail  # type: ignore[method-assign]
        for _ in range(4):
            assert served.client.call_all(DescribeShard())[0].segments == served.shards[0].segments
        served.servers[0][1]._call_shard = fail  # type: ignore[method-assign]
        with pytest.raises(IncompleteError, match=str(error)):
            served.client.call_all(DescribeShard())


def test_another_secret(folder: Path) -> None:
    """Nothing is answered, and the error says why."""
    with serving(folder, 1, settings=QUICK) as served:
        stranger = Shards(b"quite another secret", QUICK)
        stranger.update(**served.map)
        with pytest.raises(IncompleteError, match="does not accept the secret"):
            stranger.call_all(DescribeShard())
        stranger.close()
        assert served.client.call_all(DescribeShard())


def test_a_server_takes_no_nonsense(folder: Path) -> None:
    """What is no greeting, no frame or no request ends that connection alone."""
    with serving(folder, 1, settings=QUICK) as served:
        host, port = served.servers[0][0].address.split(":")
        for data in (b"GET / HTTP/1.1\r\n\r\n" + bytes(80), bytes(65)):
            with socket.create_connection((host, int(port)), timeout=5) as sock:
                sock.sendall(data)
                with suppress(ConnectionError):
                    while sock.recv(4096):
                        pass
        about, question = {"type": "DescribeShard"}, msgspec.to_builtins(ASKED.question)
        whole = {"commit": served.commit, "group": 0, "deadline_ms": 5000.0, "call": about}
        rows = {"type": "FindRows", "question": question}
        calls: list[Any] = [
            {"type": "Evil"},
            {},
            about | {"what": 1},
            {"type": "CountLiterals", "question": {"literals": 5}},
            {"type": "CountLiterals", "question": question | {"literals": [question["literals"][0] | {"offsets": []}]}},
            rows | {"columns": ["nonsense"]},
            rows | {"entities": np.ones(1)},
            rows | {"entities": [1]},
        ]
        for request in ({"method": "about"}, [1, 2], None, about, *(whole | {"call": call} for call in calls)):
            connection = served.client._server(served.servers[0][0].address).connect(5)
            connection.send(request, 5)
            connection.sock.settimeout(5)
            with pytest.raises(ConnectionError):
                receive(connection.sock, 1 << 20)
            connection.close()
        for call in (about, rows):
            connection = served.client._server(served.servers[0][0].address).connect(5)
            connection.send(whole | {"call": call}, 5)
            connection.sock.settimeout(5)
            assert receive(connection.sock, 1 << 20)["error"] is None
            connection.close()
        assert served.client.call_all(DescribeShard())


def test_calls_wait_for_room(folder: Path) -> None:
    """More calls than a server takes at a time are answered one after the other; a call's time counts meanwhile."""
    manifest = fader.open(folder).collection.manifest
    server = ShardServer(SECRET, settings=ServerSettings(calls=1))
    server.serve(0, Shard(folder, 1, range(len(manifest.segments))))
    server.start()
    client = Shards(SECRET)
    client.update(1, [[server.address]])
    try:
        found: list[Any] = []
        threads = [threading.Thread(target=lambda: found.append(client.call_all(DescribeShard()))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 8
        with server._room, pytest.raises(IncompleteError, match="in time"):
            client.call_all(DescribeShard(), deadline_ms=100)
    finally:
        client.close()
        server.close()


def test_maps(folder: Path) -> None:
    """A commit that is not known is an error; one cut of a commit is never mixed with another."""
    shards = Shards(SECRET)
    with pytest.raises(IncompleteError, match="no shards are known yet"):
        shards.call_all(DescribeShard())
    for wrong in ([], [["nohost"]], [["host:1"], ["host:0"]]):
        with pytest.raises(UsageError, match="map of shard groups"):
            shards.update(1, wrong)
    shards.update(1, [["a:1"], ["b:1"]])
    shards.update(3, [["a:1"]])
    assert (shards.commit, shards.groups(1), shards.groups(3)) == (3, 2, 1)
    with pytest.raises(IncompleteError, match=r"no shards of commit 2 .*known: 1, 3"):
        shards.groups(2)
    with pytest.raises(UsageError, match="has 2 shard groups, not 1"):
        shards.update(1, [["a:1"]])
    shards.forget(3)
    assert shards.commit == 1
    shards.close()


def test_shards_of_another_index(folder: Path, tmp_path: Path) -> None:
    """Shards that do not hold each segment of this very commit once are not believed."""
    other = ranged_index(tmp_path / "other", seed=5).collection
    with serving(folder, 2, settings=QUICK) as served:
        index = Index(ShardedCollection(other.folder, served.client))
        with pytest.raises(IncompleteError, match="do not hold each segment of commit 1 once"):
            index.search("a")
        first = served.servers[0][0]
        first.serve(1, served.shards[0])
        served.client.update(1, [[first.address], [first.address]])
        with pytest.raises(IncompleteError, match="do not hold each segment"):
            Index(ShardedCollection(folder, served.client)).search("a")


def test_a_rolling_switch(tmp_path: Path) -> None:
    """A new commit is served beside the old; whoever holds the old one goes on with it until it is retired."""
    folder = mingled_index(tmp_path / "index").collection.folder
    with serving(folder, 2, settings=QUICK) as served:
        old = Index(ShardedCollection(folder, served.client))
        local_old = fader.open(folder)
        assert old.refresh() is old
        local_new = fader.add(folder, [{"id": "new", "text": "a b c new", "mentions": []}], merge=False, keep=9)
        commit, places = local_new.commit, range(len(local_new.collection.manifest.segments))
        shards = [Shard(folder, commit, list(places)[:3]), Shard(folder, commit, list(places)[3:])]
        for g, shard in enumerate(shards):
            served.servers[g][0].serve(g, shard)
        served.client.update(commit, served.map["groups"])
        new = old.refresh()
        assert isinstance(new.collection, ShardedCollection)
        assert (old.commit, new.commit) == (local_old.commit, commit)
        assert served.servers[0][0].held == [(old.commit, 0), (commit, 0)]
        for one, many in ((local_old, old), (local_new, new)):
            assert one.rank("a b c") == many.rank("a b c")
        for g in range(2):
            served.servers[g][0].retire(old.commit)
        served.client.forget(old.commit)
        assert answer(local_new, "a b c", None, "count") == answer(new, "a b c", None, "count")
        with pytest.raises(IncompleteError, match="no shards of commit"):
            old.search("a b c")


@pytest.mark.parametrize("model", ["default", "voting", "entityrank"])
def test_a_partial_answer_says_so(folder: Path, model: str, caplog: pytest.LogCaptureFixture) -> None:
    """Without a group nothing is answered; where it is allowed, what is there, with what is missing and how much.

    Machines are named in the log alone.
    """
    local = fader.open(folder)
    with serving(folder, 4, settings=QUICK) as served:
        strict = Index(ShardedCollection(folder, served.client))
        lenient = Index(ShardedCollection(folder, served.client, allow_partial=True))
        assert lenient.search("a b", model=model).warnings == local.search("a b", model=model).warnings
        lost = DescribeShard().run(served.shards[2]).documents
        served.servers[2][0].close()
        with pytest.raises(IncompleteError):
            strict.search("c d", model=model)
        for index in (lenient, Index(ShardedCollection(folder, served.client, allow_partial=True))):
            found = index.search("c d", model=model, snippets=2)
            told = f"1 of 4 shard groups did not answer, and {lost} of {local.collection.documents} documents were not"
            assert sum(told in warning for warning in found.warnings) == 1
            assert not any(served.servers[2][0].address in warning for warning in found.warnings)
            assert f"shard group 2: {served.servers[2][0].address}" in caplog.text
            caplog.clear()
            whole = local.search("c d", model=model)
            assert 0 < found.contexts < whole.contexts
            assert found.results
        for group in (0, 1, 3):
            served.servers[group][0].close()
        with pytest.raises(IncompleteError):
            lenient.search("c d", model=model)


def test_many_threads(folder: Path) -> None:
    """Threads share a client: each gets the answer of its own question."""
    local = fader.open(folder)
    queries = ["a b", "c d", "e é", "x1 A"]
    wanted = {q: local.rank(q) for q in queries}
    with serving(folder, 4, replicas=2, settings=PATIENT) as served:
        index, wrong = Index(ShardedCollection(folder, served.client)), []

        def ask(n: int) -> None:
            for i in range(6):
                query = queries[(n + i) % len(queries)]
                try:
                    if index.rank(query) != wanted[query]:
                        wrong.append(query)
                except FaderError as error:
                    wrong.append(str(error))

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


def test_an_address_that_is_taken() -> None:
    """A port that cannot be listened at is an error in words."""
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(StorageError, match="cannot listen there"),
    ):
        ShardServer(SECRET, port=taken.getsockname()[1])


def test_answers_are_arrays_of_the_shard(folder: Path) -> None:
    """What crosses a socket is what the shard gives in its own process."""
    with serving(folder, 2) as served:
        given = FindRows(ASKED.question, columns=(Column.DOCUMENTS, Column.POSITIONS, Column.SIDES))
        for group, found in enumerate(served.client.call_all(given)):
            own = served.shards[group].call(given)
            for name in ("slot", "document", "distances", "df"):
                np.testing.assert_array_equal(getattr(found, name), getattr(own, name))
            np.testing.assert_array_equal(found.columns.sides, own.columns.sides)
            np.testing.assert_array_equal(found.columns.documents.counts, own.columns.documents.counts)
            np.testing.assert_array_equal(found.columns.positions.at, own.columns.positions.at)
            assert found.columns.start is None
