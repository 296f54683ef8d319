"""The report as one HTML page that needs nothing else: styles, figures and data are inside, no other host is asked.

The page can be read without its script, which only sorts tables; a content security policy lets no other script run.
Names, queries and values are shown as text whatever is in them. Light or dark as the reader prefers, and printable.
It knows comparisons, tables and drawings, and nothing of files.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from fader.experiment.comparison import Comparison, SystemResult, counted
from fader.experiment.provenance import made_by, value_text
from fader.experiment.reporting.figures import COLOURS, Drawing
from fader.experiment.reporting.markup import escaped
from fader.experiment.reporting.tables import Cell, Table, p_text, to_html

MOST_QUERIES = 200  # in the table of differences; the file has all
MOST_SETTINGS = 12  # of one system
MOST_CHARACTERS = 4000  # of the command; the file has all
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

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --muted: #6b727b; --paper: #fefefe; --line: #d9dde2;
  --soft: #f3f5f7; --good: #0072b2; --bad: #d55e00; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --muted: #9aa1aa; --paper: #16191d;
  --line: #363c44; --soft: #1f2429; --good: #56b4e9; --bad: #f0883e; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
p { margin: .5rem 0; max-width: 46rem; }
.lead { font-size: 1.1rem; }
.legend, figcaption { color: var(--muted); font-size: .9rem; }
.note { border-left: 3px solid var(--bad); padding: .3rem .8rem; background: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .32rem .7rem; text-align: right; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { border-bottom: 2px solid var(--muted); white-space: nowrap; vertical-align: bottom; }
th[scope=row], thead th:first-child, td.text, th.text { text-align: left; font-weight: normal; }
thead th, thead th:first-child { font-weight: 600; }
td.text { overflow-wrap: anywhere; min-width: 12rem; }
th[scope=row] { overflow-wrap: anywhere; min-width: 9rem; }
tbody tr:hover { background: var(--soft); }
table.means td { padding-right: 1.1rem; } td.worse { color: var(--muted); }
table.means td.worse { padding-right: .35rem; }
td.worse abbr { text-decoration: none; cursor: help; color: var(--bad); display: inline-block; width: .75rem;
  text-align: center; }
td.significant { font-weight: 600; }
table.published { margin-top: 1.4rem; } caption { padding: .3rem 0; text-align: left; overflow-wrap: anywhere; }
.other { color: var(--muted); } .other abbr { text-decoration: none; cursor: help; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .8rem 0; font-size: .9rem; }
dt { color: var(--muted); } dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 1.6rem 0 2rem; }
figure svg { display: block; width: 100%; max-width: 44rem; height: auto; }
figure svg text { font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif !important; }
figcaption { max-width: 46rem; margin-top: .4rem; } figcaption b { color: var(--ink); }
summary { cursor: pointer; padding: .3rem 0; } a { color: var(--good); }
code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .88em; }
th button { all: unset; cursor: pointer; } th button:focus-visible { outline: 2px solid var(--good); }
th[aria-sort] button::after { content: " ▾"; } th[aria-sort=ascending] button::after { content: " ▴"; }
@media print { body { max-width: none; padding: 0; font-size: 9pt; } .scroll { overflow: visible; }
  figure, tr { break-inside: avoid; } h2, h3 { break-after: avoid; } a { color: inherit; }
  details::details-content { content-visibility: visible; display: block; } }
"""

_SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const number = (row, i) => parseFloat(row.cells[i].textContent.replace("\\u2212", "-").replace(/[<,]/g, ""));
  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      const text = head.classList.contains("text");
      rows.sort((a, b) => {
        if (text) return a.cells[i].textContent.localeCompare(b.cells[i].textContent) * (down ? -1 : 1);
        const x = number(a, i), y = number(b, i);
        if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y);
        return down ? y - x : x - y;
      });
      table.tBodies[0].append(...rows);
    });
  });
}
"""


def make_page(comparison: Comparison, table: Table, drawings: Sequence[Drawing], notes: Sequence[str] = ()) -> str:
    """The whole page; `notes` are things the reader should know, such as figures that could not be drawn."""
    body = [
        f'<header>\n<h1 dir="auto">{escaped(comparison.title)}</h1>\n{_lead(comparison, table)}',
        *(f'<p class="note">{escaped(note)}</p>' for note in notes),
        f"{_provenance(comparison)}</header>",
        _means(table),
        _tests(table),
        _differences(table),
        _figures(drawings),
        _queries(comparison, table),
        _systems(comparison),
        _files(),
    ]
    return whole_page(comparison.title, body)


def whole_page(title: str, body: Sequence[str]) -> str:
    """A page of some parts that needs no other file and lets no other script run."""
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escaped(title, 200)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in body if part)
        + f"\n<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def inline(drawing: Drawing) -> str:
    """A drawing as part of a page: ids that no other has, and the page's colours."""
    svg = _METADATA.sub("", drawing.svg[drawing.svg.index("<svg") :])
    svg = _TAG.sub(lambda tag: _adapted(tag[0], drawing.name), svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escaped(drawing.title)}" ', 1)


