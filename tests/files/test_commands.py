"""`fader annotate` and `fader index` take files and folders of any kind."""

from __future__ import annotations

import json
from pathlib import Path

from cli.running import fader, passed, refused
from files.making import SENTENCE, every_kind, pdf, write_all


def catalog(folder: Path) -> Path:
    path = folder / "people.csv"
    path.write_text("name,type\nGrace Hopper,admiral\nAda Lovelace,countess\nArlington,city\n")
    return path


def test_annotate_and_index_take_a_folder(tmp_path: Path) -> None:
    """Both give the same answers, and say what they read."""
    folder, people = write_all(tmp_path / "in", every_kind()), catalog(tmp_path)
    corpus, index, other = tmp_path / "c.jsonl", tmp_path / "index", tmp_path / "other"
    made = passed("annotate", folder, "--catalog", people, "-o", corpus)
    assert "read 21 files" in made.err
    lines = [json.loads(line) for line in corpus.read_text().splitlines()]
    assert all(m["entity"] for line in lines for m in line["mentions"])
    passed("index", corpus, "--catalog", people, "-o", index)
    assert "read 21 files" in passed("index", folder, "--catalog", people, "-o", other).err
    asked = ["+compiler", "--type", "admiral", "--model", "paper", "--json"]
    answers = [passed("search", place, *asked).json for place in (index, other)]
    for answer in answers:
        answer.pop("took_ms")
    assert answers[0] == answers[1]
    assert answers[0]["results"][0]["name"] == "Grace Hopper"
    assert answers[0]["results"][0]["support"] == len(lines) - 1


def test_a_folder_of_annotated_corpora_is_indexed_as_it_is(tmp_path: Path) -> None:
    """Its mentions count, not those that the catalog's names would give."""
    line = {"id": "d", "text": SENTENCE, "mentions": [{"start": 0, "end": 5, "entity": "Ada_Lovelace"}]}
    folder = write_all(tmp_path / "in", {"a.jsonl": json.dumps(line).encode()})
    passed("index", folder, "--catalog", catalog(tmp_path), "-o", tmp_path / "index")
    found = passed("search", tmp_path / "index", "compiler", "--json").json
    assert [r["name"] for r in found["results"]] == ["Ada Lovelace"]


def test_wrong_uses_are_refused(tmp_path: Path) -> None:
    """And nothing is left behind or replaced."""
    folder, people = write_all(tmp_path / "in", {"a.pdf": pdf(SENTENCE)}), catalog(tmp_path)
    assert "standard output" in refused(2, "annotate", folder, "--catalog", people, "-o", "-")
    out = tmp_path / "c.jsonl"
    out.write_text("mine")
    assert "--restart" in refused(1, "annotate", folder, "--catalog", people, "-o", out)
    assert out.read_text() == "mine"
    passed("annotate", folder, "--catalog", people, "-o", out, "--restart")
    assert "no such file" in refused(1, "annotate", tmp_path / "no", "--catalog", people, "-o", tmp_path / "x")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.jsonl", "in", "people.csv"]


def test_on_error_fail_stops_at_the_first_file(tmp_path: Path) -> None:
    """With its name."""
    folder = write_all(tmp_path / "in", {"a.pdf": pdf(""), "b.txt": b"x"})
    given = [folder, "--catalog", catalog(tmp_path), "-o", tmp_path / "c.jsonl", "--on-error", "fail"]
    assert "in/a.pdf: its 1 pages have no text" in refused(1, "annotate", *given)


def test_nothing_done_is_not_success(tmp_path: Path) -> None:
    """Exit code 1 with the reason: no document indexed, annotated or added; an empty catalog is said."""
    people, bad, index = catalog(tmp_path), tmp_path / "bad.jsonl", tmp_path / "index"
    bad.write_text("nonsense\n")
    done = fader("index", bad, "--catalog", people, "-o", index)
    assert done.code == 1
    assert "skipped 1 lines" in done.err
    assert "the index is empty" in done.err
    good = tmp_path / "good.jsonl"
    good.write_text(json.dumps({"id": "d", "text": SENTENCE}))
    passed("add", index, good)
    assert "no document was added" in refused(1, "add", index, bad)
    assert "no document was annotated" in refused(1, "annotate", bad, "--catalog", people, "-o", tmp_path / "c.jsonl")
    (tmp_path / "none.tsv").write_text("")
    said = passed("index", good, "--entities", tmp_path / "none.tsv", "-o", tmp_path / "other").err
    assert "The catalog has no entity" in said
