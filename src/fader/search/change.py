"""Change an index from Python: add, replace and delete documents, change the catalog, merge. Each call is one commit.

The work is in `index/write/change.py`. Each call returns the index opened at its commit, with a report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fader.corpus.catalog_change import CatalogChange
from fader.errors import DamagedError, StorageError, UsageError, quote
from fader.index.write import change
from fader.index.write.change import ChangeOptions, ChangeReport
from fader.limits import Limits
from fader.progress import Progress, watch
from fader.search.index import Index

LARGEST_ID = 10**1000  # Python refuses to format much larger numbers


def add(
    path: str | Path,
    corpus: str | Path | Iterable[str | Path] | Iterable[Mapping[str, Any]] = (),
    *,
    entities: str | Path | Iterable[Mapping[str, Any]] | None = None,
    types: str | Path | Iterable[Mapping[str, Any]] | None = None,
    remove_entities: Iterable[str] = (),
    remove_types: Iterable[str] = (),
    same_as: str | Path | Mapping[str, str] | None = None,
    columns: str | None = None,
    on_error: str = "skip",
    catalog_on_error: str = "fail",
    memory_mb: int = 2048,
    threads: int | None = None,
    keep: int | None = None,
    merge: bool = True,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Index:
    """Add documents from files (paths) or dictionaries; a document whose id exists replaces the old one.

    Rows of entities and types replace those with their ids in the catalog, in the same commit; some can be removed by
    their ids, and `same_as` maps ids to those of the entities that they become. `columns` says which columns of a table
    of entities are which. `keep` is how many commits are kept from now on; `merge=False` merges no segments this time.
    """
    limits = limits or Limits.from_environment()
    options = ChangeOptions(on_error, memory_mb, threads, keep, merge, limits, catalog_on_error)
    gone, gone_types = (one if isinstance(one, str) else list(one) for one in (remove_entities, remove_types))
    catalog = CatalogChange(entities, types, gone, gone_types, columns, same_as)
    with watch("Adding", progress) as reporter:
        report = change.add(Path(path), corpus, options, reporter, catalog)
    return _open_at(path, report, limits)


def delete(
    path: str | Path,
    ids: str | int | Iterable[str | int],
    *,
    memory_mb: int = 2048,
    keep: int | None = None,
    merge: bool = True,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Index:
    """Delete the documents with these ids; `report.missing` lists ids that were not in the index."""
    options = ChangeOptions(memory_mb=memory_mb, keep=keep, merge=merge)
    return _open_at(path, change.delete(Path(path), _check_ids(ids), options, progress), limits)


def merge(
    path: str | Path,
    *,
    memory_mb: int = 2048,
    keep: int | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Index:
    """Merge all segments into one, or into as few as memory allows, and drop deleted documents."""
    options = ChangeOptions(memory_mb=memory_mb, keep=keep)
    with watch("Merging", progress) as reporter:
        report = change.merge(Path(path), options, reporter)
    return _open_at(path, report, limits)


def _check_ids(ids: str | int | Iterable[str | int]) -> list[str]:
    """Ids as texts, the way an index stores them; a corpus may have given numbers."""
    given = [ids] if isinstance(ids, str | int) else ids  # a bool is refused below
    if not isinstance(given, Iterable) or isinstance(given, bytes | bytearray):
        raise UsageError(f"ids must be ids of documents, not {quote(given)}")
    wanted = list(given)
    for one in wanted:
        if isinstance(one, bool) or not isinstance(one, str | int):
            raise UsageError(f"the id of a document must be a text or a whole number, not {quote(one)}")
        if isinstance(one, int) and abs(one) > LARGEST_ID:
            raise UsageError("a document's id cannot be a number of more than 1,000 digits")
    return [str(one) for one in wanted]


def _open_at(path: str | Path, report: ChangeReport, limits: Limits | None) -> Index:
    """The index at a report's commit, or at the newest if later writers have removed that commit."""
    try:
        index = Index.open(path, at=report.manifest.commit, limits=limits)
    except (DamagedError, StorageError):
        index = Index.open(path, limits=limits)
    index.report = report
    return index
