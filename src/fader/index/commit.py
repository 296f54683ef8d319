"""Commits: the manifest that makes a set of files an index, and the order of writes that survives a power loss.

    manifest := JSON line, newline, "xxh3:" checksum of the line
    commit   := write files, sync each; write `pending-N`, sync; sync folder; rename to `commit-N.json`; sync folder

The commit with the largest number is the index. Files are named by the commit that made them and
never change, so a reader's snapshot stays whole while a writer works. Knows nothing of what the files hold.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import xxhash

from fader.errors import DamagedError, NotAnIndexError, VersionError
from fader.index.format import VERSION, sync_and_close, sync_folder

_NAME = re.compile(r"commit-(\d{8})\.json")
_PART = re.compile(r"(\d{8})(?:-\d+)?\.[a-z]+")
_PENDING = re.compile(r"pending-(\d{8})")


def commit_numbers(folder: Path) -> list[int]:
    """The commits in a folder, oldest first."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        raise NotAnIndexError(f"{folder}: no such folder; build an index with `fader index`") from None
    except NotADirectoryError:
        raise NotAnIndexError(f"{folder}: is a file; give the folder of an index") from None
    return sorted(int(m[1]) for n in names if (m := _NAME.fullmatch(n)))


def write_commit(folder: Path, manifest: dict[str, Any]) -> None:
    """Publish a manifest whose files are all written and synced."""
    number = manifest["commit"]
    line = json.dumps({"format": VERSION, **manifest}, ensure_ascii=False, sort_keys=True)
    pending = folder / f"pending-{number:08d}"
    file = open(pending, "w", encoding="utf-8")  # noqa: SIM115  closed by sync_and_close
    try:
        file.write(f"{line}\nxxh3:{xxhash.xxh3_64_hexdigest(line.encode())}\n")
        sync_and_close(file)
    finally:
        file.close()
    sync_folder(folder)
    os.rename(pending, folder / f"commit-{number:08d}.json")
    sync_folder(folder)


def read_commit(folder: Path, number: int | None = None) -> dict[str, Any]:
    """The manifest of a commit, of the newest by default."""
    numbers = commit_numbers(folder)
    if not numbers:
        raise NotAnIndexError(f"{folder}: not a Fader index (no commit in it); build one with `fader index`")
    path = folder / f"commit-{numbers[-1] if number is None else number:08d}.json"
    try:
        line, mark, rest = path.read_bytes().decode("utf-8").split("\n")
    except (OSError, ValueError):
        raise DamagedError(f"{path}: the manifest is damaged or missing") from None
    if rest or mark != f"xxh3:{xxhash.xxh3_64_hexdigest(line.encode())}":
        raise DamagedError(f"{path}: the manifest's checksum does not match; the file is damaged")
    manifest: dict[str, Any] = json.loads(line)
    if manifest.get("format") != VERSION:
        raise VersionError(
            f"{path}: format version {manifest.get('format')}; this release reads {VERSION}; rebuild the index"
        )
    return manifest


def remove_debris(folder: Path, number: int) -> None:
    """Delete what unfinished commits after commit `number` have left; the caller holds the folder's lock."""
    for name in os.listdir(folder):
        made = _PART.fullmatch(name) or _NAME.fullmatch(name) or _PENDING.fullmatch(name)
        if made and int(made[1]) > number:
            (folder / name).unlink(missing_ok=True)


def remove_unneeded(folder: Path, manifest: dict[str, Any]) -> None:
    """Delete the files and commits that a newer commit has replaced, and the debris of unfinished ones."""
    needed = set(file_names(manifest)) | {f"commit-{manifest['commit']:08d}.json"}
    for name in os.listdir(folder):
        ours = _NAME.fullmatch(name) or _PART.fullmatch(name) or _PENDING.fullmatch(name)
        if ours and name not in needed:
            (folder / name).unlink(missing_ok=True)


def file_names(manifest: dict[str, Any]) -> list[str]:
    """Every file a commit needs."""
    names = [manifest["catalog"]["name"]]
    for segment in manifest["segments"]:
        names += [f"{segment['name']}.{part}" for part in segment["files"]]
    return names
