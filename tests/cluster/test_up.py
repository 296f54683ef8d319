"""`fader cluster up` as a process: it says where it is, and leaves nothing when it is told to end."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from cluster.conftest import needs_ray
from dose import dose

pytestmark = [needs_ray, pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")]


def marked(mark: str) -> list[str]:
    """The processes that have a text in their environment."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError):
                if mark.encode() in (place / "environ").read_bytes():
                    found.append((place / "cmdline").read_text("utf-8", "replace")[:80])
    return found


def until(condition: Callable[[], bool], told: Callable[[], object]) -> None:
    end = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < end, told()
        time.sleep(0.1)


@pytest.mark.parametrize("when", ["up", "starting"])
def test_it_ends_when_it_is_told_to_and_leaves_nothing(when: str, tmp_path: Path) -> None:
    """By SIGTERM, also where Ctrl-C is ignored, as behind the & of a script; its token's file is its owner's alone."""
    if not dose(20, 0):
        pytest.skip("takes half a minute; FADER_DOSE=1 runs it")
    mark, log = secrets.token_hex(16), tmp_path / "log"
    env = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    env |= {"HOME": str(tmp_path), "FADER_TEST": mark}
    command = [sys.executable, "-m", "fader", "cluster", "up", "--nodes", "1", "--port", "0"]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with log.open("wb") as out:
            process = subprocess.Popen(command, stderr=out, env=env)
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        until(lambda: "--address" in log.read_text() if when == "up" else len(marked(mark)) > 2, log.read_text)
        assert (tmp_path / ".ray" / "auth_token").stat().st_mode & 0o777 == 0o600
        process.terminate()
        process.wait(100)
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in log.read_text()
    until(lambda: marked(mark) == [], lambda: marked(mark))
