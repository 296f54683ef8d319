"""What a job has done so far, on disk: a killed job goes on where it was.

    FOLDER/job.json     {"journal": 2, "key": KEY}: what the results depend on (inputs, options, version)
    FOLDER/NAME.part    an entry: the result of an item, or of a run of items

    entry := xxh3 of the rest in 16 hexadecimal digits, newline, FILES, newline, data
    FILES := JSON object: the size of each file that the entry speaks of, by its name beside the entry

An entry is written when the files that it speaks of are on disk for good, and is itself whole or absent, so it can be
believed whoever has died meanwhile; one whose checksum or whose files are wrong counts as absent. A job with another
key is never given the entries. Everything is JSON or bytes: reading a journal executes nothing. Knows nothing of what
the entries hold.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import msgspec
import xxhash

from fader.errors import DamagedError
from fader.jobs.storage import Storage

FORMAT = 2
JOB, ENTRY = "job.json", ".part"
DIGITS = 16
THREADS = 16  # readers of entries at once: an object store takes its time for each

T = TypeVar("T")
Key = Mapping[str, Any]  # JSON values; any, as each job depends on other things


class Entry(NamedTuple):
    """What was kept under a name, and the sizes of the files that it speaks of."""

    data: bytes
    files: dict[str, int]


def to_json(value: Any) -> bytes:
    """Encode a record (dataclass, NamedTuple, Struct) as JSON. ASCII alone: file names may hold half characters."""
    return json.dumps(msgspec.to_builtins(value, str_keys=True)).encode()


def from_json(data: bytes, kind: Any) -> Any:
    """Decode a record of a type from JSON; ValueError where it is not one."""
    return msgspec.convert(json.loads(data), kind, str_keys=True)


def digest_key(key: Key) -> str:
    """Sixteen hexadecimal digits: equal for equal keys alone."""
    return xxhash.xxh3_64_hexdigest(json.dumps(key, sort_keys=True, default=str).encode())


def stamp_file(path: str) -> list[int]:
    """Size and time of change of a file, for a key; standard input is never the same again."""
    if path == "-":
        return [time.time_ns(), os.getpid()]
    status = os.stat(path)
    return [status.st_size, status.st_mtime_ns]


class Journal:
    """The entries of one job, in a folder of a storage; `key` is the digest of the job's key."""

    def __init__(self, storage: Storage, folder: str = "", key: str = "") -> None:
        self.storage, self.folder, self.key = storage, folder, key

    def path(self, name: str) -> str:
        """The path, inside the storage, of a file beside the entries."""
        return f"{self.folder}/{name}" if self.folder else name

    def keep(self, name: str, data: bytes, files: Mapping[str, int] | None = None) -> None:
        """Write an entry; the files that it speaks of must be on disk for good."""
        rest = json.dumps(files or {}).encode() + b"\n" + data
        self.storage.write(self.path(name + ENTRY), xxhash.xxh3_64_hexdigest(rest).encode() + b"\n" + rest)

    def find(self, name: str) -> Entry | None:
        """Read an entry; None where it is absent or damaged."""
        try:
            kept = self.storage.read(self.path(name + ENTRY))
        except FileNotFoundError:
            return None
        digest, rest = kept[:DIGITS], kept[DIGITS + 1 :]
        if digest != xxhash.xxh3_64_hexdigest(rest).encode():
            return None
        files, _newline, data = rest.partition(b"\n")
        return Entry(data, json.loads(files))

    def get(self, name: str) -> bytes:
        """The data of an entry that was kept."""
        entry = self.find(name)
        if entry is None:
            where = f"{self.storage.shown}/{self.path(name + ENTRY)}"
            raise DamagedError(f"{where}: was removed or altered; run the same command again")
        return entry.data

    def read_all(self, folder: str, decode: Callable[[bytes], T]) -> dict[str, T]:
        """The data of all entries in a subfolder whose files have the sizes that they had, decoded as it is read.

        The empty name is the folder itself.
        """
        there, prefix = self.storage.names(self.path(folder).rstrip("/")), f"{folder}/" if folder else ""

        def read(name: str) -> T | None:
            entry = self.find(prefix + name)
            whole = entry is not None and all(there.get(file) == size for file, size in entry.files.items())
            return decode(entry.data) if entry is not None and whole else None

        names = [name.removesuffix(ENTRY) for name in sorted(there) if name.endswith(ENTRY)]
        with ThreadPoolExecutor(THREADS) as pool:
            return {name: one for name, one in zip(names, pool.map(read, names), strict=True) if one is not None}


def read_key(storage: Storage, folder: str = "") -> Key | None:
    """The key of the job whose journal is in a folder: None where there is none, {} where it cannot be read.

    Journals of Fader 0.1 cannot be read.
    """
    try:
        found = json.loads(storage.read(f"{folder}/{JOB}" if folder else JOB))
    except FileNotFoundError:
        return None
    except ValueError:
        return {}
    is_ours = isinstance(found, dict) and found.get("journal") == FORMAT and isinstance(found.get("key"), dict)
    return found["key"] if is_ours else {}


def write_key(storage: Storage, key: Key, folder: str = "") -> None:
    """Begin a journal: note what its entries depend on."""
    data = json.dumps({"journal": FORMAT, "key": key}, default=str).encode()
    storage.write(f"{folder}/{JOB}" if folder else JOB, data)


def list_changes(before: Key, key: Key, words: Mapping[str, str]) -> list[str]:
    """What has changed between two keys, in the order of the new one; `words` say what users call a part of it."""
    if not before:
        return ["versions of Fader"]
    now = json.loads(json.dumps(key, default=str))
    return [words.get(part, part) for part, value in now.items() if before.get(part) != value]
