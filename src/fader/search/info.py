"""What is in an index, and which of its commits can be read, as plain data: what `info --json` prints.

Knows nothing of who asks.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from fader.index.commit import list_commits
from fader.search.collection import Collection


def describe(collection: Collection) -> dict[str, Any]:
    """The statistics as plain data."""
    sizes = _sizes(collection.folder)
    total = sum(sizes.values())
    analysis = collection.analysis
    return {
        "index": str(collection.folder),
        "commit": collection.manifest.commit,
        "format": collection.manifest.format,
        "documents": collection.documents,
        "tokens": collection.tokens,
        "mentions": collection.mentions,
        "deleted": collection.manifest.buried._asdict(),
        "entities": len(collection.catalog.entity_ids),
        "types": len(collection.catalog.type_ids),
        "segments": len(collection.manifest.segments),
        "average_length": round(collection.tokens / max(1, collection.documents), 2),
        "stemmer": analysis.stemmer or "none",
        "stop_words": len(analysis.stopwords),
        "unicode": analysis.unicode,
        "skipped": collection.manifest.skipped or "nothing",
        "bytes": total,
        "bytes_without_text": total - sizes.get("text", 0),
        "bytes_by_part": sizes,
        "commits_kept": collection.manifest.keep,
        "commits": _commits(collection.folder),
    }


def _sizes(folder: Path) -> dict[str, int]:
    """The bytes of the folder's files, all commits together, by kind."""
    sizes: dict[str, int] = {}
    for path in sorted(folder.iterdir()):
        with suppress(FileNotFoundError):  # a writer has removed it meanwhile
            size = path.stat().st_size
            part = path.suffix.lstrip(".") or path.name
            sizes[part] = sizes.get(part, 0) + size
    return sizes


def _commits(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for c in list_commits(folder):
        time = f"{c.time:%Y-%m-%d %H:%M:%S} UTC"
        if c.problem is not None:
            found.append({"commit": c.number, "time": time, "problem": c.problem})
            continue
        found.append({
            "commit": c.number, "time": time, "operation": to_builtins(c.operation), "documents": c.documents,
            "deleted": c.deleted, "segments": c.segments, "bytes": c.bytes,
        })  # fmt: skip
    return found
