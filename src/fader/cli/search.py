"""`fader search`: one query."""

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


@click.command("search", epilog="Example: fader search index/ 'played +violin' --type scientist")
@folder_argument
@click.argument("query")
@click.option("--type", "answer_type", metavar="TYPE", help="The answer type, by id or name.")
@click.option("-k", type=int, default=10, show_default=True, help="How many entities.")
@click.option("--snippets", type=int, default=2, show_default=True, help="Snippets an entity.")
@click.option("--explain", is_flag=True, help="Show how each score comes about.")
@click.option("--verify", is_flag=True, help="Verify checksums and invariants before answering.")
@system_option
@any_index_option
@at_option
@click.option("--timeout-ms", type=int, metavar="MS", help="Time for the query, about a second to start included.")
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: a line a snippet.")
@quiet_option
def command(
    folder: Path, query: str, answer_type: str | None, k: int, snippets: int, explain: bool, verify: bool,
    model: str, any_index: bool, at: int | None, timeout_ms: int | None, as_json: bool, as_csv: bool,
    quiet: bool,
) -> None:  # fmt: skip
    """Ask the index in DIR for entities.

    QUERY: words, "phrases", +required, -forbidden, type:name.
    """
    say_when_compiling(quiet)
    if as_json and as_csv:
        raise click.UsageError("--json and --csv are two formats; give one")
    from fader.limits import Limits
    from fader.search.index import Index
    from fader.search.models import ranker_of

    index = Index(folder, verify, at, Limits.from_environment(time_ms=timeout_ms))
    ranker = ranker_of(model, index.reader, any_index)
    answer = index.search(query, answer_type, k, ranker, snippets=snippets, explain=explain)
    if as_json:
        print_json(answer.to_dict())
        return
    if as_csv:
        from fader.search.csv import to_csv

        click.echo(to_csv(answer), nl=False)
        return
    from fader.cli.render import print_answer

    print_answer(answer, index.reader.catalog)
