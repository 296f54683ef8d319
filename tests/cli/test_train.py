"""`fader train` and what uses its models; `fader compare`; `fader contexts --format letor`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from cli.running import fader, passed, refused

SOME = 24  # judged queries are enough


@pytest.fixture(scope="session")
def judged(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Options with a part of the demo's queries."""
    queries = tmp_path_factory.mktemp("train") / "queries.jsonl"
    lines = (demo / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries.write_text("\n".join(lines[:SOME]) + "\n", encoding="utf-8")
    return ["--queries", str(queries), "--qrels", str(demo / "qrels.txt")]


@pytest.fixture(scope="session")
def model(index: Path, judged: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.json"
    passed("train", index, *judged, "--lambda", "1", "-o", path, "--quiet")
    return path


def test_a_model_is_trained_and_ranks(index: Path, judged: list[str], model: Path, tmp_path: Path) -> None:
    """It is better than counting, on the queries it was trained on at least."""
    learned = passed("batch", index, *judged, "--model", model, "--run", tmp_path / "a", "--json").json
    counted = passed("batch", index, *judged, "--system", "count", "--run", tmp_path / "b", "--json").json
    assert learned["MAP"] > counted["MAP"] + 0.2
    answer = passed("search", index, "played +violin", "--type", "scientist", "--model", model, "--json").json
    assert answer["model"] == "noprox+rectangle x sum"


def test_the_seed_fixes_the_model(index: Path, judged: list[str], model: Path, tmp_path: Path) -> None:
    """The same file, bit for bit."""
    passed("train", index, *judged, "--lambda", "1", "-o", tmp_path / "again.json", "--quiet")
    assert (tmp_path / "again.json").read_bytes() == model.read_bytes()


def test_the_default_model_answers(index: Path) -> None:
    """Without a model the one that ships with Fader is used, and named."""
    answer = passed("search", index, "played +violin", "--type", "scientist", "--json").json
    assert answer["model"] == "noprox+rectangle x sum"
    assert answer["results"][0]["entity"] == "Albert_Einstein"


def test_explanations_add_up(index: Path, model: Path) -> None:
    """Score = contexts, context = literals, context score = cells; and what each context is worth."""
    arguments = ("search", index, "played +violin", "--type", "scientist", "--model", model, "--explain")
    for result in passed(*arguments, "--json").json["results"]:
        explain = result["explain"]
        contexts = explain["contexts"]
        rest = explain["others"]["contribution"]
        assert sum(c["contribution"] for c in contexts) + rest == pytest.approx(result["score"])
        for context in contexts:
            assert sum(x["contribution"] for x in context["literals"]) == pytest.approx(context["contribution"])
            assert sum(x["value"] for x in context["cells"]) == pytest.approx(context["score"])
            if context["without"]["score"] is not None:
                assert context["without"]["score"] <= result["score"] + 1e-9
                assert context["without"]["rank"] >= result["rank"]
    shown = passed(*arguments).out
    assert "without it rank" in shown
    assert "rectangle: IDF share >=" in shown


def test_alternatives_are_chosen_among(index: Path, judged: list[str], tmp_path: Path) -> None:
    """Each is validated, the best is kept, and the file says what was tried."""
    found = passed(
        "train",
        index,
        *judged,
        "--lambda",
        "1",
        "--features",
        "constant|noprox+rectangle(3x4)",
        "-o",
        tmp_path / "m",
        "--json",
    ).json
    assert set(found["tried"]) == {"constant x sum, lambda 1", "noprox+rectangle(3x4) x sum, lambda 1"}
    assert found["model"] == "noprox+rectangle(3x4) x sum"
    assert json.loads((tmp_path / "m").read_text())["provenance"]["validation"] == found["tried"]


def test_a_model_of_another_index_is_refused(catalog: list[str], demo: Path, model: Path, tmp_path: Path) -> None:
    """With the reason and the remedy, which works."""
    lines = (demo / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[:500]
    (tmp_path / "part.jsonl").write_text("\n".join(lines), encoding="utf-8")
    passed("index", tmp_path / "part.jsonl", *catalog, "-o", tmp_path / "index", "-q")
    message = refused(1, "search", tmp_path / "index", "played +violin", "--model", model)
    assert "trained on another index" in message
    assert "--any-index" in message
    passed("search", tmp_path / "index", "played +violin", "--model", model, "--any-index")
    passed("index", tmp_path / "part.jsonl", *catalog, "-o", tmp_path / "stemmed", "--stemmer", "english", "-q")
    message = refused(1, "search", tmp_path / "stemmed", "played +violin", "--model", model, "--any-index")
    assert "the stemmer english" in message


def test_a_damaged_model_is_refused(index: Path, model: Path, tmp_path: Path) -> None:
    altered = tmp_path / "altered.json"
    altered.write_text(model.read_text().replace('"policy": "document"', '"policy": "mention"'))
    assert "checksum" in refused(1, "search", index, "violin", "--model", altered)
    assert "no such model file" in refused(1, "search", index, "violin", "--model", tmp_path / "none.json")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--features", "rectangel"], 'did you mean "rectangle"'),
        (["--aggregator", "summ"], 'did you mean "sum"'),
        (["--loss", "hinge"], "unknown loss"),
        (["--lambda", "0"], "lambda must be"),
        (["--lambda", "many"], "lambda must be"),
        (["--policy", "page"], "policy must be one of document, mention"),
        (["--window", "-1"], "window must be"),
    ],
)
def test_wrong_settings(index: Path, judged: list[str], tmp_path: Path, arguments: list[str], said: str) -> None:
    """Named before any work is done; nothing is written."""
    assert said in refused(2, "train", index, *judged, *arguments, "-o", tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("qrels", "said"),
    [
        ("", "no judgments"),
        ("nobody 0 Albert_Einstein 1\n", "no judgment is about a query of the file"),
        ("d01 0 Albert_Einstein 0\n", "no query has a judged good entity"),
        ("d01 0 Albert_Einstein nan\n", "nan"),
        ("d01 0 Albert_Einstein 1\n", "needs 2 at least"),
        ("d01 0 Nobody_At_All 1\nd17 0 Nobody_Else 1\n", "both a good and a bad candidate"),
    ],
)
def test_judgments_that_cannot_train(index: Path, judged: list[str], tmp_path: Path, qrels: str, said: str) -> None:
    """Each says what is wrong; nothing is written."""
    (tmp_path / "qrels.txt").write_text(qrels)
    given = [*judged[:2], "--qrels", str(tmp_path / "qrels.txt")]
    assert said in refused(1, "train", index, *given, "-o", tmp_path / "m.json")
    assert not (tmp_path / "m.json").exists()


def test_comparing_writes_a_report(index: Path, judged: list[str], tmp_path: Path) -> None:
    """Tables, per-query values, a page; the learned one beats counting, with a mark."""
    systems = "count,proximity,fader(features=noprox+rectangle(4x5),lam=1,label=ours)"
    report = tmp_path / "report"
    shown = passed("compare", index, *judged, "--cv", "3", "--systems", systems, "--baseline", "count", "-o", report)
    assert {"index.html", "per-query.csv", "report.json", "table.csv", "table.md", "table.tex"} <= {
        path.name for path in report.iterdir()
    }
    lines = shown.out.splitlines()
    assert lines[0].split()[1:] == ["queries", "MAP", "MRR", "NDCG@5", "NDCG@10", "Pairswap"]
    assert "↓" in lines[1]
    rows = list(csv.DictReader((report / "per-query.csv").read_text(encoding="utf-8").splitlines()))
    assert len({row["query"] for row in rows}) == SOME
    data = passed(
        "compare",
        index,
        *judged,
        "--cv",
        "3",
        "--systems",
        systems,
        "-o",
        report,
        "--measures",
        "AP,P@5",
        "--json",
        "--overwrite",
    ).json
    means = [sum(s["values"]["AP"]) / SOME for s in data["comparison"]["systems"]]
    assert means[0] < means[2]
    assert data["comparison"]["measures"] == ["AP", "P@5"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--systems", "nosuch"], "unknown system"),
        (["--systems", "count", "--cv", "1"], "2 folds at least"),
        (["--systems", "count", "--cv", "x"], "cv must be"),
        (["--systems", "count", "--baseline", "proximity"], "not among the systems"),
        (["--systems", "count", "--measures", "nosuch"], "unknown measure"),
    ],
)
def test_wrong_comparisons(index: Path, judged: list[str], tmp_path: Path, arguments: list[str], said: str) -> None:
    assert said in refused(2, "compare", index, *judged, *arguments, "-o", tmp_path / "report")
    assert list(tmp_path.iterdir()) == []


