"""`fader add`: add documents to an index, or replace some."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from fader.cli.change import print_change
from fader.cli.common import (
    collect,
    declare,
    document_limit_options,
    document_limits,
    folder_argument,
    json_option,
    on_error_option,
    quiet_option,
    say_when_compiling,
)
from fader.index.write.change import ChangeOptions, add
from fader.progress import progress


@click.command("add", epilog="Example: fader add index/ more.jsonl.gz")
@folder_argument
@click.argument("corpus", nargs=-1, required=True)
@declare(ChangeOptions, "threads", "memory_mb", "keep", "merge")
@document_limit_options
@on_error_option
@json_option
@quiet_option
def command(
    folder: Path, corpus: tuple[str, ...], on_error: str | None, as_json: bool, quiet: bool, **given: Any
) -> None:
    """Add the documents of CORPUS files (.jsonl, .gz, .zst, or - for standard input) to the index in DIR.

    A document with an id that is there already replaces the old one. All of it is one commit: it is there as a whole
    or, if something fails, not at all. Entities and types are those of the index. Documents that cannot be used are
    skipped and counted; --on-error fail stops at the first, and nothing is changed.
    """
    say_when_compiling(quiet)
    began = time.perf_counter()
    options = collect(ChangeOptions, given, on_error=on_error or "skip", limits=document_limits(given))
    with progress("Adding", quiet) as reporter:
        report = add(folder, list(corpus), options, reporter)
    print_change(folder, report, time.perf_counter() - began, as_json, quiet)
