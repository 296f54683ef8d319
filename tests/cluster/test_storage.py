"""Files are there whole or not at all, and copies of an index are checked. `local://` stands for another storage."""

from __future__ import annotations

import errno
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cluster.corpora import catalog, corpus, files_of
from fader.cluster import storage
from fader.cluster.build.driver import ClusterBuildOptions, build
from fader.cluster.hosts.cache import local_folder
from fader.cluster.storage import (
    RemoteStorage,
    describe_file,
    expand_paths,
    is_plain,
    mask_passwords,
    plain_path,
    storage_of,
)
from fader.errors import ClusterError, DamagedError, InputError, StorageError, UsageError
from fader.index.lock import lock_for_writing
from fader.index.reader import IndexReader
from fader.index.verify.check import check
from fader.jobs.runners import InProcess
from fader.jobs.storage import LocalFolder

pytest.importorskip("fsspec", reason="fsspec is not installed; pip install -e '.[cluster]'")


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("given")
    return {"folder": folder, "corpus": corpus(folder, count=80), **catalog(folder)}


def built(given: dict[str, Any], out: str, sources: list[str] | None = None) -> Any:
    how = ClusterBuildOptions(3, piece_bytes=9_000)
    return build(out, sources or given["corpus"], given["entities"], given["types"], how, InProcess())


def test_what_is_plain() -> None:
    assert is_plain("/a/b")
    assert is_plain("a")
    assert is_plain("file:///a/b")
    assert plain_path("file:///a/b") == Path("/a/b")
    assert not is_plain("s3://bucket/a")
    with pytest.raises(UsageError, match="three slashes"):
        plain_path("file://a/b")


@pytest.mark.parametrize("kind", ["", "local://"])
def test_a_folder_of_either_kind(tmp_path: Path, kind: str) -> None:
    """Written, put, doubled, listed, read and removed; no file of another name is left."""
    folder = storage_of(f"{kind}{tmp_path}/out")
    assert folder.names() == {}
    folder.make("deep/er")
    folder.write("deep/one", b"first")
    folder.write("deep/one", b"1")
    with folder.workspace() as work:
        (work / "made").write_bytes(b"22")
        folder.put({work / "made": "deep/two"})
    folder.double("deep/two", "three")
    folder.double("deep/two", "three")
    assert folder.names("deep") == {"one": 1, "two": 2}
    assert folder.names() == {"three": 2}
    with folder.open("deep/two") as file:
        file.seek(1)
        assert file.read() == b"2"
    folder.remove_folder("deep")
    folder.remove_folder("deep")
    assert folder.names("deep") == {}
    assert folder.read("three") == b"22"
    with pytest.raises(FileNotFoundError):
        folder.read("deep/one")
    assert sorted(path.name for path in (tmp_path / "out").rglob("*")) == ["three"]


def test_a_file_that_goes_while_a_folder_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is not listed, and all others are."""

    class Entries(list[Any]):
        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_error: object) -> None:
            pass

    folder = storage_of(tmp_path)
    for name in ("a", "b", "c"):
        folder.write(name, b"1")
    entries = Entries(os.scandir(tmp_path))
    (tmp_path / "b").rename(tmp_path / "d")
    monkeypatch.setattr(os, "scandir", lambda _path: entries)
    assert folder.names() == {"a": 1, "c": 1}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sftp://me:se:c@ret@host/a", "sftp://me:***@host/a"),
        ("sftp://me@host:22/a", "sftp://me@host:22/a"),
        ("s3://bucket/a:b@c", "s3://bucket/a:b@c"),
        ("zip://a::ftp://me:secret@host/a and ftp://:x@b", "zip://a::ftp://me:***@host/a and ftp://:***@b"),
        ("/a:b@c", "/a:b@c"),
    ],
)
def test_passwords_are_masked(url: str, shown: str) -> None:
    assert mask_passwords(url) == shown == mask_passwords(shown)


def test_no_password_is_kept_or_told(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in the plan of an unfinished build, nor in errors of a task or of the command; who has another password goes
    on with the same build."""
    import fsspec

    memory = fsspec.filesystem("memory")
    for path in [*given["corpus"], given["entities"], given["types"]]:
        memory.put_file(path, f"/in/{Path(path).name}")
    monkeypatch.setattr(storage, "_system", lambda url: (memory, "/" + url.partition("@host/")[2].rstrip("/")))

    def far(password: str, name: str) -> str:
        return f"memory://me:{password}@host/{name}"

    def run(password: str) -> Any:
        names = {name: far(password, f"in/{name}.tsv") for name in ("entities", "types")}
        return built(names, far(password, "out"), [far(password, "in/part-0.jsonl")])

    with monkeypatch.context() as patch:
        patch.setattr("fader.cluster.build.tasks.check_unchanged", _failing)
        with pytest.raises(ClusterError, match=r"memory://me:\*\*\*@host/out: RuntimeError: slow") as failed:
            run("secret")
    assert "secret" not in str(failed.value)
    assert all(b"secret" not in memory.cat_file(path) for path in memory.find("/out"))
    with pytest.raises(InputError, match=r"memory://me:\*\*\*@host/gone: no such file"):
        describe_file(far("secret", "gone"))
    assert run("changed").built.manifest.commit == 1
    with pytest.raises(StorageError, match=r"memory://me:\*\*\*@host/out: holds an index already"):
        run("secret")
    for folder in ("/in", "/out"):
        memory.rm(folder, recursive=True)