def _adapted(tag: str, name: str) -> str:
    tag = _REFERENCE.sub(rf"\g<1>{name}-", tag)
    for colour, variable in zip(COLOURS, _COLOUR_NAMES, strict=True):
        tag = tag.replace(colour, f"var(--{variable})")
    return tag


# The parts of the page, in order


def _lead(comparison: Comparison, table: Table) -> str:
    """The result in a sentence."""
    column, cells = table.columns[0], [row.cells[0] for row in table.rows]
    systems, queries = counted(len(table.rows), "system"), counted(len(comparison.queries), "query", "queries")
    counts = f"{systems} on {queries}."
    best = next((row for row in table.rows if row.name == column.against), None)
    if best is None:
        return f'<p class="lead">{counts}</p>\n'
    behind = sum(cell.worse for cell in cells)
    verdict = f", significantly better than {behind} of {len(cells) - 1} others" if column.tested else ""
    mean = table.number(best.cells[0].mean)
    return (
        f'<p class="lead">{counts} Best {escaped(column.title)}: <bdi>{escaped(best.title)}</bdi> with {mean}{verdict}.'
        "</p>\n"
    )


def _provenance(comparison: Comparison) -> str:
    items = (
        f"<dt>{escaped(key)}</dt><dd><code>{escaped(value, MOST_CHARACTERS)}</code></dd>"
        if key == "command"
        else f"<dt>{escaped(key)}</dt><dd>{escaped(value, 500)}</dd>"
        for key, value in made_by(comparison).items()
    )
    return f"<dl>\n{chr(10).join(items)}\n</dl>\n"


def _means(table: Table) -> str:
    fewer = [f"{c.title} over {c.queries:,}" for c in table.columns if c.queries != table.columns[0].queries]
    partly = f" Means are over {table.columns[0].queries:,} queries, {', '.join(fewer)}." if fewer else ""
    body = to_html(table).replace('<table class="means">', '<table class="means sortable">', 1)
    body = body.replace('<th scope="col">', '<th scope="col" class="text">', 1)
    return f'<h2>Means</h2>\n{_scroll(body)}<p class="legend">{escaped(table.legend() + partly)}</p>'


def _tests(table: Table) -> str:
    """p-values against the best of each column; nothing where no test is possible."""
    if not table.tested:
        return ""
    how = f"{table.test}, two-sided" + (", Holm-corrected over the systems of a column" if table.corrected else "")
    return (
        f"<h2>Significance</h2>\n<p>p-values of the {escaped(how)}, against the best system of each column. "
        f"Bold: p &lt; {table.level:g}.</p>\n{_scroll(_grid(table, lambda cell: _p_cell(cell.p, table.level)))}"
    )


def _differences(table: Table) -> str:
    """Differences to the baseline; their p-values where a test is possible."""
    if table.baseline is None or len(table.rows) < 2:
        return ""
    name = next(row.title for row in table.rows if row.name == table.baseline)
    what = "Difference of means, and its p-value." if table.tested else "Difference of means."
    cells = partial(_difference_cell, table)
    return (
        f"<h2>Differences to <bdi>{escaped(name)}</bdi></h2>\n<p>{what}</p>\n"
        f"{_scroll(_grid(table, cells, 2 if table.tested else 1))}"
    )


def _figures(drawings: Sequence[Drawing]) -> str:
    parts = [
        f'<figure id="figure-{escaped(d.name)}">\n{inline(d)}\n<figcaption><b>{escaped(d.title)}.</b> '
        f"{escaped(d.caption, 2000)}</figcaption>\n</figure>"
        for d in drawings
    ]
    return "\n".join(["<h2>Figures</h2>", *parts]) if parts else ""


def _queries(comparison: Comparison, table: Table) -> str:
    """The queries on which two systems differ most."""
    pair = _pair(comparison, table)
    if pair is None:
        return ""
    measure, column = comparison.measures[0], table.columns[0]
    first, second = (comparison.systems[i] for i in pair)
    values = comparison.matrix(measure)[list(pair)]
    change = values[0] - values[1]
    known = np.flatnonzero(~np.isnan(change))
    order = known[np.argsort(-np.abs(change[known]), kind="stable")]
    gain = -change[known] if column.smaller_is_better else change[known]
    better, worse = int((gain > 0).sum()), int((gain < 0).sum())
    rows = [_query_row(comparison, table, int(q), values[:, q]) for q in order[:MOST_QUERIES]]
    heads = ["Query", "Text", escaped(first.title, 60), escaped(second.title, 60), "Difference"]
    heads += ["Candidates"] if comparison.candidates else []
    shown_rows = f"the {len(rows)} with the largest differences" if len(rows) < known.size else "all queries"
    return (
        f"<h2>Queries</h2>\n<p><bdi>{escaped(first.title)}</bdi> has better {escaped(measure)} than "
        f"<bdi>{escaped(second.title)}</bdi> on {counted(better, 'query', 'queries')}, worse on {worse:,}, the same on "
        f"{known.size - better - worse:,}. Values of all systems and measures are in "
        f'<a href="per-query.csv">per-query.csv</a>.</p>\n<details><summary>{escaped(measure)} by query: {shown_rows}'
        f"</summary>\n{_scroll(_table(heads, rows, {0, 1}))}</details>"
    )


