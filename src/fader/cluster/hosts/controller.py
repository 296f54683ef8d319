"""The controller of a service: the Ray driver, in its own process (`python -m fader.cluster.hosts.controller`).

    standard input    one JSON line with what to serve (`Wanted`), then {"retire": commit}; the controller ends with it
    standard output   JSON lines (`Message`):
                      {"map": {"commit", "files", "groups": [[address, ...], ...]}}   where a commit is served
                      {"state": {...}}                                                how the cluster is
                      {"error": text, "kind": class}                                  the last line, if any

Every half second it looks at nodes and hosts, every `watch_seconds` at commits. It keeps a host on each node that
offers `shards`, groups on hosts (placement.py), and a map of the replicas that answer. Hosts open a new commit beside
the old one; its map is sent when all its groups are held, and the old one is dropped when the reader of the output
retires it. When the head of the cluster is gone, the controller ends with an error, before Ray would end the process
without a message. Hosts that are alive go on, and the next controller with the same `service` finds them. Hosts are
told again and again to retire what nobody wants, so no order is lost for good. Knows nothing of HTTP or of queries.
"""

from __future__ import annotations

import math
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from fader import __version__
from fader.cluster.hosts.actors import RESOURCE, Given, Node, calls_of, start_host, starts_from, usable_nodes
from fader.cluster.hosts.messages import GroupMap, HostAbout, Message, Retire, ServiceState
from fader.cluster.hosts.placement import on_different_nodes, place_groups
from fader.cluster.hosts.runtime import Connection, connect, import_ray
from fader.cluster.hosts.service_state import (
    Commit,
    ControllerSettings,
    Host,
    HostCall,
    Wanted,
    describe_commit,
    newest_commit,
)
from fader.cluster.storage import mask_passwords
from fader.errors import ClusterError, FaderError

OTHER = "commit {} is no longer the one that is served; restart the service to serve another index"
Send = Callable[[Message], None]


