"""What must hold among the arrays of a segment, and that every reader relies on: the whole list, as a program.

    documents  lie end to end; `cell` finds them; `distinct` and `square` are those of the postings
    terms      ascend; positions ascend, each inside of a document and used once; df is the documents' count
    mentions   sorted, each inside its document and of an entity that exists; `mentions_at` finds them
    type       the list of a type has exactly the mentions of its entities, those of its subtypes included
    text       ids ascend; a text has the tokens that its document has, and samples of them (`texts.py`)
    deleted    documents that exist, ascending, with the tokens and mentions that the manifest counts

Containers are opened and their checksums compared already, and the manifest is checked. Structures are walked by
`structure.py` before they are used, so that arrays made to harm are refused and never read outside their bounds. The
first thing wrong with a file is a `DamagedError` that names it. The catalog is checked in `catalog.py`. Knows nothing
of folders, commits or repairing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.corpus.analysis import Analysis
from fader.index.aside import read_aside
from fader.index.encoding.packed import Packed, check_ends, get
from fader.index.encoding.shapes import check_array, damage_error
from fader.index.format import Array, Container
from fader.index.manifest import Manifest, SegmentEntry
from fader.index.sound import (
    CELL_BITS,
    UNSIGNED,
    check_buried,
    check_documents,
    check_mentions,
)
from fader.index.verify.catalog import CatalogArrays, check_catalog, count_by_type
from fader.index.verify.structure import check_different, check_lists
from fader.index.verify.texts import check_stored
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class SegmentFiles:
    """The files of a segment, opened, with what the manifest says of it."""

    entry: SegmentEntry
    terms: Container
    mentions: Container
    documents: Container
    text: Container
    deleted: Container | None = None


def verify(manifest: Manifest, catalog: Container, segments: Mapping[int, Sequence[Container]]) -> None:
    """Every checksum and every invariant of an open commit; what is wrong is an error.

    Segments are given by their places in the manifest, each as its terms, mentions, documents and text, and, where any
    are deleted, its deleted documents.
    """
    for container in (catalog, *(c for containers in segments.values() for c in containers)):
        container.verify()
    arrays = check_catalog(catalog, manifest.catalog)
    analysis = manifest.analysis.load()
    for place, containers in segments.items():
        files = SegmentFiles(manifest.segments[place], *containers)
        check_segment(files, arrays, analysis)
        if files.deleted is not None:
            check_deleted(files.deleted, files)


# Segments


def check_segment(files: SegmentFiles, catalog: CatalogArrays, analysis: Analysis) -> None:
    """The invariants of a segment, whatever is deleted of it."""
    base, cell = check_documents(files.documents, files.entry)
    for name in ("distinct", "square"):
        check_array(files.documents, name, *UNSIGNED, size=files.entry.documents)
    check_stored(files.text, files.entry.documents, np.diff(base).astype(np.int64) - 1, analysis)
    _check_postings(files, base, cell, bool(analysis.stopwords))
    _check_mentions(files, base, catalog)


def _check_postings(files: SegmentFiles, base: I32, cell: I32, has_stopwords: bool) -> None:
    """Terms and their positions, and what documents count of them."""
    c, terms = files.terms, check_different(files.terms, "term")
    if terms != files.entry.terms:
        raise damage_error(c, f"{terms} terms, where the commit says {files.entry.terms}")
    distinct, square = np.zeros((2, base.size - 1), dtype=np.int64)
    used = np.zeros((int(base[-1]) >> 3) + 1, dtype=np.uint8)
    total = 0
    for part in check_lists(c, "postings", terms, int(base[-1])):
        wrong = _tally(part.values, part.at, part.extra, base, cell, distinct, square, used)
        if wrong >= 0:
            raise damage_error(c, f"the positions of term {part.first + wrong} are not those of tokens, or miscounted")
        total += part.values.size
    tokens = files.entry.tokens
    if total != tokens and not has_stopwords:
        raise damage_error(c, f"{total} postings are not as many as there are tokens, {tokens}")
    for name, counted in (("distinct", distinct), ("square", square)):
        if (files.documents[name] != counted).any():
            raise damage_error(files.documents, f"{name!r} is not what the postings hold")


@kernel
def _tally(values: I32, at: I64, df: I64, base: I32, cell: I32, distinct: I64, square: I64, used: U8) -> int:
    """Count terms in documents; returns the first list with a position behind a document or of another list, or with
    another count of documents than `df`; -1 if there is none."""
    for i in range(df.size):
        found, run, end = 0, 0, np.int64(-1)
        d = 0
        for k in range(at[i], at[i + 1]):
            p = values[k]
            bit = np.uint8(1 << (p & 7))
            if used[p >> 3] & bit:
                return i
            used[p >> 3] |= bit
            if p >= end:
                d = max(d, cell[p >> CELL_BITS])
                while base[d + 1] <= p:
                    d += 1
                end = np.int64(base[d + 1])
                found, run = found + 1, 0
                distinct[d] += 1
            if p == end - 1:
                return i
            run += 1
            square[d] += 2 * run - 1  # k^2 - (k-1)^2
        if found != df[i]:
            return i
    return -1


def _check_mentions(files: SegmentFiles, base: I32, catalog: CatalogArrays) -> None:
    """Mentions, where each document's begin, and the lists of types."""
    c, rows = files.mentions, files.entry.mentions
    names = ("start", "length", "document", "entity", "confidence")
    columns = tuple(Packed(c, name, rows) for name in names)
    confidences = check_array(c, "confidences", "f8")
    if not np.isfinite(confidences).all():
        raise damage_error(c, "a confidence is not finite")
    mentions_at = Packed(files.documents, "mentions_at", base.size)
    ends = check_ends(files.documents, "mentions_at", mentions_at, rows)
    check_mentions(c, columns, confidences.size, base, ends, catalog.entities)
    _check_aside(c, columns, base, confidences.size)
    entity = columns[3]
    _check_types(files, catalog, entity, np.bincount(entity.all(), minlength=catalog.entities))


