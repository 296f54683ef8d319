"""The report: plain data both ways, a folder that appears whole or not at all, a page that is safe and complete."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fader
from fader.errors import InputError, StorageError
from fader.experiment.comparison import Comparison, ContextScores, Supports, SystemGrid, SystemResult
from fader.experiment.provenance import list_provenance
from fader.experiment.reporting import figures, report
from fader.experiment.reporting.page import MOST_QUERIES
from fader.experiment.reporting.report import check_destination, parse_report, read_report, write_report
from fader.experiment.reporting.tables import make_table

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> ' \" --> ]]> </style></svg> $\\frac \u202e\x00"
DATA = ["index.html", "per-query.csv", "report.json", "table.csv", "table.md", "table.tex", "tabular.tex"]
needs_plots = pytest.mark.skipif(not figures.can_draw(), reason="matplotlib is not installed")


def comparison(**changed: Any) -> Comparison:
    values: dict[str, Any] = {
        "title": "Features compared",
        "provenance": {"index": "web", "documents": 500_000, "cv": "loo", "seed": 7},
        "measures": ["AP", "pairswap"],
        "queries": ["q1", "q2", "q3"],
        "texts": ['drug +"chicken pox"', "violin", "capital"],
        "types": ["drug.1", None, "city.1"],
        "systems": [
            SystemResult("count", {"AP": [0.1, 0.2, 0.3], "pairswap": [0.5, 0.6, 0.5]}, label="Only |S_e|"),
            SystemResult(
                "fader",
                {"AP": [0.4, 0.8, 0.25], "pairswap": [0.1, 0.1, None]},
                hyperparameters=[{"lambda": 1.0}, {"lambda": 1.0}, {"lambda": 10.0}],
                seconds=12.5,
                folds=3,
                notes=["one fold stopped early"],
            ),
        ],
        "candidates": [5, 40, 7000],
        "supports": Supports([3, 10], [1, 2]),
        "context_scores": [ContextScores("q2", "Einstein", True, [3.0, 2.0])],
        "grids": [SystemGrid("fader", "rectangle", ["low", "high"], ["far", "near"], [[0.0, 0.1], [0.1, 0.5]])],
    }
    return Comparison(**{**values, **changed})


def hostile() -> Comparison:
    """Every text of it is an attack."""
    return comparison(
        title=HOSTILE,
        provenance={HOSTILE: HOSTILE, "nested": {HOSTILE: [HOSTILE]}},
        queries=[HOSTILE, "q2", "q3"],
        texts=[HOSTILE] * 3,
        types=[HOSTILE] * 3,
        systems=[
            SystemResult(
                HOSTILE + str(i),
                {"AP": [0.1 * i, 0.2, 0.3], "pairswap": [0.5, 0.6, 0.5]},
                label=HOSTILE,
                hyperparameters=[{HOSTILE: HOSTILE}],
                notes=[HOSTILE],
            )
            for i in (1, 2)
        ],
        context_scores=[ContextScores(HOSTILE, HOSTILE, True, [1.0])],
        grids=[SystemGrid(HOSTILE + "1", HOSTILE, [HOSTILE], [HOSTILE], [[1.0]])],
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class Page(HTMLParser):
    """What a browser would see: tags, attributes, and the text outside of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data if self.tags[-1:] not in (["script"], ["style"]) else ""

    def values(self, name: str) -> list[str]:
        return [value for n, value in self.attributes if n == name]


# Plain data


def test_json_round_trip() -> None:
    """A comparison is the same after JSON, and the dictionary is what JSON gives back."""
    data = comparison()
    text = data.to_json()
    assert Comparison.from_dict(json.loads(text)) == data
    assert json.loads(text) == data.to_dict()


def test_comparison_of_an_older_release_has_no_types() -> None:
    """It is read all the same; types that are there must be one a query."""
    old = comparison().to_dict()
    del old["types"]
    assert Comparison.from_dict(old) == comparison(types=[])
    with pytest.raises(InputError, match="types must be empty or one per query: 1 for 3"):
        comparison(types=["T"])


@settings(deadline=None)
@given(
    st.lists(st.floats(0, 1) | st.none(), min_size=1, max_size=5),
    st.text(max_size=20),
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.booleans() | st.none(), max_size=3),
)
def test_json_round_trip_of_anything(values: list[float | None], text: str, free: dict[str, Any]) -> None:
    """Whatever the values, names and provenance are; numbers to the last bit."""
    queries = [f"q{i}" for i in range(len(values))]
    systems = [SystemResult(text, {"AP": values}, hyperparameters=[free])]
    data = Comparison(title=text, measures=["AP"], queries=queries, systems=systems, provenance=free)
    assert Comparison.from_dict(json.loads(data.to_json())) == data


