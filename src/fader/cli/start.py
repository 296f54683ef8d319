"""`fader start`: from files to a page, in one command."""

from __future__ import annotations

import re
from pathlib import Path

import click

from fader.cli.common import Output, speaks, takes
from fader.cli.examples import keep_examples
from fader.cli.serve import check_packages, serve
from fader.corpora.files.corpus import summarise
from fader.corpus.tables import COLUMNS_HELP, ENTITIES_HELP, TYPES_HELP
from fader.errors import UsageError
from fader.index.reader import IndexReader
from fader.options import option, options
from fader.search.options import on_error_option
from fader.search.start import StartOptions, start


@options
class StartSources:
    """What is started from, and where it goes."""

    sources: tuple[str, ...] = option(help="Files or folders.", argument=True, metavar="FILE...")
    catalog: str | None = option(None, help=ENTITIES_HELP, flags=("--catalog", "--entities"), metavar="FILE")
    types: str | None = option(None, help=TYPES_HELP, metavar="FILE")
    columns: str | None = option(None, help=COLUMNS_HELP, metavar="ROLE=COLUMN,...")
    discover: bool = option(False, help="Find the entities in the texts anew; the default without --catalog.")
    output: str | None = option(
        None,
        help="The folder of index and catalog; by default the first source's name and .fader.",
        flags=("-o", "--output"),
        metavar="DIR",
    )
    stemmer: str | None = option(None, help="A Snowball stemmer, such as english.", metavar="LANGUAGE")
    processes: int = option(1, help="Processes that annotate; the index is the same with any number.", least=1)
    on_error: str | None = on_error_option()
    serve: bool = option(True, help="Do not serve the index at the end.", flags=("--no-serve",))
    port: int = option(8080, help="Where to serve; 0: any port that is free.", least=0, most=65_535)
    open_page: bool = option(False, help="Open the page in a browser.", flags=("--open",))

    @property
    def folder(self) -> Path:
        """Where the index goes."""
        if self.output:
            return Path(self.output)
        if not self.sources:
            raise UsageError("no file or folder is given")
        name = Path(self.sources[0]).resolve().name
        return Path(re.sub(r"\.(?:zip|tar|gz|zst|bz2|mbox|jsonl)$", "", name) + ".fader")


@click.command("start", epilog="Example: fader start notes/ --catalog people.csv --open")
@takes(StartSources, into="given")
@speaks()
def command(given: StartSources, out: Output) -> None:
    """Read files and folders, find entities, index, and serve the page, in one command.

    Text, Markdown, HTML, PDF, DOCX, mail, tables and archives are read (docs/files.md). Entities are those of a catalog
    (docs/catalogs.md), or without one are found in the texts (docs/discovery.md). Given again, it takes up what has
    changed. Each step says what it did, and which command does just that step.
    """
    if given.serve:
        check_packages()
    how = StartOptions(
        given.catalog, given.types, given.columns, given.discover, given.stemmer, given.processes, given.on_error
    )
    started = start(given.sources, given.folder, how, out.remark, out.progress)
    keep_examples(started.index, IndexReader(started.index).documents, anew=started.fresh)
    read, annotated = started.read, started.annotated
    summary = {
        "index": str(started.index),
        "read": summarise(read.report) if read else {},
        "entities": started.entities,
        "mentions": annotated.mentions if annotated else 0,
        "added": started.added,
        "deleted": started.deleted,
        "built": started.fresh,
        "seconds": started.seconds,
    }
    out.conclude(summary, f"{given.folder}: up to date, in {started.seconds:.1f} s")
    if given.serve:
        from fader.serve.settings import Settings

        out.remark(f"  just this step: fader serve {started.index}")
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", given.folder.name.removesuffix(".fader")).strip("-.") or "index"
        serve(Settings(indexes={name: started.index}, port=given.port), given.open_page, out)
