"""Where a literal occurs in one segment: a word's postings, or a phrase's, found by intersecting positions.

With stems, each word stands for all words of its stem here; a literal that names an entity also occurs at the entity's
mentions. Then its list is the union of several. Knows nothing of types, distances or other segments.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.allowance import claim
from fader.contexts.nearest import is_in, mark_documents, where
from fader.contexts.sought import SoughtLiteral
from fader.index.encoding.lists import BLOCK, HIGHEST, LOWEST
from fader.index.segment import Segment
from fader.lazy import cached_property

I32 = NDArray[np.int32]
_NONE = np.empty(0, dtype=np.int32)
WORD_BYTES, UNION_BYTES = 8, 24  # of an occurrence while it is decoded, and while lists are joined


class Occurrences:
    """One literal in one segment."""

    def __init__(self, segment: Segment, literal: SoughtLiteral) -> None:
        self._segment, self._literal = segment, literal
        self._offsets = literal.offsets
        self.length = literal.length
        self._is_union = literal.entity >= 0
        if literal.stems:
            self._variants = [segment.terms_of_stem(term, literal.stems) for term in literal.terms]
            self._is_union |= any(len(terms) > 1 for terms in self._variants)
            found = [terms[0] if terms else (-1, 0) for terms in self._variants]
        else:
            found = [segment.find_term(term) for term in literal.terms]
            self._variants = [[one] if one[0] >= 0 else [] for one in found]
        self._terms = [term for term, _postings in found]
        self._postings = [postings for _term, postings in found]
        self._known = min(self._terms, default=-1) >= 0
        # An upper bound of the count of occurrences: the rarest word's.
        self.most = min(self._postings, default=0)
        if self._is_union:
            self.most = min((sum(n for _term, n in terms) for terms in self._variants), default=0)
            self.most += segment.rows_of_entity(literal.entity).size if literal.entity >= 0 else 0
            self._known = self.most > 0

    @property
    def is_word(self) -> bool:
        return len(self._terms) == 1 and not self._is_union

    @property
    def count(self) -> int:
        """Occurrences (cf)."""
        return self.most if self._is_whole else self.all().size - 2

    @property
    def _is_whole(self) -> bool:
        """Whether the counts stored with a list are those of the literal: of a word, with nothing deleted."""
        return self.is_word and self._segment.alive is None

    @property
    def documents(self) -> int:
        """Documents with an occurrence (df)."""
        if not self._known:
            return 0
        if self.is_word:
            return self._segment.documents_with(self._terms[0])
        return int(np.count_nonzero(self.marks()))

    def marks(self) -> NDArray[np.uint8]:
        """1 for each document with an occurrence."""
        out = np.zeros(self._segment.documents, dtype=np.uint8)
        self.mark(self.all(), out)
        return out

    def marks_within(self, marks: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Those of the marked documents that have an occurrence."""
        documents = where(marks)
        base = self._segment.base
        out = np.zeros_like(marks)
        self.mark(self.near(base[documents], base[documents + 1] - np.int32(1)), out)
        return out & marks

    def mark(self, positions: I32, marks: NDArray[np.uint8]) -> None:
        """Set the marks of the documents of some positions between sentinels."""
        mark_documents(positions, self._segment.base, self._segment.cell, marks)

    def all(self) -> I32:
        """Every start position, between two sentinels."""
        if self._is_union:
            return self._union
        return self._word if self.is_word else self._phrase

    def near(self, low: I32, high: I32) -> I32:
        """At least the start positions inside the sorted ranges [low, high), between two sentinels."""
        if not self.is_word or not self._known or self._is_decoded or low.size * 4 > self.most // BLOCK:
            return self.all()
        return self._segment.postings.within(self._terms[0], low, high)

    @property
    def _is_decoded(self) -> bool:
        """Whether all positions of a word are at hand."""
        return "_word" in vars(self)

    @cached_property
    def _word(self) -> I32:
        if not self._known:
            return np.array([LOWEST, HIGHEST], dtype=np.int32)
        claim(WORD_BYTES * self.most)
        return self._segment.positions(self._terms[0])

    @cached_property
    def _phrase(self) -> I32:
        if not self._known:
            return np.array([LOWEST, HIGHEST], dtype=np.int32)
        by_rarity = sorted(range(len(self._terms)), key=self._postings.__getitem__)
        rarest = by_rarity[0]
        claim(UNION_BYTES * self.most)
        starts = self._segment.postings.values(self._terms[rarest]) - np.int32(self._offsets[rarest])
        for i in by_rarity[1:]:
            starts = self._segment.postings.retain(self._terms[i], starts, self._offsets[i])
        if self.length > len(self._terms):
            starts = self._inside(starts)
        starts = self._segment.drop_deleted(starts)
        return np.concatenate([[LOWEST], starts, [HIGHEST]]).astype(np.int32)

    @cached_property
    def _union(self) -> I32:
        literal = self._literal
        claim(UNION_BYTES * (self.most + sum(n for terms in self._variants for _term, n in terms)))
        starts = self._mentioned if literal.entity >= 0 else _NONE
        if literal.terms and all(self._variants):
            words = [self._segment.merge_terms([term for term, _n in terms]) for terms in self._variants]
            by_rarity = sorted(range(len(words)), key=lambda i: words[i].size)
            own = words[by_rarity[0]] - np.int32(self._offsets[by_rarity[0]])
            for i in by_rarity[1:]:
                own = own[is_in(own + np.int32(self._offsets[i]), words[i])]
            own = self._inside(own) if self.length > len(literal.terms) else own
            starts = np.union1d(starts, own) if starts.size else own
        starts = self._segment.drop_deleted(starts)
        return np.concatenate([[LOWEST], starts, [HIGHEST]]).astype(np.int32)

    @property
    def _mentioned(self) -> I32:
        """Where the mentions of the literal's entity begin, or so much earlier that the literal fits its document."""
        segment, base = self._segment, self._segment.base
        rows = segment.rows_of_entity(self._literal.entity)
        document = segment.document.gather(rows)
        last = base[document + 1] - np.int32(1 + self.length)
        starts = np.minimum(segment.start.gather(rows), last)
        return np.unique(starts[last >= base[document]])

    def _inside(self, starts: I32) -> Any:
        """Those that begin and end in one document: a gap left by stop words could step over a document's end."""
        base = self._segment.base
        ends = starts + np.int32(self.length)
        first, last = np.searchsorted(base, starts, side="right"), np.searchsorted(base, ends, side="left")
        return starts[first == last]
