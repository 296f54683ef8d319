"""`fader batch`: a file of queries to a TREC run."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from fader.cli.common import Output, folder_argument, plugin_option, read_asked, speaks, takes
from fader.corpus.queries import FaultCollector
from fader.experiment.measures import average_measures, describe_unknown
from fader.limits import Limits
from fader.search.ask import resolve_interpreter
from fader.search.batch import refuse_overwriting, write_run
from fader.search.index import Index
from fader.search.models import resolve_model, warnings_of
from fader.search.options import BatchOptions


@click.command("batch", epilog="Example: fader batch index/ --queries queries.jsonl --run proximity.run")
@folder_argument
@takes(BatchOptions)
@plugin_option
@speaks()
def command(folder: Path, options: BatchOptions, out: Output) -> None:
    """Run every query of a file on the index in DIR and write a TREC run."""
    refuse_overwriting(options.output, options.queries, options.qrels)
    index = Index.open(folder, at=options.at, limits=Limits.from_environment(time_ms=options.timeout_ms))
    interpreter = resolve_interpreter(options.interpreter)
    search_all(index, partial(write_run, index, interpreter=interpreter), options, out)


def search_all(index: Index, write: Callable[..., dict[str, list[str]]], options: BatchOptions, out: Output) -> None:
    """Run every query, wherever `write` does that: `write_run` without the index."""
    ranker = resolve_model(options.model, index.collection, options.any_index)
    out.remark(*warnings_of(ranker, index.collection))
    asked = read_asked(index, options.queries, options.qrels, options.on_error, out, options.questions)
    began = time.perf_counter()
    with out.progress("Searching") as reporter:
        fault = FaultCollector(skip=True) if options.on_error == "skip" else None
        ranked = write(asked.queries, ranker, options.k, options.output, reporter, fault)
    out.remark(*(f"skipped {message}" for message in (fault.messages if fault else ())))
    skipped = asked.skipped + len(asked.queries) - len(ranked)
    summary = {"queries": len(ranked), "skipped": skipped, "seconds": time.perf_counter() - began}
    if asked.grades is not None:
        find = index.collection.catalog.entity_ids.find
        unknown = [entity for qid in ranked for entity in asked.grades.get(qid, {}) if find(entity) < 0]
        out.remark(*([describe_unknown(unknown)] if unknown else []))
        summary |= average_measures(ranked, asked.grades)
        if not summary["judged"]:
            out.remark(f"{options.qrels}: no query that was run has a good entity, so there is nothing to average")
    shown = (f"{k} {v:.4f}" if isinstance(v, float) else f"{k} {v:,}" for k, v in summary.items())
    out.conclude(summary, "  ".join(shown))
