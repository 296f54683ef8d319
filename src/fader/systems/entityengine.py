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
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.aggregate.base import Aggregator
from fader.aggregate.sum import spread, sums
from fader.contexts.policy import check_policy
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.features.fused import Covering
from fader.features.occurring import find_first
from fader.kernel import inner_kernel, kernel
from fader.rank.system import ContextScorer, FusedMaker, FusedScoring
from fader.systems.shared.covering import WEIGHT, OwnLiterals, smallest_windows, take_literals

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@inner_kernel
def find_strength(
    place: I32, s: int, e: int, own: OwnLiterals, perplexity: F64, order: float, begin: int, size: int, held: int
) -> Any:
    """share * dense, less where out of order: of each literal the first occurrence behind the one before must end in
    the window [begin, begin + size).
    """
    share, here, ordered, end = 0.0, begin, True, begin + size
    for t in range(perplexity.size):
        if own.distance[t] < 0:
            continue
        share += perplexity[t]
        if not ordered:
            continue
        high, length = own.end[t], own.length[t]
        i = find_first(place, own.begin[t], high, here)
        if own.distance[t] > 0:  # what overlaps the mention is not meant, whether it was there or ignored
            while i < high and place[i] < e and place[i] + length > s:
                i += 1
        ordered = i < high and place[i] + length <= end
        if ordered:
            here = place[i] + length
    dense = min(1.0, (e - s + held) / size)
    # Shares of IDF may add up to a last bit above 1.
    return min(1.0, share * dense * (1.0 if ordered else 1.0 - order))


@kernel
def _strengths(
    windows: Any,
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
    """s_x / cap."""
    begin, size, held = windows
    room = np.empty((4, length.size), np.int64)
    own = OwnLiterals(room[0], room[1], room[2], room[3])
    for x in range(from_, to):
        take_literals(distances, at, length, x, np.int64(row[x]), own)
        s, e, window = np.int64(first[x]), np.int64(last[x]), (np.int64(begin[x]), np.int64(size[x]))
        out[x] = find_strength(start, s, e, own, perplexity, order, window[0], window[1], np.int64(held[x]))


class _SoftOr(Aggregator):
    """-sum of ln(1 - s_x) over scores that are chances below 1."""

    name: ClassVar[str] = "entityengine"

    def values(self, scores: F64, at: I64) -> F64:
        return sums(self.shares(scores, at), at)

    def shares(self, scores: F64, at: I64) -> F64:
        shared: F64 = -np.log1p(-scores)
        return shared

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        slopes: F64 = spread(upstream, at) / (1.0 - scores)
        return slopes


@dataclass(frozen=True)
class EntityEngine(ContextScorer):
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

    @property
    def entity_aggregator(self) -> Aggregator:
        return _SoftOr()

    def scores(self, contexts: Contexts) -> F64:
        """s_x."""
        out = np.zeros(len(contexts))
        if not len(contexts):
            return out
        windows, positions = smallest_windows(contexts), contexts.positions
        for a, b in budget.chunks(len(contexts), weight=WEIGHT * len(contexts.distances)):
            _strengths(
                (windows.begin, windows.size, windows.held),
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
        return out * self.cap

    def prepare_fused(self) -> FusedMaker:
        def make(statistics: Statistics, _farthest: int) -> FusedScoring:
            term = Covering(statistics.perplexity(), float(self.order), self.cap)
            return FusedScoring((term,), self.entity_aggregator, self.policy)

        return make
