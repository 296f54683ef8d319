"""`fader add`: add documents to an index, or replace some."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import click

from fader.cli.change import print_change
from fader.cli.common import DocumentOptions, Output, folder_argument, speaks, takes
from fader.errors import InputError
from fader.index.write.change import ChangeOptions, add


@click.command("add", epilog="Example: fader add index/ more.jsonl.gz")
@folder_argument
@click.argument("corpus", nargs=-1, required=True)
@takes(ChangeOptions)
@takes(DocumentOptions, into="documents")
@speaks()
def command(
    folder: Path, corpus: tuple[str, ...], options: ChangeOptions, documents: DocumentOptions, out: Output
) -> None:
    """Add the documents of CORPUS files (.jsonl, .gz, .zst, or - for standard input) to the index in DIR.

    A document with an id that is there already replaces the old one. All of it is one commit: it is there as a whole
    or, if something fails, not at all. Entities and types are those of the index. Documents that cannot be used are
    skipped and counted; --on-error fail stops at the first, and nothing is changed.
    """
    began = time.perf_counter()
    options = replace(options, on_error=documents.on_error or "skip", limits=documents.limits)
    with out.progress("Adding") as reporter:
        report = add(folder, list(corpus), options, reporter)
    print_change(folder, report, time.perf_counter() - began, out)
    if not report.added:
        raise InputError(f"{folder}: no document was added: none of the files holds one that can be used")
