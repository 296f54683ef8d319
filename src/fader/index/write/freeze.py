"""One frozen segment: files made of tokens and mentions that are complete, in memory, and in their final order.

Documents come in the order of their ids. Postings are made by a counting sort; lists are packed. Building and merging
both end here, so that they write the same segment for the same documents. Knows nothing of texts, of where tokens come
from or of commits.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.index.aside import Aside, write_aside
from fader.index.encoding.list_writer import EncodedLists, encode_lists, write_lists
from fader.index.encoding.packed import write_packed
from fader.index.encoding.strings import Joined, write_sorted
from fader.index.format import Array, FileEntry, writing
from fader.index.manifest import PartEntries, SegmentEntry
from fader.index.sound import CELL_BITS
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
    """Mentions in any order: document, first token and tokens in it, entity, and which of `confidences`.

    `given` numbers the id of a mention in `names` where it is not that of an entity, and is -1 else; the entity is then
    the one that counts, or -1 for none.
    """

    document: I32
    start: I32
    length: I32
    entity: I32
    confidence: I32
    confidences: F64
    given: I32 | None = None
    names: Joined | None = None

    @property
    def count(self) -> int:
        """How many count for an entity."""
        return int(np.count_nonzero(self.entity >= 0))


@dataclass(frozen=True)
class TokenColumns:
    """Tokens as numbers of runs, those of document d from `begin[d]` on; the term of each run, -1 for a stop word."""

    raw: I32
    begin: I64
    term_of: I32


@dataclass(frozen=True)
class Frozen:
    """The documents of a segment, in the order of their ids."""

    lengths: I64
    terms: Joined
    tokens: TokenColumns
    mentions: MentionColumns

    @property
    def base(self) -> I32:
        """Where each document's positions begin, with one empty position behind each document."""
        ends = np.zeros(self.lengths.size + 1, dtype=np.int64)
        np.cumsum(self.lengths + 1, out=ends[1:])
        return ends.astype(np.int32)


# Columns of what is counted of a term, side by side because all are needed at once.
COUNT, DOCUMENTS, LAST, RUN = 0, 1, 2, 3


@kernel
def _count(raw: I32, begin: I64, lengths: I64, term_of: I32, counted: I32, distinct: I32, square: I64) -> None:
    """Per term its occurrences and documents; per document its distinct terms and the sum of squared counts."""
    U = np.uintp
    for d in range(lengths.size):
        different, squares = np.int32(0), np.int64(0)
        for i in range(begin[d], begin[d] + lengths[d]):
            term = term_of[U(raw[U(i)])]
            if term < 0:
                continue
            t = U(term)
            run = counted[t, U(RUN)] + np.int32(1)
            if counted[t, U(LAST)] != d:
                run = np.int32(1)
                counted[t, U(LAST)] = d
                counted[t, U(DOCUMENTS)] += np.int32(1)
                different += np.int32(1)
            counted[t, U(RUN)] = run
            counted[t, U(COUNT)] += np.int32(1)
            squares += 2 * np.int64(run) - 1  # k^2 - (k-1)^2
        distinct[d] = different
        square[d] = squares


@kernel
def _invert(raw: I32, begin: I64, base: I32, term_of: I32, put: I64, positions: I32) -> None:
    """Counting sort of the positions by term."""
    U = np.uintp
    for d in range(begin.size):
        for i in range(base[d + 1] - base[d] - 1):
            term = term_of[U(raw[U(begin[d] + i)])]
            if term >= 0:
                positions[U(put[U(term)])] = base[d] + i
                put[U(term)] += 1


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


def write_segment(
    folder: Path, name: str, frozen: Frozen, catalog: Closure, text: FileEntry, pool: ThreadPoolExecutor | None = None
) -> SegmentEntry:
    """Write the files of a segment beside its text, which is written already, always in the same order.

    With a pool, mentions are put in order and packed while postings are.
    """
    base = frozen.base
    order = partial(_order_mentions, frozen.mentions, base, catalog)
    beside = None if pool is None else pool.submit(order)
    postings, distinct, square = _encode_postings(frozen, base)
    ordered = order() if beside is None else beside.result()
    mentions = _write_mentions(folder / f"{name}.mentions", ordered, frozen.mentions.confidences)
    with writing(folder / f"{name}.terms", "terms") as w:
        write_sorted(w, "term", frozen.terms)
        write_lists(w, "postings", postings)
        terms = w.close()
    counts = _narrow(distinct), _narrow(square)
    documents = _write_documents(folder / f"{name}.documents", base, ordered.columns[2], *counts)
    return SegmentEntry(
        documents=int(frozen.lengths.size),
        files=PartEntries(documents, mentions, terms, text),
        mentions=frozen.mentions.count,
        name=name,
        terms=len(frozen.terms),
        tokens=int(frozen.lengths.sum()),
    )


