"""The journal (`fader.jobs.journal`) of a build on a cluster, beside the index.

    OUT/.unfinished/job.json              the key: inputs and options; {"committed": N} at the end
    OUT/.unfinished/KEY/splitters.part    the ids that divide the corpus into shards
    OUT/.unfinished/KEY/map/              buckets and entry per piece
    OUT/.unfinished/KEY/reduce/           segments and entry per shard
    OUT/.unfinished/KEY/catalog...        the same for the catalog

The tasks write the entries themselves, so a killed driver loses nothing. The folder of the files has the key in its
name, so files of a build with other options, whose tasks may still be running somewhere, cannot be mixed up with those
of this build. Knows nothing of what tasks do.
"""

from __future__ import annotations

from fader.cluster.storage import Storage
from fader.errors import StorageError
from fader.jobs.journal import JOB, Journal, Key, digest_key, list_changes, read_key, write_key

FOLDER = ".unfinished"
# Names of the parts of the key in messages.
PARTS = {
    "fader": "Fader's version",
    "sources": "the corpus",
    "catalog": "the entities or types",
    "shards": "--shards",
    "options": "the options",
    "limits": "the limits",
    "piece_bytes": "the size of pieces",
}


def begin(storage: Storage, key: Key, restart: bool) -> Journal:
    """Open or create the journal of a build; one with another key is refused, or removed with `restart`."""
    before, there = read_key(storage, FOLDER), storage.names(FOLDER)
    if before is None and "plan.json" in there and not restart:
        here = f"{storage.shown}: holds an unfinished build of Fader 0.1"
        raise StorageError(f"{here}; finish it with that release, or pass --restart to start over")
    if restart or before == {}:  # a damaged key
        if JOB in there or "plan.json" in there:
            storage.remove_folder(FOLDER)
        before = None
    if before is not None and (changed := list_changes(before, key, PARTS)):
        raise StorageError(
            f"{storage.shown}: holds an unfinished build with other input: {', '.join(changed)} changed; "
            "run the same command as then to finish it, or pass --restart to start over"
        )
    journal = Journal(storage, f"{FOLDER}/{digest_key(key)}", digest_key(key))
    for folder in ("", "/map", "/reduce"):
        storage.make(journal.folder + folder)
    if before is None:
        write_key(storage, key, FOLDER)
    return journal


def is_begun(storage: Storage) -> bool:
    """Whether there is an unfinished build."""
    key = read_key(storage, FOLDER)
    return bool(key) and "committed" not in (key or {})


def end(storage: Storage, commit: int) -> None:
    """Remove the journal of a committed build. After a crash here, `sweep` removes the rest."""
    write_key(storage, {"committed": commit}, FOLDER)
    storage.remove_folder(FOLDER)


def sweep(storage: Storage) -> None:
    """Remove the rest of the journal of a committed build."""
    if "committed" in (read_key(storage, FOLDER) or {}):
        storage.remove_folder(FOLDER)
