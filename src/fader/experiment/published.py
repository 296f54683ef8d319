"""A table of numbers that others published, to stand beside ours: marked as other data, and without verdicts.

In every form the heads of other data bear a mark, which CSV spells out and the other forms explain below the table.
Nothing is compared. Knows nothing of comparisons, nor of where the numbers are from: the caption and the note say that.

Golden case: 0.5 under "MAP, 2009" is 0.500 under "MAP, 2009†", and in CSV 0.5 under "MAP, 2009_other_data".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from fader.errors import UsageError, did_you_mean, quoted
from fader.experiment.reporting.markup import (
    csv_text,
    document,
    escaped,
    exact,
    latex_text,
    markdown_text,
    pipe_table,
    signed,
    tabular,
)

MARK = "†"
OTHER_DATA = f"{MARK} Other data: published numbers, not measured here, and compared with ours by no test."


@dataclass(frozen=True, slots=True)
class PlainTable:
    """Rows by columns of given numbers or texts, None or NaN for nothing, to show published numbers beside ours.

    `other` are the columns that hold other data than ours, by default all: in every form their heads are marked, and
    but for CSV the mark is explained below the table, before the note. Nothing is compared: no cell is bold.
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
            raise UsageError(f"{quoted(self.caption)}: columns must be some and differ: {', '.join(self.columns)}")
        for name, cells in self.rows.items():
            if len(cells) != len(self.columns):
                wanted = f"a cell for each of {len(self.columns)} columns"
                raise UsageError(f"{quoted(self.caption)}, row {quoted(name)}: needs {wanted}, has {len(cells)}")
        for column in self.other or ():
            if column not in self.columns:
                raise UsageError(f"no column {quoted(column)} in the table{did_you_mean(column, self.columns)}")

    def is_other(self, column: str) -> bool:
        """Whether a column holds other data than ours."""
        return self.other is None or column in self.other

    def text(self, cell: float | str | None) -> str:
        """A cell as it is printed."""
        if isinstance(cell, str):
            return cell
        return "–" if cell is None or math.isnan(cell) else signed(f"{cell:.{self.digits}f}")

    def below(self) -> str:
        """What the mark means, and the note."""
        marked = any(self.is_other(column) for column in self.columns)
        return " ".join(part for part in (OTHER_DATA if marked else "", self.note) if part)


def plain_table(table: PlainTable, form: str, whole: bool = True) -> str:
    """The table as `markdown`, `latex`, `csv` or `html`; `whole` makes LaTeX a document that compiles alone."""
    forms: dict[str, Callable[[PlainTable], str]] = {
        "markdown": _markdown,
        "latex": partial(_latex, whole=whole),
        "csv": _csv,
        "html": _html,
    }
    if form not in forms:
        raise UsageError(f"no form {quoted(form)} of a table; give one of {', '.join(forms)}")
    return forms[form](table)


def _markdown(table: PlainTable) -> str:
    heads = [markdown_text(column) + MARK * table.is_other(column) for column in table.columns]
    lines = [[markdown_text(table.corner), *heads]]
    for name, row in table.rows.items():
        lines.append([markdown_text(name), *(markdown_text(table.text(cell)) for cell in row)])
    below = f"\n{markdown_text(table.below())}\n" if table.below() else ""
    return f"{markdown_text(table.caption)}\n\n{pipe_table(lines)}{below}"


def _latex(table: PlainTable, whole: bool) -> str:
    heads = [latex_text(column + MARK * table.is_other(column)) for column in table.columns]
    lines = [[latex_text(table.corner), *heads]]
    lines += [[latex_text(name), *(latex_text(table.text(cell)) for cell in row)] for name, row in table.rows.items()]
    below = f"\n\\par\\medskip\\noindent {latex_text(table.below())}\n" if table.below() else ""
    body = f"\\noindent {latex_text(table.caption)}\n\\par\\medskip\\noindent\n{tabular(lines)}{below}"
    return document(body) if whole else body


def _csv(table: PlainTable) -> str:
    heads = [column + "_other_data" * table.is_other(column) for column in table.columns]
    lines = [[table.corner.lower(), *heads]]
    for name, row in table.rows.items():
        lines.append([name, *(c if isinstance(c, str) else "" if c is None or c != c else exact(c) for c in row)])
    return csv_text(lines)


def _html(table: PlainTable) -> str:
    others = [table.is_other(column) for column in table.columns]
    kinds = [' class="other"' * other for other in others]
    mark = f'<abbr title="{escaped(OTHER_DATA)}">{MARK}</abbr>'
    heads = "".join(
        f'<th scope="col"{kind}>{escaped(column)}{mark * other}</th>'
        for column, kind, other in zip(table.columns, kinds, others, strict=True)
    )
    rows = (
        f'<tr><th scope="row" dir="auto">{escaped(name)}</th>'
        + "".join(f"<td{kind}>{escaped(table.text(cell))}</td>" for kind, cell in zip(kinds, row, strict=True))
        + "</tr>"
        for name, row in table.rows.items()
    )
    below = f'<p class="legend">{escaped(table.below())}</p>\n' if table.below() else ""
    return (
        f'<table class="published">\n<caption>{escaped(table.caption)}</caption>\n'
        f'<thead><tr><th scope="col">{escaped(table.corner)}</th>{heads}</tr></thead>\n'
        f"<tbody>\n{chr(10).join(rows)}\n</tbody>\n</table>\n{below}"
    )