def _failing(*_given: Any) -> None:
    raise RuntimeError("slow")


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = storage_of(tmp_path)
    folder.write("one", b"old")

    def fails(*_given: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="no space"):
        folder.write("one", b"new")
    assert folder.read("one") == b"old"


def test_a_file_system_without_second_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There a file is copied."""

    def fails(*_given: Any) -> None:
        raise OSError("operation not permitted")

    monkeypatch.setattr(os, "link", fails)
    folder = storage_of(tmp_path)
    folder.write("one", b"1")
    folder.double("one", "two")
    folder.double("one", "two")
    assert folder.read("two") == folder.read("one") == b"1"


def test_sources(given: dict[str, Any], tmp_path: Path) -> None:
    """A source that was replaced by another is told apart; what cannot be read is said."""
    path = given["corpus"][0]
    assert describe_file(path) == describe_file(path)
    assert describe_file(f"local://{path}").bytes == describe_file(path).bytes == Path(path).stat().st_size
    (tmp_path / "a").write_text("x")
    before = describe_file(str(tmp_path / "a"))
    os.utime(tmp_path / "a", ns=(5, 5))
    assert describe_file(str(tmp_path / "a")) != before
    for kind in ("", "local://"):
        with pytest.raises(InputError, match="no such file"):
            describe_file(f"{kind}{tmp_path}/gone")
        with pytest.raises(InputError, match="is a folder"):
            describe_file(f"{kind}{tmp_path}")
    with pytest.raises(UsageError, match="nosuch"):
        describe_file("nosuch://bucket/a")


def test_a_star_in_a_url(given: dict[str, Any]) -> None:
    folder = given["folder"]
    found = expand_paths([f"local://{folder}/part-*", "/a/b*"])
    assert [Path(path).name for path in found] == ["part-0.jsonl", "part-1.jsonl.gz", "part-2.jsonl", "b*"]
    with pytest.raises(InputError, match="no file matches"):
        expand_paths([f"local://{folder}/none-*"])


def test_an_index_elsewhere(given: dict[str, Any], tmp_path: Path) -> None:
    """Built from and to URLs, it has the bytes of a plain build; a cached copy opens and is whole; what is in the cache
    is not copied again, and of the segments only those that are asked for are."""
    built(given, f"{tmp_path}/plain")
    url = f"local://{tmp_path}/far"
    built(given, url, [f"local://{path}" for path in given["corpus"]])
    ours, theirs = files_of(tmp_path / "far"), files_of(tmp_path / "plain")
    assert {k: v for k, v in ours.items() if "commit" not in k} == {
        k: v for k, v in theirs.items() if "commit" not in k
    }
    some = local_folder(url, segments=[1], cache=tmp_path / "some")
    assert {path.name.partition(".")[0] for path in some.iterdir()} == {"commit-00000001", "00000001", "00000001-1"}
    folder = local_folder(url, cache=tmp_path / "cache")
    assert files_of(folder) == ours
    assert check(folder) == []
    times = {path: path.stat().st_ino for path in folder.iterdir()}
    assert local_folder(url, commit=1, cache=tmp_path / "cache") == folder
    assert {path: path.stat().st_ino for path in folder.iterdir()} == times
    with pytest.raises(StorageError, match="no commit 7"):
        local_folder(url, commit=7, cache=tmp_path / "cache")
    assert local_folder(f"{tmp_path}/plain") == tmp_path / "plain"


def test_an_object_store(given: dict[str, Any], tmp_path: Path) -> None:
    """One whose objects are seen when they are whole, and which has no folders: fsspec's own in memory."""
    import fsspec

    memory = fsspec.filesystem("memory")
    for path in [*given["corpus"], given["entities"], given["types"]]:
        memory.put_file(path, f"/test/in/{Path(path).name}")
    far = {"entities": "memory://test/in/entities.tsv", "types": "memory://test/in/types.tsv"}
    found = built(far, "memory://test/out", ["memory://test/in/part-*"])
    here = built(given, f"{tmp_path}/plain")
    assert found.built.faults.counts == here.built.faults.counts
    folder = local_folder("memory://test/out", cache=tmp_path / "cache")
    assert files_of(folder) == files_of(tmp_path / "plain")
    assert storage_of("memory://test/out").names(".unfinished") == {}
    memory.rm("/test", recursive=True)


