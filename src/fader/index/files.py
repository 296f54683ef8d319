"""The files of a segment, opened, with each of their arrays as a typed attribute.

    terms      term (sorted strings), postings (a list of positions per term; its extra number is the df)
    mentions   start, length, document, entity, confidence (packed columns, a row per mention), confidences (their
               distinct values), type (a list of mention rows per type)
    documents  base, cell, distinct, square (arrays), mentions_at (packed: the first mention row of each document)
    deleted    document (the deleted documents, ascending)

The text has its own module (`textstore.py`), as has the catalog (`catalog.py`). Knows nothing of what is asked of them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fader.errors import DamagedError
from fader.index.encoding.lists import Lists
from fader.index.encoding.packed import Packed
from fader.index.encoding.strings import SortedStrings
from fader.index.format import Array, Container, FileEntry
from fader.index.manifest import SegmentEntry

I32 = NDArray[np.int32]


class TermsFile:
    """The dictionary of a segment and the postings of its terms."""

    def __init__(self, path: Path, entry: FileEntry) -> None:
        c = self.container = Container(path, "terms", entry)
        self.terms = SortedStrings(c, "term")
        self.postings = Lists(c, "postings")


class MentionsFile:
    """The mentions of a segment, a row each, and the rows of each type."""

    def __init__(self, path: Path, entry: FileEntry) -> None:
        c = self.container = Container(path, "mentions", entry)
        self.start = Packed(c, "start")
        self.length = Packed(c, "length")
        self.document = Packed(c, "document")
        self.entity = Packed(c, "entity")
        self.confidence = Packed(c, "confidence")
        self.confidences: NDArray[np.float64] = c["confidences"]
        self.rows_of_type = Lists(c, "type")


class DocumentsFile:
    """Where the tokens and mentions of each document are, and what its terms count."""

    def __init__(self, path: Path, entry: FileEntry) -> None:
        c = self.container = Container(path, "documents", entry)
        self.base: I32 = c["base"]
        self.cell: I32 = c["cell"]
        self.mentions_at = Packed(c, "mentions_at")
        self.distinct: Array = c["distinct"]
        self.square: Array = c["square"]


class DeletedFile:
    """The deleted documents of a segment, checked when they are opened."""

    def __init__(self, folder: Path, segment: SegmentEntry) -> None:
        assert segment.deleted is not None
        c = self.container = Container(folder / segment.deleted.name, "deleted", segment.deleted.file)
        self.document: I32 = c["document"]
        ascending = self.document.dtype == np.int32 and bool((np.diff(self.document) > 0).all())
        inside = ascending and bool(((self.document >= 0) & (self.document < segment.documents)).all())
        if not inside or self.document.size != segment.deleted.documents:
            raise DamagedError(f"{c.path}: its documents are not those of segment {segment.name}")

    @classmethod
    def open(cls, folder: Path, segment: SegmentEntry) -> DeletedFile | None:
        """The file of a segment; None where nothing is deleted."""
        return cls(folder, segment) if segment.deleted else None

    def mark_alive(self, documents: int) -> NDArray[np.uint8]:
        """1 for each of so many documents that is not deleted."""
        alive = np.ones(documents, dtype=np.uint8)
        alive[self.document] = 0
        return alive
