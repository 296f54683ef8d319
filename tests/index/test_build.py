"""Building an index: where it may go, what it reports, and that options change the way, not the answer."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import fader
from fader.errors import StorageError, UsageError

ENTITIES = [{"id": "E", "name": "Einstein", "types": ["T"]}, {"id": "F", "name": "Fermi", "types": []}]
TYPES = [{"id": "T", "name": "Thing"}]
CORPUS = [
    {
        "id": f"d{i}",
        "text": f"Einstein met Fermi, number {i} é𝔘",
        "title": f"Title {i}",
        "prior": i / 2,
        "mentions": [{"start": 0, "end": 8, "entity": "E"}, {"start": 13, "end": 18, "entity": "F"}],
    }
    for i in range(30)
]


def build(path: Path, **options: Any) -> fader.Index:
    return fader.build(path, **{"corpus": CORPUS, "entities": ENTITIES, "types": TYPES, **options})


def state(index: fader.Index) -> Any:
    """What an index answers, in plain values."""
    queries = ("met", '"met fermi"', "+number -7 thing", "einstein")
    return [(index.contexts(q).rows(), index.rank(q, k=99)) for q in queries]


def test_counts_and_stored_fields(tmp_path: Path) -> None:
    """Documents, tokens and mentions are counted; what was stored is found by document id."""
    reader = build(tmp_path / "index").collection.reader
    assert (reader.documents, reader.tokens, reader.mentions) == (30, 180, 60)
    number = reader.find_document("d7")
    segment, local = reader.locate(number)
    assert reader.document_id(number) == "d7"
    assert (segment.text.titles[local], segment.text.priors[local]) == ("Title 7", 3.5)
    assert segment.text.text(local) == CORPUS[7]["text"]
    assert reader.find_document("d99") == -1
    reader.verify()


@pytest.mark.parametrize(
    "options",
    [{"segment_tokens": 1}, {"segment_tokens": 50}, {"threads": 3}, {"memory_mb": 16}, {"store_text": False}],
    ids=str,
)
def test_options_do_not_change_answers(tmp_path: Path, options: dict[str, Any]) -> None:
    """However it was cut, by however many threads, with or without texts."""
    assert state(build(tmp_path / "a", **options)) == state(build(tmp_path / "b"))


@pytest.mark.parametrize("options", [{}, {"segment_tokens": 40}, {"store_text": False}], ids=str)
def test_an_index_has_the_same_bytes_with_any_number_of_threads(tmp_path: Path, options: dict[str, Any]) -> None:
    """Of files and of dictionaries, odd lines and faults among them."""
    (tmp_path / "corpus.jsonl").write_text("\n".join([*map(json.dumps, CORPUS), "{", json.dumps(CORPUS[3])]), "utf-8")
    found = []
    for corpus in (tmp_path / "corpus.jsonl", CORPUS):
        for threads in (1, None, 2, 5):
            folder = tmp_path / f"{len(found)}"
            index = build(folder, corpus=corpus, threads=threads, **options)
            names = sorted(name for name in os.listdir(folder) if not name.startswith("commit-"))
            found.append(({name: (folder / name).read_bytes() for name in names}, index.report.faults.lines()))
    assert len(found[0][0]) > 4
    for contents, faults in found:
        assert contents == found[0][0]
        assert len(faults) in (0, 4)


def test_files_and_dictionaries_give_the_same_index(tmp_path: Path) -> None:
    """Also from several files, from a generator, and with files given as text or as paths."""
    halves = []
    for name, part in (("one.jsonl", CORPUS[:11]), ("two.jsonl", CORPUS[11:])):
        (tmp_path / name).write_text("\n".join(map(json.dumps, part)), "utf-8")
        halves.append(tmp_path / name)
    expected = state(build(tmp_path / "a"))
    assert state(build(tmp_path / "b", corpus=halves)) == expected
    assert state(build(tmp_path / "c", corpus=[str(h) for h in halves])) == expected
    assert state(build(tmp_path / "d", corpus=iter(halves))) == expected
    assert state(build(tmp_path / "e", corpus=(row for row in CORPUS))) == expected


def test_nothing_makes_an_index_too(tmp_path: Path) -> None:
    """No documents, no entities, no types: an index that answers nothing."""
    index = build(tmp_path / "index", corpus=[], entities=[], types=[])
    assert index.collection.documents == 0
    assert index.rank("anything").entities == []
    assert fader.open(tmp_path / "index", verify=True).search("anything").results == []


def test_parents_are_made_and_an_empty_folder_is_used(tmp_path: Path) -> None:
    """A destination need not exist, and may be an empty folder."""
    (tmp_path / "empty").mkdir()
    build(tmp_path / "empty")
    build(tmp_path / "a" / "b" / "index")
    assert sorted(os.listdir(tmp_path)) == ["a", "empty"]
    assert os.listdir(tmp_path / "a" / "b") == ["index"]


def test_what_stands_in_the_way_is_left_alone(tmp_path: Path) -> None:
    """A file, a folder with other things in it, an index without leave to overwrite it."""
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").write_text("mine")
    before = state(build(tmp_path / "index"))
    for name, reason in (
        ("file", "is a file; give the name of a folder"),
        ("full", "is a folder with other things in it; give a new or empty one"),
        ("index", "holds an index already; pass --overwrite to replace it"),
    ):
        with pytest.raises(StorageError) as caught:
            build(tmp_path / name, corpus=[])
        assert str(caught.value) == f"{tmp_path / name}: {reason}"
    with pytest.raises(StorageError, match="with other things in it"):
        build(tmp_path / "full", overwrite=True)
    assert (tmp_path / "file").read_text() == (tmp_path / "full" / "notes").read_text() == "mine"
    assert state(fader.open(tmp_path / "index")) == before


def test_overwriting_replaces_the_index(tmp_path: Path) -> None:
    """The new one answers, the old one stays as a commit until the next, and a reader of it goes on even then."""
    old = build(tmp_path / "index", corpus=CORPUS[:10])
    before = state(old)
    new = build(tmp_path / "index", overwrite=True)
    assert new.collection.documents == fader.open(tmp_path / "index").collection.documents == 30
    assert fader.open(tmp_path / "index", at=1).collection.documents == 10
    build(tmp_path / "index", overwrite=True)
    assert state(old) == before
    build(tmp_path / "other")
    assert len(os.listdir(tmp_path / "index")) == 2 * len(os.listdir(tmp_path / "other"))


def test_a_failed_build_leaves_the_users_empty_folder(tmp_path: Path) -> None:
    """What was there before is there after."""
    (tmp_path / "index").mkdir()
    with pytest.raises(fader.errors.FaderError):
        build(tmp_path / "index", entities=tmp_path / "none.tsv")
    assert (tmp_path / "index").is_dir()


def test_a_failed_build_leaves_no_new_parents(tmp_path: Path) -> None:
    """Nothing is left behind, as the message says."""
    with pytest.raises(fader.errors.FaderError):
        build(tmp_path / "a" / "b" / "index", corpus=[{"id": "x"}], on_error="fail")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory_mb": 1}, "memory_mb must be at least 16, not 1"),
        ({"threads": 0}, "threads must be at least 1, not 0"),
        ({"segment_tokens": 0}, "segment_tokens must be at least 1, not 0"),
        ({"on_error": "ignore"}, 'on_error must be "skip" or "fail", not "ignore"'),
        ({"stemmer": "klingon"}, 'unknown stemmer "klingon"'),
        ({"catalog_on_error": "ignore"}, 'catalog_on_error must be "skip" or "fail", not "ignore"'),
    ],
)
def test_wrong_options_are_wrong_usage(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    """Named with the constraint and the value; nothing is written."""
    with pytest.raises(UsageError) as caught:
        build(tmp_path / "index", **options)
    assert str(caught.value).startswith(message)
    assert os.listdir(tmp_path) == []
