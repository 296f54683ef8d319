"""`fader search`: one query."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fader.cli.common import (
    collect,
    declare,
    folder_argument,
    json_option,
    plugin_option,
    print_json,
    quiet_option,
    say_when_compiling,
)
from fader.limits import Limits
from fader.search.options import SearchOptions


@click.command("search", epilog="Example: fader search index/ 'played +violin' --type scientist")
@folder_argument
@click.argument("query")
@declare(SearchOptions, skip=("query",))
@plugin_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: a line per snippet.")
@quiet_option
def command(folder: Path, as_json: bool, as_csv: bool, quiet: bool, **given: Any) -> None:
    """Ask the index in DIR for entities.

    QUERY: words, "phrases", +required, -forbidden, type:name.
    """
    # These load numba and rich, and `fader search --help` must be quick.
    from fader.cli.render import print_answer
    from fader.search.csv import to_csv
    from fader.search.index import Index
    from fader.search.models import resolve_model

    options = collect(SearchOptions, given)
    say_when_compiling(quiet)
    if as_json and as_csv:
        raise click.UsageError("--json and --csv are two formats; give one")
    index = Index.open(folder, options.verify, options.at, Limits.from_environment(time_ms=options.timeout_ms))
    ranker = resolve_model(options.model, index.collection, options.any_index)
    answer = index.search(
        options.query, options.type, options.k, ranker, snippets=options.snippets, explain=options.explain
    )
    if as_json:
        print_json(answer.to_dict())
    elif as_csv:
        click.echo(to_csv(answer), nl=False)
    else:
        print_answer(answer, index.collection.catalog)