def test_numbers_of_numpy_and_infinities_become_plain() -> None:
    """Cross validation may hand over numpy's numbers and an infinite hyperparameter."""
    free = {"lambda": np.inf, "width": np.int64(20), "edges": np.array([1.0, 2.0]), "share": np.float64(0.5)}
    data = comparison(provenance=free, candidates=[np.int64(3), 4, 5])
    again = Comparison.from_dict(json.loads(data.to_json()))
    assert again.provenance == {"lambda": "inf", "width": 20, "edges": [1.0, 2.0], "share": 0.5}
    assert again.candidates == [3, 4, 5]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"queries": ["q1", "q1", "q3"]}, r'queries of a comparison must differ: "q1" occurs twice'),
        ({"systems": []}, r"needs systems, and there are none"),
        ({"texts": ["a"]}, r"texts must be empty or one per query: 1 for 3 queries"),
        ({"candidates": [1, -2, 3]}, r"must not be negative: -2"),
        ({"measures": ["AP", "RR"]}, r'system "count", measure "RR": needs a value for each of 3 queries, has 0'),
        ({"systems": [SystemResult("s", {"AP": [0.1, float("nan"), 0], "pairswap": [0, 0, 0]})]}, r"must be finite"),
        ({"context_scores": [ContextScores("q", "e", True, [1.0, 2.0])]}, r'"e" must be finite, largest first'),
        ({"grids": [SystemGrid("s", "f", ["a"], ["b", "c"], [[1.0]])]}, r"must be 1 rows of 2 numbers"),
        ({"grids": [SystemGrid("s", "f", ["a"], ["b"], [[float("inf")]])]}, r"must be finite"),
    ],
)
def test_a_comparison_that_does_not_add_up_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        comparison(**changed)


def test_other_data_are_refused() -> None:
    """Another format, or a field of the wrong kind, is named."""
    with pytest.raises(InputError, match=r"format 'x/9', not 'fader-comparison/1'"):
        Comparison.from_dict({"format": "x/9"})
    with pytest.raises(InputError, match=r"Expected `str`, got `int` - at `\$.title`"):
        Comparison.from_dict({**comparison().to_dict(), "title": 3})


results = st.builds(
    SystemResult,
    st.text(max_size=10),
    st.dictionaries(st.text(max_size=5), st.lists(st.floats() | st.none(), max_size=5), max_size=3),
    label=st.text(max_size=10),
    hyperparameters=st.lists(st.dictionaries(st.text(max_size=5), st.floats(allow_nan=False, allow_infinity=False))),
    seconds=st.floats(min_value=0),
    folds=st.integers(0, 10**6),
    notes=st.lists(st.text(max_size=10), max_size=3),
)


def bits(values: Iterable[float | None]) -> list[str | None]:
    """Numbers as text that tells all of them apart, -0 from 0 too; NaN is NaN."""
    return [None if v is None else "nan" if math.isnan(v) else float(v).hex() for v in values]


@settings(deadline=None)
@given(results)
def test_a_systems_result_is_the_same_after_json(result: SystemResult) -> None:
    """To the last bit, with NaN and infinities, so that a run can go on from what it had written."""
    again = SystemResult.from_dict(json.loads(json.dumps(result.to_dict(), allow_nan=False)))
    assert {m: bits(v) for m, v in again.values.items()} == {m: bits(v) for m, v in result.values.items()}
    assert bits([again.seconds]) == bits([result.seconds])
    assert replace(again, values={}, seconds=0) == replace(result, values={}, seconds=0)


def test_a_systems_result_is_its_entry_in_the_report() -> None:
    """And makes the same comparison; numpy's numbers become plain, an infinite hyperparameter its name."""
    data = comparison()
    assert [s.to_dict() for s in data.systems] == data.to_dict()["systems"]
    assert comparison(systems=[SystemResult.from_dict(s.to_dict()) for s in data.systems]) == data
    odd = SystemResult("s", {"AP": [np.float64(0.1), None]}, hyperparameters=[{"lambda": np.inf, "n": np.int64(3)}])
    assert odd.to_dict()["hyperparameters"] == [{"lambda": "inf", "n": 3}]
    assert SystemResult.from_dict(odd.to_dict()).values == {"AP": [0.1, None]}


def test_a_broken_systems_result_is_named() -> None:
    with pytest.raises(InputError, match=r"not a system's result: Object missing required field `values`"):
        SystemResult.from_dict({"name": "s"})
    with pytest.raises(InputError, match=r"not a system's result: Expected `float \| null`, got `str`"):
        SystemResult.from_dict({"name": "s", "values": {"AP": ["much"]}})


