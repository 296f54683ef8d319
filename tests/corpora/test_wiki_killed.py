"""Imports of a dump through the command line, in two processes, that are killed or interrupted at several moments."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from corpora.cases import contents
from fader.corpora.formats.wikipedia import Wikipedia
from fader.corpora.frame.run import UNFINISHED, run

PAGES = 120
# The command line, with small pieces and parts that take their time, so that there is something amid which to end.
PROGRAM = """
import time
import fader.corpora.frame.inputs as inputs, fader.corpora.frame.run as run
from fader.cli import main

def slowly(store, end_part=run.Store.end_part):
    time.sleep(0.02)
    end_part(store)

if __name__ == "__main__":
    inputs.PIECE, run.PART_BYTES, run.Store.end_part = 2000, 5000, slowly
    main()
"""


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    text = "'''Page {n}''' is a [[page {m}|town]] with [[hill]]s. " + "It has words that fill the line. " * 20
    page = "<page><title>Page {n}</title><ns>0</ns><id>{n}</id><revision><text>{text}</text></revision></page>\n"
    pages = (page.format(n=n, text=text.format(n=n, m=n * 7 % PAGES)) for n in range(PAGES))
    (tmp_path / "dump.xml").write_text('<mediawiki xml:lang="en">\n' + "".join(pages) + "</mediawiki>\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path / "dump.xml"


def ended(dump: Path, moment: Callable[[], bool] | None = None, sign: int = signal.SIGKILL) -> tuple[int, str]:
    """The exit code and messages of an import whose processes get a signal at a moment, SIGTERM its first alone."""
    words = ["import", "wikipedia", str(dump), "-o", str(dump.parent / "out"), "--processes", "2"]
    paths = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [sys.executable, str(dump.parent / "program.py"), *words], env={**os.environ, "PYTHONPATH": paths},
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    while moment and process.poll() is None and not moment():
        time.sleep(0.002)
    if moment and sign == signal.SIGTERM:
        process.terminate()
    elif moment:
        os.killpg(process.pid, sign)
    messages = process.communicate()[1]  # all processes have let go of it
    return process.returncode, messages


def test_killed_and_interrupted(dump: Path) -> None:
    """The same command goes on, and gives the bytes of a run that was never interrupted; no process is left behind."""
    work = dump.parent / "out" / UNFINISHED

    def parts() -> int:
        return len(list(work.glob("*.part")))

    assert ended(dump, lambda: (work / "state").exists())[0] == -signal.SIGKILL
    assert ended(dump, lambda: parts() >= 3)[0] == -signal.SIGKILL
    before = parts()
    code, messages = ended(dump, lambda: parts() > before, signal.SIGINT)
    assert code == 130
    assert "the same command goes on from there" in messages
    assert "Traceback" not in messages
    before = parts()
    assert ended(dump, lambda: parts() > before, signal.SIGTERM)[0] == -signal.SIGTERM
    assert ended(dump)[0] == 0
    run(Wikipedia(), [str(dump)], dump.parent / "whole")
    assert contents(dump.parent / "out") == contents(dump.parent / "whole")
