"""Bad input and bad luck: each gives the promised error, and leaves no half-built index behind.

Everything goes through `fader.build` and `fader.open`. A full disk is played by failing every write or sync in
turn, and by a limit on the size of files in a process of its own.
"""

from __future__ import annotations

import builtins
import errno
import gzip
import io
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import fader
from fader.errors import (
    CatalogError,
    CorpusError,
    DamagedError,
    FaderError,
    InputError,
    NotAnIndexError,
    StorageError,
    VersionError,
)

ENTITIES = [{"id": "E", "name": "Einstein", "types": ["T"]}, {"id": "F", "name": "Fermi", "types": []}]
TYPES = [{"id": "T", "name": "Thing"}]


def document(number: int, **fields: Any) -> dict[str, Any]:
    mentions = [{"start": 0, "end": 8, "entity": "E"}, {"start": 13, "end": 18, "entity": "F", "confidence": 0.5}]
    return {"id": f"d{number}", "text": f"Einstein met Fermi {number} times", "mentions": mentions, **fields}


CORPUS = [document(i) for i in range(6)]


def build(path: Path, **options: Any) -> fader.Index:
    return fader.build(path, **{"corpus": CORPUS, "entities": ENTITIES, "types": TYPES, **options})


def corpus_of(folder: Path, *lines: str | dict[str, Any]) -> Path:
    path = folder / "corpus.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8")
    return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder that holds nothing but what builds put there."""
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


def refused(place: Path, error: type[FaderError], **options: Any) -> str:
    """The message of a build that fails with just this error and leaves nothing behind."""
    with pytest.raises(FaderError) as caught:
        build(place / "index", **options)
    assert type(caught.value) is error, caught.value
    assert os.listdir(place) == []
    return str(caught.value)


# ------------------------------------------------------------------------------------------ the corpus


@pytest.mark.parametrize("policy", ["skip", "fail"])
def test_a_truncated_gz(tmp_path: Path, place: Path, policy: str) -> None:
    """An error with the file and the last whole line, whatever the policy."""
    path = tmp_path / "corpus.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, CORPUS)).encode())[:-9])
    message = refused(place, InputError, corpus=path, on_error=policy)
    assert message.startswith(f"{path}: damaged or cut short after line 5 ")


MENTION_FAULTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "out of range": ({"start": 13, "end": 99, "entity": "F"}, "mentions outside the text", "mention 13-99 "),
    "negative": ({"start": -1, "end": 8, "entity": "F"}, "mentions outside the text", "mention -1-8 "),
    "reversed": ({"start": 8, "end": 0, "entity": "F"}, "mentions outside the text", "mention 8-0 "),
    "empty": ({"start": 8, "end": 8, "entity": "F"}, "mentions outside the text", "mention 8-8 "),
    "huge": ({"start": 0, "end": 2**80, "entity": "F"}, "mentions outside the text", f"mention 0-{2**80} "),
    "no token": ({"start": 8, "end": 9, "entity": "F"}, "mentions that cover no token", "mention 8-9 "),
    "unknown entity": ({"start": 0, "end": 8, "entity": "G"}, "mentions of unknown entities", 'names "G"'),
    "no entity": ({"start": 0, "end": 8}, "incomplete mentions", "needs start, end and entity"),
    "no end": ({"start": 0, "entity": "E"}, "incomplete mentions", "needs start, end and entity"),
}
mention_faults = pytest.mark.parametrize(
    ("mention", "kind", "reason"), MENTION_FAULTS.values(), ids=MENTION_FAULTS.keys()
)


@mention_faults
def test_a_faulty_mention_is_skipped(
    tmp_path: Path, place: Path, mention: dict[str, Any], kind: str, reason: str
) -> None:
    """Policy skip: the mention is left out and counted with its place; the rest of its document is indexed."""
    mentions = [CORPUS[1]["mentions"][0], mention]
    index = build(place / "index", corpus=corpus_of(tmp_path, CORPUS[0], document(1, mentions=mentions)))
    assert (index.collection.documents, index.collection.mentions) == (2, 3)
    assert index.report is not None
    assert index.report.faults.counts == {kind: 1}
    (example,) = index.report.faults.examples[kind]
    assert example.startswith(f"{tmp_path / 'corpus.jsonl'}:2: mention ")
    assert 'document "d1"' in example
    assert reason in example
    assert fader.open(place / "index").collection.manifest.skipped == {kind: 1}


@mention_faults
def test_a_faulty_mention_stops_the_build(
    tmp_path: Path, place: Path, mention: dict[str, Any], kind: str, reason: str
) -> None:
    """Policy fail: the same as an error, with the way out."""
    path = corpus_of(tmp_path, CORPUS[0], document(1, mentions=[mention]))
    message = refused(place, CorpusError, corpus=path, on_error="fail")
    assert message.startswith(f"{path}:2: mention ")
    assert reason in message
    assert message.endswith("; correct it, or pass --on-error skip")


def test_a_line_that_is_not_json(tmp_path: Path, place: Path) -> None:
    """Skipped with a count and an example, or an error with file and line."""
    path = corpus_of(tmp_path, CORPUS[0], "not JSON", CORPUS[1])
    message = refused(place, CorpusError, corpus=path, on_error="fail")
    assert message.startswith(f"{path}:2: not JSON ")
    index = build(place / "index", corpus=path)
    assert index.collection.documents == 2
    assert index.report is not None
    assert index.report.faults.counts == {"lines": 1}


def test_duplicate_document_ids(tmp_path: Path, place: Path) -> None:
    """The first counts; the others are skipped with their places, across files too, or stop the build."""
    path = corpus_of(tmp_path, CORPUS[0], CORPUS[1], document(0, text="another"))
    message = refused(place, CorpusError, corpus=[path, path], on_error="fail")
    assert message == f'{path}:3: duplicate document id "d0"; correct it, or pass --on-error skip'
    index = build(place / "index", corpus=[path, path], segment_tokens=1)
    assert index.collection.documents == 2
    assert index.report is not None
    assert index.report.faults.counts == {"repeated documents": 4}
    assert index.rank("another").entities == []


def test_a_missing_corpus_file(tmp_path: Path, place: Path) -> None:
    """The input is at fault, not the place where the index goes."""
    message = refused(place, InputError, corpus=[tmp_path / "none.jsonl"])
    assert message == f"{tmp_path / 'none.jsonl'}: no such file; check the path"


def test_a_folder_for_a_corpus(tmp_path: Path, place: Path) -> None:
    """A folder is not a corpus."""
    assert refused(place, InputError, corpus=tmp_path) == f"{tmp_path}: is a folder; give a file"


@pytest.mark.parametrize("fields", [{"text": "a \ud800"}, {"id": "\udfff"}, {"title": "\ud800"}, {"url": "\udc00"}])
def test_text_that_no_file_can_hold(place: Path, fields: dict[str, str]) -> None:
    """Lone surrogates in dictionaries are a fault of the document, as their escapes are in a line."""
    refused(place, CorpusError, corpus=[document(0, **fields)], on_error="fail")
    assert build(place / "index", corpus=[CORPUS[1], document(0, **fields)]).collection.documents == 1


# ----------------------------------------------------------------------------------------- the catalog


def test_a_faulty_catalog(tmp_path: Path, place: Path) -> None:
    """Missing, cyclic, doubled, badly cut: the build stops before anything is written."""
    assert "no such file" in refused(place, InputError, entities=tmp_path / "none")
    assert "cycle: T -> T" in refused(place, CatalogError, types=[{"id": "T", "supertypes": ["T"]}])
    assert "duplicate entity id" in refused(place, CatalogError, entities=[ENTITIES[0], ENTITIES[0]])
    assert 'unknown type "T"' in refused(place, CatalogError, types=[])
    bad = tmp_path / "types.tsv"
    bad.write_text("a\tb\tc\td\te\n")
    assert f"{bad}:1: 5 columns" in refused(place, CatalogError, types=bad)


@pytest.mark.parametrize("fields", [{"id": "\ud800"}, {"name": "\udfff"}, {"aliases": ["\ud800"]}])
def test_a_catalog_that_no_file_can_hold(place: Path, fields: dict[str, Any]) -> None:
    """Lone surrogates are a fault of the catalog."""
    refused(place, CatalogError, entities=[{"id": "E", **fields}], corpus=[])


def test_an_interrupted_build_leaves_nothing(place: Path) -> None:
    """Whatever ends it: here the caller's own generator, and the keyboard."""

    def broken(error: BaseException) -> Iterator[dict[str, Any]]:
        yield from CORPUS
        raise error

    for error in (RuntimeError("mine"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            build(place / "index", corpus=broken(error))
        assert os.listdir(place) == []


# ---------------------------------------------------------------------------------- folders and files


def test_a_folder_that_is_no_index(tmp_path: Path) -> None:
    """Missing, empty, full of other things, or a file: each is named, none is touched."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes").touch()
    (tmp_path / "file").touch()
    for name in ("none", "empty", "other", "file"):
        with pytest.raises(NotAnIndexError, match=name):
            fader.open(tmp_path / name)
    assert sorted(os.listdir(tmp_path)) == ["empty", "file", "other"]


def test_an_index_of_another_version(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both versions and the remedy are named."""
    monkeypatch.setattr("fader.index.commit.VERSION", 99)
    with suppress(VersionError):  # it is opened as soon as it is there
        build(place / "index")
    monkeypatch.undo()
    with pytest.raises(VersionError, match=r"format version 99; this release reads 1 to \d+; rebuild the index"):
        fader.open(place / "index")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small index of two segments."""
    folder = tmp_path_factory.mktemp("whole") / "index"
    build(folder, segment_tokens=20)
    return folder


@contextmanager
def replaced(path: Path, content: bytes | None) -> Iterator[None]:
    """The file with another content (None: without the file), as it was again afterwards."""
    before = path.read_bytes()
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        path.write_bytes(before)


def damages(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Ways to damage a file, at a sample of places that has both ends."""
    places = sorted({*range(0, len(data), max(1, len(data) // 40)), 1, len(data) // 2, len(data) - 1})
    for i in places:
        yield f"cut at {i}", data[:i]
        for mask in (0x01, 0xFF):
            yield f"byte {i} flipped", data[:i] + bytes([data[i] ^ mask]) + data[i + 1 :]
    yield "a byte more", data + b"\0"
    yield "twice", data * 2


def message_of(folder: Path, verify: bool = False, error: type[FaderError] = DamagedError) -> str:
    """What opening the index says; exactly this error."""
    with pytest.raises(FaderError) as caught:
        fader.open(folder, verify=verify)
    assert type(caught.value) is error, caught.value
    return str(caught.value)


def test_every_damaged_file_is_named(whole: Path) -> None:
    """Cut, altered or extended anywhere: opening with verification says which file it is."""
    names = sorted(os.listdir(whole))
    assert len(names) == 10
    for name in names:
        for how, content in damages((whole / name).read_bytes()):
            with replaced(whole / name, content):
                assert name in message_of(whole, verify=True), how
    fader.open(whole, verify=True)


def test_every_missing_file_is_named(whole: Path) -> None:
    """Without verification too; without its commit the folder is no index."""
    for name in sorted(os.listdir(whole)):
        with replaced(whole / name, None):
            if name.startswith("commit-"):
                message_of(whole, error=NotAnIndexError)
            else:
                assert f"{name}: missing" in message_of(whole)


def test_files_of_two_indexes_do_not_mix(whole: Path, place: Path) -> None:
    """A whole file of another index under the right name is not the one the commit names."""
    build(place / "index", segment_tokens=20, corpus=[document(i, title="another") for i in range(7)])
    for name in sorted(os.listdir(whole)):
        other = (place / "index" / name).read_bytes()
        if name.startswith("commit-") or other == (whole / name).read_bytes():
            continue
        with replaced(whole / name, other), pytest.raises(DamagedError, match=name):
            fader.open(whole)


# ------------------------------------------------------------------------------------------ full disks


class FullDisk:
    """Counts the calls of some kinds, and fails from the Nth on: for good, or once."""

    def __init__(self, patch: pytest.MonkeyPatch, kinds: tuple[str, ...], nth: int, lasting: bool) -> None:
        self.left = nth
        self.lasting = lasting
        self.failed = False
        if "fsync" in kinds:
            patch.setattr(os, "fsync", self.counted(os.fsync))
        if "rename" in kinds:
            patch.setattr(os, "rename", self.counted(os.rename))
        if "write" in kinds:
            for module in (builtins, io):
                patch.setattr(module, "open", self.opening(module.open))

    def count(self) -> None:
        self.left -= 1
        if self.left == 0 or (self.left < 0 and self.lasting):
            self.failed = True
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*given: Any, **options: Any) -> Any:
            self.count()
            return call(*given, **options)

        return counting

    def opening(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def opening(file: Any, mode: str = "r", *given: Any, **options: Any) -> Any:
            opened = call(file, mode, *given, **options)
            return _File(opened, self) if set(mode) & set("wxa+") else opened

        return opening


class _File:
    """A file on a disk that fills up."""

    def __init__(self, file: Any, disk: FullDisk) -> None:
        self._file, self._disk = file, disk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()

    def write(self, data: Any) -> Any:
        self._disk.count()
        return self._file.write(data)


def answers(index: fader.Index) -> Any:
    return [(index.contexts(q).rows(), index.rank(q)) for q in ("met", '"met fermi" +times', "einstein")]


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def every_failure(kinds: tuple[str, ...], lasting: bool, attempt: Callable[[], None]) -> Iterator[int]:
    """Attempt with the first call failing, with the second, and so on until nothing fails any more."""
    for nth in range(1, 10_000):
        message = ""
        with pytest.MonkeyPatch.context() as patch:
            disk = FullDisk(patch, kinds, nth, lasting)
            try:
                attempt()
            except StorageError as error:
                message = str(error)
        assert (os.strerror(errno.ENOSPC) in message) is disk.failed, f"call {nth}: {message or 'no error'}"
        if not disk.failed:
            assert nth > 1, "nothing was counted"
            return
        yield nth


ways = pytest.mark.parametrize(
    ("kinds", "lasting"),
    [
        (("write",), True),
        (("write",), False),
        (("fsync",), False),
        (("rename",), False),
    ],
    ids=["writes for good", "one write", "one sync", "one rename"],
)


@ways
def test_a_disk_that_fills_up_leaves_nothing(place: Path, kinds: tuple[str, ...], lasting: bool) -> None:
    """Whichever call fails: StorageError, and neither index nor debris."""
    left = {}
    for nth in every_failure(kinds, lasting, lambda: build(place / "index") and None):
        if os.listdir(place):
            left[nth] = os.listdir(place)
            for name in left[nth]:
                (place / name).rename(place.with_name(f"{nth}-{name}"))
    assert left == {}
    assert answers(fader.open(place / "index", verify=True))


@ways
def test_a_disk_that_fills_up_leaves_the_old_index(place: Path, kinds: tuple[str, ...], lasting: bool) -> None:
    """Over an existing index: StorageError, every old file as it was, none beside them, the same answers."""
    before = answers(build(place / "index", segment_tokens=20))
    files = contents(place / "index")

    def attempt() -> None:
        build(place / "index", overwrite=True, corpus=CORPUS[:3])

    for nth in every_failure(kinds, lasting, attempt):
        assert contents(place / "index") == files, f"call {nth}"
        assert answers(fader.open(place / "index", verify=True)) == before
        assert os.listdir(place) == ["index"]
    assert fader.open(place / "index", verify=True).collection.documents == 3


LIMITED = """
    import json, os, random, resource, signal, sys
    from pathlib import Path

    import fader
    from fader.errors import StorageError

    place = Path(sys.argv[1])
    rng = random.Random(3)
    noise = ["".join(chr(rng.randrange(33, 1000)) for _ in range(20_000)) for _ in range(20)]
    corpus = [{"id": f"d{i}", "text": "word " + t, "mentions": [{"start": 0, "end": 4, "entity": "E"}]}
              for i, t in enumerate(noise)]

    def build(name, **options):
        return fader.build(place / name, corpus=corpus, entities=[{"id": "E"}], types=[], threads=2, **options)

    # Compiled code is cached in files of its own; they are there once this is done.
    old = build("old").rank("word").scores
    fader.open(place / "old", verify=True)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    report = []
    for limit in (0, 100, 1_000, 20_000, 200_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        for name, options in (("new", {}), ("old", {"overwrite": True})):
            try:
                build(name, **options)
                outcome = "built"
            except StorageError as error:
                outcome = str(error)
            same = fader.open(place / "old", verify=True).rank("word").scores == old
            report.append([limit, outcome, sorted(os.listdir(place)), len(os.listdir(place / "old")), same])
    print(json.dumps(report))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of this kind are POSIX")
def test_a_limit_on_file_sizes_is_a_full_disk(place: Path) -> None:
    """The same with real writes that the system cuts short: EFBIG instead of ENOSPC."""
    source = str(Path(fader.__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(LIMITED), str(place)],
        env={**os.environ, "PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "Traceback" not in run.stderr
    report = json.loads(run.stdout)
    assert len(report) == 10
    for limit, outcome, names, files, same in report:
        assert os.strerror(errno.EFBIG) in outcome, limit
        assert names == ["old"], limit
        assert files == 6, limit
        assert same, limit