def test_context_scores_of_older_reports_have_no_system() -> None:
    data = comparison().to_dict()
    del data["context_scores"][0]["system"]
    assert Comparison.from_dict(data).context_scores[0].system == ""


# The folder


def test_report_has_all_files_and_reads_back(tmp_path: Path) -> None:
    """The comparison is in report.json, with how significance was tested beside it."""
    data = comparison()
    written = write_report(data, tmp_path / "new" / "report", baseline="count", correct=True, figures=False)
    assert written.files == DATA == sorted(contents(tmp_path / "new" / "report"))
    assert written.notes == []
    assert read_report(tmp_path / "new" / "report") == data
    beside = json.loads((tmp_path / "new" / "report" / "report.json").read_text())["significance"]
    assert beside == {"test": "paired t-test", "corrected": True, "level": 0.05, "baseline": "count", "seed": 0}
    stored = parse_report((tmp_path / "new" / "report" / "report.json").read_bytes(), "report.json")
    table = make_table(data, baseline="count", correct=True)
    assert stored.table() == table
    assert replace(stored, extras=replace(stored.extras, table=None)).table() == table  # as of an older release
    assert "Δ MAP" in (tmp_path / "new" / "report" / "table.md").read_text(encoding="utf-8")


@needs_plots
def test_report_has_figures_and_is_the_same_every_time(tmp_path: Path) -> None:
    """Each figure as SVG and PNG; two reports of one comparison are equal byte by byte."""
    for name in ("a", "b"):
        write_report(comparison(), tmp_path / name)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    names = ["candidates", "contexts", "means", "supports", "weights-1"]
    assert sorted(os.listdir(tmp_path / "a" / "figures")) == [f"{n}.{e}" for n in names for e in ("png", "svg")]


def test_without_matplotlib_the_report_is_written_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    written = write_report(comparison(), tmp_path / "report")
    assert written.files == DATA
    assert written.notes == ["There are no figures: " + figures.REMEDY]
    page = Page((tmp_path / "report" / "index.html").read_text(encoding="utf-8"))
    assert "There are no figures: figures need matplotlib; install it with: pip install 'fader[plots]'" in page.text
    assert "svg" not in page.tags


def test_a_report_replaces_a_report_or_an_empty_folder(tmp_path: Path) -> None:
    """Nothing of the old one stays, and nothing is left beside it."""
    place = tmp_path / "report"
    place.mkdir()
    write_report(comparison(title="old"), place, figures=False)
    (place / "mine.txt").write_text("in the report's folder")
    with pytest.raises(StorageError, match="already holds a report"):
        write_report(comparison(title="new"), place, figures=False)
    assert read_report(place).title == "old"
    write_report(comparison(title="new"), place, figures=False, overwrite=True)
    assert read_report(place).title == "new"
    assert sorted(contents(place)) == DATA
    assert os.listdir(tmp_path) == ["report"]


@pytest.mark.parametrize("name", ["notes.txt", "report.json"])
def test_another_folder_is_not_replaced(tmp_path: Path, name: str) -> None:
    """Not with `overwrite` either, and neither if a file merely has the name of ours."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / name).write_text('{"format": "of mine"}')
    for overwrite in (False, True):
        with pytest.raises(StorageError, match=r"is a folder with other files, which a report never replaces"):
            write_report(comparison(), tmp_path / "mine", figures=False, overwrite=overwrite)
    assert os.listdir(tmp_path / "mine") == [name]


def test_files_indexes_and_the_working_folder_are_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also not with `overwrite`."""
    (tmp_path / "file").write_text("")
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "commit-00000001.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    for name, message in (
        ("file", "is a file"),
        ("index", "is a folder with other files"),
        (".", "is the working or home folder"),
    ):
        with pytest.raises(StorageError, match=message):
            check_destination(name, overwrite=True)
    check_destination("anything/new")


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("fails", ["write", "rename"])
def test_a_failure_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool, fails: str
) -> None:
    """No half of a report, no folder beside it, no new parent; an old report stays."""
    place = tmp_path / "deep" / "report"
    if there:
        write_report(comparison(title="old"), place, figures=False)
    before = contents(tmp_path)
    close, rename = report.sync_and_close, os.rename

    def full(file: Any) -> None:
        close(file)
        if Path(file.name).name == "table.tex":
            raise OSError(28, "No space left on device")

    def refused(source: Path, target: Path) -> None:
        if ".writing-" in str(source):
            raise OSError(13, "Permission denied")
        rename(source, target)

    if fails == "write":
        monkeypatch.setattr(report, "sync_and_close", full)
    else:
        monkeypatch.setattr(os, "rename", refused)
    with pytest.raises(StorageError, match=r"report: cannot be written: .*; nothing was left behind"):
        write_report(comparison(title="new"), place, figures=False, overwrite=there)
    assert contents(tmp_path) == before
    assert os.listdir(tmp_path) == (["deep"] if there else [])
    assert not there or os.listdir(tmp_path / "deep") == ["report"]


