"""Change an index from Python: add or replace documents, delete some, merge segments. Each is one commit.

Thin: what is done is in `index/change.py`. Each call gives the index opened at what it committed, with its report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fader.errors import DamagedError, StorageError, UsageError, quoted
from fader.index.write import change
from fader.index.write.change import ChangeOptions, ChangeReport
from fader.limits import Limits
from fader.progress import Progress
from fader.search.index import Index

LARGEST_ID = 10**1000  # longer whole numbers are no ids, and cannot be written out


def add(
    path: str | Path, corpus: str | Path | Iterable[str | Path] | Iterable[Mapping[str, Any]], *,
    on_error: str = "skip", memory_mb: int = 2048, threads: int = 1, keep: int | None = None, merge: bool = True,
    limits: Limits | None = None, progress: Progress | None = None,
) -> Index:  # fmt: skip
    """Add documents, from files (paths) or dictionaries; one with an id that is there replaces the old document.

    `keep` is how many commits stay from now on; without `merge` no segments are merged on this occasion.
    """
    limits = limits or Limits.from_environment()
    options = ChangeOptions(on_error, memory_mb, threads, keep, merge, limits)
    return _opened(path, change.add(Path(path), corpus, options, progress), limits)


def delete(
    path: str | Path, ids: str | int | Iterable[str | int], *, memory_mb: int = 2048, keep: int | None = None,
    merge: bool = True, limits: Limits | None = None, progress: Progress | None = None,
) -> Index:  # fmt: skip
    """Delete the documents with these ids; `report.missing` lists those that were not there."""
    options = ChangeOptions(memory_mb=memory_mb, keep=keep, merge=merge)
    return _opened(path, change.delete(Path(path), _texts(ids), options, progress), limits)


def merge(
    path: str | Path, *, memory_mb: int = 2048, keep: int | None = None, limits: Limits | None = None,
    progress: Progress | None = None,
) -> Index:  # fmt: skip
    """Merge all segments into one, or into as few as memory allows, without what is deleted."""
    options = ChangeOptions(memory_mb=memory_mb, keep=keep)
    return _opened(path, change.merge(Path(path), options, progress), limits)


def _texts(ids: str | int | Iterable[str | int]) -> list[str]:
    """Ids as an index has them: a corpus may have given numbers."""
    given = [ids] if isinstance(ids, str | int) else ids  # a bool is refused below
    if not isinstance(given, Iterable) or isinstance(given, bytes | bytearray):
        raise UsageError(f"ids must be the ids of documents, not {quoted(given)}")
    wanted = list(given)
    for one in wanted:
        if isinstance(one, bool) or not isinstance(one, str | int):
            raise UsageError(f"the id of a document is a text or a whole number, not {quoted(one)}")
        if isinstance(one, int) and abs(one) > LARGEST_ID:
            raise UsageError("a whole number of more than 1,000 digits is no document's id")
    return [str(one) for one in wanted]


def _opened(path: str | Path, report: ChangeReport, limits: Limits | None) -> Index:
    """The index at the commit of a report; at the newest, where others have written since and it is gone."""
    try:
        index = Index(path, at=report.manifest.commit, limits=limits)
    except (DamagedError, StorageError):
        index = Index(path, limits=limits)
    index.report = report
    return index
