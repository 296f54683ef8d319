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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from fader.errors import FaderError, InputError, StorageError, UsageError
from fader.index.commit import commit_numbers, find_commit_numbers
from fader.index.lock import lock_for_writing, lock_if_abandoned
from fader.jobs import storage as jobs
from fader.jobs.storage import LocalFolder

# Here an object is seen only when it is whole, and renaming would copy it.
OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "az", "adl", "oci", "oss", "tos", "tosfs", "r2", "memory"}
YOUNG_SECONDS = 600.0  # what another process may be about to use is not removed so soon
# What the program's own faults raise, and no storage.
FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError)
WORKSPACE = "fader-work-"
_PASSWORD = re.compile(r"(://[^/\s:@]*):[^/\s]*@")


class Storage(jobs.Storage, Protocol):
    """A folder that tasks on other nodes see, too; `path` is the one to open it by."""

    path: str

    def open(self, name: str) -> BinaryIO:
        """Open a file to read from anywhere in it."""
        ...

    def put(self, files: Mapping[Path, str]) -> None:
        """Take in files of a `workspace`, each whole and durably; they may be gone from there afterwards."""
        ...

    def double(self, name: str, other: str) -> None:
        """Give a file a second name, whole and durably; neither changes what the file holds."""
        ...

    def workspace(self) -> AbstractContextManager[Path]:
        """A folder of this machine for files that are then put here."""
        ...


def is_plain(path: str | Path) -> bool:
    """Whether a path is one of this machine's own file system."""
    return "://" not in str(path) or str(path).startswith("file://")


def mask_passwords(text: str) -> str:
    """A URL, or a text with URLs in it, without the passwords that stand in them."""
    return _PASSWORD.sub(r"\1:***@", text)


def plain_path(path: str | Path) -> Path:
    """The path of a plain file or folder, from the root."""
    rest = str(path).removeprefix("file://")
    if rest != str(path) and not rest.startswith("/"):
        raise UsageError(f"{path}: a file of this machine is file:///PATH, with three slashes")
    return Path(rest).absolute()


def storage_of(path: str | Path, scratch: str = "") -> Storage:
    """The folder of a path; for a plain one, `scratch` is where in it workspaces are made."""
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
        if self._is_atomic:
            self._system.pipe_file(self._at(name), data)
            return
        pending = self._pending(name)
        self._system.pipe_file(pending, data)
        self._rename(pending, self._at(name))

    def put(self, files: Mapping[Path, str]) -> None:
        for file, name in files.items():
            if self._is_atomic:
                self._system.put_file(str(file), self._at(name))
            else:
                pending = self._pending(name)
                self._system.put_file(str(file), pending)
                self._rename(pending, self._at(name))

    def _pending(self, name: str) -> str:
        return f"{self._at(name)}.{uuid.uuid4().hex[:8]}.tmp"

    def _rename(self, pending: str, target: str) -> None:
        try:
            self._system.mv(pending, target)
        except OSError:  # some storages (HDFS, SFTP) give no file a name that is taken
            if not self._system.exists(target):
                raise
            self._system.rm_file(target)
            self._system.mv(pending, target)

    def double(self, name: str, other: str) -> None:
        self._system.cp_file(self._at(name), self._at(other))

    def make(self, folder: str = "") -> None:
        if self._is_atomic:
            return  # folders are but parts of names there, and a bucket is not ours to make
        with suppress(FileExistsError):
            self._system.makedirs(self._at(folder), exist_ok=True)

    def remove_folder(self, folder: str) -> None:
        self._system.invalidate_cache()
        with suppress(FileNotFoundError):
            self._system.rm(self._at(folder), recursive=True)

    @contextmanager
    def workspace(self) -> Iterator[Path]:
        """Among the temporary files of this machine, without those that killed processes have left there."""
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
    """Remove workspaces beside our own that no process holds; one that was made just now may not be held yet."""
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
    """A file of fsspec as those of Python are, so that one can look at its start before it is read."""
    return cast(BinaryIO, io.BufferedReader(file, 1 << 20))


@contextmanager
def storage_errors(what: str) -> Iterator[None]:
    """Whatever a storage raises, in the project's words."""
    try:
        yield
    except (FaderError, *FAULTS):
        raise
    except Exception as error:  # fsspec's systems raise what their packages do
        raise StorageError(f"{name_file(error, what)}: cannot be read or written: {reason(error)}") from error


def name_file(error: Exception, what: str) -> str:
    """The file that an error of a storage speaks of, or else `what`."""
    return mask_passwords(str(getattr(error, "filename", None) or what))


def reason(error: Exception) -> str:
    """Why a storage has failed, in one line."""
    said = getattr(error, "strerror", None) or f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return mask_passwords(said)


class UnreadError(Exception):
    """A file could not be read, which may pass: no fault of what it holds, which an OSError may be taken for."""

    def __init__(self, path: str, cause: Exception) -> None:
        self.filename, self.strerror = name_file(cause, path), reason(cause)
        super().__init__(f"{self.filename}: {self.strerror}")


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Whatever the storage of a file raises, with the name of the file."""
    try:
        yield
    except (FaderError, UnreadError, MemoryError, *FAULTS):
        raise
    except Exception as error:  # what the package of a storage raises
        raise UnreadError(path, error) from error


def open_source(path: str) -> BinaryIO:
    """A file to read, wherever it is."""
    if is_plain(path):
        return open(plain_path(path), "rb")
    system, at = _system(path)
    return _buffer(system.open(at, "rb"))


@dataclass(frozen=True)
class SourceFile:
    """A file that the user has given: its path from the root, its size, and what changes when it is replaced.

    `shown` is its name as the user has given it, fit for messages.
    """

    path: str
    bytes: int
    version: str
    shown: str


def describe_file(path: str) -> SourceFile:
    """Describe a file that the user has given; InputError where it cannot be read."""
    try:
        return _describe(path)
    except FileNotFoundError:
        raise InputError(f"{mask_passwords(path)}: no such file; check the path") from None
    except IsADirectoryError:
        raise InputError(f"{mask_passwords(path)}: is a folder; give a file") from None
    except FaderError:
        raise
    except Exception as error:  # what the package of a storage raises
        raise InputError(f"{mask_passwords(path)}: cannot be read: {reason(error)}") from None


def _describe(path: str) -> SourceFile:
    """The same, with the errors of the storage."""
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
    """Raise where a file is another one than when it was described.

    One that this node does not see, or not now, is an error of the storage, which may pass. Of plain files the size
    alone is compared: the precision of times may differ between nodes.
    """
    with reading(source.path):
        now = _describe(source.path)
    if now.bytes != source.bytes or (not is_plain(source.path) and now.version != source.version):
        raise InputError(f"{source.shown}: has changed since the build began; leave it alone, and build again")


def expand_paths(paths: Iterable[str]) -> list[str]:
    """The paths, a URL with a `*` in it as all that fit, sorted; for plain paths a shell does that."""
    found = []
    for path in paths:
        if is_plain(path) or "*" not in path:
            found.append(path)
            continue
        system, at = _system(path)
        with storage_errors(path):
            matching = sorted(system.unstrip_protocol(name) for name in system.glob(at))
        if not matching:
            raise InputError(f"{mask_passwords(path)}: no file fits; check the path")
        found += matching
    return found
