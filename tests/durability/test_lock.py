"""One writer at a time; a lock dies with its holder, and what a dead builder has left is removed by the next."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import fader
from durability.history import ENTITIES, FIRST, NEW, TYPES, answers, corpus, expected
from fader.errors import StorageError
from fader.index.commit import commit_numbers
from fader.index.lock import lock_for_writing, lock_if_abandoned
from fader.index.write.staging import remove_abandoned, stage_folder


def build(folder: Path, **options: bool) -> None:
    fader.build(folder, corpus(FIRST), ENTITIES, TYPES, **options)


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    """A second writer is refused at once; when the first is done, the next has it."""
    with lock_for_writing(tmp_path):
        with pytest.raises(StorageError, match=r"another process is writing this index; wait until it has finished"):
            lock_for_writing(tmp_path).__enter__()
        with lock_if_abandoned(tmp_path) as is_abandoned:
            assert not is_abandoned
    with lock_if_abandoned(tmp_path) as is_abandoned:
        assert is_abandoned
        with pytest.raises(StorageError, match="another process"):
            lock_for_writing(tmp_path).__enter__()
    with lock_for_writing(tmp_path):
        pass


def test_a_process_that_was_forked_meanwhile_does_not_keep_the_lock(tmp_path: Path) -> None:
    """It has the same handles, and may live on."""
    read, write = os.pipe()
    with lock_for_writing(tmp_path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # this process may have threads; the child needs none
            child = os.fork()
        if not child:
            os.close(write)
            os.read(read, 1)  # until the parent closes its end
            os._exit(0)
    try:
        with lock_for_writing(tmp_path):
            pass
    finally:
        os.close(write)
        os.close(read)
        os.waitpid(child, 0)


def test_a_lock_moves_with_its_folder(tmp_path: Path) -> None:
    """A builder that has renamed its folder into place still holds it."""
    (tmp_path / "work").mkdir()
    with lock_for_writing(tmp_path / "work"):
        os.rename(tmp_path / "work", tmp_path / "index")
        with pytest.raises(StorageError, match="another process"):
            lock_for_writing(tmp_path / "index").__enter__()


def test_a_folder_that_cannot_be_locked_is_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no other writer's fault."""

    def refuse(_handle: int, _operation: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fader.index.lock.fcntl.flock", refuse)
    with pytest.raises(StorageError, match=r"cannot be locked: No locks available; put the index on another file sys"):
        lock_for_writing(tmp_path).__enter__()


def test_only_the_folders_of_dead_builders_are_removed(tmp_path: Path) -> None:
    """Not one that a builder works in, nor of another destination, nor one with anything else in it."""
    for name in (
        ".index.building-00000000",
        ".index.building-00000001",
        ".other.building-00000000",
        ".index.building-x",
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "00000001-0.text").touch()
    (tmp_path / ".index.building-00000001" / "notes.txt").touch()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "00000001-0.text").touch()
    (tmp_path / ".index.building-00000002").symlink_to(tmp_path / "elsewhere")
    with stage_folder(tmp_path / "index") as work:
        (work / "00000001-0.text").touch()
        remove_abandoned(tmp_path / "index")
        assert [path.name for path in work.iterdir()] == ["00000001-0.text"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".index.building-00000001", ".index.building-00000002", ".index.building-x", ".other.building-00000000",
        "elsewhere", "index",
    ]  # fmt: skip
    assert [path.name for path in (tmp_path / ".index.building-00000001").iterdir()] == ["notes.txt"]
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["00000001-0.text"]


def test_a_build_that_fails_leaves_nothing_beside(tmp_path: Path) -> None:
    """Neither its folder nor the folders made for it."""
    with pytest.raises(fader.errors.CorpusError):
        fader.build(tmp_path / "a" / "b" / "index", [{"id": "d"}], ENTITIES, TYPES, on_error="fail")
    assert not list(tmp_path.iterdir())


def test_an_index_that_appears_while_another_is_built_is_kept(tmp_path: Path) -> None:
    """Of two builders of a new index the one that is second is refused."""

    def slowly() -> Iterator[dict[str, object]]:
        build(tmp_path / "index")
        yield from corpus(NEW)

    with pytest.raises(StorageError, match="cannot be written"):
        fader.build(tmp_path / "index", slowly(), ENTITIES, TYPES)
    assert answers(tmp_path / "index") == expected(FIRST)
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_a_commit_made_between_the_first_look_and_the_lock_is_kept(tmp_path: Path) -> None:
    """It is the newest before this one, not debris."""
    build(tmp_path / "index")

    def entities() -> Iterator[dict[str, object]]:
        build(tmp_path / "index", overwrite=True)
        yield from ENTITIES

    fader.build(tmp_path / "index", corpus(NEW), entities(), TYPES, overwrite=True)
    assert commit_numbers(tmp_path / "index") == [2, 3]
    assert answers(tmp_path / "index", 2) == expected(FIRST)
    assert answers(tmp_path / "index", 3) == expected(NEW)


def test_files_that_only_look_like_those_of_an_index_are_kept(tmp_path: Path) -> None:
    """A date is eight digits too."""
    build(tmp_path / "index")
    for name in ("20260101.txt", "20260101.json", "99999999-1.jpg"):
        (tmp_path / "index" / name).write_text("mine")
    build(tmp_path / "index", overwrite=True)
    assert {"20260101.txt", "20260101.json", "99999999-1.jpg"} <= {p.name for p in (tmp_path / "index").iterdir()}
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "20260101.txt").write_text("mine")
    with pytest.raises(StorageError, match="is a folder with other things in it"):
        build(tmp_path / "other")
