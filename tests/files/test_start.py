"""`fader start`: from files to answers, again after changes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.running import passed, refused
from fader.search.start import StartOptions, start
from files.making import SENTENCE, every_kind, message, pdf, write_all
from files.support import answers, people


def run(folder: Path, *more: str | Path) -> Any:
    return passed("start", folder / "in", "-o", folder / "out", "--no-serve", "--json", *more).json


def test_one_command_gives_answers_and_says_each_step(tmp_path: Path) -> None:
    """Every step names the command that does just it; what could not be read is named."""
    write_all(tmp_path / "in", {**every_kind(), "scan.pdf": pdf("")})
    said = passed("start", tmp_path / "in", "--catalog", people(tmp_path), "-o", tmp_path / "out", "--no-serve").err
    assert "Read 21 files" in said
    assert "in/scan.pdf: its 1 pages have no text" in said
    for command in ("annotate", "index"):
        assert f"just this step: fader {command} " in said
    asked = ("+compiler", "--type", "admiral", "--model", "paper", "--json")
    found = passed("search", tmp_path / "out" / "index", *asked).json
    assert found["results"][0]["name"] == "Grace Hopper"
    assert found["results"][0]["support"] == 21


def test_a_second_run_takes_up_changes_as_commits(tmp_path: Path) -> None:
    """New, changed and deleted files; the answers are those of a fresh build."""
    write_all(tmp_path / "in", {"a.txt": SENTENCE.encode(), "b.txt": b"Ada Lovelace ate.", "c.eml": message("x")})
    catalog = people(tmp_path)
    assert run(tmp_path, "--catalog", catalog)["built"]
    unchanged = run(tmp_path, "--catalog", catalog)
    assert (unchanged["built"], unchanged["added"], unchanged["deleted"]) == (False, 0, 0)
    write_all(tmp_path / "in", {"b.txt": b"Bob Ross painted a compiler.", "d.pdf": pdf("Ada Lovelace met a compiler")})
    (tmp_path / "in" / "a.txt").unlink()
    changed = run(tmp_path, "--catalog", catalog)
    assert (changed["built"], changed["added"], changed["deleted"]) == (False, 2, 1)
    passed("check", tmp_path / "out" / "index")
    fresh = tmp_path / "fresh"
    start([str(tmp_path / "in")], fresh, StartOptions(str(catalog)))
    for query in ("+compiler", "met", "x"):
        assert answers(tmp_path / "out" / "index", query) == answers(fresh / "index", query)
    assert [name for name, _score in answers(fresh / "index", "+compiler")] == ["Bob Ross", "Ada Lovelace"]


def test_of_documents_with_one_id_the_first_stays_over_runs(tmp_path: Path) -> None:
    """A copy with another text is named at every run, and does not replace what an unchanged file gave."""
    rows = {"a.jsonl": b'{"id": "1", "text": "%s"}\n', "b.jsonl": b'{"id": "1", "text": "Bob Ross painted."}\n'}
    write_all(tmp_path / "in", {"a.jsonl": rows["a.jsonl"] % SENTENCE.encode(), "b.jsonl": rows["b.jsonl"]})
    catalog = people(tmp_path)
    assert run(tmp_path, "--catalog", catalog)["read"]["documents"] == 1
    again = run(tmp_path, "--catalog", catalog)
    assert (again["read"]["documents"], again["added"]) == (0, 0)
    assert [name for name, _score in answers(tmp_path / "out" / "index", "+compiler")] == ["Grace Hopper"]


def test_another_catalog_builds_anew(tmp_path: Path) -> None:
    """As one commit; the file's content counts, not its time."""
    write_all(tmp_path / "in", {"a.txt": SENTENCE.encode()})
    catalog = people(tmp_path)
    run(tmp_path, "--catalog", catalog)
    catalog.write_text("name,type\nArlington,city\n")
    assert run(tmp_path, "--catalog", catalog)["built"]
    assert [name for name, _score in answers(tmp_path / "out" / "index", "compiler")] == ["Arlington"]


def test_without_a_catalog_entities_are_found_and_can_be_edited(tmp_path: Path) -> None:
    """The catalog is kept, edited or not, until --discover; mail says who is a person."""
    text = "We saw Grace Hopper. Later Grace Hopper, an admiral, wrote a compiler. We like Grace Hopper."
    write_all(tmp_path / "in", {"a.txt": text.encode(), "b.eml": message("No names here.")})
    first = run(tmp_path)
    assert first["entities"] == 3
    catalog = tmp_path / "out" / "catalog.tsv"
    rows = [line.split("\t") for line in catalog.read_text().splitlines()]
    assert rows[0] == ["id", "name", "types", "aliases", "count"]
    assert {row[1]: row[2] for row in rows[1:]} == {"Grace Hopper": "", "Ada Lovelace": "person", "Bob Ross": "person"}
    catalog.write_text("name\ttypes\nGrace Hopper\tadmiral\n")
    assert run(tmp_path)["built"]
    found = passed("search", tmp_path / "out" / "index", "compiler", "--type", "admiral", "--json").json
    assert [r["name"] for r in found["results"]] == ["Grace Hopper"]
    assert not run(tmp_path)["built"]
    assert run(tmp_path, "--discover")["entities"] == 3


def test_an_interrupted_run_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state is written last."""
    write_all(tmp_path / "in", {"a.txt": SENTENCE.encode()})
    options = StartOptions(str(people(tmp_path)))

    def fail(*_given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("fader.search.start.write_whole", fail)
        with pytest.raises(KeyboardInterrupt):
            start([str(tmp_path / "in")], tmp_path / "out", options)
    assert start([str(tmp_path / "in")], tmp_path / "out", options).fresh
    assert json.loads((tmp_path / "out" / "start.json").read_text())["files"]["in/a.txt"]["ids"] == ["in/a.txt"]


def test_what_is_refused(tmp_path: Path) -> None:
    """Nothing done is not success, and nothing that is there is lost."""
    catalog, folder = people(tmp_path), tmp_path / "in"
    given = ["--catalog", catalog, "--no-serve", "-o", tmp_path / "out"]
    write_all(folder, {"scan.pdf": pdf(""), "empty": b""})
    assert "no document could be read" in refused(1, "start", folder, *given)
    assert not (tmp_path / "out").exists()
    write_all(folder, {"small.txt": b"no names at all in here"})
    assert "no name was found" in refused(1, "start", folder, "--no-serve", "-o", tmp_path / "out")
    assert "no such file" in refused(1, "start", tmp_path / "none", *given)
    assert "give one of them" in refused(2, "start", folder, *given, "--discover")
    passed("start", folder, *given)
    assert "holds the index of" in refused(1, "start", folder / "small.txt", *given)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine").write_text("x")
    assert "other things" in refused(1, "start", folder, *given[:-1], tmp_path / "other")
    assert (tmp_path / "other" / "mine").read_text() == "x"
    catalog.write_text("colour\nred\n")
    assert "no column of" in refused(1, "start", folder, *given)
    assert answers(tmp_path / "out" / "index", "names") == []
