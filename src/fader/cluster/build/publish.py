"""The first and the last step of a build: check the folder, and turn the files into an index by one commit.

The files are in the journal already, complete and durable. They get their names in the index, by hard links where the
storage has them; then the manifest is written as on one machine, on an object store as the last object. A crash before
that leaves the index as it was; after it, the build is finished, and the same command says so. Knows nothing of how the
files were built.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from fader.cluster.build.journal import FOLDER, is_begun, sweep
from fader.cluster.build.tasks import CATALOG
from fader.cluster.storage import Storage, commits_of
from fader.corpus.documents import Faults
from fader.errors import DamagedError, StorageError
from fader.index.commit import commit_path, is_debris, read_commit, remove_debris, remove_unneeded, write_commit
from fader.index.lock import lock_for_writing
from fader.index.manifest import PARTS, CatalogEntry, Manifest, SegmentEntry, build_manifest
from fader.index.write.writer import BuildOptions
from fader.jobs.files import sync_folder
from fader.jobs.journal import THREADS, Journal
from fader.jobs.storage import LocalFolder


@contextmanager
def hold_destination(storage: Storage, overwrite: bool) -> Iterator[None]:
    """Lock and check the folder of the index. Object stores have no locks."""
    if not isinstance(storage, LocalFolder):
        sweep(storage)
        check_destination(storage, overwrite)
        storage.make()
        yield
        return
    if storage.folder.exists() and not storage.folder.is_dir():
        raise StorageError(f"{storage.folder}: is a file; give the name of a folder")
    storage.make()
    with lock_for_writing(storage.folder):
        sweep(storage)
        check_destination(storage, overwrite)
        yield


def check_destination(storage: Storage, overwrite: bool) -> None:
    """Refuse a folder with other files, or with an index unless `overwrite` or an unfinished build allows it."""
    commits = commits_of(storage)
    if commits and not overwrite and not is_begun(storage):
        raise _refuse_taken(storage)
    if commits or not isinstance(storage, LocalFolder) or (storage.folder / FOLDER).exists():
        return
    if not is_debris(storage.folder):
        raise StorageError(f"{storage.shown}: is a folder with other things in it; give a new or empty one")


def _refuse_taken(storage: Storage) -> StorageError:
    return StorageError(f"{storage.shown}: holds an index already; pass --overwrite to replace it")


def publish(
    storage: Storage,
    journal: Journal,
    catalog: CatalogEntry,
    shards: Sequence[Sequence[SegmentEntry]],
    faults: Faults,
    options: BuildOptions,
) -> Manifest:
    """Commit the segments of all shards; returns the manifest, that of the newest commit if it has been done."""
    newest = (commits_of(storage) or [0])[-1]
    number = newest + 1
    made = _name_segments(shards, number)
    stored = replace(catalog, name=f"{number:08d}.catalog")
    manifest = build_manifest(number, options.keep, stored, made.values(), options.analysis, faults.counts)
    there = _read_newest(storage, newest)
    if there is not None and _essence(there) == _essence(manifest):
        return there
    if newest and not options.overwrite:
        raise _refuse_taken(storage)
    if isinstance(storage, LocalFolder):
        remove_debris(storage.folder, newest)
    names = {f"reduce/{own}.{part}": f"{s.name}.{part}" for own, s in made.items() for part in PARTS}
    names[CATALOG] = stored.name
    # Several at once on an object store, which copies.
    with ThreadPoolExecutor(1 if isinstance(storage, LocalFolder) else THREADS) as pool:
        list(pool.map(lambda own: storage.double(journal.path(own), names[own]), names))
    _commit(storage, manifest)
    if isinstance(storage, LocalFolder):
        remove_unneeded(storage.folder, options.keep)
    return manifest


def _name_segments(shards: Sequence[Sequence[SegmentEntry]], number: int) -> dict[str, SegmentEntry]:
    """The segments that have documents, one at least, with their names in a commit, by their names in the journal."""
    every = {
        f"{shard:05d}-{place}": replace(segment, name=f"{number:08d}-{shard + place * len(shards)}")
        for shard, segments in enumerate(shards)
        for place, segment in enumerate(segments)
    }
    return {own: segment for own, segment in every.items() if segment.documents} or dict(list(every.items())[:1])


def _essence(manifest: Manifest) -> tuple[Any, ...]:
    """A key that is equal only for commits of the same build."""
    files = [segment.files for segment in manifest.segments]
    return files, manifest.catalog.xxh3, manifest.operation, manifest.analysis, manifest.skipped


def _read_newest(storage: Storage, number: int) -> Manifest | None:
    """The manifest of the newest commit; None where there is none or it is damaged."""
    if not number:
        return None
    with suppress(DamagedError), tempfile.TemporaryDirectory(prefix="fader-") as copy:
        if isinstance(storage, LocalFolder):
            return read_commit(storage.folder, number)
        name = commit_path(Path(copy), number).name
        (Path(copy) / name).write_bytes(storage.read(name))
        return read_commit(Path(copy), number)
    return None


def _commit(storage: Storage, manifest: Manifest) -> None:
    """Write a manifest whose files are all durable."""
    if isinstance(storage, LocalFolder):
        sync_folder(storage.folder)
        write_commit(storage.folder, manifest)
        return
    with tempfile.TemporaryDirectory(prefix="fader-") as folder:
        write_commit(Path(folder), manifest)
        name = commit_path(Path(folder), manifest.commit).name
        storage.write(name, (Path(folder) / name).read_bytes())
