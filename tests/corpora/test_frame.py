"""The frame: parts, resuming, joining, faults, the command line; with a tiny format of the tests' own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from corpora.cases import contents, documents
from corpora.tiny import Tiny
from fader.corpora.frame.records import EncodedRecords
from fader.corpora.frame.run import UNFINISHED, importer, run
from fader.corpora.frame.store import Store
from fader.errors import CorpusError, InputError, StorageError, UsageError

LINES = "".join(
    f"d{i}\tThe [[cat{i % 3}|Cat]] met [[dog|{'a dog' if i % 4 else 'the Dog'}]] on day {i}.\tanimal/{i % 3} b\n"
    for i in range(60)
)


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "docs.txt").write_text(LINES)
    return str(tmp_path / "docs.txt")


class Killed(BaseException):
    """Stands for the end of a process."""


def test_what_is_written(source: str, tmp_path: Path) -> None:
    """Documents in their order, rows of one id joined, names from the most frequent surface, missing types added."""
    report = run(Tiny(), [source], tmp_path / "out")
    assert report.counts == {
        "documents": 60, "mentions": 120, "lines": 60, "entities": 4, "types": 5, "types added that had no row": 1,
    }  # fmt: skip
    assert [d["id"] for d in documents(tmp_path / "out")[:3]] == ["d0", "d1", "d2"]
    assert documents(tmp_path / "out")[1]["mentions"][1] == {"start": 12, "end": 17, "entity": "dog"}
    entities = (tmp_path / "out" / "entities.tsv").read_text().split("\n")
    assert entities[3] == "dog\ta dog\tanimal/0|b|animal/1|animal/2\tdog of 60"
    assert (tmp_path / "out" / "types.tsv").read_text().split("\n")[:2] == [
        "animal\tanimal\t",
        "animal/0\tanimal/0\tanimal",
    ]


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("part_bytes", [1, 700, 1 << 30])
def test_parts_and_processes_do_not_matter(source: str, tmp_path: Path, processes: int, part_bytes: int) -> None:
    """The bytes are the same whatever the size of parts and the number of processes."""
    run(Tiny(), [source], tmp_path / "one")
    run(Tiny(), [source], tmp_path / "out", processes=processes, part_bytes=part_bytes)
    assert contents(tmp_path / "one") == contents(tmp_path / "out")


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("kill_at", [1, 2, 5])
def test_resume(source: str, tmp_path: Path, kill_at: int, compress: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was stopped goes on: batches in whole parts are not converted again, and the bytes are the same."""
    run(Tiny(), [source], tmp_path / "whole", part_bytes=700, compress=compress)
    end_part, parts = Store.end_part, 0

    def killed(store: Store) -> None:
        nonlocal parts
        parts += 1
        end_part(store)
        if parts == kill_at:
            with open(store.files["corpus"], "ab") as file:
                file.write(b"half a li")
            raise Killed

    monkeypatch.setattr(Store, "end_part", killed)
    with pytest.raises(Killed):
        run(Tiny(), [source], tmp_path / "out", part_bytes=700, compress=compress)
    monkeypatch.undo()
    report = run(Tiny(), [source], tmp_path / "out", part_bytes=700, compress=compress)
    assert report.resumed > 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.parametrize("step", ["write_catalog", "write_judged", "write_whole", "sync_folder"])
@pytest.mark.parametrize("call", [1, 2, 3])
def test_resume_at_the_end(source: str, tmp_path: Path, step: str, call: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed while joining or renaming, a run goes on to the same bytes, or is finished."""
    import fader.corpora.frame.run as module

    run(Tiny(), [source], tmp_path / "whole")
    real, calls = getattr(module, step), 0

    def killed(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        result = real(*arguments)
        if calls == call:
            raise Killed
        return result

    monkeypatch.setattr(module, step, killed)
    try:
        run(Tiny(), [source], tmp_path / "out")
    except Killed:
        monkeypatch.undo()
        with suppress(InputError):  # it was finished
            run(Tiny(), [source], tmp_path / "out")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_killed_for_real(source: str, tmp_path: Path) -> None:
    """A process ended by SIGKILL amid its work leaves what another goes on with."""
    run(Tiny(), [source], tmp_path / "whole", part_bytes=700)
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from fader.corpora.frame.run import run\n"
        "from fader.corpora.frame.store import Store\n"
        "from corpora.tiny import Tiny\n"
        "put, count = Store.put, 0\n"
        "def killed(store, encoded):\n"
        "    global count\n"
        "    count += 1\n"
        "    put(store, encoded)\n"
        "    if count == 20: os.kill(os.getpid(), signal.SIGKILL)\n"
        "Store.put = killed\n"
        f"run(Tiny(), [{source!r}], Path({str(tmp_path / 'out')!r}), part_bytes=700)\n"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    ended = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": paths})
    assert ended.returncode == -signal.SIGKILL
    assert (tmp_path / "out" / UNFINISHED).is_dir()
    assert run(Tiny(), [source], tmp_path / "out", part_bytes=700).resumed > 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_refuses_to_go_on_with_something_else(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other options or changed sources are refused with the remedy; restart forgets."""
    monkeypatch.setattr(Store, "put", killed_at(2))
    with pytest.raises(Killed):
        run(Tiny(), [source], tmp_path / "out", part_bytes=1)
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"options.*--restart"):
        run(Tiny(prefix="x"), [source], tmp_path / "out", part_bytes=1)
    Path(source).write_text(LINES + "d99\tMore.\n")
    with pytest.raises(InputError, match=r"contents of the sources.*--restart"):
        run(Tiny(), [source], tmp_path / "out", part_bytes=1)
    assert run(Tiny(), [source], tmp_path / "out", restart=True).counts["documents"] == 61


