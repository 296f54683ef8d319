"""A manifest is read back whole, or said to be damaged; the newest commit is the index; some older ones are kept."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import convert, to_builtins

from fader.corpus.analysis import Analysis
from fader.errors import DamagedError, NotAnIndexError, StorageError, VersionError
from fader.index import commit
from fader.index.commit import (
    commit_numbers,
    list_commits,
    read_commit,
    remove_debris,
    remove_unneeded,
    write_commit,
)
from fader.index.format import VERSION
from fader.index.manifest import Manifest

PARTS = ("terms", "mentions", "documents", "text")
SUM = "0123456789abcdef"
FORMATS = Path(__file__).parent / "formats"


def segment(name: str, documents: int = 5, deleted: str | None = None) -> dict[str, Any]:
    described: dict[str, Any] = {"name": name, "documents": documents, "tokens": 50, "mentions": 3, "terms": 9}
    described["files"] = {part: {"bytes": 30, "xxh3": SUM} for part in PARTS}
    if deleted:
        described["deleted"] = {"name": deleted, "bytes": 7, "xxh3": SUM, "documents": 2, "tokens": 9, "mentions": 1}
    return described


def fields(number: int, *segments: dict[str, Any]) -> dict[str, Any]:
    return {
        "commit": number, "origin": "0123456789abcdef", "keep": 3, "skipped": {"é\n": 7},
        "operation": {"name": "add", "documents": 4, "replaced": 3, "deleted": 2, "merged": 1},
        "catalog": {"name": "00000001.catalog", "bytes": 1000, "xxh3": SUM, "entities": 1, "types": 1},
        "segments": list(segments or [segment(f"{number:08d}-0")]), "analysis": Analysis().to_dict(),
    }  # fmt: skip


def manifest(number: int, *segments: dict[str, Any]) -> Manifest:
    return convert({"format": VERSION, **fields(number, *segments)}, Manifest)


def place(folder: Path, *manifests: Manifest) -> None:
    """Commit manifests, in this order, with files of a byte each."""
    for made in manifests:
        for name in made.file_names:
            (folder / name).write_bytes(b"x")
        write_commit(folder, made)


def sealed(path: Path, content: Any) -> None:
    """A manifest of any content whose checksum fits."""
    line = content if isinstance(content, str) else json.dumps(content)
    path.write_text(f"{line}\nxxh3:{xxhash.xxh3_64_hexdigest(line.encode())}\n")


def names(folder: Path) -> set[str]:
    return {p.name for p in folder.iterdir()}


def test_a_manifest_comes_back(tmp_path: Path) -> None:
    """As it was written; nothing but the commit is left."""
    write_commit(tmp_path, manifest(1))
    assert read_commit(tmp_path) == manifest(1)
    line = (tmp_path / "commit-00000001.json").read_text(encoding="utf-8").split("\n")[0]
    assert line == json.dumps({"format": VERSION, **fields(1)}, ensure_ascii=False, sort_keys=True)
    assert [p.name for p in tmp_path.iterdir()] == ["commit-00000001.json"]


def test_the_newest_commit_is_the_index(tmp_path: Path) -> None:
    """Older ones are there to be asked for; a pending one does not count."""
    for number in (9, 10, 2):
        write_commit(tmp_path, manifest(number))
    (tmp_path / "pending-00000011").write_text("half")
    assert commit_numbers(tmp_path) == [2, 9, 10]
    assert read_commit(tmp_path).commit == 10
    assert read_commit(tmp_path, 2).commit == 2


def test_a_commit_that_is_not_there_is_said_with_those_that_are(tmp_path: Path) -> None:
    """The user may have meant another, or it is gone."""
    write_commit(tmp_path, manifest(2))
    with pytest.raises(StorageError, match=r"has no commit 1, or no longer; there is commit 2$"):
        read_commit(tmp_path, 1)
    write_commit(tmp_path, manifest(9))
    with pytest.raises(StorageError, match=r"has no commit -9, or no longer; there are commits 2, 9$"):
        read_commit(tmp_path, -9)


def test_a_folder_without_a_commit_is_no_index(tmp_path: Path) -> None:
    """Missing, a file, empty, or full of other things."""
    (tmp_path / "file").touch()
    for path in (tmp_path / "none", tmp_path / "file", tmp_path):
        with pytest.raises(NotAnIndexError) as caught:
            read_commit(path)
        assert str(caught.value).startswith(f"{path}: ")


def test_version_1_has_the_new_keys_too() -> None:
    """It was built, is kept as others are, and has the origin that building it now would give it."""
    found = read_commit(FORMATS / "v1")
    assert found.format == 1
    assert to_builtins(found.operation) == {"name": "build", "documents": 6, "replaced": 0, "deleted": 0, "merged": 0}
    files = json.dumps(to_builtins([found.catalog, found.segments]), sort_keys=True)
    assert (found.origin, found.keep) == (xxhash.xxh3_64_hexdigest(files.encode()), 2)


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
    """A whole manifest of a later format says its version, those that are read, and the remedy."""
    monkeypatch.setattr("fader.index.commit.VERSION", 99)
    write_commit(tmp_path, manifest(1))
    monkeypatch.undo()
    with pytest.raises(VersionError, match=r"format version 99; this release reads 1 to \d+; rebuild the index"):
        read_commit(tmp_path)


def altered(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    made = {"format": 2, **fields(1, segment("00000001-0", deleted="00000001-0.deleted"))}
    change(made)
    return made


ESCAPES = ("../x", "/etc/passwd", "a/b", "..", ".", "", "00000001-0/../x", "0000000१-0", "00000001-0.terms\n", "c:x")


@pytest.mark.parametrize("bad", [*ESCAPES, "00000002-0", "Notes"])
def test_no_name_of_a_manifest_leaves_the_folder(tmp_path: Path, bad: str) -> None:
    """Nor names a file of a later commit, or one that is no file of an index, whatever the checksum says."""
    path = tmp_path / "commit-00000001.json"
    changes: list[Callable[[dict[str, Any]], object]] = [
        lambda m: m["catalog"].update(name=f"{bad}.catalog" if bad.startswith("0") else bad),
        lambda m: m["segments"][0].update(name=bad),
        lambda m: m["segments"][0].update(name=bad, files={}),
        lambda m: m["segments"][0].update(files={bad: {}}),
        lambda m: m["segments"][0]["deleted"].update(name=bad),
    ]
    for change in changes:
        sealed(path, altered(change))
        with pytest.raises(DamagedError) as caught:
            read_commit(tmp_path)
        assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    "content",
    [
        "", "nonsense", "[]", "3", "null", '"text"', "{}", "[" * 100_000, '{"format": 2}',
        altered(lambda m: m.update(commit=2)),
        altered(lambda m: m.update(commit=None)),
        altered(lambda m: m.pop("commit")),
        altered(lambda m: m.update(catalog=[])),
        altered(lambda m: m.update(segments=3)),
        altered(lambda m: m.update(segments=[3])),
        altered(lambda m: m.update(segments=[{}])),
        altered(lambda m: m["segments"][0].update(name=7)),
        altered(lambda m: m["segments"][0].update(files=["terms"])),
        altered(lambda m: m["segments"][0].update(deleted=7)),
        altered(lambda m: m["segments"][0].update(deleted={"x": 1})),
        altered(lambda m: m["segments"][0].pop("documents")),
        altered(lambda m: m["segments"][0].update(tokens="50")),
        altered(lambda m: m["segments"][0].update(mentions=0)),
        altered(lambda m: m["segments"][0]["deleted"].update(documents=-1)),
        altered(lambda m: m["segments"][0]["deleted"].pop("tokens")),
        altered(lambda m: m.pop("analysis")),
        altered(lambda m: m.update(skipped=[])),
        altered(lambda m: m.update(keep=0)),
        altered(lambda m: m.update(keep="2")),
        altered(lambda m: m.update(origin=2)),
        altered(lambda m: m.update(operation="add")),
        altered(lambda m: m.update(operation={"name": "add"})),
        altered(lambda m: m["operation"].update(merged="many")),
    ],
)  # fmt: skip
def test_a_manifest_that_was_made_to_harm_is_damage(tmp_path: Path, content: Any) -> None:
    """Its checksum fits, but it is no manifest, or not of this commit."""
    path = tmp_path / "commit-00000001.json"
    sealed(path, content)
    with pytest.raises(DamagedError) as caught:
        read_commit(tmp_path)
    assert str(caught.value).startswith(f"{path}: ")
    assert list_commits(tmp_path)[0].problem == str(caught.value)


def test_file_names_are_all_files_of_a_commit() -> None:
    """Of every segment its parts and its tombstones."""
    made = manifest(3, segment("00000001-0", deleted="00000003-0.deleted"), segment("00000002-1"))
    parts = {f"{name}.{part}" for name in ("00000001-0", "00000002-1") for part in PARTS}
    assert set(made.file_names) == {"00000001.catalog", "00000003-0.deleted"} | parts


def test_only_what_newer_commits_replaced_is_removed(tmp_path: Path) -> None:
    """Files and commits of old, debris of unfinished ones; nothing that a kept commit names or that is not ours."""
    kept = [segment("00000001-0", deleted="00000003-0.deleted"), segment("00000003-0")]
    place(
        tmp_path, manifest(1, segment("00000001-0"), segment("00000001-1")),
        manifest(2, segment("00000001-0", deleted="00000002-0.deleted"), segment("00000001-1")), manifest(3, *kept),
    )  # fmt: skip
    for name in ("pending-00000004", "00000004-0.text", "notes.txt", "commit.json", "pending"):
        (tmp_path / name).touch()
    others = {"notes.txt", "commit.json", "pending"}
    remove_unneeded(tmp_path, 2)
    both = {*read_commit(tmp_path, 2).file_names, *read_commit(tmp_path, 3).file_names}
    assert names(tmp_path) == both | others | {"commit-00000002.json", "commit-00000003.json"}
    remove_unneeded(tmp_path, 1)
    assert names(tmp_path) == {*manifest(3, *kept).file_names, "commit-00000003.json"} | others
    remove_unneeded(tmp_path, 0)
    assert names(tmp_path) == {*manifest(3, *kept).file_names, "commit-00000003.json"} | others


@settings(deadline=None)
@given(data=st.data())
def test_any_history_keeps_what_kept_commits_name(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever segments come and go, the files that stay are those that the newest commits name, and no other."""
    folder = tmp_path_factory.mktemp("history")
    keep = data.draw(st.integers(1, 4))
    made: list[Manifest] = []
    stored: list[str] = []
    for number in range(1, data.draw(st.integers(1, 6)) + 1):
        stored = [s for s in stored if data.draw(st.booleans())] + [f"{number:08d}-0"]
        dead = [f"{number:08d}-{i}.deleted" if data.draw(st.booleans()) else None for i in range(len(stored))]
        made.append(manifest(number, *(segment(s, deleted=d) for s, d in zip(stored, dead, strict=True))))
        place(folder, made[-1])
        remove_unneeded(folder, keep)
        expected = {name for m in made[-keep:] for name in m.file_names}
        assert names(folder) == expected | {f"commit-{m.commit:08d}.json" for m in made[-keep:]}