class Controller:
    """Starts hosts, places groups on them, and sends maps."""

    def __init__(
        self, connection: Connection, wanted: Wanted, send: Send, settings: ControllerSettings | None = None
    ) -> None:
        self._connection, self._wanted, self._send = connection, wanted, send
        self.settings = settings or ControllerSettings()
        self._ray = import_ray()
        self._hosts: dict[str, Host] = {}
        self._commits: dict[int, Commit] = {}
        self._groups = wanted.groups
        self._problems: dict[str, str] = {}
        self._looked, self._reported = 0.0, 0.0
        self._used = dict(wanted.used)
        self._state = ServiceState()

    def run(self, orders: queue.Queue[Retire | None]) -> None:
        """Run until the order is None, or nobody reads the output any more."""
        while True:
            began = time.monotonic()
            try:
                self.turn()
            except BrokenPipeError:
                return self.end()
            try:
                order = orders.get(timeout=max(0.01, self.settings.period - (time.monotonic() - began)))
            except queue.Empty:
                continue
            if order is None:
                return self.end()
            self.retire(order.retire)

    def turn(self) -> None:
        """Look at everything once, and do what is to be done."""
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
        """Drop a commit that nobody uses; the newest one stays."""
        self._used.pop(number, None)
        if number != max(self._commits, default=number):
            self._commits.pop(number, None)
        self._retire_unknown()

    def end(self) -> None:
        """End the hosts."""
        if not self._connection.is_silent:
            for host in self._hosts.values():
                self._kill(host, restart=False)

    # --- nodes and hosts -------------------------------------------------------------------------------------

    def _look_for_nodes(self) -> None:
        """Keep one host per unit of `shards` on each node; drop hosts whose node has gone."""
        wanted = {
            f"{self._wanted.service}-{node['NodeID'][:16]}-{i}": node
            for node in usable_nodes(self._connection.nodes())
            for i in range(max(1, int(node["Resources"].get(RESOURCE, 1))))
        }
        for name in [name for name in self._hosts if name not in wanted]:
            self._kill(self._hosts.pop(name), restart=False)
        for name, node in wanted.items():
            if name not in self._hosts:
                self._hosts[name] = Host(name, node, self._start(name, node), self.settings)
        if not self._groups and self._hosts:
            self._groups = len(self._hosts)

    def _start(self, name: str, node: Node) -> Any:
        wanted, address = self._wanted, node["NodeManagerAddress"]
        calls, lease = wanted.calls or calls_of(node), wanted.lease_seconds
        given = Given(bytes.fromhex(wanted.secret), wanted.path, address, calls, lease_seconds=lease)
        return start_host(self._ray, node, name, given)

    def _kill(self, host: Host, restart: bool) -> None:
        with suppress(Exception):  # the host has gone already, or the head has and the host will end by itself
            self._ray.kill(host.handle, no_restart=not restart)

    def _ping(self) -> None:
        """Ask all hosts what they hold; an answer may also come at a later turn."""
        for host in self._hosts.values():
            if host.ping is None:
                host.ping = HostCall(host.handle.about.remote())
        calls = {host.ping.ref: host for host in self._hosts.values() if host.ping is not None}
        if not calls:
            return
        done, _waiting = self._ray.wait(list(calls), num_returns=len(calls), timeout=self.settings.period)
        for ref in done:
            calls[ref].ping = None
            self._hear(calls[ref], self._answer(ref))
        for host in self._hosts.values():
            if host.heard is not None and host.silent() > self.settings.hanging_after:
                self._kill(host, restart=True)
                host.ping, host.heard, host.made = None, None, time.monotonic()
                host.forget()
            elif host.heard is None and host.silent() > self.settings.starting and not host.problem:
                host.problem = (
                    f"a node has not started its host for {self.settings.starting:.0f} s; another service may use its "
                    f"{RESOURCE!r}, see `ray status`"
                )

    def _hear(self, host: Host, answer: Any) -> None:
        if isinstance(answer, Exception):
            self._miss(host, answer)
            return
        host.failing = None
        about = msgspec.convert(answer, HostAbout)
        if about.fader != __version__:
            host.forget()
            host.problem = f"a node has Fader {about.fader}, not {__version__}; install the same release on all nodes"
            return
        if about.address != host.address:
            host.work, host.again = None, 0.0  # a new process, which has not heard the calls to the old one
        host.problem, host.heard, host.address = "", time.monotonic(), about.address
        host.held, host.files = frozenset(about.held), about.files

    def _miss(self, host: Host, error: Exception) -> None:
        """Note a failed call. Ray restarts a host; where it has given up, as after a failed start, start it here."""
        host.forget()
        if host.heard is None:
            host.problem = f"a host cannot be started: {_join_lines(error)}"
        now = time.monotonic()
        host.failing = host.failing or now
        if now - host.failing >= self.settings.retry and not self._connection.is_silent:
            host.handle, host.failing = self._start(host.name, host.place), now  # the same actor, if Ray still has it

    def _answer(self, ref: Any) -> Any:
        try:
            return self._ray.get(ref, timeout=1.0)
        except self._ray.exceptions.RayError as error:
            return error

    # --- commits ---------------------------------------------------------------------------------------------

    def _look_for_commits(self) -> None:
        """Find the newest commit, beside those that are in use.

        A commit that hosts are opening is served before a newer one: where commits come fast, none would be served
        otherwise. It is dropped for a newer one only if it cannot be opened.
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
                # Taken over from the controller before; hosts go on with it even if its files have been removed.
                with suppress(FaderError, OSError):
                    found = describe_commit(self._wanted.path, number, self._groups)
                    if found.files == self._used[number]:
                        self._commits[number] = found
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

    def _retire_unknown(self) -> None:
        """Tell hosts to drop commits that nobody uses, and groups that others hold; repeated until they have."""
        for host in self._hosts.values():
            for number in {number for number, _group in host.held} - {*self._commits, *self._used}:
                host.handle.retire.remote(number)
            for commit in self._commits.values():
                moved = self._find_moved(host, commit)
                if moved:
                    host.handle.retire.remote(commit.number, moved)

    def _find_moved(self, host: Host, commit: Commit) -> list[int]:
        """Groups that a host still holds, though the right hosts have held them for a while."""
        if commit.told is None or time.monotonic() - commit.settled < self.settings.settled:
            return []
        each = enumerate(zip(commit.places, commit.told, strict=True))
        spare = [g for g, (places, told) in each if told and host.name not in places and host.address not in told]
        return [g for g in spare if (commit.number, g) in host.held]

    # --- groups ----------------------------------------------------------------------------------------------

    def _place(self) -> None:
        usable = {name: host.node for name, host in self._hosts.items() if host.is_usable}
        for commit in self._commits.values():
            # At first groups stay on the hosts that hold them, since a controller before this one.
            before = commit.places or [
                [name for name, host in self._hosts.items() if host.holds(commit, g)] for g in range(len(commit.groups))
            ]
            commit.places = place_groups(len(commit.groups), usable, self._wanted.replicas, before)
        newest = self._commits.get(max(self._commits, default=0))
        if newest is None or on_different_nodes(newest.places, usable, self._wanted.replicas):
            self._problems.pop("replicas", None)
        else:
            nodes = len(set(usable.values()))
            self._problems["replicas"] = (
                f"{self._wanted.replicas} replicas need as many nodes that offer {RESOURCE!r}, and hosts run on "
                f"{nodes}; if one node fails, a group may be lost; add nodes, or pass fewer --replicas"
            )

    def _give_work(self) -> None:
        """Let each host that answers open what it does not hold yet; one call at a time."""
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
                host.trouble = ""  # what it could not open is not needed any more

    def _give(self, host: Host, commit: Commit, missing: list[int]) -> bool:
        if commit.starts is not None:
            groups = {g: commit.groups[g] for g in missing}
            called = host.handle.hold.remote(commit.number, groups, commit.starts, commit.files)
            host.work = HostCall(called, commit.number)
            return True
        # An index in an object store: its ranges of ids are read on the hosts that copy it.
        there = {name for name, other in self._hosts.items() if other.is_there and other is not host}
        first = [g for g in missing if commit.places[g][0] not in there]
        unknown = [s for g in first for s in commit.groups[g] if s not in commit.ranges]
        if unknown:
            host.work = HostCall(host.handle.ranges.remote(commit.number, unknown), commit.number, unknown)
        return bool(unknown)

    def _take_work(self) -> None:
        """Take the results of the calls that hosts have finished."""
        for host in self._hosts.values():
            work = host.work
            if work is None or not self._ray.wait([work.ref], timeout=0)[0]:
                continue
            host.work, answer, commit = None, self._answer(work.ref), self._commits.get(work.commit)
            if isinstance(answer, Exception):
                host.trouble = f"a host failed while it opened shards: {_join_lines(answer)}"
            elif not work.segments:
                host.trouble = next(iter(answer.values()), "")
            elif isinstance(answer, str):
                host.trouble = answer
            else:
                host.trouble = ""
                if commit is not None:
                    commit.ranges.update(zip(work.segments, answer, strict=True))
                    if len(commit.ranges) == commit.segments:
                        commit.starts = starts_from([commit.ranges[s] for s in range(commit.segments)])
            host.again = time.monotonic() + self.settings.retry if host.trouble else 0.0

    def _trouble(self) -> str:
        return next((host.trouble for host in self._hosts.values() if host.trouble), "")

    # --- maps and states -------------------------------------------------------------------------------------

    def _publish(self) -> None:
        for number, commit in sorted(self._commits.items()):
            groups = [self._addresses(commit, hosts, g) for g, hosts in enumerate(commit.places)]
            if groups != commit.told and (commit.told is not None or self._is_ready(commit, groups)):
                commit.told, commit.settled = groups, time.monotonic()
                self._send(Message(map=GroupMap(number, groups, commit.files)))
        there = [host for host in self._hosts.values() if host.is_there]
        state = ServiceState(
            nodes=len({host.node for host in there}),
            hosts=len(there),
            groups=self._groups,
            opening=sum(host.work is not None and not host.trouble for host in there),
            problems=self._all_problems(),
        )
        if state != self._state or time.monotonic() - self._reported > self.settings.report_every:
            self._state, self._reported = state, time.monotonic()
            self._send(Message(state=state))

    def _all_problems(self) -> dict[str, str]:
        """All problems by kind; of those of hosts one per kind."""
        problem = next((host.problem for host in self._hosts.values() if host.problem), "")
        since = min((host.work.since for host in self._hosts.values() if host.work is not None), default=math.inf)
        limit = self.settings.slow
        is_slow = time.monotonic() - since > limit
        slow = f"a host has been opening shards for more than {limit:.0f} s; look at its storage" if is_slow else ""
        of_hosts = {"host": problem, "shards": self._trouble(), "slow": slow}
        return {**self._problems, **{what: text for what, text in of_hosts.items() if text}}

    def _addresses(self, commit: Commit, places: list[str], group: int) -> list[str]:
        """Replicas of a group that answer: those that it is placed on; while some are missing, any that hold it."""
        holding = [host for host in self._hosts.values() if host.is_there and host.holds(commit, group)]
        lively = [host for host in holding if host.silent() < self.settings.silent_after] or holding
        placed_here = [host.address for name in places for host in lively if host.name == name]
        return placed_here if len(placed_here) == len(places) else sorted(host.address for host in lively)

    def _is_ready(self, commit: Commit, groups: list[list[str]]) -> bool:
        """Whether the first map of a commit can be sent: all groups are held, and all replicas or the wait is over."""
        is_whole = bool(groups) and all(groups)
        all_there = all(len(some) >= len(places) for some, places in zip(groups, commit.places, strict=True))
        return is_whole and (all_there or time.monotonic() - commit.seen > self.settings.all_replicas)


def _join_lines(error: Exception) -> str:
    return " ".join(str(error).split())[-400:]


def main() -> int:
    """Serve what the first line of standard input asks for, until the input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not mix with the messages

    def send(message: Message) -> None:
        out.write(msgspec.json.encode(message).decode() + "\n")
        out.flush()

    orders: queue.Queue[Retire | None] = queue.Queue()
    try:
        wanted = msgspec.json.decode(sys.stdin.readline(), type=Wanted)
        ending = ControllerSettings().ending
        threading.Thread(target=_read_orders, args=(orders, ending), name="orders", daemon=True).start()
        with connect(wanted.address, patience=wanted.patience) as connection:
            Controller(connection, wanted, send).run(orders)
    except FaderError as error:
        send(Message(error=str(error), kind=type(error).__name__))
        return 1
    except Exception as error:  # Ray raises many things when its head goes
        send(Message(error=f"the controller failed: {type(error).__name__}: {error}"))
        return 1
    return 0


def _read_orders(orders: queue.Queue[Retire | None], ending: float) -> None:
    """Read orders from standard input. When it ends, so must this process, after `ending` seconds by force."""
    try:
        for line in sys.stdin:
            orders.put(msgspec.json.decode(line, type=Retire))
    finally:  # also after a line that is no order: no later one would be read
        orders.put(None)
        time.sleep(ending)
        os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
