"""`fader train` and what uses its models, of any system; `fader compare`; `fader contexts --format letor`."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from cli.running import fader, passed, refused
from fader.jobs.journal import Journal
from fader.jobs.storage import LocalFolder
from fader.learn.model import read_model
from fader.search.models import default_model
from fader.systems.rerank import Rerank

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
    assert answer["model"] == "default"
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


def test_the_default_model_is_trained_further(index: Path, judged: list[str], tmp_path: Path) -> None:
    """Where nothing else is asked for; one judged query is enough to begin with."""
    (tmp_path / "qrels.txt").write_text("d01 0 Albert_Einstein 1\n")
    passed("train", index, *judged[:2], "--qrels", tmp_path / "qrels.txt", "-o", tmp_path / "m.json")
    trained = read_model(tmp_path / "m.json").system
    assert isinstance(trained, Rerank)
    assert trained.prior == default_model().system.second_system.weights  # type: ignore[attr-defined]
    assert trained.second_system.weights != trained.prior


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
    assert said in refused(1, "train", index, *given, "--lambda", "auto", "-o", tmp_path / "m.json")
    if "2 at least" not in said:  # the default model can learn from one
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


@pytest.fixture(scope="session")
def voting(index: Path, judged: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tuned system."""
    path = tmp_path_factory.mktemp("voting") / "voting.json"
    passed("train", index, *judged, "--system", "voting(cutoff=10|1000)", "-o", path, "--quiet")
    return path


