"""`fader info`: what is in an index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fader.cli.common import folder_argument, json_option, print_json


@click.command("info", epilog="Example: fader info index/")
@folder_argument
@json_option
def command(folder: Path, as_json: bool) -> None:
    """Show statistics of the index in DIR."""
    from fader.index.reader import IndexReader

    described = describe(IndexReader(folder))
    if as_json:
        print_json(described)
        return
    for name, value in described.items():
        shown = f"{value:,}" if isinstance(value, int) else value
        if isinstance(value, dict):
            shown = ", ".join(f"{k} {v:,}" if isinstance(v, int) else f"{k} {v}" for k, v in value.items())
        print(f"{name.replace('_', ' '):<18} {shown}")


def describe(reader: Any) -> dict[str, Any]:
    """The statistics as plain data."""
    sizes: dict[str, int] = {}
    for path in sorted(reader.folder.iterdir()):
        part = path.suffix.lstrip(".") or path.name
        sizes[part] = sizes.get(part, 0) + path.stat().st_size
    total = sum(sizes.values())
    analysis = reader.analysis
    return {
        "index": str(reader.folder),
        "commit": reader.manifest["commit"],
        "format": reader.manifest["format"],
        "documents": reader.documents,
        "tokens": reader.tokens,
        "mentions": reader.mentions,
        "entities": len(reader.catalog.entity_ids),
        "types": len(reader.catalog.type_ids),
        "segments": len(reader.segments),
        "average_length": round(reader.tokens / max(1, reader.documents), 2),
        "stemmer": analysis.stemmer or "none",
        "stop_words": len(analysis.stopwords),
        "unicode": analysis.unicode,
        "skipped": reader.manifest["skipped"] or "nothing",
        "bytes": total,
        "bytes_without_text": total - sizes.get("text", 0),
        "bytes_by_part": sizes,
    }
