"""`fader merge`: merge the segments of an index."""

from __future__ import annotations

import time
from pathlib import Path

import click

from fader.cli.changed import keep_option, memory_option, tell
from fader.cli.common import folder_argument, json_option, quiet_option, say_when_compiling


@click.command("merge", epilog="Example: fader merge index/")
@folder_argument
@memory_option
@keep_option
@json_option
@quiet_option
def command(folder: Path, memory: int, keep: int | None, as_json: bool, quiet: bool) -> None:
    """Merge all segments of the index in DIR into one, or as few as --memory allows, without what is deleted.

    Answers stay the same, bit for bit. `add` and `delete` merge small segments by themselves, so this is needed only
    to get rid of deleted texts, or before an index is copied elsewhere.
    """
    from fader.index.write.change import ChangeOptions, merge
    from fader.progress import progress

    say_when_compiling(quiet)
    began = time.perf_counter()
    with progress("Merging", quiet) as reporter:
        report = merge(folder, ChangeOptions(memory_mb=memory, keep=keep), reporter)
    tell(folder, report, time.perf_counter() - began, as_json, quiet)
