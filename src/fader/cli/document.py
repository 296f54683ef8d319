"""`fader document`: a document with its mentions."""

from __future__ import annotations

from pathlib import Path

import click

from fader.cli.common import Output, folder_argument, print_json, speaks, takes
from fader.limits import Limits
from fader.search.options import ShowDocumentOptions


@click.command("document", epilog="Example: fader document index/ Albert_Einstein 'played +violin'")
@folder_argument
@takes(ShowDocumentOptions)
@speaks()
def command(folder: Path, options: ShowDocumentOptions, out: Output) -> None:
    """Show the document ID of the index in DIR: its title, its text with all mentions, and its URL.

    Mentions stand in brackets, and the words of QUERY between asterisks.
    """
    from fader.cli.render import print_document  # loads rich, and `fader document --help` must be quick
    from fader.search.index import Index

    index = Index.open(folder, at=options.at, limits=Limits.from_environment(time_ms=options.timeout_ms))
    page = index.document(options.document, options.query)
    if out.as_json:
        print_json(page.to_dict())
    else:
        print_document(page)
