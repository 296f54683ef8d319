"""Judgments that do not go with queries or catalog: each a clear error or a remark, and nothing is written."""

from __future__ import annotations

import json
import math
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fader
from cli.running import passed, refused
from experiment.judged_demo import TINY_QRELS, TINY_QUERIES, tiny_in
from fader.corpus.queries import FaultCollector
from fader.errors import FaderError, InputError, UsageError
from fader.experiment.compare import compare
from fader.experiment.judged import JudgedQueries, judge_queries
from fader.experiment.ranker import Ranker
from fader.features.combined import feature_map
from fader.learn.dataset import View
from fader.search.batch import parse_all
from fader.search.inputs import load_qrels, load_queries

Qrels = dict[str, dict[str, int]]
GRADES = {"q0": {"E0": 1, "E1": 0}}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    return tiny_in(tmp_path_factory.mktemp("judged"))


def judged(index: fader.Index, qrels: Any, queries: Any = TINY_QUERIES) -> JudgedQueries:
    return judge_queries(index, parse_all(index, load_queries(queries), FaultCollector()), load_qrels(qrels))


def trained(index: fader.Index, qrels: Any, queries: Any = TINY_QUERIES, lam: str = "1") -> Ranker:
    return Ranker(features="noprox", lam=lam, workers=1).fit(index, queries, qrels)


def test_queries_and_judgments_that_go_together(index: fader.Index) -> None:
    """No remark; grades by entity number, so that candidates find theirs."""
    found = judged(index, TINY_QRELS)
    assert (found.ids, found.remarks, len(found)) == (["q0", "q1", "q2", "q3"], [], 4)
    assert found.grades[0] == {0: 1, 1: 0}
    data = found.dataset(feature_map("noprox"), View(), np.arange(4))
    for query in data.queries:
        graded = dict(zip(query.entity.tolist(), query.judgments.grades.tolist(), strict=True))
        expected = TINY_QRELS[query.id]
        assert graded == {e: expected.get(f"E{e}", 0) for e in graded}


def test_datasets_are_kept_and_edges_are_learned_from_training_queries(index: fader.Index) -> None:
    """The same dataset again for the same features and view; other edges for other training queries."""
    found = judged(index, TINY_QRELS)
    plain, learned = feature_map("noprox"), feature_map("idfupto(4,edges=learned)")
    every = np.arange(4)
    assert found.dataset(plain, View(), every) is found.dataset(plain, View(), every[:1])
    one, two = (found.dataset(learned, View(), part) for part in (every, every[:0]))
    assert one.features == learned.fit_edges(found.contexts(i, View()) for i in range(4))
    assert str(one.features) != str(two.features)
    narrow = found.dataset(plain, View(window=2), every)
    assert narrow.contexts < found.dataset(plain, View(), every).contexts


def test_judgments_of_some_unknown_queries_are_a_remark(index: fader.Index) -> None:
    """How many, and one of them."""
    found = judged(index, {**TINY_QRELS, "lost": {"E0": 1}, "gone": {"E1": 1}})
    assert found.ids == ["q0", "q1", "q2", "q3"]
    assert found.remarks == ["judgments of 2 queries that are not in the file are left out, such as lost"]


def test_judgments_of_unknown_queries_only_are_an_error(index: fader.Index) -> None:
    """It shows an id of each side, so that a slip in either can be seen."""
    with pytest.raises(InputError, match='the judgments are of "Q0" and others, the queries are "q0" and others'):
        judged(index, {"Q0": {"E0": 1}})
    with pytest.raises(InputError, match="the queries are none and others"):
        judged(index, TINY_QRELS, [])


def test_unknown_entities_are_a_remark_and_count_as_missed(index: fader.Index) -> None:
    """A good entity that is nowhere keeps AP below 1."""
    qrels = {**TINY_QRELS, "q0": {"E0": 1, "E1": 0, "nobody": 1}, "q1": {"E1": 1, "E2": 0, "x": 0}}
    found = judged(index, qrels)
    assert found.remarks == ['2 judged entities are not in the catalog, such as "nobody"; they count as missed']
    one, two = (compare(index, TINY_QUERIES, given, ["count"]).systems[0] for given in (qrels, TINY_QRELS))
    assert one.values["AP"] == [two.values["AP"][0] / 2, *two.values["AP"][1:]]
    assert judged(index, {"q0": {"nobody": 1, "E1": 0}}).ids == ["q0"]


