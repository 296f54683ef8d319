"""EntityEngine: hardwired closeness in an ordered or unordered window, and soft-or over contexts.

    s_x = cap * share(x) * dense(x) * (1 where ordered(x), else 1 - order)
    V   = -sum over contexts of ln(1 - s_x),   the soft-or 1 - prod (1 - s_x) in log space: the same order of entities

    share(x)    the sum of IDF(t)/IDF(q) over the literals of x
    dense(x)    tokens of the mention and of its literals / tokens of the smallest window that covers them, at most 1
                (literals may overlap the mention or each other)
    ordered(x)  whether that window holds the literals of x in the order of the query, none overlapping the one before;
                the mention may stand anywhere. One literal is always in order

Every s_x is at most `cap` < 1, so that V is finite; evidence is wrong with a chance of at least 1 - cap. No term is
below 0, so that a context more never lowers V. `order` is what is lost out of order: with 0 the order does not matter,
with 1 only ordered windows count. Confidence is not used.

Golden case: one document `b M a`, mention M, equal IDFs, cap 0.9, order 0.5. Query `b a`: window 3, all dense and in
order: s = 0.9, V = ln 10. Query `a b`: out of order, s = 0.45, V = -ln 0.55.

Li, Li & Yu, "EntityEngine: answering entity-relationship queries using shallow semantics", CIKM 2010, from which
soft-or over windows is taken; density, the treatment of order and the share of IDF that a context keeps when it misses
literals are choices made here. Knows nothing of storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.aggregate.sum import sums
from fader.contexts.policy import Evidence, check_policy, select
from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.kernel import kernel
from fader.rank.system import Ranking, System
from fader.systems.shared.covering import WEIGHT, first_from, smallest_windows

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@kernel
def _strengths(
    begin: I32,
    size: I32,
    held: I32,
    first: I32,
    last: I32,
    row: I32,
    distances: I32,
    perplexity: F64,
    at: I64,
    start: I32,
    length: I32,
    order: float,
    from_: int,
    to: int,
    out: F64,
) -> None:
    """s_x / cap. In order: of each literal the first occurrence behind the one before; all must end in the window."""
    for x in range(from_, to):
        share, here, ordered, end = 0.0, begin[x], True, begin[x] + size[x]
        for t in range(distances.shape[0]):
            if distances[t, x] < 0:
                continue
            share += perplexity[t]
            if not ordered:
                continue
            high = at[t, row[x] + 1]
            place = first_from(start, at[t, row[x]], high, here)
            if distances[t, x] > 0:  # what overlaps the mention is not meant, whether it was there or ignored
                while place < high and start[place] < last[x] and start[place] + length[t] > first[x]:
                    place += 1
            ordered = place < high and start[place] + length[t] <= end
            if ordered:
                here = start[place] + length[t]
        dense = min(1.0, (last[x] - first[x] + held[x]) / size[x])
        out[x] = share * dense * (1.0 if ordered else 1.0 - order)


@dataclass(frozen=True)
class EntityEngine(System):
    """Density of ordered and unordered windows around a mention, joined by soft-or."""

    name: ClassVar[str] = "entityengine"
    citation: ClassVar[str] = (
        "Li, Li & Yu, EntityEngine: answering entity-relationship queries using shallow semantics, CIKM 2010"
    )
    tries: ClassVar[Mapping[str, tuple[str, ...]]] = {"cap": ("0.5", "0.9", "0.99"), "order": ("0", "0.25", "0.5")}
    cap: float = 0.9
    order: float = 0.25
    policy: str = "document"

    def __post_init__(self) -> None:
        check_policy(self.policy, self.name)
        if not 0 < self.cap < 1:
            raise UsageError(f"entityengine: cap must be above 0 and below 1, not {self.cap}")
        if not 0 <= self.order <= 1:
            raise UsageError(f"entityengine: order must be from 0 to 1, not {self.order}")

    def scores(self, contexts: Contexts) -> F64:
        """s_x."""
        out = np.zeros(len(contexts))
        if not len(contexts):
            return out
        windows, positions = smallest_windows(contexts), contexts.positions
        for a, b in budget.chunks(len(contexts), weight=WEIGHT * len(contexts.distances)):
            _strengths(
                windows.begin,
                windows.size,
                windows.held,
                contexts.start,
                contexts.end,
                contexts.documents.row,
                contexts.distances,
                contexts.statistics.perplexity(),
                positions.at,
                positions.start,
                positions.length,
                float(self.order),
                a,
                b,
                out,
            )
        # Shares of IDF may add up to a last bit above 1.
        return np.minimum(out, 1.0) * self.cap

    def value_entities(self, contexts: Contexts) -> tuple[Evidence, F64]:
        evidence = select(contexts, self.scores(contexts), self.policy)
        return evidence, sums(-np.log1p(-evidence.scores), evidence.at)

    def shares(self, contexts: Contexts, ranking: Ranking, i: int) -> F64:
        """-ln(1 - s_x)."""
        shared: F64 = -np.log1p(-ranking.scores_of(i))
        return shared
