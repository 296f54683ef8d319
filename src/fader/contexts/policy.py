"""Evidence policies: which of an entity's mentions count.

`document`: of the mentions in one document only the one with the largest score, the first on a tie; `mention`:
every one. Knows scores and the Contexts table, nothing of how scores come about.
"""

from __future__ import annotations

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
    """The contexts that count: rows of the table by entity, entity i having `row[at[i]:at[i+1]]`."""

    entity: I32
    row: I32
    at: I64


@kernel
def _best_mentions(entity: I32, document: I32, scores: F64, slot_of: I32, row: I32, slot: I32, size: I64) -> Any:
    """Per entity and document the row with the largest score, in order of first sight; slots number the entities.

    `slot_of` is 0 for an entity not seen yet; `last[s]` and `place[s]` remember the slot's latest document.
    """
    U = np.uintp
    last = np.full(size.size, -1, dtype=np.int32)
    place = np.empty(size.size, dtype=np.int32)
    slots, n = np.int32(0), U(0)
    for k in range(entity.size):
        i = U(k)
        e = U(entity[i])
        if slot_of[e] == 0:
            slots += np.int32(1)
            slot_of[e] = slots
        s = U(slot_of[e]) - U(1)
        if last[s] != document[i]:
            last[s] = document[i]
            place[s] = np.int32(n)
            row[n] = np.int32(k)
            slot[n] = np.int32(s)
            size[s] += 1
            n += U(1)
        elif scores[i] > scores[U(row[U(place[s])])]:
            row[U(place[s])] = np.int32(k)
    return np.int64(slots), np.int64(n)


@kernel
def _by_slot(row: I32, slot: I32, entity: I32, at: I64, out: I32, entities: I32) -> None:
    """Counting sort of the rows by slot, `at` holding the ends of the slots before; stable."""
    U = np.uintp
    put = at.copy()
    for k in range(row.size):
        s = U(slot[U(k)])
        out[U(put[s])] = row[U(k)]
        put[s] += 1
        entities[s] = entity[U(row[U(k)])]


def _documents(contexts: Contexts, scores: F64) -> Evidence:
    n = len(contexts)
    slot_of = np.zeros(int(contexts.entity.max(initial=-1)) + 1, dtype=np.int32)
    row, slot = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    size = np.zeros(min(n, slot_of.size), dtype=np.int64)
    slots, kept = _best_mentions(contexts.entity, contexts.document, scores, slot_of, row, slot, size)
    at = np.zeros(slots + 1, dtype=np.int64)
    np.cumsum(size[:slots], out=at[1:])
    out, entities = np.empty(kept, dtype=np.int32), np.empty(slots, dtype=np.int32)
    _by_slot(row[:kept], slot[:kept], contexts.entity, at[:-1], out, entities)
    return Evidence(entities, out, at)


def select(contexts: Contexts, scores: F64, policy: str = "document") -> Evidence:
    """The contexts that count under a policy, given their scores."""
    if policy == "document":
        return _documents(contexts, scores)
    if policy == "mention":
        groups = contexts.groups
        return Evidence(groups.entity, groups.order, groups.at)
    raise UsageError(f"policy must be one of {', '.join(POLICIES)}, not {quoted(policy)}")