def test_nothing_is_removed_that_an_unreadable_commit_could_need(tmp_path: Path) -> None:
    """All of its time and older stays, to be repaired from; later debris and replaced files go. Nothing fails."""
    place(tmp_path, *(manifest(n) for n in (1, 2, 3, 4)))
    (tmp_path / "commit-00000003.json").write_text("damaged")
    before = names(tmp_path)
    for name in ("00000004-9.terms", "00000005-0.terms", "pending-00000005"):
        (tmp_path / name).touch()
    remove_unneeded(tmp_path, 2)
    assert names(tmp_path) == before
    remove_unneeded(tmp_path, 1)
    assert names(tmp_path) == {*manifest(4).file_names, "commit-00000004.json"}
    (tmp_path / "commit-00000004.json").write_text("damaged")
    remove_unneeded(tmp_path, 1)
    assert names(tmp_path) == {*manifest(4).file_names, "commit-00000004.json"}


def test_what_cannot_be_removed_stays_until_the_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit is published: no failure of cleaning up is one of the operation, or leaves a commit in pieces."""
    place(tmp_path, *(manifest(n) for n in (1, 2, 3)))
    everything, real = names(tmp_path), os.unlink
    for refusing in everything:

        def unlink(path: Any, *args: Any, refusing: str = refusing, **named: Any) -> None:
            if os.path.basename(path) == refusing:
                raise OSError(5, "Input/output error")
            real(path, *args, **named)

        place(tmp_path, *(manifest(n) for n in (1, 2, 3)))
        monkeypatch.setattr(os, "unlink", unlink)
        remove_unneeded(tmp_path, 1)
        monkeypatch.undo()
        for number in commit_numbers(tmp_path):
            assert set(read_commit(tmp_path, number).file_names) <= names(tmp_path)
        remove_unneeded(tmp_path, 1)
        assert names(tmp_path) == {*manifest(3).file_names, "commit-00000003.json"}


def test_manifests_go_for_good_before_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is synced between the two, so that a power loss leaves no commit whose files are gone."""
    place(tmp_path, *(manifest(n) for n in (1, 2, 3)))
    done: list[str] = []
    real = os.unlink

    def unlink(path: Any, *args: Any, **named: Any) -> None:
        done.append(os.path.basename(path))
        real(path, *args, **named)

    monkeypatch.setattr(os, "unlink", unlink)
    monkeypatch.setattr(commit, "sync_folder", lambda _folder: done.append("sync"))
    remove_unneeded(tmp_path, 1)
    at = done.index("sync")
    assert set(done[:at]) == {"commit-00000001.json", "commit-00000002.json"}
    assert {name for name in done[at:] if name.endswith((".terms", ".text"))} >= {"00000001-0.terms", "00000002-0.text"}


