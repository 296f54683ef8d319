"""A cache of local copies of remote indexes, for memory mapping.

`local_folder` returns the folder of an index: its own if it is local, else a cache folder with copies of the files of a
commit. A copy is checked against the manifest and its own checksums before it gets its name, so several processes can
fill one cache. The least recently used files are removed. Knows nothing of the contents of files.
"""

from __future__ import annotations

import errno
import os
import re
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import xxhash

from fader.cluster.storage import YOUNG_SECONDS, RemoteStorage, commits_of, is_plain, plain_path, storage_errors
from fader.errors import FaderError, StorageError
from fader.index.commit import commit_path, read_commit
from fader.index.format import Container, FileEntry
from fader.index.manifest import Manifest
from fader.jobs.storage import COPY_BYTES, LocalFolder

CACHE_MB = 100_000
_CACHED = re.compile(r"[0-9a-f]{16}/(?:commit-[0-9]{8}\.json|[0-9]{8}[-.][0-9a-z.-]+)")


def cache_folder() -> Path:
    """The default folder for copies of remote indexes."""
    own = os.environ.get("FADER_CLUSTER_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fader" / "cluster"


def local_folder(
    path: str | Path,
    commit: int | None = None,
    segments: Iterable[int] | None = None,
    cache: Path | None = None,
    most_mb: int = CACHE_MB,
) -> Path:
    """A local folder with a commit of an index: manifest, catalog, and all or some segments by their places.

    A local index is used as it is. Of a remote one, files that are not in the cache are copied.
    """
    if is_plain(path):
        return plain_path(path)
    storage = RemoteStorage(str(path))
    folder = (cache or cache_folder()) / xxhash.xxh3_64_hexdigest(storage.path.encode())
    with storage_errors(storage.shown):
        with _writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        manifest = _manifest(storage, folder, commit)
        wanted = range(len(manifest.segments)) if segments is None else segments
        _copy_file(storage, folder, manifest.catalog.name, manifest.catalog.file)
        for place in wanted:
            for name, expected in manifest.segments[place].file_entries:
                _copy_file(storage, folder, name, expected)
        _evict(folder.parent, most_mb << 20)
    return folder


def _manifest(storage: RemoteStorage, folder: Path, commit: int | None) -> Manifest:
    there = commits_of(storage)
    if not there:
        raise StorageError(f"{storage.shown}: holds no index; build one with `fader cluster build`")
    wanted = there[-1] if commit is None else commit
    if wanted not in there:
        raise StorageError(f"{storage.shown}: has no commit {wanted}, only {', '.join(map(str, there))}")
    target = commit_path(folder, wanted)
    data = storage.read(target.name)
    if not target.exists() or target.read_bytes() != data:
        with _writing(folder):
            LocalFolder(folder).write(target.name, data)
    return read_commit(folder, wanted)


def _copy_file(storage: RemoteStorage, folder: Path, name: str, expected: FileEntry) -> None:
    """Copy a file into the cache, unless it is there; a copy is checked before it gets its name."""
    target, kind = folder / name, name.rpartition(".")[2]
    with suppress(FaderError, FileNotFoundError):  # another process may remove it at this moment
        Container(target, kind, expected)
        os.utime(target)
        return
    pending = folder / f"{name}.{uuid.uuid4().hex[:8]}.tmp"
    try:
        with storage.open(name) as source, _writing(folder), open(pending, "xb") as copy:
            while data := source.read(COPY_BYTES):
                copy.write(data)
        Container(pending, kind, expected).verify()
        os.replace(pending, target)
    finally:
        pending.unlink(missing_ok=True)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Explain errors of the cache's disk, as distinct from those of the remote storage."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR):
            raise
        raise StorageError(
            f"{folder}: the copy of an index cannot be written: {error.strerror}; free space there, or set "
            "FADER_CLUSTER_CACHE to another folder"
        ) from None


def _evict(cache: Path, most: int) -> None:
    """Remove the least recently used copies. A process that has mapped a file keeps it."""
    found = []
    for file in cache.glob("*/*"):
        if _CACHED.fullmatch(f"{file.parent.name}/{file.name}") is None:
            continue
        with suppress(OSError):
            status = file.stat()
            found.append((status.st_mtime, status.st_size, file))
    size, now = sum(one[1] for one in found), time.time()
    for used, own, file in sorted(found):
        if size <= most or now - used < YOUNG_SECONDS:
            return
        with suppress(OSError):
            file.unlink()
            size -= own
