"""`fader entity`: an entity, and its evidence for a query.

Knows nothing of how contexts are found.
"""

from __future__ import annotations

from pathlib import Path

import click

from fader.cli.common import Output, folder_argument, plugin_option, print_json, speaks, takes
from fader.cli.render import print_card, print_evidence
from fader.limits import Limits
from fader.search.index import Index
from fader.search.models import resolve_model
from fader.search.options import EntityOptions


@click.command("entity", epilog="Example: fader entity index/ Albert_Einstein 'played +violin' --type scientist")
@folder_argument
@takes(EntityOptions)
@plugin_option
@speaks()
def command(folder: Path, options: EntityOptions, out: Output) -> None:
    """Show the entity ID of the index in DIR: its names, its types and how many documents mention it.

    With QUERY also its rank and all contexts that count, from the one that contributes most on.
    """
    index = Index.open(folder, at=options.at, limits=Limits.from_environment(time_ms=options.timeout_ms))
    card, evidence = index.entity(options.entity), None
    if options.query is not None:
        ranker = resolve_model(options.model, index.collection, options.any_index)
        query = index.parse(options.query, options.type, entity_literals=not options.no_entity_literals)
        evidence = index.evidence(
            query, options.entity, None, ranker, offset=options.offset, limit=options.limit, passage=options.passage
        )
    if out.as_json:
        print_json({**card.to_dict(), "evidence": evidence.to_dict() if evidence else None})
        return
    print_card(card)
    if evidence is not None:
        print_evidence(evidence)
