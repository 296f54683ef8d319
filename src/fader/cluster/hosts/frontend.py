"""A cluster as an HTTP server sees it: keeps a controller running, feeds its maps to the client, opens indexes.

    with Front(path, address="head:6379") as front:          waits until all groups are served
        index = front.open_index(limits)                     an Index, used like any other
        newer = front.newest(index)                          at the newest commit that is served

This process is not a Ray driver: it survives the loss of the head, and goes on with the hosts that are alive. A
controller that ends is started again once the head answers, after a pause that grows; one that sends nothing for
minutes is killed first. Hosts live on meanwhile. A commit is retired when nobody has an index of it open. Knows nothing
of HTTP.
"""

from __future__ import annotations

import logging
import os
import secrets
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from fader.cluster.hosts.actors import LEASE_SECONDS, index_path
from fader.cluster.hosts.cache import local_folder
from fader.cluster.hosts.messages import GroupMap, Message, Retire, ServiceState
from fader.cluster.hosts.runtime import PATIENCE_SECONDS, choose_address, parse_address, unreachable
from fader.cluster.hosts.service_state import Wanted
from fader.cluster.shards.collection import ShardedCollection
from fader.cluster.shards.requests import DescribeShard
from fader.cluster.wire.client import ClientSettings, Shards, error_of
from fader.cluster.wire.transport import Missing
from fader.errors import ClusterError, FaderError
from fader.limits import Limits
from fader.registry import worker_environment
from fader.search.health import ClusterHealth
from fader.search.index import Index

log = logging.getLogger("fader.cluster")
NEWEST = 2  # commits that are kept though nobody uses them: one may be about to be opened


@dataclass(frozen=True, slots=True)
class FrontSettings:
    """How the front runs its controller; times in seconds."""

    # Nothing is imported from the working folder.
    command: tuple[str, ...] = (sys.executable, "-P", "-m", "fader.cluster.hosts.controller")
    first_pause: float = 0.5  # before a controller is started again, doubled at each failure
    longest_pause: float = 15.0
    well_after: float = 30.0  # a controller that has run for so long resets the pause
    start: float = 300.0  # that may pass without a host that opens shards; nodes may have to compile kernels
    silent: float = 4.0  # without a message: it is stopped or busy, which health says
    hang: float = 300.0  # without a message: the controller hangs; it may have to copy a catalog first
    end: float = 20.0  # that a controller may take to end
    probe: float = 1.0
    group_patience: float = 10.0  # that a request waits for a group
    host_hang: float = 2.0  # after which a request asks another replica


