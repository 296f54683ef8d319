"""One frozen segment: files made of tokens and mentions that are complete, in memory, and in their final order.

Documents come in the order of their ids. Postings are made by a counting sort; lists are packed. Building and merging
both end here, so that they write the same segment for the same documents. Knows nothing of texts, of where tokens come
from or of commits.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.index.encoding.list_writer import encode_lists, write_lists
from fader.index.encoding.packed import write_packed
from fader.index.encoding.strings import Joined, write_sorted
from fader.index.format import FileEntry, writing
from fader.index.manifest import PartEntries, SegmentEntry
from fader.index.segment import CELL_BITS
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Numbered = tuple[I32, I32]


@dataclass(frozen=True)
class Closure:
    """The types of entities, and of each type all types above it, itself included, as offsets and values."""

    types_at: I32
    types: I32
    above_at: I32
    above: I32

    @property
    def mean(self) -> float:
        """How many types an entity has on the average, supertypes included (some counted twice)."""
        return float(np.diff(self.above_at)[self.types].sum()) / max(1, self.types_at.size - 1)


@dataclass(frozen=True)
class MentionColumns:
    """Mentions in any order: document, first token and tokens in it, entity, and which of `confidences`."""

    document: I32
    start: I32
    length: I32
    entity: I32
    confidence: I32
    confidences: F64


@dataclass(frozen=True)
class Frozen:
    """The documents of a segment: `tokens` are numbers of `terms`, -1 for a stop word, document after document."""

    lengths: I64
    terms: Joined
    tokens: I32
    mentions: MentionColumns

    @property
    def base(self) -> I32:
        """Where each document's positions begin, with one empty position behind each document."""
        ends = np.zeros(self.lengths.size + 1, dtype=np.int64)
        np.cumsum(self.lengths + 1, out=ends[1:])
        return ends.astype(np.int32)


@kernel
def _count(tokens: I32, base: I32, counts: I64, df: I32, distinct: I32, square: I64, seen: I32, run: I32) -> None:
    """Per term its occurrences and documents; per document its distinct terms and the sum of squared counts."""
    t = 0
    for d in range(base.size - 1):
        for _i in range(base[d + 1] - base[d] - 1):
            term = tokens[t]
            t += 1
            if term < 0:
                continue
            counts[term + 1] += 1
            if seen[term] != d:
                seen[term] = d
                run[term] = 0
                df[term] += 1
                distinct[d] += 1
            run[term] += 1
            square[d] += 2 * run[term] - 1  # k^2 - (k-1)^2


@kernel
def _invert(tokens: I32, base: I32, put: I64, positions: I32) -> None:
    """Counting sort of the positions by term."""
    t = 0
    for d in range(base.size - 1):
        for i in range(base[d + 1] - base[d] - 1):
            term = tokens[t]
            t += 1
            if term >= 0:
                positions[put[term]] = base[d] + i
                put[term] += 1


@kernel
def _rows_by_type(entity: I32, types_at: I32, types: I32, above_at: I32, above: I32, n_types: int) -> tuple[I64, I32]:
    """For each type the mention rows of its entities, closure included, ascending: offsets and rows."""
    seen = np.full(n_types, -1, dtype=np.int32)
    at = np.zeros(n_types + 1, dtype=np.int64)
    rows = np.empty(0, dtype=np.int32)
    for fill in range(2):
        if fill:
            for t in range(n_types):
                at[t + 1] += at[t]
            rows = np.empty(at[n_types], dtype=np.int32)
            seen[:] = -1
            put = at[:-1].copy()
        for row in range(entity.size):
            e = entity[row]
            for i in range(types_at[e], types_at[e + 1]):
                for j in range(above_at[types[i]], above_at[types[i] + 1]):
                    t = above[j]
                    if seen[t] != row:
                        seen[t] = row
                        if fill:
                            rows[put[t]] = row
                            put[t] += 1
                        else:
                            at[t + 1] += 1
    return at, rows


def write_segment(folder: Path, name: str, frozen: Frozen, catalog: Closure, text: FileEntry) -> SegmentEntry:
    """Write the files of a segment beside its text, which is written already."""
    base = frozen.base
    mentions, mentions_at = _write_mentions(folder / f"{name}.mentions", frozen.mentions, base, catalog)
    terms, distinct, square = _write_terms(folder / f"{name}.terms", frozen, base)
    with writing(folder / f"{name}.documents", "documents") as w:
        w.array("base", base)
        w.array("cell", _cells(base))
        write_packed(w, "mentions_at", mentions_at)
        w.array("distinct", _narrow(distinct))
        w.array("square", _narrow(square))
        documents = w.close()
    return SegmentEntry(
        documents=int(frozen.lengths.size),
        files=PartEntries(documents, mentions, terms, text),
        mentions=int(frozen.mentions.document.size),
        name=name,
        terms=len(frozen.terms),
        tokens=int(frozen.tokens.size),
    )


def _write_terms(path: Path, frozen: Frozen, base: I32) -> tuple[FileEntry, I32, I64]:
    n, documents = len(frozen.terms), base.size - 1
    at, df = np.zeros(n + 1, dtype=np.int64), np.zeros(n, dtype=np.int32)
    distinct, square = np.zeros(documents, dtype=np.int32), np.zeros(documents, dtype=np.int64)
    seen, run = np.full(n, -1, dtype=np.int32), np.zeros(n, dtype=np.int32)
    _count(frozen.tokens, base, at, df, distinct, square, seen, run)
    np.cumsum(at, out=at)
    positions = np.empty(at[-1], dtype=np.int32)
    _invert(frozen.tokens, base, at[:-1].copy(), positions)
    with writing(path, "terms") as w:
        write_sorted(w, "term", frozen.terms)
        write_lists(w, "postings", encode_lists(positions, at, df))
        return w.close(), distinct, square


def _write_mentions(path: Path, mentions: MentionColumns, base: I32, catalog: Closure) -> tuple[FileEntry, I32]:
    m = mentions
    columns = (base[m.document] + m.start, m.length, m.document, m.entity, m.confidence)
    order = np.lexsort((m.entity, m.length, columns[0]))
    start, length, document, entity, confidence = (c[order] for c in columns)
    c = catalog
    at, rows = _rows_by_type(entity, c.types_at, c.types, c.above_at, c.above, c.above_at.size - 1)
    with writing(path, "mentions") as w:
        names = ("start", "length", "document", "entity", "confidence")
        for name, column in zip(names, (start, length, document, entity, confidence), strict=True):
            write_packed(w, name, column)
        w.array("confidences", m.confidences)
        write_lists(w, "type", encode_lists(rows, at, np.zeros(at.size - 1, dtype=np.int32)))
        described = w.close()
    return described, np.searchsorted(document, np.arange(base.size)).astype(np.int32)


def _cells(base: I32) -> I32:
    """The document of the first position of each cell, and one cell more than there are positions."""
    first = np.arange((int(base[-1]) >> CELL_BITS) + 2, dtype=np.int64) << CELL_BITS
    return np.clip(np.searchsorted(base, first, side="right") - 1, 0, max(0, base.size - 2)).astype(np.int32)


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    """The same values in the smallest unsigned integers that hold them."""
    largest = int(values.max(initial=0))
    for dtype in (np.uint8, np.uint16, np.uint32):
        if largest <= np.iinfo(dtype).max:
            return values.astype(dtype)
    return values.astype(np.uint64)
