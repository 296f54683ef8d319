"""`fader batch`: a TREC run that any tool reads, and the measures printed beside it."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import ir_measures
import pytest
from ir_measures import AP, RR

from cli.running import fader, passed, refused

SYSTEMS = ("proximity", "count", "proximity(width=3.0,policy=mention)")


def read_run(text: str) -> dict[str, list[tuple[int, str, float, str]]]:
    """(rank, entity, score, tag) of every line, by query."""
    run: dict[str, list[tuple[int, str, float, str]]] = {}
    for line in text.splitlines():
        query, q0, entity, rank, score, tag = line.split(" ")
        assert q0 == "Q0"
        run.setdefault(query, []).append((int(rank), entity, float(score), tag))
    return run


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_run_has_trec_form_and_order(demo: Path, index: Path, tmp_path: Path, system: str) -> None:
    """Six columns, rank from 1, scores that never increase; equal scores by entity id descending."""
    out = tmp_path / "x.run"
    passed("batch", index, "--queries", demo / "queries.jsonl", "--run", out, "--system", system)
    run = read_run(out.read_text("utf-8"))
    assert len(run) == 80
    for rows in run.values():
        assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
        assert {row[3] for row in rows} == {system}
        assert len({row[1] for row in rows}) == len(rows)
        for (_r, entity, score, _t), (_r2, after, lower, _t2) in pairwise(rows):
            assert score > lower or (score == lower and entity > after)
    assert [p.name for p in tmp_path.iterdir()] == ["x.run"]


def test_scores_read_back_exactly(demo: Path, index: Path, tmp_path: Path) -> None:
    """`float` of a printed score is the very score that the Python interface gives."""
    import fader as library

    passed("batch", index, "--queries", demo / "queries.jsonl", "--run", tmp_path / "x.run", "-k", "20")
    run = read_run((tmp_path / "x.run").read_text("utf-8"))
    opened = library.open(index)
    for line in (demo / "queries.jsonl").read_text("utf-8").splitlines()[:20]:
        query = json.loads(line)
        ranked = opened.rank(query["query"], query["type"], k=20)
        assert [(row[1], row[2]) for row in run[query["id"]]] == list(zip(ranked.entities, ranked.scores, strict=True))


@pytest.mark.parametrize("system", SYSTEMS)
def test_measures_are_those_of_ir_measures(demo: Path, index: Path, tmp_path: Path, system: str) -> None:
    """MAP and MRR as printed equal an outsider's reading of the run file, to 1e-9."""
    out = tmp_path / "x.run"
    files = ["--queries", demo / "queries.jsonl", "--qrels", demo / "qrels.txt"]
    summary = passed("batch", index, *files, "--run", out, "--system", system, "--json").json
    qrels = list(ir_measures.read_trec_qrels(str(demo / "qrels.txt")))
    theirs = ir_measures.calc_aggregate([AP, RR], qrels, list(ir_measures.read_trec_run(str(out))))
    assert summary["queries"] == 80
    assert summary["MAP"] == pytest.approx(theirs[AP], abs=1e-9)
    assert summary["MRR"] == pytest.approx(theirs[RR], abs=1e-9)
    shown = passed("batch", index, *files, "--run", out, "--system", system).err
    assert f"MAP {summary['MAP']:.4f}" in shown


def test_a_run_may_go_to_standard_output(demo: Path, index: Path, tmp_path: Path) -> None:
    arguments = ["batch", index, "--queries", demo / "queries.jsonl", "-k", "5", "--run"]
    passed(*arguments, tmp_path / "x.run")
    assert passed(*arguments, "-").out == (tmp_path / "x.run").read_text("utf-8")


def test_queries_may_come_from_standard_input(index: Path) -> None:
    outcome = passed("batch", index, "--queries", "-", "--run", "-", stdin=b'{"id": 1, "query": "river"}\n')
    assert set(read_run(outcome.out)) == {"1"}


def test_k_limits_every_query(demo: Path, index: Path) -> None:
    out = passed("batch", index, "--queries", demo / "queries.jsonl", "--run", "-", "-k", "3").out
    assert {len(rows) for rows in read_run(out).values()} == {3}


BAD = [
    ('{"id": "b", "query": "river", "type": "rivr"}', 'unknown type "rivr"; did you mean "river"'),
    ('{"id": "b", "query": "\\"river"}', "a quote is opened and not closed (at character 1)"),
    ('{"id": "b"', "not a query"),
    ('{"id": "b"}', 'a query needs an "id" and a "query"'),
    ('{"id": "b b", "query": "x"}', "white space"),
    ('{"id": "a", "query": "x"}', 'duplicate query id "a"'),
]


@pytest.mark.parametrize(("line", "says"), BAD)
def test_a_bad_query_names_file_and_line(index: Path, tmp_path: Path, line: str, says: str) -> None:
    """Refused before anything is run, or skipped with a remark; no run file is left behind by a refusal."""
    queries, out = tmp_path / "queries.jsonl", tmp_path / "x.run"
    queries.write_text('{"id": "a", "query": "river"}\n\n' + line + "\n", encoding="utf-8")
    message = refused(1, "batch", index, "--queries", queries, "--run", out)
    assert f"{queries}:3: " in message
    assert says in message
    assert not out.exists()
    outcome = passed("batch", index, "--queries", queries, "--run", out, "--on-error", "skip", "--json")
    assert (outcome.json["queries"], outcome.json["skipped"]) == (1, 1)
    assert f"skipped {queries}:3: " in outcome.err


@pytest.mark.parametrize(("line", "says"), [("a 0 X", "3 columns"), ("a 0 X one", 'grade "one" is not a whole number')])
def test_a_bad_judgment_names_file_and_line(demo: Path, index: Path, tmp_path: Path, line: str, says: str) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text(f"d01 0 X 1\n{line}\n", encoding="utf-8")
    files = ["--queries", demo / "queries.jsonl", "--qrels", qrels, "--run", tmp_path / "x.run"]
    message = refused(1, "batch", index, *files)
    assert f"{qrels}:2: " in message
    assert says in message


def test_an_entity_id_with_a_blank_cannot_be_in_a_run(tmp_path: Path) -> None:
    (tmp_path / "types.tsv").write_text("t\tt\t\n", encoding="utf-8")
    (tmp_path / "entities.tsv").write_text("A B\tab\tt\n", encoding="utf-8")
    mention = '{"start": 0, "end": 1, "entity": "A B"}'
    (tmp_path / "c.jsonl").write_text(f'{{"id": "d", "text": "a b", "mentions": [{mention}]}}\n', encoding="utf-8")
    (tmp_path / "q.jsonl").write_text('{"id": "q", "query": "b"}\n', encoding="utf-8")
    files = ["--entities", tmp_path / "entities.tsv", "--types", tmp_path / "types.tsv", "-o", tmp_path / "index"]
    passed("index", tmp_path / "c.jsonl", *files)
    run = tmp_path / "x.run"
    message = refused(1, "batch", tmp_path / "index", "--queries", tmp_path / "q.jsonl", "--run", run)
    assert 'entity id "A B" has white space' in message
    assert not run.exists()
    assert not list(tmp_path.glob("*.part"))


def test_a_run_that_cannot_be_written_is_told(demo: Path, index: Path, tmp_path: Path) -> None:
    out = tmp_path / "no" / "such" / "folder.run"
    outcome = fader("batch", index, "--queries", demo / "queries.jsonl", "--run", out)
    assert outcome.code == 1
    assert re.search(r"folder\.run: cannot be written: No such file or directory", outcome.err)
