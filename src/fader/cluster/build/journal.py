"""What an unfinished build has done already, kept beside the index: a build goes on where another has stopped.

    OUT/.unfinished/plan.json          inputs and options, of which the key is a checksum; {"committed": N} at the end
    OUT/.unfinished/KEY/splitters.json the ids that cut the corpus into shards
    OUT/.unfinished/KEY/map/           for each piece its buckets, and a mark when they are whole
    OUT/.unfinished/KEY/reduce/        for each shard its segments, and a mark when they are whole
    OUT/.unfinished/KEY/catalog...     the same for the catalog
    mark := JSON of what the task found out, newline, "xxh3:" checksum of the line

A mark is written, by the task itself, when the files it speaks of are on disk for good; so a mark that is there can be
believed, whoever has died meanwhile. Files are named by the key, so that a task of a build with other options, which
may still be running somewhere, cannot leave anything that is taken for ours. Knows nothing of what tasks do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import xxhash

from fader.cluster.storage import Storage, masked
from fader.errors import StorageError

FOLDER = ".unfinished"
PLAN = f"{FOLDER}/plan.json"
THREADS = 16
# What a plan's parts are called when one has changed.
PARTS = {
    "fader": "Fader's version",
    "sources": "the corpus",
    "catalog": "the entities or types",
    "shards": "--shards",
    "options": "the options",
    "limits": "the limits",
    "piece_bytes": "the size of pieces",
}


def key_of(plan: Mapping[str, Any]) -> str:
    """The key of a plan: equal plans give equal bytes."""
    return xxhash.xxh3_64_hexdigest(json.dumps(plan, sort_keys=True).encode())


class Journal:
    """The journal of one plan in a folder; made by the driver, used by its tasks too."""

    def __init__(self, storage: Storage, key: str) -> None:
        self.storage, self.key, self.folder = storage, key, f"{FOLDER}/{key}"

    def name(self, name: str) -> str:
        """The path, inside of the storage, of a file of the journal."""
        return f"{self.folder}/{name}"

    def mark(self, name: str, found: Mapping[str, Any]) -> None:
        """Note that a task has finished, and what it has found."""
        line = json.dumps(found, ensure_ascii=False, sort_keys=True)
        checksum = xxhash.xxh3_64_hexdigest(line.encode())
        self.storage.write(self.name(f"{name}.json"), f"{line}\nxxh3:{checksum}\n".encode())

    def marked(self, name: str) -> dict[str, Any] | None:
        """What a task has found, None where it has not finished; a mark that is damaged is none."""
        try:
            line, _mark, rest = self.storage.read(self.name(f"{name}.json")).decode("utf-8").partition("\nxxh3:")
            if rest.strip() != xxhash.xxh3_64_hexdigest(line.encode()):
                return None
            found: dict[str, Any] = json.loads(line)
        except (FileNotFoundError, ValueError):
            return None
        return found

    def finished(self, folder: str, packed: Callable[[dict[str, Any]], Any] = dict) -> dict[str, dict[str, Any]]:
        """All marks of a folder whose files are there in the size that they had, each `packed` as it is read."""
        there = self.storage.names(self.name(folder))
        names = sorted(name.removesuffix(".json") for name in there if name.endswith(".json"))
        with ThreadPoolExecutor(THREADS) as pool:  # an object store takes its time for each
            marks = pool.map(lambda name: packed(self.marked(f"{folder}/{name}") or {}), names)
            return {
                name: mark
                for name, mark in zip(names, marks, strict=True)
                if mark and all(there.get(file) == size for file, size in mark["files"].items())
            }


def begun(storage: Storage, plan: Mapping[str, Any], restart: bool) -> Journal:
    """The journal of a plan, new or the one that is there; that of another plan is refused, or removed."""
    plan = _without_passwords(plan)
    journal = Journal(storage, key_of(plan))
    before = _plan(storage)
    if before is not None and (restart or before == {}):  # one that cannot be read is of no use
        storage.remove_folder(FOLDER)
        before = None
    if before is not None and before != plan:
        changed = [what for part, what in PARTS.items() if before.get(part) != plan.get(part)]
        raise StorageError(
            f"{storage.shown}: holds an unfinished build with other input: {', '.join(changed) or 'the plan'} changed; "
            "run the same command as then to finish it, or pass --restart to begin anew"
        )
    for folder in ("", "/map", "/reduce"):
        storage.make(journal.folder + folder)
    if before is None:
        storage.write(PLAN, json.dumps(plan, ensure_ascii=False, sort_keys=True).encode())
    return journal


def _without_passwords(value: Any) -> Any:
    """A plan fit to be kept where others may read it."""
    if isinstance(value, Mapping):
        return {key: _without_passwords(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_passwords(one) for one in value]
    return masked(value) if isinstance(value, str) else value


def is_begun(storage: Storage) -> bool:
    """Whether a build was begun that is not committed."""
    plan = _plan(storage)
    return bool(plan) and "committed" not in (plan or {})


def end(storage: Storage, commit: int) -> None:
    """Remove the journal of a build that is committed. Who dies meanwhile leaves one that says so, for `sweep`."""
    storage.write(PLAN, json.dumps({"committed": commit}).encode())
    storage.remove_folder(FOLDER)


def sweep(storage: Storage) -> None:
    """Remove what is left of the journal of a build that is committed."""
    if "committed" in (_plan(storage) or {}):
        storage.remove_folder(FOLDER)


def _plan(storage: Storage) -> dict[str, Any] | None:
    """The plan of the build that was begun, None for none; one that cannot be read is empty."""
    try:
        found: dict[str, Any] = json.loads(storage.read(PLAN))
    except FileNotFoundError:
        return None
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
