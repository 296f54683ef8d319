"""`fader contexts`: the evidence of a file of queries as a data set.

Knows nothing of how contexts are found or of the files' layout.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from fader.cli.common import (
    asked,
    at_option,
    folder_argument,
    json_option,
    on_error_option,
    print_json,
    quiet_option,
    remark,
    say_when_compiling,
    together,
)

contexts_options = together(
    click.option("--queries", required=True, metavar="FILE", help="queries.jsonl."),
    click.option("--qrels", metavar="FILE", help="Judgments: each entity's grade, a column, or letor's label."),
    click.option("-o", "--output", required=True, metavar="FILE", help="The file to write."),
    click.option(
        "--format",
        "form",
        type=click.Choice(["parquet", "letor"]),
        default="parquet",
        show_default=True,
        help="parquet: a row a context; letor: a vector an entity, summed over its contexts, for other learners.",
    ),
    click.option("--features", default="noprox+rectangle", show_default=True, metavar="MAPS", help="Of letor vectors."),
    click.option(
        "--policy", default="document", show_default=True, metavar="NAME", help="Of letor: document or mention."
    ),
    click.option("--ignore-overlap", is_flag=True, help="Ignore occurrences inside the mention itself."),
    click.option("--window", type=int, metavar="TOKENS", help="Only literals within so many tokens."),
    click.option("--plan", type=click.Choice(["type", "document"]), help="Force a plan; the table is the same."),
    at_option,
    on_error_option,
    json_option,
    quiet_option,
)


@click.command("contexts", epilog="Example: fader contexts index/ --queries queries.jsonl -o contexts.parquet")
@folder_argument
@contexts_options
def command(folder: Path, at: int | None, **given: Any) -> None:
    """Write every context of every query, one row a mention, with all distances and sides."""
    from fader.search.batch import write_contexts, write_letor
    from fader.search.index import Index

    check_output(given)
    index = Index(folder, at=at)
    write = write_letor if given["form"] == "letor" else write_contexts
    write_all(index, lambda *asked, **options: write(index, *asked, **options), **given)


def check_output(given: dict[str, Any]) -> None:
    """Refuse an output that cannot be written, before anything is opened."""
    from fader.errors import UsageError
    from fader.search.batch import refuse_overwriting

    say_when_compiling(given["quiet"])
    if given["output"] == "-":
        raise UsageError("-o: this file cannot go to standard output; give a file name")
    refuse_overwriting(given["output"], given["queries"], given["qrels"])


def write_all(
    index: Any, write: Callable[..., int], queries: str, qrels: str | None, output: str, form: str, features: str,
    policy: str, ignore_overlap: bool, window: int | None, plan: str | None, on_error: str | None, as_json: bool,
    quiet: bool,
) -> None:  # fmt: skip
    """Write the file, wherever `write` finds what is in it: `write_contexts` or `write_letor` without the index."""
    from fader.progress import progress

    parsed, grades, _skipped = asked(index, queries, qrels, on_error, quiet)
    remarks = _remarks(parsed, grades, queries, qrels, form)
    for line in remarks:
        remark(line, quiet)
    with progress("Contexts", quiet) as reporter:
        options: dict[str, Any] = {"overlap": not ignore_overlap, "window": window, "plan": plan}
        if form == "letor":
            options |= {"features": features, "policy": policy}
        rows = write(parsed, grades, output, reporter, **options)
    unit = "entities" if form == "letor" else "contexts"
    if as_json:
        print_json({"queries": len(parsed), unit: rows, "file": output, "remarks": remarks})
    else:
        remark(f"{output}: {rows:,} {unit} of {len(parsed):,} queries", quiet)


def _remarks(parsed: Any, grades: Any, queries: str, qrels: str | None, form: str) -> list[str]:
    """Say where a file will hold no judgments; a learner would take labels of 0 for bad entities."""
    from fader.corpus.readers import display_name

    without = "all labels are 0" if form == "letor" else "all grades are empty"
    if qrels is None or grades is None:
        return [f"no judgments: {without}; give --qrels to learn from this file"] if form == "letor" else []
    if any(query.id in grades for query in parsed):
        return []
    return [f"{display_name(qrels)}: judges no query of {display_name(queries)}: {without}; give their judgments"]
