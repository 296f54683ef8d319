"""What is in an index, and which of its commits can be read, as plain data: what `info --json` prints.

Knows nothing of who asks.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from fader.index.commit import list_commits
from fader.index.reader import IndexReader


def describe(reader: IndexReader) -> dict[str, Any]:
    """The statistics as plain data."""
    sizes = _sizes(reader.folder)
    total = sum(sizes.values())
    analysis = reader.analysis
    return {
        "index": str(reader.folder),
        "commit": reader.manifest.commit,
        "format": reader.manifest.format,
        "documents": reader.documents,
        "tokens": reader.tokens,
        "mentions": reader.mentions,
        "deleted": reader.manifest.buried._asdict(),
        "entities": len(reader.catalog.entity_ids),
        "types": len(reader.catalog.type_ids),
        "segments": len(reader.manifest.segments),
        "average_length": round(reader.tokens / max(1, reader.documents), 2),
        "stemmer": analysis.stemmer or "none",
        "stop_words": len(analysis.stopwords),
        "unicode": analysis.unicode,
        "skipped": reader.manifest.skipped or "nothing",
        "bytes": total,
        "bytes_without_text": total - sizes.get("text", 0),
        "bytes_by_part": sizes,
        "commits_kept": reader.manifest.keep,
        "commits": _commits(reader.folder),
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
