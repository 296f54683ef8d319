"""Tables of published numbers: all four forms, marked as other data whatever is in them."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from hypothesis import given, settings

from experiment.hostile import NAMES, Reader
from fader.csvtext import guard_text
from fader.errors import UsageError
from fader.experiment.published import OTHER_DATA, PlainTable, format_published


def published(**changed: Any) -> PlainTable:
    """Our MAP beside one that was published."""
    values: dict[str, Any] = {
        "caption": "Ours & theirs",
        "columns": ["MAP", "MAP, 2009"],
        "rows": {"balog2": [0.25, 0.5], "Only |S_e|": [-1 / 3, None], "voting": ["0.1*", float("nan")]},
        "note": "Table 2 of <the paper>.",
        "other": ["MAP, 2009"],
    }
    return PlainTable(**{**values, **changed})


def test_golden_published_markdown() -> None:
    assert format_published(published(), "markdown") == (
        "Ours &amp; theirs\n"
        "\n"
        "| System | MAP | MAP, 2009† |\n"
        "| --- | ---: | ---: |\n"
        "| balog2 | 0.250 | 0.500 |\n"
        "| Only \\|S\\_e\\| | −0.333 | – |\n"
        "| voting | 0.1\\* | – |\n"
        "\n"
        f"{OTHER_DATA} Table 2 of &lt;the paper&gt;.\n"
    )


def test_golden_published_latex() -> None:
    """The part for `\\input` has caption, mark and note too; the whole is a document around it."""
    part = format_published(published(), "latex", whole=False)
    assert part == (
        "\\noindent Ours \\& theirs\n\\par\\medskip\\noindent\n"
        "\\begin{tabular}{|l|c|c|}\n"
        "\\hline\n"
        "System & MAP & MAP, 2009$^\\dagger$ \\\\ \\hline\n"
        "balog2 & 0.250 & 0.500 \\\\ \\hline\n"
        "Only $|$S\\_e$|$ & $-$0.333 & -- \\\\ \\hline\n"
        "voting & 0.1* & -- \\\\ \\hline\n"
        "\\end{tabular}\n"
        "\n\\par\\medskip\\noindent $^\\dagger$ Other data: published numbers, not measured here, and compared with "
        "ours by no test. Table 2 of $<$the paper$>$.\n"
    )
    whole = format_published(published(), "latex")
    assert whole.startswith("\\documentclass{article}\n")
    assert part in whole
    assert whole.endswith("\\end{document}\n")


def test_golden_published_csv() -> None:
    """Full precision; the head says which numbers are other data, and nothing stands where there is none."""
    assert list(csv.reader(io.StringIO(format_published(published(), "csv")))) == [
        ["system", "MAP", "MAP, 2009_other_data"],
        ["balog2", "0.25", "0.5"],
        ["Only |S_e|", repr(-1 / 3), ""],
        ["voting", "0.1*", ""],
    ]


def test_golden_published_html() -> None:
    mark = f'<abbr title="{OTHER_DATA}">†</abbr>'
    assert format_published(published(rows={"a<b": [0.25, 0.5]}), "html") == (
        '<table class="published">\n<caption>Ours &amp; theirs</caption>\n'
        '<thead><tr><th scope="col">System</th><th scope="col">MAP</th>'
        f'<th scope="col" class="other">MAP, 2009{mark}</th></tr></thead>\n'
        '<tbody>\n<tr><th scope="row" dir="auto">a&lt;b</th><td>0.250</td><td class="other">0.500</td></tr>\n</tbody>\n'
        f'</table>\n<p class="legend">{OTHER_DATA} Table 2 of &lt;the paper&gt;.</p>\n'
    )


@pytest.mark.parametrize("form", ["markdown", "latex", "csv", "html"])
def test_published_numbers_are_other_data_unless_told(form: str) -> None:
    """Every column is marked by default; a table of our numbers alone has no mark and may have no note."""
    mark = {"latex": "$^\\dagger$", "csv": "_other_data"}.get(form, "†")
    explained = form != "csv"
    every = format_published(published(other=None), form)
    assert every.count(mark) == 2 + explained + 2 * (form == "html")  # in HTML a mark bears its own explanation
    ours = format_published(published(other=[], note=""), form)
    assert mark not in ours
    assert "Other data" not in ours


def test_published_numbers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match=r'"Ours & theirs", row "a": needs a cell for each of 2 columns, has 1'):
        published(rows={"a": [1.0]})
    with pytest.raises(UsageError, match=r"there must be columns, all different: MAP, MAP"):
        published(columns=["MAP", "MAP"])
    with pytest.raises(UsageError, match=r'no column "MRR" in the table'):
        published(other=["MRR"])
    with pytest.raises(UsageError, match=r'no form "pdf" of a table; give markdown, latex, csv or html'):
        format_published(published(), "pdf")


@settings(deadline=None)
@given(NAMES)
def test_published_tables_keep_their_form_whatever_the_texts(name: str) -> None:
    """In names, cells, caption and note: no column, line, tag or command comes from a text."""
    table = PlainTable(name, ["MAP", name + "x"], {name: [name, 0.5]}, note=name)
    rows = list(csv.reader(io.StringIO(format_published(table, "csv"), newline="")))
    assert rows[1] == [guard_text(name), guard_text(name), "0.5"]
    body = [line for line in format_published(table, "markdown").split("\n") if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in body[-3:]} == {4}
    reader = Reader()
    reader.feed(format_published(table, "html"))
    assert set(reader.tags) == {"table", "caption", "thead", "tbody", "tr", "th", "td", "abbr", "p"}
    plain = re.sub(r"\\[\\{}$&%#_]", "", format_published(table, "latex").replace("\\\\ \\hline", ""))
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    assert not re.search("[#%]", plain)
