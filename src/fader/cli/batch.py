"""`fader batch`: a file of queries to a TREC run."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from fader.cli.common import (
    any_index_option,
    asked,
    at_option,
    folder_argument,
    json_option,
    on_error_option,
    print_json,
    quiet_option,
    remark,
    say_when_compiling,
    system_option,
    together,
)

batch_options = together(
    click.option("--queries", required=True, metavar="FILE", help="queries.jsonl."),
    click.option(
        "--run", "output", required=True, metavar="FILE", help="The TREC run to write, - for standard output."
    ),
    click.option("--qrels", metavar="FILE", help="Judgments: MAP, MRR and nDCG are printed too."),
    click.option("-k", type=int, default=1000, show_default=True, help="How many entities a query."),
    system_option,
    any_index_option,
    at_option,
    click.option(
        "--timeout-ms", type=int, metavar="MS", help="Time for each query; --on-error says what if it is over."
    ),
    on_error_option,
    json_option,
    quiet_option,
)


@click.command("batch", epilog="Example: fader batch index/ --queries queries.jsonl --run proximity.run")
@folder_argument
@batch_options
def command(folder: Path, at: int | None, timeout_ms: int | None, **given: Any) -> None:
    """Run every query of a file on the index in DIR and write a TREC run."""
    from fader.limits import Limits
    from fader.search.batch import refuse_overwriting, write_run
    from fader.search.index import Index

    say_when_compiling(given["quiet"])
    refuse_overwriting(given["output"], given["queries"], given["qrels"])
    index = Index(folder, at=at, limits=Limits.from_environment(time_ms=timeout_ms))
    search_all(index, lambda *asked: write_run(index, *asked), **given)


def search_all(
    index: Any, write: Callable[..., dict[str, list[str]]], queries: str, output: str, qrels: str | None, k: int,
    model: str, any_index: bool, on_error: str | None, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Run every query, wherever `write` does that: `write_run` without the index."""
    from fader.corpus.queries import FaultCollector
    from fader.experiment.measures import mean_measures
    from fader.progress import progress
    from fader.search.models import ranker_of, warnings_of

    ranker = ranker_of(model, index.reader, any_index)
    for line in warnings_of(ranker, index.reader):
        remark(line, quiet)
    parsed, grades, skipped = asked(index, queries, qrels, on_error, quiet)
    began = time.perf_counter()
    with progress("Searching", quiet) as reporter:
        fault = FaultCollector(skip=True) if on_error == "skip" else None
        ranked = write(parsed, ranker, k, output, reporter, fault)
    for message in fault.messages if fault else ():
        remark(f"skipped {message}", quiet)
    skipped += len(parsed) - len(ranked)
    summary = {"queries": len(ranked), "skipped": skipped, "seconds": time.perf_counter() - began}
    if qrels:
        summary |= mean_measures(ranked, grades)
        if not summary["judged"]:
            remark(f"{qrels}: no query that was run has a judged good entity, so there is nothing to average", quiet)
    if as_json:
        print_json(summary)
    else:
        remark(
            "  ".join(f"{k} {v:.4f}" if isinstance(v, float) else f"{k} {v:,}" for k, v in summary.items()),
            quiet,
        )
