"""One writer at a time: an advisory lock on a folder, which the system drops when its holder dies.

The folder itself is locked, so no file is left behind, and a lock moves with a folder that is renamed. Knows nothing
of what is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fader.errors import StorageError

try:
    import fcntl

    HAS_LOCKS = True
except ImportError:  # a system without such locks
    HAS_LOCKS = False


@contextmanager
def lock_for_writing(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; another writer is refused, not waited for."""
    with _open_handle(folder) as handle:
        if HAS_LOCKS and not _try_lock(folder, handle):
            raise StorageError(f"{folder}: another process is writing this index; wait until it has finished")
        yield


@contextmanager
def lock_if_abandoned(folder: Path) -> Iterator[bool]:
    """Whether no one writes in a folder; if so, its lock is held. False where a system has no locks to tell by."""
    with _open_handle(folder) as handle:
        yield HAS_LOCKS and _try_lock(folder, handle)


@contextmanager
def _open_handle(folder: Path) -> Iterator[int]:
    """A handle to lock by; -1 where there are no locks."""
    if not HAS_LOCKS:
        yield -1
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield handle
    finally:
        with suppress(OSError):  # a process forked meanwhile has the handle too, and would keep the lock
            fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


def _try_lock(folder: Path, handle: int) -> bool:
    """Take the lock; False where another holds it, and where the folder has gone or been replaced meanwhile."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        message = f"{folder}: cannot be locked: {error.strerror or error}; put the index on another file system"
        raise StorageError(message) from error
    try:
        return os.path.samestat(os.fstat(handle), os.stat(folder))
    except FileNotFoundError:
        return False
