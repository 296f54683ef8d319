"""The `fader` program itself, in a process of its own: help, exit codes, pipes, and what it does not load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cli.running import passed, refused
from fader.cli import COMMANDS

LIGHT = """
import sys
sys.argv = ["fader", *{arguments!r}]
from fader.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(sorted({{"numba", "numpy", "pyarrow", "rich"}} & set(sys.modules)))
"""


def process(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fader", *map(str, arguments)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["search", "--help"]])
def test_help_is_light(arguments: list[str]) -> None:
    """Help and version load neither numba nor numpy, nor anything else that takes time."""
    program = LIGHT.format(arguments=arguments)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_command_is_listed_and_has_help_with_an_example() -> None:
    listed = passed("--help").out
    for name, line in COMMANDS.items():
        assert f"{name} " in listed
        assert line in listed
        for flag in ("--help", "-h"):
            shown = passed(name, flag).out
            assert f"fader {name} " in shown.splitlines()[0]
            assert f"Example: fader {name}" in shown


def test_version() -> None:
    import fader

    assert passed("--version").out.split()[-1] == fader.__version__


def test_no_command_shows_help() -> None:
    done = process()
    assert done.returncode == 2
    assert "Start with:  fader demo" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_command_comes_with_a_suggestion() -> None:
    assert 'no command "serch"; did you mean "search"?' in refused(2, "serch", "x")


def test_an_unknown_option_is_a_usage_error() -> None:
    assert "No such option" in refused(2, "search", "x", "y", "--colour")


def test_exit_codes_of_the_process(index: Path, tmp_path: Path) -> None:
    """0 done, 1 the input is at fault, 2 wrong usage; errors are one line on standard error, never a traceback."""
    done, input_fault, usage = process("info", index), process("info", tmp_path / "no"), process("search", index)
    assert (done.returncode, input_fault.returncode, usage.returncode) == (0, 1, 2)
    assert input_fault.stdout == ""
    assert input_fault.stderr == f"fader: {tmp_path / 'no'}: no such folder; build an index with `fader index`\n"
    assert "Missing argument 'QUERY'" in usage.stderr
    assert "Traceback" not in input_fault.stderr + usage.stderr


def test_a_closed_pipe_is_no_traceback(index: Path) -> None:
    """`fader entities | head -1`."""
    command = [sys.executable, "-m", "fader", "entities", str(index), "--limit", "100000", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        shown = running.stderr.read()
    assert shown == ""
