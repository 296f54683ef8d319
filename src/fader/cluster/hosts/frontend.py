"""A cluster as an HTTP server sees it: the controller kept running, its maps fed to the client, indexes over shards.

    with Front(path, address="head:6379") as front:          waits until all groups are served
        index = front.open_index(limits)                         an Index, asked like any other
        newer = front.newest(index)                          at the newest commit that is served

The process that has it is no Ray driver: it survives the head, and goes on with the hosts that are alive. A controller
that ends is started again, after a pause that grows and when there is a head; one that says nothing for minutes is
ended first. Hosts live on meanwhile. An old commit is retired when nobody holds an index of it any more. Knows nothing
of HTTP.
"""

from __future__ import annotations

import json
import logging
import secrets
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from fader.cluster.hosts.actors import LEASE_SECONDS, index_path
from fader.cluster.hosts.cache import local_folder
from fader.cluster.hosts.runtime import PATIENCE_SECONDS, choose_address, parse_address, unreachable
from fader.cluster.hosts.service_state import Wanted
from fader.cluster.shards.collection import ShardedCollection
from fader.cluster.wire.client import ClientSettings, Shards, error_of
from fader.cluster.wire.transport import Missing
from fader.errors import ClusterError, FaderError
from fader.limits import Limits
from fader.search.index import Index

log = logging.getLogger("fader.cluster")
COMMAND = (sys.executable, "-P", "-m", "fader.cluster.hosts.controller")  # nothing is imported from the working folder
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0
WELL = 30.0  # seconds that a controller must have run for the pause to begin anew
START_SECONDS = 300.0  # without a host that opens shards; kernels may have to be compiled on the nodes
HUSH_SECONDS = 300.0  # a controller that has said nothing for so long hangs; it may copy a catalog before that
END_SECONDS = 20.0
PROBE_MS = 1_000.0
NEWEST = 2  # commits that are kept though nobody uses them: one may be about to be opened
PATIENCE_MS, HANG_MS = 10_000.0, 2_000.0


