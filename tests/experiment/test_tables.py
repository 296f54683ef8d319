"""The table of a comparison: marks against hand-made cases, and all four forms."""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from experiment.hostile import NAMES, Reader
from fader.csvtext import guard_text
from fader.errors import InputError, UsageError
from fader.experiment.comparison import Comparison, SystemResult, measure_title
from fader.experiment.reporting.markup import clean_text, format_p
from fader.experiment.reporting.tables import (
    MeansTable,
    make_table,
    per_query_csv,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
)

# Four queries; a is best by both measures, b is far behind, c is close.
AP = {"a": [1.0, 1.0, 1.0, 0.8], "b": [0.2, 0.0, 0.1, 0.1], "c": [0.9, 1.0, 0.7, 0.9]}
PAIRSWAP = {"a": [0.0, 0.1, 0.0, 0.1], "b": [0.5, 0.4, 0.6, 0.5], "c": [0.1, 0.0, 0.1, 0.2]}


def comparison(**labels: str) -> Comparison:
    systems = [SystemResult(n, {"AP": AP[n], "pairswap": PAIRSWAP[n]}, label=labels.get(n, "")) for n in AP]
    return Comparison(
        title="Three systems", measures=["AP", "pairswap"], queries=["q1", "q2", "q3", "q4"], systems=systems
    )


def of_values(*values: list[float | None], measure: str = "AP") -> Comparison:
    systems = [SystemResult(f"s{i}", {measure: v}) for i, v in enumerate(values)]
    queries = [f"q{i}" for i in range(len(values[0]))]
    return Comparison(title="", measures=[measure], queries=queries, systems=systems)


def t_test_of_four(a: list[float], b: list[float]) -> float:
    """The two-sided paired t-test with 3 degrees of freedom, whose distribution has a closed form."""
    d = [x - y for x, y in zip(a, b, strict=True)]
    mean = sum(d) / 4
    deviation = math.sqrt(sum((x - mean) ** 2 for x in d) / 3)
    x = abs(mean) / (deviation / 2) / math.sqrt(3)
    return 1 - 2 / math.pi * (x / (1 + x * x) + math.atan(x))


def marks(table: MeansTable, column: int = 0) -> str:
    """`*` for bold, `v` for an arrow, `.` for neither, system by system."""
    cells = [row.cells[column] for row in table.rows]
    return "".join("*" if c.best else "v" if c.worse else "." for c in cells)


# Marks


def test_golden_marks() -> None:
    """a is bold and b has an arrow in both columns, though b's pairswap is the larger; c has no mark."""
    table = make_table(comparison())
    assert marks(table, 0) == marks(table, 1) == "*v."
    assert [row.cells[0].mean for row in table.rows] == pytest.approx([0.95, 0.1, 0.875])
    assert [row.cells[1].mean for row in table.rows] == pytest.approx([0.05, 0.5, 0.1])
    assert table.rows[0].cells[0].p is None
    assert table.rows[1].cells[0].p == pytest.approx(t_test_of_four(AP["b"], AP["a"]))
    assert table.rows[2].cells[0].p == pytest.approx(t_test_of_four(AP["c"], AP["a"]))
    assert table.rows[1].cells[0].p < 0.05 < table.rows[2].cells[0].p


def test_test_is_paired() -> None:
    """A small but steady difference is significant where the values themselves vary widely."""
    base = [0.1, 0.9, 0.3, 0.7, 0.5, 0.2, 0.8, 0.6]
    steady = [v - 0.02 + 0.001 * (i % 2) for i, v in enumerate(base)]
    assert marks(make_table(of_values(base, steady))) == "*v"
    assert marks(make_table(of_values(base, sorted(steady)))) == "*."


def test_equal_as_printed_is_bold_unless_told_apart() -> None:
    """As in the paper's tables 0.661 and 0.661 are both bold; one that a test tells apart gets an arrow instead."""
    base = [0.5, 0.6, 0.7, 0.4]
    noisy = [0.5002, 0.5997, 0.7002, 0.3998]
    steady = [v - 0.0001 - 1e-6 * i for i, v in enumerate(base)]
    assert marks(make_table(of_values(base, noisy, steady))) == "**v"
    assert marks(make_table(of_values(base, noisy, steady), digits=6)) == "*.v"


def test_exact_ties_are_all_bold_and_tests_are_against_the_first() -> None:
    """Two systems with the same values are both best; equal values are never significant."""
    table = make_table(of_values([0.1, 0.1, 0.2], [0.9, 0.8, 0.7], [0.9, 0.8, 0.7]))
    assert marks(table) == "v**"
    assert table.columns[0].against == "s1"
    assert table.rows[2].cells[0].p == 1