def write_mentions(
    folder: Path, name: str, mentions: MentionColumns, base: I32, catalog: Closure, counts: tuple[Array, Array]
) -> tuple[FileEntry, FileEntry]:
    """Write the mentions of a segment whose terms and texts are written already, and where documents have them.

    `counts` are the distinct terms and the sums of squares. Returns the documents' file, then the mentions'.
    """
    ordered = _order_mentions(mentions, base, catalog)
    written = _write_mentions(folder / f"{name}.mentions", ordered, mentions.confidences)
    return _write_documents(folder / f"{name}.documents", base, ordered.columns[2], *counts), written


def _write_documents(path: Path, base: I32, of_mentions: I32, distinct: Array, square: Array) -> FileEntry:
    """Where documents lie, and their counts; `of_mentions` are the documents of mentions, ascending."""
    with writing(path, "documents") as w:
        w.array("base", base)
        w.array("cell", _cells(base))
        write_packed(w, "mentions_at", np.searchsorted(of_mentions, np.arange(base.size)).astype(np.int32))
        w.array("distinct", distinct)
        w.array("square", square)
        return w.close()


def _encode_postings(frozen: Frozen, base: I32) -> tuple[EncodedLists, I32, I64]:
    """The positions of each term; per document its distinct terms and the sum of squared counts."""
    n, documents = len(frozen.terms), base.size - 1
    counted = np.zeros((n, 4), dtype=np.int32)
    counted[:, LAST] = -1
    distinct, square = np.empty(documents, dtype=np.int32), np.empty(documents, dtype=np.int64)
    t = frozen.tokens
    _count(t.raw, t.begin, frozen.lengths, t.term_of, counted, distinct, square)
    at = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(counted[:, COUNT], out=at[1:])
    positions = np.empty(at[-1], dtype=np.int32)
    _invert(t.raw, t.begin, base, t.term_of, at[:-1].copy(), positions)
    df = np.ascontiguousarray(counted[:, DOCUMENTS])
    return encode_lists(positions, at, df), distinct, square


@dataclass(frozen=True)
class _Ordered:
    """Start, length, document, entity and confidence of mentions by position, the rows of each type, what is aside."""

    columns: tuple[I32, ...]
    types: EncodedLists
    aside: Aside


def _order_mentions(m: MentionColumns, base: I32, catalog: Closure) -> _Ordered:
    columns: tuple[I32, ...] = (base[m.document] + m.start, m.length, m.document, m.entity, m.confidence)
    which = None if m.given is None else np.flatnonzero(m.entity >= 0)  # which of the mentions stands where
    if which is not None:
        columns = tuple(c[which] for c in columns)
    start, length, _document, entity, confidence = columns
    if not _is_sorted(start, length, entity, confidence, m.confidences):
        order = np.lexsort((m.confidences[confidence], entity, length, start))
        columns = tuple(c[order] for c in columns)
        which = None if which is None else which[order]
    c = catalog
    at, rows = _rows_by_type(columns[3], c.types_at, c.types, c.above_at, c.above, c.above_at.size - 1)
    types = encode_lists(rows, at, np.zeros(at.size - 1, dtype=np.int32))
    return _Ordered(columns, types, Aside.none() if which is None else _set_aside(m, which))


def _set_aside(m: MentionColumns, which: I64) -> Aside:
    """The mentions whose ids are not those of entities, and the row that each has become."""
    assert m.given is not None
    assert m.names is not None
    row = np.full(m.entity.size, -1, dtype=np.int32)
    row[which] = np.arange(which.size, dtype=np.int32)
    own = np.flatnonzero(m.given >= 0)
    columns = (m.document, m.start, m.length, m.given, m.confidence, row)
    return Aside(m.names, *(column[own] for column in columns))


def _write_mentions(path: Path, ordered: _Ordered, confidences: F64) -> FileEntry:
    with writing(path, "mentions") as w:
        for name, column in zip(("start", "length", "document", "entity", "confidence"), ordered.columns, strict=True):
            write_packed(w, name, column)
        w.array("confidences", confidences)
        write_lists(w, "type", ordered.types)
        if len(ordered.aside):
            write_aside(w, ordered.aside)
        return w.close()


@kernel
def _is_sorted(start: I32, length: I32, entity: I32, confidence: I32, confidences: F64) -> bool:
    """Whether mentions stand by start, length, entity, then confidence, as those of most corpora do."""
    for i in range(1, start.size):
        if start[i] < start[i - 1]:
            return False
        if start[i] == start[i - 1]:
            if length[i] < length[i - 1]:
                return False
            if length[i] == length[i - 1] and entity[i] < entity[i - 1]:
                return False
            same = length[i] == length[i - 1] and entity[i] == entity[i - 1]
            if same and confidences[confidence[i]] < confidences[confidence[i - 1]]:
                return False
    return True


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
