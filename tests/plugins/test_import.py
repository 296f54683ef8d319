"""An importer of one's own: by name and as an object, in one process and in several."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fader
from cli.running import passed
from fader.corpora.frame.base import Importer
from fader.errors import UsageError
from fader.registry import discover, load_plugin

PARTS = Path(__file__).parent / "my_parts.py"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.tsv"
    path.write_text("".join(f"d{i}\t[[E{i % 3}|Entity {i % 3}]] saw it\n" for i in range(50)), encoding="utf-8")
    return path


def test_processes_know_the_importer(notes: Path, tmp_path: Path) -> None:
    """Two processes give the bytes of one; an object stands for its name."""
    load_plugin(PARTS)
    part = discover("fader.corpora.formats")["bracketed"]
    fader.import_corpus("bracketed", notes, tmp_path / "one", type="seen")
    fader.import_corpus(part(type="seen"), notes, tmp_path / "two", processes=2)
    for name in ("corpus.jsonl", "entities.tsv", "types.tsv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert len((tmp_path / "two" / "corpus.jsonl").read_text().splitlines()) == 50


def test_the_command_line_knows_the_importer(notes: Path, tmp_path: Path) -> None:
    """It is listed, has a help of its own, and runs."""
    plugin = ("import", "--plugin", PARTS)
    assert "bracketed" in passed(*plugin, "--list").out
    assert "--type" in passed(*plugin, "bracketed", "--help").out
    done = passed(*plugin, "bracketed", notes, "-o", tmp_path / "out", "--processes", "2", "--json")
    assert json.loads(done.out)["counts"]["documents"] == 50


def test_options_go_with_a_name(notes: Path, tmp_path: Path) -> None:
    """An object has its options already."""
    load_plugin(PARTS)
    made: Importer = discover("fader.corpora.formats")["bracketed"]()
    with pytest.raises(UsageError, match="type is an option of the importer; give it when it is made"):
        fader.import_corpus(made, notes, tmp_path / "out", type="seen")
