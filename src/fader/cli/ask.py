"""`fader ask`: one question in plain words."""

from __future__ import annotations

from pathlib import Path

import click

from fader.cli.common import Output, folder_argument, plugin_option, print_json, speaks, takes
from fader.limits import Limits
from fader.search.options import AskOptions


@click.command("ask", epilog="Example: fader ask index/ 'Which scientist played the violin?'")
@folder_argument
@takes(AskOptions)
@plugin_option
@speaks()
def command(folder: Path, options: AskOptions, out: Output) -> None:
    """Ask the index in DIR a question in plain words.

    The question is read as answer types and literals. All readings count, each by its probability; the answer shows
    them. A reading counts alone where its type is given with --type, and --query replaces its literals.
    """
    # These load numba and rich, and `fader ask --help` must be quick.
    from fader.cli.render import print_asked
    from fader.search.index import Index
    from fader.search.models import resolve_model

    index = Index.open(folder, at=options.at, limits=Limits.from_environment(time_ms=options.timeout_ms))
    ranker = resolve_model(options.model, index.collection, options.any_index)
    answer = index.ask(
        options.question,
        options.k,
        ranker,
        options.interpreter,
        type=options.type,
        any_type=options.any_type,
        query=options.query,
        min_probability=options.min_probability,
        snippets=options.snippets,
        passage=options.passage,
        correct=options.correct,
    )
    if out.as_json:
        print_json(answer.to_dict())
    else:
        print_asked(answer, index.collection.catalog)
