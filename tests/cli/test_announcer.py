"""What is said while kernels are compiled: at once, on standard error, and nothing where quiet is asked for."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from fader.cli import announcer
from fader.cli.announcer import Announcer


def hear(quiet: bool = False, terminal: bool = False, seconds: float = 0.0) -> str:
    """What two kernels, each of which takes some seconds, are heard of."""
    heard = io.StringIO()
    with (
        mock.patch.object(sys, "stderr", heard),
        mock.patch.object(heard, "isatty", return_value=terminal),
        mock.patch.object(announcer.time, "monotonic", side_effect=[seconds * n for n in range(100)]),
    ):
        told = Announcer(quiet)
        for name in ("first", "second"):
            told.began(name)
            told.ended()
    return heard.getvalue()


def test_a_line_comes_first_and_others_every_ten_seconds() -> None:
    assert hear().count("\n") == 1
    slow = hear(seconds=11.0).splitlines()
    assert slow[0].startswith("Compiling kernels, once per machine")
    assert slow[-1].startswith("Compiling: 1 kernels in 2")
    assert slow[-1].endswith("now second")


def test_a_terminal_shows_the_kernel_and_is_left_clean() -> None:
    shown = hear(terminal=True)
    assert "now first" in shown
    assert shown.endswith(announcer.ERASE)


def test_quiet() -> None:
    assert hear(quiet=True) == hear(quiet=True, terminal=True, seconds=20.0) == ""


@pytest.mark.parametrize("quiet", [False, True])
def test_a_command_says_so_on_standard_error(tmp_path: Path, quiet: bool) -> None:
    """Any command that compiles, here the shortest one, with an empty cache; its output is that of any other run."""
    environment = {**os.environ, "FADER_KERNEL_CACHE": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    environment.pop("NUMBA_DISABLE_JIT", None)
    (tmp_path / "text.txt").write_text("Ada Quill wrote.")
    (tmp_path / "entities.tsv").write_text("ada\tAda Quill\tperson\t\n")
    command = [sys.executable, "-m", "fader", "annotate", "text.txt", "--entities", "entities.tsv", "-o", "-"]
    heard = []
    for _run in range(2):
        done = subprocess.run(
            [*command, *(["--quiet"] if quiet else [])], env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert "Ada Quill wrote." in done.stdout
        assert "Compiling" not in done.stdout
        heard.append("Compiling kernels" in done.stderr)
    assert heard == [not quiet, False]
