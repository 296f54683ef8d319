"""Segments to decoded lists: the occurrences of a word or phrase, and the mentions of a type, of the whole collection.

Each segment's list is decoded, deleted documents are dropped, documents get their numbers in the collection, and the
lists of all segments become one, in the order of documents. Positions are counted in the document. A phrase is found
in the lists of its words. Knows nothing of queries or scores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.allowance import claim, claimed
from fader.contexts.occurrences import Occurrences
from fader.contexts.plan import count_listed
from fader.contexts.sought import SoughtLiteral
from fader.errors import LimitError
from fader.fused.arena import Arena, LiteralList, TypeList
from fader.fused.kernels import find_from
from fader.fused.lanes import LONG, MOST_SLOTS
from fader.index.encoding.lists import decode_list
from fader.index.encoding.packed import get
from fader.index.encoding.shapes import damage_error
from fader.index.reader import IndexReader
from fader.index.segment import Segment, number_entities
from fader.index.sound import CELL_BITS
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
SPARE_WORDS = 64  # a window of documents may end behind the last one
# While a list is made, bytes of an occurrence: decoded, split by document and joined, of a phrase; and of a mention.
DECODED_BYTES, SPLIT_BYTES, PHRASE_BYTES, MENTION_BYTES = 12, 40, 24, 88
DOCUMENT_BYTES = 8
NOTHING = LiteralList(0, 0, 0, 0, 0)
_NONE = np.empty(0, dtype=np.int32)
_NO_ROWS = np.empty((5, 0), dtype=np.int32)
DOCUMENT, ENTITY, START, END, ROW = range(5)  # columns of mentions while they are decoded


def find_literal(arena: Arena, reader: IndexReader, literal: SoughtLiteral) -> LiteralList:
    """The occurrences of a literal."""
    if not literal.is_plain:
        return arena.enter(literal, lambda a: _decode_union(a, reader, literal))
    words = [arena.enter(term, lambda a, t=term: _decode_term(a, reader, t)) for term in literal.terms]  # type: ignore[misc]
    if len(words) == 1:
        return words[0]

    def find(own: Arena) -> LiteralList:
        with claimed(PHRASE_BYTES * min(word.occurrences for word in words)):
            return _find_phrase(own, words, literal.offsets)

    return arena.enter((literal.terms, literal.offsets), find)


def find_type(arena: Arena, reader: IndexReader, number: int | None) -> TypeList:
    """The mentions of a type's entities; None for all entities."""

    def decode(own: Arena) -> TypeList:
        listed = sum(count_listed(segment, number) for segment in reader.segments)
        with claimed(MENTION_BYTES * listed + DOCUMENT_BYTES * reader.documents):
            return _decode_type(own, reader, number)

    return arena.enter(("type", number), decode)


def _decode_term(arena: Arena, reader: IndexReader, term: str) -> LiteralList:
    if reader.numbered_as_stored:
        (segment,) = reader.segments
        number, occurrences = segment.find_term(term)
        if number >= 0 and occurrences <= budget.CHUNK:
            return _decode_at_once(arena, segment, number, occurrences)

    def decode(segment: Segment) -> I32:
        number = segment.find_term(term)[0]
        if number < 0:
            return _NONE
        claim(DECODED_BYTES * segment.postings.head(number)[0])
        return segment.drop_deleted(segment.postings.values(number))

    return _decode(arena, reader, decode)


def _decode_at_once(arena: Arena, segment: Segment, number: int, occurrences: int) -> LiteralList:
    """A term of a collection that is one segment, decoded where it belongs."""
    budget.check()
    documents = segment.documents_with(number)
    claim(DECODED_BYTES * occurrences)
    places = arena.reserve(documents), arena.reserve(documents + 1), arena.reserve(occurrences)
    sizes = documents, occurrences
    if not _decode_list(segment.postings.arrays, number, sizes, segment.base, segment.cell, arena.integers, places):
        raise damage_error(
            segment.containers[0], f"list {number} of its terms is not sorted, or not as long as it says"
        )
    return LiteralList(places[0], documents, places[1], places[2], occurrences)


