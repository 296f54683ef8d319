"""Folders and files that all nodes see: a shared file system by plain paths, object stores by fsspec's URLs.

A plain path (`/data/index`, `file:///data/index`) is used as it is: files are renamed into place, linked, and mapped
without a copy. Anything else (`s3://bucket/index`, `gs://...`, `hdfs://...`) goes through fsspec, whose package for
that kind of storage must be installed on every node. Either way a file is there whole or not at all: object stores show
an object when it is whole, on others it is written under another name first. A URL may hold a password, so wherever one
is shown or kept `mask_passwords` hides it. Knows nothing of what is stored.
"""

from __future__ import annotations

import io
import re
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from fader.errors import FaderError, InputError, StorageError, UsageError
from fader.index.commit import commit_numbers, find_commit_numbers
from fader.index.lock import lock_for_writing, lock_if_abandoned
from fader.jobs import storage as jobs
from fader.jobs.storage import LocalFolder

# An object appears only when it is complete there, and a rename would copy it.
OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "az", "adl", "oci", "oss", "tos", "tosfs", "r2", "memory"}
YOUNG_SECONDS = 600.0  # younger files are not removed: another process may be about to use them
# Errors of bugs, which no storage raises.
FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError)
WORKSPACE = "fader-work-"
_PASSWORD = re.compile(r"(://[^/\s:@]*):[^/\s]*@")


class Storage(jobs.Storage, Protocol):
    """A folder that tasks on other nodes can open, too, by `path`."""

    path: str

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading with seeks."""
        ...

    def put(self, files: Mapping[Path, str]) -> None:
        """Store files of a `workspace`, each completely and durably; they may be moved from there."""
        ...

    def double(self, name: str, other: str) -> None:
        """Give a file a second name, durably, by a link or a copy."""
        ...

    def workspace(self) -> AbstractContextManager[Path]:
        """A local folder for files that `put` then stores."""
        ...


def is_plain(path: str | Path) -> bool:
    """Whether a path is one of the local file system."""
    return "://" not in str(path) or str(path).startswith("file://")


def mask_passwords(text: str) -> str:
    """A URL, or a text with URLs, with passwords replaced by `***`."""
    return _PASSWORD.sub(r"\1:***@", text)


def plain_path(path: str | Path) -> Path:
    """The absolute path of a local file or folder."""
    rest = str(path).removeprefix("file://")
    if rest != str(path) and not rest.startswith("/"):
        raise UsageError(f"{path}: a local file is file:///PATH, with three slashes")
    return Path(rest).absolute()


def storage_of(path: str | Path, scratch: str = "") -> Storage:
    """The storage of a path; of a local one, `scratch` is the folder for workspaces."""
    return LocalFolder(plain_path(path), scratch) if is_plain(path) else RemoteStorage(str(path))


class RemoteStorage:
    """A folder that fsspec reaches."""

    def __init__(self, url: str) -> None:
        self.path = url.rstrip("/")
        self.shown = mask_passwords(self.path)
        self._system, self._root = _system(self.path)
        self._is_atomic = self.path.partition("://")[0] in OBJECT_STORES

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    def names(self, folder: str = "") -> dict[str, int]:
        self._system.invalidate_cache()
        try:
            found = self._system.ls(self._at(folder), detail=True)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        return {str(one["name"]).rpartition("/")[2]: int(one["size"]) for one in found if one["type"] == "file"}

    def read(self, name: str) -> bytes:
        return bytes(self._system.cat_file(self._at(name)))

    def open(self, name: str) -> BinaryIO:
        return _buffer(self._system.open(self._at(name), "rb"))

    def write(self, name: str, data: bytes) -> None:
        self._store(name, lambda path: self._system.pipe_file(path, data))

    def put(self, files: Mapping[Path, str]) -> None:
        for file, name in files.items():
            self._store(name, partial(self._system.put_file, str(file)))

    def _store(self, name: str, write: Callable[[str], Any]) -> None:
        """Write a file where it appears whole; elsewhere write it under another name and rename it."""
        target = self._at(name)
        if self._is_atomic:
            write(target)
            return
        pending = f"{target}.{uuid.uuid4().hex[:8]}.tmp"
        write(pending)
        try:
            self._system.mv(pending, target)
        except OSError:  # some storages (HDFS, SFTP) do not replace a file by a rename
            if not self._system.exists(target):
                raise
            self._system.rm_file(target)
            self._system.mv(pending, target)

    def double(self, name: str, other: str) -> None:
        self._system.cp_file(self._at(name), self._at(other))

    def make(self, folder: str = "") -> None:
        if self._is_atomic:
            return  # there, folders are only parts of names, and the user creates the bucket
        with suppress(FileExistsError):
            self._system.makedirs(self._at(folder), exist_ok=True)

    def remove_folder(self, folder: str) -> None:
        self._system.invalidate_cache()
        with suppress(FileNotFoundError):
            self._system.rm(self._at(folder), recursive=True)

    @contextmanager
    def workspace(self) -> Iterator[Path]:
        """A folder among the local temporary files; removes those that killed processes have left."""
        place = Path(tempfile.mkdtemp(prefix=WORKSPACE))
        try:
            with lock_for_writing(place):
                _remove_abandoned(place)
                yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)


def commits_of(storage: Storage) -> list[int]:
    """The commits of the index in a folder, oldest first."""
    return commit_numbers(storage.folder) if isinstance(storage, LocalFolder) else find_commit_numbers(storage.names())


def _remove_abandoned(own: Path) -> None:
    """Remove other workspaces that no process has locked; a new one may not be locked yet."""
    for place in own.parent.glob(f"{WORKSPACE}*"):
        with suppress(OSError):
            if place != own and time.time() - place.stat().st_mtime > YOUNG_SECONDS:
                with lock_if_abandoned(place) as abandoned:
                    if abandoned:
                        shutil.rmtree(place, ignore_errors=True)


def _system(url: str) -> tuple[Any, str]:
    """fsspec's file system of a URL, and the path in it."""
    try:
        import fsspec
    except ImportError:
        raise UsageError(f"{mask_passwords(url)}: needs more packages; pip install 'fader[cluster]'") from None
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise UsageError(f"{mask_passwords(url)}: cannot be reached: {mask_passwords(str(error))}") from None
    return system, str(path).rstrip("/")


