"""A manifest is read back whole, or said to be damaged; the newest commit is the index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fader.errors import DamagedError, NotAnIndexError, VersionError
from fader.index.commit import commit_numbers, file_names, read_commit, remove_unneeded, write_commit


def manifest(number: int) -> dict[str, Any]:
    segment = {"name": f"{number:08d}-0", "files": {"terms": {}, "text": {}}}
    return {"commit": number, "catalog": {"name": f"{number:08d}.catalog"}, "segments": [segment], "note": "é\n"}


def test_a_manifest_comes_back(tmp_path: Path) -> None:
    """As it was written; nothing but the commit is left."""
    write_commit(tmp_path, manifest(1))
    found = read_commit(tmp_path)
    assert {key: found[key] for key in manifest(1)} == manifest(1)
    assert [p.name for p in tmp_path.iterdir()] == ["commit-00000001.json"]


def test_the_newest_commit_is_the_index(tmp_path: Path) -> None:
    """Older ones are there to be asked for; a pending one does not count."""
    for number in (9, 10, 2):
        write_commit(tmp_path, manifest(number))
    (tmp_path / "pending-00000011").write_text("half")
    assert commit_numbers(tmp_path) == [2, 9, 10]
    assert read_commit(tmp_path)["commit"] == 10
    assert read_commit(tmp_path, 2)["commit"] == 2
    with pytest.raises(DamagedError, match=r"commit-00000003\.json: the manifest is damaged or missing"):
        read_commit(tmp_path, 3)


def test_a_folder_without_a_commit_is_no_index(tmp_path: Path) -> None:
    """Missing, a file, empty, or full of other things."""
    (tmp_path / "file").touch()
    for path in (tmp_path / "none", tmp_path / "file", tmp_path):
        with pytest.raises(NotAnIndexError) as caught:
            read_commit(path)
        assert str(caught.value).startswith(f"{path}: ")


def refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(DamagedError) as caught:
        read_commit(path.parent)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_no_flipped_byte_of_a_manifest_is_accepted(tmp_path: Path, mask: int) -> None:
    """Not even where the rest would still be JSON, or another version."""
    write_commit(tmp_path, manifest(1))
    path = tmp_path / "commit-00000001.json"
    whole = path.read_bytes()
    for i in range(len(whole)):
        refused(path, whole[:i] + bytes([whole[i] ^ mask]) + whole[i + 1 :])


def test_no_cut_or_extended_manifest_is_accepted(tmp_path: Path) -> None:
    """Neither shorter nor longer."""
    write_commit(tmp_path, manifest(1))
    path = tmp_path / "commit-00000001.json"
    whole = path.read_bytes()
    for size in range(len(whole)):
        refused(path, whole[:size])
    for more in (b"\n", b" ", b"\0", whole):
        refused(path, whole + more)
        refused(path, more + whole)


def test_a_line_end_of_another_kind_is_damage(tmp_path: Path) -> None:
    """A manifest that an editor or a transfer has touched is not the one that was synced."""
    write_commit(tmp_path, manifest(1))
    path = tmp_path / "commit-00000001.json"
    whole = path.read_bytes()
    for end in (b"\r", b"\r\n"):
        refused(path, whole.replace(b"\n", end))


def test_another_version_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole manifest of a later format says its version, the one that is read, and the remedy."""
    monkeypatch.setattr("fader.index.commit.VERSION", 99)
    write_commit(tmp_path, manifest(1))
    monkeypatch.undo()
    with pytest.raises(VersionError, match=r"format version 99; this release reads \d+; rebuild the index"):
        read_commit(tmp_path)


def test_only_what_a_newer_commit_replaced_is_removed(tmp_path: Path) -> None:
    """Files and commits of old, debris of unfinished ones; nothing that is not ours."""
    for number in (1, 2):
        for name in file_names(manifest(number)):
            (tmp_path / name).touch()
        write_commit(tmp_path, manifest(number))
    for name in ("pending-00000003", "00000003-0.text", "notes.txt", "commit.json"):
        (tmp_path / name).touch()
    remove_unneeded(tmp_path, manifest(2))
    kept = {p.name for p in tmp_path.iterdir()}
    assert kept == {*file_names(manifest(2)), "commit-00000002.json", "notes.txt", "commit.json"}
