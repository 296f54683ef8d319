"""The disk that loses what was not synced: it forgets all that POSIX allows, and nothing else."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from durability.calls import Call, recorder, watched
from durability.disk import PAGE, Disk, Tree, tree_of
from durability.history import scratch


def sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def put(path: Path, data: bytes, is_synced: bool = False) -> None:
    with open(path, "wb") as file:
        file.write(data)
        if is_synced:
            file.flush()
            os.fsync(file.fileno())


def after(work: Callable[[Path], None], start: Tree | None = None, draws: int = 200) -> tuple[Tree, list[Tree]]:
    """What work in a folder leaves while the power stays, and what it may leave when it goes."""
    calls: list[Call] = []
    with scratch() as root:
        for path, content in (start or {}).items():
            (root / path).write_bytes(content or b"")
        disk = Disk(str(root), start)
        with watched(root, recorder(calls)):
            work(root)
        for call in calls:
            disk.do(call)
        assert disk.all_kept() == tree_of(root)
        return tree_of(root), list(disk.crashes(random.Random(1), draws))


def contents(trees: list[Tree], name: str) -> set[bytes | None]:
    """What a file may hold; None where it may be missing."""
    return {tree.get(name) for tree in trees}


def test_a_file_without_any_sync_may_be_anything() -> None:
    """Missing, empty, a prefix, zeros, some of its pages with zeros between them, or whole."""
    data = random.Random(0).randbytes(3 * PAGE)
    _whole, trees = after(lambda root: put(root / "a", data))
    found = contents(trees, "a")
    assert {None, b"", data, bytes(len(data))} <= found
    assert data[:PAGE] + bytes(PAGE) + data[2 * PAGE :] in found
    assert any(one and data.startswith(one) and len(one) % PAGE for one in found if one != data)
    assert all(one is None or len(one) <= len(data) for one in found)


def test_the_sync_of_a_file_saves_its_content_and_not_its_name() -> None:
    """Whole or missing, nothing between."""
    _whole, trees = after(lambda root: put(root / "a", b"content", is_synced=True))
    assert contents(trees, "a") == {None, b"content"}


def test_the_sync_of_a_folder_saves_names_and_not_contents() -> None:
    """The file is there; what it holds is not certain."""

    def work(root: Path) -> None:
        put(root / "a", b"content")
        sync(root)

    _whole, trees = after(work)
    assert {b"", b"content", bytes(7)} <= contents(trees, "a")
    assert None not in contents(trees, "a")


def test_a_rename_happens_or_not() -> None:
    """One of the two names is there, never both, never neither; a file that was there before is replaced whole."""
    _whole, trees = after(lambda root: os.rename(root / "new", root / "old"), {"new": b"1", "old": b"0"})
    assert sorted({tuple(sorted(tree.items())) for tree in trees}) == [
        (("new", b"1"), ("old", b"0")), (("old", b"1"),),
    ]  # fmt: skip


def test_changes_of_a_folder_are_lost_each_by_itself() -> None:
    """A later one may arrive without the earlier, as far as no sync of the folder is between them."""

    def work(root: Path) -> None:
        os.unlink(root / "a")
        put(root / "b", b"", is_synced=True)
        sync(root)
        os.unlink(root / "c")
        put(root / "d", b"", is_synced=True)

    _whole, trees = after(work, {"a": b"", "c": b""})
    assert {frozenset(tree) for tree in trees} == {
        frozenset("bc"), frozenset("b"), frozenset("bcd"), frozenset("bd"),
    }  # fmt: skip


def test_what_lies_in_a_folder_is_lost_with_its_name() -> None:
    """A folder whose own name is not safe takes all of it along, however often it was synced itself."""

    def work(root: Path) -> None:
        os.mkdir(root / "folder")
        put(root / "folder" / "a", b"content", is_synced=True)
        sync(root / "folder")
        os.rename(root / "folder", root / "moved")

    whole, trees = after(work)
    assert whole == {"moved": None, "moved/a": b"content"}
    assert {frozenset(tree) for tree in trees} == {
        frozenset(), frozenset({"folder", "folder/a"}), frozenset({"moved", "moved/a"}),
    }  # fmt: skip


def test_a_tree_that_is_removed_is_seen_to_go() -> None:
    """By handles of folders, as shutil does it."""

    def work(root: Path) -> None:
        os.mkdir(root / "folder")
        put(root / "folder" / "a", b"", is_synced=True)
        sync(root)
        shutil.rmtree(root / "folder")

    whole, trees = after(work)
    assert whole == {}
    assert {frozenset(tree) for tree in trees} >= {frozenset(), frozenset({"folder"})}


def test_what_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    """No change below the root goes unseen."""
    with watched(tmp_path, recorder([])):
        for change in (
            lambda: open(tmp_path / "a", "ab"),  # noqa: SIM115  it is not opened
            lambda: os.symlink(tmp_path / "a", tmp_path / "b"),
            lambda: os.open(tmp_path / "a", os.O_WRONLY | os.O_CREAT),
        ):
            with pytest.raises(AssertionError, match="not shown"):
                change()
    assert not list(tmp_path.iterdir())


names = st.sampled_from("abc")
steps = st.one_of(
    st.tuples(st.just("put"), names, st.binary(max_size=20), st.booleans()),
    st.tuples(st.just("rename"), names, names),
    st.tuples(st.just("unlink"), names),
    st.tuples(st.just("sync")),
)


def do(root: Path, step: tuple[object, ...]) -> None:
    """A step, as far as it is possible."""
    if step[0] == "put":
        put(root / str(step[1]), bytes(step[2]), bool(step[3]))  # type: ignore[call-overload]
    elif step[0] == "sync":
        sync(root)
    elif step[0] == "unlink":
        (root / str(step[1])).unlink(missing_ok=True)
    elif (root / str(step[1])).exists() and step[1] != step[2]:
        os.rename(root / str(step[1]), root / str(step[2]))


@settings(deadline=None, max_examples=100)
@given(st.lists(steps, max_size=12))
def test_what_is_synced_stays_and_what_stays_was_written(done: list[tuple[object, ...]]) -> None:
    """All calls are seen; with everything synced at the end one state is left; every content comes from one writing."""

    def work(root: Path) -> None:
        for step in done:
            do(root, step)

    def safely(root: Path) -> None:
        work(root)
        for path in sorted(root.iterdir()):
            put(path, path.read_bytes(), is_synced=True)
        sync(root)

    written = [bytes(step[2]) for step in done if step[0] == "put"]  # type: ignore[call-overload]
    _whole, trees = after(work, draws=20)
    for content in {content for tree in trees for content in tree.values()}:
        assert content is not None
        assert any(all(a in (0, b) for a, b in zip(content, one, strict=False)) for one in [*written, b""])
    whole, trees = after(safely, draws=20)
    assert all(tree == whole for tree in trees)
