"""Cummins, Lalmas & O'Riordan: contexts weighed by their rank in S_e, the weights found by an evolutionary search.

    V = sum over contexts of D(r_x) score(x),   r_x = 1, 2, ... by score descending, equal scores in their order

    family=power        D(r) = r^-a                                        decay a
    family=exponential  D(r) = exp(-a (r - 1))                             decay a
    family=deciles      D(r) = d_k, k = floor(10 (r - 1) / |S_e|)          decay d_0/.../d_9, each from 0 to 1

    score=bm25, dirichlet, cosine    of the document, as the feature map noprox has them
    score=proximity                  the inverse-distance kernel of width 10

`decay` is learned: differential evolution (Storn & Price 1997, scipy's) maximises the mean AP of the training queries,
a from 0 to 3, searched by its square root so that slow decays are seen. The first generation has the plain sum (a = 0,
or all deciles 1), which it therefore never falls below on the queries it learns from; for deciles also a cut behind
each of them. AP does not change when D is scaled, and so the largest decile is made 1.

A query is kept as an entity's scores in descending order, for deciles as their sums by decile, which are at most ten
however many contexts there are; the columns of these follow from their number, so that an evaluation is one pass over a
flat array, then one AP a query. The work of a fit is limited by counting, not by the clock, so that a seed decides
everything: 14 members x 10 generations for one number and 20 x 60 for deciles, but no more generations than keep the
search within 3e9 steps, which take some ten seconds; three at least. An evaluation has a step for each number that is
kept, and ten for each candidate, whose place must be found.

Golden case: bm25 scores 4, 2, 1 of an entity: power with a = 1 gives 4 + 2/2 + 1/3, exponential with a = ln 2 gives
4 + 1 + 1/4; deciles look up d_0, d_3 and d_6.

Cummins, Lalmas & O'Riordan, "Learning aggregation functions for expert search", ECAI 2010. Knows nothing of folds.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import scipy  # its subpackages load when they are first used
from numpy.typing import NDArray

from fader.aggregate.base import Aggregator
from fader.aggregate.ranked import sort_contexts
from fader.aggregate.sum import spread
from fader.contexts.policy import Evidence, check_policy, select
from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.features.base import FeatureMap
from fader.features.checks import check_choice
from fader.features.kernel import Kernel
from fader.features.noprox import NoProx
from fader.kernel import kernel
from fader.learn.learner import Example, Learner
from fader.measures import average_precision
from fader.rank.system import FusedMaker, FusedScoring, Ranking
from fader.systems.shared.thinning import within

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

SCORES = ("bm25", "dirichlet", "cosine", "proximity")
FAMILIES = ("power", "exponential", "deciles")
DECILES = 10
STEEPEST = 3.0
MEMBERS = {1: 14, DECILES: 20}
GENERATIONS = {1: 10, DECILES: 60}
FEWEST = 3
STEPS, TO_PLACE = 3e9, 10
SEEDS = 2**32  # scipy takes no larger ones


@dataclass(frozen=True, slots=True)
class RankedScores:
    """A query: entity i has `cells[at[i]:at[i+1]]`, its scores in descending order or their sums by decile."""

    entity: I32
    at: I64
    cells: F64


def end_to_end(queries: Sequence[RankedScores]) -> RankedScores:
    """Queries as one."""
    before = np.cumsum([0, *(q.cells.size for q in queries)])
    return RankedScores(
        np.concatenate([q.entity for q in queries]),
        np.concatenate([[0], *(q.at[1:] + b for q, b in zip(queries, before, strict=False))]),
        np.concatenate([q.cells for q in queries]),
    )


def mean_precision(values: F64, examples: Sequence[Example]) -> float:
    """MAP of queries whose values stand end to end."""
    total, begin = 0.0, 0
    for example in examples:
        judged = example.judgments
        end = begin + judged.entity.size
        total += average_precision(values[begin:end], judged.entity, judged.grades, judged.good)
        begin = end
    return total / len(examples)


@kernel
def _decile_sums(scores: F64, at: I64, out_at: I64, out: F64) -> None:
    """Sums of descending scores by decile; of n < 10 contexts each is alone in its decile."""
    for e in range(at.size - 1):
        n, put = at[e + 1] - at[e], out_at[e]
        for r in range(n):
            out[put + (DECILES * r // n if n > DECILES else r)] += scores[at[e] + r]


@kernel
def _values(cells: F64, at: I64, weights: F64, by_size: bool) -> F64:
    """sum of weights * cells of each entity; `weights` has a row for each number of cells, or one for all."""
    out = np.empty(at.size - 1)
    for e in range(at.size - 1):
        n = at[e + 1] - at[e]
        row = weights[n - 1 if by_size else 0]
        total = 0.0
        for r in range(n):
            total += row[r] * cells[at[e] + r]
        out[e] = total
    return out


@dataclass(frozen=True)
class Cummins(Learner):
    """Contexts weighed by their rank among those of the entity, by evolutionary search for MAP."""

    name: ClassVar[str] = "cummins"
    citation: ClassVar[str] = "Cummins, Lalmas & O'Riordan, Learning aggregation functions for expert search, ECAI 2010"
    learned: ClassVar[tuple[str, ...]] = ("decay",)
    tries: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "score": ("bm25", "dirichlet", "proximity"),
        "family": ("power", "deciles"),
    }
    score: str = "bm25"
    family: str = "power"
    policy: str = "document"
    decay: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "decay", tuple(float(d) for d in self.decay))  # numpy's numbers write differently
        check_policy(self.policy, self.name)
        check_choice(self.name, "score", self.score, SCORES)
        check_choice(self.name, "family", self.family, FAMILIES)
        shown = "/".join(f"{d:g}" for d in self.decay)
        if self.decay and len(self.decay) != self._numbers:
            raise UsageError(f"cummins: decay of family={self.family} has {self._numbers} numbers, not {shown}")
        if not all(0 <= d < math.inf for d in self.decay):
            raise UsageError(f"cummins: decay must be finite numbers from 0 on, not {shown}")

    @property
    def _numbers(self) -> int:
        return DECILES if self.family == "deciles" else 1

    @property
    def is_fitted(self) -> bool:
        return bool(self.decay)

    @property
    def _features(self) -> FeatureMap:
        return Kernel() if self.score == "proximity" else NoProx(self.score)

    def scores(self, contexts: Contexts) -> F64:
        return self._features.score(contexts, np.ones(1))

    def prepare_fused(self) -> FusedMaker | None:
        self.check_fitted()
        make = self._features.prepare_terms(np.ones(1))
        if make is None:
            return None
        return lambda statistics, farthest: FusedScoring(make(statistics, farthest), _ByRank(self), self.policy)

    def value_entities(self, contexts: Contexts) -> tuple[Evidence, F64]:
        self.check_fitted()
        evidence = select(contexts, self.scores(contexts), self.policy)
        return evidence, _ByRank(self).values(evidence.scores, evidence.at)

    def shares(self, contexts: Contexts, ranking: Ranking, i: int) -> F64:
        """D(r_x) score(x)."""
        scores = ranking.scores_of(i)
        return _ByRank(self).shares(scores, np.array([0, scores.size], dtype=np.int64))

    def encode(self, contexts: Contexts) -> RankedScores:
        evidence = select(contexts, self.scores(contexts), self.policy)
        return self.rank_scores(evidence)

    @property
    def encoding(self) -> Hashable:
        return self.name, self.score, self.policy, self.family == "deciles"

    def take_candidates(self, query: RankedScores, places: I64) -> RankedScores:
        taken, at = within(query.at, places)
        return RankedScores(query.entity[places], at, query.cells[taken])

    def values_of(self, query: RankedScores) -> F64:
        most = int(np.diff(query.at).max(initial=1))
        weights = self._weights(most)
        return _values(query.cells, query.at, weights, self.family == "deciles")  # type: ignore[no-any-return]

    def fit(self, examples: Sequence[Example], seed: int) -> Self:
        joined, numbers = end_to_end([e.query for e in examples]), self._numbers
        steps = MEMBERS[numbers] * (joined.cells.size + TO_PLACE * joined.entity.size)
        found = scipy.optimize.differential_evolution(
            lambda x: -mean_precision(self._with(x).values_of(joined), examples),
            [(0.0, 1.0 if self.family == "deciles" else math.sqrt(STEEPEST))] * numbers,
            maxiter=min(GENERATIONS[numbers], max(FEWEST, int(STEPS / steps) - 1)),
            init=self._first_generation(seed),
            seed=seed % SEEDS,
            tol=0.0,
            polish=False,
        )
        return self._with(found.x)

    def _first_generation(self, seed: int) -> F64:
        """The sum, for deciles also a cut behind each of the others, then what chance gives."""
        members = MEMBERS[self._numbers]
        if self.family != "deciles":
            return np.linspace(0.0, math.sqrt(STEEPEST), members)[:, None]
        drawn = np.random.default_rng(seed).random((members - DECILES, DECILES))
        return np.concatenate([np.tri(DECILES)[::-1], drawn])

    def _with(self, x: F64) -> Self:
        """The decay that stands at a point of the search."""
        if self.family != "deciles":
            return replace(self, decay=(float(x[0]) ** 2,))
        most = float(x.max())
        return replace(self, decay=tuple((x / most).tolist() if most > 0 else x.tolist()))

    def decays(self, n: int) -> F64:
        """D(1), ..., D(n) of an entity with n contexts."""
        before = np.arange(n)
        if self.family == "deciles":
            return np.array(self.decay)[DECILES * before // max(1, n)]
        a = self.decay[0]
        decays: F64 = np.power(before + 1.0, -a) if self.family == "power" else np.exp(-a * before)
        return decays

    def _weights(self, most: int) -> F64:
        """What each cell counts: a row for every number of cells that an entity can have, or one for all."""
        if self.family != "deciles":
            return self.decays(most)[None, :]
        out = np.zeros((DECILES, DECILES))
        for n in range(1, DECILES + 1):
            out[n - 1, :n] = self.decays(n)
        return out

    def rank_scores(self, evidence: Evidence) -> RankedScores:
        """The scores of each entity as training keeps them."""
        scores = evidence.scores[sort_contexts(evidence.scores, evidence.at)]
        if self.family != "deciles":
            return RankedScores(evidence.entity, evidence.at, scores)
        at = np.zeros(evidence.at.size, dtype=np.int64)
        np.cumsum(np.minimum(np.diff(evidence.at), DECILES), out=at[1:])
        cells = np.zeros(int(at[-1]))
        _decile_sums(scores, evidence.at, at, cells)
        return RankedScores(evidence.entity, at, cells)


class _ByRank(Aggregator):
    """V(e) by a decay that is fixed."""

    name: ClassVar[str] = "cummins"

    def __init__(self, system: Cummins) -> None:
        self._system = system

    def values(self, scores: F64, at: I64) -> F64:
        every = np.arange(at.size - 1, dtype=np.int32)
        return self._system.values_of(self._system.rank_scores(Evidence(every, every, at, scores)))

    def shares(self, scores: F64, at: I64) -> F64:
        return self._decay(scores, at) * scores

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        return self._decay(scores, at) * spread(upstream, at)

    def _decay(self, scores: F64, at: I64) -> F64:
        """D(r_x) of each context."""
        out = np.empty(scores.size)
        out[sort_contexts(scores, at)] = np.concatenate([np.empty(0), *map(self._system.decays, np.diff(at).tolist())])
        return out
