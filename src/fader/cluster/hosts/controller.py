"""The controller of a service: the Ray driver, in a process of its own (`python -m fader.cluster.hosts.controller`).

    standard input    one JSON line with all that is wanted (`Wanted`), then {"retire": commit}; its end is our end
    standard output   JSON lines: {"map": {"commit", "files", "groups": [[address, ...], ...]}}   where one is served
                                  {"state": {...}}                                                how the cluster is
                                  {"error": text, "kind": class}                                  the last line, if any

Every half second it looks at nodes and hosts, every `watch_seconds` at commits, and does what is missing: a host on
each node that offers `shards`, groups on hosts (placement.py), a map that names the replicas that answer. A new commit
is held beside the old one, and its map is told when all groups of it are held; the old one goes when the reader of our
output says so. When the head is gone it ends with an error, before Ray would end it without a word; hosts that are
alive then go on, and are found again by whoever is started next with the same `service`. What hosts hold and nobody
wants is retired, so that no order can be lost for good. Knows nothing of HTTP or of queries.
"""

from __future__ import annotations

import json
import math
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from fader import __version__
from fader.cluster.hosts.actors import RESOURCE, Given, calls_of, start_host, starts_from
from fader.cluster.hosts.placement import Placed, on_different_nodes, place_groups
from fader.cluster.hosts.runtime import Connection, connect, import_ray
from fader.cluster.hosts.service_state import STARTING, Call, Commit, Host, Wanted, describe_commit, newest_commit
from fader.cluster.storage import mask_passwords
from fader.errors import ClusterError, FaderError

PERIOD = 0.5
TOLD_EVERY = 2.0  # seconds between two states, also where nothing has changed
SILENT = 5.0  # without an answer a host is not named any more, where there are others
HANGING = 30.0  # without an answer a host is ended, so that Ray starts it again
ALL_REPLICAS = 20.0  # a new commit waits for its last replicas
AGAIN = 5.0  # after a host could not open something, or cannot be started
SETTLED = 60.0  # after a map is told, nobody asks by the one before
SLOW = 300.0  # that a host opens something is told as a problem
ENDING = 15.0
OTHER = "commit {} is no longer the one that is served; start the service again to serve another index"
Tell = Callable[[dict[str, Any]], None]