def killed_at(number: int) -> Callable[[Store, EncodedRecords], None]:
    """`Store.put` of a process that ends before it puts so many batches."""
    put, count = Store.put, 0

    def killed(store: Store, encoded: EncodedRecords) -> None:
        nonlocal count
        count += 1
        if count == number:
            raise Killed
        put(store, encoded)

    return killed


def test_nothing_done_is_nothing_kept(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that ended before its first part stands in the way of no other."""
    monkeypatch.setattr(Store, "put", killed_at(1))
    with pytest.raises(Killed):
        run(Tiny(), [source], tmp_path / "out")
    monkeypatch.undo()
    assert run(Tiny(prefix="x"), [source], tmp_path / "out").counts["documents"] == 60


def test_a_run_that_failed_goes_on_with_faults_skipped(tmp_path: Path) -> None:
    """Its message names --on-error skip as remedy, and that it is; the other way round it is refused."""
    path = tmp_path / "docs.txt"
    path.write_text(LINES + "bad\n" + LINES.replace("d", "e"))
    run(Tiny(), [str(path)], tmp_path / "whole", part_bytes=700)
    with pytest.raises(CorpusError, match="--on-error skip"):
        run(Tiny(), [str(path)], tmp_path / "out", part_bytes=700, on_error="fail")
    assert run(Tiny(), [str(path)], tmp_path / "out", part_bytes=700).resumed > 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.parametrize("room", [0, 1000])
def test_a_full_disk(source: str, tmp_path: Path, room: int) -> None:
    """No room left: said plainly, and with room the same command goes on. Files of limited size stand for the disk."""
    run(Tiny(), [source], tmp_path / "whole", part_bytes=700)
    program = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from fader.corpora.frame.run import run\n"
        "from corpora.tiny import Tiny\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, -1))\n"
        f"run(Tiny(), [{source!r}], Path({str(tmp_path / 'out')!r}), part_bytes=700)\n"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    ended = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True
    )
    assert re.search(r"StorageError: .*out: cannot be written: .*the same command goes on", ended.stderr)
    assert (run(Tiny(), [source], tmp_path / "out", part_bytes=700).resumed > 0) == (room > 0)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_files_of_others_are_not_overwritten(source: str, tmp_path: Path) -> None:
    """A corpus.jsonl that no import wrote is not replaced unless told."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "corpus.jsonl").write_text("mine")
    with pytest.raises(InputError, match=r"corpus\.jsonl is here already"):
        run(Tiny(), [source], tmp_path / "out")
    assert contents(tmp_path / "out") == {"corpus.jsonl": b"mine"}


def test_faults_have_places(tmp_path: Path) -> None:
    """Faults of cutting, converting, checking and storing are counted, each with its place; fail stops at the first."""
    path = tmp_path / "docs.txt"
    path.write_bytes(b"a\tOne [[x|X]].\n\xff\tbroken\nnothing\na\tTwice.\nb\tSee [[y|!]] and [[|Z]].\r\n")
    report = run(Tiny(), [str(path)], tmp_path / "out")
    assert report.faults.counts == {
        "lines that are not UTF-8": 1, "lines without a text": 1, "mentions that cover no token": 1,
        "mentions without a usable entity": 1, "documents with a repeated id": 1, "entities without a usable id": 1,
    }  # fmt: skip
    assert report.faults.examples["lines without a text"][0].startswith(f"{path}:3:")
    assert json.loads((tmp_path / "out" / "import.json").read_text())["faults"].keys() == report.faults.counts.keys()
    for processes in (1, 2):
        with pytest.raises(CorpusError, match=r"docs\.txt:2: not UTF-8"):
            run(Tiny(), [str(path)], tmp_path / f"fail{processes}", processes=processes, on_error="fail")


def test_one_at_a_time(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two imports into one folder at once: the second is refused."""
    put = Store.put

    def again(store: Store, encoded: object) -> None:
        monkeypatch.setattr(Store, "put", put)
        with pytest.raises(StorageError, match="another run"):
            run(Tiny(), [source], tmp_path / "out")
        put(store, encoded)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "put", again)
    run(Tiny(), [source], tmp_path / "out")


def test_wrong_calls(source: str, tmp_path: Path) -> None:
    """No source, one that is not there, one given twice, an unknown policy or format: refused."""
    for sources in ([], [source, source]):
        with pytest.raises(UsageError):
            run(Tiny(), sources, tmp_path / "out")
    with pytest.raises(InputError, match="no such file"):
        run(Tiny(), [str(tmp_path / "none")], tmp_path / "out")
    with pytest.raises(UsageError, match="on_error"):
        run(Tiny(), [source], tmp_path / "out", on_error="ignore")
    with pytest.raises(UsageError, match="did you mean"):
        importer("wikipdia")
    assert not (tmp_path / "out").exists()
