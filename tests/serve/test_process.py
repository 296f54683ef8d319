"""The service as a process: it says where it is, ends when told and not before its requests are answered."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

import fader
from serve.live import build, documents

# A server whose searches take as long as a file is there, so that a test says when they end.
SLOW = """
import sys, time
from pathlib import Path
from fader import Index
from fader.cli import main
searched, held = Index.search, Path(sys.argv.pop(1))
def search(*given, **named):
    if getattr(given[1], "text", given[1]) == "slow":
        held.with_suffix(".begun").touch()
        while held.exists():
            time.sleep(0.005)
    return searched(*given, **named)
Index.search = search
main()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("process") / "index")


@contextmanager
def process(held: Path, *options: str | Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server and its address."""
    command = [sys.executable, "-c", SLOW, str(held), "serve", *map(str, options), "--port", "0"]
    command += ["--timeout-ms", "60000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        try:
            line = running.stderr.readline()
            while line and "Serving" not in line:
                line = running.stderr.readline()
            assert " at http://127.0.0.1:" in line
            yield running, line.split(" at ")[1].split()[0].rstrip("/")
        finally:
            held.unlink(missing_ok=True)
            running.kill()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_its_requests_are_answered(folder: Path, tmp_path: Path, number: int) -> None:
    """A request that is being answered when the signal comes is answered; the exit code is 0."""
    held = tmp_path / "held"
    held.touch()
    with process(held, folder) as (running, url):
        replies: list[int] = []

        def ask() -> None:
            replies.append(httpx.get(f"{url}/v1/search", params={"q": "slow"}, timeout=120).status_code)

        asking = threading.Thread(target=ask)
        asking.start()
        until(held.with_suffix(".begun").exists)
        running.send_signal(number)
        until(lambda: _refuses(url))
        assert running.poll() is None
        held.unlink()
        asking.join(60)
        assert replies == [200]
        assert running.wait(60) == 0


# A server with a thread that a query puts to sleep in native code, where no clock reaches it.
STUCK = """
import ctypes, sys
from pathlib import Path
from fader import Index
from fader.serve.run import run
from fader.serve.settings import Settings
searched, begun = Index.search, Path(sys.argv[2])
def search(*given, **named):
    if getattr(given[1], "text", given[1]) == "slow":
        begun.touch()
        ctypes.CDLL(None).sleep(600)
    return searched(*given, **named)
Index.search = search
bounds = dict(time_ms=1000, drain_seconds=0.5, stop_seconds=0.5, overdue_seconds=0.2)
settings = Settings(indexes={"index": Path(sys.argv[1])}, port=0, workers=2, **bounds)
run(settings, lambda address: print("Serving at", address, file=sys.stderr, flush=True))
"""


def test_it_says_that_a_thread_is_stuck_and_ends_nevertheless(folder: Path, tmp_path: Path) -> None:
    """Its health fails with the reason; after the signal it ends by force, with a line in the log."""
    command = [sys.executable, "-c", STUCK, str(folder), str(tmp_path / "begun")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stderr is not None
            url = next(line for line in running.stderr if "Serving at" in line).split(" at ")[1].strip().rstrip("/")
            until(lambda: "systems" in httpx.get(f"{url}/v1/systems", timeout=60).json())
            ask_until(tmp_path / "begun", url)
            until(lambda: httpx.get(f"{url}/healthz", timeout=60).status_code == 503)
            health = httpx.get(f"{url}/healthz", timeout=60).json()
            assert health["status"] == "stuck"
            assert health["problems"] == {
                "lane engine": "1 of 2 threads have not come back long after the time of their requests; "
                "restart the service"
            }
            assert 'fader_lane_overdue{lane="engine"} 1.0' in httpx.get(f"{url}/metrics", timeout=60).text
            running.send_signal(signal.SIGTERM)
            assert running.wait(30) == 1
            assert "ended by force" in running.stderr.read()
        finally:
            running.kill()


def ask_until(begun: Path, url: str) -> None:
    """Ask what is never answered, again where the time was up before it began."""

    def ask() -> None:
        with suppress(httpx.TransportError):  # the server ends
            httpx.get(f"{url}/v1/search", params={"q": "slow"}, timeout=None)

    while not begun.exists():
        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        until(lambda asking=asking: begun.exists() or not asking.is_alive())


def _refuses(url: str) -> bool:
    try:
        httpx.get(f"{url}/healthz", timeout=5)
    except httpx.TransportError:
        return True
    return False


def test_sighup_reads_everything_again(tmp_path: Path) -> None:
    """Keys and indexes; with --watch 0 nothing else does."""
    folder, keys = build(tmp_path / "index"), tmp_path / "keys"
    keys.write_text("ada a-key-of-ada\n")
    with process(tmp_path / "held", folder, "--watch", "0", "--keys", keys) as (running, url):
        fader.add(folder, [documents()[0] | {"id": "new"}])
        keys.write_text("ben a-key-of-ben\n")
        headers = {"X-Api-Key": "a-key-of-ben"}
        assert httpx.get(f"{url}/v1/stats", headers=headers, timeout=60).status_code == 401
        running.send_signal(signal.SIGHUP)
        until(lambda: httpx.get(f"{url}/v1/stats", headers=headers, timeout=60).status_code == 200)
        until(lambda: httpx.get(f"{url}/healthz", timeout=60).json()["indexes"]["index"] == 2)
        assert running.poll() is None


def test_killed_and_started_again_it_answers(folder: Path, tmp_path: Path) -> None:
    """Nothing is left behind that would be in the way."""
    for _ in range(2):
        with process(tmp_path / "held", folder) as (running, url):
            assert httpx.get(f"{url}/v1/search", params={"q": "violin"}, timeout=60).status_code == 200
            running.kill()
            running.wait(60)
