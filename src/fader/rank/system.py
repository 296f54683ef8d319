"""The contract of everything that ranks.

    scores            what each context of the table is worth by itself
    value_entities    the contexts that count, grouped by entity, and a value per entity
    shares            what each context of one entity adds to its value; the shares add up to it
    literal_weights   in which proportion literals share what a context adds
    pieces            the score of one context, by feature cell
    view              how contexts must be matched: policy, window, overlap, top
    prepare_fused     the same as data, where it can be computed while contexts are matched

Order, explanations and "what if this context were gone" follow from these for every system (`fader.rank.ranking`). A
system is a frozen dataclass whose fields are its parameters. `ContextScorer` is the common case: an aggregator over the
scores of contexts. `FeatureScorer` is that case with scores that are weighted features, declared as data so that they
can be computed elsewhere: on the machines that hold the contexts, or in one pass with the matching.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.aggregate.base import Aggregator
from fader.contexts.match import MatchOptions
from fader.contexts.policy import Evidence, check_policy, select
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.features.base import FeatureMap, Piece
from fader.features.fused import Around, Term, TermMaker
from fader.lazy import cached_property
from fader.limits import DEFAULTS, Limits
from fader.registry import write_part

if TYPE_CHECKING:
    from fader.rank.rerank import Reranking

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class View:
    """Which contexts there are and which of them count: how they are matched, and the evidence policy.

    With `top`, only contexts in that many documents that BM25 ranks highest; 0 takes all that match. `stem`, `entities`
    and `relax` say how literals are matched: see `MatchOptions`.
    """

    policy: str = "document"
    window: int | None = None
    overlap: bool = True
    top: int = 0
    stem: bool = False
    entities: bool = False
    relax: bool = False

    def __post_init__(self) -> None:
        check_policy(self.policy, "training")

    def match_options(self, limits: Limits = DEFAULTS, plan: str | None = None) -> MatchOptions:
        """The part of it that matching needs."""
        literals = self.stem, self.entities, self.relax
        return MatchOptions(self.overlap, self.window, plan, limits, *literals)

    @property
    def takes_all(self) -> bool:
        """Whether every candidate has a context."""
        return self.window is None and not self.top


EVERY_CONTEXT = View()


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best entities: numbers, scores, |S_e|, and the place of each in `evidence`.

    `values` are the scores of all candidates, in the order of the evidence.
    """

    entity: I32
    score: F64
    support: I64
    place: I64
    evidence: Evidence
    candidates: int
    values: F64

    def slice_of(self, i: int) -> slice:
        """Where the contexts of the i-th ranked entity are in the evidence."""
        at = self.evidence.at
        return slice(int(at[self.place[i]]), int(at[self.place[i] + 1]))

    def rows_of(self, i: int) -> I32:
        """The rows of the table that count for the i-th ranked entity."""
        return self.evidence.row[self.slice_of(i)]

    def scores_of(self, i: int) -> F64:
        """The scores of these rows."""
        return self.evidence.scores[self.slice_of(i)]