@pytest.fixture(scope="session")
def fang(index: Path, judged: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained one."""
    path = tmp_path_factory.mktemp("fang") / "fang.json"
    passed("train", index, *judged, "--system", "fang(mean=arithmetic,lam=1,starts=1)", "-o", path, "--quiet")
    return path


def test_a_system_is_tuned(index: Path, judged: list[str], voting: Path, tmp_path: Path) -> None:
    """The best of what was tried on the given queries is saved, and ranks them as well as was said."""
    again = tmp_path / "again.json"
    found = passed("train", index, *judged, "--system", "voting(cutoff=10|1000)", "-o", again, "--json").json
    assert again.read_bytes() == voting.read_bytes()
    assert (found["model"], len(found["tried"])) == ("voting", 6)
    assert found["training_ap"] == max(found["tried"].values())
    assert "validation_ap" not in found
    measured = passed("batch", index, *judged, "--model", voting, "--run", tmp_path / "run", "--json").json
    assert measured["MAP"] == pytest.approx(found["training_ap"], abs=1e-9)
    answer = passed("search", index, "played +violin", "--type", "scientist", "--model", voting, "--json").json
    assert answer["model"] == "voting"
    assert answer["results"]


def test_a_system_is_trained(index: Path, judged: list[str], fang: Path, tmp_path: Path) -> None:
    """What it learned is in the file, with which it ranks; the seed fixes the file."""
    parameters = json.loads(fang.read_text())["parameters"]
    assert (len(parameters["alpha"]), len(parameters["beta"]), parameters["starts"]) == (5, 6, 1)
    again = tmp_path / "again.json"
    passed("train", index, *judged, "--system", "fang(mean=arithmetic,lam=1,starts=1)", "-o", again, "--quiet")
    assert again.read_bytes() == fang.read_bytes()
    learned = passed("batch", index, *judged, "--model", fang, "--run", tmp_path / "a", "--json").json
    counted = passed("batch", index, *judged, "--system", "count", "--run", tmp_path / "b", "--json").json
    assert learned["MAP"] > counted["MAP"] + 0.2


def test_what_a_precision_is_of_is_said(index: Path, judged: list[str], tmp_path: Path) -> None:
    """Of the queries that it was chosen by, where nothing is fitted; of queries left out, where something is; and with
    one candidate of nothing."""
    shared = ("train", index, *judged, "-o", tmp_path / "m.json")
    said = passed(*shared, "--system", "voting(cutoff=10|1000,normalise=none)").err
    assert re.search(r"m\.json: voting\S*, 24 queries, MAP 0\.\d{4} on the queries it was chosen by\n", said)
    said = passed(*shared, "--features", "noprox", "--lambda", "0.1/1").err
    assert re.search(r"m\.json: noprox x sum, lambda \S+, 24 queries, validation MAP 0\.\d{4}\n", said)
    said = passed(*shared, "--features", "noprox", "--lambda", "1").err
    assert said.rstrip().endswith("m.json: noprox x sum, lambda 1, 24 queries")
    fitted = passed(*shared, "--system", "fang(mean=arithmetic,lam=1,starts=1)", "--json").json
    assert (fitted["validation_ap"], "training_ap" in fitted) == (None, False)


def test_a_system_of_ours_is_the_same_as_by_options(index: Path, judged: list[str], tmp_path: Path) -> None:
    """`--system fader(...)` says what the options say."""
    shared = ("train", index, *judged, "--quiet", "-o")
    passed(*shared, tmp_path / "a.json", "--system", "fader(features=noprox,lam=1,bad=5,window=20,top=30)")
    options = ("--features", "noprox", "--lambda", "1", "--bad", "5", "--window", "20", "--top", "30")
    passed(*shared, tmp_path / "b.json", *options)
    assert json.loads((tmp_path / "a.json").read_text())["parameters"]["top"] == "30"
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_explanations_of_saved_systems_add_up(index: Path, voting: Path, fang: Path) -> None:
    """Contexts make the score, literals make a context, as for all that ranks."""
    for model in (voting, fang):
        call = ("search", index, "played +violin", "--type", "scientist", "--model", model, "--explain", "--json")
        for result in passed(*call).json["results"]:
            explain = result["explain"]
            parts = sum(c["contribution"] for c in explain["contexts"]) + explain["others"]["contribution"]
            assert parts == pytest.approx(result["score"])
            for context in explain["contexts"]:
                assert sum(x["contribution"] for x in context["literals"]) == pytest.approx(context["contribution"])


def test_a_saved_system_is_checked(catalog: list[str], demo: Path, index: Path, fang: Path, tmp_path: Path) -> None:
    """An altered file is refused, and one of another index, unless that is wanted."""
    altered = tmp_path / "altered.json"
    altered.write_text(fang.read_text().replace('"starts": 1', '"starts": 2'))
    assert "checksum" in refused(1, "search", index, "violin", "--model", altered)
    lines = (demo / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[:500]
    (tmp_path / "part.jsonl").write_text("\n".join(lines), encoding="utf-8")
    passed("index", tmp_path / "part.jsonl", *catalog, "-o", tmp_path / "index", "-q")
    assert "trained on another index" in refused(1, "search", tmp_path / "index", "violin", "--model", fang)
    passed("search", tmp_path / "index", "violin", "--model", fang, "--any-index")


def test_windows_are_alternatives(index: Path, judged: list[str], tmp_path: Path) -> None:
    """Each is validated, on a sample of bad candidates if wanted."""
    found = passed(
        "train", index, *judged, "--lambda", "1", "--features", "noprox", "--window", "0|20", "--bad", "10",
        "-o", tmp_path / "m", "--json",
    ).json  # fmt: skip
    assert set(found["tried"]) == {"noprox x sum, lambda 1", "noprox x sum, window 20, lambda 1"}


def test_how_many_documents_are_alternatives(index: Path, judged: list[str], tmp_path: Path) -> None:
    """Each is validated; the file has the one that was better, and it answers from so many documents."""
    path = tmp_path / "m.json"
    shared = ("train", index, *judged, "--lambda", "1", "--features", "noprox", "-o", path, "--json")
    found = passed(*shared, "--top", "0|2").json
    assert set(found["tried"]) == {"noprox x sum, lambda 1", "noprox x sum, top 2, lambda 1"}
    best = max(found["tried"], key=found["tried"].__getitem__)
    assert json.loads(path.read_text())["parameters"]["top"] == ("2" if "top" in best else "0")
    passed(*shared, "--top", "2")
    call = ("search", index, "played +violin", "-k", "100", "--json", "--snippets", "9")
    few, many = (passed(*call, *model).json for model in (("--model", path), ("--system", "count")))
    shown = {evidence["doc"] for result in few["results"] for evidence in result["evidence"]}
    assert 1 <= len(shown) <= 2 < many["matched_documents"] == few["matched_documents"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--top", "x"], 'top must be 0 (none) or a number of documents, not "x"'),
        (["--top", "-5"], 'top must be 0 (none) or a number of documents, not "-5"'),
        (["--system", "nosuch"], 'unknown system "nosuch"; known: balog1, '),
        (["--system", "votin"], 'unknown system "votin"; did you mean "voting"?'),
        (["--system", "voting(techniqe=rr)"], 'voting has no parameter "techniqe"; did you mean "technique"?'),
        (["--system", "voting(technique=vote)"], 'voting: unknown voting technique "vote"; did you mean "votes"?'),
        (["--system", "voting(cutoff=10|x)"], 'voting: cutoff must be a number like 1000, not "x"'),
        (["--system", "voting(cutoff=-1)"], "voting: cutoff must be a number of documents, or 0 for all, not -1"),
        (["--system", "voting("], '"voting(" is not of the form name or name(parameter=value,...)'),
        (["--system", ""], '"" is not of the form name'),
        (["--system", "voting,fang"], '"voting,fang" is not of the form name'),
        (["--system", "fang(cv=x)"], 'cv must be "loo" or a number of folds, not "x"'),
        (["--system", "default"], "default is trained already"),
        (["--system", "voting(cutoff=|)"], 'voting: a value of cutoff is missing in "|"; write them as in 10|100'),
        (["--system", "voting(cutoff=10|)"], 'voting: a value of cutoff is missing in "10|"'),
        (["--system", "voting", "--features", "noprox"], "--features is for features x aggregator; with --system"),
        (["--system", "voting", "--lambda", "1"], "--lambda is for features x aggregator; with --system write"),
        (["--bad", "-1"], "bad must be 0 or more, not -1"),
        (["--window", "0|x"], 'window must be 0 (none) or a number of tokens, not "x"'),
    ],
)
def test_wrong_systems(index: Path, judged: list[str], tmp_path: Path, arguments: list[str], said: str) -> None:
    """One clear line, before any work is done."""
    message = refused(2, "train", index, *judged, *arguments, "-o", tmp_path / "m.json", "--quiet")
    assert said in message
    assert message.startswith("fader: ")
    assert message.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_what_must_be_trained_is_not_taken_for_a_ranker(index: Path) -> None:
    """With the command that trains it."""
    message = refused(2, "search", index, "violin", "--system", "fang", "--quiet")
    assert "fang: must be trained before it can rank; make a model with `fader train --system fang`" in message


def kept_entries(folder: Path) -> dict[Path, int]:
    """The files of kept results, one per system, with their times of change."""
    return {path: path.stat().st_mtime_ns for path in folder.glob("*/*.part")}


def test_results_are_kept(index: Path, judged: list[str], tmp_path: Path) -> None:
    """A comparison that is run again gives the same table from what was kept; other settings find nothing there."""
    systems = "count,balog2(window=0),cummins(score=bm25,family=power,cv=2,label=evolved)"
    kept = tmp_path / "kept"
    call = ("compare", index, *judged, "--cv", "3", "--systems", systems, "--keep", kept, "--quiet")
    first = passed(*call, "-o", tmp_path / "first").out
    assert "evolved" in first
    written = kept_entries(kept)
    assert len(written) == 3
    assert len(list(kept.rglob("*"))) == 4  # and the folder that they share
    assert passed(*call, "-o", tmp_path / "second").out == first
    assert kept_entries(kept) == written
    for name in ("table.csv", "table.md", "per-query.csv"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
    passed(*call, "--seed", "1", "-o", tmp_path / "third")
    assert len(kept_entries(kept)) == 6


def test_kept_results_are_of_the_same_queries_and_judgments(index: Path, judged: list[str], tmp_path: Path) -> None:
    """Fewer queries, other judgments, other folds or other measures find nothing; the first ones find theirs again."""
    kept = tmp_path / "kept"

    def compare(queries: str, qrels: str, *rest: str) -> int:
        options = ("--systems", "count", "--keep", kept, "--quiet", "--overwrite")
        passed("compare", index, "--queries", queries, "--qrels", qrels, *options, *rest, "-o", tmp_path / "report")
        return len(kept_entries(kept))

    queries, qrels = judged[1], judged[3]
    fewer, others = tmp_path / "fewer.jsonl", tmp_path / "others.txt"
    fewer.write_text("".join(Path(queries).read_text(encoding="utf-8").splitlines(True)[:-1]), encoding="utf-8")
    others.write_text("".join(Path(qrels).read_text(encoding="utf-8").splitlines(True)[1:]), encoding="utf-8")
    assert compare(queries, qrels) == 1
    assert compare(str(fewer), qrels) == 2
    assert compare(queries, str(others)) == 3
    assert compare(queries, qrels, "--cv", "3") == 4
    assert compare(queries, qrels, "--measures", "AP,P@10") == 5
    assert compare(queries, qrels) == 5


def test_a_model_file_that_is_written_anew_is_measured_anew(index: Path, judged: list[str], tmp_path: Path) -> None:
    """With the same name and what was kept: the table is the new model's, and the old one's when it is back."""
    path = tmp_path / "m.json"
    call = ("compare", index, *judged, "--systems", f"count,{path}", "--keep", tmp_path / "kept", "--quiet")

    def table(maps: str, report: str) -> list[list[str]]:
        passed("train", index, *judged, "--lambda", "1", "--features", maps, "-o", path, "--quiet")
        passed(*call, "-o", tmp_path / report)
        alone = ("compare", index, *judged, "--systems", f"count,{path}", "--quiet", "-o", tmp_path / f"{report} alone")
        passed(*alone)
        with (tmp_path / report / "per-query.csv").open(encoding="utf-8") as kept:
            found = list(csv.reader(kept))
        with (tmp_path / f"{report} alone" / "per-query.csv").open(encoding="utf-8") as anew:
            assert found == list(csv.reader(anew))
        return found

    first, second = table("rectangle(4x5)", "first"), table("noprox", "second")
    assert first != second
    assert len(kept_entries(tmp_path / "kept")) == 3
    assert table("rectangle(4x5)", "third") == first
    assert len(kept_entries(tmp_path / "kept")) == 3


def test_a_kept_result_is_what_is_shown(index: Path, judged: list[str], tmp_path: Path) -> None:
    """It is not computed again; a damaged one is."""
    call = ("compare", index, *judged, "--systems", "count", "--keep", tmp_path / "kept", "--quiet")
    first = passed(*call, "-o", tmp_path / "first").out
    (path,) = kept_entries(tmp_path / "kept")
    journal = Journal(LocalFolder(path.parent))
    plain = json.loads(journal.get(path.stem))
    plain["result"]["values"]["AP"] = [0.125] * SOME
    journal.keep(path.stem, json.dumps(plain).encode())
    assert "*0.125*" in passed(*call, "-o", tmp_path / "second").out
    for damage in (path.read_bytes().replace(b"0.125", b"0.875"), path.read_bytes()[:-9], b"{", b""):
        path.write_bytes(damage)
        assert passed(*call, "-o", tmp_path / "third", "--overwrite").out == first
        assert "result" in json.loads(journal.get(path.stem))
    (tmp_path / "file").write_text("")
    message = refused(1, *call[:-2], tmp_path / "file", "--quiet", "-o", tmp_path / "fourth")
    assert "results cannot be kept there" in message