def test_a_name_that_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some storages do not rename over a file: it goes first."""
    folder = RemoteStorage(f"local://{tmp_path}")
    folder.write("one", b"old")
    mv = folder._system.mv

    def refuses(source: str, target: str) -> None:
        if Path(target).exists():
            raise FileExistsError(target)
        mv(source, target)

    monkeypatch.setattr(folder._system, "mv", refuses)
    folder.write("one", b"new")
    assert folder.read("one") == b"new"
    assert folder.names() == {"one": 3}


def test_workspaces_of_the_dead_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those that are held or were made just now."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = RemoteStorage(f"local://{tmp_path}")
    old = [tmp_path / f"{storage.WORKSPACE}{name}" for name in ("dead", "held", "other")]
    for place in old:
        place.mkdir()
        os.utime(place, (1, 1))
    (tmp_path / f"{storage.WORKSPACE}young").mkdir()
    os.rename(old[2], tmp_path / "fader-other")
    with lock_for_writing(old[1]), folder.workspace() as work:
        (work / "file").write_bytes(b"1")
        assert {path.name for path in tmp_path.iterdir()} == {
            f"{storage.WORKSPACE}held", f"{storage.WORKSPACE}young", "fader-other", work.name,
        }  # fmt: skip
    assert not work.exists()


def test_a_cache_that_cannot_be_written_is_named(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the storage, which is well."""
    built(given, f"local://{tmp_path}/far")

    def full(*_given: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(LocalFolder, "write", full)
    with pytest.raises(StorageError, match=r"cache.*No space left on device.*FADER_CLUSTER_CACHE"):
        local_folder(f"local://{tmp_path}/far", cache=tmp_path / "cache")


def test_a_damaged_copy_is_replaced_and_a_damaged_original_refused(given: dict[str, Any], tmp_path: Path) -> None:
    url = f"local://{tmp_path}/far"
    built(given, url)
    folder = local_folder(url, cache=tmp_path / "cache")
    victim = folder / "00000001-0.terms"
    victim.write_bytes(victim.read_bytes()[:-1])
    assert check(local_folder(url, cache=tmp_path / "cache")) == []
    original = tmp_path / "far" / "00000001-0.terms"
    data = bytearray(original.read_bytes())
    data[3] ^= 1
    original.write_bytes(bytes(data))
    with pytest.raises(DamagedError):
        local_folder(url, cache=tmp_path / "other")
    assert not list((tmp_path / "other").rglob("*.terms*"))


def test_a_copy_that_is_removed_just_now_is_made_again(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another process, which bounds the cache."""
    url = f"local://{tmp_path}/far"
    built(given, url)
    folder = local_folder(url, cache=tmp_path / "cache")
    whole, touched = files_of(folder), os.utime

    def evicted(path: Path) -> None:
        path.unlink()
        touched(path)

    monkeypatch.setattr(os, "utime", evicted)
    assert files_of(local_folder(url, cache=tmp_path / "cache")) == whole


def test_several_fill_one_cache(given: dict[str, Any], tmp_path: Path) -> None:
    url = f"local://{tmp_path}/far"
    built(given, url)
    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(lambda _n: local_folder(url, cache=tmp_path / "cache"), range(16)))
    assert len(set(folders)) == 1
    assert files_of(folders[0]) == files_of(tmp_path / "far")
    assert IndexReader(folders[0]).documents > 0


def test_the_cache_is_bounded(given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not asked for longest goes, but no file that is no copy; what is mapped stays readable."""
    built(given, f"local://{tmp_path}/one")
    built(given, f"local://{tmp_path}/two")
    cache = tmp_path / "cache"
    first = local_folder(f"local://{tmp_path}/one", cache=cache)
    reader = IndexReader(first)
    (cache / "mine").mkdir()
    for path in [*first.iterdir(), cache / "mine" / "letter.txt", first / "letter.txt"]:
        path.touch()
        os.utime(path, (1, 1))
    second = local_folder(f"local://{tmp_path}/two", cache=cache, most_mb=0)
    assert list(first.iterdir()) == [first / "letter.txt"]
    assert (cache / "mine" / "letter.txt").exists()
    assert files_of(second) == files_of(tmp_path / "two")
    assert reader.document_id(0)
    assert storage.YOUNG_SECONDS > 0
