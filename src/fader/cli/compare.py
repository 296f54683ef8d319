"""`fader compare`: systems side by side, cross-validated, with significance, as tables and figures."""

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

EXAMPLE = (
    "fader compare index/ --queries queries.jsonl --qrels qrels.txt --systems 'count,fader(features=noprox)' -o report/"
)


compare_options = together(
    click.option("--queries", required=True, metavar="FILE", help="queries.jsonl."),
    click.option("--qrels", required=True, metavar="FILE", help="Judgments in TREC form; a grade above 0 is good."),
    click.option("--systems", required=True, metavar="LIST", help="Systems, separated by commas."),
    click.option("-o", "--output", required=True, metavar="REPORT", help="The folder of the report to write."),
    click.option("--cv", default="loo", show_default=True, metavar="CV", help="loo, or a number of folds."),
    click.option(
        "--keep", metavar="DIR", help="Keep each system's result here, and take those that are there already."
    ),
    click.option("--baseline", metavar="SYSTEM", help="Show differences to this one."),
    click.option("--measures", metavar="LIST", help="AP,RR,nDCG@5,nDCG@10,pairswap by default; any of ir_measures."),
    click.option("--test", type=click.Choice(["t", "randomisation"]), default="t", show_default=True),
    click.option("--holm", is_flag=True, help="Correct p-values for the number of systems."),
    click.option("--title", default="", help="The report's title."),
    click.option("--overwrite", is_flag=True, help="Replace a report that is there."),
    click.option("--sample", type=int, default=0, metavar="N", help="Only N judged queries, drawn by the seed."),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="Seed of folds, sample and randomisation test."
    ),
)
reading_options = together(at_option, on_error_option, json_option, quiet_option)


@click.command("compare", epilog=f"Example: {EXAMPLE}")
@folder_argument
@compare_options
@click.option("--workers", type=int, default=0, help="Threads; as many as there are processors by default.")
@reading_options
def command(folder: Path, at: int | None, workers: int, **given: Any) -> None:
    """Compare systems on the judged queries of the index in DIR.

    A system that learns is tested only on queries that it was not trained on, and chooses its parameters on the
    training queries. `fader systems` lists the systems; alternatives to choose among are written with |.
    """
    from fader.experiment.reporting.report import check_destination
    from fader.search.index import Index

    say_when_compiling(given["quiet"])
    check_destination(given["output"], given["overwrite"])
    compare_all(Index(folder, at=at), lambda judged, reporter: (judged, workers, reporter), **given)


def compare_all(
    index: Any, pool: Callable[[Any, Any], tuple[Any, Any, Any]], queries: str, qrels: str, systems: str, output: str,
    cv: str, keep: str | None, baseline: str | None, measures: str | None, test: str, holm: bool, title: str,
    overwrite: bool, sample: int, seed: int, on_error: str | None, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Compare, wherever `pool` has it done: given judged queries and progress, it gives them back with its workers."""
    from fader.experiment.compare import compare_judged
    from fader.experiment.judged import judged_queries
    from fader.experiment.reporting.report import write_report
    from fader.experiment.reporting.tables import make_table
    from fader.experiment.system_specs import baseline_among, entrants
    from fader.progress import progress
    from fader.registry import split_top

    named = [text.strip() for text in split_top(systems, ",")]
    known = entrants(named, index.reader)
    baseline = None if baseline is None else baseline_among(baseline, known, index.reader)
    parsed, grades, _skipped = asked(index, queries, qrels, on_error, quiet)
    with progress("Comparing", quiet) as reporter:
        judged = judged_queries(index, parsed, grades, reporter, sample, seed)
        for line in judged.remarks:
            remark(line, quiet)
        chosen = [m.strip() for m in (measures or "").split(",") if m.strip()]
        judged, workers, reporter = pool(judged, reporter)
        found = compare_judged(
            judged, named, cv, measures=chosen, baseline=baseline, seed=seed, workers=workers, title=title,
            keep=keep, progress=reporter,
        )  # fmt: skip
    report = write_report(found, output, test=test, correct=holm, baseline=baseline, seed=seed, overwrite=overwrite)
    for line in report.notes:
        remark(line, quiet)
    table = make_table(found, test=test, correct=holm, baseline=baseline, seed=seed)
    if as_json:
        print_json({"folder": str(report.folder), "files": report.files, "comparison": found.to_dict()})
        return
    _print_table(table)
    remark(f"{output}: the report; open {report.folder / 'index.html'}", quiet)


def _print_table(table: Any) -> None:
    """Aligned columns; the best of each between stars."""
    heads = [f"{table.columns[0].queries:,} queries", *(column.title for column in table.columns)]
    lines = [[row.title, *(_mean(table, cell) for cell in row.cells)] for row in table.rows]
    width = [max(len(line[i]) for line in [heads, *lines]) for i in range(len(heads))]
    for name, *cells in [heads, *lines]:
        print(name.ljust(width[0]), *(cell.rjust(w) for cell, w in zip(cells, width[1:], strict=True)), sep="  ")
    print(table.legend().replace("Bold: the best", "*Best*"))


def _mean(table: Any, cell: Any) -> str:
    mark = "*" if cell.best else " "
    return f"{mark}{table.number(cell.mean)}{'↓' if cell.worse else mark}"
