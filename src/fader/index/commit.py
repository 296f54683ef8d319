"""Commits: the manifest that makes a set of files an index, and the order of writes that survives a power loss.

    manifest := JSON line, newline, "xxh3:" checksum of the line
    commit   := write files, sync each; write `pending-N`, sync; sync folder; rename to `commit-N.json`; sync folder

The commit with the largest number is the index. Files are named by the commit that made them and never change, so a
reader's snapshot stays whole while a writer works. A file goes when no commit that is kept names it; a commit's
manifest goes before its files, so that a commit that is there is whole. What a manifest says is in `manifest.py`.
Knows nothing of what the files hold.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import xxhash

from fader.errors import DamagedError, FaderError, NotAnIndexError, StorageError
from fader.index.format import VERSION, check_version
from fader.index.manifest import Manifest, Operation, decode_manifest, decode_version, encode_manifest
from fader.jobs.files import sync_and_close, sync_folder

TRIES = 5
_NAME = re.compile(r"commit-([0-9]{8})\.json")
_PART = re.compile(r"([0-9]{8})(?:\.catalog|-[0-9]+\.(?:deleted|documents|mentions|terms|text))")
_PENDING = re.compile(r"pending-([0-9]{8})")


@dataclass(frozen=True, slots=True)
class CommitSummary:
    """A commit in a list. Where its manifest cannot be read, `problem` says why and `operation` is None."""

    number: int
    time: datetime
    operation: Operation | None
    documents: int
    deleted: int
    segments: int
    bytes: int
    problem: str | None = None


def commit_numbers(folder: Path) -> list[int]:
    """The commits in a folder, oldest first."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        raise NotAnIndexError(f"{folder}: no such folder; build an index with `fader index`") from None
    except NotADirectoryError:
        raise NotAnIndexError(f"{folder}: is a file; give the folder of an index") from None
    except OSError as error:
        raise StorageError(f"{folder}: cannot be read: {error.strerror or error}") from error
    return find_commit_numbers(names)


def find_commit_numbers(names: Iterable[str]) -> list[int]:
    """The commits whose manifests are among some names of files, oldest first."""
    return sorted(int(m[1]) for n in names if (m := _NAME.fullmatch(n)))


def commit_path(folder: Path, number: int) -> Path:
    """The manifest's file."""
    return folder / f"commit-{number:08d}.json"


def write_commit(folder: Path, manifest: Manifest) -> None:
    """Publish a manifest whose files are all written and synced; its format becomes the one that is written."""
    number, line = manifest.commit, encode_manifest(msgspec.structs.replace(manifest, format=VERSION))
    try:
        decode_manifest(line, number)  # what no reader would take must never become the newest commit
    except ValueError as error:
        raise StorageError(f"{folder}: commit {number} is not made: {error}") from None
    pending = folder / f"pending-{number:08d}"
    file = open(pending, "w", encoding="utf-8")  # noqa: SIM115  closed by sync_and_close
    try:
        file.write(f"{line}\nxxh3:{xxhash.xxh3_64_hexdigest(line.encode())}\n")
        sync_and_close(file)
    finally:
        file.close()
    sync_folder(folder)
    os.rename(pending, commit_path(folder, number))
    sync_folder(folder)


def read_commit(folder: Path, number: int | None = None) -> Manifest:
    """The manifest of a commit, of the newest by default.

    A writer may remove a commit between the look at the folder and the reading: then the folder is looked at again.
    """
    for _ in range(TRIES):
        numbers = commit_numbers(folder)
        if not numbers:
            raise NotAnIndexError(f"{folder}: not a Fader index (no commit in it); build one with `fader index`")
        if number is not None and number not in numbers:
            kept = f"there {'is commit' if len(numbers) == 1 else 'are commits'} {', '.join(map(str, numbers))}"
            raise StorageError(f"{folder}: has no commit {number}, or no longer; {kept}")
        wanted = numbers[-1] if number is None else number
        try:
            return _read(folder, wanted)
        except DamagedError:
            if commit_path(folder, wanted).exists():
                raise
    raise StorageError(f"{folder}: is replaced faster than it can be opened; try again")


