"""A service on a cluster of three nodes: the answers of a local index, byte for byte, whatever is killed.

One service is started for all tests here. With FADER_DOSE=1 twenty of each kind are killed, the head too; the longest
delay is printed (`pytest -s`). No answer may take longer than the time of a request, or it would be another status.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

import fader
from cluster.conftest import needs_ray
from cluster.exact import GROUPS, QUERIES, expected, told
from cluster.http import OTHERS, RANKED, more, same, some_index
from cluster.killing import kill_head, kill_node, nodes_of, workers_of
from cluster.serving import SECRET, ranged_index
from dose import dose
from fader.cluster.hosts.frontend import Front
from fader.cluster.hosts.local_cluster import kill_pid
from fader.cluster.hosts.placement import place_groups
from fader.cluster.shards.collection import ShardedCollection
from fader.cluster.shards.groups import plan
from fader.cluster.wire.client import Shards
from fader.errors import IncompleteError
from fader.search.index import Index
from fader.serve.settings import Settings
from serve.live import running

pytestmark = [
    needs_ray, pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc"),
]  # fmt: skip
LONG = "takes minutes; FADER_DOSE=1 runs it"


@dataclass
class Service:
    """`fader cluster serve`, its log, and a service over the same folder on this machine."""

    cluster: Any
    process: subprocess.Popen[bytes]
    log: Path
    folder: Path
    url: str
    local: str

    def asked(self, path: str) -> httpx.Response:
        return httpx.get(self.url + path, timeout=60)

    def expected(self) -> dict[str, bytes]:
        return {path: same(httpx.get(self.local + path, timeout=60).content) for path in RANKED}

    def health(self) -> dict[str, Any]:
        found: dict[str, Any] = self.asked("/healthz").json()
        return found

    def count(self, name: str) -> int:
        """A count of /metrics."""
        lines = self.asked("/metrics").text.splitlines()
        return int(float(next(line.split()[1] for line in lines if line.startswith(f"fader_cluster_{name}"))))

    def logged(self, event: str) -> int:
        """How often the log has something."""
        return self.log.read_text().count(event)

    def until_whole(self, seconds: float = 120) -> None:
        """Wait until there are three nodes and every group has all replicas."""
        until(self.is_whole, seconds, lambda: (self.health(), self.log.read_text()[-2000:]))

    def is_whole(self) -> bool:
        health = self.health()
        return bool(health["status"] == "ok" and health["cluster"]["lacking"] == {} and health["cluster"]["nodes"] == 3)

    def controller(self) -> int:
        """The process of the controller."""
        from fader.cluster.hosts.local_cluster import children, command_of

        (found,) = [pid for pid in children(self.process.pid) if "fader.cluster.hosts.controller" in command_of(pid)]
        return found


def until(condition: Callable[[], bool], seconds: float = 120, told: Callable[[], object] = lambda: "") -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, told()
        time.sleep(0.05)


@pytest.fixture(scope="module")
def service(ray_cluster: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = some_index(tmp_path_factory.mktemp("serve") / "index")
    local = Settings(indexes={"index": folder}, time_ms=40_000, queue=100, watch_seconds=0.1)
    options = ("--groups", "4", "--timeout-ms", "40000", "--queue", "100", "--watch", "0.2")
    with start_host(ray_cluster, folder, *options) as (process, log, url), running(local) as here:
        yield Service(ray_cluster, process, log, folder, url, here)


@contextmanager
def start_host(cluster: Any, folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], Path, str]]:
    """`fader cluster serve` as a process, its log and its address."""
    log = folder.parent / "log"
    command = [sys.executable, "-m", "fader", "cluster", "serve", str(folder), "--address", cluster.address]
    env = {**os.environ, **cluster.environment}
    with (
        log.open("wb") as out,
        subprocess.Popen([*command, "--port", "0", *options], stderr=out, env=env) as process,
    ):
        try:
            until(lambda: " at http" in log.read_text() or process.poll() is not None, 300)
            assert process.poll() is None, log.read_text()
            yield process, log, log.read_text().split(" at ")[1].split()[0].rstrip("/")
        finally:
            process.terminate()
            try:
                process.wait(60)
            finally:
                process.kill()


@dataclass
class Load:
    """Clients that ask all the time: how often they were answered how, all different answers, and the longest wait."""

    service: Service
    statuses: Counter[str] = field(default_factory=Counter)
    answers: set[tuple[int, str, bytes]] = field(default_factory=set)
    longest: float = 0.0
    over: threading.Event = field(default_factory=threading.Event)

    def ask(self, seed: int) -> None:
        chance = random.Random(seed)
        with httpx.Client(base_url=self.service.url, timeout=60) as http:
            while not self.over.is_set():
                path = chance.choice(RANKED)
                began = time.monotonic()
                self.note(path, http.get(path))
                self.longest = max(self.longest, time.monotonic() - began)

    def note(self, path: str, reply: httpx.Response) -> None:
        if reply.status_code == 200:
            self.statuses["answered"] += 1
            self.answers.add((int(reply.headers["fader-commit"]), path, same(reply.content)))
        else:
            self.statuses[f"{reply.status_code} {reply.json()['error']['code']}"] += 1

    def check(self, expected: dict[int, dict[str, bytes]]) -> None:
        """Every answer is right, and what was refused was refused as incomplete."""
        assert self.statuses["answered"] > 0
        assert set(self.statuses) <= {"answered", "503 incomplete"}, self.statuses
        for commit, path, body in self.answers:
            assert body == expected[commit][path], (commit, path)


@contextmanager
def load(service: Service, clients: int = 2) -> Iterator[Load]:
    found = Load(service)
    threads = [threading.Thread(target=found.ask, args=(seed,)) for seed in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        found.over.set()
        for thread in threads:
            thread.join(120)


@pytest.mark.skipif(dose(4, 1) < 4, reason="test_whole.py has it by whole services; FADER_DOSE=1 runs this too")
def test_every_system_and_aggregator_by_hosts_of_three_nodes(
    ray_cluster: Any,
    tmp_path: Path,
    rankers: list[Any],
) -> None:
    """Rankings, evidence and explanations by each, cut into 1, 2, 4 and 8 groups of two replicas: the bits of one
    machine. The first test, as a node holds shards for one service.
    """
    from fader.cluster.hosts.actors import Given, start_host
    from fader.cluster.hosts.runtime import connect

    local = ranged_index(tmp_path / "index")
    folder, manifest = local.collection.folder, local.collection.manifest
    with connect(ray_cluster.address) as connection:
        import ray

        nodes = [node for node in connection.nodes() if node["Resources"].get("shards")]
        assert len(nodes) == 3
        named = {f"exact-{n}": node for n, node in enumerate(nodes)}
        handles = {name: start_host(ray, node, name, Given(SECRET, str(folder))) for name, node in named.items()}
        try:
            for groups in GROUPS:
                shards, cut = Shards(SECRET), plan(manifest, groups)
                places = place_groups(len(cut), {name: node["NodeID"] for name, node in named.items()}, 2)
                for name, handle in handles.items():
                    own = {g: cut[g] for g, hosts_of in enumerate(places) if name in hosts_of}
                    assert ray.get(handle.hold.remote(local.commit, own), timeout=100) == {}
                at = {name: ray.get(handle.about.remote(), timeout=100)["address"] for name, handle in handles.items()}
                shards.update(local.commit, [[at[name] for name in some] for some in places])
                index = Index(ShardedCollection(folder, shards))
                for n, ranker in enumerate(rankers):
                    query, kind = QUERIES[n % len(QUERIES)]
                    assert told(index, query, kind, ranker) == expected(local, query, kind, ranker), (groups, ranker)
                shards.close()
                for handle in handles.values():
                    ray.get(handle.retire.remote(local.commit), timeout=100)
        finally:
            for handle in handles.values():
                ray.kill(handle)
    until(lambda: hosts(ray_cluster) == [])


def test_every_answer_is_that_of_a_local_index(service: Service) -> None:
    """Byte for byte but for the time it took, by every system, errors included; health and counts show the cluster."""
    systems = [one["name"] for one in service.asked("/v1/systems").json()["systems"]]
    assert len(systems) > 10
    each = (f"/v1/search?q=violin+physics&k=3&snippets=1&model={name}" for name in systems)
    for path in (*RANKED, *OTHERS, *each, "/v1/stats"):
        here, there = httpx.get(service.local + path, timeout=60), service.asked(path)
        assert (there.status_code, same(there.content)) == (here.status_code, same(here.content)), path
    cluster = service.asked("/healthz").json()["cluster"]
    assert (cluster["groups"], cluster["replicas"], cluster["nodes"], cluster["lacking"]) == (4, 2, 3, {})
    counts = service.asked("/metrics").text
    assert "fader_cluster_groups 4.0" in counts
    assert "fader_cluster_lost_groups 0.0" in counts


def test_a_replica_that_hangs_is_hedged(service: Service) -> None:
    """A stopped process neither answers nor closes its connections: others are asked, and every answer is right."""
    expected, before = service.expected(), service.count("hedges")
    pid = hosts(service.cluster)[0]
    os.kill(pid, signal.SIGSTOP)
    try:
        longest = 0.0
        for path in RANKED:
            began = time.monotonic()
            reply = service.asked(path)
            longest = max(longest, time.monotonic() - began)
            assert same(reply.content) == expected[path]
    finally:
        os.kill(pid, signal.SIGCONT)
    print(f"\na replica hangs: the longest answer took {longest:.2f} s")
    assert service.count("hedges") > before
    service.until_whole()


def hosts(cluster: Any) -> list[int]:
    """The processes of the hosts."""
    from fader.cluster.hosts.local_cluster import command_of

    return [pid for pid in workers_of(cluster) if "ShardHost" in command_of(pid)]


def named_hosts(cluster: Any) -> list[str]:
    """The hosts that Ray knows."""
    from fader.cluster.hosts.runtime import connect

    with connect(cluster.address):
        import ray

        return sorted(one["name"] for one in ray.util.list_named_actors(all_namespaces=True) if "serve-" in one["name"])


def kill_actor(service: Service, chance: random.Random) -> None:
    """By Ray, as `ray.kill` ends actors."""
    from fader.cluster.hosts.runtime import connect

    name = chance.choice(named_hosts(service.cluster))
    with connect(service.cluster.address):
        import ray

        ray.kill(ray.get_actor(name, namespace="fader"), no_restart=False)


def kill_process(service: Service, chance: random.Random) -> None:
    """The process, as a lack of memory does."""
    kill_pid(chance.choice(hosts(service.cluster)))


def kill_machine(service: Service, chance: random.Random) -> None:
    """A node with all that is on it; another takes its place."""
    kill_node(service.cluster, chance.choice(nodes_of(service.cluster)))
    service.cluster.add_node()


def killed(service: Service, rounds: int, *kills: Callable[..., None]) -> None:
    """Under load, rounds of kills: right answers or 503 `incomplete`, none too late, and all groups are back."""
    service.until_whole()
    chance, slowest = random.Random(len(kills)), 0.0
    with load(service) as asked:
        for _ in range(rounds):
            began = time.monotonic()
            for kill in kills:
                before = service.logged("replicas changed")
                kill(service, chance)
                until(lambda before=before: service.logged("replicas changed") > before)  # type: ignore[misc]
            service.until_whole()
            slowest = max(slowest, time.monotonic() - began)
    names = ", ".join(kill.__name__ for kill in kills)
    print(f"\n{rounds} x {names}: {dict(asked.statuses)}; the longest answer took {asked.longest:.2f} s")
    print(f"all replicas were back after {slowest:.1f} s at most")
    asked.check({service.health()["indexes"]["index"]: service.expected()})


def test_whatever_is_killed_no_answer_is_wrong(service: Service) -> None:
    """An actor, a worker and a node in a row, so that groups may be without a replica for a while."""
    killed(service, dose(20, 1), kill_actor, kill_process, kill_machine)


@pytest.mark.parametrize("kill", [kill_actor, kill_process, kill_machine])
def test_one_loss_at_a_time_is_not_noticed(service: Service, kill: Callable[..., None]) -> None:
    """Each kind by itself, all replicas being back before the next: a long test."""
    if not dose(20, 0):
        pytest.skip(LONG)
    killed(service, dose(20, 0), kill)


def test_a_killed_controller_is_started_again(service: Service) -> None:
    """Hosts live on meanwhile: nothing is refused, and the next controller finds them where they are."""
    service.until_whole()
    before, restarts = hosts(service.cluster), service.count("controller_restarts")
    with load(service) as asked:
        os.kill(service.controller(), signal.SIGKILL)
        until(lambda: service.count("controller_restarts") > restarts)
        until(lambda: service.health()["cluster"]["controller"] == "up")
        service.until_whole()
    assert hosts(service.cluster) == before
    assert set(asked.statuses) == {"answered"}
    asked.check({service.health()["indexes"]["index"]: service.expected()})


def test_a_new_commit_is_switched_to_without_a_failed_answer(service: Service) -> None:
    """Each answer is whole and that of the commit it names; when nobody asks the old commit any more, it is retired."""
    service.until_whole()
    old = service.health()["indexes"]["index"]
    expected = {old: service.expected()}
    with load(service) as asked:
        until(lambda: asked.statuses["answered"] > 5)
        new = fader.add(service.folder, more(old), merge=False).commit
        until(lambda: service.health()["indexes"]["index"] == new)
        until(lambda: service.logged(f"commit retired commit={old}\n") >= 1)
        seen = asked.statuses["answered"]
        until(lambda: asked.statuses["answered"] > seen + 5)
    until(lambda: httpx.get(f"{service.local}/healthz", timeout=60).json()["indexes"]["index"] == new)
    expected[new] = service.expected()
    assert set(asked.statuses) == {"answered"}
    assert {commit for commit, _path, _body in asked.answers} == {old, new}
    assert expected[new] != expected[old]
    asked.check(expected)
    assert service.is_whole()


def test_a_killed_server_leaves_nothing(service: Service) -> None:
    """The controller ends with it, and the hosts with the controller. The last test of this service."""
    service.until_whole()
    controller = service.controller()
    service.process.kill()
    until(lambda: not os.path.exists(f"/proc/{controller}"))
    until(lambda: hosts(service.cluster) == [])


def test_a_killed_service_is_ended_by_the_lease_of_its_hosts(ray_cluster: Any, tmp_path: Path) -> None:
    """Server and controller are killed at once: nobody is left to end the hosts, so they do, and Ray starts none."""
    if not dose(20, 0):
        pytest.skip(LONG)
    folder = some_index(tmp_path / "index")
    program = (
        "import sys, time; from fader.cluster.hosts.frontend import Front\n"
        "with Front(sys.argv[1], sys.argv[2], lease_seconds=2.0) as front:\n"
        "    print(front._process.pid, flush=True); time.sleep(1000)"
    )
    command, env = (
        [sys.executable, "-c", program, str(folder), ray_cluster.address],
        os.environ | ray_cluster.environment,
    )
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        controller = int(process.stdout.readline())
        assert len(hosts(ray_cluster)) == 3
        process.send_signal(signal.SIGSTOP)  # so that it does not start another controller
        os.kill(controller, signal.SIGKILL)
        process.kill()
    until(lambda: hosts(ray_cluster) == [])
    until(lambda: named_hosts(ray_cluster) == [])
    assert hosts(ray_cluster) == []


@dataclass
class Answers:
    """What a front answers, asked all the time; each kind of answer once it changes."""

    front: Front
    expected: Any
    seen: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def ask(self) -> None:
        index = self.front.open_index()
        while not self.over.is_set():
            try:
                found = "right" if index.rank("violin physics") == self.expected else "wrong"
            except IncompleteError:
                found = "incomplete"
            if self.seen[-1:] != [found]:
                self.seen.append(found)
            time.sleep(0.01)


@contextmanager
def answers(front: Front, expected: Any) -> Iterator[Answers]:
    found = Answers(front, expected)
    thread = threading.Thread(target=found.ask)
    thread.start()
    try:
        yield found
    finally:
        found.over.set()
        thread.join(60)


def addresses(front: Front) -> set[str]:
    """The hosts that are asked."""
    return {address for replicas in front.shards.replicas(front.shards.commit) for address in replicas}


@pytest.mark.timeout(400)
@pytest.mark.parametrize("nodes_live_on", [True, False])
def test_a_killed_head_ends_in_an_error_and_the_service_comes_back(
    nodes_live_on: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The controller says in words that the head is gone, and is started again when one is at the same address.

    Meanwhile hosts that live are asked; where they are gone too, requests are refused. Afterwards all is as before,
    with the new nodes: those of the old head, if they live still, are ended by Ray.
    """
    if not dose(20, 0):
        pytest.skip(LONG)
    from fader.cluster.hosts.local_cluster import LocalCluster

    folder = some_index(tmp_path / "index")
    expected = fader.open(folder).rank("violin physics")
    old = LocalCluster(2)
    new = None
    try:
        for name, value in old.environment.items():
            monkeypatch.setenv(name, value)
        with (
            caplog.at_level("ERROR", "fader.cluster"),
            Front(folder, old.address, 2, 2, time_ms=4_000, patience=1.0) as front,
            answers(front, expected) as asked,
        ):
            until(lambda: asked.seen == ["right"])
            before = addresses(front)
            kill_head(old)
            until(lambda: bool(caplog.records))
            assert "the head of the cluster is gone" in str([vars(record) for record in caplog.records])
            until(lambda: front.health().controller == "down")
            assert front.health().status == "ok"
            assert asked.seen == ["right"]
            if not nodes_live_on:
                old.stop()
                until(lambda: asked.seen == ["right", "incomplete"])
                until(lambda: front.health().status == "incomplete")
            new = LocalCluster(2, token=old.token, port=int(old.address.rpartition(":")[2]))
            until(lambda: not before & addresses(front) and front.health().lacking == {}, 200)
            until(lambda: asked.seen[-1] == "right")
            print(f"\nthe head was killed, its nodes {'lived on' if nodes_live_on else 'too'}: {asked.seen}")
            assert "wrong" not in asked.seen
            assert front.health().status == "ok"
            assert front.health().nodes == 2
    finally:
        if new is not None:
            new.stop()
        old.stop()
