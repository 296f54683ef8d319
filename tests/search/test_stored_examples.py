"""Examples that are kept beside an index: used as long as they are good, chosen anew when much has changed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import fader
from cli.running import passed
from experiment.judged_demo import demo_in
from fader.cli import examples
from fader.search.examples import ExampleQuery
from fader.search.stored_examples import FILE, Sizes, StoredExamples, find_examples, renew_examples
from fader.search.suggest import Suggester

KEPT = ["Which boats float?"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The demo's index."""
    found = demo_in(tmp_path).collection.folder
    (found / FILE).unlink(missing_ok=True)
    return found


def find(folder: Path) -> list[ExampleQuery]:
    index = fader.open(folder)
    return find_examples(index, Suggester(index.collection))


def keep(folder: Path, *, share: float = 1.0, version: int = 1) -> None:
    """Examples as they were kept when the index had another size."""
    c = fader.open(folder).collection
    sizes = (c.documents, len(c.catalog.entity_ids), len(c.catalog.type_ids))
    kept = StoredExamples(version, Sizes(*(round(share * size) for size in sizes)), KEPT)
    (folder / FILE).write_bytes(msgspec.json.encode(kept))


def test_kept_examples_are_those_that_would_be_made(folder: Path) -> None:
    """Choosing writes what is made without the file; it is done once."""
    made = find(folder)
    assert made
    assert renew_examples(folder)
    assert not renew_examples(folder)
    stored = msgspec.json.decode((folder / FILE).read_bytes(), type=StoredExamples)
    assert [example.q for example in made] == stored.examples
    assert find(folder) == made


@pytest.mark.parametrize(("share", "good"), [(1.0, True), (0.93, True), (1.07, True), (0.8, False), (1.3, False)])
def test_they_are_used_until_a_tenth_has_changed(folder: Path, share: float, good: bool) -> None:
    keep(folder, share=share)
    assert ([example.q for example in find(folder)] == KEPT) is good
    assert renew_examples(folder) is not good


@pytest.mark.parametrize("content", [b"", b"no JSON", b'{"version": 1}', b"[1]", b"\xff" * 200_000])
def test_a_file_that_cannot_be_read_is_as_none(folder: Path, content: bytes) -> None:
    made = find(folder)
    (folder / FILE).write_bytes(content)
    assert find(folder) == made


def test_another_rule_chooses_anew(folder: Path) -> None:
    keep(folder, version=0)
    assert renew_examples(folder)


def test_commands_keep_examples_of_large_indexes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`fader index` does, where there are enough documents; the index is as whole as before."""
    demo = tmp_path / "demo"
    passed("demo", demo, "--quiet")
    sources = (demo / "corpus.jsonl", "--entities", demo / "entities.tsv", "--types", demo / "types.tsv", "--quiet")
    passed("index", *sources, "-o", tmp_path / "large")
    assert (tmp_path / "large" / FILE).exists()
    passed("check", tmp_path / "large")
    monkeypatch.setattr(examples, "LEAST_DOCUMENTS", 10_000)
    passed("index", *sources, "-o", tmp_path / "small")
    assert not (tmp_path / "small" / FILE).exists()