def _read(folder: Path, number: int) -> Manifest:
    """The manifest of a commit that is there, its checksum, version and names checked."""
    path = commit_path(folder, number)
    try:
        line, mark, rest = path.read_bytes().decode("utf-8").split("\n")
    except (FileNotFoundError, ValueError):
        raise DamagedError(f"{path}: the manifest is damaged or missing") from None
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror or error}") from error
    if rest or mark != f"xxh3:{xxhash.xxh3_64_hexdigest(line.encode())}":
        raise DamagedError(f"{path}: the manifest's checksum does not match; the file is damaged")
    try:
        check_version(path, decode_version(line))
        return decode_manifest(line, number)
    except ValueError as error:
        raise DamagedError(f"{path}: {error}; the file is damaged, restore it") from None


def list_commits(folder: Path) -> list[CommitSummary]:
    """The commits that are kept, oldest first."""
    found = []
    for number in commit_numbers(folder):
        with suppress(FileNotFoundError):  # a writer has removed it meanwhile
            written = commit_path(folder, number).stat().st_mtime
            found.append(_summarize(folder, number, datetime.fromtimestamp(written, UTC)))
    return found


def _summarize(folder: Path, number: int, time: datetime) -> CommitSummary:
    try:
        manifest = _read(folder, number)
    except FaderError as error:
        return CommitSummary(number, time, None, 0, 0, 0, 0, str(error))
    size = sum(entry.bytes for _name, entry in manifest.file_entries)
    counts = manifest.live.documents, manifest.buried.documents, len(manifest.segments)
    return CommitSummary(number, time, manifest.operation, *counts, size)


def remove_debris(folder: Path, number: int) -> None:
    """Delete what unfinished commits after commit `number` have left; the caller holds the folder's lock."""
    names = [name for name, made_by in _ours(folder) if made_by > number]
    if names:
        _remove(folder, names)


def is_debris(folder: Path) -> bool:
    """Whether a folder without a commit holds nothing but what an unfinished first commit has left."""
    return {name for name, _made_by in _ours(folder)} == set(os.listdir(folder))


def remove_unneeded(folder: Path, keep: int) -> None:
    """Delete all commits but the newest `keep`, files that none of these names, and the debris of unfinished ones.

    The caller holds the folder's lock. What cannot be removed stays until the next time: the newest commit is there
    already, and nothing of this may make it fail. Where a commit that is kept cannot be read, it could need any file
    of its time, and an older commit may be what is left to fall back to: nothing as old as it is removed.
    """
    with suppress(OSError, StorageError):
        kept = commit_numbers(folder)[-max(1, keep) :]
        needed = {commit_path(folder, number).name for number in kept}
        unreadable = 0
        for number in kept:
            try:
                needed.update(_read(folder, number).file_names)
            except FaderError:
                unreadable = number
        removable = [name for name, made_by in _ours(folder) if made_by > unreadable and name not in needed]
        _remove(folder, removable, forgiving=True)


def _remove(folder: Path, names: list[str], forgiving: bool = False) -> None:
    """Delete files, manifests first: a power loss leaves no commit without its files.

    The sync is for manifests that went earlier too, where a writer was stopped before its own.
    """
    manifests = [name for name in names if _NAME.fullmatch(name)]
    for name in manifests:
        (folder / name).unlink(missing_ok=True)
    if names:
        sync_folder(folder)
    for name in sorted(set(names) - set(manifests)):
        with suppress(OSError) if forgiving else nullcontext():
            (folder / name).unlink(missing_ok=True)


def _ours(folder: Path) -> Iterator[tuple[str, int]]:
    """The names of an index's files in a folder, with the commits that made them."""
    for name in os.listdir(folder):
        made = _PART.fullmatch(name) or _NAME.fullmatch(name) or _PENDING.fullmatch(name)
        if made:
            yield name, int(made[1])
