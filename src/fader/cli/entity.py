"""`fader entity`: an entity, and what speaks for it.

Knows nothing of how contexts are found.
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


@click.command("entity", epilog="Example: fader entity index/ Albert_Einstein 'played +violin' --type scientist")
@folder_argument
@click.argument("entity", metavar="ID")
@click.argument("query", required=False)
@click.option("--type", "answer_type", metavar="TYPE", help="The answer type of the query, by id or name.")
@click.option("--offset", type=int, default=0, show_default=True, help="Contexts to leave out, the best first.")
@click.option("--limit", type=int, default=20, show_default=True, help="Contexts at most.")
@system_option
@any_index_option
@at_option
@click.option("--timeout-ms", type=int, metavar="MS", help="Time for the query.")
@json_option
@quiet_option
def command(
    folder: Path, entity: str, query: str | None, answer_type: str | None, offset: int, limit: int,
    model: str, any_index: bool, at: int | None, timeout_ms: int | None, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Show the entity ID of the index in DIR: its names, its types and how many documents mention it.

    With QUERY also its rank and all contexts that count, from the one that contributes most on.
    """
    say_when_compiling(quiet)
    from fader.limits import Limits
    from fader.search.index import Index
    from fader.search.models import ranker_of

    index = Index(folder, at=at, limits=Limits.from_environment(time_ms=timeout_ms))
    card, evidence = index.entity(entity), None
    if query is not None:
        ranker = ranker_of(model, index.reader, any_index)
        evidence = index.evidence(query, entity, answer_type, ranker, offset=offset, limit=limit)
    if as_json:
        print_json({**card.to_dict(), "evidence": evidence.to_dict() if evidence else None})
        return
    from fader.cli.render import print_card, print_evidence

    print_card(card)
    if evidence is not None:
        print_evidence(evidence)
