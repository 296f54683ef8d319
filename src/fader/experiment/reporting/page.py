"""The report as one HTML page that needs nothing else: styles, figures and data are inside, no other host is asked.

The page can be read without its script, which only sorts tables; a content security policy lets no other script run.
Names, queries and values are shown as text whatever is in them. Light or dark as the reader prefers, and printable.
This file computes what `templates/report.html` shows. It knows comparisons, tables and drawings, and nothing of files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from fader.experiment.comparison import Comparison, SystemResult
from fader.experiment.provenance import format_value, list_provenance
from fader.experiment.reporting.figures import COLOURS, Drawing
from fader.experiment.reporting.html import escape_text, render, render_page
from fader.experiment.reporting.tables import MeansTable

MOST_QUERIES = 200  # in the table of differences; the file has all
MOST_SETTINGS = 12  # of one system
FILES = {
    "table.csv": "means and p-values, plain numbers",
    "table.md": "the table in Markdown, and what made it",
    "table.tex": "the table in LaTeX, compiles alone",
    "tabular.tex": "the same for \\input",
    "per-query.csv": "every value of every query",
    "report.json": "everything, for programs",
}
_TAG = re.compile(r"<[^<>]*>")
_REFERENCE = re.compile(r'(\bid="|href="#|url\(#)')
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_COLOUR_NAMES = ("ink", "muted", "paper", "good", "bad")


@dataclass(frozen=True, slots=True)
class QueryRow:
    """A query with the values of two systems, their difference, and perhaps the number of its candidates."""

    query: str
    text: str
    numbers: list[str]


@dataclass(frozen=True, slots=True)
class SystemPair:
    """Two systems by their titles, and the queries on which they differ most."""

    measure: str
    first: str
    second: str
    better: int
    worse: int
    same: int
    rows: list[QueryRow]
    is_cut: bool


def make_page(comparison: Comparison, table: MeansTable, drawings: Sequence[Drawing], notes: Sequence[str] = ()) -> str:
    """The whole page; `notes` are things the reader should know, such as figures that could not be drawn."""
    first = table.columns[0]
    fewer = [f"{c.title} over {c.queries:,}" for c in table.columns if c.queries != first.queries]
    legend = table.legend() + (f" Means are over {first.queries:,} queries, {', '.join(fewer)}." if fewer else "")
    body = render(
        "report.html",
        comparison=comparison,
        table=table,
        notes=notes,
        provenance=list_provenance(comparison),
        best=next((row for row in table.rows if row.name == first.against), None),
        behind=sum(row.cells[0].worse for row in table.rows),
        legend=legend,
        figures=[(drawing, embed_drawing(drawing)) for drawing in drawings],
        pair=_compare_best(comparison, table),
        settings={system.name: count_settings(system) for system in comparison.systems},
        most_settings=MOST_SETTINGS,
        files=FILES,
    )
    return render_page(comparison.title, body)


def embed_drawing(drawing: Drawing) -> Markup:
    """A drawing as part of a page: ids that no other has, and the page's colours."""

    def adapt(tag: re.Match[str]) -> str:
        text = _REFERENCE.sub(rf"\g<1>{drawing.name}-", tag[0])
        for colour, variable in zip(COLOURS, _COLOUR_NAMES, strict=True):
            text = text.replace(colour, f"var(--{variable})")
        return text

    svg = _TAG.sub(adapt, _METADATA.sub("", drawing.svg[drawing.svg.index("<svg") :]))
    return Markup(svg.replace("<svg ", f'<svg role="img" aria-label="{escape_text(drawing.title)}" ', 1))


def count_settings(system: SystemResult) -> list[tuple[str, int]]:
    """The chosen hyperparameters as texts, most often first, with how many folds chose them."""
    alike = {repr(fold): fold for fold in system.hyperparameters}  # thousands of folds have few settings
    counts: Counter[str] = Counter()
    for key, n in Counter(map(repr, system.hyperparameters)).items():
        counts[", ".join(f"{k}={format_value(v)}" for k, v in alike[key].items())] += n
    return [(text, n) for text, n in counts.most_common() if text]


def _compare_best(comparison: Comparison, table: MeansTable) -> SystemPair | None:
    """The best system by the first measure beside the baseline or, where that is the best itself, the second best."""
    column = table.columns[0]
    if len(table.rows) < 2 or not column.queries:
        return None
    means = [row.cells[0].mean or 0.0 for row in table.rows]
    order = sorted(range(len(means)), key=lambda i: means[i] if column.smaller_is_better else -means[i])
    others = [i for i in order[1:] if table.baseline in (None, comparison.systems[i].name)]
    first, second = order[0], (others or order[1:])[0]
    values = comparison.matrix(column.measure)[[first, second]]
    change = values[0] - values[1]
    known = np.flatnonzero(~np.isnan(change))
    gain = -change[known] if column.smaller_is_better else change[known]
    better, worse = int((gain > 0).sum()), int((gain < 0).sum())
    rows = []
    for q in known[np.argsort(-np.abs(change[known]), kind="stable")][:MOST_QUERIES].tolist():
        numbers = [table.format_mean(float(v)) for v in values[:, q]] + [table.format_change(float(change[q]))]
        numbers += [f"{comparison.candidates[q]:,}"] if comparison.candidates else []
        rows.append(QueryRow(comparison.queries[q], comparison.text_of(q), numbers))
    return SystemPair(
        measure=column.measure,
        first=comparison.systems[first].title,
        second=comparison.systems[second].title,
        better=better,
        worse=worse,
        same=known.size - better - worse,
        rows=rows,
        is_cut=len(rows) < known.size,
    )
