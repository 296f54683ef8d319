"""The whole collection as plain arrays, made once per dataset: what a peer's general layout is built from.

Documents lie a gap apart on the position axis, so that a neighbour in another one shows as a distance beyond
the gap and needs no test of its own. Everything here covers all terms and all types; nothing follows from
the queries of a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from benchmarks.common import Dataset


def pair_numbers(document: np.ndarray, entity: np.ndarray) -> np.ndarray:
    """Numbers of the (document, entity) pairs, equal pairs alike."""
    key = document.astype(np.int64) * (int(entity.max(initial=0)) + 1) + entity
    return np.unique(key, return_inverse=True)[1].astype(np.int32)


@dataclass(frozen=True)
class ByType:
    """Mentions grouped by type."""

    offsets: np.ndarray  # per type, into the others
    rows: np.ndarray  # of the mention
    types: np.ndarray
    local: np.ndarray  # the entity's number among the type's entities


class Collection:
    """Postings grouped by term, mention columns in text order, mentions grouped by type."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.documents = data.documents
        self.gap = int(np.diff(data.doc_offsets).max()) + 8  # more than any distance within a document
        self.behind = int(data.doc_offsets[-1]) + (self.documents + 2) * self.gap  # after every position
        self.dtype = np.int32 if self.behind + 4 * self.gap < 2**31 else np.int64
        self.term_offsets = data.term_offsets
        self.document = data.mention_document
        self.entity = np.array(data.mention_entity)
        self.start = self.place(data.mention_start, self.document)
        self.end = self.start + data.mention_length.astype(self.dtype)

    def place(self, positions: np.ndarray, documents: np.ndarray) -> np.ndarray:
        """Positions with documents a gap apart."""
        return positions + documents.astype(self.dtype) * self.dtype(self.gap)

    # --- postings

    @cached_property
    def posting_term(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.term_offsets) - 1, dtype=np.int32), np.diff(self.term_offsets))

    @cached_property
    def posting_document(self) -> np.ndarray:
        return self.data.token_document[self.data.postings]

    @cached_property
    def posting_place(self) -> np.ndarray:
        return self.place(self.data.postings, self.posting_document)

    @cached_property
    def _first_in_document(self) -> np.ndarray:
        """Which postings are their term's first in their document."""
        new = np.diff(self.posting_document, prepend=-1) != 0
        starts = self.term_offsets[:-1]
        new[starts[starts < self.term_offsets[1:]]] = True
        return new

    @cached_property
    def distinct(self) -> np.ndarray:
        """Documents per term, each once."""
        return self.posting_document[self._first_in_document]

    @cached_property
    def distinct_term(self) -> np.ndarray:
        return self.posting_term[self._first_in_document]

    @cached_property
    def distinct_offsets(self) -> np.ndarray:
        counts = np.bincount(self.distinct_term, minlength=len(self.term_offsets) - 1)
        return np.concatenate(([0], np.cumsum(counts)))

    # --- mentions

    @cached_property
    def pair(self) -> np.ndarray:
        """Of each mention, the number of its (document, entity) pair."""
        return pair_numbers(self.document, self.entity)

    def by_type(self, entity: np.ndarray) -> ByType:
        """Mentions per type, supertypes included; `entity` gives their entities in the order wanted within a type."""
        offsets, members = self.data.closure
        order = np.argsort(members, kind="stable")
        types = np.repeat(np.arange(len(offsets) - 1, dtype=np.uint16), np.diff(offsets))[order]
        bounds = np.searchsorted(members[order], np.arange(len(self.data.entity_types) + 1))
        count = np.diff(bounds)[entity]
        total = np.cumsum(count)
        entry = np.repeat(bounds[entity] - total + count, count) + np.arange(total[-1])
        grouped = np.argsort(types[entry], kind="stable")  # a radix sort, for two-byte numbers
        entry = entry[grouped]
        sizes = np.bincount(types[entry], minlength=len(offsets) - 1)
        rows = np.repeat(np.arange(len(entity), dtype=np.int32), count)[grouped]
        local = order[entry] - offsets[types[entry]]
        return ByType(np.concatenate(([0], np.cumsum(sizes))), rows, types[entry].astype(np.int32), local)
