"""`fader paper`: all tables in one command, which checks first and takes up where it was stopped."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import cast

import pytest

from cli.running import fader, passed
from fader.cli.paper import read_efforts
from fader.demo.generate import generate
from fader.errors import InputError, UsageError
from fader.experiment.judged import JudgedQueries
from fader.experiment.paper import checks
from fader.experiment.paper.plan import LEARN, PaperEffort, plan_tables
from fader.experiment.paper.testbeds import find_testbeds
from fader.experiment.system_specs import parse_specs
from fader.index.reader import IndexReader
from fader.jobs.journal import Journal
from fader.jobs.storage import LocalFolder
from fader.progress import Silent
from fader.systems.lambdamart import LambdaMART

FEW = ("--sample", "6", "--folds", "2", "--folds-for-count", "folds", "--lam", "1")
SMALL = (*FEW, "--only", "^count$|balog2|=softcount")
TABLES = ("Proximity features compared", "Effect of T, (+) and soft cutoffs", "End to end")


def rows(text: str) -> list[list[str]]:
    """The cells of all Markdown tables, without marks."""
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    return [[cell.strip(" *↓") for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.fixture(scope="module")
def testbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("testbed") / "demo"
    generate(folder)
    return folder


@pytest.fixture(scope="module")
def out(testbed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the first run leaves; tests after it only read, but for the last."""
    folder = tmp_path_factory.mktemp("paper") / "out"
    done = passed("paper", "-o", folder, testbed, *SMALL)
    assert done.out.split("\n")[:-1] == [str(folder / name) for name in ("results.md", "results.json", "index.html")]
    return folder


