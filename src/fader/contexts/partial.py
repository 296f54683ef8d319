"""What a part of a collection gives of a query, and the Contexts table of all shares: exactly that of one machine.

    share_of    a reader over some segments -> its counts of every literal and its rows
    table_of    counts added up, rows put together in the order of documents

Counts are integers and rows stand in the order of documents' numbers in the whole collection, so nothing depends on
how it was cut. How many contexts a query may have is asked of all shares together. Knows nothing of machines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.join import OF_DOCUMENTS, Joined, Source
from fader.contexts.match import MatchOptions, counted, join_parts, match_parts, named, parts_of, unknown
from fader.contexts.query import Query
from fader.contexts.quota import ContextQuota
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts, DocumentValues, Positions
from fader.errors import UsageError
from fader.index.reader import IndexReader
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Share:
    """The rows of some segments, documents by their numbers in the whole collection, and counts of literals there.

    All of `entities`, which ascend, have a row. `taken` counts the mentions that were looked at, `matched` the
    documents that match. `late` finds the other columns: confidence, sides, start, end, documents, matching, positions.
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
    late: Callable[[str], Any]

    def __len__(self) -> int:
        return int(self.slot.size)

    def column(self, name: str) -> Any:
        return self.late(name)

    def values(self, name: str) -> DocumentValues:
        values: DocumentValues = self.late(name)
        return values

    def positions(self) -> tuple[NDArray[Any], list[I32]]:
        found: Positions = self.late("positions")
        return np.diff(found.at, axis=1), [found.start[at[0] : at[-1]] for at in found.at]


def statistics_of(reader: IndexReader, query: Query) -> tuple[I64, I64]:
    """How many documents have each literal, and how often it occurs in all of them: df and cf."""
    return counted(parts_of(reader, query), query)


def share_of(reader: IndexReader, query: Query, options: MatchOptions = MatchOptions()) -> Share:  # noqa: B008
    """The rows of a reader's segments."""
    parts = parts_of(reader, query)
    df, cf = counted(parts, query)
    taken = match_parts(reader, query, parts, options)
    joined = join_parts(reader, query, parts)
    slot, entities = _occupied(*joined.slots)
    return Share(
        df, cf, entities, slot, joined.documents, joined.joined(lambda p: p.distances, axis=1),
        matched=sum(part.matching for part in parts), taken=taken, plan=named(p.plan for p in parts), late=joined.late,
    )  # fmt: skip


def of_entities(share: Share, entities: I32) -> Share:
    """The rows of some entities alone; documents are those that have one of these rows."""
    wanted = np.isin(share.entities, entities)
    rows = np.flatnonzero(wanted[share.slot]).astype(np.int32)
    slot, kept = _occupied(share.slot[rows], share.entities)
    document = share.document[rows]

    def late(name: str) -> Any:
        if name == "sides":
            return np.ascontiguousarray(share.late(name)[:, rows])
        if name == "documents":
            return _values_of(share.late(name), np.unique(document))
        if name in ("start", "end", "confidence"):
            return share.late(name)[rows]
        raise UsageError(f"the rows of some entities have no {name}")

    return replace(
        share, entities=kept, slot=slot, document=document, late=late,
        distances=np.ascontiguousarray(share.distances[:, rows]),
    )  # fmt: skip


def _values_of(values: DocumentValues, numbers: I32) -> DocumentValues:
    """Those of some documents."""
    kept = np.searchsorted(values.number, numbers)
    columns = {name: getattr(values, name)[kept] for name in ("number", *OF_DOCUMENTS)}
    return DocumentValues(
        row=np.empty(0, dtype=np.int32), counts=np.ascontiguousarray(values.counts[:, kept]), **columns
    )


def table_of(
    query: Query, documents: int, tokens: int, shares: Sequence[Share], source: Source,
    options: MatchOptions = MatchOptions(),  # noqa: B008
) -> Contexts:  # fmt: skip
    """The Contexts table of a query in a collection of so many documents and tokens, of one share at least."""
    statistics = Statistics(documents, tokens, _added(s.df for s in shares), _added(s.cf for s in shares))
    ContextQuota(options.limits, len(query.literals)).reserve(sum(s.taken for s in shares))
    warnings, impossible = unknown(query.literals, statistics)
    joined = Joined(shares, source, [literal.length for literal in query.literals])
    slot, entities = joined.slots
    budget.check()
    return Contexts(
        query, statistics,
        slot=slot,
        entities=entities,
        document=joined.documents,
        distances=joined.joined(lambda s: s.distances, axis=1),
        plan=named(plan for s in shares for plan in s.plan.split("+")),
        warnings=[*query.notes, *warnings],
        empty_because=impossible,
        matched_documents=sum(s.matched for s in shares),
        late=joined.late,
    )  # fmt: skip


def table_of_share(query: Query, statistics: Statistics, share: Share, late: Callable[[str], Any]) -> Contexts:
    """The table of one share by itself, with the statistics of the whole collection: enough to score its rows."""
    return Contexts(
        query, statistics, share.slot, share.entities, share.document, share.distances, share.plan, share.matched,
        late=late,
    )  # fmt: skip


def _added(counts: Any) -> I64:
    total: I64 = np.sum(list(counts), axis=0, dtype=np.int64)
    return total


def _occupied(slot: I32, entities: I32) -> tuple[I32, I32]:
    """Slots among the entities that have a row alone: what else is listed under a type need not be told."""
    place = np.zeros(entities.size, dtype=np.int32)
    for a, b in budget.chunks(slot.size):
        _see(slot[a:b], place)
    kept = np.flatnonzero(place)
    place[kept] = np.arange(kept.size, dtype=np.int32)
    return budget.gathered(slot.size, lambda a, b: place[slot[a:b]]), entities[kept]


@kernel
def _see(slot: I32, seen: I32) -> None:
    for k in range(slot.size):
        seen[np.uintp(slot[np.uintp(k)])] = 1
