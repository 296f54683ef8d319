"""The table of a comparison: systems by measures, the best in bold, the significantly worse with a down arrow.

As in the paper: in each column the best mean is bold, and a mean that is significantly worse than it (two-sided
paired test over queries, p < 0.05) has a down arrow, also where worse means larger. All means that print the same as
the best are bold, unless a test tells them apart. Tests are against the first system with the best mean; their p-values
can be corrected by Holm over the systems of a column.

Four forms: CSV (plain numbers, p-values), LaTeX (no packages needed), Markdown, HTML. Knows nothing of pages, of
how texts are escaped, or of how p-values are computed: they come from `significance` or from a function
(values, values) -> p.

Golden case: AP of a = 1, 1, 1, 0.8 and b = 0.2, 0, 0.1, 0.1: a is bold 0.950, b is 0.100 with an arrow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from fader.csvtext import Cell, format_csv
from fader.errors import UsageError, did_you_mean, quote
from fader.experiment.comparison import Comparison, measure_title
from fader.experiment.reporting.html import render
from fader.experiment.reporting.markup import (
    escape_latex,
    escape_markdown,
    format_latex_number,
    format_number,
    format_p,
    format_pipe_table,
    format_tabular,
    wrap_document,
)
from fader.experiment.significance import LEVEL, TESTS, PairedTest, compare_with_baseline

F64 = NDArray[np.float64]
TEST_TITLES = {"t": "paired t-test", "randomisation": "paired randomisation test"}
ARROW = "↓"


@dataclass(frozen=True, slots=True)
class MeansCell:
    """A mean and its tests.

    `p` is against the best system of the column, None for that system; `difference` and `p_difference` are to the
    baseline. P-values are also None where there are too few queries for a test.
    """

    mean: float | None
    best: bool = False
    worse: bool = False
    p: float | None = None
    difference: float | None = None
    p_difference: float | None = None


@dataclass(frozen=True, slots=True)
class MeansColumn:
    """A measure, the number of queries in its means, and the name of the system that tests are against.

    `tested` is whether there are p-values: a test needs two systems and two queries.
    """

    measure: str
    title: str
    smaller_is_better: bool
    queries: int
    against: str
    tested: bool = False


@dataclass(frozen=True, slots=True)
class MeansRow:
    """A system and its cells, one per column."""

    name: str
    title: str
    cells: list[MeansCell]


@dataclass(frozen=True, slots=True)
class MeansTable:
    """Means and their tests, ready to be written in any form."""

    title: str
    columns: list[MeansColumn]
    rows: list[MeansRow]
    test: str
    corrected: bool
    level: float
    baseline: str | None
    digits: int

    @property
    def tested(self) -> bool:
        """Whether any test was possible."""
        return any(column.tested for column in self.columns)

    def legend(self) -> str:
        """What the marks mean; tests are mentioned only where one was possible."""
        correction = ", Holm-corrected over the systems" if self.corrected else ""
        small = [c.title for c in self.columns if c.smaller_is_better]
        better = f" Smaller is better for {', '.join(small)}, larger for the others." if small else ""
        worse = (
            f" {ARROW}: significantly worse than the best ({self.test}, two-sided{correction}, p < {self.level:g})."
            if self.tested
            else ""
        )
        return f"Bold: the best of a column.{worse}{better}"

    def title_of(self, system: str | None) -> str:
        """The title of the system of that name."""
        return next(row.title for row in self.rows if row.name == system)

    def format_mean(self, value: float | None) -> str:
        """A mean as it is printed."""
        return format_number(value, self.digits)

    def format_change(self, value: float | None) -> str:
        """A difference as it is printed, with its sign."""
        return format_number(value, self.digits, sign="+")


def make_table(
    comparison: Comparison,
    *,
    test: str | PairedTest = "t",
    correct: bool = False,
    level: float = LEVEL,
    baseline: str | None = None,
    digits: int = 3,
    seed: int = 0,
) -> MeansTable:
    """The table of a comparison; `test` is one of significance.TESTS or a function that gives a two-sided p-value.

    `correct` is Holm's correction; the seed matters only to the randomisation test.
    """
    if not 0 < level < 1:
        raise UsageError(f"the level of significance must be between 0 and 1, not {level}")
    if isinstance(test, str) and test not in TESTS:
        raise UsageError(f"no test {quote(test)}; give {' or '.join(TESTS)}")
    reference = None if baseline is None else comparison.systems.index(comparison.find_system(baseline))
    columns, cells = [], []
    for measure in comparison.measures:
        smaller = measure in comparison.smaller_is_better
        values = comparison.matrix_of_shared_queries(measure)
        best = None
        if values.shape[1]:
            means = values.mean(axis=1)
            best = int(means.argmin() if smaller else means.argmax())
        against = "" if best is None else comparison.systems[best].name

        def p_values(of: int | None, values: F64 = values) -> list[float | None]:
            if of is None or values.shape[1] < 2:
                return [None] * len(values)
            return compare_with_baseline(list(values), of, test, correct, seed)

        column = _make_cells(values, best, reference, smaller, level, digits, p_values)
        tested = any(cell.p is not None for cell in column)
        columns.append(MeansColumn(measure, measure_title(measure), smaller, values.shape[1], against, tested))
        cells.append(column)
    rows = [MeansRow(s.name, s.title, [c[i] for c in cells]) for i, s in enumerate(comparison.systems)]
    name = TEST_TITLES[test] if isinstance(test, str) else getattr(test, "__name__", "test").replace("_", " ")
    return MeansTable(comparison.title, columns, rows, name, correct, level, baseline, digits)


def _make_cells(
    values: F64,
    best: int | None,
    reference: int | None,
    smaller: bool,
    level: float,
    digits: int,
    p_values: Callable[[int | None], list[float | None]],
) -> list[MeansCell]:
    """One column; `reference` is the baseline, `p_values` tests all systems against one."""
    if best is None:
        return [MeansCell(None) for _ in values]
    means = values.mean(axis=1)
    to_best, to_baseline = p_values(best), p_values(reference)
    cells = []
    for i, mean in enumerate(means):
        behind = mean > means[best] if smaller else mean < means[best]
        p = to_best[i]
        worse = bool(behind and p is not None and p < level)
        alike = f"{mean:.{digits}f}" == f"{means[best]:.{digits}f}"
        difference = None if reference is None or i == reference else float(mean - means[reference])
        cells.append(MeansCell(float(mean), alike and not worse, worse, p, difference, to_baseline[i]))
    return cells


# Written forms


def to_csv(table: MeansTable) -> str:
    """Plain numbers: means at full precision, then p against the best, then difference and p to the baseline."""
    compared = table.baseline is not None
    head: list[Cell] = ["system", "label"]
    for column in table.columns:
        head += [column.title, f"{column.title}_p_best"]
        head += [f"{column.title}_difference", f"{column.title}_p_baseline"] if compared else []
    lines = [head]
    for row in table.rows:
        line: list[Cell] = [row.name, row.title]
        for cell in row.cells:
            line += [cell.mean, cell.p]
            line += [cell.difference, cell.p_difference] if compared else []
        lines.append(line)
    return format_csv(lines, line_end="\n")


def per_query_csv(comparison: Comparison) -> str:
    """`query,system,measure,value`, one line per value; an empty value where the measure is not defined."""
    lines = (
        [query, system.name, measure, None if value is None else float(value)]
        for system in comparison.systems
        for measure in comparison.measures
        for query, value in zip(comparison.queries, system.values[measure], strict=True)
    )
    return format_csv([["query", "system", "measure", "value"], *lines], line_end="\n")


def to_markdown(table: MeansTable, differences: Sequence[str] = ()) -> str:
    """A pipe table and its legend; `differences` names measures whose difference to the baseline is shown."""
    chosen = _find_columns(table, differences)
    head = ["System", *(escape_markdown(c.title) for c in table.columns)]
    for j in chosen:
        head += [f"Δ {escape_markdown(table.columns[j].title)}", "p"]
    lines = [head]
    for row in table.rows:
        means = [(table.format_mean(cell.mean), cell) for cell in row.cells]
        cells = [f"**{number}**" if cell.best else number + ARROW * cell.worse for number, cell in means]
        for j in chosen:
            cell = row.cells[j]
            cells += [table.format_change(cell.difference), escape_markdown(format_p(cell.p_difference))]
        lines.append([escape_markdown(row.title), *cells])
    baseline = f" Δ: difference to {escape_markdown(table.title_of(table.baseline))}." if chosen else ""
    return f"{format_pipe_table(lines)}\n{table.legend().replace('<', '&lt;')}{baseline}\n"


def to_latex(table: MeansTable, differences: Sequence[str] = (), whole: bool = True) -> str:
    r"""A `tabular` that needs no package; `whole` makes it a document that compiles alone, else it is for `\input`."""
    chosen = _find_columns(table, differences)
    head = ["~", *(escape_latex(c.title) for c in table.columns)]
    for j in chosen:
        head += [rf"$\Delta$ {escape_latex(table.columns[j].title)}", "$p$"]
    lines = [head]
    for row in table.rows:
        cells = []
        for cell in row.cells:
            number = format_latex_number(table.format_mean(cell.mean))
            marked = rf"${number.strip('$')}^\downarrow$" if cell.worse else number
            cells.append(rf"\textbf{{{number}}}" if cell.best else marked)
        for j in chosen:
            change, p = table.format_change(row.cells[j].difference), format_p(row.cells[j].p_difference)
            cells += [format_latex_number(change), format_latex_number(p)]
        lines.append([escape_latex(row.title), *cells])
    body = format_tabular(lines)
    if not whole:
        return body
    baseline = rf" $\Delta$: difference to {escape_latex(table.title_of(table.baseline))}." if chosen else ""
    return wrap_document(f"\\noindent\n{body}\n\\par\\medskip\\noindent {escape_latex(table.legend())}{baseline}\n")


def to_html(table: MeansTable, differences: Sequence[str] = ()) -> Markup:
    """A `<table>` without style; classes `best` and `worse` are for a page's style sheet."""
    return render("means.html", table=table, changes=_find_columns(table, differences))


def _find_columns(table: MeansTable, differences: Sequence[str]) -> list[int]:
    """The places of the measures whose differences are shown."""
    measures = [c.measure for c in table.columns]
    for measure in differences:
        if measure not in measures:
            raise UsageError(f"no measure {quote(measure)} in the table{did_you_mean(measure, measures)}")
    if differences and table.baseline is None:
        raise UsageError("differences need a baseline: make the table with the name of one")
    return [measures.index(measure) for measure in differences]
