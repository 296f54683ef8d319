"""Mentions whose ids are not those of entities: of an entity that became another one, or that was removed.

    document, start, length, name, row    packed columns; `start` counts tokens of the document, `name` is a number in
    names                                 sorted strings: the ids as they were given
    confidence                            packed: the number of a value of the segment's `confidences`

`row` is 1 + the row of the mention among all mentions, as it counts for the entity that its id stands for; 0 where it
counts for none. The arrays are part of a segment's mentions and are there only where there is such a mention. Queries
never read them: they let a change of the catalog, or a merge, know what was given. Knows nothing of catalogs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader.index.encoding.packed import Packed, write_packed
from fader.index.encoding.shapes import damage_error
from fader.index.encoding.strings import Joined, SortedStrings, write_sorted
from fader.index.format import Container, FileWriter

I32 = NDArray[np.int32]
COLUMNS = ("document", "start", "length", "name", "confidence", "row")


@dataclass(frozen=True)
class Aside:
    """Such mentions of a segment; `row` is -1 for one that counts for no entity."""

    names: Joined
    document: I32
    start: I32
    length: I32
    name: I32
    confidence: I32
    row: I32

    @classmethod
    def none(cls) -> Aside:
        return cls(Joined.of([]), *(np.zeros(0, dtype=np.int32) for _ in COLUMNS))

    def __len__(self) -> int:
        return int(self.document.size)


def write_aside(writer: FileWriter, aside: Aside) -> None:
    """Store them, in one order whatever they came in, with the names that they have."""
    a = aside
    order = np.lexsort((a.row, a.confidence, a.name, a.length, a.start, a.document))
    used = np.zeros(len(a.names), dtype=np.uint8)
    used[a.name] = 1
    place = (np.cumsum(used, dtype=np.int32) - np.int32(1)).astype(np.int32)
    columns = (a.document, a.start, a.length, place[a.name], a.confidence, a.row + np.int32(1))
    for name, column in zip(COLUMNS, columns, strict=True):
        write_packed(writer, f"aside_{name}", column[order])
    write_sorted(writer, "aside_names", a.names.select(used))


def read_aside(c: Container, base: I32, mentions: int, confidences: int) -> Aside:
    """Those of a segment, checked as far as anything relies on them; none where nothing is stored."""
    if "aside_names_strings" not in c.meta:
        return Aside.none()
    names = SortedStrings(c, "aside_names").decode_all()
    rows = Packed(c, "aside_document").rows
    document, start, length, name, confidence, row = (Packed(c, f"aside_{each}", rows).all() for each in COLUMNS)
    row = row - np.int32(1)
    bounds = (document, base.size - 1), (name, len(names)), (confidence, confidences), (row + np.int32(1), mentions + 1)
    inside = all(bool(((column >= 0) & (column < end)).all()) for column, end in bounds)
    if inside:
        ends = start.astype(np.int64) + length
        inside = bool(((start >= 0) & (length > 0) & (ends < base[document + 1] - base[document])).all())
    if not inside or np.unique(row[row >= 0]).size != np.count_nonzero(row >= 0):
        raise damage_error(c, "a mention that is set aside is not in its document, or of something that is not there")
    return Aside(names, document, start, length, name, confidence, row)
