"""`fader types`: look up types."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from fader.cli.common import at_option, folder_argument, json_option, print_json
from fader.search.index import Index
from fader.search.suggest import Suggester


@click.command("types", epilog="Example: fader types index/ sci")
@folder_argument
@click.argument("prefix", default="")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many at most.")
@at_option
@json_option
def command(folder: Path, prefix: str, limit: int, at: int | None, as_json: bool) -> None:
    """List types whose name or id starts with PREFIX, or has words that start with the words of PREFIX.

    With their supertypes and numbers of entities and subtypes, through all levels. Exact matches come first, then those
    that start so; among them types with the most entities. Case and accents do not matter.
    """

    hints = Suggester(Index.open(folder, at=at).collection).types(prefix, limit)
    if as_json:
        print_json([asdict(hint) for hint in hints])
        return
    for hint in hints:
        above = f"  < {', '.join(hint.supertypes)}" if hint.supertypes else ""
        print(f"{hint.id}  {hint.name!r}{above}  ({hint.entities:,} entities, {hint.subtypes:,} subtypes)")
