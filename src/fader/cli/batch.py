"""`fader batch`: a file of queries to a TREC run."""

from __future__ import annotations

import time
from collections.abc import Callable
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
    read_asked,
    remark,
    say_when_compiling,
)
from fader.corpus.queries import FaultCollector
from fader.experiment.measures import average_measures
from fader.limits import Limits
from fader.progress import progress
from fader.search.batch import refuse_overwriting, write_run
from fader.search.index import Index
from fader.search.models import resolve_model, warnings_of
from fader.search.options import BatchOptions


@click.command("batch", epilog="Example: fader batch index/ --queries queries.jsonl --run proximity.run")
@folder_argument
@declare(BatchOptions)
@plugin_option
@json_option
@quiet_option
def command(folder: Path, as_json: bool, quiet: bool, **given: Any) -> None:
    """Run every query of a file on the index in DIR and write a TREC run."""
    options = collect(BatchOptions, given)
    say_when_compiling(quiet)
    refuse_overwriting(options.output, options.queries, options.qrels)
    index = Index.open(folder, at=options.at, limits=Limits.from_environment(time_ms=options.timeout_ms))
    search_all(index, lambda *asked: write_run(index, *asked), options, as_json, quiet)


def search_all(
    index: Index, write: Callable[..., dict[str, list[str]]], options: BatchOptions, as_json: bool, quiet: bool
) -> None:
    """Run every query, wherever `write` does that: `write_run` without the index."""
    ranker = resolve_model(options.model, index.collection, options.any_index)
    for line in warnings_of(ranker, index.collection):
        remark(line, quiet)
    asked = read_asked(index, options.queries, options.qrels, options.on_error, quiet)
    began = time.perf_counter()
    with progress("Searching", quiet) as reporter:
        fault = FaultCollector(skip=True) if options.on_error == "skip" else None
        ranked = write(asked.queries, ranker, options.k, options.output, reporter, fault)
    for message in fault.messages if fault else ():
        remark(f"skipped {message}", quiet)
    skipped = asked.skipped + len(asked.queries) - len(ranked)
    summary = {"queries": len(ranked), "skipped": skipped, "seconds": time.perf_counter() - began}
    if asked.grades is not None:
        summary |= average_measures(ranked, asked.grades)
        if not summary["judged"]:
            said = "no query that was run has a judged good entity, so there is nothing to average"
            remark(f"{options.qrels}: {said}", quiet)
    if as_json:
        print_json(summary)
    else:
        shown = (f"{k} {v:.4f}" if isinstance(v, float) else f"{k} {v:,}" for k, v in summary.items())
        remark("  ".join(shown), quiet)