class Front:
    """A service of one index; a request may take `time_ms`, and the head be gone for `patience` seconds.

    A host answers `calls` at a time; 0: as many as its node has CPUs. Hosts that neither we nor a controller of ours
    ask anything for `lease_seconds` end themselves.
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
    ) -> None:
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
        # Requests end with "incomplete" before they end with "out of time", where a group has no replica.
        patience, hang = min(PATIENCE_MS, time_ms / 2), min(HANG_MS, time_ms / 4)
        self.shards = Shards(secret, ClientSettings(patience_ms=patience, hang_ms=hang))
        self._folder: Path | None = None
        self._maps: dict[int, dict[str, Any]] = {}
        self._refused: dict[int, dict[str, Any]] = {}  # maps that could not be taken, to be tried again
        self._state: dict[str, Any] = {"nodes": 0, "hosts": 0, "problems": {}}
        self._opened: weakref.WeakSet[Index] = weakref.WeakSet()
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._changed = threading.Condition()
        self._error: FaderError | None = None
        self._is_up, self.restarts, self._heard_at = False, 0, 0.0
        self._moved_at = 0.0  # when a host was last known to open shards
        self._closing = threading.Event()
        self._is_told = False  # where the newest commit is, by the controller that runs now
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

    def start(self, seconds: float = START_SECONDS) -> None:
        """Start the controller and wait until all groups are served; raises what hinders that.

        It is given up after some seconds in which no host opened shards: a first copy of an index may take hours.
        """
        self._moved_at = time.monotonic()
        self._thread.start()
        with self._changed:
            while not (self._maps or self._error) and (left := self._moved_at + seconds - time.monotonic()) > 0:
                self._changed.wait(left)
        if not self._maps:
            raise self._error or ClusterError(
                f"no host opened shards for {seconds:,.0f} s, and not all are served{self._why()}; look at `ray status`"
            )

    def _why(self) -> str:
        problems = list(self._state["problems"].values())
        return f" ({problems[0]})" if problems else ""

    def close(self) -> None:
        """End the controller, and with it the hosts."""
        self._closing.set()
        with self._lock:
            process = self._process
        if process is not None:
            _end_process(process)
        if self._thread.is_alive():
            self._thread.join(END_SECONDS)
        self.shards.close()

    # --- indexes ---------------------------------------------------------------------------------------------

    def open_index(self, limits: Limits | None = None, at: int | None = None, partial: bool = False) -> Index:
        """The index at the newest commit that is served."""
        if self._folder is None:
            raise ClusterError("the shards are not served yet; wait until the cluster is up")
        index = Index(ShardedCollection(self._folder, self.shards, at, allow_partial=partial), limits)
        with self._lock:
            self._opened.add(index)
        return index

    def open(self, folder: Path, limits: Limits) -> Index:
        """The same, as a service asks for it; there is no other index than ours."""
        return self.open_index(limits)

    def newest(self, index: Index) -> Index:
        """An index at the newest commit that is served: itself where it is that already."""
        return index if index.commit == self.shards.commit else self.open_index(index.limits)

    def partial(self, index: Index) -> Index:
        """The same commit, answering from the groups that are there, with a warning where some are missing."""
        return self.open_index(index.limits, index.commit, partial=True)

    # --- how it is -------------------------------------------------------------------------------------------

    def health(self) -> dict[str, Any]:
        """Which groups of the commit in use lack replicas; `status` is incomplete where one has none."""
        maps, probed, commit = self._maps, self._probed, self._commit()
        groups = maps[commit]["groups"] if commit in maps else []
        count = [len(some) for some in groups]
        if probed is not None and len(probed) == len(count):
            count = [number if there else 0 for number, there in zip(count, probed, strict=True)]
        wanted = self._wanted.replicas
        lacking = {str(g): wanted - number for g, number in enumerate(count) if number < wanted}
        return {
            "status": "ok" if count and all(count) else "incomplete",
            "commit": commit,
            "groups": len(groups),
            "replicas": wanted,
            "lacking": lacking,
            "nodes": self._state["nodes"],
            "hosts": self._state["hosts"],
            "controller": "up" if self._is_up else "down",
        }

    def _commit(self) -> int | None:
        """The commit that answers: the newest in use, which an older server may hold on to; None before the first."""
        with self._lock:
            used = [index.commit for index in self._opened]
        return max(used or self._maps, default=None)

    def counts(self) -> dict[str, int]:
        """What was asked of shards since the start."""
        names = ("calls", "hedges", "failovers", "incomplete")
        return {name: self.shards.counts[name] for name in names} | {"controller_restarts": self.restarts}

    # --- the controller --------------------------------------------------------------------------------------

    def _supervise(self) -> None:
        """Keep a controller running until the end."""
        pause = FIRST_PAUSE
        threading.Thread(target=self._watch, name="controller watch", daemon=True).start()
        while not self._closing.is_set():
            began = time.monotonic()
            try:
                why = self._run_controller()
            except Exception as error:  # no memory for a process, say; without this thread nobody would watch
                why = ClusterError(f"the controller of the cluster cannot be run: {type(error).__name__}: {error}")
            if self._closing.is_set():
                return
            self._fail(why)
            pause = FIRST_PAUSE if time.monotonic() - began > WELL else min(LONGEST_PAUSE, 2 * pause)
            self._wait(pause)
            self.restarts += 1

    def _run_controller(self) -> FaderError:
        """Run a controller to its end; why it ended."""
        self._heard_at, self._is_told = time.monotonic(), False
        with self._lock:
            if self._closing.is_set():
                return ClusterError("the service ends")
            process = self._process = subprocess.Popen(
                COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C is for us; it ends after us
            )
        try:
            error = self._listen(process)
        finally:
            self._is_up = False
            _end_process(process)
        return error or ClusterError(f"the controller of the cluster has ended (exit code {process.returncode})")

    def _listen(self, process: subprocess.Popen[str]) -> FaderError | None:
        """Tell a controller what is wanted, and take what it tells until its end; its error, if it had one."""
        used = tuple((commit, told["files"]) for commit, told in self._maps.items())
        groups = self._wanted.groups or self._state.get("groups", 0)  # those of the maps that are used
        self._send(asdict(replace(self._wanted, groups=groups, used=used)))
        error: FaderError | None = None
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self._heard_at = time.monotonic()
                if line.endswith("\n"):  # else it was killed while it wrote
                    error = self._hear(json.loads(line)) or error
        return error

    def _watch(self) -> None:
        """End a controller that hangs."""
        while not self._closing.wait(1.0):
            process = self._process
            if process is not None and time.monotonic() - self._heard_at > HUSH_SECONDS:
                process.kill()

    def _send(self, order: dict[str, Any]) -> None:
        process = self._process
        if process is not None and process.stdin is not None:
            with suppress(OSError, ValueError):  # it has ended, and will be started again
                process.stdin.write(json.dumps(order) + "\n")
                process.stdin.flush()

    def _hear(self, message: dict[str, Any]) -> FaderError | None:
        """A line of the controller; the error, if it is one."""
        if "error" in message:
            return error_of(message["kind"], message["error"])
        if "map" in message:
            self._try_map(message["map"])
        if "state" in message:
            for told in [*self._refused.values()]:
                self._try_map(told)
            self._take_state(message["state"])
        return None

    def _try_map(self, told: dict[str, Any]) -> None:
        """Take a map, now or later: a controller tells it only once."""
        commit = int(told["commit"])
        try:
            self._take_map(commit, told)
            self._refused.pop(commit, None)
        except (FaderError, OSError) as error:
            if commit not in self._refused:
                log.error("map refused", extra={"fields": {"commit": commit, "problem": str(error)}})
            self._refused[commit] = told

    def _take_map(self, commit: int, told: dict[str, Any]) -> None:
        if commit not in self._maps:
            self._folder = local_folder(self._wanted.path, commit, [])  # manifest and catalog, before it is asked for
        self.shards.update(told)
        is_new = commit not in self._maps
        with self._changed:
            self._maps = {**self._maps, commit: told}
            if commit == max(self._maps):
                self._probed, self._is_told = None, True
            self._changed.notify_all()
        replicas = [len(group) for group in told["groups"]]
        fields = {"commit": commit, "groups": len(replicas), "least replicas": min(replicas)}
        log.info("commit opened" if is_new else "replicas changed", extra={"fields": fields})

    def _take_state(self, state: dict[str, Any]) -> None:
        new = {k: v for k, v in state["problems"].items() if self._state["problems"].get(k) != v}
        for text in new.values():
            log.warning("cluster", extra={"fields": {"problem": text}})
        self._state, self._is_up = state, True
        if state.get("opening"):
            self._moved_at = time.monotonic()
        self._retire_old()
        if not self._is_told:
            self._probe()

    def _retire_old(self) -> None:
        """Commits that nobody uses go: those before one that is in use, and all but the newest."""
        with self._lock:
            used = {index.commit for index in self._opened}
        first = max([*used, *sorted(self._maps)[-NEWEST:][:1]], default=0)  # of those that are kept
        for commit in [c for c in self._maps if c not in used and c < first]:
            self.shards.forget(commit)
            self._maps = {c: told for c, told in self._maps.items() if c != commit}
            self._send({"retire": commit})  # where it is lost with its controller, the next is told what is used
            log.info("commit retired", extra={"fields": {"commit": commit}})

    def _fail(self, why: FaderError) -> None:
        if self._maps:  # else whoever waits for the start is told
            fields = {"problem": str(why), "next": "it is started again as soon as the cluster's head answers"}
            log.error("controller ended", extra={"fields": fields})
        with self._changed:
            self._error = why
            self._changed.notify_all()

    def _wait(self, pause: float) -> None:
        """Pause, and wait for a head."""
        until = time.monotonic() + pause
        while not self._closing.is_set() and (time.monotonic() < until or self._is_headless()):
            self._probe()
            self._closing.wait(min(0.5, pause))

    def _is_headless(self) -> bool:
        """Whether nothing is at the head's address: a controller would only say so."""
        return self._address != "local" and unreachable(self._address, 1.0) is not None

    def _probe(self) -> None:
        """Look which groups answer, while no controller tells that."""
        with suppress(FaderError):
            answers = self.shards.call_all("about", {}, commit=self._commit(), deadline_ms=PROBE_MS, allow_partial=True)
            self._probed = [not isinstance(answer, Missing) for answer in answers]


def _end_process(process: subprocess.Popen[str]) -> None:
    """End a controller: the end of its input is its end, and it has some seconds for that."""
    with suppress(OSError, ValueError):
        if process.stdin is not None:
            process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(END_SECONDS)
    process.kill()
    process.wait()
