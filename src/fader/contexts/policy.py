"""Evidence policies: which of an entity's mentions count.

`document`: of the mentions in one document only the one with the largest score, the first on a tie; `mention`:
every one. Knows scores and the Contexts table, nothing of how scores come about.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.contexts.table import Contexts
from fader.errors import UsageError, quoted
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
POLICIES = ("document", "mention")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The contexts that count: rows of the table by entity, entity i having `row[at[i]:at[i+1]]`, and their scores."""

    entity: I32
    row: I32
    at: I64
    scores: F64


@kernel
def _best_mentions(entity: I32, document: I32, scores: F64, seen: I32, row: I32, slot: I32, size: I32) -> Any:
    """Per entity and document the row with the largest score, in order of first sight; slots number the entities.

    `seen[e]` holds the entity's slot and its latest place in `row`, each plus one, 0 before it is seen; it is left
    all zero. Returns the counts of slots and of rows.
    """
    U = np.uintp
    slots, n = np.int32(0), U(0)
    for k in range(entity.size):
        i = U(k)
        e = U(entity[i])
        if seen[e, U(0)] == 0:
            slots += np.int32(1)
            seen[e, U(0)] = slots
        else:
            latest = U(seen[e, U(1)] - 1)
            if document[U(row[latest])] == document[i]:
                if scores[i] > scores[U(row[latest])]:
                    row[latest] = np.int32(k)
                continue
        s = seen[e, U(0)] - np.int32(1)
        row[n] = np.int32(k)
        slot[n] = s
        size[U(s)] += np.int32(1)
        n += U(1)
        seen[e, U(1)] = np.int32(n)
    for k in range(np.int64(n)):
        e = U(entity[U(row[U(k)])])
        seen[e, U(0)] = 0
        seen[e, U(1)] = 0
    return np.int64(slots), np.int64(n)


@kernel
def _by_slot(row: I32, slot: I32, entity: I32, scores: F64, at: I64, out: I32, sorted_scores: F64, found: I32) -> None:
    """Counting sort of the rows and their scores by slot, `at` holding each slot's begin; stable."""
    U = np.uintp
    put = at.astype(np.int32)
    for k in range(row.size):
        s, r = U(slot[U(k)]), row[U(k)]
        p = U(put[s])
        out[p] = r
        sorted_scores[p] = scores[U(r)]
        put[s] += np.int32(1)
        found[s] = entity[U(r)]


class _Scratch(threading.local):
    """A table of entities that each thread keeps, all zero between uses."""

    table: I32 = np.zeros((0, 2), dtype=np.int32)

    def of(self, entities: int) -> I32:
        if self.table.shape[0] < entities:
            self.table = np.zeros((entities, 2), dtype=np.int32)
        return self.table


_scratch = _Scratch()


def _documents(contexts: Contexts, scores: F64) -> Evidence:
    n = len(contexts)
    entities = int(contexts.entity.max(initial=-1)) + 1
    row, slot = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    size = np.zeros(min(n, entities), dtype=np.int32)
    slots, kept = _best_mentions(contexts.entity, contexts.document, scores, _scratch.of(entities), row, slot, size)
    at = np.zeros(slots + 1, dtype=np.int64)
    np.cumsum(size[:slots], out=at[1:])
    out, values, found = np.empty(kept, dtype=np.int32), np.empty(kept), np.empty(slots, dtype=np.int32)
    _by_slot(row[:kept], slot[:kept], contexts.entity, scores, at[:-1], out, values, found)
    return Evidence(found, out, at, values)


def select(contexts: Contexts, scores: F64, policy: str = "document") -> Evidence:
    """The contexts that count under a policy, given their scores."""
    if policy == "document":
        return _documents(contexts, scores)
    if policy == "mention":
        groups = contexts.groups
        return Evidence(groups.entity, groups.order, groups.at, scores[groups.order])
    raise UsageError(f"policy must be one of {', '.join(POLICIES)}, not {quoted(policy)}")