def test_holm_is_over_the_systems_of_a_column() -> None:
    """Of p = .02, .03 and .04 all are significant alone; Holm makes .06 of each, and none is."""
    given_p = {0.1: 0.02, 0.2: 0.03, 0.3: 0.04}
    data = of_values([0.9, 0.9], [0.1, 0.1], [0.2, 0.2], [0.3, 0.3])

    def lookup(a: np.ndarray, b: np.ndarray) -> float:
        assert b[0] == 0.9
        return given_p[a[0]]

    assert marks(make_table(data, test=lookup)) == "*vvv"
    corrected = make_table(data, test=lookup, correct=True)
    assert marks(corrected) == "*..."
    assert [row.cells[0].p for row in corrected.rows] == pytest.approx([None, 0.06, 0.06, 0.06])
    assert "Holm" in corrected.legend()
    assert "lookup" in corrected.legend()


def test_randomisation_of_four_queries_cannot_reach_the_level() -> None:
    """All of 16 sign flips are tried, so that p is 2/16 at least: no arrow, where the t-test gives one."""
    table = make_table(comparison(), test="randomisation")
    assert table.rows[1].cells[0].p == pytest.approx(2 / 16)
    assert marks(table) == "*.."


def test_level_moves_the_arrow() -> None:
    """b's p of about .001 is significant at .05 and not at .0001."""
    assert marks(make_table(comparison(), level=0.0001)) == "*.."


def test_differences_to_a_baseline() -> None:
    """Mean minus the baseline's mean, with its own p; the baseline has neither, the best has both."""
    cells = [row.cells[0] for row in make_table(comparison(), baseline="c").rows]
    assert [c.difference for c in cells] == pytest.approx([0.075, -0.775, None])
    assert cells[0].p_difference == pytest.approx(t_test_of_four(AP["a"], AP["c"]))
    assert cells[2].p_difference is None


def test_undefined_values_leave_the_query_out_for_all() -> None:
    """A mean is over the queries for which every system has a value; without any there is none."""
    table = make_table(of_values([1.0, None, 0.0], [0.0, 1.0, 0.5]))
    assert [row.cells[0].mean for row in table.rows] == [0.5, 0.25]
    assert table.columns[0].queries == 2
    nothing = make_table(of_values([None, 1.0], [1.0, None]), baseline="s0")
    assert marks(nothing) == ".."
    for write in (to_csv, to_latex, to_markdown, to_html):
        assert "nan" not in write(nothing)


def test_one_query_gives_means_and_no_verdict() -> None:
    """A test needs two queries."""
    table = make_table(of_values([1.0], [0.0]), baseline="s0")
    assert marks(table) == "*."
    assert table.rows[1].cells[0].p is None
    assert not table.tested


@pytest.mark.parametrize("values", [([1.0], [0.0]), ([1.0, 0.5],), ([None, 1.0], [1.0, 1.0])])
def test_the_legend_tells_of_tests_only_where_one_is_possible(values: tuple[list[float | None], ...]) -> None:
    """Not with one query, one system, or one query that all have a value for; the other marks are explained still."""
    assert make_table(of_values(*values)).legend() == "Bold: the best of a column."
    assert "significantly worse" in make_table(of_values([1.0, 0.5], [0.0, 0.5])).legend()


def test_usage_errors_name_the_value() -> None:
    with pytest.raises(UsageError, match=r'no test "wilcoxon"; give t or randomisation'):
        make_table(comparison(), test="wilcoxon")
    with pytest.raises(UsageError, match=r"between 0 and 1, not 5"):
        make_table(comparison(), level=5)
    with pytest.raises(InputError, match=r'no system "d" in the comparison; compared are "a", "b", "c"'):
        make_table(comparison(), baseline="d")
    with pytest.raises(UsageError, match=r"differences need a baseline"):
        to_markdown(make_table(comparison()), ["AP"])
    with pytest.raises(UsageError, match=r'no measure "RR"'):
        to_latex(make_table(comparison(), baseline="a"), ["RR"])


def test_titles_of_means() -> None:
    """Per-query names become those of their means; foreign measures keep theirs."""
    names = ["AP", "RR", "nDCG@5", "pairswap", "AP(candidates-only)", "pairswap(judged-only)", "P@10", "ERR@20"]
    titles = ["MAP", "MRR", "NDCG@5", "Pairswap", "MAP(candidates-only)", "Pairswap(judged-only)", "P@10", "ERR@20"]
    assert [measure_title(n) for n in names] == titles


