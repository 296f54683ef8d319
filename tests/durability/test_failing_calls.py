"""Whichever system call fails, an operation ends with a clear error and the old commit intact, or with its commit.

once      one call fails, those after it do not
full      from that call on nothing more can be written; files can be removed
dead      from that call on every call fails
short     a write takes only half of what it was given; not an error
cut       a write takes half, and the next one fails
"""

from __future__ import annotations

import errno
import os
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from dose import dose
from durability.calls import Call, Perform, watched
from durability.history import HISTORY, OPERATIONS, debris
from durability.lives import Life, lives
from durability.promises import NOTHING, broken, broken_by_next, made
from fader.errors import FaderError, StorageError

REBUILD, ADD = (next(o for o in HISTORY if o.name == name) for name in ("rebuild", "add and merge"))
GROWS = ("create", "truncate", "write", "sync", "syncfolder", "rename", "mkdir")  # calls that may need space
WRITES = ("create", "write", "sync", "mkdir", "rename")  # all can be taken back when they have failed
WAYS = {
    "once, no space": errno.ENOSPC, "once, input/output error": errno.EIO, "full": errno.ENOSPC, "dead": errno.EIO,
    "short": 0, "cut": errno.ENOSPC,
}  # fmt: skip


@pytest.fixture(scope="module")
def started() -> Iterator[list[Life]]:
    with lives() as found:
        yield found


class Failing:
    """A watcher that makes call `at` fail, counted from 0; without `way` it only counts."""

    def __init__(self, way: str = "", at: int = -1) -> None:
        self._way, self._at, self._left_out = way, at, False
        self.calls: list[Call] = []
        self.failed: list[Call] = []

    def __call__(self, call: Call, perform: Perform) -> Any:
        number = len(self.calls)
        self.calls.append(call)
        if self._way in ("short", "cut") and number == self._at and len(call.data) > 1:
            return perform(len(call.data) // 2)
        if self._fails(call, number):
            self.failed.append(call)
            code = WAYS[self._way]
            raise OSError(code, os.strerror(code), call.path)
        return perform()

    def _fails(self, call: Call, number: int) -> bool:
        if self._way == "full":
            return number >= self._at and call.kind in GROWS
        if self._way == "dead":
            return number >= self._at
        if self._way == "cut":
            return number == self._at + 1
        return self._way.startswith("once") and number == self._at


def counted(life: Life) -> list[Call]:
    """The calls of an operation that nothing happens to."""
    watcher = Failing()
    with life.copy() as folder, watched(folder.parent, watcher):
        life.operation.run(folder)
    return watcher.calls


def failed(life: Life, way: str, at: int) -> str:
    """Do an operation of which a call fails, and assert what is promised; returns how it ended."""
    watcher = Failing(way, at)
    with life.copy() as folder:
        error: FaderError | None = None
        with watched(folder.parent, watcher):
            try:
                life.operation.run(folder)
            except FaderError as caught:
                error = caught
        where = f"{life.operation.name}, {way} at {watcher.failed[:1] or at}"
        allowed = [life.after]
        if error is not None:
            assert watcher.failed, where
            assert isinstance(error, StorageError), where
            assert str(folder.parent) in str(error), where
            assert os.strerror(WAYS[way]) in str(error), f"{where}: {error}"
            # A disk that stays dead may keep a writer from taking back what it has just made visible.
            allowed = [life.before] if way != "dead" else [life.before, life.after]
            if way.startswith("once") and watcher.failed[0].kind in WRITES:
                assert not debris(folder), where
        assert broken(folder, allowed, life.documents) == [], where
        operation = ADD if made(folder) is not NOTHING and at % 2 else REBUILD
        assert broken_by_next(folder, operation, life.documents) == [], where
    return "not met" if not watcher.failed else "done" if error is None else "failed"


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("number", range(len(OPERATIONS)), ids=[operation.name for operation in OPERATIONS])
def test_any_call_may_fail(started: list[Life], number: int, way: str) -> None:
    """The error names folder and reason; the old commit answers; the next success leaves no debris."""
    life = started[number]
    calls = counted(life)
    able = [i for i, call in enumerate(calls) if way not in ("short", "cut") or len(call.data) > 1]
    ended: Counter[str] = Counter()
    for at in random.Random(number).sample(able, dose(len(able), 1)):
        ended[failed(life, way, at)] += 1
    print(f"{life.operation.name}, {way}: {dict(ended)} of {len(calls)} calls")
    if way == "short":
        assert set(ended) == {"not met"}


@pytest.mark.parametrize("number", range(1, len(HISTORY)), ids=[operation.name for operation in HISTORY[1:]])
def test_a_file_that_cannot_be_removed_does_not_undo_a_commit(started: list[Life], number: int) -> None:
    """Old files go after the commit; what stays is left to the next writer."""
    life = started[number]
    calls = counted(life)
    published = next(i for i, call in enumerate(calls) if call.kind == "rename")
    late = [i for i, call in enumerate(calls) if i > published and call.kind in ("unlink", "list", "read")]
    for at in late[:1] + late[-1:]:
        assert failed(life, "once, input/output error", at) == "done"