def test_a_folder_that_cannot_be_listed_is_cleaned_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when it is gone: no failure of cleaning up is one of the operation."""
    place(tmp_path, manifest(1), manifest(2))
    everything = names(tmp_path)

    def refuse(*_args: Any) -> None:
        raise OSError(24, "Too many open files")

    for function in ("listdir", "open", "fsync"):
        monkeypatch.setattr(os, function, refuse)
        remove_unneeded(tmp_path, 1)
        monkeypatch.undo()
        assert set(manifest(2).file_names) | {"commit-00000002.json"} <= names(tmp_path) <= everything
    remove_unneeded(tmp_path / "gone", 1)
    remove_unneeded(tmp_path, 1)
    assert names(tmp_path) == {*manifest(2).file_names, "commit-00000002.json"}


def test_a_commit_that_failed_late_goes_before_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debris may have a manifest, when the last sync failed; at no moment is it there without its files."""
    place(tmp_path, manifest(1), manifest(2))
    real = os.unlink

    def unlink(path: Any, *args: Any, **named: Any) -> None:
        real(path, *args, **named)
        assert set(manifest(2).file_names) <= names(tmp_path) or commit_numbers(tmp_path) == [1]

    monkeypatch.setattr(os, "unlink", unlink)
    remove_debris(tmp_path, 1)
    assert names(tmp_path) == {*manifest(1).file_names, "commit-00000001.json"}