@kernel
def _decode_list(arrays: Any, i: int, sizes: Any, base: I32, cell: I32, out: I32, places: Any) -> Any:
    """Documents, where each one's positions begin, and positions of a list, if it has as many as it says."""
    (documents, occurrences), (document_at, at_at, position_at) = sizes, places
    positions, is_sound = decode_list(arrays, i, 0, base[base.size - 1])
    if not is_sound or positions.size != occurrences:
        return False
    document, at = out[document_at : document_at + documents], out[at_at : at_at + documents + 1]
    position = out[position_at : position_at + occurrences]
    return _split_by_document(positions, base, cell, document, at, position) == documents


def _decode_union(arena: Arena, reader: IndexReader, literal: SoughtLiteral) -> LiteralList:
    """A literal with stems or an entity: its occurrences as the table has them."""
    return _decode(arena, reader, lambda segment: Occurrences(segment, literal).all()[1:-1])


def _decode(arena: Arena, reader: IndexReader, decode: Callable[[Segment], I32]) -> LiteralList:
    """The positions that each segment has, as one list."""
    budget.check()
    parts = []
    with claimed():
        for s, segment in enumerate(reader.segments):
            positions = decode(segment)
            if not positions.size:
                continue
            claim(SPLIT_BYTES * positions.size)
            budget.check()
            document, at, position = np.empty((3, positions.size + 1), dtype=np.int32)
            n = _split_by_document(positions, segment.base, segment.cell, document, at, position)
            local = document[:n]
            documents = local if reader.numbered_as_stored else reader.numbers[s][local]
            parts.append((documents, at[: n + 1], position[: positions.size]))
            budget.check()
        if not parts:
            return NOTHING
        return _enter_literal(arena, *(parts[0] if len(parts) == 1 else _join(parts)))


def _enter_literal(arena: Arena, documents: I32, at: I32, position: I32) -> LiteralList:
    return LiteralList(arena.put(documents), documents.size, arena.put(at), arena.put(position), position.size)


def _join(parts: list[tuple[I32, I32, I32]]) -> tuple[I32, I32, I32]:
    """Lists of several segments as one; no document is in two of them."""
    documents = np.concatenate([d for d, _at, _p in parts])
    size = np.concatenate([np.diff(at) for _d, at, _p in parts])
    position = np.concatenate([p for _d, _at, p in parts])
    begin = np.cumsum(size, dtype=np.int64) - size
    if not (documents[1:] > documents[:-1]).all():
        order = np.argsort(documents, kind="stable")
        documents, size = documents[order], size[order]
        position = _take_lists(position, begin[order], size)
    at = np.zeros(size.size + 1, dtype=np.int32)
    np.cumsum(size, out=at[1:])
    return documents, at, position


@kernel
def _take_lists(values: I32, begin: I64, size: I32) -> I32:
    out = np.empty(values.size, dtype=np.int32)
    n = 0
    for j in range(begin.size):
        for i in range(begin[j], begin[j] + size[j]):
            out[n] = values[i]
            n += 1
    return out


@kernel
def _split_by_document(positions: I32, base: I32, cell: I32, document: I32, at: I32, position: I32) -> int:
    """Documents with an occurrence, where each one's begin, and positions counted in the document.

    Returns how many documents there are, or -1 where `document` has no room for them.
    """
    n, high = 0, np.int32(-1)
    low = np.int32(0)
    for k in range(positions.size):
        p = positions[k]
        if p >= high:
            if n == document.size:
                return -1
            d = cell[p >> CELL_BITS]
            while base[d + 1] <= p:
                d += 1
            low, high = base[d], base[d + 1]
            document[n] = d
            at[n] = k
            n += 1
        position[k] = p - low
    at[n] = positions.size
    return n


