"""What is said while kernels are compiled: at once, on standard error, and nothing where quiet is asked for."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from cli.running import passed
from fader.cli import announcer
from fader.cli.announcer import Announcer
from fader.kernel import cache_folder


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
    """Any command that compiles, here with a cache that lacks one kernel; its output is that of any other run."""
    (tmp_path / "text.txt").write_text("Ada Quill wrote.")
    (tmp_path / "entities.tsv").write_text("ada\tAda Quill\tperson\t\n")
    words = ["annotate", "text.txt", "--entities", "entities.tsv", "-o", "-", *(["--quiet"] if quiet else [])]
    with contextlib.chdir(tmp_path):
        passed(*words)  # the cache of this user has all that the command needs
    lacking = shutil.ignore_patterns("corpora.annotate.terms-*", "*.tmp*")  # files that are just being written
    shutil.copytree(cache_folder(), tmp_path / "cache", ignore=lacking)
    environment = {**os.environ, "FADER_KERNEL_CACHE": str(tmp_path / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)
    environment.pop("NUMBA_DISABLE_JIT", None)
    heard = []
    for _run in range(2):
        command = [sys.executable, "-m", "fader", *words]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "Ada Quill wrote." in done.stdout
        assert "Compiling" not in done.stdout
        heard.append("Compiling kernels" in done.stderr)
    assert heard == [not quiet, False]
