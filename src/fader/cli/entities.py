"""`fader entities`: look up entities."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from fader.cli.common import at_option, folder_argument, json_option, print_json
from fader.search.index import Index
from fader.search.suggest import Suggester


@click.command("entities", epilog="Example: fader entities index/ ein --type scientist")
@folder_argument
@click.argument("prefix", default="")
@click.option("--type", "answer_type", metavar="TYPE", help="Only entities of this type.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many at most.")
@at_option
@json_option
def command(folder: Path, prefix: str, answer_type: str | None, limit: int, at: int | None, as_json: bool) -> None:
    """List entities one of whose names starts with PREFIX, or has words that start with the words of PREFIX.

    Exact matches come first, then those that start so; among them entities that the most documents mention. Case and
    accents do not matter.
    """

    collection = Index.open(folder, at=at).collection
    rows = []
    for hint in Suggester(collection).entities(prefix, limit, answer_type):
        aliases = collection.catalog.aliases_of(collection.catalog.resolve_entity(hint.id))
        rows.append({**asdict(hint), "aliases": aliases})
    if as_json:
        print_json(rows)
        return
    for row in rows:
        also = f"  also {', '.join(row['aliases'])}" if row["aliases"] else ""
        print(f"{row['id']}  {row['name']!r}  {', '.join(row['types'])}{also}")
