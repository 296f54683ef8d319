"""`fader explain`: why an entity has its rank.

Knows nothing of how scores are made.
"""

from __future__ import annotations

from pathlib import Path

import click

from fader.cli.common import Output, folder_argument, plugin_option, print_json, speaks, takes
from fader.cli.render import print_why
from fader.limits import Limits
from fader.search.index import Index
from fader.search.models import resolve_model
from fader.search.options import ExplainOptions


@click.command("explain", epilog="Example: fader explain index/ 'played +violin' --entity Isaac_Newton")
@folder_argument
@takes(ExplainOptions)
@plugin_option
@speaks()
def command(folder: Path, options: ExplainOptions, out: Output) -> None:
    """Show why an entity has its rank for QUERY in the index in DIR, however far down it is.

    What each feature, word and context contributes, and for features with a grid of IDF share by distance, the cells
    that the entity's words fall into.
    """
    index = Index.open(folder, at=options.at, limits=Limits.from_environment(time_ms=options.timeout_ms))
    ranker = resolve_model(options.model, index.collection, options.any_index)
    query = index.parse(options.query, options.type, entity_literals=not options.no_entity_literals)
    why = index.why(query, options.entity, None, ranker)
    print_json(why.to_dict()) if out.as_json else print_why(why)