# Forms


def test_golden_csv() -> None:
    """Full precision, empty where there is no p-value; the head says what is what."""
    rows = list(
        csv.DictReader(
            io.StringIO(
                to_csv(
                    make_table(comparison(b="Bee, the")),
                )
            )
        )
    )
    assert list(rows[0]) == ["system", "label", "MAP", "MAP_p_best", "Pairswap", "Pairswap_p_best"]
    assert [row["label"] for row in rows] == ["a", "Bee, the", "c"]
    assert [float(row["MAP"]) for row in rows] == [np.mean(AP[n]) for n in "abc"]
    assert rows[0]["MAP_p_best"] == ""
    assert float(rows[1]["MAP_p_best"]) == pytest.approx(t_test_of_four(AP["b"], AP["a"]), rel=1e-9)
    with_baseline = list(csv.DictReader(io.StringIO(to_csv(make_table(comparison(), baseline="c")))))
    assert float(with_baseline[1]["MAP_difference"]) == pytest.approx(-0.775)
    assert with_baseline[2]["MAP_difference"] == with_baseline[2]["MAP_p_baseline"] == ""


def test_no_name_in_csv_is_a_formula() -> None:
    """A spreadsheet shows such a name and computes nothing; negative numbers stay numbers."""
    data = comparison(a='=HYPERLINK("http://x")', b="-1")
    rows = list(csv.reader(io.StringIO(to_csv(make_table(data, baseline="a")))))
    assert [row[1] for row in rows[1:]] == ['\'=HYPERLINK("http://x")', "'-1", "c"]
    assert float(rows[2][4]) < 0
    single = Comparison(title="", measures=["AP"], queries=["+q"], systems=[SystemResult("@s", {"AP": [-0.5]})])
    assert per_query_csv(single) == "query,system,measure,value\n'+q,'@s,AP,-0.5\n"


def test_golden_markdown() -> None:
    assert to_markdown(make_table(comparison(a="Only |S_e|"), baseline="c"), ["AP"]) == (
        "| System | MAP | Pairswap | Δ MAP | p |\n"
        "| --- | ---: | ---: | ---: | ---: |\n"
        "| Only \\|S\\_e\\| | **0.950** | **0.050** | +0.075 | 0.444 |\n"
        "| b | 0.100↓ | 0.500↓ | −0.775 | 0.003 |\n"
        "| c | 0.875 | 0.100 | – | – |\n"
        "\n"
        "Bold: the best of a column. ↓: significantly worse than the best (paired t-test, two-sided, p &lt; 0.05). "
        "Smaller is better for Pairswap, larger for the others. Δ: difference to c.\n"
    )


def test_golden_latex() -> None:
    """The paper's notation: bold, and a down arrow as an exponent."""
    assert to_latex(make_table(comparison(a="Only |S_e|"), baseline="c"), ["AP"], whole=False) == (
        "\\begin{tabular}{|l|c|c|c|c|}\n"
        "\\hline\n"
        "~ & MAP & Pairswap & $\\Delta$ MAP & $p$ \\\\ \\hline\n"
        "Only $|$S\\_e$|$ & \\textbf{0.950} & \\textbf{0.050} & $+0.075$ & 0.444 \\\\ \\hline\n"
        "b & $0.100^\\downarrow$ & $0.500^\\downarrow$ & $-0.775$ & 0.003 \\\\ \\hline\n"
        "c & 0.875 & 0.100 & -- & -- \\\\ \\hline\n"
        "\\end{tabular}\n"
    )


def test_golden_html() -> None:
    assert to_html(make_table(comparison(a="Only |S_e|"))) == (
        '<table class="means">\n'
        '<thead><tr><th scope="col">System</th><th scope="col">MAP</th><th scope="col">Pairswap</th></tr></thead>\n'
        "<tbody>\n"
        '<tr><th scope="row" dir="auto" title="a">Only |S_e|</th><td class="best"><strong>0.950</strong></td>'
        '<td class="best"><strong>0.050</strong></td></tr>\n'
        '<tr><th scope="row" dir="auto" title="b">b</th>'
        '<td class="worse">0.100<abbr title="significantly worse than Only |S_e|, p &lt;0.001">↓</abbr></td>'
        '<td class="worse">0.500<abbr title="significantly worse than Only |S_e|, p 0.006">↓</abbr></td></tr>\n'
        '<tr><th scope="row" dir="auto" title="c">c</th><td>0.875</td><td>0.100</td></tr>\n'
        "</tbody>\n</table>\n"
    )