def _systems(comparison: Comparison) -> str:
    """What was run: names, folds, time, the chosen hyperparameters, remarks."""
    rows = []
    for system in comparison.systems:
        seconds = f"{system.seconds:,.1f}" if system.seconds else "–"
        remarks = "".join(f"<br>{escaped(note)}" for note in system.notes)
        rows.append(
            f'<tr><th scope="row" dir="auto">{escaped(system.title)}</th><td class="text"><code>{escaped(system.name)}'
            f'</code>{remarks}</td><td>{system.folds or "–"}</td><td>{seconds}</td><td class="text">{_chosen(system)}'
            "</td></tr>"
        )
    heads = ["System", "Name and remarks", "Folds", "Seconds", "Chosen hyperparameters (folds)"]
    return f"<h2>Systems</h2>\n{_scroll(_table(heads, rows, {0, 1, 4}, sortable=False))}"


def _files() -> str:
    items = (f'<dt><a href="{name}">{name}</a></dt><dd>{escaped(what)}</dd>' for name, what in FILES.items())
    return f"<h2>Files</h2>\n<dl>{''.join(items)}</dl>"


# Details


def _pair(comparison: Comparison, table: Table) -> tuple[int, int] | None:
    """The best system by the first measure and the baseline, or where that is the best itself, the second best."""
    column = table.columns[0]
    if len(table.rows) < 2 or not column.queries:
        return None
    means = [row.cells[0].mean or 0.0 for row in table.rows]
    order = sorted(range(len(means)), key=lambda i: means[i] if column.smaller_is_better else -means[i])
    names = [s.name for s in comparison.systems]
    baseline = names.index(table.baseline) if table.baseline is not None else order[1]
    return (order[0], baseline) if baseline != order[0] else (order[0], order[1])


def _query_row(comparison: Comparison, table: Table, query: int, pair: Any) -> str:
    cells = [table.number(float(pair[0])), table.number(float(pair[1])), table.change(float(pair[0] - pair[1]))]
    cells += [f"{comparison.candidates[query]:,}"] if comparison.candidates else []
    text = f'<td class="text" dir="auto">{escaped(comparison.text(query), 200)}</td>'
    name = f'<th scope="row" dir="auto">{escaped(comparison.queries[query], 60)}</th>'
    return f"<tr>{name}{text}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def chosen_settings(system: SystemResult) -> list[tuple[str, int]]:
    """What was chosen, most often first, with how many folds chose it."""
    alike = {repr(fold): fold for fold in system.hyperparameters}  # thousands of folds have few settings
    counts: Counter[str] = Counter()
    for key, n in Counter(map(repr, system.hyperparameters)).items():
        counts[", ".join(f"{k}={value_text(v)}" for k, v in alike[key].items())] += n
    return [(text, n) for text, n in counts.most_common() if text]


def _chosen(system: SystemResult) -> str:
    """How many folds chose each setting, the most frequent first."""
    settings = chosen_settings(system)
    lines = [f"<code>{escaped(s, 300)}</code> ({n})" for s, n in settings[:MOST_SETTINGS]]
    left = len(settings) - MOST_SETTINGS
    return "<br>".join([*lines, *([f"and {left} more"] if left > 0 else [])]) or "–"


def _grid(table: Table, cell: Any, span: int = 1) -> str:
    """Systems by measures with what `cell` makes of each."""
    heads = "".join(f'<th scope="col" colspan="{span}">{escaped(c.title)}</th>' for c in table.columns)
    rows = (
        f'<tr><th scope="row" dir="auto">{escaped(row.title)}</th>{"".join(cell(c) for c in row.cells)}</tr>'
        for row in table.rows
    )
    head = f'<thead><tr><th scope="col">System</th>{heads}</tr></thead>'
    return f"<table>\n{head}\n<tbody>\n{chr(10).join(rows)}\n</tbody>\n</table>\n"


def _p_cell(p: float | None, level: float) -> str:
    significant = ' class="significant"' if p is not None and p < level else ""
    return f"<td{significant}>{escaped(p_text(p))}</td>"


def _difference_cell(table: Table, cell: Cell) -> str:
    return f"<td>{table.change(cell.difference)}</td>" + (
        _p_cell(cell.p_difference, table.level) if table.tested else ""
    )


def _table(heads: Sequence[str], rows: Sequence[str], words: set[int], sortable: bool = True) -> str:
    """A table of ready rows; `words` are the places of columns that hold no numbers."""
    kinds = (' class="text"' if i in words else "" for i in range(len(heads)))
    cells = (f'<th scope="col"{kind}>{head}</th>' for kind, head in zip(kinds, heads, strict=True))
    kind = ' class="sortable"' if sortable else ""
    return (
        f"<table{kind}>\n<thead><tr>{''.join(cells)}</tr></thead>\n<tbody>\n{chr(10).join(rows)}\n</tbody>\n</table>\n"
    )


def _scroll(table: str) -> str:
    return f'<div class="scroll" role="region" aria-label="table" tabindex="0">\n{table}</div>\n'
