"""`fader evaluate`: measures of run files beside ir_measures, marks and p-values, remarks, faults."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from unittest import mock

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, RR, nDCG

from cli.running import fader, passed, refused
from fader.experiment.significance import holm, randomisation_test, t_test

QUERIES = [f"q{i:02}" for i in range(20)]
ENTITIES = [f"e{i:02}" for i in range(15)]
MEASURES = {"AP": AP, "RR": RR, "nDCG@5": nDCG @ 5, "nDCG@10": nDCG @ 10}


def write_run(path: Path, noise: float, queries: list[str] = QUERIES) -> Path:
    """Entities e00, e01, ... of falling score, disturbed by noise; scores are quarters, so that there are ties."""
    random = np.random.default_rng(int(noise * 8))
    lines = []
    for query in queries:
        scores = np.round(np.arange(12, 0, -1) + random.normal(0, noise, size=12)) / 4
        lines += [f"{query} Q0 {ENTITIES[i]} {i + 1} {score!r} x" for i, score in enumerate(scores.tolist())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    """e00 to e03 are good, e04 is judged bad, e13 is good and never found; q00 has a negative grade too."""
    grades = {"e00": 2, "e01": 1, "e02": 1, "e03": 1, "e04": 0, "e13": 1}
    lines = [f"{query} 0 {entity} {grade}" for query in QUERIES for entity, grade in grades.items()]
    path = tmp_path / "qrels.txt"
    path.write_text("\n".join([*lines, "q00 0 e05 -1"]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """From good to bad; the first two are near each other."""
    return [write_run(tmp_path / f"{name}.run", noise) for name, noise in (("a", 1.5), ("b", 2), ("c", 12))]


def test_means_are_those_of_ir_measures(qrels: Path, runs: list[Path]) -> None:
    """To 1e-9, of every run."""
    shown = passed("evaluate", "--qrels", qrels, *runs, "--json").json
    theirs_of = list(ir_measures.read_trec_qrels(str(qrels)))
    assert shown["queries"] == 20
    for path, run in zip(runs, shown["runs"], strict=True):
        theirs = ir_measures.calc_aggregate(MEASURES.values(), theirs_of, list(ir_measures.read_trec_run(str(path))))
        assert run["run"] == str(path)
        assert list(run["means"]) == [*MEASURES, "pairswap"]
        for name, measure in MEASURES.items():
            assert run["means"][name] == pytest.approx(theirs[measure], abs=1e-9)
            low, high = run["intervals"][name]
            assert low <= run["means"][name] <= high


def per_query(path: Path) -> dict[tuple[str, str], list[float]]:
    """The written values by run and measure, in the order of queries."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in csv.DictReader(io.StringIO(path.read_text("utf-8"))):
        for name in row.keys() - {"run", "query"}:
            found.setdefault((row["run"], name), []).append(float(row[name]))
    return found


def test_per_query_values_and_p_values(qrels: Path, runs: list[Path], tmp_path: Path) -> None:
    """The CSV holds what means and p-values are made of; p is against the best by the first measure."""
    out = tmp_path / "out.csv"
    shown = passed("evaluate", "--qrels", qrels, *runs, "--json", "--per-query", out).json
    values = per_query(out)
    assert out.read_text("utf-8").splitlines()[0] == "run,query,AP,RR,nDCG@5,nDCG@10,pairswap"
    assert len(out.read_text("utf-8").splitlines()) == 1 + 3 * 20
    assert shown["baseline"] == str(runs[0])
    assert set(shown["runs"][0]["p"].values()) == {None}
    for run in shown["runs"][1:]:
        for name, p in run["p"].items():
            mine, best = np.array(values[run["run"], name]), np.array(values[str(runs[0]), name])
            assert run["means"][name] == pytest.approx(mine.mean(), abs=1e-12)
            assert p == pytest.approx(t_test(mine, best), abs=1e-12)
    assert not list(tmp_path.glob("*.part"))


