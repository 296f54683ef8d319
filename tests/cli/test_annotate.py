"""`fader annotate`: options, standard input and output, what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.running import passed, refused


@pytest.fixture
def entities(tmp_path: Path) -> Path:
    path = tmp_path / "entities.tsv"
    path.write_text("curie\tMarie Curie\tperson\t\nwarsaw\tWarsaw\tcity\t\ndots\t...\tthing\t\n")
    return path


def test_a_run_reports_what_it_found(tmp_path: Path, entities: Path) -> None:
    (tmp_path / "a.txt").write_text("Marie Curie in Warsaw")
    out = tmp_path / "corpus.jsonl"
    outcome = passed("annotate", tmp_path / "a.txt", "--entities", entities, "-o", out)
    assert outcome.out == ""
    assert "1 documents, 2 mentions of 2 names" in outcome.err
    assert "passed over 1 names without a letter or digit" in outcome.err
    assert "already" in refused(1, "annotate", tmp_path / "a.txt", "--entities", entities, "-o", out)
    again = passed("annotate", tmp_path / "a.txt", "--entities", entities, "-o", out, "--restart", "--json", "-q")
    assert again.json["mentions"] == 2
    assert again.err == ""


def test_standard_input_and_output(entities: Path) -> None:
    arguments = ("annotate", "-", "--lines", "--entities", entities, "-o", "-", "--quiet")
    outcome = passed(*arguments, stdin="Zoë saw Marie Curie\n\nWarsaw".encode())
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    assert [r["id"] for r in rows] == ["<stdin>:1", "<stdin>:3"]
    assert [m["entity"] for r in rows for m in r["mentions"]] == ["curie", "warsaw"]
    assert rows[0]["mentions"][0]["start"] == 8


def test_learning_from_a_corpus(tmp_path: Path, entities: Path) -> None:
    links = tmp_path / "links.jsonl"
    links.write_text('{"id":"1","text":"la Curie","mentions":[{"start":3,"end":8,"entity":"curie"}]}\n')
    arguments = ("annotate", "-", "--jsonl", "--entities", entities, "-o", "-", "--quiet")
    line = b'{"id":"x","contents":"Curie"}\n'
    assert json.loads(passed(*arguments, stdin=line).out)["mentions"] == []
    found = json.loads(passed(*arguments, "--links", links, stdin=line).out)["mentions"]
    assert [m["entity"] for m in found] == ["curie"]


def test_least_confidence(entities: Path) -> None:
    arguments = ("annotate", "-", "--lines", "--entities", entities, "-o", "-", "--quiet", "--min-confidence")
    assert json.loads(passed(*arguments, "0.85", stdin=b"Marie Curie, Warsaw").out)["mentions"][0]["entity"] == "curie"
    assert "0<=x<=1" in refused(2, *arguments, "7", stdin=b"x")


def test_faults(tmp_path: Path, entities: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{}\n")
    out = tmp_path / "out.jsonl"
    said = refused(1, "annotate", tmp_path / "bad.jsonl", "--entities", entities, "-o", out)
    assert "bad.jsonl:1" in said
    assert "no document was annotated" in said
    arguments = ("annotate", tmp_path / "bad.jsonl", "--entities", entities, "-o", tmp_path / "x.jsonl", "--quiet")
    assert "bad.jsonl:1" in refused(1, *arguments, "--on-error", "fail")
    assert "no such file" in refused(1, "annotate", tmp_path / "none.txt", "--entities", entities, "-o", out)
    both = ("annotate", tmp_path / "bad.jsonl", "--entities", entities, "-o", "-", "--json")
    assert "both" in refused(2, *both)
