"""One writer at a time: an advisory lock on an index folder, which the system drops when its holder dies.

Knows nothing of what is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fader.errors import StorageError


@contextmanager
def writing_alone(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; another writer is refused, not waited for."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        yield
        return
    handle = os.open(folder, os.O_RDONLY)  # the folder itself is locked: no file is left behind
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            message = f"{folder}: another process is writing this index; wait until it has finished"
            raise StorageError(message) from None
        yield
    finally:
        os.close(handle)
