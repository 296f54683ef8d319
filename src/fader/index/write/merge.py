"""Several segments to one, without their deleted documents: the segment that building these documents would make.

Postings are turned back into the tokens they came from, renumbered, and frozen as a builder would freeze them; texts
are copied. Knows nothing of which segments should be merged, nor of commits.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fader.index.encoding.shapes import damage_error
from fader.index.encoding.strings import Joined
from fader.index.format import FileEntry
from fader.index.manifest import SegmentEntry
from fader.index.numbering import number_documents
from fader.index.segment import Segment
from fader.index.sound import CELL_BITS
from fader.index.textstore import TextWriter
from fader.index.write.freeze import Closure, Frozen, MentionColumns, TokenColumns, write_segment
from fader.index.write.renew import read_columns
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]


def merge_segments(folder: Path, name: str, segments: Sequence[Segment], catalog: Closure) -> SegmentEntry:
    """Write the segment that several segments make together.

    Their files are read through first: what is damaged must not get new checksums that fit.
    """
    for segment in segments:
        for container in segment.containers:
            container.verify()
    number = number_documents(segments)
    lengths = np.zeros(sum(int(np.count_nonzero(n >= 0)) for n in number), dtype=np.int64)
    for segment, n in zip(segments, number, strict=True):
        living = np.flatnonzero(n >= 0).astype(np.int32)
        lengths[n[living]] = segment.lengths(living)
    terms, tokens = _tokens(segments, number, lengths)
    text = _texts(folder / f"{name}.text", segments, number)
    frozen = Frozen(lengths, terms, tokens, _mentions(segments, number))
    return write_segment(folder, name, frozen, catalog, text)


@kernel
def _uninvert(
    positions: I32, at: I64, term_of: I32, base: I32, cell: I32, number: I32, begin: I64, out: I32, used: U8
) -> int:
    """Write the term of each posting to its token's place; documents numbered -1 are left out.

    Returns the first term with a position behind its document, where no token is; -1 if there is none.
    """
    for i in range(at.size - 1):
        for k in range(at[i], at[i + 1]):
            p = positions[k]
            d = cell[p >> CELL_BITS]
            while base[d + 1] <= p:
                d += 1
            if p == base[d + 1] - 1:
                return i
            if number[d] >= 0:
                out[begin[number[d]] + p - base[d]] = term_of[i]
                used[term_of[i]] = 1
    return -1


def _tokens(segments: Sequence[Segment], number: Sequence[I32], lengths: I64) -> tuple[Joined, TokenColumns]:
    """The sorted terms of the documents that are left, and the tokens of these documents."""
    terms, places = _dictionary([segment.terms.decode_all() for segment in segments])
    used = np.zeros(len(terms), dtype=np.uint8)
    begin = np.cumsum(lengths) - lengths
    out = np.full(int(lengths.sum()), len(terms), dtype=np.int32)  # stop words stay so
    for segment, n, place in zip(segments, number, places, strict=True):
        wrong = _uninvert(*segment.postings.all(), place, segment.base, segment.cell, n, begin, out, used)
        if wrong >= 0:
            raise damage_error(segment.containers[0], f"a position of term {wrong} is not that of a token")
    renumbered = np.append(np.cumsum(used, dtype=np.int32) - np.int32(1), np.int32(-1)).astype(np.int32)
    return terms.select(used), TokenColumns(out, begin, renumbered)


def _dictionary(own: list[Joined]) -> tuple[Joined, list[I32]]:
    """The terms of all segments, and the place of each segment's among them."""
    terms, places = own[0], [np.arange(len(own[0]), dtype=np.int32)]
    for other in own[1:]:
        terms, before, added = terms.merge(other)
        places = [*(before[place] for place in places), added]
    return terms, places


def _mentions(segments: Sequence[Segment], number: Sequence[I32]) -> MentionColumns:
    """The mentions of the documents that are left, those of a document in the order in which they stand."""
    names, places = _dictionary([segment.aside.names for segment in segments])
    parts = []
    for segment, n, place in zip(segments, number, places, strict=True):
        m = read_columns(segment)
        rows = np.flatnonzero(n[m.document] >= 0)
        given = np.full(m.entity.size, -1, dtype=np.int32) if m.given is None else m.given
        given = np.append(place, np.int32(-1)).astype(np.int32)[given]
        columns = (m.start, m.length, m.entity, given, m.confidences[m.confidence])
        parts.append((n[m.document[rows]], *(column[rows] for column in columns)))
    document, start, length, entity, given, confidence = (np.concatenate(c) for c in zip(*parts, strict=True))
    confidences, code = np.unique(confidence, return_inverse=True)
    aside = (given, names) if len(names) else (None, None)
    return MentionColumns(document, start, length, entity, code.astype(np.int32), confidences, *aside)


def _texts(path: Path, segments: Sequence[Segment], number: Sequence[I32]) -> FileEntry:
    """Copy the texts of the documents that are left, and put the documents in order."""
    writer = TextWriter(path, None, all(segment.text.keeps_text for segment in segments))
    try:
        arrived = [writer.copy(segment.text, segment.alive) for segment in segments]
        place = np.concatenate([n[documents] for n, documents in zip(number, arrived, strict=True)])
        return writer.close(np.argsort(place).astype(np.int64))
    finally:
        writer.abort()
