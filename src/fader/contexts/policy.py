"""Evidence policies: which of an entity's mentions count.

`document`: of the mentions in one document only the one with the largest score, the first on a tie; `mention`:
every one. Knows scores and the Contexts table, nothing of how scores come about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.table import Contexts, find_occupied
from fader.errors import UsageError, quote
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
POLICIES = ("document", "mention")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The contexts that count: rows of the table by entity, entity i having `row[at[i]:at[i+1]]`, and their scores.

    `support` has the number of contexts per entity where a cascade looked at more than these.
    """

    entity: I32
    row: I32
    at: I64
    scores: F64
    support: I64 | None = None

    def support_of(self, places: I64) -> I64:
        """How many contexts support the entities at some places."""
        return self.at[places + 1] - self.at[places] if self.support is None else self.support[places]


@kernel
def _best_mentions(
    slot: I32, document: I32, scores: F64, begin: int, end: int, kept: int, latest: I32, size: I32, row: I32
) -> Any:
    """Per entity and document the row with the largest score, in order of first sight; returns how many.

    Of the rows [begin, end), those before having left `kept`. `latest[s]` is the place in `row` of the entity's latest
    document.
    """
    U = np.uintp
    n = U(kept)
    for k in range(begin, end):
        i = U(k)
        s = U(slot[i])
        last = latest[s]
        if last >= 0:
            best = U(row[U(last)])
            if document[best] == document[i]:
                if scores[i] > scores[best]:
                    row[U(last)] = np.int32(k)
                continue
        latest[s] = np.int32(n)
        row[n] = np.int32(k)
        size[s] += np.int32(1)
        n += U(1)
    return np.int64(n)


@kernel
def _by_slot(row: I32, slot: I32, scores: F64, put: I32, out: I32, sorted_scores: F64) -> None:
    """Counting sort of the rows and their scores by slot, stable: `put[s]` is where the next one of slot s goes."""
    U = np.uintp
    for k in range(row.size):
        r = row[U(k)]
        s = U(slot[U(r)])
        p = U(put[s])
        put[s] += np.int32(1)
        out[p] = r
        sorted_scores[p] = scores[U(r)]


def _documents(contexts: Contexts, scores: F64) -> Evidence:
    row = np.empty(len(contexts), dtype=np.int32)
    size = np.zeros(contexts.entities.size, dtype=np.int32)
    latest, kept = np.full(size.size, -1, dtype=np.int32), 0
    for a, b in budget.chunks(len(contexts)):
        kept = _best_mentions(contexts.slot, contexts.document, scores, a, b, kept, latest, size, row)
    out, values = np.empty(kept, dtype=np.int32), np.empty(kept)
    put = np.cumsum(size, dtype=np.int32) - size
    for a, b in budget.chunks(kept):
        _by_slot(row[a:b], contexts.slot, scores, put, out, values)
    entity, at = find_occupied(contexts.entities, size)
    return Evidence(entity, out, at, values)


def check_policy(policy: str, owner: str) -> None:
    """Refuse a policy that is none."""
    if policy not in POLICIES:
        raise UsageError(f"{owner}: policy must be one of {', '.join(POLICIES)}, not {quote(policy)}")


def select(contexts: Contexts, scores: F64, policy: str = "document") -> Evidence:
    """The contexts that count under a policy, given their scores."""
    check_policy(policy, "evidence")
    if policy == "document":
        return _documents(contexts, scores)
    groups = contexts.groups
    return Evidence(groups.entity, groups.order, groups.at, scores[groups.order])