def _buffer(file: Any) -> BinaryIO:
    """A file of fsspec as a Python file that can peek."""
    return cast(BinaryIO, io.BufferedReader(file, 1 << 20))


@contextmanager
def storage_errors(what: str) -> Iterator[None]:
    """Turn any error of a storage into a StorageError."""
    try:
        yield
    except (FaderError, *FAULTS):
        raise
    except Exception as error:  # the packages behind fsspec raise errors of their own
        raise StorageError(f"{name_file(error, what)}: cannot be read or written: {reason(error)}") from error


def name_file(error: Exception, what: str) -> str:
    """The file that a storage error names, or else `what`."""
    return mask_passwords(str(getattr(error, "filename", None) or what))


def reason(error: Exception) -> str:
    """Why a storage failed, in one line."""
    said = getattr(error, "strerror", None) or f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return mask_passwords(said)


class UnreadError(Exception):
    """A file could not be read, which may pass. Not an OSError, since readers take that for a fault of the contents."""

    def __init__(self, path: str, cause: Exception) -> None:
        self.filename, self.strerror = name_file(cause, path), reason(cause)
        super().__init__(f"{self.filename}: {self.strerror}")


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn any error of the storage of a file into an UnreadError with its name."""
    try:
        yield
    except (FaderError, UnreadError, MemoryError, *FAULTS):
        raise
    except Exception as error:  # storage packages raise errors of their own
        raise UnreadError(path, error) from error


def open_source(path: str) -> BinaryIO:
    """Open a local or remote file for reading."""
    if is_plain(path):
        return open(plain_path(path), "rb")
    system, at = _system(path)
    return _buffer(system.open(at, "rb"))


@dataclass(frozen=True)
class SourceFile:
    """An input file: its absolute path, its size, and a version that changes when the file is replaced.

    `shown` is the name that the user gave, for messages.
    """

    path: str
    bytes: int
    version: str
    shown: str


def describe_file(path: str) -> SourceFile:
    """Describe an input file; InputError where it cannot be read."""
    try:
        return _describe(path)
    except FileNotFoundError:
        raise InputError(f"{mask_passwords(path)}: no such file; check the path") from None
    except IsADirectoryError:
        raise InputError(f"{mask_passwords(path)}: is a folder; give a file") from None
    except FaderError:
        raise
    except Exception as error:  # storage packages raise errors of their own
        raise InputError(f"{mask_passwords(path)}: cannot be read: {reason(error)}") from None


def _describe(path: str) -> SourceFile:
    """Describe an input file; raises the errors of the storage."""
    if is_plain(path):
        plain = plain_path(path)
        open(plain, "rb").close()
        status = plain.stat()
        return SourceFile(str(plain), status.st_size, str(status.st_mtime_ns), mask_passwords(path))
    system, at = _system(path)
    info = system.info(at)
    if info.get("type") != "file":
        raise IsADirectoryError(path)
    marks = [info.get(key) for key in ("ETag", "etag", "md5Hash", "generation", "mtime", "LastModified", "created")]
    version = next((str(mark) for mark in marks if mark is not None), "")
    return SourceFile(path, int(info["size"]), version, mask_passwords(path))


def check_unchanged(source: SourceFile) -> None:
    """Raise InputError where a file has changed since it was described.

    A file that this node cannot see is a storage error, which may pass. Of local files only the size is compared: the
    precision of times may differ between nodes.
    """
    with reading(source.path):
        now = _describe(source.path)
    if now.bytes != source.bytes or (not is_plain(source.path) and now.version != source.version):
        raise InputError(
            f"{source.shown}: has changed since the build began; leave the input unchanged, and build again"
        )


def expand_paths(paths: Iterable[str]) -> list[str]:
    """The paths; a URL with `*` is replaced by all URLs that match, sorted. For local paths the shell does this."""
    found = []
    for path in paths:
        if is_plain(path) or "*" not in path:
            found.append(path)
            continue
        system, at = _system(path)
        with storage_errors(path):
            matching = sorted(system.unstrip_protocol(name) for name in system.glob(at))
        if not matching:
            raise InputError(f"{mask_passwords(path)}: no file matches; check the path")
        found += matching
    return found
