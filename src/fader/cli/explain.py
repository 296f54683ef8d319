"""`fader explain`: why an entity has its rank.

Knows nothing of how scores are made.
"""

from __future__ import annotations

from pathlib import Path

import click

from fader.cli.common import (
    any_index_option,
    at_option,
    folder_argument,
    json_option,
    print_json,
    quiet_option,
    say_when_compiling,
    system_option,
)


@click.command("explain", epilog="Example: fader explain index/ 'played +violin' --entity Isaac_Newton")
@folder_argument
@click.argument("query")
@click.option("--entity", required=True, metavar="ID", help="The entity, by id; `fader entities` looks ids up.")
@click.option("--type", "answer_type", metavar="TYPE", help="The answer type, by id or name.")
@system_option
@any_index_option
@at_option
@click.option("--timeout-ms", type=int, metavar="MS", help="Time for the query, about a second to start included.")
@json_option
@quiet_option
def command(
    folder: Path, query: str, entity: str, answer_type: str | None, model: str, any_index: bool, at: int | None,
    timeout_ms: int | None, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Show why an entity has its rank for QUERY in the index in DIR, however far down it is.

    What each feature, word and context contributes, and for features with a grid of IDF share by distance, the cells
    that the entity's words fall into.
    """
    say_when_compiling(quiet)
    from fader.limits import Limits
    from fader.search.index import Index
    from fader.search.models import ranker_of

    index = Index(folder, at=at, limits=Limits.from_environment(time_ms=timeout_ms))
    why = index.why(query, entity, answer_type, ranker_of(model, index.reader, any_index))
    if as_json:
        print_json(why.to_dict())
        return
    from fader.cli.render import print_why

    print_why(why)
