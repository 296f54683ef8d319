"""Files that appear whole or not at all.

A file is written under another name beside its place, synced, and renamed; then the folder is synced, so that the new
name survives a power loss. This is the only module that does so.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from fader.errors import StorageError


def sync_file(file: IO[Any]) -> None:
    """Put what was written on the disk itself."""
    file.flush()
    os.fsync(file.fileno())


def sync_and_close(file: IO[Any]) -> None:
    """Put what was written on the disk itself, then close the file."""
    sync_file(file)
    file.close()


def sync_folder(folder: Path) -> None:
    """Make the entries of a folder (new names, renames) survive a power loss."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def replace_whole(path: Path) -> Iterator[Path]:
    """Yield a name beside `path`; the file written there takes its place, or is removed after an error."""
    pending = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        yield pending
        with open(pending, "rb") as written:
            os.fsync(written.fileno())
        os.replace(pending, path)
    finally:
        pending.unlink(missing_ok=True)
    sync_folder(path.parent)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that is there with all its bytes or as it was before."""
    with replace_whole(path) as pending:
        pending.write_bytes(data)


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Yield the name to write an output file of the user under; it becomes `path` when all went well.

    A link is followed. What exists and is no regular file, such as a device or a pipe, is written to directly.
    """
    final = Path(path).resolve()
    if final.is_dir():
        raise StorageError(f"{path}: is a folder; give a file")
    if final.exists() and not final.is_file():
        yield final
        return
    try:
        with replace_whole(final) as pending:
            yield pending
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror or error}") from error
