"""A folder as jobs see it: `Storage` is what the journal needs of one, `LocalFolder` a folder of this machine.

`fader.cluster.storage` has the folders of object stores. Knows nothing of what is stored.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Protocol

from fader.errors import StorageError
from fader.jobs.files import sync_and_close, sync_folder, write_whole

COPY_BYTES = 1 << 24
REMOVALS = 5
LOCK = "lock"


class Storage(Protocol):
    """A folder. Names are paths inside it, with slashes; `shown` is the folder's path, fit for messages."""

    shown: str

    def names(self, folder: str = "") -> dict[str, int]:
        """The files of a folder with their sizes, without those of subfolders; empty where there is no folder."""
        ...

    def read(self, name: str) -> bytes:
        """The bytes of a file; FileNotFoundError where there is none."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Write a file, or replace it, whole and durably."""
        ...

    def make(self, folder: str = "") -> None:
        """Make a folder and those above it."""
        ...

    def remove_folder(self, folder: str) -> None:
        """Remove a folder with everything in it."""
        ...


class LocalFolder:
    """A folder of a file system of this machine, perhaps one that other machines share under the same path.

    `scratch` is the subfolder in which workspaces are made.
    """

    def __init__(self, folder: Path, scratch: str = "") -> None:
        self.path = self.shown = str(folder)
        self.folder, self._scratch = folder, scratch

    def names(self, folder: str = "") -> dict[str, int]:
        found: dict[str, int] = {}
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(self.folder / folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # renamed or removed just now
                    if entry.is_file():
                        found[entry.name] = entry.stat().st_size
        return found

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def open(self, name: str) -> BinaryIO:
        return open(self.folder / name, "rb")

    def write(self, name: str, data: bytes) -> None:
        write_whole(self.folder / name, data)

    def put(self, files: Mapping[Path, str]) -> None:
        for file, name in files.items():
            with open(file, "rb") as whole:
                os.fsync(whole.fileno())
            os.replace(file, self.folder / name)
        for folder in {(self.folder / name).parent for name in files.values()}:
            sync_folder(folder)

    def double(self, name: str, other: str) -> None:
        (self.folder / other).unlink(missing_ok=True)  # never written into: it may be this very file
        try:
            os.link(self.folder / name, self.folder / other)
        except OSError:  # a file system without hard links
            with open(self.folder / name, "rb") as source, open(self.folder / other, "xb") as target:
                shutil.copyfileobj(source, target, COPY_BYTES)
                sync_and_close(target)

    def make(self, folder: str = "") -> None:
        (self.folder / folder).mkdir(parents=True, exist_ok=True)

    def remove_folder(self, folder: str) -> None:
        for _ in range(REMOVALS):
            shutil.rmtree(self.folder / folder, ignore_errors=True)
            if not (self.folder / folder).exists():
                return
            time.sleep(0.1)  # a task that nobody waits for any more may have written there meanwhile

    @contextmanager
    def workspace(self) -> Iterator[Path]:
        """On the same file system, so that files can be renamed; what a killed process leaves goes with the scratch."""
        place = self.folder / self._scratch / f"work-{uuid.uuid4().hex[:12]}"
        place.mkdir()
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)


class MemoryFolder:
    """A folder that lasts as long as the process: for jobs of which nothing is to be kept."""

    shown = "memory"

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}

    def names(self, folder: str = "") -> dict[str, int]:
        split = {path: path.rpartition("/") for path in self._files}
        return {name: len(self._files[path]) for path, (own, _slash, name) in split.items() if own == folder}

    def read(self, name: str) -> bytes:
        if name not in self._files:
            raise FileNotFoundError(name)
        return self._files[name]

    def write(self, name: str, data: bytes) -> None:
        self._files[name] = data

    def make(self, folder: str = "") -> None:
        """Folders are parts of names here."""

    def remove_folder(self, folder: str) -> None:
        self._files = {name: data for name, data in self._files.items() if not name.startswith(f"{folder}/")}


@contextmanager
def hold_folder(work: Path, out: Path) -> Iterator[None]:
    """Make the work folder of an output, where it does not exist, and lock it: one run at a time."""
    work.mkdir(parents=True, exist_ok=True)
    with open(work / LOCK, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StorageError(f"{out}: another run is writing here; wait for it, or choose another output") from None
        yield


def empty_folder(work: Path) -> None:
    """Remove everything from a work folder but its lock."""
    for path in work.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()


@contextmanager
def storage_errors(out: Path) -> Iterator[None]:
    """Turn system errors while a resumable output is written into a StorageError that names the remedy."""
    try:
        yield
    except (FileExistsError, NotADirectoryError):
        raise StorageError(f"{out}: is not a folder; choose another place") from None
    except OSError as error:
        kept = "what is done is kept, and the same command goes on from there"
        raise StorageError(f"{out}: cannot be written: {error.strerror or error}; {kept}") from None