def test_debris_is_what_later_commits_left(tmp_path: Path) -> None:
    """Files, tombstones, pending manifests; nothing up to the commit, nothing that is not ours."""
    place(tmp_path, manifest(1), manifest(2))
    before = names(tmp_path) | {"00000003.txt.old", "notes"}
    for name in ("00000003-0.text", "00000003-1.deleted", "00000003.catalog", "pending-00000003", *before):
        (tmp_path / name).touch()
    remove_debris(tmp_path, 2)
    assert names(tmp_path) == before


def test_commits_are_told_of(tmp_path: Path) -> None:
    """Number, operation, documents that live, segments, bytes and time of each; one that is damaged as such."""
    place(tmp_path, manifest(1, segment("00000001-0", 5)))
    place(tmp_path, manifest(4, segment("00000001-0", 5, "00000004-0.deleted"), segment("00000004-0", 30)))
    place(tmp_path, manifest(5))
    (tmp_path / "commit-00000005.json").write_text("damaged")
    os.utime(tmp_path / "commit-00000004.json", (86_400, 86_400))
    first, second, third = list_commits(tmp_path)
    assert (first.number, first.documents, first.deleted, first.segments, first.bytes) == (1, 5, 0, 1, 1120)
    assert (second.number, second.documents, second.deleted, second.segments, second.bytes) == (4, 33, 2, 2, 1247)
    assert (second.operation, second.problem) == (manifest(4).operation, None)
    assert second.time.isoformat() == "1970-01-02T00:00:00+00:00"
    assert third.number == 5
    assert third.problem == f"{tmp_path / 'commit-00000005.json'}: the manifest is damaged or missing"
