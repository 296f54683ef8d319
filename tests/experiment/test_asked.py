"""Systems over questions in a comparison have the values of asking by hand, and no question teaches its own reading."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from click.testing import CliRunner

import fader
from experiment.judged_demo import demo_in, some_queries
from fader.cli import cli
from fader.errors import UsageError
from fader.experiment.compare import compare
from fader.experiment.comparison import Comparison
from fader.experiment.questions import QuestionJudge, cross_validate_questions, train_folds
from fader.experiment.ranker import Ranker
from fader.learn.crossvalidate import groups_of
from fader.learn.interpreter import default_interpreter
from fader.search.index import MAX_K
from fader.search.inputs import load_queries
from fader.search.models import resolve_model

Queries = list[dict[str, Any]]
Qrels = dict[str, dict[str, int]]
LEARNS = "fader(features=noprox,lam=1)"
SEED = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("asked")


@pytest.fixture(scope="module")
def index(folder: Path) -> fader.Index:
    return demo_in(folder)


@pytest.fixture(scope="module")
def given(index: fader.Index, folder: Path) -> tuple[Queries, Qrels]:
    """Twenty judged queries, of which the last has no question."""
    queries, qrels = some_queries(folder, 3)
    queries = [*queries[:19], {**queries[19], "question": ""}]
    return queries, {q["id"]: qrels[q["id"]] for q in queries}


@pytest.fixture(scope="module")
def found(index: fader.Index, given: tuple[Queries, Qrels]) -> Comparison:
    return compare(index, *given, ["proximity", LEARNS], cv=5, seed=SEED, questions=True)


def ask_by_hand(index: fader.Index, query: dict[str, Any], qrels: Qrels, model: Any) -> float:
    """Average precision of the ranking of a question, by ir_measures."""
    ranked = index.rank_question(query["question"], MAX_K, model).entities
    run = {query["id"]: {e: float(-i) for i, e in enumerate(ranked)}}
    return float(ir_measures.calc_aggregate([ir_measures.AP], {query["id"]: qrels[query["id"]]}, run)[ir_measures.AP])


def test_systems_are_measured_on_queries_and_on_questions(
    index: fader.Index, given: tuple[Queries, Qrels], found: Comparison
) -> None:
    """A row for the given queries, with the values of a comparison without questions, and rows for questions."""
    rows = ["proximity", "proximity, asked", "proximity, asked, trained", LEARNS, f"{LEARNS}, asked"]
    assert [s.name for s in found.systems] == rows
    plain = compare(index, *given, ["proximity", LEARNS], cv=5, seed=SEED)
    for name in ("proximity", LEARNS):
        assert found.find_system(name).values == plain.find_system(name).values
        assert found.find_system(name).title == f"{plain.find_system(name).title}, given"


def test_asked_rows_have_the_values_of_asking(
    index: fader.Index, given: tuple[Queries, Qrels], found: Comparison
) -> None:
    """Average precision of each question's whole ranking; a query without a question has no value."""
    queries, qrels = given
    values = found.find_system("proximity, asked").values["AP"]
    assert values[-1] is None
    for query, value in zip(queries[:-1], values[:-1], strict=True):
        assert value == pytest.approx(ask_by_hand(index, query, qrels, "proximity"), abs=1e-9)


def test_a_system_that_learns_is_asked_by_models_of_the_other_folds(
    index: fader.Index, given: tuple[Queries, Qrels], found: Comparison
) -> None:
    """Each question is ranked by a model that was trained on the given queries of the other folds."""
    queries, qrels = given
    values = found.find_system(f"{LEARNS}, asked").values["AP"]
    for fold in groups_of(len(queries), 5, SEED)[:2]:
        rest = [q for i, q in enumerate(queries) if i not in fold]
        made = Ranker(features="noprox", lam=1).fit(index, rest, {q["id"]: qrels[q["id"]] for q in rest})
        for i in fold:
            if queries[i]["question"]:
                assert values[i] == pytest.approx(ask_by_hand(index, queries[i], qrels, made), abs=1e-9)


def test_trained_reading_is_cross_validated(
    index: fader.Index, given: tuple[Queries, Qrels], found: Comparison
) -> None:
    """The trained row has the values of the cross-validation of `fader train --questions`."""
    lines = [line for line in load_queries(given[0]) if line.question]
    judge = QuestionJudge(index, given[1], resolve_model("proximity", index.collection))
    expected = {
        question.id: asked.precision
        for question, asked, _fold in cross_validate_questions(judge, lines, default_interpreter(), 5, SEED)
    }
    result = found.find_system("proximity, asked, trained")
    measured = dict(zip(found.queries, result.values["AP"], strict=True))
    assert {q: measured[q] for q in expected} == pytest.approx(expected, abs=1e-9)


def test_judgments_of_a_question_do_not_teach_its_reading(index: fader.Index, given: tuple[Queries, Qrels]) -> None:
    """Other judgments of a fold's questions leave the interpreter that reads them as it is, to the last bit."""
    lines = [line for line in load_queries(given[0]) if line.question]
    model = resolve_model("proximity", index.collection)
    base = default_interpreter()
    interpreter, questions = next(train_folds(QuestionJudge(index, given[1], model), lines, base, 5, SEED))
    changed = copy.deepcopy(given[1])
    some = index.rank(given[0][0]["query"], k=3).entities
    for question in questions:
        changed[question.id] = dict.fromkeys(some, 1)
    again, _questions = next(train_folds(QuestionJudge(index, changed, model), lines, base, 5, SEED))
    assert again == interpreter


def test_compare_command_takes_questions(
    folder: Path, index: fader.Index, given: tuple[Queries, Qrels], tmp_path: Path
) -> None:
    """`--questions` adds rows to the table, `--baseline` may name one of them, and kept results are taken again."""
    queries, qrels = tmp_path / "queries.jsonl", tmp_path / "qrels.txt"
    queries.write_text("".join(json.dumps(q) + "\n" for q in given[0]), encoding="utf-8")
    lines = (f"{q} 0 {e} {grade}\n" for q, graded in given[1].items() for e, grade in graded.items())
    qrels.write_text("".join(lines), encoding="utf-8")
    options = ["compare", str(folder / "index"), "--queries", str(queries), "--qrels", str(qrels), "--cv", "5"]
    options += ["--systems", "count", "--questions", "--keep", str(tmp_path / "kept"), "--measures", "AP", "--quiet"]
    first = CliRunner().invoke(cli, [*options, "--baseline", "count, asked", "-o", str(tmp_path / "one")])
    assert first.exit_code == 0, first.output
    assert all(row in first.output for row in ("count, given", "count, asked", "count, asked, trained"))
    again = CliRunner().invoke(cli, [*options, "-o", str(tmp_path / "two")])
    assert again.exit_code == 0
    report, kept = (json.loads((tmp_path / name / "report.json").read_text()) for name in ("one", "two"))
    assert report["systems"] == kept["systems"]


def test_questions_must_be_there(index: fader.Index, given: tuple[Queries, Qrels]) -> None:
    """A file without questions is refused."""
    queries = [{**q, "question": ""} for q in given[0]]
    with pytest.raises(UsageError, match="no judged query has a question"):
        compare(index, queries, given[1], ["count"], questions=True)
