"""`fader evaluate`: measures of run files, and whether their differences are more than chance.

Knows nothing of indexes or systems, nor of how measures and p-values are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fader.cli.common import Output, print_json, speaks, takes
from fader.corpus.queries import FaultCollector, read_qrels
from fader.corpus.readers import display_name
from fader.csvtext import Cell, format_csv
from fader.errors import InputError, UsageError, quote
from fader.experiment.measures import Grades, Run, find_judged_queries, parse_measures
from fader.experiment.options import MEASURES, EvaluateOptions
from fader.experiment.results import Results, measure_runs
from fader.experiment.runs import read_run
from fader.experiment.significance import LEVEL
from fader.jobs.files import whole_file
from fader.search.batch import refuse_overwriting

NAMES = {"t": "two-sided paired t-test", "randomisation": "two-sided paired randomisation test"}


@dataclass(frozen=True)
class Unmatched:
    """The judged queries that a run does not answer, and those of the run that nobody judged."""

    missing: list[str]
    unjudged: list[str]


@dataclass(frozen=True)
class RunSummary:
    """A run in the JSON: means, their 95% confidence intervals and p-values by measure."""

    run: str
    missing: int
    unjudged: int
    means: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    p: dict[str, float | None]


@click.command("evaluate", epilog="Example: fader evaluate --qrels qrels.txt proximity.run count.run")
@takes(EvaluateOptions)
@speaks()
def command(options: EvaluateOptions, out: Output) -> None:
    """Measure TREC runs against judgments, averaged over the queries that have a good entity.

    A query that a run does not answer counts 0 (pairswap: 1). Entities are ordered by score, equal scores by id
    descending; the rank column is not used. pairswap is the share of (good, bad) pairs of retrieved entities in the
    wrong order, so smaller is better.
    """
    paths, baseline, qrels = options.runs, options.baseline, options.qrels
    if baseline is not None and baseline not in paths:
        paths = (baseline, *paths)
    _check_files(paths, qrels, options.per_query)
    wanted = parse_measures(options.measures, options.candidates_only)
    if not wanted:
        raise UsageError(f"--measures: no name given; give some of {MEASURES}")
    fault = FaultCollector(options.on_error == "skip")
    grades = read_qrels(qrels, fault)
    runs = [read_run(path, fault) for path in paths]
    out.remark_skipped(fault)
    unmatched = _find_unmatched(qrels, grades, runs)
    remarks = _describe_unmatched(qrels, grades, paths, runs, unmatched)
    out.remark(*remarks)
    results = measure_runs(paths, runs, grades, wanted)
    chosen = results.best(0) if baseline is None else paths.index(baseline)
    p = results.p_values(chosen, options.test, options.holm, options.seed)
    if options.per_query is not None:
        _write_csv(results, options.per_query)
    if out.as_json:
        about = {"qrels": qrels, "queries": len(results.queries), "skipped": len(fault.messages)}
        how = {"baseline": paths[chosen], "test": options.test, "holm": options.holm, "seed": options.seed}
        print_json(
            {**about, **how, "remarks": remarks, "runs": [asdict(run) for run in _list_runs(results, p, unmatched)]}
        )
    else:
        how_tested = NAMES[options.test] + (", Holm's correction" if options.holm else "")
        _print_tables(results, p, chosen, how_tested)


def _check_files(paths: tuple[str, ...], qrels: str, per_query: str | None) -> None:
    """Refuse what cannot be meant."""
    inputs = (qrels, *paths)
    repeated = [path for i, path in enumerate(paths) if path in paths[:i] and path != "-"]
    if repeated:
        raise UsageError(f"{repeated[0]}: this run is given twice; give it once")
    if inputs.count("-") > 1:
        raise UsageError("-: standard input can be read only once; give files for the others")
    if per_query == "-":
        raise UsageError("--per-query: standard output is taken by the table; give a file name")
    if per_query is not None:
        refuse_overwriting(per_query, *inputs)


def _find_unmatched(qrels: str, grades: Grades, runs: Sequence[Run]) -> list[Unmatched]:
    """What each run leaves out; refuse judgments from which no mean can come."""
    judged = find_judged_queries(grades)
    if not judged:
        raise InputError(
            f"{display_name(qrels)}: no query has an entity of grade 1 or more, so nothing can be averaged"
        )
    found = [
        Unmatched([query for query in judged if query not in run], [query for query in run if query not in grades])
        for run in runs
    ]
    if any(runs) and all(len(each.missing) == len(judged) for each in found):
        raise InputError(
            f"{display_name(qrels)}: no judged query is answered by any run; give the judgments of these runs"
        )
    return found


def _describe_unmatched(
    qrels: str, grades: Grades, paths: tuple[str, ...], runs: Sequence[Run], unmatched: list[Unmatched]
) -> list[str]:
    """What is not averaged, or averaged as nothing found."""
    judged, remarks = len(find_judged_queries(grades)), []
    if judged < len(grades):
        remarks.append(f"{display_name(qrels)}: {_queries(len(grades) - judged)} without a good entity left out")
    for path, run, each in zip(paths, runs, unmatched, strict=True):
        if each.missing:
            said = f"{len(each.missing):,} of {_queries(judged)} not answered, such as {quote(each.missing[0])}"
            remarks.append(f"{display_name(path)}: {said}: the worst value is taken")
        if each.unjudged:
            said = f"{_queries(len(each.unjudged))} without judgments left out, such as {quote(each.unjudged[0])}"
            remarks.append(f"{display_name(path)}: {said}")
        if said := _strange(run, grades):
            remarks.append(f"{display_name(path)}: {said}")
    return remarks


def _strange(run: Run, grades: Grades) -> str:
    """What to say of a run that answers judged queries, and none of them with a judged entity: ids may differ."""
    answered = [query for query in grades if run.get(query)]
    if not answered or any(not run[query].keys().isdisjoint(grades[query]) for query in answered):
        return ""
    query = answered[0]
    wanted, found = quote(next(iter(grades[query]))), quote(next(iter(run[query])))
    return (
        f"no judged entity of any query is in the run, where query {quote(query)} has {found} and the judgments have "
        f"{wanted}; check that both use the same ids"
    )


def _queries(count: int) -> str:
    return f"{count:,} {'query' if count == 1 else 'queries'}"


def _list_runs(results: Results, p: list[list[float | None]], unmatched: list[Unmatched]) -> list[RunSummary]:
    names = [str(measure) for measure in results.measures]
    return [
        RunSummary(
            run=system,
            missing=len(unmatched[s].missing),
            unjudged=len(unmatched[s].unjudged),
            means=dict(zip(names, results.means[s].tolist(), strict=True)),
            intervals={name: results.confidence_interval(s, m) for m, name in enumerate(names)},
            p=dict(zip(names, p[s], strict=True)),
        )
        for s, system in enumerate(results.systems)
    ]


def _write_csv(results: Results, path: str) -> None:
    """One line per run and query, with numbers that read back exactly."""
    with whole_file(path) as pending, open(pending, "w", encoding="utf-8", newline="") as file:
        lines: list[list[Cell]] = [["run", "query", *map(str, results.measures)]]
        for s, system in enumerate(results.systems):
            for q, query in enumerate(results.queries):
                lines.append([system, query, *map(float, results.values[s, :, q])])
        file.write(format_csv(lines, line_end="\n"))


def _print_tables(results: Results, p: list[list[float | None]], baseline: int, how_tested: str) -> None:
    """The means, and below them the p-values where there is more than one run."""
    out = Console(highlight=False)
    if out.is_terminal and not out.is_dumb_terminal:
        _print_to(out, results, p, baseline, how_tested, styled=True)
        return
    out.width = 10_000  # a pipe has no width, and names must not be cut
    with out.capture() as shown:
        _print_to(out, results, p, baseline, how_tested, styled=False)
    print("\n".join(line.rstrip() for line in shown.get().splitlines()))


def _print_to(
    out: Console, results: Results, p: list[list[float | None]], baseline: int, how_tested: str, styled: bool
) -> None:
    # The names of the files, or their paths where two have the same name.
    labels = [display_name(path) if path == "-" else Path(path).name for path in results.systems]
    if len(set(labels)) < len(labels):
        labels = [display_name(path) for path in results.systems]
    measures = range(len(results.measures))
    means = [[_show_mean(results, s, m, baseline, p[s][m], styled) for m in measures] for s in range(len(labels))]
    out.print(_make_table(_queries(len(results.queries)), labels, results, means))
    if len(labels) < 2:
        return
    small = ", ".join(str(measure) for measure in results.measures if not measure.larger)
    best = f"{'bold' if styled else '*best*'}: best mean{f' (smallest {small})' if small else ''}"
    if len(results.queries) < 2:  # no test is possible
        out.print(Text(best, style="dim"))
        return
    out.print(Text(f"{best}; ↓ ↑: worse, better than {labels[baseline]} with p < {LEVEL}", style="dim"))
    others = [s for s in range(len(labels)) if s != baseline]
    shown = [[Text(_show_p(p[s][m])) for m in measures] for s in others]
    out.print()
    out.print(_make_table(f"p, {how_tested}", [labels[s] for s in others], results, shown))


def _make_table(corner: str, labels: list[str], results: Results, rows: list[list[Text]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(Text(corner), overflow="fold")
    for measure in results.measures:
        table.add_column(Text(f" {measure}"), no_wrap=True)
    for label, row in zip(labels, rows, strict=True):
        table.add_row(Text(label), *row)
    return table


def _show_mean(results: Results, system: int, measure: int, baseline: int, p: float | None, styled: bool) -> Text:
    """A mean with its marks; the digits of a column stand below each other."""
    value = f"{results.means[system, measure]:.4f}"
    arrow = {1: "↑", -1: "↓", 0: " "}[results.direction(system, measure, baseline, p)]
    best = len(results.systems) > 1 and results.is_best(system, measure)
    if styled:
        return Text.assemble(" ", (value, "bold" if best else ""), f" {arrow}")
    return Text(f"*{value}*{arrow}" if best else f" {value} {arrow}")


def _show_p(p: float | None) -> str:
    return "" if p is None else " <.0001" if p < 0.0001 else f" {p:.4f}"
