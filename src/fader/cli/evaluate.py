"""`fader evaluate`: measures of run files, and whether their differences are more than chance.

Knows nothing of indexes or systems, nor of how measures and p-values are computed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fader.cli.common import json_option, on_error_option, print_json, quiet_option, remark
from fader.corpus.queries import FaultCollector, read_qrels
from fader.corpus.readers import display_name
from fader.csvtext import format_csv
from fader.errors import InputError, UsageError, quote
from fader.experiment.measures import find_judged_queries, parse_measures
from fader.experiment.results import measure_runs
from fader.experiment.runs import read_run
from fader.experiment.significance import LEVEL
from fader.jobs.files import whole_file
from fader.search.batch import refuse_overwriting

MEASURES = "AP,RR,nDCG@5,nDCG@10,pairswap"
NAMES = {"t": "two-sided paired t-test", "randomisation": "two-sided paired randomisation test"}


@click.command("evaluate", epilog="Example: fader evaluate --qrels qrels.txt proximity.run count.run")
@click.argument("paths", metavar="RUN...", nargs=-1, required=True)
@click.option("--qrels", required=True, metavar="FILE", help="Judgments: qid 0 entity grade.")
@click.option(
    "--measures",
    default=MEASURES,
    show_default=True,
    metavar="NAMES",
    help="Names with commas between them; also those of the package ir_measures, such as P@10.",
)
@click.option("--baseline", metavar="RUN", help="Compare with this run (default: the best by the first measure).")
@click.option("--test", type=click.Choice(list(NAMES)), default="t", show_default=True, help="The significance test.")
@click.option("--holm", is_flag=True, help="Correct p-values for the number of runs compared, for each measure.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For the randomisation test.")
@click.option("--candidates-only", is_flag=True, help="AP counts good entities that are in the run, not all.")
@click.option("--per-query", metavar="FILE", help="Write the values of every query as CSV.")
@on_error_option
@json_option
@quiet_option
def command(
    paths: tuple[str, ...],
    qrels: str,
    measures: str,
    baseline: str | None,
    test: str,
    holm: bool,
    seed: int,
    candidates_only: bool,
    per_query: str | None,
    on_error: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measure TREC runs against judgments, averaged over the queries that have a good entity.

    A query that a run does not answer counts 0 (pairswap: 1). Entities are ordered by score, equal scores by id
    descending; the rank column is not used. pairswap is the share of (good, bad) pairs of retrieved entities in the
    wrong order, so smaller is better.
    """

    if baseline is not None and baseline not in paths:
        paths = (baseline, *paths)
    _check_files(paths, qrels, per_query)
    wanted = _read_measures(measures, candidates_only)
    grades, runs, skipped = _read(paths, qrels, on_error, quiet)
    counts = _counts(qrels, grades, runs)
    remarks = _remarks(qrels, grades, paths, runs, counts)
    for line in remarks:
        remark(line, quiet)
    results = measure_runs(paths, runs, grades, wanted)
    chosen = results.best(0) if baseline is None else paths.index(baseline)
    p = results.p_values(chosen, test, holm, seed)
    if per_query is not None:
        _write_csv(results, per_query)
    if as_json:
        about = {"qrels": qrels, "queries": len(results.queries), "skipped": skipped}
        how = {"baseline": paths[chosen], "test": test, "holm": holm, "seed": seed}
        print_json({**about, **how, "remarks": remarks, "runs": _as_data(results, p, counts)})
    else:
        how_tested = NAMES[test] + (", Holm's correction" if holm else "")
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


def _read_measures(measures: str, candidates_only: bool) -> Any:
    """The measures of `--measures`, one at least."""

    wanted = parse_measures(measures, candidates_only)
    if not wanted:
        raise UsageError(f"--measures: no name given; give some of {MEASURES}")
    return wanted


def _read(paths: tuple[str, ...], qrels: str, on_error: str | None, quiet: bool) -> tuple[Any, list[Any], int]:
    """Read the judgments and the runs; report and return how many lines were skipped."""

    fault = FaultCollector(on_error == "skip")
    grades = read_qrels(qrels, fault)
    runs = [read_run(path, fault) for path in paths]
    for message in fault.messages[:5]:
        remark(f"skipped {message}", quiet)
    if len(fault.messages) > 5:
        remark(f"skipped {len(fault.messages) - 5:,} more lines", quiet)
    return grades, runs, len(fault.messages)


def _counts(qrels: str, grades: Any, runs: list[Any]) -> list[dict[str, list[str]]]:
    """What each run leaves out; refuse judgments from which no mean can come."""

    judged = find_judged_queries(grades)
    if not judged:
        raise InputError(
            f"{display_name(qrels)}: no query has an entity of grade 1 or more, so nothing can be averaged"
        )
    counts = [_find_unmatched(run, grades, judged) for run in runs]
    if any(runs) and all(len(count["missing"]) == len(judged) for count in counts):
        raise InputError(
            f"{display_name(qrels)}: no judged query is answered by any run; give the judgments of these runs"
        )
    return counts


def _find_unmatched(run: Any, grades: Any, judged: list[str]) -> dict[str, list[str]]:
    """The judged queries that a run does not answer, and those of the run that nobody judged."""
    return {
        "missing": [query for query in judged if query not in run],
        "unjudged": [query for query in run if query not in grades],
    }


