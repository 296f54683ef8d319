"""`fader delete`: delete documents of an index by their ids."""

from __future__ import annotations

import time
from pathlib import Path

import click

from fader.cli.changed import keep_option, memory_option, no_merge_option, tell
from fader.cli.common import folder_argument, json_option, quiet_option, say_when_compiling


@click.command("delete", epilog="Example: fader delete index/ --ids gone.txt --id d17")
@folder_argument
@click.option("--ids", "file", metavar="FILE", help="Ids, one a line; .gz and .zst too, - for standard input.")
@click.option("--id", "single", multiple=True, metavar="ID", help="An id; may be repeated.")
@memory_option
@keep_option
@no_merge_option
@json_option
@quiet_option
def command(
    folder: Path, file: str | None, single: tuple[str, ...], memory: int, keep: int | None, no_merge: bool,
    as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Delete the documents with the given ids from the index in DIR, in one commit.

    Ids of no document are listed, and are no error. What is deleted is in no answer and no statistics any more; its
    bytes go when its segment is merged and no commit that is kept needs them.
    """
    from fader.errors import UsageError
    from fader.index.write.change import ChangeOptions, delete
    from fader.progress import progress

    if file is None and not single:
        raise UsageError("no ids are given; pass --ids FILE or --id ID")
    say_when_compiling(quiet)
    began = time.perf_counter()
    ids = [*single, *(_read(file) if file is not None else ())]
    with progress("Deleting", quiet) as reporter:
        report = delete(folder, ids, ChangeOptions(memory_mb=memory, keep=keep, merge=not no_merge), reporter)
    tell(folder, report, time.perf_counter() - began, as_json, quiet)


def _read(file: str) -> list[str]:
    """The ids of a file; empty lines are none."""
    from fader.corpus.readers import read_lines

    return [line for _number, line in read_lines(file) if line]
