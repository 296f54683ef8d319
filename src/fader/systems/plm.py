"""Lv & Zhai's positional language model, at the mention: words reach it from where they stand, the less the farther.

    c'(t, x) = sum over occurrences i of t of k(l(i)),   Z(x) = sum over all tokens i of the document of k(l(i))
    p(t|x)   = (c'(t, x) + mu p(t|C)) / (Z(x) + mu)
    a(x)     = sum_t ln p(t|x)                                                          the score of a context
    V(e)     = ln sum_x exp(a(x))  (aggregator=sum),   or max_x a(x)  (aggregator=max)

l(i) is 0 inside the mention and counts tokens from its nearest end outside; a phrase counts once, at its first token.
Literals with cf = 0 are left out. The model ranked documents; joining contexts is ours. Likelihoods are added and not
their logarithms, because these are negative: every further context would then count against its entity, and one that
lacks a literal more than all the good ones for it. With r = l/width: gaussian exp(-r^2/2), triangle 1 - r, cosine
(1 + cos(pi r))/2, circle sqrt(1 - r^2), passage 1, all but the first 0 beyond the width.

Golden case: documents `alpha x x x`, which mentions e at token 1, and `alpha alpha`, which mentions e and f at token 1;
query `alpha`, so that p(t|C) = 1/2. With a triangle of width 2 and mu = 1 the contexts have p = (1/2 + 1/2)/(2 + 1) =
1/3 and (3/2 + 1/2)/(3/2 + 1) = 4/5: V(e) = ln 17/15 by sum and ln 4/5 by max, V(f) = ln 4/5. Lv & Zhai, "Positional
language models for information retrieval", SIGIR 2009. Values are natural logarithms. Knows nothing of storage.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.aggregate.base import Aggregator
from fader.aggregate.logsumexp import LogSumExp
from fader.aggregate.max import Max
from fader.contexts.policy import check_policy
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.features.checks import check_choice
from fader.features.fused import Propagation
from fader.kernel import inline_kernel, kernel
from fader.rank.system import ContextScorer, FusedMaker, FusedScoring
from fader.systems.shared.kernels import check_width, decays_and_sums, propagate_counts
from fader.systems.shared.likelihood import F64, I32, LEAST, background, find_known_literals


@inline_kernel
def log_at_mention(count: float, mass: float, mu: float, share: float) -> float:
    """ln p(t|x); `share` is mu p(t|C)."""
    return math.log((count + share) / (mass + mu))


@kernel
def _add_logs(count: F64, mass: F64, mu: float, share: float, out: F64) -> None:
    for x in range(out.size):
        out[x] += log_at_mention(count[x], mass[x], mu, share)


KERNELS = ("gaussian", "triangle", "cosine", "circle", "passage")
AGGREGATORS = {"sum": LogSumExp(), "max": Max()}


@dataclass(frozen=True)
class Plm(ContextScorer):
    """Positional language model at each mention, a document's best one counting; likelihoods are added up."""

    name: ClassVar[str] = "plm"
    citation: ClassVar[str] = "Lv & Zhai, Positional language models for information retrieval, SIGIR 2009"
    tries: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "width": ("25", "75", "175"),
        "mu": ("100", "1000"),
        "aggregator": ("sum", "max"),
    }
    kernel: str = "gaussian"
    width: float = 175.0
    mu: float = 1000.0
    aggregator: str = "sum"
    policy: str = "document"

    def __post_init__(self) -> None:
        check_choice(self.name, "kernel", self.kernel, KERNELS)
        check_choice(self.name, "aggregator", self.aggregator, tuple(AGGREGATORS))
        check_width(self.name, self.width)
        check_policy(self.policy, self.name)
        if not LEAST <= self.mu < float("inf"):
            raise UsageError(f"{self.name}: mu must be at least {LEAST:g} tokens, not {self.mu}")

    @property
    def entity_aggregator(self) -> Aggregator:
        return AGGREGATORS[self.aggregator]

    def scores(self, contexts: Contexts) -> F64:
        """ln of the query's likelihood at each mention."""
        count, mass = self._propagate(contexts)
        out = np.zeros(len(contexts))
        for t in find_known_literals(contexts.statistics):
            _add_logs(count[t], mass, self.mu, float(self.mu * background(contexts.statistics)[t]), out)
        return out

    def prepare_fused(self) -> FusedMaker:
        def make(statistics: Statistics, farthest: int) -> FusedScoring:
            decay, mass, reach = decays_and_sums(farthest, self._shape, self.width)
            known, share = find_known_literals(statistics), self.mu * background(statistics)
            term = Propagation(decay, mass, reach, self.mu, share, known)
            return FusedScoring((term,), self.entity_aggregator, self.policy)

        return make

    def literal_weights(self, contexts: Contexts, rows: I32) -> F64:
        """By how much each literal exceeds what it has without an occurrence, as a log ratio."""
        count, _mass = self._propagate(contexts)
        floor = self.mu * background(contexts.statistics)[:, None]
        ratio = np.divide(count[:, rows], floor, out=np.zeros((floor.size, rows.size)), where=floor > 0)
        gain: F64 = np.where(contexts.distances[:, rows] >= 0, np.log1p(ratio), 0.0)
        return gain

    @property
    def _shape(self) -> str:
        return "step" if self.kernel == "passage" else self.kernel

    def _propagate(self, contexts: Contexts) -> tuple[F64, F64]:
        """Computed once per query, kernel and width, for any mu and aggregator."""
        made: tuple[F64, F64] = contexts.compute_once(
            ("propagated", self._shape, self.width), lambda: propagate_counts(contexts, self._shape, self.width)
        )
        return made
