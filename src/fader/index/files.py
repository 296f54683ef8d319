"""The files of a segment, opened, with each of their arrays as a typed attribute.

    terms      term (sorted strings), postings (a list of positions per term; its extra number is the df)
    mentions   start, length, document, entity, confidence (packed columns, a row per mention), confidences (their
               distinct values), type (a list of mention rows per type), and what `aside.py` describes
    documents  base, cell, distinct, square (arrays), mentions_at (packed: the first mention row of each document)
    deleted    document (the deleted documents, ascending)

The text has its own module (`textstore.py`), as has the catalog (`catalog.py`). Knows nothing of what is asked of them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fader.errors import DamagedError
from fader.index.aside import Aside, read_aside
from fader.index.encoding.lists import Lists
from fader.index.encoding.packed import Packed
from fader.index.encoding.shapes import check_array, damage_error
from fader.index.encoding.strings import SortedStrings
from fader.index.format import Array, Container
from fader.index.manifest import SegmentEntry
from fader.index.sound import UNSIGNED, check_documents

I32 = NDArray[np.int32]


class TermsFile:
    """The dictionary of a segment and the postings of its terms."""

    def __init__(self, folder: Path, segment: SegmentEntry) -> None:
        c = self.container = Container(folder / segment.name_file("terms"), "terms", segment.files.terms)
        self.terms = SortedStrings(c, "term", segment.terms)
        self.postings = Lists(c, "postings", segment.documents + segment.tokens)
        if len(self.postings) != segment.terms:
            raise damage_error(c, f"{len(self.postings)} lists are not those of {segment.terms} terms")


class MentionsFile:
    """The mentions of a segment, a row each, and the rows of each type."""

    def __init__(self, folder: Path, segment: SegmentEntry, types: int) -> None:
        c = self.container = Container(folder / segment.name_file("mentions"), "mentions", segment.files.mentions)
        self.start = Packed(c, "start", segment.mentions)
        self.length = Packed(c, "length", segment.mentions)
        self.document = Packed(c, "document", segment.mentions)
        self.entity = Packed(c, "entity", segment.mentions)
        self.confidence = Packed(c, "confidence", segment.mentions)
        self.confidences: NDArray[np.float64] = check_array(c, "confidences", "f8")
        self._mentions = segment.mentions
        self.rows_of_type = Lists(c, "type", segment.mentions)
        if len(self.rows_of_type) != types:
            raise damage_error(c, f"{len(self.rows_of_type)} lists are not those of {types} types")

    def read_aside(self, base: I32) -> Aside:
        """The mentions whose ids are not those of entities."""
        return read_aside(self.container, base, self._mentions, self.confidences.size)


class DocumentsFile:
    """Where the tokens and mentions of each document are, and what its terms count."""

    def __init__(self, folder: Path, segment: SegmentEntry) -> None:
        c = self.container = Container(folder / segment.name_file("documents"), "documents", segment.files.documents)
        self.base, self.cell = check_documents(c, segment)
        self.mentions_at = Packed(c, "mentions_at", segment.documents + 1)
        self.distinct: Array = check_array(c, "distinct", *UNSIGNED, size=segment.documents)
        self.square: Array = check_array(c, "square", *UNSIGNED, size=segment.documents)


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
