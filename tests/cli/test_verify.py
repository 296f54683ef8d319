"""`--verify` of every command that opens an index: one made to harm is refused before anything is done with it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.running import passed, refused
from fader.cli import COMMANDS
from index.damage import Sealed, build_living

# Commands that open no index, or only one that they have built themselves.
OPENS_NONE = set("analyze annotate check cluster demo discover evaluate import index start systems".split())
REST = {
    "add": ("{file}",),
    "ask": ("which person built the engine",),
    "batch": ("--queries", "{file}", "--run", "{out}"),
    "compare": ("--queries", "{file}", "--qrels", "{file}", "--systems", "plm", "-o", "{out}"),
    "contexts": ("--queries", "{file}", "-o", "{out}"),
    "delete": ("--id", "d1"),
    "document": ("d1",),
    "entity": ("E1",),
    "explain": ("engine", "--entity", "E1"),
    "judge": ("engine",),
    "paper": ("--queries", "{file}", "--qrels", "{file}", "-o", "{out}"),
    "search": ("engine",),
    "train": ("--queries", "{file}", "--qrels", "{file}", "-o", "{out}"),
}


@pytest.fixture(scope="module")
def harmful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that opens, and whose term counts are wrong under checksums that fit."""
    folder = build_living(tmp_path_factory.mktemp("verify") / "index")
    for path in folder.glob("*.documents"):
        sealed = Sealed(path)
        sealed.arrays["square"] = sealed.arrays["square"] + sealed.arrays["square"].dtype.type(1)
        sealed.seal()
    passed("info", str(folder))
    return folder


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - OPENS_NONE - {"serve"}))
def test_a_harmful_index_is_refused(harmful: Path, tmp_path: Path, command: str) -> None:
    folder, file = shutil.copytree(harmful, tmp_path / "index"), tmp_path / "file.jsonl"
    file.write_text('{"id": "q", "query": "engine"}\n')
    before = sorted(p.name for p in folder.iterdir())
    given = [text.format(file=file, out=tmp_path / "out") for text in REST.get(command, ())]
    opened = ["--index", str(folder)] if command == "paper" else [str(folder)]
    assert "'square' is not what the postings hold" in refused(1, command, *opened, *given, "--verify")
    assert sorted(p.name for p in folder.iterdir()) == before
    assert not (tmp_path / "out").exists()


def test_so_does_a_server(harmful: Path) -> None:
    assert "'square' is not what the postings hold" in refused(1, "serve", str(harmful), "--port", "0", "--verify")
