"""A table of a few contexts that the fused path has found: what a second stage needs to score them.

Rows are mentions of the type's list. Their documents, all occurrences of literals in these, the other candidates beside
them and all documents of their entities are copied from the decoded lists; sentences and titles are read from segments.
All of it is what the table of all contexts would give for the same rows. Knows nothing of scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fader.allowance import claim
from fader.contexts.around import Companions, Holdings, find_holdings
from fader.contexts.columns import (
    DocumentValues,
    EntityDetails,
    MentionColumns,
    Positions,
    Rows,
    SentenceStarts,
    TakenRows,
    Titles,
    take_documents,
)
from fader.contexts.join import bounds_of, describe_entities, distinct, lay_sentences
from fader.contexts.query import Query
from fader.fused.arena import TypeList
from fader.fused.kernels import AT, DOCUMENT, DOCUMENTS, LENGTH, POSITION, Documents, Lists, find_from, find_rows
from fader.index.reader import IndexReader
from fader.index.segment import Segment
from fader.kernel import kernel
from fader.lazy import cached_property

I8 = NDArray[np.int8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
T = TypeVar("T")


@kernel
def _count_occurrences(lists: Lists, number: I32, counts: I32) -> None:
    """How often each of some documents, ascending, has every literal."""
    integers, literals = lists.integers, lists.literals
    for t in range(literals.shape[0]):
        base = literals[t, DOCUMENT]
        end, i = base + literals[t, DOCUMENTS], base
        for j in range(number.size):
            i = find_from(integers, i, end, number[j])
            if i == end:
                break
            if integers[i] == number[j]:
                at = literals[t, AT] + i - base
                counts[t, j] = integers[at + 1] - integers[at]


@kernel
def _copy_positions(lists: Lists, number: I32, at: I64, out: I32) -> None:
    """The occurrences of every literal in some documents, those of literal t in document j from `at[t, j]` on."""
    integers, literals = lists.integers, lists.literals
    for t in range(literals.shape[0]):
        base = literals[t, DOCUMENT]
        end, i = base + literals[t, DOCUMENTS], base
        for j in range(number.size):
            n = at[t, j]
            if at[t, j + 1] == n:
                continue
            i = find_from(integers, i, end, number[j])
            begin = literals[t, AT] + i - base
            for p in range(integers[begin], integers[begin + 1]):
                out[n] = integers[literals[t, POSITION] + p]
                n += 1


@kernel
def _count_companions(lists: Lists, number: I32, at: I64) -> None:
    """Where the mentions of the type in some documents are, laid end to end."""
    for j in range(number.size):
        begin, end = find_rows(lists, number[j])
        at[j + 1] = at[j] + end - begin


@kernel
def _copy_companions(lists: Lists, number: I32, entities: I32, at: I64, start: I32, entity: I32, count: I32) -> None:
    """First token and entity of these mentions, by first token, and the different entities of each document."""
    integers = lists.integers
    for j in range(number.size):
        first, end = find_rows(lists, number[j])
        for k in range(end - first):
            token, slot = integers[lists.start + first + k], integers[lists.slot + first + k]
            count[j] += slot & 1  # the last mention of an entity
            i = at[j] + k
            while i > at[j] and start[i - 1] > token:
                start[i], entity[i] = start[i - 1], entity[i - 1]
                i -= 1
            start[i], entity[i] = token, entities[slot >> 1]


@dataclass(frozen=True)
class FocusedColumns:
    """Columns of some mentions of a type; `chosen` are the documents that can count, ascending."""

    reader: IndexReader
    query: Query
    lists: Lists
    mentions: TypeList
    all_documents: Documents
    priors: F64
    chosen: I32
    document: I32
    entities: I32
    sides: I8
    start: I32
    end: I32
    confidence: F64

    def take(self, rows: Rows) -> MentionColumns:
        return TakenRows(self, rows)

    def read_sides(self) -> I8:
        return self.sides

    def read_start(self) -> I32:
        return self.start

    def read_end(self) -> I32:
        return self.end

    def read_confidence(self) -> F64:
        return self.confidence

    @cached_property
    def _number(self) -> I32:
        """The documents of the rows."""
        return distinct(self.document)

    @cached_property
    def _matching(self) -> DocumentValues:
        """The chosen documents. They are the best ones, so that their ranks among themselves are those among all."""
        number, documents = self.chosen, self.all_documents
        counts = np.zeros((len(self.lists.literals), number.size), dtype=np.int32)
        _count_occurrences(self.lists, number, counts)
        return DocumentValues(
            row=np.searchsorted(number, self.document).astype(np.int32),
            number=number,
            counts=counts,
            length=documents.length[number],
            distinct=documents.distinct[number],
            square=documents.square[number],
            prior=self.priors[number],
        )

    def read_matching(self) -> DocumentValues:
        return self._matching

    @cached_property
    def _documents(self) -> DocumentValues:
        places = np.searchsorted(self.chosen, self._number)
        return take_documents(self._matching, places, np.searchsorted(self._number, self.document).astype(np.int32))

    def read_documents(self) -> DocumentValues:
        return self._documents

    def read_positions(self) -> Positions:
        at = bounds_of(self._documents.counts)
        claim(4 * int(at[-1, -1]))
        start = np.empty(int(at[-1, -1]), dtype=np.int32)
        _copy_positions(self.lists, self._number, at, start)
        return Positions(at, start, self.lists.literals[:, LENGTH].astype(np.int32))

    def read_companions(self) -> Companions:
        number = self._number
        at = np.zeros(number.size + 1, dtype=np.int64)
        _count_companions(self.lists, number, at)
        claim(8 * int(at[-1]))
        start, entity = np.empty((2, int(at[-1])), dtype=np.int32)
        count = np.zeros(number.size, dtype=np.int32)
        begin = self.mentions.entity
        every = self.lists.integers[begin : begin + self.mentions.slots]
        _copy_companions(self.lists, number, every, at, start, entity, count)
        return Companions(at, start, entity, count)

    def read_sentences(self) -> SentenceStarts:
        at, starts = self._by_segment(
            self._number,
            lambda _s, segment, local: lay_sentences(*_read_sentences(segment, local)),
        )
        size = np.empty(self._number.size, dtype=np.int64)
        for places, (own, _start) in zip(at, starts, strict=True):
            size[places] = np.diff(own)
        bounds = np.append(0, np.cumsum(size))
        out = np.empty(int(bounds[-1]), dtype=np.int32)
        for places, (own, start) in zip(at, starts, strict=True):
            out[np.repeat(bounds[places] - own[:-1], np.diff(own)) + np.arange(start.size)] = start
        return SentenceStarts(bounds, out)

    def read_titles(self) -> Titles:
        literals, number = [literal.terms for literal in self.query.literals], self.chosen
        places, found = self._by_segment(
            number,
            lambda s, _segment, local: (
                self.reader.subjects[s][local],
                *self.reader.title_terms[s].match(local, literals),
            ),
        )
        about, terms, hits = np.empty((3, number.size), dtype=np.int32)
        has = np.empty((len(literals), number.size), dtype=np.uint8)
        for own, part in zip(places, found, strict=True):
            about[own], terms[own], hits[own], has[:, own] = part
        return Titles(about, terms, hits, has)

    def _by_segment(self, number: I32, read: Callable[[int, Segment, I32], T]) -> tuple[list[I64], list[T]]:
        """What each segment says of those of some documents that it has, and which these are."""
        segment, local = self.reader.locate_all(number)
        places = [np.flatnonzero(segment == s) for s in range(len(self.reader.segments))]
        kept = [(s, own) for s, own in enumerate(places) if own.size]
        return [own for _s, own in kept], [read(s, self.reader.segments[s], local[own]) for s, own in kept]

    def count_entity_documents(self) -> I32:
        return self.reader.entity_documents_of(self.entities)

    def describe_entities(self, entities: I32) -> EntityDetails:
        return describe_entities(self.reader.catalog, self.reader.analysis, self.query, entities)

    def name_entities(self, numbers: list[int]) -> list[str]:
        ids = self.reader.catalog.entity_ids
        return [ids[e] for e in numbers]

    def name_documents(self, numbers: list[int]) -> list[str]:
        return self.reader.document_ids(numbers)


def _read_sentences(segment: Segment, local: I32) -> tuple[I32, I32]:
    found = segment.sentences(local)
    return found.count, found.gap


def hold_documents(at: I64, document: I32, chosen: I32) -> Holdings:
    """The documents of entities from those of all their contexts, as places among the chosen ones."""
    return find_holdings(at, np.searchsorted(chosen, document).astype(np.int32))
