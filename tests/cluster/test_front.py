"""The front of a cluster with something else as its controller: what is told is taken, whatever ends or hangs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

import fader
from cluster.http import more, some_index
from cluster.serving import SECRET, Serving, serving
from fader.cluster.hosts import frontend
from fader.cluster.hosts.frontend import Front, FrontSettings
from fader.cluster.hosts.messages import GroupMap, Message, Retire
from fader.cluster.hosts.runtime import connect
from fader.errors import ClusterError, StorageError, UsageError
from fader.index.commit import read_commit

STATE = {"nodes": 1, "hosts": 1, "groups": 2, "problems": {}}


def until(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def hear(front: Front, message: dict[str, Any]) -> None:
    """Let the front read a line of its controller."""
    front._hear(msgspec.json.decode(json.dumps(message), type=Message))


def told(served: Serving, folder: Path) -> dict[str, Any]:
    return served.map | {"files": read_commit(folder, served.commit).fingerprint}


@pytest.fixture
def controller(tmp_path: Path) -> Callable[..., FrontSettings]:
    """Programs that are run as the controller, one after the other and then the last again; what they hear is kept."""

    def make(*programs: str) -> FrontSettings:
        for n, program in enumerate(programs):
            (tmp_path / f"{n}.py").write_text(program)
        first = f"""
import glob, os, sys, time
n = len(glob.glob({str(tmp_path)!r} + "/*.wanted"))
line = sys.stdin.readline()
open({str(tmp_path)!r} + f"/{{n}}.wanted", "w").write(line)
say = lambda text, end="\\n": print(text, end=end, flush=True)
exec(open({str(tmp_path)!r} + f"/{{min(n, {len(programs) - 1})}}.py").read())
"""
        return FrontSettings(command=(sys.executable, "-c", first), first_pause=0.01)

    return make


def test_a_controller_that_breaks_off_is_started_again(
    controller: Callable[..., FrontSettings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of a line, with a line that is none, and without a word. The next is told what is used."""
    folder = some_index(tmp_path / "index")
    with serving(folder, 2) as served:
        monkeypatch.setattr(frontend.secrets, "token_bytes", lambda _count: SECRET)
        whole = [
            f"say({json.dumps({key: value})!r})" for key, value in (("map", told(served, folder)), ("state", STATE))
        ]
        good = "\n".join([*whole, "sys.stdin.read()"])
        torn = "\n".join([*whole, "say('{\"map\": {\"comm', end='')"])
        settings = controller(torn, "say('none')", "", good)
        with Front(folder, "local", watch_seconds=0.1, settings=settings) as front:
            index = front.open_index()
            until(lambda: front.restarts == 3 and front.health().controller == "up")
            assert index.rank("violin physics") == fader.open(folder).rank("violin physics")
            assert front.health().lacking == {"0": 1, "1": 1}
    heard = [json.loads((tmp_path / f"{n}.wanted").read_text()) for n in range(4)]
    assert [one["used"] for one in heard] == [[], *[[[1, told(served, folder)["files"]]]] * 3]
    assert [one["groups"] for one in heard] == [0, 2, 2, 2]


def test_a_stopped_controller_is_noticed(controller: Callable[..., FrontSettings], tmp_path: Path) -> None:
    """Health calls it silent some seconds after SIGSTOP, and up again after SIGCONT; it is not ended for that."""
    folder = some_index(tmp_path / "index")
    well = f"while True:\n    say({json.dumps({'state': STATE})!r})\n    time.sleep(0.05)"
    front = Front(folder, "local", settings=replace(controller(well), silent=0.5, end=0.1))
    front._thread.start()
    try:
        until(lambda: front.health().controller == "up")
        assert front._process is not None
        front._process.send_signal(signal.SIGSTOP)
        until(lambda: front.health().controller == "silent")
        front._process.send_signal(signal.SIGCONT)
        until(lambda: front.health().controller == "up")
        assert front.restarts == 0
    finally:
        front.close()


def test_a_controller_that_hangs_is_ended(controller: Callable[..., FrontSettings], tmp_path: Path) -> None:
    """One that says nothing for so long is in the way of one that would."""
    folder = some_index(tmp_path / "index")
    hanging = f"say({json.dumps({'state': STATE})!r})\ntime.sleep(1000)"
    front = Front(folder, "local", settings=replace(controller(hanging), hang=0.5, end=0.1))
    front._thread.start()
    try:
        until(lambda: front.restarts >= 2)
    finally:
        front.close()


