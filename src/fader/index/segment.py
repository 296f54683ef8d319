"""One immutable segment of an index, opened: postings, mentions, documents, all mapped.

A segment numbers its documents from 0 and lays their tokens on one line of *positions*: document d owns
[base[d], base[d+1] - 1), with one empty position behind it, so that no phrase runs over a document's end and a
position alone says which document it is in. `cell[p >> CELL_BITS]` is the document of a cell's first position.
Knows nothing of other segments, of queries or of scores.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.errors import DamagedError
from fader.index.catalog import StoredCatalog
from fader.index.format import Container
from fader.index.lists import Lists
from fader.index.packed import Packed, get
from fader.index.strings import Strings
from fader.index.textstore import TextStore
from fader.kernel import kernel

I32 = NDArray[np.int32]
U32 = NDArray[np.uint32]
PARTS = ("terms", "mentions", "documents", "text")
CELL_BITS = 7


class Segment:
    """The arrays of a segment and what they mean."""

    def __init__(self, folder: Path, described: dict[str, Any]) -> None:
        files: dict[str, dict[str, Any]] = described["files"]
        if set(files) != set(PARTS):
            raise DamagedError(f"{folder}: segment {described['name']} lacks a file; the index is not whole")
        self.name: str = described["name"]
        self.documents: int = described["documents"]
        self.tokens: int = described["tokens"]
        path = {part: folder / f"{self.name}.{part}" for part in PARTS}
        self._terms = Container(path["terms"], "terms", files["terms"])
        self._mentions = Container(path["mentions"], "mentions", files["mentions"])
        self._documents = Container(path["documents"], "documents", files["documents"])
        self.text = TextStore(path["text"], files["text"])
        self.terms = Strings(self._terms, "term")
        self.postings = Lists(self._terms, "postings")
        self.rows_of_type = Lists(self._mentions, "type")
        self.start = Packed(self._mentions, "start")
        self.length = Packed(self._mentions, "length")
        self.document = Packed(self._mentions, "document")
        self.entity = Packed(self._mentions, "entity")
        self._confidence_code = Packed(self._mentions, "confidence")
        self._confidences: NDArray[np.float64] = self._mentions["confidences"]
        self.base: I32 = self._documents["base"]
        self.cell: I32 = self._documents["cell"]
        self.mentions_at: I32 = self._documents["mentions_at"]
        self.distinct = self._documents["distinct"]
        self.square = self._documents["square"]
        self._check_sizes(described)

    def _check_sizes(self, described: dict[str, Any]) -> None:
        sizes = (self.base.size - 1, self.mentions_at.size - 1, len(self.text.ids))
        if any(size != self.documents for size in sizes) or self.start.rows != described["mentions"]:
            raise DamagedError(f"{self._documents.path}: its arrays do not fit the commit")

    @property
    def containers(self) -> list[Container]:
        """Every file of the segment."""
        return [self._terms, self._mentions, self._documents, self.text.container]

    @property
    def mentions(self) -> int:
        return self.start.rows

    def confidence(self, rows: I32) -> NDArray[np.float64]:
        """The annotation confidence of mentions."""
        return self._confidences[self._confidence_code.gather(rows)]

    def find_term(self, term: str) -> int:
        """The number of a term, -1 if the segment has none such."""
        return self.terms.find(term)

    def rows_in(self, type_number: int | None, marks: NDArray[np.uint8]) -> I32:
        """Rows of a type's mentions (of all, for None) in marked documents, ascending."""
        if type_number is None:
            rows = np.arange(self.mentions, dtype=np.int32)
        else:
            rows = self.rows_of_type.values(type_number)
        return _rows_in(rows, marks, *self.document.arrays)  # type: ignore[no-any-return]

    def rows_of(self, documents: I32, catalog: StoredCatalog, mask: NDArray[np.uint8] | None) -> I32:
        """Rows of the mentions in some documents whose entity has a type in the mask (None: any), ascending."""
        rows = _expand(documents, self.mentions_at)
        if mask is None:
            return rows  # type: ignore[no-any-return]
        return _rows_of_types(rows, catalog.entity_types_at, catalog.entity_types, mask, *self.entity.arrays)  # type: ignore[no-any-return]

    def places(self, rows: I32) -> tuple[I32, I32, I32, I32, I32]:
        """Document, start, end, and the document's positions [low, high), of some mentions."""
        out = np.empty((5, rows.size), dtype=np.int32)
        _places(rows, self.base, *self.document.arrays, *self.start.arrays, *self.length.arrays, out)
        return out[0], out[1], out[2], out[3], out[4]

    def lengths(self, documents: I32) -> I32:
        """Tokens of each document."""
        return self.base[documents + 1] - self.base[documents] - 1


@kernel
def _rows_in(rows: I32, marks: NDArray[np.uint8], base: I32, at: U32, words: U32) -> I32:
    """Those of the rows whose document (a packed column) is marked, without a branch on it."""
    out = np.empty(rows.size + 1, dtype=np.int32)
    n = np.uintp(0)
    for i in range(rows.size):
        row = rows[np.uintp(i)]
        out[n] = row
        n += np.uintp(marks[np.uintp(get(base, at, words, row))])
    return out[: np.int64(n)]


@kernel
def _expand(documents: I32, mentions_at: I32) -> I32:
    total = 0
    for d in documents:
        total += mentions_at[d + 1] - mentions_at[d]
    rows = np.empty(total, dtype=np.int32)
    n = 0
    for d in documents:
        for row in range(mentions_at[d], mentions_at[d + 1]):
            rows[n] = row
            n += 1
    return rows


@kernel
def _rows_of_types(
    rows: I32, types_at: I32, types: I32, mask: NDArray[np.uint8], base: I32, at: U32, words: U32
) -> I32:
    out = np.empty(rows.size, dtype=np.int32)
    n = 0
    for row in rows:
        e = np.uintp(get(base, at, words, row))
        for j in range(types_at[e], types_at[e + np.uintp(1)]):
            if mask[np.uintp(types[np.uintp(j)])]:
                out[n] = row
                n += 1
                break
    return out[:n]


@kernel
def _places(
    rows: I32, base: I32, d_base: I32, d_at: U32, d_words: U32, s_base: I32, s_at: U32, s_words: U32,
    l_base: I32, l_at: U32, l_words: U32, out: NDArray[np.int32],
) -> None:  # fmt: skip
    U = np.uintp
    for k in range(rows.size):
        i = U(k)
        row = rows[i]
        d = get(d_base, d_at, d_words, row)
        start = get(s_base, s_at, s_words, row)
        out[U(0), i] = d
        out[U(1), i] = start
        out[U(2), i] = start + get(l_base, l_at, l_words, row)
        out[U(3), i] = base[U(d)]
        out[U(4), i] = base[U(d) + U(1)] - np.int32(1)
