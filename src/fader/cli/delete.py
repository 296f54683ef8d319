"""`fader delete`: delete documents of an index by their ids."""

from __future__ import annotations

import time
from pathlib import Path

import click

from fader.cli.change import print_change
from fader.cli.common import Output, folder_argument, speaks, takes
from fader.corpus.readers import read_lines
from fader.errors import InputError, UsageError
from fader.index.write.change import ChangeOptions, delete
from fader.options import option, options


@options
class IdOptions:
    """Which documents."""

    ids: str | None = option(
        None, help="A file of ids, one per line; .gz and .zst too, - for standard input.", metavar="FILE"
    )
    id: tuple[str, ...] = option((), help="An id; may be repeated.", metavar="ID")

    def read(self) -> list[str]:
        """All of them."""
        if self.ids is None and not self.id:
            raise UsageError("no ids are given; pass --ids FILE or --id ID")
        found = [*self.id, *(line for _number, line in read_lines(self.ids) if line)] if self.ids else list(self.id)
        if not found:
            raise InputError(f"{self.ids}: no id is in it, so nothing was deleted; give one per line")
        return found


@click.command("delete", epilog="Example: fader delete index/ --ids gone.txt --id d17")
@folder_argument
@takes(IdOptions, into="which")
@takes(ChangeOptions, "memory_mb", "keep", "merge")
@speaks()
def command(folder: Path, which: IdOptions, options: ChangeOptions, out: Output) -> None:
    """Delete the documents with the given ids from the index in DIR, in one commit.

    Ids that no document has are listed; they are no error. What is deleted no longer counts in answers and statistics;
    its bytes go when its segment is merged and no commit that is kept needs them.
    """
    ids = which.read()
    began = time.perf_counter()
    with out.progress("Deleting") as reporter:
        report = delete(folder, ids, options, reporter)
    print_change(folder, report, time.perf_counter() - began, out)
