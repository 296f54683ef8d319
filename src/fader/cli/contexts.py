"""`fader contexts`: the evidence of a file of queries as a data set.

Knows nothing of how contexts are found or of the files' layout.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from fader.cli.common import Asked, Output, folder_argument, plugin_option, read_asked, speaks, takes
from fader.corpus.readers import display_name
from fader.errors import UsageError
from fader.search.batch import refuse_overwriting, write_contexts, write_letor
from fader.search.index import Index
from fader.search.options import ContextsOptions


@click.command("contexts", epilog="Example: fader contexts index/ --queries queries.jsonl -o contexts.parquet")
@folder_argument
@takes(ContextsOptions)
@plugin_option
@speaks()
def command(folder: Path, options: ContextsOptions, out: Output) -> None:
    """Write every context of every query, a row per mention, with all distances and sides."""
    check_output(options)
    index = Index.open(folder, at=options.at)
    write = write_letor if options.format == "letor" else write_contexts
    write_all(index, lambda *asked, **more: write(index, *asked, **more), options, out)


def check_output(options: ContextsOptions) -> None:
    """Refuse an output that cannot be written, before anything is opened."""
    if options.output == "-":
        raise UsageError("-o: this file cannot go to standard output; give a file name")
    refuse_overwriting(options.output, options.queries, options.qrels)


def write_all(index: Index, write: Callable[..., int], options: ContextsOptions, out: Output) -> None:
    """Write the file, wherever `write` finds what is in it: `write_contexts` or `write_letor` without the index."""
    asked = read_asked(index, options.queries, options.qrels, options.on_error, out)
    remarks = _find_unjudged(asked, options)
    out.remark(*remarks)
    how: dict[str, Any] = {"overlap": not options.ignore_overlap, "window": options.window, "plan": options.plan}
    if options.format == "letor":
        how |= {"features": options.features, "policy": options.policy}
    with out.progress("Contexts") as reporter:
        rows = write(asked.queries, asked.grades, options.output, reporter, **how)
    unit, queries = "entities" if options.format == "letor" else "contexts", len(asked.queries)
    summary = {"queries": queries, unit: rows, "file": options.output, "remarks": remarks}
    out.conclude(summary, f"{options.output}: {rows:,} {unit} of {queries:,} queries")


def _find_unjudged(asked: Asked, options: ContextsOptions) -> list[str]:
    """Say where a file will hold no judgments; a learner would take labels of 0 for bad entities."""
    letor = options.format == "letor"
    without = "all labels are 0" if letor else "all grades are empty"
    if options.qrels is None or asked.grades is None:
        return [f"no judgments: {without}; give --qrels to learn from this file"] if letor else []
    if any(query.id in asked.grades for query in asked.queries):
        return []
    qrels, queries = display_name(options.qrels), display_name(options.queries)
    return [f"{qrels}: judges no query of {queries}: {without}; give their judgments"]