def test_per_query_csv_has_every_value() -> None:
    """It reads back exactly; an undefined value is empty."""
    data = of_values([1 / 3, None], [0.1, 0.2])
    assert list(csv.reader(io.StringIO(per_query_csv(data)))) == [
        ["query", "system", "measure", "value"],
        ["q0", "s0", "AP", repr(1 / 3)],
        ["q1", "s0", "AP", ""],
        ["q0", "s1", "AP", "0.1"],
        ["q1", "s1", "AP", "0.2"],
    ]


def test_p_values_for_people() -> None:
    assert [format_p(p) for p in (None, 0.0, 0.00099, 0.001, 0.0495, 1.0)] == [
        "–",
        "<0.001",
        "<0.001",
        "0.001",
        "0.050",
        "1.000",
    ]


# Names are hostile


@settings(deadline=None)
@given(NAMES)
def test_csv_reads_back_any_name(name: str) -> None:
    data = comparison(a=name)
    rows = list(csv.reader(io.StringIO(to_csv(make_table(data)), newline="")))
    assert rows[1][1] == guard_text(name or "a")
    assert {len(row) for row in rows} == {6}


@settings(deadline=None)
@given(NAMES)
def test_markdown_keeps_its_columns_whatever_the_names(name: str) -> None:
    """No name adds a column or a line, opens a tag, or is set in bold."""
    lines = to_markdown(make_table(comparison(a=name))).split("\n")
    assert len(lines) == 8
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines[:5]} == {4}
    first = lines[2].split(" | **0.950**")[0]
    assert not re.search(r"[<>]", first)
    assert not re.search(r"(?<!\\)(?:\\\\)*[*_`\[$]", first)


@settings(deadline=None)
@given(NAMES)
def test_latex_compiles_in_form_whatever_the_names(name: str) -> None:
    """Every row has its `&`s, braces and dollars are balanced, and nothing is left that plain LaTeX cannot set."""
    text = to_latex(make_table(comparison(a=name)))
    plain = re.sub(r"\\[\\{}$&%#_]", "", text.replace("\\\\ \\hline", ""))
    rows = plain[plain.index("\\hline") : plain.index("\\end{tabular}")].strip().split("\n")[1:]
    assert [row.count("&") for row in rows] == [2, 2, 2, 2]
    assert plain.count("{") == plain.count("}")
    assert all(row.count("$") % 2 == 0 for row in rows)
    assert not re.search("[#%]", plain)
    assert "\\usepackage" not in text
    assert all(ord(c) < 0x180 and c.isprintable() for c in plain.replace("\n", ""))


def test_latex_of_special_characters() -> None:
    r"""Each has its command; Greek is mathematics; what plain LaTeX lacks is named by its code point."""
    table = make_table(comparison(a="50% of #1 & $x_1^2$ {~\\} λ Müller 中 <script>"))
    row = to_latex(table, whole=False).split("\n")[3]
    assert row.startswith(
        r"50\% of \#1 \& \$x\_1\textasciicircum{}2\$ \{\textasciitilde{}\textbackslash{}\} $\lambda$ Müller [U+4E2D] "
        r"$<$script$>$ & "
    )


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")
def test_latex_compiles_alone(tmp_path: Path) -> None:
    """Without any package, with differences and awkward names."""
    table = make_table(comparison(a="50% of #1 & $x_1^2$ {~\\} λ Müller 中 <|>"), baseline="c")
    (tmp_path / "table.tex").write_text(to_latex(table, ["AP", "pairswap"]), encoding="utf-8")
    subprocess.run(["pdflatex", "-halt-on-error", "table.tex"], cwd=tmp_path, check=True, capture_output=True)


@settings(deadline=None)
@given(NAMES)
def test_html_shows_any_name_as_text(name: str) -> None:
    """The tags and attributes are ours whatever the names are, and the name is there to read."""
    reader = Reader()
    reader.feed(to_html(make_table(comparison(a=name))))
    assert set(reader.tags) == {"table", "thead", "tbody", "tr", "th", "td", "strong", "abbr"}
    assert reader.attributes == {"class", "scope", "dir", "title"}
    assert reader.texts[3].strip() == clean_text(name).strip()


def test_shown_text_is_one_safe_line() -> None:
    """Controls and marks that turn the direction are replaced, spaces are single, long texts are cut."""
    assert clean_text("a\n\tb\x00\u202ec\ud800") == "a b\ufffd\ufffdc\ufffd"
    assert clean_text("ab" * 600, 5) == "abab…"
