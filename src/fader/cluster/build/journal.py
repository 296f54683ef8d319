"""Where a build on a cluster keeps what is done: a journal (`fader.jobs.journal`) beside the index.

    OUT/.unfinished/job.json              the key: inputs and options; {"committed": N} at the end
    OUT/.unfinished/KEY/splitters.part    the ids that cut the corpus into shards
    OUT/.unfinished/KEY/map/              for each piece its buckets, and its entry
    OUT/.unfinished/KEY/reduce/           for each shard its segments, and its entry
    OUT/.unfinished/KEY/catalog...        the same for the catalog

Entries are written by the tasks themselves, so that a killed driver loses nothing. Files lie in a folder named by the
key, so that a task of a build with other options, which may still be running somewhere, cannot leave anything that is
taken for ours. Knows nothing of what tasks do.
"""

from __future__ import annotations

from fader.cluster.storage import Storage
from fader.errors import StorageError
from fader.jobs.journal import JOB, Journal, Key, digest_key, list_changes, read_key, write_key

FOLDER = ".unfinished"
# What a part of the key is called when it has changed.
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
    """The journal of a build, new or the one that is there; that of a build with another key is refused, or removed."""
    before, there = read_key(storage, FOLDER), storage.names(FOLDER)
    if before is None and "plan.json" in there and not restart:
        here = f"{storage.shown}: holds an unfinished build of Fader 0.1"
        raise StorageError(f"{here}; finish it with that, or pass --restart to begin anew")
    if restart or before == {}:  # one that cannot be read is of no use
        if JOB in there or "plan.json" in there:
            storage.remove_folder(FOLDER)
        before = None
    if before is not None and (changed := list_changes(before, key, PARTS)):
        raise StorageError(
            f"{storage.shown}: holds an unfinished build with other input: {', '.join(changed)} changed; "
            "run the same command as then to finish it, or pass --restart to begin anew"
        )
    journal = Journal(storage, f"{FOLDER}/{digest_key(key)}", digest_key(key))
    for folder in ("", "/map", "/reduce"):
        storage.make(journal.folder + folder)
    if before is None:
        write_key(storage, key, FOLDER)
    return journal


def is_begun(storage: Storage) -> bool:
    """Whether a build was begun that is not committed."""
    key = read_key(storage, FOLDER)
    return bool(key) and "committed" not in (key or {})


def end(storage: Storage, commit: int) -> None:
    """Remove the journal of a build that is committed. A crash meanwhile leaves one that says so, for `sweep`."""
    write_key(storage, {"committed": commit}, FOLDER)
    storage.remove_folder(FOLDER)


def sweep(storage: Storage) -> None:
    """Remove what is left of the journal of a build that is committed."""
    if "committed" in (read_key(storage, FOLDER) or {}):
        storage.remove_folder(FOLDER)