class Controller:
    """Turns what is wanted into hosts, groups on them, and maps."""

    def __init__(self, connection: Connection, wanted: Wanted, tell: Tell) -> None:
        self._connection, self._wanted, self._tell = connection, wanted, tell
        self._ray = import_ray()
        self._hosts: dict[str, Host] = {}
        self._commits: dict[int, Commit] = {}
        self._groups = wanted.groups
        self._problems: dict[str, str] = {}
        self._looked, self._told = 0.0, 0.0
        self._used = dict(wanted.used)
        self._state: dict[str, Any] = {}

    def run(self, orders: queue.Queue[dict[str, Any] | None]) -> None:
        """Until there is an order None, or nobody listens any more."""
        while True:
            began = time.monotonic()
            try:
                self.turn()
            except BrokenPipeError:
                return self.end()
            try:
                order = orders.get(timeout=max(0.01, PERIOD - (time.monotonic() - began)))
            except queue.Empty:
                continue
            if order is None:
                return self.end()
            self.retire(int(order["retire"]))

    def turn(self) -> None:
        """Look at everything once, and do what is missing."""
        self._connection.check()
        if not self._connection.is_silent:
            self._look_for_nodes()
        self._look_for_commits()
        self._ping()
        self._take_work()
        self._place()
        self._give_work()
        self._retire_unknown()
        self._publish()

    def retire(self, number: int) -> None:
        """A commit is not asked any more; the newest stays all the same."""
        self._used.pop(number, None)
        if number != max(self._commits, default=number):
            self._commits.pop(number, None)
        self._retire_unknown()

    def end(self) -> None:
        """End the hosts; nobody will ask them any more."""
        if not self._connection.is_silent:
            for host in self._hosts.values():
                self._kill(host, restart=False)

    # --- nodes and hosts -------------------------------------------------------------------------------------

    def _look_for_nodes(self) -> None:
        """A host for each `shards` of each node; none on nodes that have gone."""
        nodes = self._connection.nodes()
        offering = [node for node in nodes if node["Resources"].get(RESOURCE)] or [n for n in nodes if _works(n)]
        wanted = {
            f"{self._wanted.service}-{node['NodeID'][:16]}-{i}": node
            for node in offering
            for i in range(max(1, int(node["Resources"].get(RESOURCE, 1))))
        }
        for name in [name for name in self._hosts if name not in wanted]:
            self._kill(self._hosts.pop(name), restart=False)
        for name, node in wanted.items():
            if name not in self._hosts:
                self._hosts[name] = Host(name, node, self._start(name, node))
        if not self._groups and self._hosts:
            self._groups = len(self._hosts)

    def _start(self, name: str, node: Mapping[str, Any]) -> Any:
        wanted, address = self._wanted, node["NodeManagerAddress"]
        calls, lease = wanted.calls or calls_of(node), wanted.lease_seconds
        given = Given(bytes.fromhex(wanted.secret), wanted.path, address, calls, lease_seconds=lease)
        return start_host(self._ray, node, name, given)

    def _kill(self, host: Host, restart: bool) -> None:
        with suppress(Exception):  # it has gone already; or the head has, and the host will end by itself
            self._ray.kill(host.handle, no_restart=not restart)

    def _ping(self) -> None:
        """Ask all hosts how they are; those that do not answer now may answer at the next turn."""
        for host in self._hosts.values():
            if host.ping is None:
                host.ping = Call(host.handle.about.remote())
        calls = {host.ping.ref: host for host in self._hosts.values() if host.ping is not None}
        if not calls:
            return
        done, _waiting = self._ray.wait(list(calls), num_returns=len(calls), timeout=PERIOD)
        for ref in done:
            calls[ref].ping = None
            self._hear(calls[ref], self._answer(ref))
        for host in self._hosts.values():
            if host.heard is not None and host.silent() > HANGING:
                self._kill(host, restart=True)
                host.ping, host.heard, host.made = None, None, time.monotonic()
                host.forget()
            elif host.heard is None and host.silent() > STARTING and not host.problem:
                taken = f"its {RESOURCE!r} may be taken by another service"
                host.problem = f"a node has not started its host for {STARTING:.0f} s; {taken}, see `ray status`"

    def _hear(self, host: Host, answer: Any) -> None:
        if isinstance(answer, Exception):
            self._miss(host, answer)
            return
        host.failing = None
        if answer["fader"] != __version__:
            host.forget()
            has = f"a node has Fader {answer['fader']}, not {__version__}"
            host.problem = f"{has}; install the same release on all nodes"
            return
        if answer["address"] != host.address:
            host.work, host.again = None, 0.0  # it is a new process, which knows nothing of what was asked
        host.problem, host.heard, host.address = "", time.monotonic(), answer["address"]
        host.held, host.files = frozenset((commit, group) for commit, group in answer["held"]), answer["files"]

    def _miss(self, host: Host, error: Exception) -> None:
        """Ray starts a host again, if its node is there; where it has given up, as when a start failed, we must."""
        host.forget()
        if host.heard is None:
            host.problem = f"a host cannot be started: {_line(error)}"
        now = time.monotonic()
        host.failing = host.failing or now
        if now - host.failing >= AGAIN and not self._connection.is_silent:
            host.handle, host.failing = self._start(host.name, host.place), now  # the same, if Ray has it still

    def _answer(self, ref: Any) -> Any:
        try:
            return self._ray.get(ref, timeout=1.0)
        except self._ray.exceptions.RayError as error:
            return error

    # --- commits ---------------------------------------------------------------------------------------------

    def _look_for_commits(self) -> None:
        """The newest commit, beside those that are asked.

        One that is being opened is served before a newer one is: where commits come fast, none might be otherwise. It
        is dropped only if it cannot be opened, since a newer one may be without what is wrong.
        """
        now = time.monotonic()
        if not self._groups or (self._commits and now - self._looked < self._wanted.watch_seconds):
            return
        self._looked = now
        untold = [n for n, commit in self._commits.items() if commit.told is None]
        if untold and not self._trouble():
            return
        try:
            for number in [n for n in self._used if n not in self._commits]:
                self._take_used(number)
            newest = newest_commit(self._wanted.path)
            if newest not in self._commits:
                if newest in self._used:
                    raise ClusterError(f"{mask_passwords(self._wanted.path)}: {OTHER.format(newest)}")
                self._commits[newest] = describe_commit(self._wanted.path, newest, self._groups)
                self._commits = {n: c for n, c in self._commits.items() if n not in untold or n in self._used}
            self._problems.pop("index", None)
        except (FaderError, OSError) as error:
            if not self._commits and not self._used:
                raise
            self._problems["index"] = str(error)

    def _take_used(self, number: int) -> None:
        """A commit that a controller before us served; hosts go on with it also where its files are no longer there."""
        with suppress(FaderError, OSError):
            found = describe_commit(self._wanted.path, number, self._groups)
            if found.files == self._used[number]:
                self._commits[number] = found

    def _retire_unknown(self) -> None:
        """Hosts hold no commit that nobody wants, nor groups that others hold; told until that is so."""
        for host in self._hosts.values():
            for number in {number for number, _group in host.held} - {*self._commits, *self._used}:
                host.handle.retire.remote(number)
            for commit in self._commits.values():
                moved = self._find_moved(host, commit)
                if moved:
                    host.handle.retire.remote(commit.number, moved)

    def _find_moved(self, host: Host, commit: Commit) -> list[int]:
        """Groups that a host holds still, though they are held where they should be, and have been for a while."""
        if commit.told is None or time.monotonic() - commit.settled < SETTLED:
            return []
        each = enumerate(zip(commit.places, commit.told, strict=True))
        spare = [g for g, (places, told) in each if told and host.name not in places and host.address not in told]
        return [g for g in spare if (commit.number, g) in host.held]

    # --- groups ----------------------------------------------------------------------------------------------

    def _place(self) -> None:
        usable = {name: host.node for name, host in self._hosts.items() if host.is_usable}
        for commit in self._commits.values():
            before = commit.places or self._find_held(commit)
            commit.places = place_groups(len(commit.groups), usable, self._wanted.replicas, before)
        newest = self._commits.get(max(self._commits, default=0))
        if newest is None or on_different_nodes(newest.places, usable, self._wanted.replicas):
            self._problems.pop("replicas", None)
        else:
            nodes = len(set(usable.values()))
            wanted = f"{self._wanted.replicas} replicas need as many nodes that offer {RESOURCE!r}"
            self._problems["replicas"] = (
                f"{wanted}, and of {nodes} a host has been started; a group may be lost with one"
            )

    def _find_held(self, commit: Commit) -> Placed:
        """Where groups are held already, for a controller before us."""
        every = range(len(commit.groups))
        return [[name for name, host in self._hosts.items() if host.holds(commit, g)] for g in every]

    def _give_work(self) -> None:
        """Tell each host that is there what it does not hold yet; one thing at a time."""
        now = time.monotonic()
        for host in self._hosts.values():
            if host.work is not None or not host.is_there or now < host.again:
                continue
            for number in sorted(self._commits, reverse=True):
                commit = self._commits[number]
                own = [g for g, hosts in enumerate(commit.places) if host.name in hosts]
                missing = [g for g in own if not host.holds(commit, g)]
                if missing and self._give(host, commit, missing):
                    break
            else:
                host.trouble = ""  # what it could not open is not wanted any more

    def _give(self, host: Host, commit: Commit, missing: list[int]) -> bool:
        if commit.starts is not None:
            groups = {g: commit.groups[g] for g in missing}
            host.work = Call(host.handle.hold.remote(commit.number, groups, commit.starts, commit.files))
            host.work_of = commit.number, "hold"
            return True
        # An index that is copied: ranges of ids are found where the copies will be.
        first = [g for g in missing if commit.places[g][0] == host.name or self._is_lost(commit.places[g][0])]
        unknown = [s for g in first for s in commit.groups[g] if s not in commit.ranges]
        if unknown:
            host.work = Call((host.handle.ranges.remote(commit.number, unknown), unknown))
            host.work_of = commit.number, "ranges"
        return bool(unknown)

    def _is_lost(self, name: str) -> bool:
        return name not in self._hosts or not self._hosts[name].is_there

    def _take_work(self) -> None:
        """What hosts have done."""
        for host in self._hosts.values():
            if host.work is None:
                continue
            number, kind = host.work_of
            ref, unknown = host.work.ref if kind == "ranges" else (host.work.ref, [])
            if not self._ray.wait([ref], timeout=0)[0]:
                continue
            host.work, answer = None, self._answer(ref)
            if isinstance(answer, Exception):
                host.trouble = f"a host failed while it opened shards: {_line(answer)}"
            elif kind == "ranges":
                host.trouble = answer if isinstance(answer, str) else ""
                self._take_ranges(number, unknown, answer)
            else:
                host.trouble = next(iter(answer.values()), "")
            host.again = time.monotonic() + AGAIN if host.trouble else 0.0

    def _take_ranges(self, number: int, segments: list[int], answer: Any) -> None:
        commit = self._commits.get(number)
        if commit is not None and not isinstance(answer, str):
            commit.ranges.update(zip(segments, answer, strict=True))
            if len(commit.ranges) == commit.segments:
                commit.starts = starts_from([commit.ranges[s] for s in range(commit.segments)])

    def _trouble(self) -> str:
        return next((host.trouble for host in self._hosts.values() if host.trouble), "")

    # --- what is told ----------------------------------------------------------------------------------------

    def _publish(self) -> None:
        for number, commit in sorted(self._commits.items()):
            groups = [self._addresses(commit, hosts, g) for g, hosts in enumerate(commit.places)]
            if groups != commit.told and (commit.told is not None or self._is_ready(commit, groups)):
                commit.told, commit.settled = groups, time.monotonic()
                self._tell({"map": {"commit": number, "groups": groups, "files": commit.files}})
        there = [host for host in self._hosts.values() if host.is_there]
        state = {
            "nodes": len({host.node for host in there}),
            "hosts": len(there),
            "groups": self._groups,
            "opening": sum(host.work is not None and not host.trouble for host in there),
            "problems": self._all_problems(),
        }
        if state != self._state or time.monotonic() - self._told > TOLD_EVERY:
            self._state, self._told = state, time.monotonic()
            self._tell({"state": state})

    def _all_problems(self) -> dict[str, str]:
        """What is wrong; of hosts one problem of each kind."""
        problem = next((host.problem for host in self._hosts.values() if host.problem), "")
        since = min((host.work.since for host in self._hosts.values() if host.work is not None), default=math.inf)
        is_slow = time.monotonic() - since > SLOW
        slow = f"a host has been opening shards for more than {SLOW:.0f} s; look at its storage" if is_slow else ""
        of_hosts = {"host": problem, "shards": self._trouble(), "slow": slow}
        return {**self._problems, **{what: text for what, text in of_hosts.items() if text}}

    def _addresses(self, commit: Commit, places: list[str], group: int) -> list[str]:
        """Replicas that answer: those that are to hold a group, and while there are too few of them any others."""
        holding = [host for host in self._hosts.values() if host.is_there and host.holds(commit, group)]
        lively = [host for host in holding if host.silent() < SILENT] or holding
        placed_here = [host.address for name in places for host in lively if host.name == name]
        return placed_here if len(placed_here) == len(places) else sorted(host.address for host in lively)

    def _is_ready(self, commit: Commit, groups: list[list[str]]) -> bool:
        """Whether a commit can be told for the first time: all groups are there, and soon all replicas."""
        is_whole = bool(groups) and all(groups)
        all_there = all(len(some) >= len(places) for some, places in zip(groups, commit.places, strict=True))
        return is_whole and (all_there or time.monotonic() - commit.seen > ALL_REPLICAS)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[-400:]


def _works(node: Mapping[str, Any]) -> bool:
    return bool(node["Resources"].get("CPU", 0) > 0)


def main() -> int:
    """Serve what the first line of standard input wants, until its end."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what others print is no part of what we tell

    def tell(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    orders: queue.Queue[dict[str, Any] | None] = queue.Queue()
    try:
        wanted = Wanted(**json.loads(sys.stdin.readline()))
        threading.Thread(target=_read, args=(orders,), name="orders", daemon=True).start()
        with connect(wanted.address, patience=wanted.patience) as connection:
            Controller(connection, wanted, tell).run(orders)
    except FaderError as error:
        tell({"error": str(error), "kind": type(error).__name__})
        return 1
    except Exception as error:  # Ray raises many things when its head goes
        tell({"error": f"the controller failed: {type(error).__name__}: {error}", "kind": "ClusterError"})
        return 1
    return 0


def _read(orders: queue.Queue[dict[str, Any] | None]) -> None:
    """Orders from standard input; where its writer has gone, so must we, whatever hangs."""
    try:
        for line in sys.stdin:
            orders.put(json.loads(line))
    finally:  # also after a line that is no order: nobody would hear the next one
        orders.put(None)
        time.sleep(ENDING)
        os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