def _check_aside(c: Container, columns: tuple[Packed, ...], base: I32, confidences: int) -> None:
    """Mentions whose ids are not those of entities: those that count for one stand among all mentions."""
    aside = read_aside(c, base, columns[0].rows, confidences)
    if not len(aside):
        return
    check_different(c, "aside_names")
    some = np.flatnonzero(aside.row >= 0)
    start, length, document, _entity, confidence = (column.gather(aside.row[some]) for column in columns)
    given = aside.document[some], aside.start[some], aside.length[some], aside.confidence[some]
    stored = document, start - base[document], length, confidence
    if not all(np.array_equal(a, b) for a, b in zip(given, stored, strict=True)):
        raise damage_error(c, "a mention that is set aside is not the one that counts")


def _check_types(files: SegmentFiles, catalog: CatalogArrays, entity: Packed, counts: I64) -> None:
    """Each type's list: no mention of another type's entity, and as many mentions as its entities have."""
    c = files.mentions
    expected = count_by_type(counts, *catalog.entity_types, *catalog.descendants)
    seen = np.full(catalog.types, -1, dtype=np.int32)
    for part in check_lists(c, "type", catalog.types, int(counts.sum())):
        types = catalog.entity_types, catalog.descendants
        wrong = _find_wrong_type(part.first, part.values, part.at, part.extra, expected, *types, seen, entity.arrays)
        if wrong >= 0:
            raise damage_error(c, f"the list of type {wrong} is not that of its entities' mentions")


@kernel
def _find_wrong_type(
    first: int,
    rows: I32,
    at: I64,
    extra: I64,
    expected: I64,
    entity_types: Any,
    descendants: Any,
    seen: I32,
    entity: Any,
) -> int:
    """The first type whose list has a row of an entity that is not of it, or too few; -1 if there is none."""
    types_at, types = entity_types
    down_at, down = descendants
    base, e_at, words = entity
    for i in range(extra.size):
        t = first + i
        if at[i + 1] - at[i] != expected[t] or extra[i] != 0:
            return t
        for j in range(down_at[t], down_at[t + 1]):
            seen[down[j]] = t
        for k in range(at[i], at[i + 1]):
            e = get(base, e_at, words, rows[k])
            fits = False
            for j in range(types_at[e], types_at[e + 1]):
                fits |= seen[types[j]] == t
            if not fits:
                return t
    return -1


# What is deleted


def check_deleted(container: Container, files: SegmentFiles) -> None:
    """The documents of a segment that are deleted, with their tokens and mentions."""
    c, deleted = container, files.entry.buried
    document = check_array(c, "document", "i4", size=deleted.documents)
    last = files.entry.documents
    if document.size and (document[0] < 0 or document[-1] >= last or (document[1:] <= document[:-1]).any()):
        raise damage_error(c, f"its documents do not ascend below {last}")
    base: I32 = files.documents["base"]
    check_buried(c, files.entry, document, base, Packed(files.documents, "mentions_at", base.size).all())


# All segments together


def find_repeated_id(segments: Sequence[tuple[U8, Array, U8 | None]]) -> str | None:
    """An id of two live documents, None if there is none; of each segment its checked ids, and 1 for live documents."""
    hashes = [_hash_ids(data, at, _alive(at, alive)) for data, at, alive in segments]
    joined = np.concatenate([np.empty(0, dtype=np.uint64), *hashes])
    joined.sort()
    suspect = np.unique(joined[1:][joined[1:] == joined[:-1]])
    seen: set[bytes] = set()
    for (data, at, alive), hashed in zip(segments, hashes, strict=True):
        for d in np.flatnonzero(_alive(at, alive))[np.isin(hashed, suspect)]:
            name = data[int(at[d]) : int(at[d + 1])].tobytes()
            if name in seen:
                return name.decode("utf-8")
            seen.add(name)
    return None


def _alive(at: Array, alive: U8 | None) -> U8:
    return np.ones(at.size - 1, dtype=np.uint8) if alive is None else alive


def _hash_ids(data: U8, at: Array, alive: U8) -> NDArray[np.uint64]:
    """A hash of each live document's id."""
    out = np.empty(np.count_nonzero(alive), dtype=np.uint64)
    _hash(data, at, alive, out)
    return out


@kernel
def _hash(data: U8, at: Any, alive: U8, out: NDArray[np.uint64]) -> None:
    """FNV-1a."""
    n = 0
    for d in range(alive.size):
        if alive[d]:
            h = np.uint64(0xCBF29CE484222325)
            for i in range(np.int64(at[d]), np.int64(at[d + 1])):
                h = (h ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
            out[n] = h
            n += 1
