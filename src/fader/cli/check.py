"""`fader check`: verify an index, and fall back to its last whole commit."""

from __future__ import annotations

import sys
from dataclasses import asdict
from itertools import count
from pathlib import Path

import click

from fader.cli.common import SHOWN, Output, plain_folder_argument, print_json, speaks, takes
from fader.index.verify.check import Examination, Repair, examine, repair
from fader.options import option, options


@options
class CheckOptions:
    """Verify an index."""

    repair: bool = option(False, help="Remove commits that are damaged, where another is whole.")


@click.command("check", epilog="Example: fader check index/")
@plain_folder_argument
@takes(CheckOptions)
@speaks()
def command(folder: Path, options: CheckOptions, out: Output) -> None:
    """Verify every checksum and invariant of the index in DIR; exit code 1 where something is wrong.

    All commits that are kept are verified. With --repair the newest one that is whole becomes the index, and the
    documents that this loses are reported; where none is whole nothing is changed.
    """
    with out.progress("Checking") as reporter:
        numbers = count(1)

        def report(name: str) -> None:
            reporter.update(next(numbers), None, name)

        found = repair(folder, report) if options.repair else examine(folder, report)
    if isinstance(found, Repair):
        _print_repair(folder, found, out)
        return
    _print_examination(folder, found, out)
    if found.problems:
        sys.exit(1)


def _print_examination(folder: Path, found: Examination, out: Output) -> None:
    if out.as_json:
        checked = [{"commit": c.number, "whole": not c.problems, "problems": c.problems} for c in found.commits]
        summary = {"index": str(folder), "whole": not found.problems, "files": found.files, "problems": found.problems}
        print_json({**summary, "debris": found.debris, "commits": checked})
        return
    for problem in found.problems:
        print(f"fader: {problem}", file=sys.stderr)
    whole = [c.number for c in found.commits if not c.problems]
    if whole and found.problems:
        out.remark(f"commit {whole[-1]} is whole; `fader check {folder} --repair` removes the damaged ones")
    if found.debris:
        names = ", ".join(found.debris[:SHOWN]) + (", …" if len(found.debris) > SHOWN else "")
        out.remark(f"named by no commit, left by an unfinished write or being written: {names}")
    if not found.problems:
        commits = "1 commit" if len(whole) == 1 else f"{len(whole):,} commits"
        out.remark(f"{folder}: whole ({commits}, {found.files:,} files verified)")


def _print_repair(folder: Path, done: Repair, out: Output) -> None:
    """Say what a repair did; what is lost is said even where remarks are not wanted."""
    if out.as_json:
        print_json({"index": str(folder), **asdict(done)})
        return
    for lost in done.lost:
        print(lost, *(f"  {problem}" for problem in lost.problems[:SHOWN]), sep="\n")
    removed = f"{len(done.removed):,} files removed" if done.removed else "nothing had to be removed"
    out.remark(f"{folder}: commit {done.commit} is whole and is the index: {done.documents:,} documents; {removed}")
