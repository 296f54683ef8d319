"""`fader add`: add documents to an index, or replace some."""

from __future__ import annotations

import time
from pathlib import Path

import click

from fader.cli.changed import keep_option, memory_option, no_merge_option, tell
from fader.cli.common import folder_argument, json_option, on_error_option, quiet_option, say_when_compiling


@click.command("add", epilog="Example: fader add index/ more.jsonl.gz")
@folder_argument
@click.argument("corpus", nargs=-1, required=True)
@click.option("--threads", type=int, default=1, show_default=True, help="Threads; the index is the same with any.")
@memory_option
@keep_option
@no_merge_option
@click.option("--max-document-chars", type=int, metavar="N", help="Characters of a text; longer documents are faults.")
@click.option("--max-mentions", type=int, metavar="N", help="Mentions of a document; one with more is a fault.")
@on_error_option
@json_option
@quiet_option
def command(
    folder: Path, corpus: tuple[str, ...], threads: int, memory: int, keep: int | None, no_merge: bool,
    max_document_chars: int | None, max_mentions: int | None, on_error: str | None, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Add the documents of CORPUS files (.jsonl, .gz, .zst, or - for standard input) to the index in DIR.

    A document with an id that is there already replaces the old one. All of it is one commit: it is there as a whole
    or, if something fails, not at all. Entities and types are those of the index. Documents that cannot be used are
    skipped and counted; --on-error fail stops at the first, and nothing is changed.
    """
    from fader.index.write.change import ChangeOptions, add
    from fader.limits import Limits
    from fader.progress import progress

    say_when_compiling(quiet)
    began = time.perf_counter()
    limits = Limits.from_environment(document_characters=max_document_chars, document_mentions=max_mentions)
    options = ChangeOptions(on_error or "skip", memory, threads, keep, not no_merge, limits)
    with progress("Adding", quiet) as reporter:
        report = add(folder, list(corpus), options, reporter)
    tell(folder, report, time.perf_counter() - began, as_json, quiet)