def _find_phrase(arena: Arena, words: list[LiteralList], offsets: tuple[int, ...]) -> LiteralList:
    """Where all words stand at their offsets: the rarest word's places, those kept that every other word agrees to."""
    budget.check()
    order = sorted(range(len(words)), key=lambda i: words[i].occurrences)
    rarest = words[order[0]]
    if rarest.occurrences == 0:
        return NOTHING
    integers = arena.integers
    documents = integers[rarest.document : rarest.document + rarest.documents]
    at = integers[rarest.at : rarest.at + rarest.documents + 1]
    position = integers[rarest.position : rarest.position + rarest.occurrences] - np.int32(offsets[order[0]])
    for i in order[1:]:
        other = words[i]
        if documents.size == 0:
            break
        other_documents = integers[other.document : other.document + other.documents]
        other_at = integers[other.at : other.at + other.documents + 1]
        other_position = integers[other.position : other.position + other.occurrences]
        found = np.empty(documents.size, dtype=np.int32)
        found_at, found_position = np.empty(documents.size + 1, dtype=np.int32), np.empty_like(position)
        n, m = _retain(
            (documents, at, position),
            (other_documents, other_at, other_position),
            offsets[i],
            (found, found_at, found_position),
        )
        documents, at, position = found[:n], found_at[: n + 1], found_position[:m]
    return _enter_literal(arena, documents, at, position) if documents.size else NOTHING


@kernel
def _retain(one: Any, other: Any, offset: int, out: Any) -> Any:
    """Those occurrences of one list that another list has too, `offset` further on; documents and occurrences left."""
    document, at, position = one
    other_document, other_at, other_position = other
    out_document, out_at, out_position = out
    n, m, j = 0, 0, 0
    out_at[0] = 0
    for i in range(document.size):
        d = document[i]
        j = find_from(other_document, j, other_document.size, d)
        if j == other_document.size:
            break
        if other_document[j] != d:
            continue
        x, end = other_at[j], other_at[j + 1]
        before = m
        for k in range(at[i], at[i + 1]):
            p = position[k] + offset
            while x < end and other_position[x] < p:
                x += 1
            if x < end and other_position[x] == p and position[k] >= 0:
                out_position[m] = position[k]
                m += 1
        if m > before:
            out_document[n] = d
            n += 1
            out_at[n] = m
    return n, m


