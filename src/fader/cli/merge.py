"""`fader merge`: merge the segments of an index."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from fader.cli.change import print_change
from fader.cli.common import collect, declare, folder_argument, json_option, quiet_option, say_when_compiling
from fader.index.write.change import ChangeOptions, merge
from fader.progress import progress


@click.command("merge", epilog="Example: fader merge index/")
@folder_argument
@declare(ChangeOptions, "memory_mb", "keep")
@json_option
@quiet_option
def command(folder: Path, as_json: bool, quiet: bool, **given: Any) -> None:
    """Merge all segments of the index in DIR into one, or as few as --memory allows, without what is deleted.

    Answers stay the same, bit for bit. `add` and `delete` merge small segments by themselves, so this is needed only
    to get rid of deleted texts, or before an index is copied elsewhere.
    """
    say_when_compiling(quiet)
    began = time.perf_counter()
    with progress("Merging", quiet) as reporter:
        report = merge(folder, collect(ChangeOptions, given), reporter)
    print_change(folder, report, time.perf_counter() - began, as_json, quiet)
