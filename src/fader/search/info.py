"""The statistics of an index and its readable commits, as data: what `info --json` prints.

Knows nothing of how they are shown.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct, UnsetType, to_builtins

from fader.index.commit import list_commits
from fader.index.manifest import Operation
from fader.search.collection import Collection


class CommitInfo(Struct, frozen=True):
    """A commit; one that cannot be read has a problem and no counts."""

    commit: int
    time: str
    problem: str | UnsetType = UNSET
    operation: Operation | UnsetType = UNSET
    documents: int | UnsetType = UNSET
    deleted: int | UnsetType = UNSET
    segments: int | UnsetType = UNSET
    bytes: int | UnsetType = UNSET


class IndexInfo(Struct, frozen=True):
    """The statistics of one commit; bytes are those of the whole folder, `skipped` counts faults by kind."""

    index: str
    commit: int
    format: int
    documents: int
    tokens: int
    mentions: int
    deleted: dict[str, int]
    entities: int
    types: int
    segments: int
    average_length: float
    stemmer: str
    stop_words: int
    unicode: str
    skipped: dict[str, int] | str
    bytes: int
    bytes_without_text: int
    bytes_by_part: dict[str, int]
    commits_kept: int
    commits: list[CommitInfo]

    def to_dict(self) -> dict[str, Any]:
        """Plain data in the order of the documented JSON."""
        plain: dict[str, Any] = to_builtins(self)
        return plain


def describe_index(collection: Collection) -> IndexInfo:
    """The statistics of an index."""
    manifest, catalog, analysis = collection.manifest, collection.catalog, collection.analysis
    sizes = _measure_files(collection.folder)
    total = sum(sizes.values())
    return IndexInfo(
        index=str(collection.folder),
        commit=manifest.commit,
        format=manifest.format,
        documents=collection.documents,
        tokens=collection.tokens,
        mentions=collection.mentions,
        deleted=manifest.buried._asdict(),
        entities=len(catalog.entity_ids),
        types=len(catalog.type_ids),
        segments=len(manifest.segments),
        average_length=round(collection.tokens / max(1, collection.documents), 2),
        stemmer=analysis.stemmer or "none",
        stop_words=len(analysis.stopwords),
        unicode=analysis.unicode,
        skipped=manifest.skipped or "nothing",
        bytes=total,
        bytes_without_text=total - sizes.get("text", 0),
        bytes_by_part=sizes,
        commits_kept=manifest.keep,
        commits=_list_commits(collection.folder),
    )


def _measure_files(folder: Path) -> dict[str, int]:
    """The bytes of the folder's files by kind, all commits together."""
    sizes: dict[str, int] = {}
    for path in sorted(folder.iterdir()):
        with suppress(FileNotFoundError):  # a writer has removed it meanwhile
            size = path.stat().st_size
            part = path.suffix.lstrip(".") or path.name
            sizes[part] = sizes.get(part, 0) + size
    return sizes


def _list_commits(folder: Path) -> list[CommitInfo]:
    found = []
    for c in list_commits(folder):
        time = f"{c.time:%Y-%m-%d %H:%M:%S} UTC"
        if c.problem is not None or c.operation is None:
            found.append(CommitInfo(c.number, time, c.problem or ""))
        else:
            counts = (c.documents, c.deleted, c.segments, c.bytes)
            found.append(CommitInfo(c.number, time, UNSET, c.operation, *counts))
    return found
