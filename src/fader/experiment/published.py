"""A table of numbers that others published, to show beside ours: marked as other data, and without verdicts.

In every form the heads of columns with other data have a mark, which CSV spells out and the other forms explain below
the table. Nothing is compared. Knows nothing of comparisons; caption and note say where the numbers are from.

Golden case: 0.5 under "MAP, 2009" is 0.500 under "MAP, 2009†", and in CSV 0.5 under "MAP, 2009_other_data".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fader.csvtext import Cell, format_csv
from fader.errors import UsageError, did_you_mean, quote
from fader.experiment.reporting.html import render
from fader.experiment.reporting.markup import (
    escape_latex,
    escape_markdown,
    format_number,
    format_pipe_table,
    format_tabular,
    wrap_document,
)

MARK = "†"
OTHER_DATA = f"{MARK} Other data: published numbers, not measured here, and compared with ours by no test."


@dataclass(frozen=True, slots=True)
class PlainTable:
    """Rows by columns of given numbers or texts; None and NaN are empty cells.

    `other` are the columns that hold other data than ours, by default all.
    """

    caption: str
    columns: Sequence[str]
    rows: Mapping[str, Sequence[float | str | None]]
    note: str = ""
    other: Sequence[str] | None = None
    digits: int = 3
    corner: str = "System"

    def __post_init__(self) -> None:
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise UsageError(f"{quote(self.caption)}: there must be columns, all different: {', '.join(self.columns)}")
        for name, cells in self.rows.items():
            if len(cells) != len(self.columns):
                wanted = f"a cell for each of {len(self.columns)} columns"
                raise UsageError(f"{quote(self.caption)}, row {quote(name)}: needs {wanted}, has {len(cells)}")
        for column in self.other or ():
            if column not in self.columns:
                raise UsageError(f"no column {quote(column)} in the table{did_you_mean(column, self.columns)}")

    def is_other(self, column: str) -> bool:
        """Whether a column holds other data than ours."""
        return self.other is None or column in self.other

    def format_cell(self, cell: float | str | None) -> str:
        """A cell as it is printed."""
        return cell if isinstance(cell, str) else format_number(cell, self.digits)

    def explain_marks(self) -> str:
        """What the mark means, and the note."""
        marked = any(self.is_other(column) for column in self.columns)
        return " ".join(part for part in (OTHER_DATA if marked else "", self.note) if part)


def format_published(table: PlainTable, form: str, whole: bool = True) -> str:
    """The table as `markdown`, `latex`, `csv` or `html`; `whole` makes LaTeX a document that compiles alone."""
    match form:
        case "markdown":
            lines, note = _escape_lines(table, escape_markdown), escape_markdown(table.explain_marks())
            below = f"\n{note}\n" if note else ""
            return f"{escape_markdown(table.caption)}\n\n{format_pipe_table(lines)}{below}"
        case "latex":
            lines, note = _escape_lines(table, escape_latex), escape_latex(table.explain_marks())
            below = f"\n\\par\\medskip\\noindent {note}\n" if note else ""
            head = f"\\noindent {escape_latex(table.caption)}\n\\par\\medskip\\noindent\n"
            body = f"{head}{format_tabular(lines)}{below}"
            return wrap_document(body) if whole else body
        case "csv":  # numbers at full precision; an empty cell for None and nan
            heads = [column + "_other_data" * table.is_other(column) for column in table.columns]
            rows: list[list[Cell]] = [[table.corner.lower(), *heads]]
            for name, row in table.rows.items():
                numbers = (c if isinstance(c, str) or c is None else float(c) for c in row)
                rows.append([name, *(None if c != c else c for c in numbers)])
            return format_csv(rows, line_end="\n")
        case "html":
            return render("published.html", table=table, explanation=OTHER_DATA)
    raise UsageError(f"no form {quote(form)} of a table; give markdown, latex, csv or html")


def _escape_lines(table: PlainTable, escape: Callable[[str], str]) -> list[list[str]]:
    """The heads and the rows, every cell escaped."""
    heads = [escape(column + MARK * table.is_other(column)) for column in table.columns]
    rows = ([escape(name), *(escape(table.format_cell(cell)) for cell in row)] for name, row in table.rows.items())
    return [[escape(table.corner), *heads], *rows]
