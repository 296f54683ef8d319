"""`fader entities`: look up entities."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from fader.cli.common import Output, folder_argument, print_json, speaks, takes
from fader.search.index import Index
from fader.search.options import EntitiesOptions
from fader.search.suggest import Suggester


@click.command("entities", epilog="Example: fader entities index/ ein --type scientist")
@folder_argument
@takes(EntitiesOptions)
@speaks(quiet=False)
def command(folder: Path, options: EntitiesOptions, out: Output) -> None:
    """List entities one of whose names starts with PREFIX, or has words that start with the words of PREFIX.

    Exact matches come first, then names that start with PREFIX; among them the entities that the most documents
    mention. Case and accents do not matter.
    """
    collection = Index.open(folder, at=options.at).collection
    rows = []
    for hint in Suggester(collection).entities(options.prefix, options.limit, options.type):
        aliases = collection.catalog.aliases_of(collection.catalog.resolve_entity(hint.id))
        rows.append({**asdict(hint), "aliases": aliases})
    if out.as_json:
        print_json(rows)
        return
    for row in rows:
        also = f"  also {', '.join(row['aliases'])}" if row["aliases"] else ""
        print(f"{row['id']}  {row['name']!r}  {', '.join(row['types'])}{also}")
