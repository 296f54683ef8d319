"""LambdaMART: boosted trees on what an entity's contexts add up to; the general-purpose learner of today.

    an entity's features   ln(1 + sum over its contexts of f_c(x, e)) for each weight c of the feature maps,
                           ln(1 + |S_e|), and for each map the largest score that its starting weights give a context
    V(e)                   sum over trees of the leaf that these reach

Trees are grown as in systems/forest.py, the grades as gains; a query shows all its good candidates and at most `bad` of
the others, drawn by the seed. Under the policy `document` the mention that counts is the one that the starting weights
score best. Trees say nothing about single contexts: an entity's value is shared in proportion to the scores that the
starting weights, a hand-set sum model, give its contexts (evenly where these are all 0). So a share says how much
evidence a context is, and not what its absence would change.

`trees_text` is what was learned, the letters of systems/forest.py.
Golden case: LightGBM's own prediction on the vectors. Burges, "From RankNet to LambdaRank to LambdaMART", Microsoft
Research MSR-TR-2010-82; Ke et al., "LightGBM", NIPS 2017. Not in the paper. Needs the optional package lightgbm. Knows
nothing of folds.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.allowance import claimed
from fader.contexts.policy import Evidence, check_policy, select
from fader.contexts.table import Contexts
from fader.errors import UsageError, quote
from fader.features.base import add_scores, cell_values
from fader.features.combined import Combined, as_text, feature_map
from fader.lazy import cached_property
from fader.learn.dataset import QueryData, draw_candidates
from fader.learn.learner import Example, Learner
from fader.learn.objective import sum_vectors
from fader.measures import judge
from fader.rank.system import Ranking
from fader.systems.shared.forest import (
    LEAVES,
    TREES,
    check_forest,
    check_rate,
    check_sizes,
    grow_forest,
    lightgbm,
    predict,
)
from fader.systems.shared.thinning import seed_of, some_rows

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
MOST = 10**9
DENSE = 1 << 20  # numbers of the table of features that is made at a time
DENSE_BYTES = 40  # of one of them, while it is made


@dataclass(frozen=True)
class LambdaMART(Learner):
    """Boosted trees on summed features of entities: Burges 2010, by LightGBM.

    `trees_text` is learned; there are `trees` trees of `leaves` leaves, each with `least` entities or more.
    """

    name: ClassVar[str] = "lambdamart"
    citation: ClassVar[str] = "Burges, From RankNet to LambdaRank to LambdaMART: an overview, MSR-TR-2010-82"
    learned: ClassVar[tuple[str, ...]] = ("trees_text",)
    tries: ClassVar[Mapping[str, tuple[str, ...]]] = {"leaves": ("4", "8"), "trees": ("50", "100")}
    features: str = "noprox+rectangle(5x6)+coverage(5x6)"
    trees: int = 100
    leaves: int = 4
    rate: float = 0.1
    least: int = 20
    bad: int = 1000
    policy: str = "document"
    trees_text: str = ""

    def __post_init__(self) -> None:
        check_policy(self.policy, self.name)
        object.__setattr__(self, "features", as_text(self.features))
        if self.maps.learns_edges:
            raise UsageError(f"{self.name}: features must have fixed edges, not {quote(self.features)}")
        bounds = {"trees": TREES, "leaves": LEAVES, "least": (1, MOST), "bad": (1, MOST)}
        check_sizes(self.name, {key: (getattr(self, key), bound) for key, bound in bounds.items()})
        check_rate(self.name, self.rate)
        if self.trees_text:
            check_forest(self.name, "trees_text", self.trees_text)

    def check_packages(self) -> None:
        lightgbm(self.name)

    @cached_property
    def maps(self) -> Combined:
        """The feature maps in use."""
        return feature_map(self.features)

    @cached_property
    def _cells(self) -> F64:
        """Cell values of the starting weights."""
        return self.maps.expand(self.maps.start())

    @property
    def is_fitted(self) -> bool:
        return bool(self.trees_text)

    @property
    def encoding(self) -> Hashable:
        return self.name, self.features, self.policy

    def encode(self, contexts: Contexts) -> QueryData:
        return self._encode_contexts(contexts, self._evidence(contexts))

    def _evidence(self, contexts: Contexts) -> Evidence:
        return select(contexts, self.scores(contexts), self.policy)

    def _encode_contexts(self, contexts: Contexts, evidence: Evidence) -> QueryData:
        """The contexts that count, as cells."""
        rows = evidence.row.astype(np.int64)
        blocks = tuple(some_rows(block, rows) for block in self.maps.blocks(contexts))
        unjudged = judge(evidence.entity, evidence.entity.tolist(), {})
        return QueryData("", evidence.at, np.arange(rows.size + 1), blocks, unjudged)

    def take_candidates(self, query: QueryData, places: I64) -> QueryData:
        return query.of(places)

    def vectors(self, query: QueryData) -> F64:
        """The features of a query's entities: (entities, weights + 1 + maps)."""
        sums = np.log1p(np.abs(sum_vectors(query, self.maps)))
        largest = []
        for block, values in zip(query.blocks, cell_values(query.blocks, self._cells), strict=True):
            scores = np.zeros(query.rows)
            add_scores(block, values, scores)
            largest.append(np.maximum.reduceat(scores, query.at[:-1]) if scores.size else scores)
        return np.column_stack([sums, np.log1p(np.diff(query.at)), *largest])

    def fit(self, examples: Sequence[Example], seed: int) -> Self:
        rows, grades = [], []
        for example in examples:
            judgments = example.judgments
            places = draw_candidates(judgments, self.bad, seed_of(judgments.entity, seed))
            rows.append(self.vectors(example.query.of(places)))
            grades.append(judgments.grades[places])
        settings = {"num_leaves": self.leaves, "learning_rate": self.rate, "min_data_in_leaf": self.least}
        return replace(self, trees_text=grow_forest(self.name, rows, grades, self.trees, seed, settings))

    def values_of(self, query: QueryData) -> F64:
        if not query.entity.size:
            return np.empty(0)
        parts, size, width = [], query.entity.size, self.maps.size + len(self.maps.maps) + 1
        step = max(1, (budget.CHUNK if budget.is_counted() else DENSE) // self.maps.size)
        for a in range(0, size, step):
            budget.check()
            some = query.of(np.arange(a, min(size, a + step))) if step < size else query
            with claimed(DENSE_BYTES * some.entity.size * width):
                parts.append(predict(self.name, "trees_text", self.trees_text, self.vectors(some)))
        return np.concatenate(parts)

    def value_entities(self, contexts: Contexts) -> tuple[Evidence, F64]:
        self.check_fitted()
        evidence = self._evidence(contexts)
        return evidence, self.values_of(self._encode_contexts(contexts, evidence))

    def scores(self, contexts: Contexts) -> F64:
        return self.maps.score(contexts, self.maps.start())

    def shares(self, contexts: Contexts, ranking: Ranking, i: int) -> F64:
        mass = np.maximum(ranking.scores_of(i), 0.0)
        mass = mass if mass.any() else np.ones(mass.size)
        shares: F64 = ranking.score[i] * (mass / mass.sum())
        return shares

    def literal_weights(self, contexts: Contexts, rows: I32) -> F64:
        """As the starting weights split the score of a context."""
        return np.maximum(self.maps.by_literal(contexts, rows, self.maps.start()), 0.0)
