"""Writes docs/cli.md from the commands' own help: `python tests/docs/regenerate.py`; with `--print`, only prints it."""

from __future__ import annotations

import sys
from pathlib import Path

from click.testing import CliRunner

from fader.cli import COMMANDS, cli
from fader.cli.cluster import CLUSTER_COMMANDS

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "cli.md"
HEAD = """# Command reference

The `--help` of every command. Written by `python tests/docs/regenerate.py`; do not edit.
Exit codes: 0 done, 1 the input is at fault, 2 wrong usage.
"""


def help_of(*command: str) -> str:
    """The help of a command as a terminal of 80 columns shows it."""
    result = CliRunner().invoke(cli, [*command, "--help"], prog_name="fader", terminal_width=80)
    assert result.exit_code == 0, result.output
    return result.output.rstrip()


def reference() -> str:
    """The whole page."""
    sections = [HEAD, f"## fader\n\n```text\n{help_of()}\n```\n"]
    sections += [f"## fader {name}\n\n```text\n{help_of(name)}\n```\n" for name in COMMANDS]
    sections += [f"## fader cluster {name}\n\n```text\n{help_of('cluster', name)}\n```\n" for name in CLUSTER_COMMANDS]
    return "\n".join(sections)


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(reference())
    else:
        PAGE.write_text(reference(), encoding="utf-8")
        print(f"wrote {PAGE}")
