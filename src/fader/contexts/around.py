"""What stands around the rows of a table: the other candidates of their documents, and all documents of their entities.

A table of some rows (`Contexts.focus`) keeps both as they are in the table that it was taken from, so that a column of
a few rows needs no other rows. Knows nothing of where tables come from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
SORTED_TOGETHER = 1 << 15  # contexts that are sorted between two looks at the clock


@dataclass(frozen=True, slots=True)
class Companions:
    """All mentions of candidates in the documents that have a context.

    Those of document j of `Contexts.documents` are `[at[j]:at[j+1]]`, by start; `candidates[j]` counts their different
    entities.
    """

    at: I64
    start: I32
    entity: I32
    candidates: I32

    def take(self, documents: NDArray[np.integer]) -> Companions:
        """Those of some documents."""
        at, rows = take_lists(self.at, documents)
        return Companions(at, self.start[rows], self.entity[rows], self.candidates[documents])


@dataclass(frozen=True, slots=True)
class Holdings:
    """The documents of each entity of `groups`, however few of its contexts the table has.

    Entity i has the documents `document[at[i]:at[i+1]]`, rows of `Contexts.matching`, ascending, and `contexts[i]`
    contexts in them.
    """

    at: I64
    document: I32
    contexts: I64

    def take(self, entities: NDArray[np.integer]) -> Holdings:
        """Those of some entities, by their places."""
        at, rows = take_lists(self.at, entities)
        return Holdings(at, self.document[rows], self.contexts[entities])


def take_lists(at: I64, places: NDArray[np.integer]) -> tuple[I64, I64]:
    """Where some of the lists `[at[i]:at[i+1]]` are when they are laid end to end, and the items that they have."""
    begin = at[places]
    size = at[places + 1] - begin
    out = np.zeros(size.size + 1, dtype=np.int64)
    np.cumsum(size, out=out[1:])
    return out, np.arange(int(out[-1])) + np.repeat(begin - out[:-1], size)


def find_companions(row: I32, documents: int, start: I32, slot: I32, entities: I32) -> Companions:
    """From the document, first token and entity slot of all contexts."""
    at = np.zeros(documents + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=documents), out=at[1:])
    order = _sort_within_documents(row, at, start, slot)
    sorted_slot, candidates = slot[order], np.zeros(documents, dtype=np.int32)
    _count_entities(at, sorted_slot, np.full(entities.size, -1, dtype=np.int64), candidates)
    return Companions(at, start[order], entities[sorted_slot], candidates)


def _sort_within_documents(row: I32, at: I64, start: I32, slot: I32) -> I64:
    """What sorts contexts by document, first token and slot; documents in pieces where time is counted."""
    if not budget.is_counted() or (row[1:] < row[:-1]).any():
        return np.lexsort((slot, start, row))
    order, a = np.empty(row.size, dtype=np.int64), 0
    while a < row.size:
        budget.check()
        b = int(at[max(int(row[a]) + 1, int(np.searchsorted(at, a + SORTED_TOGETHER, side="right")) - 1)])
        order[a:b] = a + np.lexsort((slot[a:b], start[a:b], row[a:b]))
        a = b
    return order


@kernel
def _count_entities(at: I64, slot: I32, seen: I64, out: I32) -> None:
    """How many slots each list has; `seen` has a place for every slot."""
    for d in range(out.size):
        for i in range(at[d], at[d + 1]):
            if seen[slot[i]] != d:
                seen[slot[i]] = d
                out[d] += 1


def find_holdings(at: I64, document: I32) -> Holdings:
    """From the documents of all contexts, those of entity i being `document[at[i]:at[i+1]]`, all at least one."""
    step = np.diff(document, prepend=-1)
    step[at[:-1]] = 1
    if (step < 0).any():  # as in no table that was not shuffled
        document = document[np.lexsort((document, np.repeat(np.arange(at.size - 1), np.diff(at))))]
        step = np.diff(document, prepend=-1)
        step[at[:-1]] = 1
    is_new = step != 0
    before = np.zeros(document.size + 1, dtype=np.int64)
    np.cumsum(is_new, out=before[1:])
    return Holdings(before[at], document[is_new], np.diff(at))
