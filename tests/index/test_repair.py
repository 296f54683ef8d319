"""Repair makes the newest whole commit the index, says what is lost, and can be interrupted at any moment."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import fader
from fader.errors import DamagedError, NotAnIndexError, StorageError, VersionError
from fader.index.commit import read_commit
from fader.index.lock import lock_for_writing
from fader.index.verify import check as checking
from fader.index.verify.check import Lost, Repair, check, examine, repair
from fader.index.write.change import add
from index.damage import answers, build_living, document, put, seal_manifest, unsealed


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three commits: a build of 34 documents, an addition of 1 with 2 replaced, a deletion of 4."""
    return build_living(tmp_path_factory.mktemp("living") / "index")


@pytest.fixture
def copy(living: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(living, tmp_path / "index"))


def damage(folder: Path, *names: str) -> None:
    for name in names:
        put(folder / name, (folder / name).read_bytes()[:-1])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_whole_index_is_left_alone(copy: Path) -> None:
    """Every byte; there is nothing to be lost."""
    before = contents(copy)
    assert repair(copy) == Repair(3, 31, (), ())
    assert contents(copy) == before


def test_the_newest_whole_commit_becomes_the_index(copy: Path, living: Path) -> None:
    """The damaged ones go, with the files that only they needed; it answers what it answered when it was the newest."""
    damage(copy, "00000003-0.deleted")
    done = repair(copy)
    assert (done.commit, done.documents) == (2, 35)
    (lost,) = done.lost
    assert (lost.commit, lost.operation, lost.more) == (3, "delete (4 deleted)", -4)
    assert str(lost) == "commit 3, delete (4 deleted), is lost; it had 4 documents fewer than what is left"
    assert "00000003-0.deleted" in lost.problems[0]
    assert done.removed == ("00000003-0.deleted", "00000003-1.deleted", "commit-00000003.json")
    assert examine(copy).problems == []
    assert repr(answers(fader.open(copy, verify=True))) == repr(answers(fader.open(living, at=2)))


def test_several_commits_may_be_lost(copy: Path) -> None:
    """Down to the oldest; each is told, from the newest on."""
    damage(copy, "00000002-0.terms")
    done = repair(copy)
    assert (done.commit, done.documents) == (1, 34)
    assert [(lost.commit, lost.operation, lost.more) for lost in done.lost] == [
        (3, "delete (4 deleted)", -3), (2, "add (3 documents, 2 replaced)", 1),
    ]  # fmt: skip
    assert "it had 1 document more than what is left" in str(done.lost[1])
    assert set(contents(copy)) == {*read_commit(copy).file_names, "commit-00000001.json"}


def test_an_unreadable_manifest_is_lost_too(copy: Path) -> None:
    """What it held nobody knows; files that it alone may have named go with it."""
    damage(copy, "commit-00000003.json")
    (lost,) = repair(copy).lost
    assert lost == Lost(3, "unknown", None, lost.problems)
    assert str(lost) == "commit 3 is lost; what it held is not known, because its manifest cannot be read"
    assert check(copy) == []
    assert examine(copy).debris == ()


def test_a_damaged_older_commit_goes_as_well(copy: Path, living: Path) -> None:
    """The newest is whole and stays the index; what cannot be opened any more is no commit."""
    damage(copy, "commit-00000001.json", "00000002-0.deleted")
    done = repair(copy)
    assert (done.commit, [lost.commit for lost in done.lost]) == (3, [2, 1])
    assert check(copy) == []
    assert repr(answers(fader.open(copy))) == repr(answers(fader.open(living)))


def test_where_no_commit_is_whole_nothing_is_changed(copy: Path) -> None:
    """The error says so, with the remedy."""
    damage(copy, "00000001.catalog")
    before = contents(copy)
    with pytest.raises(DamagedError, match=r"no commit of it is whole, so nothing was changed; .* rebuild it"):
        repair(copy)
    assert contents(copy) == before


def test_what_is_no_index_is_told(tmp_path: Path) -> None:
    """Missing, a file, or without a commit."""
    (tmp_path / "file").touch()
    for folder in (tmp_path / "none", tmp_path / "file", tmp_path):
        with pytest.raises(NotAnIndexError):
            repair(folder)


def test_a_later_version_is_not_repaired(copy: Path) -> None:
    """What this release cannot read may be whole: nothing is changed."""
    manifest = unsealed(copy / "commit-00000003.json")
    seal_manifest(copy / "commit-00000004.json", {**manifest, "commit": 4, "format": 99})
    damage(copy, "00000003-0.deleted")
    before = contents(copy)
    with pytest.raises(VersionError, match=r"format version 99; .*nothing was changed"):
        repair(copy)
    assert contents(copy) == before