def test_reading_something_else_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"report\.json: cannot be read: .*; give the folder of a report"):
        read_report(tmp_path)
    (tmp_path / "report.json").write_text("{")
    with pytest.raises(InputError, match=r"report\.json: is not JSON"):
        read_report(tmp_path)
    (tmp_path / "report.json").write_text("[]")
    with pytest.raises(InputError, match=r"report\.json: not a comparison"):
        read_report(tmp_path)


# What made it

MADE = {"seed": 12345, "cross-validation": "loo", "documents": 500_000, "index": "web"}


def test_provenance_is_told_in_order() -> None:
    """Version, index, queries, cross-validation, seed first, the command last; a seed is written as it is typed."""
    command = ["fader", "compare", "index/", "--systems", "count,fader(features=noprox)"]
    made = list_provenance(comparison(provenance={"command": command, **MADE}))
    assert list(made.items()) == [
        ("fader", fader.__version__),
        ("index", "web"),
        ("queries", "3"),
        ("cross-validation", "loo"),
        ("seed", "12345"),
        ("documents", "500,000"),
        ("command", "fader compare index/ --systems 'count,fader(features=noprox)'"),
    ]
    assert list_provenance(comparison(provenance={})) == {"fader": fader.__version__, "queries": "3"}
    assert list_provenance(comparison(provenance={"fader": "9.9", "command": "x | y"})) == {
        "fader": "9.9", "queries": "3", "command": "x | y",
    }  # fmt: skip
    assert list_provenance(comparison(provenance={"command": {"cv": 5}}))["command"] == '{"cv": 5}'


def test_page_markdown_and_json_show_what_made_the_report(tmp_path: Path) -> None:
    """And no date: two reports are the same byte by byte."""
    command = "fader compare index/ --systems 'count,`x`' -o report/"
    data = comparison(provenance={**MADE, "command": command})
    for name in ("a", "b"):
        write_report(data, tmp_path / name, figures=False)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    page = Page((tmp_path / "a" / "index.html").read_text(encoding="utf-8"))
    for text in ("Features compared", fader.__version__, "web", "loo", "12345", command):
        assert text in page.text, text
    markdown = (tmp_path / "a" / "table.md").read_text(encoding="utf-8")
    assert markdown.startswith("# Features compared\n\n| System | MAP |")
    assert markdown.endswith(
        f"\n\n- fader: `{fader.__version__}`\n- index: `web`\n- queries: `3`\n- cross-validation: `loo`\n"
        f"- seed: `12345`\n- documents: `500,000`\n- command: `` {command} ``\n"
    )
    report_json = json.loads((tmp_path / "a" / "report.json").read_text(encoding="utf-8"))
    assert report_json["fader"] == fader.__version__
    assert report_json["provenance"]["command"] == command
    assert read_report(tmp_path / "a") == data


def test_a_comparison_of_one_query_tells_of_no_tests(tmp_path: Path) -> None:
    """No legend, no p-values, no verdict; differences to the baseline are there still."""
    systems = [SystemResult(name, {"AP": [value]}) for name, value in (("a", 0.5), ("b", 0.25))]
    single = {
        "measures": ["AP"],
        "queries": ["q1"],
        "texts": [],
        "types": [],
        "candidates": [],
        "systems": systems,
        "grids": [],
    }
    write_report(comparison(**single), tmp_path / "report", baseline="b", figures=False)
    page = Page((tmp_path / "report" / "index.html").read_text(encoding="utf-8"))
    assert "2 systems on 1 query. Best MAP: a with 0.500." in page.text
    assert "Difference of means.\n" in page.text
    assert "+0.250" in page.text
    for word in ("ignifican", "its p-value", "t-test"):
        assert word not in page.text
        for name in ("table.md", "table.tex"):
            assert word not in (tmp_path / "report" / name).read_text(encoding="utf-8")


# The page