def _decode_type(arena: Arena, reader: IndexReader, number: int | None) -> TypeList:
    parts = []
    for s, segment in enumerate(reader.segments):
        listed = np.arange(segment.mentions, dtype=np.int32) if number is None else segment.rows_of_type.values(number)
        part = _decode_rows(segment, listed)
        if not reader.numbered_as_stored:
            part[DOCUMENT] = reader.numbers[s][part[DOCUMENT]]
        parts.append(part if segment.alive is None else part[:, part[DOCUMENT] >= 0])
    rows = np.ascontiguousarray(parts[0] if len(parts) == 1 else np.hstack([_NO_ROWS, *parts]))
    entities, rows[ENTITY] = number_entities(rows[ENTITY])
    if entities.size > MOST_SLOTS:
        raise LimitError("the type has more entities than a packed row has bits for")
    order = np.empty(rows.shape[1], dtype=np.int32)
    _sort_mentions(rows, np.zeros(entities.size + 1, np.int32), np.zeros(reader.documents + 1, np.int32), order)
    budget.check()
    words, mentions = -(-reader.documents // 64) + SPARE_WORDS, rows.shape[1]
    bits, rank = np.zeros(words, dtype=np.uint64), np.zeros(words, dtype=np.int32)
    at = np.empty(mentions + 1, dtype=np.int32)
    documents, longest = _mark_documents(rows, order, bits, rank, at)
    bits_at = arena.reserve(2 * words)
    arena.words[bits_at // 2 : bits_at // 2 + words] = bits
    start, end, slot, row = (arena.reserve(mentions) for _column in range(4))
    packed, longest_mention, integers = arena.reserve(2 * mentions) // 2, 0, arena.integers
    for a, b in budget.chunks(mentions):
        _arrange(rows, order, a, b, integers, (start, end, slot, row))
        columns = (integers[column + a : column + b] for column in (start, end, slot))
        longest_mention = max(longest_mention, _pack_rows(*columns, arena.words[packed + a : packed + b]))
    return TypeList(
        bits=bits_at // 2,
        rank=arena.put(rank),
        at=arena.put(at[: documents + 1]),
        start=start,
        end=end,
        slot=slot,
        row=row,
        mentions=mentions,
        entity=arena.put(entities),
        slots=entities.size,
        longest=longest,
        packed=packed,
        has_long=longest_mention >= LONG,
    )


def _decode_rows(segment: Segment, listed: I32) -> I32:
    """Document, entity, start, end and row of some mentions of a segment, tokens counted in the document."""
    rows = np.empty((5, listed.size), dtype=np.int32)
    columns = segment.document.arrays, segment.entity.arrays, segment.start.arrays, segment.length.arrays
    for a, b in budget.chunks(listed.size):
        _read_rows(listed, a, b, segment.base, columns, rows)
    return rows


@kernel
def _read_rows(listed: I32, first: int, last: int, base: I32, columns: Any, rows: I32) -> None:
    (d_base, d_at, d_words), (e_base, e_at, e_words), (s_base, s_at, s_words), (l_base, l_at, l_words) = columns
    for i in range(first, last):
        row = listed[i]
        document = get(d_base, d_at, d_words, row)
        start = get(s_base, s_at, s_words, row) - base[document]
        rows[DOCUMENT, i], rows[ENTITY, i] = document, get(e_base, e_at, e_words, row)
        rows[START, i], rows[END, i] = start, start + get(l_base, l_at, l_words, row)
        rows[ROW, i] = row


@kernel
def _sort_mentions(rows: I32, of_slot: I32, of_document: I32, order: I32) -> None:
    """What sorts mentions by document and slot, those of a slot in the given order: two sorts by counting."""
    by_slot = np.empty_like(order)
    for i in range(order.size):
        of_slot[rows[ENTITY, i] + 1] += 1
        of_document[rows[DOCUMENT, i] + 1] += 1
    for k in range(1, of_slot.size):
        of_slot[k] += of_slot[k - 1]
    for k in range(1, of_document.size):
        of_document[k] += of_document[k - 1]
    for i in range(order.size):
        k = rows[ENTITY, i]
        by_slot[of_slot[k]] = i
        of_slot[k] += 1
    for i in by_slot:
        k = rows[DOCUMENT, i]
        order[of_document[k]] = i
        of_document[k] += 1


@kernel
def _arrange(rows: I32, order: I32, first: int, last: int, out: I32, places: Any) -> None:
    """Write some of the sorted mentions, slots as slot << 1, and 1 more for the last row of a slot in a document."""
    start, end, slot, row = places
    for k in range(first, last):
        i = order[k]
        own, is_last = rows[ENTITY, i], True
        if k + 1 < order.size:
            j = order[k + 1]
            is_last = rows[ENTITY, j] != own or rows[DOCUMENT, j] != rows[DOCUMENT, i]
        out[start + k], out[end + k], out[row + k] = rows[START, i], rows[END, i], rows[ROW, i]
        out[slot + k] = np.int32(own << 1 | np.int32(is_last))


@kernel
def _pack_rows(start: I32, end: I32, slot: I32, out: U64) -> int:
    """Rows as `lanes.py` has them; returns the length of the longest mention."""
    longest, U = 0, np.uint64
    for i in range(start.size):
        length = int(end[i] - start[i])
        longest = max(longest, length)
        said = length if length < LONG else LONG
        out[i] = U(start[i]) | (U(said) | U(slot[i]) << U(8)) << U(32)
    return longest


@kernel
def _mark_documents(rows: I32, order: I32, bits: U64, rank: I32, at: I32) -> Any:
    """The bits of the documents of sorted rows, how many stand before each word, and where each one's rows begin.

    Returns how many documents there are, and the most rows of one.
    """
    n, longest, last = 0, 0, np.int32(-1)
    counted = np.zeros(bits.size, dtype=np.int32)
    for i in range(order.size):
        d = rows[DOCUMENT, order[i]]
        if d != last:
            bits[d >> 6] |= np.uint64(1) << np.uint64(d & 63)
            counted[d >> 6] += np.int32(1)
            at[n] = i
            n += 1
            last = d
        longest = max(longest, i + 1 - at[n - 1])
    at[n] = order.size
    before = np.int32(0)
    for w in range(bits.size):
        rank[w] = before
        before += counted[w]
    return n, longest
