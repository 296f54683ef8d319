"""`fader types`: look up types."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import click

from fader.cli.common import at_option, folder_argument, json_option, print_json


@click.command("types", epilog="Example: fader types index/ sci")
@folder_argument
@click.argument("prefix", default="")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many at most.")
@at_option
@json_option
def command(folder: Path, prefix: str, limit: int, at: int | None, as_json: bool) -> None:
    """List types whose id or name starts with PREFIX, with their supertypes and number of entities."""
    from fader.index.reader import IndexReader

    catalog = IndexReader(folder, at=at).catalog
    rows: list[dict[str, Any]] = [
        {
            "id": catalog.type_ids[t],
            "name": catalog.type_names[t],
            "supertypes": catalog.supertypes_of(t),
            "subtypes": int(catalog.descendants(t).size) - 1,
            "entities": int(catalog.entities_of_type(t).size),
        }
        for t in islice(catalog.types_by_prefix(prefix), limit)
    ]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        above = f"  < {', '.join(row['supertypes'])}" if row["supertypes"] else ""
        print(f"{row['id']}  {row['name']!r}{above}  ({row['entities']:,} entities, {row['subtypes']:,} subtypes)")