def test_debris_goes_and_what_is_not_ours_stays(copy: Path) -> None:
    for name in ("00000009-0.terms", "pending-00000004", "notes.txt"):
        (copy / name).write_bytes(b"half")
    assert repair(copy).removed == ("00000009-0.terms", "pending-00000004")
    assert (copy / "notes.txt").exists()


def test_one_writer_at_a_time(copy: Path) -> None:
    """A repair is a writer."""
    damage(copy, "00000003-0.deleted")
    before = contents(copy)
    with lock_for_writing(copy), pytest.raises(StorageError, match="another process is writing"):
        repair(copy)
    assert contents(copy) == before


def test_an_index_lives_on_after_repair(copy: Path) -> None:
    """The next commit has the number of a lost one; nothing of that is left to be mistaken for it."""
    damage(copy, "00000003-0.deleted")
    repair(copy)
    add(copy, [document(90)])
    found = examine(copy)
    assert (found.problems, found.debris) == ([], ())
    assert fader.open(copy, verify=True).collection.documents == 36


class Crash(BaseException):
    """The process ends here."""


def test_a_crash_at_any_moment_leaves_the_same_or_the_repaired_state(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before each removal and each sync: what opened does, what did not is refused, and repairing again ends alike."""
    damage(copy, "00000002-0.terms")
    finished = Path(shutil.copytree(copy, tmp_path / "finished"))
    repair(finished)
    for moment in itertools.count():
        crashed = Path(shutil.copytree(copy, tmp_path / f"crashed-{moment}"))
        with monkeypatch.context() as patch:
            steps = _crash_at(patch, moment)
            try:
                repair(crashed)
                break
            except Crash:
                pass
        assert len(steps) == moment
        _is_borne(crashed, finished)
    assert moment > 10
    assert contents(crashed) == contents(finished)


def _crash_at(patch: pytest.MonkeyPatch, moment: int) -> list[str]:
    """End at the so-manyth removal or sync."""
    steps: list[str] = []

    def counted(name: str, real: Any) -> Any:
        def step(*arguments: Any, **options: Any) -> Any:
            if len(steps) == moment:
                raise Crash
            steps.append(name)
            return real(*arguments, **options)

        return step

    patch.setattr(Path, "unlink", counted("unlink", Path.unlink))
    patch.setattr(os, "unlink", counted("unlink", os.unlink))
    patch.setattr(os, "fsync", counted("fsync", os.fsync))
    patch.setattr(checking, "sync_folder", counted("sync", checking.sync_folder))
    return steps


def _is_borne(crashed: Path, finished: Path) -> None:
    try:
        assert fader.open(crashed, verify=True).commit == 1
    except DamagedError:
        assert "00000002-0.terms" in check(crashed)[0]
    assert repair(crashed).commit == 1
    assert contents(crashed) == contents(finished)


def test_a_power_loss_leaves_the_same_or_the_repaired_state(copy: Path, tmp_path: Path) -> None:
    """Of removals that were not synced any may be lost: any manifests, then, with all manifests gone, any files."""
    damage(copy, "00000002-0.terms")
    finished = Path(shutil.copytree(copy, tmp_path / "finished"))
    removed = repair(finished).removed
    manifests = [name for name in removed if name.startswith("commit-")]
    files = [name for name in removed if name not in manifests]
    assert len(manifests) == 2
    assert len(files) > 6
    states = [set(some) for n in range(3) for some in itertools.combinations(manifests, n)]
    states += [{*manifests, *files[:n]} for n in range(len(files))] + [
        {*manifests, *files[n:]} for n in range(len(files))
    ]
    for i, gone in enumerate(states):
        crashed = Path(shutil.copytree(copy, tmp_path / f"crashed-{i}"))
        for name in gone:
            (crashed / name).unlink()
        _is_borne(crashed, finished)


def test_what_cannot_be_removed_is_told(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that must not be written: an error in the project's words, and nothing is lost."""

    def refused(*_arguments: Any, **_options: Any) -> None:
        raise PermissionError(13, "Permission denied")

    damage(copy, "00000003-0.deleted")
    before = contents(copy)
    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(StorageError, match="cannot be repaired: Permission denied"):
        repair(copy)
    assert contents(copy) == before
