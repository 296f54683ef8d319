"""The same answer in tuned numpy.

General layout: per word its positions between sentinels, their documents and its distinct documents; per type
the mention columns themselves, copied out in the order (document, entity, position), with pair numbers and
type-local entity numbers, so that no query gathers from all mentions. All words and types lie in flat arrays,
a list is a slice. Phrases are intersected, and weights counted, in the measured time.

Hand-laid layout: the slices of the queried words and types are taken in advance, which saves next to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.common import FORBIDDEN, HAND_LAID, REQUIRED, Answer, Dataset, K, Literal, Peer, Query


@dataclass(frozen=True)
class TypeList:
    document: np.ndarray
    start: np.ndarray
    end: np.ndarray
    pair: np.ndarray
    entity: np.ndarray  # type-local number
    names: np.ndarray  # type-local number -> entity


@dataclass(frozen=True)
class LiteralList:
    first: np.ndarray  # position of the first token, between sentinels
    document: np.ndarray  # of each occurrence
    distinct: np.ndarray
    width: int


def _followed(left: LiteralList, right: LiteralList, shift: int) -> LiteralList:
    """The occurrences of `left` that have one of `right` `shift` tokens behind their beginning."""
    a, b = left.first[1:-1], right.first[1:-1]
    if len(a) <= len(b):
        kept = right.first[np.searchsorted(right.first, a + shift)] == a + shift
    else:
        wanted = b - shift
        at = np.searchsorted(left.first, wanted)
        kept = at[left.first[at] == wanted] - 1
    document = left.document[kept]
    distinct = document[np.diff(document, prepend=-1) != 0]
    first = np.concatenate((left.first[:1], a[kept], left.first[-1:]))
    return LiteralList(first, document, distinct, shift + 1)


class NumpyPeer(Peer):
    name = "numpy"

    def prepare(self, data: Dataset, queries: Sequence[Query]) -> None:
        whole = data.collection
        self.documents, self.gap = whole.documents, whole.gap
        self._lay_out_words(data)
        self._lay_out_types(data)
        self.words: dict[int, LiteralList] = {}
        self.types: dict[int, TypeList] = {}
        if self.layout == HAND_LAID:
            self.words = {term: self._word(term) for q in queries for t in q.literals for term in t.terms}
            self.types = {q.type: self._type(q.type) for q in queries}

    def _lay_out_words(self, data: Dataset) -> None:
        whole = data.collection
        self.posting_offsets, self.distinct_offsets = whole.term_offsets, whole.distinct_offsets
        self.posting_document, self.distinct = whole.posting_document, whole.distinct
        terms = np.arange(len(self.posting_offsets) - 1)
        before = self.posting_offsets[:-1] + 2 * terms
        behind = self.posting_offsets[1:] + 2 * terms + 1
        self.first = np.empty(len(self.posting_document) + 2 * len(terms), whole.dtype)
        inner = np.ones(len(self.first), bool)
        inner[before] = inner[behind] = False
        self.first[before], self.first[behind] = -2 * whole.gap, whole.behind
        self.first[inner] = whole.posting_place

    def _lay_out_types(self, data: Dataset) -> None:
        whole = data.collection
        order = np.argsort(whole.pair, kind="stable")
        mentions = whole.by_type(whole.entity[order])
        rows = order[mentions.rows]
        self.type_offsets, self.local = mentions.offsets, mentions.local
        self.document, self.pair = whole.document[rows], whole.pair[rows]
        self.start, self.end = whole.start[rows], whole.end[rows]
        self.name_offsets, self.names = data.closure

    def _type(self, type_: int) -> TypeList:
        of = slice(self.type_offsets[type_], self.type_offsets[type_ + 1])
        names = self.names[self.name_offsets[type_] : self.name_offsets[type_ + 1]]
        return TypeList(self.document[of], self.start[of], self.end[of], self.pair[of], self.local[of], names)

    def _word(self, term: int) -> LiteralList:
        low, high = self.posting_offsets[term], self.posting_offsets[term + 1]
        first = self.first[low + 2 * term : high + 2 * term + 2]
        distinct = self.distinct[self.distinct_offsets[term] : self.distinct_offsets[term + 1]]
        return LiteralList(first, self.posting_document[low:high], distinct, 1)

    def _literal(self, literal: Literal) -> LiteralList:
        """A word as laid out; a phrase by shifted intersection, the shorter list looked up in the longer."""
        lists = [self.words.get(term) or self._word(term) for term in literal.terms]
        found = lists[0]
        for shift, word in enumerate(lists[1:], 1):
            found = _followed(found, word, shift)
        return found

    def _match(self, query: Query, lists: dict[Literal, LiteralList]) -> np.ndarray:
        match = np.zeros(self.documents, bool)
        required = [t for t in query.counted if t.kind == REQUIRED]
        for literal in required[:1] or query.counted:
            match[lists[literal].distinct] = True
        for literal in required[1:] + query.forbidden:
            has = np.zeros(self.documents, bool)
            has[lists[literal].distinct] = True
            match &= ~has if literal.kind == FORBIDDEN else has
        return match

    def _rows(self, match: np.ndarray, upper: int, mentions: TypeList) -> np.ndarray:
        """Rows of the type's list in matching documents: by scanning the list, or by looking documents up."""
        if 8 * upper > len(mentions.document):
            return np.flatnonzero(match[mentions.document])
        documents = np.flatnonzero(match).astype(np.int32)
        begin = np.searchsorted(mentions.document, documents)
        count = np.searchsorted(mentions.document, documents, side="right") - begin
        total = np.cumsum(count)
        return np.repeat(begin - total + count, count) + np.arange(total[-1] if len(total) else 0)

    def _distance(self, literal: LiteralList, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        after = np.searchsorted(literal.first, start)
        right = literal.first[after]
        right -= end
        left = start - literal.first[after - 1]
        left -= literal.width
        np.minimum(left, right, out=left)
        left += 1
        return np.maximum(left, 0, out=left)

    def _weights(self, lists: Sequence[LiteralList]) -> list[float]:
        idf = [math.log(1 + self.documents / len(x.distinct)) if len(x.distinct) else 0.0 for x in lists]
        return [x / sum(idf) for x in idf]

    def answer(self, query: Query) -> Answer:
        mentions = self.types.get(query.type) or self._type(query.type)
        lists = {t: self._literal(t) for t in query.literals}
        counted = [lists[t] for t in query.counted]
        upper = sum(len(x.distinct) for x in counted)
        rows = self._rows(self._match(query, lists), upper, mentions)
        if not len(rows):
            return []
        start, end = mentions.start[rows], mentions.end[rows]
        score = np.zeros(len(rows))
        for literal, weight in zip(counted, self._weights(counted), strict=True):
            distance = self._distance(literal, start, end)
            near = weight / (1.0 + distance / 10)
            near[distance >= self.gap] = 0.0
            score += near
        first = np.flatnonzero(np.diff(mentions.pair[rows], prepend=-1))
        best = np.maximum.reduceat(score, first)
        value = np.bincount(mentions.entity[rows[first]], weights=best, minlength=len(mentions.names))
        return self._top(value, mentions.names)

    @staticmethod
    def _top(value: np.ndarray, names: np.ndarray) -> Answer:
        cut = np.partition(value, len(value) - K)[len(value) - K] if len(value) > K else 0.0
        kept = np.flatnonzero((value >= cut) & (value > 0))
        order = np.lexsort((-names[kept], -value[kept]))[:K]
        return [(int(names[i]), float(value[i])) for i in kept[order]]
