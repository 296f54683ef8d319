"""`fader compare`: systems side by side, cross-validated, with significance, as tables and figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from fader.cli.common import Output, folder_argument, plugin_option, print_json, read_asked, speaks, takes
from fader.experiment.compare import compare_judged
from fader.experiment.judged import judge_queries
from fader.experiment.options import CompareOptions
from fader.experiment.reporting.report import check_destination, write_report
from fader.experiment.reporting.tables import MeansTable
from fader.experiment.system_specs import add_asked, find_baseline, parse_specs
from fader.learn.crossvalidate import parse_cv
from fader.registry import split_top
from fader.search.index import Index

EXAMPLE = (
    "fader compare index/ --queries queries.jsonl --qrels qrels.txt --systems 'count,fader(features=noprox)' -o report/"
)


@click.command("compare", epilog=f"Example: {EXAMPLE}")
@folder_argument
@takes(CompareOptions)
@plugin_option
@speaks()
def command(folder: Path, options: CompareOptions, out: Output) -> None:
    """Compare systems on the judged queries of the index in DIR.

    A system that learns is tested only on queries that it was not trained on, and chooses its parameters on the
    training queries. `fader systems` lists the systems; alternatives to choose among are written with |.
    """
    check_destination(options.output, options.overwrite)
    index = Index.open(folder, at=options.at)
    compare_all(index, lambda judged, reporter: (judged, options.workers, reporter), options, out)


def compare_all(
    index: Index, pool: Callable[[Any, Any], tuple[Any, Any, Any]], options: CompareOptions, out: Output
) -> None:
    """Compare, wherever `pool` has it done: given judged queries and progress, it gives them back with its workers."""
    systems = [text.strip() for text in split_top(options.systems, ",")]
    known = parse_specs(systems, index.collection)
    known = add_asked(known) if options.questions else known
    baseline = None if options.baseline is None else find_baseline(options.baseline, known, index.collection)
    asked = read_asked(index, options.queries, options.qrels, options.on_error, out)
    with out.progress("Comparing") as reporter:
        judged = judge_queries(index, asked.queries, asked.grades or {}, reporter, options.sample, options.seed)
        out.remark(*judged.remarks, *_note_folds(options.cv, len(judged)))
        judged, workers, reporter = pool(judged, reporter)
        found = compare_judged(
            judged,
            systems,
            options.cv,
            measures=[m.strip() for m in options.measures.split(",") if m.strip()],
            baseline=baseline,
            seed=options.seed,
            workers=workers,
            title=options.title,
            keep=options.keep,
            progress=reporter,
            questions=asked.questions if options.questions else None,
        )
    report = write_report(
        found,
        options.output,
        test=options.test,
        correct=options.holm,
        baseline=baseline,
        seed=options.seed,
        overwrite=options.overwrite,
    )
    out.remark(*report.notes)
    if out.as_json:
        print_json({"folder": str(report.folder), "files": report.files, "comparison": found.to_dict()})
        return
    _print_table(report.table)
    out.remark(f"{options.output}: the report; open {report.folder / 'index.html'}")


def _note_folds(cv: str, queries: int) -> list[str]:
    """Say that there are fewer queries than folds, which a system that learns refuses."""
    folds = parse_cv(cv) or 0
    return [f"--cv {folds}: there are only {queries:,} judged queries"] if folds > queries else []


def _print_table(table: MeansTable) -> None:
    """Aligned columns; the best of each between stars."""
    heads = [f"{table.columns[0].queries:,} queries", *(column.title for column in table.columns)]
    lines = []
    for row in table.rows:
        cells = [row.title]
        for cell in row.cells:
            mark = "*" if cell.best else " "
            cells.append(f"{mark}{table.format_mean(cell.mean)}{'↓' if cell.worse else mark}")
        lines.append(cells)
    width = [max(len(line[i]) for line in [heads, *lines]) for i in range(len(heads))]
    for name, *cells in [heads, *lines]:
        print(name.ljust(width[0]), *(cell.rjust(w) for cell, w in zip(cells, width[1:], strict=True)), sep="  ")
    print(table.legend().replace("Bold: the best", "*Best*"))
