"""`fader check`: verify an index."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from fader.cli.common import folder_argument, json_option, print_json, quiet_option, remark


@click.command("check", epilog="Example: fader check index/")
@folder_argument
@json_option
@quiet_option
def command(folder: Path, as_json: bool, quiet: bool) -> None:
    """Verify every checksum and invariant of the index in DIR; exit code 1 where something is wrong."""
    from fader.index.check import check
    from fader.progress import progress

    seen: list[str] = []
    with progress("Checking", quiet) as reporter:

        def report(name: str) -> None:
            seen.append(name)
            reporter.update(len(seen), None, name)

        problems = check(folder, report)
    if as_json:
        print_json({"index": str(folder), "whole": not problems, "files": len(seen), "problems": problems})
    for problem in [] if as_json else problems:
        print(f"fader: {problem}", file=sys.stderr)
    if problems:
        sys.exit(1)
    if not as_json:
        remark(f"{folder}: whole ({len(seen)} files verified)", quiet)