def test_page_tells_the_result(tmp_path: Path) -> None:
    """Title, provenance, table with legend, p-values, differences, queries, hyperparameters, remarks, files."""
    write_report(comparison(), tmp_path / "report", baseline="count", figures=False)
    page = Page((tmp_path / "report" / "index.html").read_text(encoding="utf-8"))
    for text in (
        "Features compared",
        "2 systems on 3 queries. Best MAP: fader with 0.483, significantly better than 0 of 1 others.",
        "500,000",
        "Bold: the best of a column. ↓: significantly worse than the best (paired t-test, two-sided, p < 0.05).",
        "Means are over 3 queries, Pairswap over 2.",
        "p-values of the paired t-test",
        "Differences to Only |S_e|",
        "fader has better AP than Only |S_e| on 2 queries, worse on 1, the same on 0.",
        'drug +"chicken pox"',
        "lambda=1 (2)",
        "lambda=10 (1)",
        "one fold stopped early",
    ):
        assert text in page.text, text
    assert page.tags.count("details") == 1
    links = page.values("href")
    assert sorted(set(links)) == sorted(set(DATA) - {"index.html"})


@needs_plots
def test_page_is_self_contained(tmp_path: Path) -> None:
    """No address but those of the report's own files, all figures inside, every id once, every reference resolved."""
    write_report(comparison(), tmp_path / "report")
    text = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.tags.count("svg") == 5
    assert page.values("src") == []
    assert not re.search(r"@import|url\((?!#)", text)
    names = [value for name, value in page.attributes if "xmlns" not in name]
    assert not [value for value in names if "//" in value and not value.startswith("data:")]
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([^)]*)\)", text)) <= set(ids)
    assert {link[1:] for link in page.values("xlink:href") if link.startswith("#")} <= set(ids)
    for colour in figures.COLOURS:
        assert f"fill: {colour}" not in text
        assert f"stroke: {colour}" not in text


def test_only_the_pages_own_script_may_run(tmp_path: Path) -> None:
    """The policy allows the one script by its hash, and nothing from elsewhere."""
    write_report(comparison(), tmp_path / "report", figures=False)
    text = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [value for value in Page(text).values("content") if "default-src" in value]
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src 'sha256-{digest}';" in policy


def test_hostile_texts_are_only_text(tmp_path: Path) -> None:
    """Names, queries and values add no tag and no attribute to the page, and are there to read."""
    write_report(hostile(), tmp_path / "bad", baseline=HOSTILE + "1")
    write_report(comparison(), tmp_path / "good", baseline="count")
    bad, good = (Page((tmp_path / n / "index.html").read_text(encoding="utf-8")) for n in ("bad", "good"))
    assert set(bad.tags) <= set(good.tags)
    assert bad.tags.count("script") == 1
    assert {name for name, _ in bad.attributes} <= {name for name, _ in good.attributes}
    assert bad.text.count("<script>alert(1)</script><img src=x onerror=alert(2)>") > 10
    assert "\u202e" not in bad.text
    assert "\x00" not in bad.text
    assert read_report(tmp_path / "bad") == hostile()


def test_page_of_thousands_of_queries_stays_small(tmp_path: Path) -> None:
    """The largest differences are shown, the rest is in the file."""
    n = 5000
    random = np.random.default_rng(1)
    values = [{"AP": random.random(n).tolist()} for _ in range(2)]
    systems = [
        SystemResult(f"s{i}", v, hyperparameters=[{"lambda": j} for j in range(n)]) for i, v in enumerate(values)
    ]
    queries = [f"query-{i}" for i in range(n)]
    data = comparison(
        measures=["AP"],
        queries=queries,
        texts=["long " * 100] * n,
        types=[],
        systems=systems,
        candidates=list(range(n)),
    )
    write_report(data, tmp_path / "report")
    text = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert len(text) < 1_000_000
    assert text.count(">query-") == MOST_QUERIES
    gaps = np.abs(np.subtract(values[0]["AP"], values[1]["AP"]))
    assert f">query-{int(gaps.argmax())}<" in text
    assert f">query-{int(gaps.argmin())}<" not in text
    assert (tmp_path / "report" / "per-query.csv").read_text().count("\n") == 1 + 2 * n


def test_one_system_and_one_query_make_a_report(tmp_path: Path) -> None:
    """The least there can be: no tests, no pair to compare."""
    data = Comparison(title="", measures=["AP"], queries=["q"], systems=[SystemResult("s", {"AP": [0.5]})])
    write_report(data, tmp_path / "report", baseline="s")
    page = Page((tmp_path / "report" / "index.html").read_text(encoding="utf-8"))
    assert "1 system on 1 query. Best MAP: s with 0.500." in page.text
    assert "Significance" not in page.text
