"""`fader merge`: merge the segments of an index."""

from __future__ import annotations

import time
from pathlib import Path

import click

from fader.cli.change import print_change
from fader.cli.common import Output, folder_argument, speaks, takes
from fader.index.write.change import ChangeOptions, merge


@click.command("merge", epilog="Example: fader merge index/")
@folder_argument
@takes(ChangeOptions, "memory_mb", "keep")
@speaks()
def command(folder: Path, options: ChangeOptions, out: Output) -> None:
    """Merge all segments of the index in DIR into one, or as few as --memory allows, without what is deleted.

    Answers stay the same, bit for bit. `add` and `delete` merge small segments by themselves, so this is needed only
    to get rid of deleted texts, or before an index is copied elsewhere.
    """
    began = time.perf_counter()
    with out.progress("Merging") as reporter:
        report = merge(folder, options, reporter)
    print_change(folder, report, time.perf_counter() - began, out)
