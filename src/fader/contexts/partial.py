"""What a part of a collection contributes to a query, and the Contexts table of all parts: exactly that of one machine.

    match_partial     a reader over some segments -> its counts of every literal and its rows
    join_partials     counts summed, rows joined in the order of documents

Counts are integers and rows stand in the order of documents' numbers in the whole collection, so nothing depends on
how it was cut. The limit on contexts of a query holds for all parts together. Knows nothing of machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.columns import (
    ColumnSource,
    DocumentValues,
    MentionColumns,
    Positions,
    RowColumns,
    Rows,
    SentenceStarts,
    Titles,
    take_documents,
)
from fader.contexts.join import JoinedColumns, Lookup
from fader.contexts.match import (
    MatchOptions,
    count_literals,
    join_parts,
    make_parts,
    match_parts,
    name_plans,
    warn_of_unknown,
)
from fader.contexts.query import Query
from fader.contexts.quota import ContextQuota
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.index.reader import IndexReader
from fader.kernel import kernel

I8 = NDArray[np.int8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Source = TypeVar("Source", bound=RowColumns, covariant=True)


@dataclass(frozen=True)
class PartialContexts(Generic[Source]):
    """The rows of some segments, documents by their numbers in the whole collection, and counts of literals there.

    All of `entities`, which ascend, have a row. `taken` counts the mentions that were looked at, `matched` the
    documents that match.
    """

    df: I64
    cf: I64
    entities: I32
    slot: I32
    document: I32
    distances: I32
    matched: int
    taken: int
    plan: str
    columns: Source

    def __len__(self) -> int:
        return int(self.slot.size)


def count_query(reader: IndexReader, query: Query, options: MatchOptions) -> tuple[I64, I64]:
    """How many documents have each literal, and how often it occurs in all of them: df and cf."""
    return count_literals(make_parts(reader, query, options), query)


def match_partial(
    reader: IndexReader,
    query: Query,
    options: MatchOptions = MatchOptions(),  # noqa: B008
) -> PartialContexts[ColumnSource]:
    """The rows of a reader's segments."""
    parts = make_parts(reader, query, options)
    df, cf = count_literals(parts, query)
    taken = match_parts(reader, query, parts, options)
    joined = join_parts(reader, query, parts)
    slot, entities = _drop_unused(*joined.slots)
    matched, plan = sum(part.matching for part in parts), name_plans(p.plan for p in parts)
    return PartialContexts(df, cf, entities, slot, joined.document, joined.distances, matched, taken, plan, joined)


def select_entities(partial: PartialContexts[ColumnSource], entities: I32) -> PartialContexts[RowColumns]:
    """The rows of some entities alone; documents are those that have one of these rows."""
    wanted = np.isin(partial.entities, entities)
    rows = np.flatnonzero(wanted[partial.slot]).astype(np.int32)
    slot, kept = _drop_unused(partial.slot[rows], partial.entities)
    document = partial.document[rows]
    return PartialContexts(
        partial.df,
        partial.cf,
        entities=kept,
        slot=slot,
        document=document,
        distances=np.ascontiguousarray(partial.distances[:, rows]),
        matched=partial.matched,
        taken=partial.taken,
        plan=partial.plan,
        columns=EntityColumns(partial.columns, rows, document),
    )


@dataclass(frozen=True)
class EntityColumns:
    """Columns of the rows of some entities: enough to show and to score these rows."""

    source: RowColumns
    rows: I32
    document: I32

    def take(self, rows: Rows) -> MentionColumns:
        return self.source.take(self.rows[rows])

    def read_sides(self) -> I8:
        return self.source.take(self.rows).read_sides()

    def read_start(self) -> I32:
        return self.source.take(self.rows).read_start()

    def read_end(self) -> I32:
        return self.source.take(self.rows).read_end()

    def read_confidence(self) -> F64:
        return self.source.take(self.rows).read_confidence()

    def read_documents(self) -> DocumentValues:
        values = self.source.read_documents()
        return take_documents(values, np.searchsorted(values.number, np.unique(self.document)))

    def read_matching(self) -> DocumentValues:
        raise UsageError("the rows of some entities have no values of all matching documents; ask for all rows")

    def read_positions(self) -> Positions:
        raise UsageError("the rows of some entities have no positions; ask for all rows")

    def read_sentences(self) -> SentenceStarts:
        raise UsageError("the rows of some entities have no sentences; ask for all rows")

    def read_titles(self) -> Titles:
        raise UsageError("the rows of some entities have no titles of matching documents; ask for all rows")


def join_partials(
    query: Query,
    documents: int,
    tokens: int,
    partials: Sequence[PartialContexts[RowColumns]],
    lookup: Lookup,
    options: MatchOptions = MatchOptions(),  # noqa: B008
) -> Contexts:
    """The Contexts table of a query in a collection of so many documents and tokens, from one part at least."""
    df, cf = _sum(p.df for p in partials), _sum(p.cf for p in partials)
    statistics = Statistics(documents, tokens, df, cf)
    ContextQuota(options.limits, len(query.literals)).reserve(sum(p.taken for p in partials))
    warnings, impossible = warn_of_unknown(query.literals, statistics, options)
    joined = JoinedColumns(partials, lookup, query)
    slot, entities = joined.slots
    budget.check()
    return Contexts(
        query,
        statistics,
        slot=slot,
        entities=entities,
        document=joined.document,
        distances=joined.distances,
        plan=name_plans(plan for p in partials for plan in p.plan.split("+")),
        warnings=[*query.notes, *warnings],
        empty_because=impossible,
        matched_documents=sum(p.matched for p in partials),
        columns=joined,
    )


def table_partial(
    query: Query, statistics: Statistics, partial: PartialContexts[ColumnSource], columns: ColumnSource
) -> Contexts:
    """The table of one part by itself, with the statistics of the whole collection: enough to score its rows."""
    rows = partial.slot, partial.entities, partial.document, partial.distances
    return Contexts(query, statistics, *rows, partial.plan, partial.matched, columns=columns)


def _sum(counts: Iterable[I64]) -> I64:
    total: I64 = np.sum(list(counts), axis=0, dtype=np.int64)
    return total


def _drop_unused(slot: I32, entities: I32) -> tuple[I32, I32]:
    """Slots among the entities that have a row alone; what else is listed under a type need not be sent."""
    place = np.zeros(entities.size, dtype=np.int32)
    for a, b in budget.chunks(slot.size):
        _see(slot[a:b], place)
    kept = np.flatnonzero(place)
    place[kept] = np.arange(kept.size, dtype=np.int32)
    return budget.gather_chunks(slot.size, lambda a, b: place[slot[a:b]]), entities[kept]


@kernel
def _see(slot: I32, seen: I32) -> None:
    for k in range(slot.size):
        seen[np.uintp(slot[np.uintp(k)])] = 1