def test_queries_without_a_judged_good_entity_are_left_out(index: fader.Index) -> None:
    """With a remark; without any there is nothing to do."""
    found = judged(index, {**TINY_QRELS, "q1": {"E1": 0, "E2": -1}})
    assert found.ids == ["q0", "q2", "q3"]
    assert found.remarks == ["1 queries have no judged good entity and are left out, such as q1"]
    with pytest.raises(InputError, match=r"no query has a judged good entity \(a grade above 0\)"):
        judged(index, {q: dict.fromkeys(of, 0) for q, of in TINY_QRELS.items()})


def test_queries_without_a_good_candidate_count_0_and_do_not_train(index: fader.Index) -> None:
    """Their good entity is never mentioned: weights are those of the others, AP is 0."""
    qrels = {**TINY_QRELS, "q3": {"E5": 1, "E0": 0}}
    rest = {q: of for q, of in qrels.items() if q != "q3"}
    one, two = trained(index, qrels), trained(index, rest)
    assert one.model_.system.weights == pytest.approx(two.model_.system.weights, rel=1e-9)
    assert any(one.model_.system.weights)
    found = compare(index, TINY_QUERIES, qrels, ["count", "fader(features=noprox,lam=1)"], cv=2)
    for system in found.systems:
        values = {m: v[3] for m, v in system.values.items()}
        assert values == {"AP": 0.0, "RR": 0.0, "nDCG@5": 0.0, "nDCG@10": 0.0, "pairswap": 1.0}


def test_a_query_that_matches_nothing_is_measured_too(index: fader.Index) -> None:
    """No candidate at all: it counts 0, and does not disturb training or cross-validation."""
    queries = [*TINY_QUERIES, {"id": "none", "query": "nowhere"}]
    qrels = {**TINY_QRELS, "none": {"E0": 1}}
    assert trained(index, qrels, queries).model_.provenance["queries"] == 5
    for cv in ("loo", "2"):
        found = compare(index, queries, qrels, ["proximity", "fader(features=noprox+rectangle(3x4),lam=1)"], cv=cv)
        assert [s.values["AP"][4] for s in found.systems] == [0.0, 0.0]
        assert found.candidates[4] == 0


def test_one_query_trains_with_a_given_lambda_only(index: fader.Index) -> None:
    """And cannot be cross-validated."""
    with pytest.raises(InputError, match="1 judged query: choosing lambda needs 2 at least; give lambda as a number"):
        trained(index, GRADES, TINY_QUERIES[:1], lam="auto")
    assert any(trained(index, GRADES, TINY_QUERIES[:1]).model_.system.weights)
    with pytest.raises(InputError, match="1 judged query: leave-one-out needs 2 at least"):
        compare(index, TINY_QUERIES[:1], GRADES, ["fader(features=noprox)"])


def test_no_bad_candidate_anywhere_is_an_error(index: fader.Index) -> None:
    """Where every candidate is good, or only judged ones count and these are good."""
    every = {f"q{i}": {f"E{e}": 1 for e in range(5)} for i in range(4)}
    with pytest.raises(InputError, match="no query to train on has both a good and a bad candidate"):
        trained(index, every)
    good = {q: {e: g for e, g in of.items() if g} for q, of in TINY_QRELS.items()}
    with pytest.raises(InputError, match="no query to train on has both a good and a bad candidate"):
        Ranker(features="noprox", lam=1, judged_only=True).fit(index, TINY_QUERIES, good)
    assert any(trained(index, good).model_.system.weights)


@pytest.mark.parametrize("empty", [{}, [], {"q0": {}}])
def test_no_judgments_are_an_error(index: fader.Index, empty: Any) -> None:
    with pytest.raises(InputError, match=r"there are no judgments|no query has a judged good entity"):
        judged(index, empty)


@pytest.mark.parametrize("grade", [math.nan, math.inf, 0.5, "good", None, "", 2**31, -(2**40), 1e30, [1]])
def test_a_grade_is_a_whole_number(grade: Any) -> None:
    """In a dictionary and in a row: named with its place and the value."""
    with pytest.raises(InputError, match=r'judgments of "q0", "E1": grade ".*" is not a whole number'):
        load_qrels({"q0": {"E0": 1, "E1": grade}})
    with pytest.raises(InputError, match="judgment 2: "):
        load_qrels([{"qid": "q0", "docno": "E0", "label": 1}, {"qid": "q0", "docno": "E1", "label": grade}])


