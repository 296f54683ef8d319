"""`fader search`: one query."""

from __future__ import annotations

from pathlib import Path

import click

from fader.cli.common import Output, folder_argument, plugin_option, print_json, speaks, takes
from fader.limits import Limits
from fader.search.options import SearchOptions


@click.command("search", epilog="Example: fader search index/ 'played +violin' --type scientist")
@folder_argument
@takes(SearchOptions)
@plugin_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: a line per snippet.")
@speaks()
def command(folder: Path, options: SearchOptions, as_csv: bool, out: Output) -> None:
    """Ask the index in DIR for entities.

    QUERY: words, "phrases", +required, -forbidden, ="as it is", entity:ID, type:name.
    """
    # These load numba and rich, and `fader search --help` must be quick.
    from fader.cli.render import print_answer, print_asked
    from fader.questions.words import is_question
    from fader.search.csv import to_csv
    from fader.search.index import Index
    from fader.search.models import resolve_model

    if out.as_json and as_csv:
        raise click.UsageError("--json and --csv are two formats; give one")
    index = Index.open(folder, at=options.at, limits=Limits.from_environment(time_ms=options.timeout_ms))
    ranker = resolve_model(options.model, index.collection, options.any_index)
    if options.ask == "always" or (options.ask == "auto" and options.type is None and is_question(options.query)):
        asked = index.ask(options.query, options.k, ranker, type=options.type, snippets=options.snippets)
        if out.as_json:
            print_json(asked.to_dict())
        elif as_csv:
            click.echo(to_csv(asked), nl=False)
        else:
            print_asked(asked, index.collection.catalog)
        return
    query = index.parse(options.query, options.type, entity_literals=not options.no_entity_literals)
    answer = index.search(
        query, None, options.k, ranker, snippets=options.snippets, passage=options.passage, explain=options.explain
    )
    if out.as_json:
        print_json(answer.to_dict())
    elif as_csv:
        click.echo(to_csv(answer), nl=False)
    else:
        print_answer(answer, index.collection.catalog)