def test_a_map_that_cannot_be_taken_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller tells a map once; storage that was away for a moment must not hide a commit for good."""
    folder = some_index(tmp_path / "index")
    with serving(folder, 2) as served:
        front = Front(folder, "local")
        with monkeypatch.context() as patched:

            def away(*_given: object) -> Path:
                raise StorageError("away")

            patched.setattr(frontend, "local_folder", away)
            hear(front, {"map": told(served, folder)})
            hear(front, {"state": STATE})
            assert front.health().commit is None
        hear(front, {"state": STATE})
        assert front.health().commit == 1
        front.shards.close()


def test_commits_that_nobody_uses_are_retired(tmp_path: Path) -> None:
    """Where only the first is used, as by a service that does not watch: that one and the newest two are kept."""
    folder = some_index(tmp_path / "index")
    with serving(folder, 2) as served:
        front, sent = Front(folder, "local"), []
        front._send = sent.append  # type: ignore[method-assign]
        hear(front, {"map": told(served, folder)})
        index = front.open_index()
        for commit in range(2, 7):
            fader.add(folder, more(commit), merge=False)
            hear(front, {"map": served.map | {"commit": commit, "files": read_commit(folder, commit).fingerprint}})
            hear(front, {"state": STATE})
        assert sorted(front._maps) == [index.commit, 5, 6]
        assert sent == [Retire(commit) for commit in (2, 3, 4)]
        index = front.open_index()
        hear(front, {"state": STATE})
        assert sorted(front._maps) == [index.commit] == [6]
        front.shards.close()


def test_a_start_waits_as_long_as_hosts_open_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first copy of a large index may take hours; where no host opens anything, it is given up."""
    clock = [0.0]
    front = Front(tmp_path, "local")
    heard = iter([STATE | {"opening": 1}] * 9)

    class Changed(threading.Condition):
        """Time passes by itself; half of it until a state is heard."""

        def wait(self, timeout: float | None = None) -> bool:
            state = next(heard, None)
            clock[0] += (timeout or 0.0) * (1.0 if state is None else 0.5)
            if state is not None:
                hear(front, {"state": state})
            return True

    monkeypatch.setattr(frontend, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    front._changed, front._thread = Changed(), threading.Thread(target=lambda: None)
    with pytest.raises(ClusterError, match="no host opened shards for 100 s"):
        front.start(100.0)
    assert clock == [9 * 50.0 + 100.0]
    front.shards.close()


def test_a_controller_imports_nothing_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file there of the name of a module is another's, and must not be run."""
    (tmp_path / "json.py").write_text("raise SystemExit('not the module')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "token")
    ended = subprocess.run(FrontSettings().command, input="none\n", capture_output=True, text=True, timeout=100)
    assert "the controller failed" in json.loads(ended.stdout)["error"]


def test_what_hinders_a_start_is_said(controller: Callable[..., FrontSettings], tmp_path: Path) -> None:
    """The controller's own words, and that it ended without any; an address that is none before anything is started."""
    settings = controller(f"say({json.dumps({'error': 'no head there', 'kind': 'ClusterError'})!r})", "sys.exit(3)")
    with pytest.raises(ClusterError, match="no head there"), Front(tmp_path, "local", settings=settings):
        pass
    with pytest.raises(ClusterError, match="exit code 3"), Front(tmp_path, "local", settings=settings):
        pass
    with pytest.raises(UsageError, match="must be HOST:PORT"):
        Front(tmp_path, "head")


def test_no_cluster_at_the_address_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the true controller: a service is not started in the hope of a cluster, and nothing is left running."""
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "token")
    front = Front(some_index(tmp_path / "index"), "127.0.0.1:9")
    with pytest.raises(ClusterError, match="no Ray cluster answers there"), front:
        pass
    assert front._process is not None
    assert front._process.returncode == 1
    assert not front._thread.is_alive()


def test_health_is_that_of_the_commit_in_use(tmp_path: Path) -> None:
    """A server that does not switch answers from an old commit, whose groups may be gone."""

    class Used:
        commit = 1

    front, used = Front(some_index(tmp_path / "index"), "local", replicas=1), Used()
    front._maps = {1: GroupMap(1, [["a:1"], []]), 3: GroupMap(3, [["a:1"], ["b:1"]])}
    assert (front.health().status, front.health().commit) == ("ok", 3)
    front._opened.add(used)  # type: ignore[arg-type]
    assert (front.health().status, front.health().commit) == ("incomplete", 1)
    front.close()


def test_an_empty_address_is_none(tmp_path: Path) -> None:
    """It is not this machine: a variable that was not set must not start a cluster here."""
    with pytest.raises(UsageError, match="HOST:PORT"):
        Front(some_index(tmp_path / "index"), "")
    with pytest.raises(UsageError, match="HOST:PORT"), connect(""):
        pass