@pytest.mark.parametrize("grade", [1, 1.0, "1", np.int64(1), np.float32(1), True])
def test_a_whole_number_may_come_in_any_form(grade: Any) -> None:
    assert load_qrels({"q0": {"E0": grade}}) == {"q0": {"E0": 1}}


Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")
Asked = namedtuple("Asked", "query_id text")


def test_every_form_of_judgments_says_the_same(tmp_path: Path) -> None:
    """A file, dictionaries, rows, named tuples, Arrow, pandas, Polars."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    file = tmp_path / "qrels.txt"
    file.write_text("q0 0 E0 1\nq0 0 E1 0\nq1 0 E1 2\n", encoding="utf-8")
    expected = {"q0": {"E0": 1, "E1": 0}, "q1": {"E1": 2}}
    columns = {"qid": ["q0", "q0", "q1"], "docno": ["E0", "E1", "E1"], "label": [1, 0, 2]}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    forms = [
        file, str(file), expected, rows, iter(rows), pa.table(columns), pandas.DataFrame(columns),
        polars.DataFrame(columns), [Qrel(r["qid"], r["docno"], r["label"], "0") for r in rows],
        [{"id": r["qid"], "entity": r["docno"], "grade": float(r["label"])} for r in rows],
    ]  # fmt: skip
    for form in forms:
        assert load_qrels(form) == expected, type(form)


def test_every_form_of_queries_says_the_same(tmp_path: Path) -> None:
    """A missing type, in any of the ways of frames, is none."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    file = tmp_path / "queries.jsonl"
    plain = [{"id": "1", "query": "red", "type": "T"}, {"id": "2", "query": "+blue"}]
    file.write_text("".join(json.dumps(q) + "\n" for q in plain), encoding="utf-8")
    columns: dict[str, list[Any]] = {"qid": [1, 2], "query": ["red", "+blue"], "type": ["T", None]}
    frame = pandas.DataFrame(columns)
    odd = pandas.DataFrame({**columns, "type": ["T", float("nan")], "question": [float("nan"), ""]}, dtype=object)
    missing = pandas.DataFrame({**columns, "type": pandas.array(["T", pandas.NA], dtype=object)})
    forms = [file, plain, iter(plain), pa.table(columns), frame, odd, missing, polars.DataFrame(columns)]
    for form in forms:
        found = [(q.id, q.query, q.type, q.question) for q in load_queries(form)]
        assert found == [("1", "red", "T", ""), ("2", "+blue", None, "")], type(form)
    assert [(q.id, q.query) for q in load_queries([Asked(1, "red")])] == [("1", "red")]
    assert [q.id for q in load_queries(plain[0])] == ["1"]
    assert load_queries(load_queries(plain)) == load_queries(plain)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([{"id": "1"}], 'query 1: needs "id" .or "qid". and "query"'),
        ([{"query": "red"}], "query 1: needs"),
        ([{"id": None, "query": "red"}], "query 1: needs"),
        ([{"id": "1", "query": ""}], "query 1: needs"),
        ([{"id": "1", "query": "red"}, {"id": 1, "query": "blue"}], 'query 2: duplicate query id "1"'),
        (["red"], 'query 1: must be a dictionary, not "red"'),
        (5, "not \"5\""),
        (None, "not \"None\""),
    ],
)  # fmt: skip
def test_queries_that_are_none_are_refused(given: Any, message: str) -> None:
    with pytest.raises(FaderError, match=message):
        load_queries(given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([{"qid": "q0", "docno": "E0"}], 'judgment 1: needs "qid", "docno" and "label"'),
        ([{"docno": "E0", "label": 1}], "judgment 1: needs"),
        ([("q0", "E0", 1)], "judgment 1: must be a dictionary"),
        ({"q0": ["E0"]}, 'judgments of "q0": must be a dictionary of grades by entity'),
        (
            [{"qid": "q0", "docno": "E0", "label": 1}, {"qid": "q0", "docno": "E0", "label": 0}],
            'judgment 2: "E0" has grade 0 for query "q0", but 1 before; keep one',
        ),
        (None, "files, dictionaries or frames"),
    ],
)
def test_judgments_that_are_none_are_refused(given: Any, message: str) -> None:
    with pytest.raises(FaderError, match=message):
        load_qrels(given)


