"""Two systems of a report, query by query: values, differences, how often each is better, and the p-value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fader.csvtext import format_csv
from fader.errors import did_you_mean, quote
from fader.experiment.comparison import Comparison, SystemResult, measure_title
from fader.experiment.reporting.report import NAMES
from fader.experiment.significance import p_value
from fader.serve.errors import BadRequest
from fader.serve.reports.shelf import ServedReport

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairSide:
    """One of the two systems, with its mean over the queries for which both have a value."""

    system: str
    title: str
    mean: float | None


@dataclass(frozen=True, slots=True)
class PairQuery:
    """A query with both values."""

    query: str
    text: str
    type: str | None
    a: float
    b: float
    difference: float
    candidates: int | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems; `difference` is a - b, and `better` counts the queries on which a is better, larger or smaller."""

    report: str
    index: str | None
    measure: str
    title: str
    smaller_is_better: bool
    a: PairSide
    b: PairSide
    difference: float | None
    p: float | None
    test: str
    level: float
    better: int
    worse: int
    same: int
    undefined: int
    queries: list[PairQuery]

    def to_csv(self) -> str:
        """The queries, a line each."""
        heads = ["query", "text", "type", self.a.system, self.b.system, "difference", "candidates"]
        rows = ([q.query, q.text, q.type, q.a, q.b, q.difference, q.candidates] for q in self.queries)
        return format_csv([heads, *rows])


def compare_pair(read: ServedReport, a: str, b: str, measure: str) -> Pair:
    """Two systems on the queries for which both have a value, the largest difference first."""
    comparison, tested = read.stored.comparison, read.stored.extras.significance
    measure = measure or comparison.measures[0]
    if measure not in comparison.measures:
        remedy = did_you_mean(measure, comparison.measures).removeprefix("; ") or ", ".join(comparison.measures)
        raise BadRequest(f"the report has no measure {quote(measure)}", remedy, "measure")
    first, second = _choose_two(read, a, b, measure)
    values = np.array([first.values[measure], second.values[measure]], dtype=np.float64)
    known = np.flatnonzero(~np.isnan(values).any(axis=0))
    change = values[0, known] - values[1, known]
    smaller = measure in comparison.smaller_is_better
    gain = -change if smaller else change
    test = NAMES.get(tested.test, "t")
    order = np.argsort(-np.abs(change), kind="stable")
    return Pair(
        report=read.name,
        index=read.index,
        measure=measure,
        title=measure_title(measure),
        smaller_is_better=smaller,
        a=_describe_side(first, values[0, known]),
        b=_describe_side(second, values[1, known]),
        difference=float(change.mean()) if known.size else None,
        p=p_value(values[0, known], values[1, known], test, tested.seed) if known.size > 1 else None,
        test=test,
        level=tested.level,
        better=int((gain > 0).sum()),
        worse=int((gain < 0).sum()),
        same=int((gain == 0).sum()),
        undefined=len(comparison.queries) - int(known.size),
        queries=[_describe_query(comparison, int(known[i]), values[:, known[i]], float(change[i])) for i in order],
    )


def _choose_two(read: ServedReport, a: str, b: str, measure: str) -> tuple[SystemResult, SystemResult]:
    """The systems asked for; without names the best, and the baseline or the next best that differs from it."""
    comparison, column = read.stored.comparison, read.stored.comparison.measures.index(measure)
    if len(comparison.systems) < 2:
        raise BadRequest("the report has one system, and a difference takes two", "compare more systems")
    sign = 1 if measure in comparison.smaller_is_better else -1
    means = {row.name: sign * (row.cells[column].mean or 0.0) for row in read.table.rows}
    for name, field in ((a, "a"), (b, "b")):
        if name and name not in means:
            remedy = did_you_mean(name, means).removeprefix("; ") or "GET /v1/reports/{name} lists its systems"
            raise BadRequest(f"the report has no system {quote(name)}", remedy, field)
    ranked = sorted(means, key=means.__getitem__)
    first = a or next(name for name in ranked if name != b)
    same = comparison.find_system(first).values[measure]
    others = [name for name in ranked if name != first]
    others.sort(key=lambda name: (name != read.table.baseline, comparison.find_system(name).values[measure] == same))
    return comparison.find_system(first), comparison.find_system(b or others[0])


def _describe_side(system: SystemResult, values: F64) -> PairSide:
    return PairSide(system.name, system.title, float(values.mean()) if values.size else None)


def _describe_query(comparison: Comparison, i: int, values: F64, difference: float) -> PairQuery:
    return PairQuery(
        comparison.queries[i],
        comparison.text_of(i),
        comparison.types[i] if comparison.types else None,
        float(values[0]),
        float(values[1]),
        difference,
        comparison.candidates[i] if comparison.candidates else None,
    )