def test_letor(index: Path, judged: list[str], tmp_path: Path) -> None:
    """A line an entity: grade, query number, numbered features; other tools can read it."""
    from sklearn.datasets import load_svmlight_file

    path = tmp_path / "vectors.txt"
    found = passed("contexts", index, *judged, "--format", "letor", "-o", path, "--json").json
    x, y, query = load_svmlight_file(str(path), query_id=True)
    assert x.shape[0] == found["entities"] == y.size
    assert set(query) <= set(range(1, SOME + 1))
    assert {0, 1} <= set(y.tolist())
    assert x.min() >= 0
    labels = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    assert labels[0] == "# 1: noprox: cosine"
    assert len(labels) >= x.shape[1]


def test_letor_without_judgments_says_that_labels_are_0(index: Path, judged: list[str], tmp_path: Path) -> None:
    """A learner would take them for bad entities; the same where the judgments are of other queries."""
    path, other = tmp_path / "vectors.txt", tmp_path / "other.txt"
    other.write_text("elsewhere 0 e 1\n", encoding="utf-8")
    call = ("contexts", index, *judged[:2], "--features", "noprox", "-o", path)
    says = "no judgments: all labels are 0; give --qrels to learn from this file"
    outcome = passed(*call, "--format", "letor", "--json")
    assert outcome.json["remarks"] == [says]
    assert says in outcome.err
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert {line.split()[0] for line in lines} == {"0"}
    assert passed(*call, "--format", "letor", "--quiet").err == ""
    judges = f"{other}: judges no query of {judged[1]}"
    for form, without in (("letor", "all labels are 0"), ("parquet", "all grades are empty")):
        found = passed(*call, "--format", form, "--qrels", other, "--json").json["remarks"]
        assert found == [f"{judges}: {without}; give their judgments"]
    assert passed(*call, "--json").json["remarks"] == []


def test_interrupted_training_leaves_nothing(index: Path, judged: list[str], tmp_path: Path) -> None:
    """The output is not an input, and a folder is no file."""
    assert "is also an input" in refused(2, "train", index, *judged, "-o", judged[1])
    assert fader("train", index, *judged, "--lambda", "1", "-o", tmp_path).code == 1
    assert list(tmp_path.iterdir()) == []
