"""The seam between an index and where its segments are: what every kind of collection can be asked.

    Index  --has-->  Collection  <--is--  LocalCollection     segments in a folder of this machine (fader.search.local)
                                          ShardedCollection   segments on other machines (fader.cluster.shards)

A collection is one commit: manifest, catalog and analysis are at hand, and everything that needs segments is a method.
Methods take what a caller wants as a whole, so that a collection on other machines needs one call for it. To serve
another kind of collection, write a class with these methods and give it to `Index`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from fader.contexts.match import MatchOptions
from fader.contexts.query import Query
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.corpus.analysis import Analysis
from fader.index.catalog import StoredCatalog
from fader.index.excerpts import Excerpts, Head, Wanted
from fader.index.manifest import Manifest
from fader.index.reader import Stored
from fader.index.segment import DocumentMentions
from fader.rank.ranking import ShownContexts
from fader.rank.system import Ranking, System

I32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class RankedContexts:
    """A ranking and the contexts behind it.

    `ranking.values` has the scores of all candidates, unless rows were limited (`best`, or none). `contexts` has at
    least the rows that were asked for, and `ranking.evidence.row` points to them; other rows may be -1. `total` counts
    all contexts of the query. `shown` has the rows that contribute most, where these were chosen already.
    """

    contexts: Contexts
    ranking: Ranking
    total: int
    shown: ShownContexts | None = None


class Collection(Protocol):
    """One commit of an index, wherever its segments are. Safe to share among threads."""

    @property
    def folder(self) -> Path:
        """Where manifest and catalog were read."""
        ...

    @property
    def manifest(self) -> Manifest:
        """What the commit says of its files."""
        ...

    @property
    def catalog(self) -> StoredCatalog:
        """Entities and types."""
        ...

    @property
    def analysis(self) -> Analysis:
        """How texts and queries become terms."""
        ...

    @property
    def commit(self) -> int:
        """The number of the commit."""
        ...

    @property
    def origin(self) -> str:
        """The same for all commits of an index, and different for indexes that were built separately."""
        ...

    @property
    def documents(self) -> int:
        """How many documents the whole collection has, deleted ones left out."""
        ...

    @property
    def tokens(self) -> int:
        """How many tokens these documents have."""
        ...

    @property
    def mentions(self) -> int:
        """How many mentions these documents have."""
        ...

    @property
    def entity_documents(self) -> I32:
        """How many documents mention each entity of the catalog."""
        ...

    def name_entities(self, query: Query) -> Query:
        """The query with the entity that each literal names; matching does this by itself where options say so."""
        ...

    def count(self, query: Query, options: MatchOptions) -> Statistics:
        """In how many documents each literal of a query occurs, and how often."""
        ...

    def contexts(self, query: Query, options: MatchOptions) -> Contexts:
        """All contexts of a query."""
        ...

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
        """The k best entities by a system, scored where the rows are.

        The rows of the k best come along, or those of one `entity` whatever its rank; none without `with_rows`. With
        `best`, so many rows of each that contribute most are enough.
        """
        ...

    def rows(self, query: Query, options: MatchOptions, entities: I32) -> Contexts:
        """The contexts of some entities alone: what is to be shown."""
        ...

    def read_documents(self, documents: Sequence[int]) -> list[Stored]:
        """Id, title, URL and text of some documents, given by number."""
        ...

    def read_excerpts(self, documents: Sequence[int], wanted: Wanted) -> tuple[Excerpts, list[Head]]:
        """Pieces of some documents with the tokens that are wanted of each, and what else is shown of them."""
        ...

    def find_mentions(self, pairs: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
        """For each pair of a document and an entity, by number, the tokens [start, end) of the entity's mentions."""
        ...

    def read_mentions(self, document: int) -> DocumentMentions:
        """All mentions of a document, given by number, in order."""
        ...

    def document_ids(self, documents: Sequence[int]) -> list[str]:
        """The ids of some documents, given by number."""
        ...

    def find_document(self, doc_id: str) -> int:
        """The number of a document, -1 where no document has that id."""
        ...

    def refresh(self) -> Self:
        """The collection at its newest commit: itself where that is open already."""
        ...
