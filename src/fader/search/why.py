"""Why an entity has its rank: its score by context, literal and feature, its evidence, and its matches in the grids.

Knows nothing of how a system scores; what is asked here is in every system's contract, and grids are there where
the system has feature maps with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from fader import budget
from fader.contexts.query import REQUIRED
from fader.contexts.table import Contexts
from fader.notebook import to_pandas, to_polars
from fader.rank.ranking import Contributions
from fader.search.answer import AnsweredQuery, ContextShare, Explanation, Snippet
from fader.search.display import show_why, why_to_arrow
from fader.search.entity_rank import EntityStanding
from fader.search.evidence import SHOWN_CONTEXTS, by_weight, explain_entities, show_evidence
from fader.search.grids import FeaturePart, WeightGrid, features_of

_SIDES = {-1: "left", 0: "overlap", 1: "right"}


@dataclass(frozen=True, slots=True)
class LiteralFacts:
    """A literal of the query: the documents that have it, its IDF and its share of the query's."""

    text: str
    required: bool
    documents: int
    idf: float
    share: float


@dataclass(frozen=True, slots=True)
class MatchFacts:
    """A literal beside a mention: by the places of its context among those explained, and of the literal in the query.

    `side` is left, right or overlap; `share` is the literal's share of the query's IDF.
    """

    context: int
    literal: int
    distance: int
    side: str
    share: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Why:
    """Why an entity has its rank; rank and score are None if it is not a candidate.

    `evidence` has a snippet per context of `explain.contexts`, in the same order.
    """

    query: AnsweredQuery
    type: str | None
    model: str
    entity: str
    name: str
    rank: int | None
    score: float | None
    support: int
    candidates: int
    literals: list[LiteralFacts]
    explain: Explanation
    evidence: list[Snippet]
    features: list[FeaturePart]
    grids: list[WeightGrid]
    matches: list[MatchFacts]
    warnings: list[str]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __repr__(self) -> str:
        return f"Why({self.entity!r}, rank={self.rank} of {self.candidates:,}, score={self.score})"

    def __len__(self) -> int:
        return len(self.explain.contexts)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[ContextShare]:
        return iter(self.explain.contexts)

    def __getitem__(self, place: int) -> ContextShare:
        return self.explain.contexts[place]

    def _repr_html_(self) -> str:
        return show_why(self)

    def to_arrow(self) -> Any:
        """A row per context that is listed, as an Arrow table."""
        return why_to_arrow(self)

    def to_pandas(self) -> Any:
        """A row per context that is listed, as a pandas frame."""
        return to_pandas(self.to_arrow())

    def to_polars(self) -> Any:
        """A row per context that is listed, as a Polars frame."""
        return to_polars(self.to_arrow())


def why_of(found: EntityStanding) -> Why:
    """The explanation of where an entity stands."""
    contexts, shares = found.contexts, found.contributions()
    budget.check()
    explain = explain_entities(found.collection, contexts, found.model.system, found.ranking, [shares])[0]
    evidence = show_evidence(found.collection, contexts, [shares], SHOWN_CONTEXTS)[0]
    grids, features = features_of(found.model.system, contexts, shares)
    return Why(
        query=AnsweredQuery.of(contexts.query),
        type=contexts.query.type,
        model=str(found.model),
        entity=found.id,
        name=found.name,
        rank=found.rank,
        score=found.score,
        support=found.support,
        candidates=found.candidates,
        literals=_literals(contexts),
        explain=explain,
        evidence=evidence,
        features=features,
        grids=grids,
        matches=_matches(contexts, shares),
        warnings=found.warnings,
    )


def _literals(contexts: Contexts) -> list[LiteralFacts]:
    statistics = contexts.statistics
    columns = zip(
        contexts.query.literals, contexts.df, statistics.idf().tolist(), statistics.perplexity().tolist(), strict=True
    )
    return [LiteralFacts(lit.text, lit.mode == REQUIRED, df, idf, share) for lit, df, idf, share in columns]


def _matches(contexts: Contexts, shares: Contributions) -> list[MatchFacts]:
    perplexity = contexts.statistics.perplexity()
    found = []
    for place, x in enumerate(by_weight(shares)[:SHOWN_CONTEXTS].tolist()):
        row = int(shares.row[x])
        for t, distance in enumerate(contexts.distances[:, row].tolist()):
            if distance >= 0:
                side = _SIDES[int(contexts.sides[t, row])]
                share = float(perplexity[t])
                found.append(MatchFacts(place, t, distance, side, share, float(shares.literal[t, x])))
    return found
