"""`fader delete`: delete documents of an index by their ids."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from fader.cli.change import print_change
from fader.cli.common import collect, declare, folder_argument, json_option, quiet_option, say_when_compiling
from fader.corpus.readers import read_lines
from fader.errors import UsageError
from fader.index.write.change import ChangeOptions, delete
from fader.progress import progress


@click.command("delete", epilog="Example: fader delete index/ --ids gone.txt --id d17")
@folder_argument
@click.option("--ids", "file", metavar="FILE", help="Ids, one per line; .gz and .zst too, - for standard input.")
@click.option("--id", "single", multiple=True, metavar="ID", help="An id; may be repeated.")
@declare(ChangeOptions, "memory_mb", "keep", "merge")
@json_option
@quiet_option
def command(folder: Path, file: str | None, single: tuple[str, ...], as_json: bool, quiet: bool, **given: Any) -> None:
    """Delete the documents with the given ids from the index in DIR, in one commit.

    Ids of no document are listed, and are no error. What is deleted is in no answer and no statistics any more; its
    bytes go when its segment is merged and no commit that is kept needs them.
    """
    if file is None and not single:
        raise UsageError("no ids are given; pass --ids FILE or --id ID")
    say_when_compiling(quiet)
    began = time.perf_counter()
    listed = [line for _number, line in read_lines(file) if line] if file is not None else []
    with progress("Deleting", quiet) as reporter:
        report = delete(folder, [*single, *listed], collect(ChangeOptions, given), reporter)
    print_change(folder, report, time.perf_counter() - began, as_json, quiet)
