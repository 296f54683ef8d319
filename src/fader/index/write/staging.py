"""A hidden folder beside a destination, to build an index in: it takes the destination's name when it is whole.

Its builder holds its lock, which moves with it. So a folder of this kind whose lock is free was left by a builder that
died, and the next builder of the same destination removes it. Knows nothing of how an index is built.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fader.errors import StorageError
from fader.index.commit import remove_debris
from fader.index.lock import lock_for_writing, lock_if_abandoned
from fader.jobs.files import sync_folder


@contextmanager
def stage_folder(destination: Path) -> Iterator[Path]:
    """A new folder, renamed to `destination` at the end; after a failure there is neither, nor a parent made for it."""
    parents = [parent for parent in destination.parents if not parent.exists()]
    work = place = destination.parent / f".{destination.name}.building-{uuid.uuid4().hex[:8]}"
    try:
        work.mkdir(parents=True)
        with lock_for_writing(work):
            try:
                yield work
                os.rename(work, destination)
                place = destination
                for parent in (destination.parent, *(parent.parent for parent in parents)):
                    sync_folder(parent)
            except BaseException:
                with suppress(OSError):
                    _remove(place)
                raise
    except BaseException:
        for empty in (work, *parents):
            with suppress(OSError):
                empty.rmdir()
        raise


def remove_abandoned(destination: Path) -> None:
    """Remove the folders that builders of this destination have left when they died, as far as that is possible."""
    name = re.compile(re.escape(f".{destination.name}.building-") + "[0-9a-f]{8}")
    with suppress(OSError):
        for work in [destination.parent / found for found in os.listdir(destination.parent) if name.fullmatch(found)]:
            with suppress(OSError, StorageError), lock_if_abandoned(work) as is_abandoned:
                if is_abandoned and not work.is_symlink():
                    _remove(work)


def _remove(folder: Path) -> None:
    """Delete an index; a folder with anything else in it stays."""
    remove_debris(folder, 0)
    folder.rmdir()