def test_the_test_the_correction_and_the_seed(qrels: Path, runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    options = ["--test", "randomisation", "--holm", "--seed", "7", "--baseline", runs[2]]
    shown = passed("evaluate", "--qrels", qrels, *runs, "--json", "--per-query", out, *options).json
    values = per_query(out)
    base = np.array(values[str(runs[2]), "AP"])
    expected = holm([randomisation_test(np.array(values[str(run), "AP"]), base, 7) for run in runs[:2]])
    assert [run["p"]["AP"] for run in shown["runs"]] == [*expected, None]
    assert (shown["test"], shown["holm"], shown["seed"]) == ("randomisation", True, 7)


def test_the_table_marks_the_best_and_the_significantly_worse(qrels: Path, runs: list[Path]) -> None:
    """In plain text *best* and an arrow; p-values follow; what is not significant has no arrow."""
    outcome = passed("evaluate", "--qrels", qrels, *runs, "--measures", "AP,pairswap")
    means = passed("evaluate", "--qrels", qrels, *runs, "--measures", "AP,pairswap", "--json").json["runs"]
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["20", "queries", "AP", "pairswap"]
    assert lines[1].split() == ["a.run", *(f"*{means[0]['means'][m]:.4f}*" for m in ("AP", "pairswap"))]
    assert "↓" not in lines[2]
    assert lines[3].split() == ["c.run", *(x for m in ("AP", "pairswap") for x in (f"{means[2]['means'][m]:.4f}", "↓"))]
    assert "worse, better than a.run with p < 0.05" in lines[4]
    assert "smallest pairswap" in lines[4]
    assert lines[6].startswith("p, two-sided paired t-test")
    assert [line.split()[0] for line in lines[7:]] == ["b.run", "c.run"]
    assert outcome.err == ""
    assert not any(line.endswith(" ") for line in lines)


def test_better_than_the_baseline_has_the_other_arrow(qrels: Path, runs: list[Path]) -> None:
    """A baseline that is not among the runs is put first."""
    lines = passed("evaluate", "--qrels", qrels, runs[0], "--baseline", runs[2], "--measures", "AP").out.splitlines()
    assert lines[1].startswith("c.run")
    assert lines[2].startswith("a.run")
    assert lines[2].endswith("*↑")


def test_on_a_terminal_the_best_is_bold(qrels: Path, runs: list[Path]) -> None:
    with mock.patch.dict("os.environ", {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "100"}):
        out = passed("evaluate", "--qrels", qrels, *runs, "--measures", "AP").out
    assert "*" not in out
    assert out.splitlines()[1].count("\x1b[1m") == 1
    assert "\x1b[1m" not in out.splitlines()[3]


def test_one_run_has_neither_marks_nor_p_values(qrels: Path, runs: list[Path]) -> None:
    lines = passed("evaluate", "--qrels", qrels, runs[1]).out.splitlines()
    assert len(lines) == 2
    assert not {"*", "↓", "↑"} & set(lines[1])


def test_runs_of_the_same_name_are_shown_with_their_folders(qrels: Path, runs: list[Path], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = write_run(tmp_path / "other" / "a.run", 3)
    out = passed("evaluate", "--qrels", qrels, runs[0], other).out
    assert str(runs[0]) in out
    assert str(other) in out


def test_other_measures_by_name(qrels: Path, runs: list[Path]) -> None:
    """Those of ir_measures, and options of Fader's own."""
    names = ["P@5", "Rprec", "AP(candidates-only)", "pairswap(judged-only)", "nDCG@20"]
    means = passed("evaluate", "--qrels", qrels, runs[0], "--measures", ",".join(names), "--json").json["runs"][0][
        "means"
    ]
    theirs = ir_measures.calc_aggregate(
        [ir_measures.P @ 5, ir_measures.Rprec],
        list(ir_measures.read_trec_qrels(str(qrels))),
        list(ir_measures.read_trec_run(str(runs[0]))),
    )
    assert list(means) == names
    assert means["P@5"] == pytest.approx(theirs[ir_measures.P @ 5], abs=1e-9)
    assert means["Rprec"] == pytest.approx(theirs[ir_measures.Rprec], abs=1e-9)


def test_candidates_only(qrels: Path, runs: list[Path]) -> None:
    """Four of five good entities are in the run: AP without the option is 4/5 of AP with it."""
    whole = passed("evaluate", "--qrels", qrels, runs[0], "--json").json["runs"][0]["means"]
    found = passed("evaluate", "--qrels", qrels, runs[0], "--json", "--candidates-only").json["runs"][0]["means"]
    assert whole["AP"] == pytest.approx(found["AP(candidates-only)"] * 4 / 5)
    assert whole["RR"] == found["RR"]


def test_missing_queries_count_as_the_worst_value(qrels: Path, runs: list[Path], tmp_path: Path) -> None:
    """With a remark; queries without judgments are left out with another; --quiet keeps both away."""
    part = write_run(tmp_path / "part.run", 1.5, [*QUERIES[:5], "zzz", "yyy"])
    full = passed("evaluate", "--qrels", qrels, runs[0], "--per-query", tmp_path / "full.csv")
    outcome = passed("evaluate", "--qrels", qrels, part, "--json", "--per-query", tmp_path / "part.csv")
    assert full.err == ""
    run = outcome.json["runs"][0]
    assert (run["missing"], run["unjudged"]) == (15, 2)
    whole, half = per_query(tmp_path / "full.csv"), per_query(tmp_path / "part.csv")
    assert half[str(part), "AP"] == whole[str(runs[0]), "AP"][:5] + [0.0] * 15
    assert half[str(part), "pairswap"] == whole[str(runs[0]), "pairswap"][:5] + [1.0] * 15
    assert f'{part}: 15 of 20 queries not answered, such as "q05": the worst value is taken' in outcome.err
    assert f'{part}: 2 queries without judgments left out, such as "zzz"' in outcome.err
    assert passed("evaluate", "--qrels", qrels, part, "--quiet").err == ""


def test_an_empty_run_is_all_missing(qrels: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.run"
    empty.write_bytes(b"")
    outcome = passed("evaluate", "--qrels", qrels, empty, "--json", "--measures", "AP,pairswap,P@5")
    assert outcome.json["runs"][0]["means"] == {"AP": 0, "pairswap": 1, "P@5": 0}


def test_queries_without_a_good_entity_are_not_averaged(runs: list[Path], tmp_path: Path) -> None:
    """Told how many; where no query has one there is nothing to do."""
    qrels = tmp_path / "some.txt"
    qrels.write_text("q00 0 e00 1\nq01 0 e00 0\n", encoding="utf-8")
    outcome = passed("evaluate", "--qrels", qrels, runs[0], "--json")
    assert outcome.json["queries"] == 1
    assert f"{qrels}: 1 query without a good entity left out" in outcome.err
    qrels.write_text("q00 0 e00 0\n", encoding="utf-8")
    message = refused(1, "evaluate", "--qrels", qrels, runs[0])
    assert f"{qrels}: no query has an entity of grade 1 or more, so nothing can be averaged" in message


def test_one_query_or_equal_runs_have_p_1(runs: list[Path], tmp_path: Path) -> None:
    """Nothing speaks for a difference, and nothing warns."""
    qrels = tmp_path / "some.txt"
    qrels.write_text("q00 0 e00 1\n", encoding="utf-8")
    shown = passed("evaluate", "--qrels", qrels, runs[0], runs[2], "--json").json
    assert [set(run["p"].values()) for run in shown["runs"]] in ([{None}, {1.0}], [{1.0}, {None}])


def test_one_query_prints_no_tests(runs: list[Path], tmp_path: Path) -> None:
    """No test is possible: the means, the best of them, and nothing of significance."""
    qrels = tmp_path / "some.txt"
    qrels.write_text("q00 0 e00 1\n", encoding="utf-8")
    lines = passed("evaluate", "--qrels", qrels, runs[0], runs[2], "--measures", "AP").out.splitlines()
    assert len(lines) == 4
    assert lines[3] == "*best*: best mean"


def test_a_run_of_other_entities_is_remarked(qrels: Path, runs: list[Path], tmp_path: Path) -> None:
    """Where no judged entity of any query is in a run ids are likely to differ: told, and in JSON with --quiet too."""
    other = tmp_path / "other.run"
    other.write_text(runs[0].read_text("utf-8").replace(" e", " E"), encoding="utf-8")
    outcome = passed("evaluate", "--qrels", qrels, runs[0], other, "--json")
    says = (
        f'{other}: no judged entity of any query is in the run, where query "q00" has "E00" and the judgments have '
        '"e00"; check that both use the same ids'
    )
    assert outcome.err.splitlines() == outcome.json["remarks"] == [says]
    assert outcome.json["runs"][1]["means"]["AP"] == 0
    quiet = passed("evaluate", "--qrels", qrels, runs[0], other, "--json", "--quiet")
    assert (quiet.err, quiet.json["remarks"]) == ("", [says])


def test_one_judged_entity_is_enough_for_no_remark(qrels: Path, runs: list[Path], tmp_path: Path) -> None:
    """Also one that is judged bad; and a run without answers is only said to have none."""
    one, empty = tmp_path / "one.run", tmp_path / "empty.run"
    one.write_text("".join(f"{q} Q0 {'e04' if q == 'q07' else 'x'} 1 1.0 x\n" for q in QUERIES), encoding="utf-8")
    empty.write_bytes(b"")
    assert passed("evaluate", "--qrels", qrels, one, "--json").json["remarks"] == []
    remarks = passed("evaluate", "--qrels", qrels, empty, "--json").json["remarks"]
    assert remarks == [f'{empty}: 20 of 20 queries not answered, such as "q00": the worst value is taken']


def test_standard_input(qrels: Path, runs: list[Path]) -> None:
    """For one run, or for the judgments, but not for both."""
    expected = passed("evaluate", "--qrels", qrels, runs[0], "--json").json["runs"][0]["means"]
    assert (
        passed("evaluate", "--qrels", qrels, "-", "--json", stdin=runs[0].read_bytes()).json["runs"][0]["means"]
        == expected
    )
    assert "<stdin>" in passed("evaluate", "--qrels", qrels, "-", stdin=runs[0].read_bytes()).out
    judged = passed("evaluate", "--qrels", "-", runs[0], "--json", stdin=qrels.read_bytes()).json
    assert judged["runs"][0]["means"] == expected
    assert "can be read only once" in refused(2, "evaluate", "--qrels", "-", "-")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("q00 Q0 e14 13 1.0", "5 columns; expected qid Q0 entity rank score tag"),
        ("q00 Q0 e14 13 nan x", 'score "nan" is not a finite number'),
        ("q00 Q0 e00 13 1.0 x", 'entity "e00" is ranked twice for query "q00"; the first is at line 1'),
    ],
)
def test_a_bad_run_line_names_file_and_line(
    qrels: Path, runs: list[Path], tmp_path: Path, line: str, says: str
) -> None:
    """Refused without any output; or skipped, counted and told."""
    with open(runs[0], "a", encoding="utf-8") as file:
        file.write(line + "\n")
    out = tmp_path / "out.csv"
    message = refused(1, "evaluate", "--qrels", qrels, *runs, "--per-query", out)
    assert f"{runs[0]}:241: {says}" in message
    assert not out.exists()
    outcome = passed("evaluate", "--qrels", qrels, *runs, "--on-error", "skip", "--json")
    assert outcome.json["skipped"] == 1
    assert f"skipped {runs[0]}:241: {says}" in outcome.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--measures", "Rprek"], 'unknown measure "Rprek"; did you mean "Rprec"'),
        (["--measures", " , "], "--measures: no name given; give some of AP,RR"),
        (["--measures", "nDCG@0"], "nDCG@0: the cut must be 1 or more"),
        (["--per-query", "-"], "--per-query: standard output is taken by the table; give a file name"),
        (["--test", "u"], "'u' is not one of"),
        (["--seed", "-1"], "-1 is not in the range"),
    ],
)
def test_wrong_usage(qrels: Path, runs: list[Path], options: list[str], says: str) -> None:
    assert says in refused(2, "evaluate", "--qrels", qrels, *runs, *options)


