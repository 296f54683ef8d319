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
from fader.contexts.occurrences import Occurrences
from fader.contexts.sought import SoughtLiteral
from fader.fused.arena import Arena, LiteralList, TypeList
from fader.fused.kernels import find_from
from fader.index.reader import IndexReader
from fader.index.segment import Segment, number_entities
from fader.index.sound import CELL_BITS
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
SPARE_WORDS = 64  # a window of documents may end behind the last one
NOTHING = LiteralList(0, 0, 0, 0, 0)
_NONE = np.empty(0, dtype=np.int32)


def find_literal(arena: Arena, reader: IndexReader, literal: SoughtLiteral) -> LiteralList:
    """The occurrences of a literal."""
    if not literal.is_plain:
        return arena.enter(literal, lambda a: _decode_union(a, reader, literal))
    words = [arena.enter(term, lambda a, t=term: _decode_term(a, reader, t)) for term in literal.terms]  # type: ignore[misc]
    if len(words) == 1:
        return words[0]
    return arena.enter((literal.terms, literal.offsets), lambda a: _find_phrase(a, words, literal.offsets))


def find_type(arena: Arena, reader: IndexReader, number: int | None) -> TypeList:
    """The mentions of a type's entities; None for all entities."""
    return arena.enter(("type", number), lambda a: _decode_type(a, reader, number))


def _decode_term(arena: Arena, reader: IndexReader, term: str) -> LiteralList:
    def decode(segment: Segment) -> I32:
        number = segment.find_term(term)[0]
        return segment.drop_deleted(segment.postings.values(number)) if number >= 0 else _NONE

    return _decode(arena, reader, decode)


def _decode_union(arena: Arena, reader: IndexReader, literal: SoughtLiteral) -> LiteralList:
    """A literal with stems or an entity: its occurrences as the table has them."""
    return _decode(arena, reader, lambda segment: Occurrences(segment, literal).all()[1:-1])


def _decode(arena: Arena, reader: IndexReader, decode: Callable[[Segment], I32]) -> LiteralList:
    """The positions that each segment has, as one list."""
    budget.check()
    parts = []
    for s, segment in enumerate(reader.segments):
        positions = decode(segment)
        if not positions.size:
            continue
        document, at, position = np.empty((3, positions.size + 1), dtype=np.int32)
        n = _split_by_document(positions, segment.base, segment.cell, document, at, position)
        local = document[:n]
        documents = local if reader.numbered_as_stored else reader.numbers[s][local]
        parts.append((documents, at[: n + 1], position[: positions.size]))
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
    """Documents with an occurrence, where each one's begin, and positions counted in the document."""
    n, high = 0, np.int32(-1)
    low = np.int32(0)
    for k in range(positions.size):
        p = positions[k]
        if p >= high:
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
    budget.check()
    columns = []
    for s, segment in enumerate(reader.segments):
        listed = np.arange(segment.mentions, dtype=np.int32) if number is None else segment.rows_of_type.values(number)
        local = segment.document.gather(listed)
        start, length = segment.start.gather(listed), segment.length.gather(listed)
        start -= segment.base[local]
        documents = local if reader.numbered_as_stored else reader.numbers[s][local]
        entity = segment.entity.gather(listed)
        parts = (documents, entity, start, start + length, listed)
        if segment.alive is not None:
            alive = np.flatnonzero(documents >= 0)
            parts = tuple(part[alive] for part in parts)  # type: ignore[assignment]
        columns.append(parts)
    document, entity, start, end, row = (np.concatenate([_NONE, *each]) for each in zip(*columns, strict=True))
    entities, slot = number_entities(entity)
    budget.check()
    order = _sort_by(document, _sort_by(slot, None, entities.size), reader.documents)
    document, slot = document[order], slot[order]
    words = -(-reader.documents // 64) + SPARE_WORDS
    bits, rank = np.zeros(words, dtype=np.uint64), np.zeros(words, dtype=np.int32)
    at = np.empty(document.size + 1, dtype=np.int32)
    documents, longest = _mark_documents(document, bits, rank, at)
    _mark_last(document, slot)
    bits_at = arena.reserve(2 * words)
    arena.words[bits_at // 2 : bits_at // 2 + words] = bits
    return TypeList(
        bits=bits_at // 2,
        rank=arena.put(rank),
        at=arena.put(at[: documents + 1]),
        start=arena.put(start[order]),
        end=arena.put(end[order]),
        slot=arena.put(slot),
        row=arena.put(row[order]),
        mentions=document.size,
        entity=arena.put(entities),
        slots=entities.size,
        longest=longest,
    )


def _sort_by(key: I32, order: I32 | None, count: int) -> I32:
    """What sorts rows by a key below `count`, rows of equal keys in the given order."""
    given = np.arange(key.size, dtype=np.int32) if order is None else order
    put = np.zeros(count + 1, dtype=np.int32)
    out = np.empty(key.size, dtype=np.int32)
    _counting_sort(key, given, put, out)
    return out


@kernel
def _counting_sort(key: I32, given: I32, put: I32, out: I32) -> None:
    for k in key:
        put[k + 1] += 1
    for k in range(1, put.size):
        put[k] += put[k - 1]
    for i in given:
        out[put[key[i]]] = i
        put[key[i]] += 1


@kernel
def _mark_documents(document: I32, bits: U64, rank: I32, at: I32) -> Any:
    """The bits of the documents of sorted rows, how many stand before each word, and where each one's rows begin.

    Returns how many documents there are, and the most rows of one.
    """
    n, longest, last = 0, 0, np.int32(-1)
    counted = np.zeros(bits.size, dtype=np.int32)
    for i in range(document.size):
        d = document[i]
        if d != last:
            bits[d >> 6] |= np.uint64(1) << np.uint64(d & 63)
            counted[d >> 6] += np.int32(1)
            at[n] = i
            n += 1
            last = d
        longest = max(longest, i + 1 - at[n - 1])
    at[n] = document.size
    before = np.int32(0)
    for w in range(bits.size):
        rank[w] = before
        before += counted[w]
    return n, longest


@kernel
def _mark_last(document: I32, slot: I32) -> None:
    """slot << 1, and 1 more for the last row of its entity in the document."""
    n = slot.size
    for i in range(n):
        last = i + 1 == n or document[i + 1] != document[i] or slot[i + 1] != slot[i]
        slot[i] = np.int32(slot[i] << 1 | np.int32(last))
