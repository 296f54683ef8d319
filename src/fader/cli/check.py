"""`fader check`: verify an index, and fall back to its last whole commit."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from fader.cli.common import folder_argument, json_option, print_json, quiet_option, remark
from fader.index.verify.check import examine, repair
from fader.progress import progress

SHOWN = 5


@click.command("check", epilog="Example: fader check index/")
@folder_argument
@click.option("--repair", "repairs", is_flag=True, help="Remove commits that are damaged, where another is whole.")
@json_option
@quiet_option
def command(folder: Path, repairs: bool, as_json: bool, quiet: bool) -> None:
    """Verify every checksum and invariant of the index in DIR; exit code 1 where something is wrong.

    All commits that are kept are verified. With --repair the newest one that is whole becomes the index, and what is
    lost by that is told; where none is whole nothing is changed.
    """

    with progress("Checking", quiet) as reporter:
        seen: list[str] = []

        def report(name: str) -> None:
            seen.append(name)
            reporter.update(len(seen), None, name)

        found: Any = repair(folder, report) if repairs else examine(folder, report)
    if repairs:
        _tell_repair(folder, found, as_json, quiet)
    else:
        _tell(folder, found, as_json, quiet)


def _tell(folder: Path, found: Any, as_json: bool, quiet: bool) -> None:
    """Say what was found, and end with exit code 1 where something is wrong."""
    problems = found.problems
    if as_json:
        commits = [{"commit": c.number, "whole": not c.problems, "problems": c.problems} for c in found.commits]
        print_json(
            {
                "index": str(folder),
                "whole": not problems,
                "files": found.files,
                "problems": problems,
                "debris": found.debris,
                "commits": commits,
            }
        )
    else:
        _tell_people(folder, found, quiet)
    if problems:
        sys.exit(1)


def _tell_people(folder: Path, found: Any, quiet: bool) -> None:
    for problem in found.problems:
        print(f"fader: {problem}", file=sys.stderr)
    whole = [c.number for c in found.commits if not c.problems]
    if whole and found.problems:
        remark(f"commit {whole[-1]} is whole; `fader check {folder} --repair` removes the damaged ones", quiet)
    if found.debris:
        names = ", ".join(found.debris[:SHOWN]) + (", …" if len(found.debris) > SHOWN else "")
        remark(f"named by no commit, left by an unfinished write or being written: {names}", quiet)
    if not found.problems:
        commits = "1 commit" if len(whole) == 1 else f"{len(whole):,} commits"
        remark(f"{folder}: whole ({commits}, {found.files:,} files verified)", quiet)


def _tell_repair(folder: Path, done: Any, as_json: bool, quiet: bool) -> None:
    """Say what a repair did; what is lost is said even where remarks are not wanted."""
    if as_json:
        print_json({"index": str(folder), **asdict(done)})
        return
    for lost in done.lost:
        print(lost)
        for problem in lost.problems[:SHOWN]:
            print(f"  {problem}")
    removed = f"{len(done.removed):,} files removed" if done.removed else "nothing had to be removed"
    remark(f"{folder}: commit {done.commit} is whole and is the index: {done.documents:,} documents; {removed}", quiet)