def test_a_sample_is_drawn_by_the_seed(index: fader.Index) -> None:
    """In the order of the queries, with a remark; 0 or more than there are is all of them."""
    parsed = parse_all(index, load_queries(TINY_QUERIES), FaultCollector())
    drawn = {seed: judge_queries(index, parsed, TINY_QRELS, sample=2, seed=seed) for seed in range(6)}
    for seed, found in drawn.items():
        assert len(found) == 2
        assert found.ids == sorted(found.ids)
        assert found.remarks == [f"2 of 4 judged queries, drawn by seed {seed}"]
        assert found.ids == judge_queries(index, parsed, TINY_QRELS, sample=2, seed=seed).ids
    assert len({tuple(found.ids) for found in drawn.values()}) > 1
    for sample in (0, 4, 9):
        assert len(judge_queries(index, parsed, TINY_QRELS, sample=sample)) == 4
    with pytest.raises(UsageError, match="sample and seed must be 0 or more, not -1 and 0"):
        judge_queries(index, parsed, TINY_QRELS, sample=-1)


def test_a_query_that_cannot_be_understood_is_named(index: fader.Index) -> None:
    with pytest.raises(InputError, match=r"query 2: .*quote"):
        trained(index, GRADES, [*TINY_QUERIES[:1], {"id": "x", "query": '"red'}])


def test_a_seed_below_0_is_refused(index: fader.Index) -> None:
    with pytest.raises(UsageError, match="seed must be 0 or more, not -1"):
        Ranker(features="noprox", seed=-1).fit(index, TINY_QUERIES, TINY_QRELS)
    with pytest.raises(UsageError, match="seed must be 0 or more, not -1"):
        compare(index, TINY_QUERIES, TINY_QRELS, ["fader(features=noprox)"], seed=-1)


WRONG = {
    "no judgments": "",
    "other queries": "Q0 0 E0 1\n",
    "nothing good": "q0 0 E0 0\nq1 0 E1 -1\n",
    "a fraction": "q0 0 E0 0.5\n",
    "not a number": "q0 0 E0 nan\n",
    "no bad candidate": "".join(f"q{i} 0 E{e} 1\n" for i in range(4) for e in range(5)),
    "one query": "q0 0 E0 1\nq0 0 E1 0\n",
}


@pytest.mark.parametrize("name", WRONG)
def test_nothing_is_written_where_nothing_can_be_learned(index: fader.Index, name: str, tmp_path: Path) -> None:
    """`fader train` ends with exit code 1 and a message, and leaves the folder as it was.

    Features are named: the default model, which was trained before, can be trained further by a single query.
    """
    queries, qrels = tmp_path / "queries.jsonl", tmp_path / "qrels.txt"
    queries.write_text("".join(json.dumps(q) + "\n" for q in TINY_QUERIES), encoding="utf-8")
    qrels.write_text(WRONG[name], encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    folder = index.collection.folder
    given = ("--queries", queries, "--qrels", qrels, "-o", tmp_path / "m.json", "--features", "noprox", "--quiet")
    said = refused(1, "train", folder, *given)
    assert said.strip()
    assert sorted(tmp_path.iterdir()) == before


def test_remarks_reach_whoever_trains(index: fader.Index, tmp_path: Path) -> None:
    """On standard error of the command, and in Python."""
    queries, qrels = tmp_path / "queries.jsonl", tmp_path / "qrels.txt"
    queries.write_text("".join(json.dumps(q) + "\n" for q in TINY_QUERIES), encoding="utf-8")
    lines = [f"{q} 0 {e} {g}\n" for q, of in TINY_QRELS.items() for e, g in of.items()]
    qrels.write_text("".join(lines) + "q0 0 nobody 1\nlost 0 E1 1\n", encoding="utf-8")
    given = ("--queries", queries, "--qrels", qrels, "-o", tmp_path / "m.json", "--features", "noprox", "--lambda", "1")
    said = passed("train", index.collection.folder, *given).err
    remarks = trained(index, qrels, queries).remarks_
    assert len(remarks) == 2
    for remark in remarks:
        assert remark in said
    assert (tmp_path / "m.json").is_file()