def test_all_tables_are_in_one_text(out: Path) -> None:
    """Each with our systems on the testbed; a system that is in several tables has the same numbers in all."""
    text = (out / "results.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == list(TABLES)
    assert re.findall(r"^### (.+)$", text, re.MULTILINE) == [f"{title}: demo" for title in TABLES]
    counted = [row for row in rows(text) if row[0] == "count"]
    assert len(counted) == 3
    assert counted[0] == counted[1] == counted[2]
    assert sum(row[0] == "balog2" for row in rows(text)) == 1
    assert sum("softcount" in row[0] for row in rows(text)) == 1


def test_published_numbers_are_marked_as_other_data(out: Path) -> None:
    """Every column of their tables has the mark, and each table says what it means; ours has neither."""
    text = (out / "results.md").read_text(encoding="utf-8")
    heads = [row[1:] for row in rows(text) if row[0] == "System"]
    published = [head for head in heads if all(cell.endswith("†") for cell in head)]
    assert (len(heads), len(published)) == (12, 9)
    assert not any("†" in cell for head in heads if head not in published for cell in head)
    assert text.count("† Other data: published numbers, not measured here") == 9
    assert text.count("not comparable with the numbers above") == 9
    assert ["NoProx + rectangle", "0.563", "0.585", "0.656", "0.675", "0.202"] in rows(text)


def test_the_page_needs_no_other_file(out: Path) -> None:
    """Tables and figures in one file: every reference is to a part of the page, or holds what it refers to."""
    page = (out / "index.html").read_text(encoding="utf-8")
    references = re.findall(r"""(?:src|href|srcset|data)\s*=\s*["']([^"']*)""", page)
    references += re.findall(r"url\(([^)]*)\)", page)
    assert all(reference.startswith(("#", "data:")) for reference in references)
    assert "@import" not in page
    assert page.count("<svg") >= 3
    assert all(f"{title}: demo" in page for title in TABLES)
    names = re.findall(r'\bid="([^"]*)"', page)
    assert len(set(names)) == len(names)


def kept_results(out: Path) -> dict[str, Path]:
    """The files of kept results, one per system, by its name."""
    files = sorted((out / "kept").glob("*/*.part"))
    return {json.loads(Journal(LocalFolder(p.parent)).get(p.stem))["result"]["name"]: p for p in files}


def test_each_testbed_has_an_index_and_a_report_a_table(out: Path) -> None:
    """And every system was kept once."""
    assert {path.name for path in out.iterdir()} == {
        "demo", "demo - proximity", "demo - effect", "demo - end", "kept", "results.md", "results.json",
        "index.html",
    }  # fmt: skip
    assert sorted(name.split("(")[0] for name in kept_results(out)) == ["balog2", "count", "fader"]
    assert len(list((out / "kept").rglob("*"))) == 4  # and the folder that they share


def test_a_second_run_takes_what_was_kept(out: Path, testbed: Path) -> None:
    """Nothing is computed again: a kept number that is altered by hand is shown, what was kept is not written anew,
    and what is missing is made up for."""
    before, named = (out / "results.md").read_text(encoding="utf-8"), kept_results(out)
    altered = named["balog2"]
    journal = Journal(LocalFolder(altered.parent))
    plain = json.loads(journal.get(altered.stem))
    plain["result"]["values"]["AP"] = [0.125] * 6
    journal.keep(altered.stem, json.dumps(plain).encode())
    named["count"].unlink()
    left = {path: path.stat().st_mtime_ns for path in named.values() if path.exists()}
    passed("paper", "-o", out, testbed, *SMALL)
    after = (out / "results.md").read_text(encoding="utf-8")
    assert {path: path.stat().st_mtime_ns for path in left} == left
    assert kept_results(out) == named
    changed = [row for row in rows(after) if row not in rows(before)]
    assert [row[:2] for row in changed] == [["balog2", "0.125"]]


def texts(**given: object) -> dict[str, list[str]]:
    """The systems of each table."""
    return plan_tables(PaperEffort(**given))  # type: ignore[arg-type]


def test_only_is_a_regular_expression() -> None:
    """Of each table the systems whose text it finds, in their order; a table may be left with none."""
    every = texts()
    assert list(every) == list(TABLES)
    for only in ("^count$", "balog2|aggregator=soft", "^fader.*top=1000", r"\(cv=5\)$", "balog[12]"):
        assert texts(only=only) == {title: [s for s in of if re.search(only, s)] for title, of in every.items()}
    assert texts(only="^count$") == {title: ["count"] for title in TABLES}
    assert texts(only="balog[12]") == {title: ["balog1", "balog2"] if title == "End to end" else [] for title in TABLES}


def test_every_system_of_the_tables_is_one() -> None:
    """Its text can be read, whatever the options; none is twice in a table."""
    for options in ({}, {"lam": "0.1/1", "bad": 100}, {"folds": 2, "folds_for_count": "folds"}):
        for systems in texts(**options).values():
            named = parse_specs(systems, cast("IndexReader", None))
            assert len(named) == len(systems)


@pytest.mark.parametrize(
    ("only", "said"),
    [("nosuch", "--only nosuch: no system is like that; they are balog1, balog2, "),
     ("(", "--only (: not a regular expression: missing )")],
)  # fmt: skip
def test_what_finds_no_system_is_refused(only: str, said: str) -> None:
    """Before any work is done."""
    with pytest.raises(UsageError, match=re.escape(said)):
        texts(only=only)


def test_what_is_no_testbed_is_refused(testbed: Path, tmp_path: Path) -> None:
    """In one line that says what is missing, before anything is written."""
    (tmp_path / "empty").mkdir()
    done = fader("paper", "-o", tmp_path / "out", tmp_path / "empty", *SMALL)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "no corpus.jsonl in it; a testbed has corpus.jsonl, entities.tsv, types.tsv" in done.err
    assert not (tmp_path / "out").exists()
    with pytest.raises(UsageError, match="names that differ"):
        find_testbeds([testbed, testbed])


def test_options_of_one_testbed_take_the_place_of_the_common_ones() -> None:
    """Only those that are given for it."""
    common = PaperEffort(sample=7, folds=3)
    found = read_efforts(["wiki=--sample 300 --settled"], common, ["wiki", "mail"])
    assert found == {"wiki": PaperEffort(sample=300, folds=3, settled=True), "mail": common}
    with pytest.raises(UsageError, match="a testbed's name, one of wiki"):
        read_efforts(["wiky=--sample 3"], common, ["wiki"])


@pytest.fixture
def judged(testbed: Path, out: Path) -> JudgedQueries:
    return find_testbeds([testbed])[0].read(out, 4, Silent())


def test_what_cannot_run_is_said_before_the_start(judged: JudgedQueries, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is not there and too few queries, both at once."""
    tables = {"t": ["count", "lambdamart(cv=2)", "macdonald(cv=2)"]}
    checks.check_systems(judged, tables, "loo")

    def lacking(self: LambdaMART) -> None:
        raise UsageError("lambdamart: needs the package lightgbm, which is not installed")

    monkeypatch.setattr(LambdaMART, "check_packages", lacking)
    tables["t"][2] = "macdonald(cv=5)"
    with pytest.raises(InputError, match=r"needs the package lightgbm.*4 judged queries: 5 folds need 5.*Nothing was"):
        checks.check_systems(judged, tables, "loo")


def test_memory_is_asked_for_before_the_start(judged: JudgedQueries, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where something is trained; more queries need more."""
    need = checks.estimate_memory(judged)
    assert 0 < need < checks.estimate_memory(JudgedQueries(judged.index, judged.queries * 3, judged.grades * 3))
    assert checks.find_available_memory() is None or checks.find_available_memory() > 0  # type: ignore[operator]
    monkeypatch.setattr(checks, "find_available_memory", lambda: need - 1)
    checks.check_memory(judged, {"t": ["count", "balog2"]})
    with pytest.raises(InputError, match=r"training on 4 queries needs about .* GB of memory, and .* are free"):
        checks.check_memory(judged, {"t": ["fader"]})


def test_an_index_serves_as_a_testbed(out: Path, testbed: Path, tmp_path: Path) -> None:
    """With its queries and judgments; --check only checks. Half of the three is wrong usage."""
    files = ("--queries", testbed / "queries.jsonl", "--qrels", testbed / "qrels.txt")
    done = fader("paper", "-o", tmp_path / "new", "--index", out / "demo", *files, "--check", *SMALL)
    assert done.code == 0, done.err
    assert "demo: 3 systems can run on 6 judged queries" in done.err
    assert list((tmp_path / "new").iterdir()) == []
    assert fader("paper", "-o", tmp_path / "new", "--index", out / "demo").code == 2


def test_the_tables_are_also_json(out: Path) -> None:
    """With the means of the reports."""
    plain = json.loads((out / "results.json").read_text("utf-8"))
    assert plain["format"] == "fader-paper/1"
    assert [table["table"] for table in plain["tables"]] == list(TABLES)
    for table, name in zip(plain["tables"], ("proximity", "effect", "end"), strict=True):
        report = json.loads((out / f"demo - {name}" / "report.json").read_text("utf-8"))
        assert [row["cells"][0]["mean"] for row in table["rows"]] == [
            pytest.approx(sum(s["values"]["AP"]) / 6) for s in report["systems"]
        ]
        assert [row["name"] for row in table["rows"]] == [s["name"] for s in report["systems"]]


def test_settled_learners_have_nothing_to_choose() -> None:
    """Their defaults are written out; the other systems stay as they are."""
    settled, free = texts(settled=True), texts()
    for title in TABLES:
        for text, other in zip(settled[title], free[title], strict=True):
            learner = other.split("(")[0] in LEARN
            assert (text != other) == learner
            if learner:
                assert len(parse_specs([text], cast(IndexReader, None))[0].alternatives) == 1
