"""`fader add`: add documents to an index, or replace some, and change its catalog."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import click

from fader.cli.change import print_change
from fader.cli.common import DocumentOptions, Output, folder_argument, speaks, takes
from fader.cli.examples import keep_examples
from fader.corpus.catalog_change import CatalogChange
from fader.corpus.readers import read_lines
from fader.corpus.same_as import SAME_HELP
from fader.corpus.tables import COLUMNS_HELP
from fader.errors import InputError, UsageError
from fader.index.write.change import ChangeOptions, add
from fader.options import option, options


@options
class CatalogOptions:
    """What changes of the catalog, as files."""

    entities: str | None = option(
        None,
        help="Entities to put in; one that is there is replaced.",
        flags=("--entities", "--catalog"),
        metavar="FILE",
    )
    types: str | None = option(None, help="Types to put in; one that is there is replaced.", metavar="FILE")
    remove_entities: str | None = option(None, help="A file of ids of entities to remove, one a line.", metavar="FILE")
    remove_types: str | None = option(None, help="A file of ids of types to remove, one a line.", metavar="FILE")
    same_as: str | None = option(None, help=SAME_HELP, metavar="FILE")
    columns: str | None = option(None, help=COLUMNS_HELP, metavar="ROLE=COLUMN,...")

    def read(self) -> CatalogChange:
        """The change; files of ids are read."""
        gone, gone_types = _read_ids(self.remove_entities), _read_ids(self.remove_types)
        return CatalogChange(self.entities, self.types, gone, gone_types, self.columns, self.same_as)


def _read_ids(path: str | None) -> list[str]:
    ids = [line for _number, line in read_lines(path) if line] if path else []
    if path and not ids:
        raise InputError(f"{path}: has no ids; give one per line, or leave the file out")
    return ids


@click.command("add", epilog="Example: fader add index/ more.jsonl.gz --entities new.tsv")
@folder_argument
@click.argument("corpus", nargs=-1)
@takes(CatalogOptions, into="catalog")
@takes(ChangeOptions)
@takes(DocumentOptions, into="documents")
@speaks()
def command(
    folder: Path,
    corpus: tuple[str, ...],
    catalog: CatalogOptions,
    options: ChangeOptions,
    documents: DocumentOptions,
    out: Output,
) -> None:
    """Add the documents of CORPUS files (.jsonl, .gz, .zst, or - for standard input) to the index in DIR.

    A document with an id that is there already replaces the old one. Rows of entities and types that are given are put
    into the catalog in the same way (docs/catalogs.md). All of it is one commit: it is there as a whole or, if
    something fails, not at all. Documents that cannot be used are skipped and counted, a fault in the catalog stops the
    command; --on-error chooses for both.
    """
    began = time.perf_counter()
    change = catalog.read()
    if not corpus and not change:
        raise UsageError("nothing is given to add; pass CORPUS files, --entities, --types or what is to be removed")
    options = replace(
        options,
        on_error=documents.on_error or "skip",
        catalog_on_error=documents.on_error or "fail",
        limits=documents.limits,
    )
    with out.progress("Adding") as reporter:
        report = add(folder, list(corpus), options, reporter, change)
    keep_examples(folder, report.manifest.live.documents)
    print_change(folder, report, time.perf_counter() - began, out)
    if corpus and not report.added:
        raise InputError(f"{folder}: no document was added: none of the files holds one that can be used")