def test_a_run_given_twice_and_an_output_that_is_an_input(qrels: Path, runs: list[Path]) -> None:
    assert f"{runs[0]}: this run is given twice" in refused(2, "evaluate", "--qrels", qrels, runs[0], runs[1], runs[0])
    before = runs[0].read_bytes()
    assert "is also an input" in refused(2, "evaluate", "--qrels", qrels, *runs, "--per-query", runs[0])
    assert runs[0].read_bytes() == before


def test_what_is_missing_is_told(qrels: Path, tmp_path: Path) -> None:
    assert "no such file" in refused(1, "evaluate", "--qrels", qrels, tmp_path / "no.run")
    assert "Missing argument 'RUN...'" in refused(2, "evaluate", "--qrels", qrels)
    assert "Missing option '--qrels'" in refused(2, "evaluate", tmp_path / "no.run")


def test_a_csv_that_cannot_be_written_is_told(qrels: Path, runs: list[Path], tmp_path: Path) -> None:
    outcome = fader("evaluate", "--qrels", qrels, runs[0], "--per-query", tmp_path / "no" / "out.csv")
    assert outcome.code == 1
    assert "out.csv: cannot be written: No such file or directory" in outcome.err


def test_judgments_of_other_queries_are_an_error(runs: list[Path], tmp_path: Path) -> None:
    """A row of zeros would hide that the files do not go together."""
    qrels = tmp_path / "other.txt"
    qrels.write_text("elsewhere 0 e00 1\n", encoding="utf-8")
    assert "no judged query is answered by any run" in refused(1, "evaluate", "--qrels", qrels, runs[0])