def _remarks(
    qrels: str, grades: Any, paths: tuple[str, ...], runs: list[Any], counts: list[dict[str, list[str]]]
) -> list[str]:
    """What is not averaged, or averaged as nothing found."""

    judged, remarks = len(find_judged_queries(grades)), []
    if judged < len(grades):
        remarks.append(f"{display_name(qrels)}: {_queries(len(grades) - judged)} without a good entity left out")
    for path, run, count in zip(paths, runs, counts, strict=True):
        missing, unjudged = count["missing"], count["unjudged"]
        if missing:
            said = f"{len(missing):,} of {_queries(judged)} not answered, such as {quote(missing[0])}"
            remarks.append(f"{display_name(path)}: {said}: the worst value is taken")
        if unjudged:
            said = f"{_queries(len(unjudged))} without judgments left out, such as {quote(unjudged[0])}"
            remarks.append(f"{display_name(path)}: {said}")
        if said := _strange(run, grades):
            remarks.append(f"{display_name(path)}: {said}")
    return remarks


def _strange(run: Any, grades: Any) -> str:
    """What to say of a run that answers judged queries, and none of them with a judged entity: ids may differ."""

    answered = [query for query in grades if run.get(query)]
    if not answered or any(not run[query].keys().isdisjoint(grades[query]) for query in answered):
        return ""
    query = answered[0]
    wanted, found = quote(next(iter(grades[query]))), quote(next(iter(run[query])))
    return (
        f"no judged entity of any query is in the run, where query {quote(query)} has {found} and the judgments have "
        f"{wanted}; see that both use the same ids"
    )


def _queries(count: int) -> str:
    return f"{count:,} {'query' if count == 1 else 'queries'}"


def _as_data(results: Any, p: Any, counts: list[dict[str, list[str]]]) -> list[dict[str, Any]]:
    names = [str(measure) for measure in results.measures]
    means = results.means
    return [
        {
            "run": system,
            "missing": len(counts[s]["missing"]),
            "unjudged": len(counts[s]["unjudged"]),
            "means": {name: float(means[s, m]) for m, name in enumerate(names)},
            "intervals": {name: list(results.confidence_interval(s, m)) for m, name in enumerate(names)},
            "p": dict(zip(names, p[s], strict=True)),
        }
        for s, system in enumerate(results.systems)
    ]


def _write_csv(results: Any, path: str) -> None:
    """One line per run and query, with numbers that read back exactly."""

    with whole_file(path) as pending, open(pending, "w", encoding="utf-8", newline="") as file:
        lines = (
            [system, query, *map(float, results.values[s, :, q])]
            for s, system in enumerate(results.systems)
            for q, query in enumerate(results.queries)
        )
        file.write(format_csv([["run", "query", *map(str, results.measures)], *lines], line_end="\n"))


def _print_tables(results: Any, p: Any, baseline: int, how_tested: str) -> None:
    """The means, and below them the p-values where there is more than one run."""

    out = Console(highlight=False)
    if out.is_terminal and not out.is_dumb_terminal:
        _print_to(out, results, p, baseline, how_tested, styled=True)
        return
    out.width = 10_000  # a pipe has no width, and names must not be cut
    with out.capture() as shown:
        _print_to(out, results, p, baseline, how_tested, styled=False)
    print("\n".join(line.rstrip() for line in shown.get().splitlines()))


def _print_to(out: Any, results: Any, p: Any, baseline: int, how_tested: str, styled: bool) -> None:

    labels = _labels(results.systems)
    measures = range(len(results.measures))
    means = [[_mean(results, s, m, baseline, p[s][m], styled) for m in measures] for s in range(len(labels))]
    out.print(_table(_queries(len(results.queries)), labels, results.measures, means))
    if len(labels) < 2:
        return
    small = ", ".join(str(measure) for measure in results.measures if not measure.larger)
    best = f"{'bold' if styled else '*best*'}: best mean{f' (smallest {small})' if small else ''}"
    if len(results.queries) < 2:  # no test is possible
        out.print(Text(best, style="dim"))
        return
    out.print(Text(f"{best}; ↓ ↑: worse, better than {labels[baseline]} with p < {LEVEL}", style="dim"))
    others = [s for s in range(len(labels)) if s != baseline]
    shown = [[Text(_p(p[s][m])) for m in measures] for s in others]
    out.print()
    out.print(_table(f"p, {how_tested}", [labels[s] for s in others], results.measures, shown))


def _table(corner: str, labels: list[str], measures: Any, rows: list[list[Any]]) -> Any:

    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(Text(corner), overflow="fold")
    for measure in measures:
        table.add_column(Text(f" {measure}"), no_wrap=True)
    for label, row in zip(labels, rows, strict=True):
        table.add_row(Text(label), *row)
    return table


def _mean(results: Any, system: int, measure: int, baseline: int, p: float | None, styled: bool) -> Any:
    """A mean with its marks; the digits of a column stand below each other."""

    value = f"{results.means[system, measure]:.4f}"
    arrow = {1: "↑", -1: "↓", 0: " "}[results.direction(system, measure, baseline, p)]
    best = len(results.systems) > 1 and results.is_best(system, measure)
    if styled:
        return Text.assemble(" ", (value, "bold" if best else ""), f" {arrow}")
    return Text(f"*{value}*{arrow}" if best else f" {value} {arrow}")


def _p(p: float | None) -> str:
    return "" if p is None else " <.0001" if p < 0.0001 else f" {p:.4f}"


def _labels(paths: tuple[str, ...]) -> list[str]:
    """The names of the files, or their paths where two have the same name."""

    names = [display_name(path) if path == "-" else Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else [display_name(path) for path in paths]
