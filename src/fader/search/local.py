"""A collection in a folder of this machine: every method reads its segments directly."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from fader.allowance import claimed
from fader.contexts.match import MatchOptions, count_literals, make_parts, match
from fader.contexts.naming import EntityNames, count_forms
from fader.contexts.query import Literal, Query
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.fused.ranker import FusedRanker
from fader.index.commit import read_commit
from fader.index.excerpts import Excerpts, Head, Wanted
from fader.index.reader import IndexReader, Stored
from fader.index.segment import DocumentMentions
from fader.rank.ranking import rank_entities
from fader.rank.system import System
from fader.search.collection import RankedContexts
from fader.systems.shared.weighting import in_best_documents

I32 = NDArray[np.int32]
INTEGERS_PER_MB = 1 << 18
KEPT_COUNTS = 1 << 14  # literals


@final
class LocalCollection:
    """A collection whose segments are in a folder of this machine."""

    def __init__(self, reader: IndexReader) -> None:
        self.reader, head = reader, reader.head
        self.folder, self.manifest, self.catalog, self.analysis = (
            head.folder,
            head.manifest,
            head.catalog,
            head.analysis,
        )
        self.commit, self.origin = head.commit, head.manifest.origin
        self.documents, self.tokens, self.mentions = head.manifest.live
        self._fused = FusedRanker(reader, reader.cache_mb * INTEGERS_PER_MB)
        self._counts: dict[Hashable, tuple[int, int]] = {}  # df and cf of literals that were counted before
        self._names = EntityNames(self.catalog, lambda literals: (count_forms(reader, literals), True))

    @property
    def entity_documents(self) -> I32:
        return self.reader.entity_documents

    def name_entities(self, query: Query) -> Query:
        return self._names.name(query)

    def count(self, query: Query, options: MatchOptions) -> Statistics:
        query = self._names.name(query) if options.entities else query
        keys = [_literal_key(literal, options) for literal in query.literals]
        kept = self._counts
        missing = [literal for key, literal in zip(keys, query.literals, strict=True) if key not in kept]
        if missing:
            left = replace(query, literals=tuple(missing), forbidden=())
            counts = count_literals(make_parts(self.reader, left, options), left)
            if len(kept) > KEPT_COUNTS:
                self._counts = kept = {key: kept[key] for key in keys if key in kept}
            for literal, df, cf in zip(missing, *counts, strict=True):
                kept[_literal_key(literal, options)] = int(df), int(cf)
        found = np.array([kept[key] for key in keys], dtype=np.int64).reshape(-1, 2)
        return Statistics(self.reader.documents, self.reader.tokens, found[:, 0].copy(), found[:, 1].copy())

    def contexts(self, query: Query, options: MatchOptions) -> Contexts:
        return match(self.reader, self._names.name(query) if options.entities else query, options)

    def evidence(
        self,
        query: Query,
        options: MatchOptions,
        system: System,
        k: int,
        *,
        with_rows: bool = True,
        entity: int | None = None,
        best: int | None = None,
    ) -> RankedContexts:
        query = self._names.name(query) if options.entities else query
        if entity is None and (best is not None or not with_rows):
            with claimed():  # what is left of it are the rows that are shown
                found = self._fused.rank(query, options, system, k, best or 0)
            if found is not None:
                return RankedContexts(*found)
        return rank_contexts(self.contexts(query, options), system, k)

    def rows(self, query: Query, options: MatchOptions, entities: I32) -> Contexts:
        contexts = self.contexts(query, options)
        wanted = np.isin(contexts.entities, entities)
        return contexts.take(np.flatnonzero(wanted[contexts.slot]).astype(np.int32))

    def read_documents(self, documents: Sequence[int]) -> list[Stored]:
        return self.reader.read_documents(documents)

    def read_excerpts(self, documents: Sequence[int], wanted: Wanted) -> tuple[Excerpts, list[Head]]:
        return self.reader.read_excerpts(documents, wanted)

    def find_mentions(self, pairs: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
        return self.reader.find_mentions(pairs)

    def read_mentions(self, document: int) -> DocumentMentions:
        return self.reader.read_mentions(document)

    def document_ids(self, documents: Sequence[int]) -> list[str]:
        return self.reader.document_ids(documents)

    def find_document(self, doc_id: str) -> int:
        return self.reader.find_document(doc_id)

    def refresh(self) -> LocalCollection:
        if read_commit(self.folder) == self.manifest:
            return self
        return LocalCollection(IndexReader(self.folder, self.reader.is_verified, self.reader.cache_mb))


def _literal_key(literal: Literal, options: MatchOptions) -> Hashable:
    """What the counts of a literal depend on."""
    own = literal.terms, literal.offsets, literal.exact, literal.entity, literal.confidence
    return options.stem, options.entities, own


def rank_contexts(contexts: Contexts, system: System, k: int) -> RankedContexts:
    """Rank a whole table by a system that may look at the best documents alone."""
    top = system.view.top
    contexts = in_best_documents(contexts, top) if top else contexts
    return RankedContexts(contexts, rank_entities(system, contexts, k), len(contexts))
