"""An answer as data, as `search --json` prints it. Knows nothing of how it was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from fader.contexts.query import Literal, Query
from fader.notebook import to_pandas, to_polars
from fader.rank.ranking import WhatIf
from fader.search.display import results_to_arrow, show_results


@dataclass(frozen=True, slots=True)
class QueryLiteral:
    """A literal as it was understood: its text, its terms, and whether it is optional, required or forbidden.

    `entity` is the id of the entity whose mentions it matches too, None for none, and `confidence` how sure that is;
    `exact` literals match their own words alone.
    """

    text: str
    terms: list[str]
    mode: str
    exact: bool = False
    entity: str | None = None
    confidence: float = 1.0

    @classmethod
    def of(cls, literal: Literal) -> QueryLiteral:
        named = literal.exact, literal.entity, literal.confidence
        return cls(literal.text, list(literal.terms), literal.mode, *named)


@dataclass(frozen=True, slots=True)
class AnsweredQuery:
    """A query as it was understood, the forbidden literals last."""

    text: str
    literals: list[QueryLiteral]

    @classmethod
    def of(cls, query: Query) -> AnsweredQuery:
        literals = (*query.literals, *query.forbidden)
        return cls(query.text, [QueryLiteral.of(one) for one in literals])


@dataclass(slots=True)  # like snippets and results not frozen, which takes five times as long to make
class Match:
    """A literal near a mention: its character offsets in the snippet, and its distance in tokens."""

    literal: str
    at: tuple[int, int]
    distance: int


@dataclass(slots=True)
class Snippet:
    """A context to show: some text, with character offsets of the mention and of the matches.

    `tokens` are the mention's in the document, from the first to behind the last.
    """

    doc: str
    title: str
    url: str
    score: float
    confidence: float
    snippet: str
    mention: tuple[int, int]
    matches: list[Match]
    tokens: tuple[int, int]


@dataclass(frozen=True, slots=True)
class LiteralShare:
    """A literal's share of the contribution of a context, and its distance from the mention in tokens."""

    literal: str
    distance: int
    contribution: float


@dataclass(frozen=True, slots=True)
class CellShare:
    """The value that one feature cell adds to the score of a context; `literal` is None if the cell belongs to none."""

    feature: str
    literal: str | None
    cell: str
    value: float


@dataclass(frozen=True, slots=True)
class ContextShare:
    """What one context contributes to the score of an entity; the mention covers tokens `start` to `end`.

    `score` is the context's own, `contribution` its share of the entity's. `without` is the entity's score and rank if
    the context were missing; None if that was not computed.
    """

    doc: str
    start: int
    end: int
    score: float
    contribution: float
    literals: list[LiteralShare]
    cells: list[CellShare]
    without: WhatIf | None


@dataclass(frozen=True, slots=True)
class OtherContexts:
    """The contexts that are not listed: how many there are, and what they contribute together."""

    contexts: int
    contribution: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """How the score of an entity comes about.

    `literals` has the contribution per literal, `contexts` those that contribute most, `others` the sum of the rest.
    """

    score: float
    literals: dict[str, float]
    contexts: list[ContextShare]
    others: OtherContexts


@dataclass(slots=True)
class Result:
    """One entity of an answer."""

    rank: int
    entity: str
    name: str
    types: list[str]
    score: float
    support: int
    evidence: list[Snippet]
    explain: Explanation | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole answer to a query."""

    query: AnsweredQuery
    type: str | None
    took_ms: float
    matched_documents: int
    contexts: int
    candidates: int
    warnings: list[str]
    model: str
    results: list[Result]

    def to_dict(self) -> dict[str, Any]:
        """Plain data in the order of the documented JSON; `explain` only if it was asked for."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        for result in plain["results"]:
            if result["explain"] is None:
                del result["explain"]
        return plain

    def __repr__(self) -> str:
        return f"Answer({self.query.text!r}, type={self.type!r}, results={len(self.results)} of {self.candidates:,})"

    def __len__(self) -> int:
        return len(self.results)

    def __bool__(self) -> bool:
        return True  # an answer without results is an answer

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __getitem__(self, place: int) -> Result:
        return self.results[place]

    def _repr_html_(self) -> str:
        title = self.query.text + (f", type {self.type}" if self.type else "")
        foot = f"{self.candidates:,} candidates, {self.contexts:,} contexts; {self.model}; {self.took_ms:.1f} ms"
        return show_results(self.results, title, foot, self.warnings)

    def to_arrow(self) -> Any:
        """A row per result, as an Arrow table."""
        return results_to_arrow(self.results)

    def to_pandas(self) -> Any:
        """A row per result, as a pandas frame."""
        return to_pandas(self.to_arrow())

    def to_polars(self) -> Any:
        """A row per result, as a Polars frame."""
        return to_polars(self.to_arrow())
