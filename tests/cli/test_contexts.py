"""`fader contexts`: the evidence as a Parquet file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.running import passed, refused

Written = Callable[..., pa.Table]
SCHEMA = [
    ("qid", pa.string()), ("entity", pa.string()), ("doc", pa.string()), ("start", pa.int32()), ("end", pa.int32()),
    ("confidence", pa.float64()), ("distances", pa.list_(pa.int32())), ("sides", pa.list_(pa.int8())),
]  # fmt: skip


@pytest.fixture
def written(demo: Path, index: Path, tmp_path: Path) -> Written:
    """Run the command with some options and read the table back."""

    def write(*options: str | Path) -> pa.Table:
        out = tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet"
        report = passed("contexts", index, "--queries", demo / "queries.jsonl", "-o", out, "--json", *options).json
        table = pq.read_table(out)
        assert (report["queries"], report["contexts"], report["file"]) == (80, table.num_rows, str(out))
        return table

    return write


def test_columns_and_order(written: Written) -> None:
    """The columns and their types, sorted by query, entity, document and start; list lengths are the literals'."""
    table = written()
    assert [(field.name, field.type) for field in table.schema] == SCHEMA
    rows = table.to_pylist()
    keys = [(r["qid"], r["entity"], r["doc"], r["start"], r["end"]) for r in rows]
    assert keys == sorted(keys)
    assert len(keys) == len(set(keys)) > 1000
    for row in rows:
        assert 0 <= row["start"] < row["end"]
        assert 0 < row["confidence"] <= 1
        assert len(row["distances"]) == len(row["sides"])
        assert max(row["distances"]) >= 0
        for distance, side in zip(row["distances"], row["sides"], strict=True):
            assert (distance > 0) == (side in (-1, 1))
            assert distance >= -1


def test_both_plans_give_the_same_file(written: Written) -> None:
    assert written("--plan", "type").equals(written("--plan", "document"))


def test_grades_are_added_from_judgments(written: Written, demo: Path) -> None:
    table = written("--qrels", demo / "qrels.txt")
    assert table.schema.names == [name for name, _type in SCHEMA] + ["grade"]
    lines = (line.split() for line in (demo / "qrels.txt").read_text("utf-8").splitlines())
    grades = {(query, entity): int(grade) for query, _zero, entity, grade in lines}
    for row in table.to_pylist():
        assert row["grade"] == grades.get((row["qid"], row["entity"]))


def test_a_window_leaves_only_near_literals(written: Written) -> None:
    """Within the window the distances are those without it; a mention with no literal left is no context."""
    key = ("qid", "entity", "doc", "start", "end")
    near = {tuple(r[k] for k in key): r["distances"] for r in written("--window", "5").to_pylist()}
    expected = {}
    for row in written().to_pylist():
        distances = [d if d <= 5 else -1 for d in row["distances"]]
        if max(distances) >= 0:
            expected[tuple(row[k] for k in key)] = distances
    assert near == expected


def test_overlap_can_be_ignored(written: Written) -> None:
    assert any(0 in r["distances"] for r in written().to_pylist())
    assert not any(0 in r["distances"] for r in written("--ignore-overlap").to_pylist())


def test_wrong_calls(demo: Path, index: Path, tmp_path: Path) -> None:
    call = ["contexts", index, "--queries", demo / "queries.jsonl", "-o", tmp_path / "x.parquet"]
    assert "is not one of 'type', 'document'" in refused(2, *call, "--plan", "both")
    assert "window must be at least 0 tokens, not -1" in refused(2, *call, "--window", "-1")
    assert list(tmp_path.iterdir()) == []
    assert "Missing option" in refused(2, *call[:4])


def test_a_bad_query_names_file_and_line(index: Path, tmp_path: Path) -> None:
    queries = tmp_path / "q.jsonl"
    queries.write_text('{"id": "a", "query": "river", "type": "rivr"}\n', encoding="utf-8")
    message = refused(1, "contexts", index, "--queries", queries, "-o", tmp_path / "x.parquet")
    assert f'{queries}:1: unknown type "rivr"; did you mean "river"' in message
    assert not (tmp_path / "x.parquet").exists()
