"""`fader entities`: look up entities."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import click

from fader.cli.common import at_option, folder_argument, json_option, print_json


@click.command("entities", epilog="Example: fader entities index/ ein --type scientist")
@folder_argument
@click.argument("prefix", default="")
@click.option("--type", "answer_type", metavar="TYPE", help="Only entities of this type.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many at most.")
@at_option
@json_option
def command(folder: Path, prefix: str, answer_type: str | None, limit: int, at: int | None, as_json: bool) -> None:
    """List entities one of whose names starts with PREFIX."""
    from fader.index.reader import IndexReader

    catalog = IndexReader(folder, at=at).catalog
    found = catalog.entities_by_prefix(prefix)
    if answer_type is not None:
        wanted = set(catalog.entities_of_type(catalog.resolve_type(answer_type)).tolist())
        found = (e for e in found if e in wanted)
    rows = [
        {
            "id": catalog.entity_ids[e],
            "name": catalog.entity_names[e],
            "types": catalog.types_of(e),
            "aliases": catalog.aliases_of(e),
        }
        for e in islice(found, limit)
    ]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        also = f"  also {', '.join(row['aliases'])}" if row["aliases"] else ""
        print(f"{row['id']}  {row['name']!r}  {', '.join(row['types'])}{also}")
