"""The same answer in tuned numpy.

Layout given to it, untimed: per queried type the mention list sorted by (document, entity, position) with
pair numbers and type-local entity numbers; per queried word its positions with sentinels, their documents and
its distinct documents. Documents lie a gap apart on the position axis, so that a neighbour in another one
shows as a distance beyond the gap and needs no test of its own. Phrases are intersected in the measured time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.common import FORBIDDEN, REQUIRED, Answer, Dataset, K, Literal, Query


def gap_of(data: Dataset) -> int:
    """More than any distance within a document."""
    return int(np.diff(data.doc_offsets).max()) + 8


def pair_numbers(document: np.ndarray, entity: np.ndarray) -> np.ndarray:
    """Numbers of the (document, entity) pairs, equal pairs alike."""
    key = document.astype(np.int64) * (int(entity.max(initial=0)) + 1) + entity
    return np.unique(key, return_inverse=True)[1].astype(np.int32)


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


class NumpyPeer:
    name = "numpy"
    same_answer = True

    def prepare(self, data: Dataset, queries: Sequence[Query]) -> None:
        self.documents, self.gap = data.documents, gap_of(data)
        behind = int(data.doc_offsets[-1]) + (self.documents + 2) * self.gap
        self.dtype = np.int32 if behind + 4 * self.gap < 2**31 else np.int64
        self.sentinels = np.array([-2 * self.gap, behind], self.dtype)
        self.types = {t: self._type(data, t) for t in {q.type for q in queries}}
        terms = {term for q in queries for t in q.literals for term in t.terms}
        self.words = {term: self._word(data, term) for term in terms}

    def _type(self, data: Dataset, type_: int) -> TypeList:
        rows = data.type_rows(type_)
        document, entity = data.mention_document[rows], data.mention_entity[rows]
        order = np.lexsort((entity, document))
        rows, document, entity = rows[order], document[order], entity[order]
        names, local = np.unique(entity, return_inverse=True)
        start = data.mention_start[rows] + document.astype(self.dtype) * self.gap
        end = start + data.mention_length[rows].astype(self.dtype)
        return TypeList(document, start, end, pair_numbers(document, entity), local.astype(np.intp), names)

    def _word(self, data: Dataset, term: int) -> LiteralList:
        found = data.occurrences((term,))
        first = found.positions + found.documents.astype(self.dtype) * self.gap
        padded = np.concatenate((self.sentinels[:1], first, self.sentinels[1:]))
        return LiteralList(padded, found.documents, found.distinct, 1)

    def _literal(self, literal: Literal) -> LiteralList:
        """A word as laid out; a phrase by shifted intersection, the shorter list looked up in the longer."""
        found = self.words[literal.terms[0]]
        for shift, term in enumerate(literal.terms[1:], 1):
            found = _followed(found, self.words[term], shift)
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
        mentions = self.types[query.type]
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
