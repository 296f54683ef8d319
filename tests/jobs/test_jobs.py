"""The frame of jobs: keys, resuming after a failure at any write, order, workers that die, the same bytes by all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fader.errors import CorpusError, DamagedError, StorageError
from fader.jobs.files import whole_file, write_whole
from fader.jobs.job import run_job
from fader.jobs.journal import JOB, Journal, digest_key, list_changes, read_key, write_key
from fader.jobs.runners import Failure, InProcess, Processes, Threads
from fader.jobs.storage import LocalFolder, MemoryFolder, Storage
from jobs.squares import KEY, Number, growing_job, kept_job, make_worker

WHOLE = b",".join(str(n**2).encode() for n in range(20))
RUNNERS = [InProcess(), Threads(3), Processes(2)]


def journal_in(folder: Path) -> Journal:
    return Journal(LocalFolder(folder), key=digest_key(KEY))


class Stopped(BaseException):
    """The process was killed."""


class Failing:
    """A folder in which the n-th write fails, before or after it."""

    def __init__(self, folder: Path, at: int, after: bool) -> None:
        self._folder, self._at, self._after, self.shown = LocalFolder(folder), at, after, str(folder)

    def write(self, name: str, data: bytes) -> None:
        self._at -= 1
        if self._at == 0 and not self._after:
            raise Stopped
        self._folder.write(name, data)
        if self._at == 0:
            raise Stopped

    def __getattr__(self, name: str) -> Any:
        return getattr(self._folder, name)


@pytest.mark.parametrize("runner", RUNNERS, ids=lambda r: type(r).__name__)
def test_all_runners_give_the_same(runner: Any, tmp_path: Path) -> None:
    """Results are joined in the order of items, whatever the order in which they come."""
    assert run_job(kept_job(), journal_in(tmp_path), runner) == WHOLE
    if not isinstance(runner, Threads):  # a file that grows needs results in order
        (tmp_path / "growing").mkdir()
        growing = tmp_path / "growing"
        assert run_job(growing_job(growing), journal_in(growing), runner) == WHOLE + b","


@pytest.mark.parametrize("after", [False, True])
def test_it_goes_on_after_a_failure_at_any_write(tmp_path: Path, after: bool) -> None:
    """Before or after the write: what was kept is not done again, and the bytes are the same."""
    for at in range(1, 21):
        folder = tmp_path / f"kept-{at}"
        folder.mkdir()
        failing: Any = Failing(folder, at, after)
        with pytest.raises(Stopped):
            run_job(kept_job(), Journal(failing, key=digest_key(KEY)), InProcess())
        done: list[Number] = []

        class Counting:
            def run(self, work: Any, items: Any, take: Any, done: list[Number] = done) -> None:
                InProcess().run(work, items, lambda item, result: (done.append(item), take(item, result)))

        assert run_job(kept_job(), journal_in(folder), Counting()) == WHOLE
        assert len(done) == 20 - at + (not after)


@pytest.mark.parametrize("after", [False, True])
def test_a_growing_file_goes_back_to_its_last_part(tmp_path: Path, after: bool) -> None:
    """What was written behind it, and half a line, is cut off."""
    for at in range(1, 8):
        folder = tmp_path / f"growing-{at}"
        folder.mkdir()
        failing: Any = Failing(folder, at, after)
        with pytest.raises(Stopped):
            run_job(growing_job(folder), Journal(failing, key=digest_key(KEY)), InProcess())
        with open(folder / "out", "ab") as file:
            file.write(b"half a li")
        assert run_job(growing_job(folder), journal_in(folder), InProcess()) == WHOLE + b","


def test_a_part_whose_bytes_are_lost_is_done_again(tmp_path: Path) -> None:
    """Entries behind a damaged or missing one, or beyond the end of the file, are not believed."""
    assert run_job(growing_job(tmp_path), journal_in(tmp_path), InProcess()) == WHOLE + b","
    (tmp_path / "000003.part").write_bytes(b"damaged")
    assert run_job(growing_job(tmp_path), journal_in(tmp_path), InProcess()) == WHOLE + b","
    (tmp_path / "out").write_bytes(WHOLE[:9])
    assert run_job(growing_job(tmp_path), journal_in(tmp_path), InProcess()) == WHOLE + b","


def test_the_journal_of_another_job_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="another job"):
        run_job(kept_job(), Journal(LocalFolder(tmp_path), key=digest_key({**KEY, "numbers": 21})), InProcess())


@pytest.mark.parametrize("storage", [MemoryFolder(), None], ids=["memory", "local"])
def test_a_key_names_what_has_changed(tmp_path: Path, storage: Storage | None) -> None:
    folder: Storage = storage or LocalFolder(tmp_path)
    assert read_key(folder) is None
    write_key(folder, KEY)
    before = read_key(folder)
    assert before == KEY
    assert list_changes(before, KEY, {}) == []
    assert list_changes(before, {**KEY, "numbers": 21}, {"numbers": "the numbers"}) == ["the numbers"]
    for old in (b"{", b"[]", b'{"version": "0.1.0", "sources": []}'):  # damaged, or of Fader 0.1
        folder.write(JOB, old)
        found = read_key(folder)
        assert found == {}
        assert list_changes(found, KEY, {}) == ["versions of Fader"]


def test_damaged_entries_count_as_absent(tmp_path: Path) -> None:
    """So do those whose files are gone or of another size."""
    journal = journal_in(tmp_path)
    journal.keep("one", b"\n\n1")
    journal.keep("two", b"2", {"two.data": 3})
    assert journal.get("one") == b"\n\n1"
    assert journal.read_all("", bytes) == {"one": b"\n\n1"}
    (tmp_path / "two.data").write_bytes(b"abc")
    assert journal.read_all("", bytes) == {"one": b"\n\n1", "two": b"2"}
    (tmp_path / "one.part").write_bytes((tmp_path / "one.part").read_bytes()[:-1])
    assert journal.find("one") is None
    with pytest.raises(DamagedError, match="run the same command again"):
        journal.get("one")


def test_a_worker_that_dies_is_told(tmp_path: Path) -> None:
    """What others did before is kept, and the job goes on."""
    with pytest.raises(StorageError, match="a worker process ended"):
        run_job(kept_job([*range(19), -1]), journal_in(tmp_path), Processes(2))
    assert run_job(kept_job(), journal_in(tmp_path), Processes(2)) == WHOLE


def test_few_items_are_taken_ahead() -> None:
    """So that memory does not grow with the number of items."""
    made, taken, most = 0, 0, 0

    def items() -> Any:
        nonlocal made, most
        for n in range(60):
            made += 1
            most = max(most, made - taken)
            yield Number(n)

    def take(_item: Number, _result: bytes) -> None:
        nonlocal taken
        taken += 1

    Processes(2).run(make_worker, items(), take)
    assert taken == 60
    assert most <= 8


@pytest.mark.parametrize("runner", [InProcess(), Threads(2)], ids=lambda r: type(r).__name__)
def test_a_failure_is_raised_as_its_error(runner: Any) -> None:
    with pytest.raises(CorpusError, match=r"^no corpus$"):
        runner.run(lambda: lambda _item: Failure("piece", "CorpusError", "no corpus"), [1], lambda *_given: None)


def test_files_are_whole_or_as_before(tmp_path: Path) -> None:
    """Nothing else is left; a folder is refused, a link followed."""
    path = tmp_path / "file"
    write_whole(path, b"old")

    def fail() -> None:
        with whole_file(path) as pending:
            pending.write_bytes(b"new")
            raise Stopped

    with pytest.raises(Stopped):
        fail()
    assert path.read_bytes() == b"old"
    (tmp_path / "link").symlink_to(path)
    with whole_file(tmp_path / "link") as pending:
        pending.write_bytes(b"new")
    assert path.read_bytes() == b"new"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file", "link"]
    with pytest.raises(StorageError, match="is a folder"), whole_file(tmp_path):
        pass