class Front:
    """A service of one index. A request may take `time_ms`; the head may be away for `patience` seconds.

    A host answers `calls` at a time; 0: one per CPU of its node. Hosts end themselves when neither this process nor
    its controller has called them for `lease_seconds`.
    """

    def __init__(
        self,
        path: str | Path,
        address: str | None = None,
        groups: int = 0,
        replicas: int = 2,
        *,
        time_ms: float = 60_000.0,
        watch_seconds: float = 2.0,
        calls: int = 0,
        patience: float = PATIENCE_SECONDS,
        lease_seconds: float = LEASE_SECONDS,
        settings: FrontSettings | None = None,
    ) -> None:
        self.settings = own = settings or FrontSettings()
        secret, self._address = secrets.token_bytes(32), choose_address(address)
        if self._address != "local":
            parse_address(self._address)
        self._wanted = Wanted(
            index_path(str(path)),
            secret.hex(),
            f"serve-{secrets.token_hex(6)}",
            self._address,
            groups,
            replicas,
            calls,
            watch_seconds or 2.0,
            patience,
            lease_seconds,
        )
        # Where a group has no replica, a request must fail as "incomplete" before it runs out of time.
        patience, hang = min(1000 * own.group_patience, time_ms / 2), min(1000 * own.host_hang, time_ms / 4)
        self.shards = Shards(secret, ClientSettings(patience_ms=patience, hang_ms=hang))
        self._folder: Path | None = None
        self._maps: dict[int, GroupMap] = {}
        self._refused: dict[int, GroupMap] = {}  # maps that could not be applied, to be tried again
        self._state = ServiceState()
        self._opened: weakref.WeakSet[Index] = weakref.WeakSet()
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._changed = threading.Condition()
        self._error: FaderError | None = None
        self._is_up, self.restarts, self._heard_at = False, 0, 0.0
        self._moved_at = 0.0  # when a host last opened shards
        self._closing = threading.Event()
        self._is_told = False  # whether this controller has sent the map of the newest commit
        self._probed: list[bool] | None = None
        self._thread = threading.Thread(target=self._supervise, name="controller", daemon=True)

    def __enter__(self) -> Front:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def start(self, seconds: float | None = None) -> None:
        """Start the controller and wait until all groups are served; raises the error that prevents it.

        Gives up after some seconds in which no host opened shards. The first copy of an index may take hours.
        """
        seconds = self.settings.start if seconds is None else seconds
        self._moved_at = time.monotonic()
        self._thread.start()
        with self._changed:
            while not (self._maps or self._error) and (left := self._moved_at + seconds - time.monotonic()) > 0:
                self._changed.wait(left)
        if not self._maps:
            why = next((f" ({problem})" for problem in self._state.problems.values()), "")
            raise self._error or ClusterError(
                f"no host opened shards for {seconds:,.0f} s, and not all are served{why}; look at `ray status`"
            )

    def close(self) -> None:
        """End the controller, and with it the hosts."""
        self._closing.set()
        with self._lock:
            process = self._process
        if process is not None:
            _end_process(process, self.settings.end)
        if self._thread.is_alive():
            self._thread.join(self.settings.end)
        self.shards.close()

    # --- indexes ---------------------------------------------------------------------------------------------

    def open_index(self, limits: Limits | None = None, at: int | None = None, partial: bool = False) -> Index:
        """Open the index at the newest commit that is served."""
        if self._folder is None:
            raise ClusterError("the shards are not served yet; wait until the cluster is up")
        index = Index(ShardedCollection(self._folder, self.shards, at, allow_partial=partial), limits)
        with self._lock:
            self._opened.add(index)
        return index

    def open(self, folder: Path, limits: Limits) -> Index:
        """Open the index for a service; `folder` is not used, as a front has one index."""
        return self.open_index(limits)

    def newest(self, index: Index) -> Index:
        """The index at the newest commit that is served: the same object where it is at that commit."""
        return index if index.commit == self.shards.commit else self.open_index(index.limits)

    def partial(self, index: Index) -> Index:
        """The same commit, with answers from the groups that are there and a warning of those that are missing."""
        return self.open_index(index.limits, index.commit, partial=True)

    def find_damage(self, index: Index) -> str:
        """Nothing: hosts look after the files that they have open."""
        return ""

    # --- health ----------------------------------------------------------------------------------------------

    def health(self) -> ClusterHealth:
        """Which groups of the commit in use lack replicas; `status` is `incomplete` where one has none."""
        maps, probed, commit = self._maps, self._probed, self._commit()
        groups = maps[commit].groups if commit in maps else []
        count = [len(some) for some in groups]
        if probed is not None and len(probed) == len(count):
            count = [number if there else 0 for number, there in zip(count, probed, strict=True)]
        wanted = self._wanted.replicas
        lacking = {str(g): wanted - number for g, number in enumerate(count) if number < wanted}
        return ClusterHealth(
            status="ok" if count and all(count) else "incomplete",
            commit=commit,
            groups=len(groups),
            replicas=wanted,
            lacking=lacking,
            nodes=self._state.nodes,
            hosts=self._state.hosts,
            controller="down" if not self._is_up else "silent" if self._is_silent else "up",
        )

    @property
    def _is_silent(self) -> bool:
        return self._is_up and time.monotonic() - self._heard_at > self.settings.silent

    def _commit(self) -> int | None:
        """The newest commit that an open index uses, else the newest that is served; None before the first map."""
        with self._lock:
            used = [index.commit for index in self._opened]
        return max(used or self._maps, default=None)

    def counts(self) -> dict[str, int]:
        """Counts of calls to shards since the start."""
        names = ("calls", "hedges", "failovers", "incomplete")
        return {name: self.shards.counts[name] for name in names} | {"controller_restarts": self.restarts}

    # --- the controller --------------------------------------------------------------------------------------

    def _supervise(self) -> None:
        """Keep a controller running until the end."""
        pause = self.settings.first_pause
        threading.Thread(target=self._watch, name="controller watch", daemon=True).start()
        while not self._closing.is_set():
            began = time.monotonic()
            try:
                why = self._run_controller()
            except Exception as error:  # such as no memory for a process; this thread must go on
                why = ClusterError(f"the controller of the cluster cannot be run: {type(error).__name__}: {error}")
            if self._closing.is_set():
                return
            self._fail(why)
            is_well = time.monotonic() - began > self.settings.well_after
            pause = self.settings.first_pause if is_well else min(self.settings.longest_pause, 2 * pause)
            self._wait(pause)
            self.restarts += 1

    def _run_controller(self) -> FaderError:
        """Run a controller: send what to serve, handle its messages until it ends; returns why it ended."""
        self._heard_at, self._is_told = time.monotonic(), False
        with self._lock:
            if self._closing.is_set():
                return ClusterError("the service ends")
            process = self._process = subprocess.Popen(
                self.settings.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env={**os.environ, **worker_environment()},
                start_new_session=True,  # Ctrl-C is for this process; the controller ends after it
            )
        error: FaderError | None = None
        assert process.stdout is not None
        try:
            used = tuple((commit, told.files) for commit, told in self._maps.items())
            groups = self._wanted.groups or self._state.groups  # those of the maps in use
            self._send(replace(self._wanted, groups=groups, used=used))
            with process.stdout as lines:
                for line in lines:
                    self._heard_at = time.monotonic()
                    if line.endswith("\n"):  # else it was killed while writing
                        error = self._hear(msgspec.json.decode(line, type=Message)) or error
        finally:
            self._is_up = False
            _end_process(process, self.settings.end)
        return error or ClusterError(f"the controller of the cluster has ended (exit code {process.returncode})")

    def _watch(self) -> None:
        """Tell of a controller that is silent, ask shards instead of it, and kill it when it hangs."""
        was_silent = False
        while not self._closing.wait(min(1.0, self.settings.silent / 4)):
            process, is_silent = self._process, self._is_silent
            if is_silent:
                self._probe()
            if is_silent != was_silent:
                fields = {"seconds": round(time.monotonic() - self._heard_at, 1)}
                log.warning("controller silent" if is_silent else "controller heard", extra={"fields": fields})
            was_silent = is_silent
            if process is not None and time.monotonic() - self._heard_at > self.settings.hang:
                process.kill()

    def _send(self, order: Wanted | Retire) -> None:
        process = self._process
        if process is not None and process.stdin is not None:
            with suppress(OSError, ValueError):  # it has ended, and will be started again
                process.stdin.write(msgspec.json.encode(order).decode() + "\n")
                process.stdin.flush()

    def _hear(self, message: Message) -> FaderError | None:
        """Handle a message of the controller; returns the error, if it is one."""
        if message.error is not None:
            return error_of(message.kind, message.error)
        if message.map is not None:
            self._take_map(message.map)
        if message.state is not None:
            for told in [*self._refused.values()]:
                self._take_map(told)
            self._take_state(message.state)
        return None

    def _take_map(self, told: GroupMap) -> None:
        """Apply a map, now or later: a controller sends it only once."""
        commit, is_new = told.commit, told.commit not in self._maps
        try:
            if is_new:
                self._folder = local_folder(self._wanted.path, commit, [])  # manifest and catalog, before their use
            self.shards.update(commit, told.groups)
        except (FaderError, OSError) as error:
            if commit not in self._refused:
                log.error("map refused", extra={"fields": {"commit": commit, "problem": str(error)}})
            self._refused[commit] = told
            return
        self._refused.pop(commit, None)
        with self._changed:
            self._maps = {**self._maps, commit: told}
            if commit == max(self._maps):
                self._probed, self._is_told = None, True
            self._changed.notify_all()
        replicas = [len(group) for group in told.groups]
        fields = {"commit": commit, "groups": len(replicas), "least replicas": min(replicas)}
        log.info("commit opened" if is_new else "replicas changed", extra={"fields": fields})

    def _take_state(self, state: ServiceState) -> None:
        for kind, text in state.problems.items():
            if self._state.problems.get(kind) != text:
                log.warning("cluster", extra={"fields": {"problem": text}})
        self._state, self._is_up = state, True
        if state.opening:
            self._moved_at = time.monotonic()
        self._retire_old()
        if not self._is_told:
            self._probe()

    def _retire_old(self) -> None:
        """Retire commits that nobody uses: those before one that is in use, and all but the newest."""
        with self._lock:
            used = {index.commit for index in self._opened}
        first = max([*used, *sorted(self._maps)[-NEWEST:][:1]], default=0)  # the oldest to keep
        for commit in [c for c in self._maps if c not in used and c < first]:
            self.shards.forget(commit)
            self._maps = {c: told for c, told in self._maps.items() if c != commit}
            self._send(Retire(commit))  # if it is lost with its controller, the next one learns what is in use
            log.info("commit retired", extra={"fields": {"commit": commit}})

    def _fail(self, why: FaderError) -> None:
        if self._maps:  # else `start` raises it
            fields = {
                "problem": str(why),
                "next": "the controller is started again as soon as the cluster's head answers",
            }
            log.error("controller ended", extra={"fields": fields})
        with self._changed:
            self._error = why
            self._changed.notify_all()

    def _wait(self, pause: float) -> None:
        """Pause, and wait for the head."""
        until, is_remote = time.monotonic() + pause, self._address != "local"
        # Where nothing answers at the address of the head, a controller would fail.
        while not self._closing.is_set() and (
            time.monotonic() < until or (is_remote and unreachable(self._address, 1.0) is not None)
        ):
            self._probe()
            self._closing.wait(min(0.5, pause))

    def _probe(self) -> None:
        """Find out which groups answer, while no controller reports it."""
        with suppress(FaderError):
            answers = self.shards.call_all(
                DescribeShard(), commit=self._commit(), deadline_ms=1000 * self.settings.probe, allow_partial=True
            )
            self._probed = [not isinstance(answer, Missing) for answer in answers]


def _end_process(process: subprocess.Popen[str], seconds: float) -> None:
    """End a controller: close its input, which ends it, and kill it after some seconds."""
    with suppress(OSError, ValueError):
        if process.stdin is not None:
            process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    process.kill()
    process.wait()
