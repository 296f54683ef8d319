"""DOCX by python-docx: paragraphs and the cells of tables, in their order.

Sizes are checked before anything is unpacked. Runs in a process of its own (`apart`).
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from typing import Any

from fader.corpora.files.piece import DAMAGED, EMPTY, MISSING, OVER, Piece, UnreadableError
from fader.limits import Limits

_DEEP = 20  # tables in tables


def read_docx(path: str, limits: Limits) -> Iterator[Piece]:
    """The one document of a file."""
    try:
        import docx
    except ImportError:
        raise UnreadableError(MISSING, "DOCX needs python-docx: pip install 'fader[documents]'") from None
    with zipfile.ZipFile(path) as archive:
        size = sum(each.file_size for each in archive.infolist())
    if size > limits.file_bytes:
        raise UnreadableError(OVER, f"holds {size:,} bytes when it is unpacked; {limits.at_most('file_bytes')}")
    try:
        document = docx.Document(path)
        text = "\n".join(_blocks(document, _DEEP)).strip()
        title = " ".join((document.core_properties.title or "").split())
    except (KeyError, ValueError, OSError, SyntaxError, zipfile.BadZipFile, AttributeError, TypeError) as error:
        raise UnreadableError(DAMAGED, f"is no DOCX that can be read ({str(error)[:100]})") from None
    if not text:
        raise UnreadableError(EMPTY, "has no text")
    yield Piece(text, title)


def _blocks(holder: Any, deep: int) -> Iterator[str]:
    for block in holder.iter_inner_content():
        if not hasattr(block, "rows"):
            yield block.text
        elif deep:
            for row in block.rows:
                cells = dict.fromkeys(cell._tc for cell in row.cells)  # a cell over several columns comes several times
                made = {cell._tc: cell for cell in row.cells}
                yield " | ".join(" ".join("\n".join(_blocks(made[each], deep - 1)).split()) for each in cells)
