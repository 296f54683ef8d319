"""`fader types`: look up types."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from fader.cli.common import Output, folder_argument, print_json, speaks, takes
from fader.search.index import Index
from fader.search.options import TypesOptions
from fader.search.suggest import Suggester


@click.command("types", epilog="Example: fader types index/ sci")
@folder_argument
@takes(TypesOptions)
@speaks(quiet=False)
def command(folder: Path, options: TypesOptions, out: Output) -> None:
    """List types whose name or id starts with PREFIX, or has words that start with the words of PREFIX.

    Each with its supertypes, and how many entities and subtypes it has through all levels. Exact matches come first,
    then names that start with PREFIX; among them the types with the most entities. Case and accents do not matter.
    """
    hints = Suggester(Index.open(folder, at=options.at).collection).types(options.prefix, options.limit)
    if out.as_json:
        print_json([asdict(hint) for hint in hints])
        return
    for hint in hints:
        above = f"  < {', '.join(hint.supertypes)}" if hint.supertypes else ""
        print(f"{hint.id}  {hint.name!r}{above}  ({hint.entities:,} entities, {hint.subtypes:,} subtypes)")