@dataclass(frozen=True, eq=False)
class FeatureScoring:
    """V(e) = aggregate over the evidence of e of  w . f_q(x, e), as data."""

    features: FeatureMap
    weights: F64
    aggregator: Aggregator
    policy: str

    @cached_property
    def make_terms(self) -> TermMaker | None:
        """The score as terms of the fused path; None where it has no such form."""
        return self.features.prepare_terms(self.weights)

    def score(self, contexts: Contexts) -> F64:
        """w . f of every context."""
        return self.features.score(contexts, self.weights)


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Pairs of an entity and a document that mentions it, by entity: entity i has the pairs `at[i]:at[i+1]`.

    `mentions` are those of the entity in the document, `every` those of all candidates in it, `named` how many
    candidates it mentions, `candidates` how many there are in all.
    """

    at: I64
    mentions: I64
    named: I64
    every: F64 | I64
    candidates: int


@dataclass(frozen=True, eq=False)
class FusedScoring:
    """A system as data that can be ranked while contexts are matched, with the bits of `value_entities`.

    The score of a context is the sum of `terms`; with `documents`, the value that it gives the context's document comes
    first. Under the policy `document`, the mention with the largest score counts, or by the terms of `choice` if there
    are any. `documents` takes a table without rows whose `matching` has all documents that match; it gives each one a
    value, and says which of them can count (None: all). `associate` has a number for each pair of entity and document,
    from the counts of all pairs of some entities; its logarithm is added to the score.
    """

    terms: tuple[Term, ...]
    aggregator: Aggregator
    policy: str
    choice: tuple[Term, ...] = ()
    documents: Callable[[Contexts], tuple[F64, NDArray[np.bool_] | None]] | None = None
    associate: Callable[[PairCounts], F64] | None = None

    @property
    def around(self) -> Around | None:
        """The term that reads all occurrences around a mention, if there is one."""
        return next((term for term in self.terms if isinstance(term, Around)), None)


# From the statistics of a query and the largest distance that there can be.
FusedMaker = Callable[[Statistics, int], FusedScoring]


class System(ABC):
    """Values the candidates of a query, and says what each context adds.

    `citation` names the source. `tries` lists values of free parameters that are worth trying. The text of a system,
    such as `proximity(width=20)`, parses back to an equal system.
    """

    name: ClassVar[str]
    citation: ClassVar[str] = ""
    tries: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    learned: ClassVar[tuple[str, ...]] = ()  # the fields that training fills in
    values_are_independent: ClassVar[bool] = False  # the value of an entity depends on its own contexts alone
    reads_alternatives: ClassVar[bool] = False  # its own text may name several values with `|`
    cv: str = ""  # its own cross-validation in comparisons

    def __str__(self) -> str:
        return write_part(self)

    @abstractmethod
    def scores(self, contexts: Contexts) -> F64:
        """What each context is worth by itself."""

    @abstractmethod
    def value_entities(self, contexts: Contexts) -> tuple[Evidence, F64]:
        """The contexts that count, with their scores, and a value per entity."""

    @abstractmethod
    def shares(self, contexts: Contexts, ranking: Ranking, i: int) -> F64:
        """What each context of the i-th ranked entity adds to its value, in the order of the evidence."""

    def literal_weights(self, contexts: Contexts, rows: I32) -> F64:
        """(literals, rows): weights in proportion to which literals share what a context adds; IDF by default."""
        weights: F64 = np.where(contexts.distances[:, rows] >= 0, contexts.statistics.idf()[:, None], 0.0)
        return weights

    def pieces(self, contexts: Contexts, row: int) -> list[Piece]:
        """The score of one context, by feature cell."""
        return [Piece(self.name, -1, "score", float(self.scores(contexts)[row]))]

    @property
    def view(self) -> View:
        """How contexts must be matched."""
        return EVERY_CONTEXT

    @property
    def feature_scoring(self) -> FeatureScoring | None:
        """Features, weights, aggregator and policy, where the system is exactly that."""
        return None

    def scoring_of(self, contexts: Contexts, rows: I32) -> tuple[FeatureScoring, Contexts, I32] | None:
        """The weighted features behind the scores of some rows of one entity, and the table and rows they are of."""
        scoring = self.feature_scoring
        return None if scoring is None else (scoring, contexts, rows)

    def prepare_fused(self) -> FusedMaker | None:
        """What makes the system data for the fused path; None where it must be ranked through the table."""
        return None

    @property
    def reranking(self) -> Reranking | None:
        """What values the best candidates anew; `prepare_fused` is then about the ranking before it."""
        return None

    @property
    def is_fitted(self) -> bool:
        """Whether it can rank; only a learner may have to be trained first."""
        return True

    def check_packages(self) -> None:
        """Refuse to run where an optional package is missing, before any work is done."""
        return

    @property
    def short_name(self) -> str:
        """What answers call a trained one."""
        return self.name

    @property
    def title(self) -> str:
        """What reports call it, where that is not its text."""
        return ""


class ContextScorer(System):
    """An aggregator over the scores of the contexts that count; a context's score depends on no other context."""

    values_are_independent = True
    policy: str

    @property
    @abstractmethod
    def entity_aggregator(self) -> Aggregator:
        """What joins the scores of one entity."""

    def can_count(self, contexts: Contexts) -> NDArray[np.bool_] | None:
        """Which contexts can count at all; None for all. An entity that has none is not ranked."""
        return None

    def value_entities(self, contexts: Contexts) -> tuple[Evidence, F64]:
        scores, countable = self.scores(contexts), self.can_count(contexts)
        if countable is None or countable.all():
            evidence = select(contexts, scores, self.policy)
        else:
            rows = np.flatnonzero(countable).astype(np.int32)
            evidence = select(contexts.take(rows), scores[rows], self.policy)
            evidence = replace(evidence, row=rows[evidence.row])
        return evidence, aggregate_evidence(self.entity_aggregator, evidence)

    def shares(self, contexts: Contexts, ranking: Ranking, i: int) -> F64:
        scores = ranking.scores_of(i)
        return self.entity_aggregator.shares(scores, np.array([0, scores.size], dtype=np.int64))


class FeatureScorer(ContextScorer):
    """Weighted features x aggregator."""

    @property
    @abstractmethod
    def feature_scoring(self) -> FeatureScoring: ...

    @property
    def entity_aggregator(self) -> Aggregator:
        return self.feature_scoring.aggregator

    def prepare_fused(self) -> FusedMaker | None:
        scoring = self.feature_scoring
        make = scoring.make_terms
        if make is None:
            return None
        return lambda statistics, farthest: FusedScoring(make(statistics, farthest), scoring.aggregator, scoring.policy)

    def scores(self, contexts: Contexts) -> F64:
        return self.feature_scoring.score(contexts)

    def literal_weights(self, contexts: Contexts, rows: I32) -> F64:
        scoring = self.feature_scoring
        return scoring.features.by_literal(contexts, rows, scoring.weights)

    def pieces(self, contexts: Contexts, row: int) -> list[Piece]:
        scoring = self.feature_scoring
        return scoring.features.pieces(contexts, row, scoring.weights)


def aggregate_evidence(aggregator: Aggregator, evidence: Evidence) -> F64:
    """V(e) of every entity; where time is limited, some entities at a time."""
    scores, at = evidence.scores, evidence.at
    if not budget.is_counted():
        return aggregator.values(scores, at)
    first, values = 0, [np.empty(0)]
    for _begin, end in budget.chunks(scores.size):
        last = max(first, int(np.searchsorted(at, end, side="right")) - 1)
        if last > first:
            values.append(aggregator.values(scores[at[first] : at[last]], at[first : last + 1] - at[first]))
        first = last
    return np.concatenate(values)
