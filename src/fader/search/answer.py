"""An answer as data, as `search --json` prints it. Knows nothing of how it was found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fader.contexts.query import Query


@dataclass(frozen=True, slots=True)
class QueryLiteral:
    """A literal as it was understood: its text, its terms, and whether it is optional, required or forbidden."""

    text: str
    terms: list[str]
    mode: str


@dataclass(frozen=True, slots=True)
class AnsweredQuery:
    """A query as it was understood, the forbidden literals last."""

    text: str
    literals: list[QueryLiteral]

    @classmethod
    def of(cls, query: Query) -> AnsweredQuery:
        literals = (*query.literals, *query.forbidden)
        return cls(query.text, [QueryLiteral(one.text, list(one.terms), one.mode) for one in literals])


@dataclass(frozen=True, slots=True)
class Match:
    """A literal near a mention: its character offsets in the snippet, and its distance in tokens."""

    literal: str
    at: tuple[int, int]
    distance: int


@dataclass(frozen=True, slots=True)
class Snippet:
    """A context to show: some text, with character offsets of the mention and of the matches."""

    doc: str
    title: str
    url: str
    score: float
    confidence: float
    snippet: str
    mention: tuple[int, int]
    matches: list[Match]


@dataclass(frozen=True, slots=True)
class Result:
    """One entity of an answer."""

    rank: int
    entity: str
    name: str
    types: list[str]
    score: float
    support: int
    evidence: list[Snippet]
    explain: dict[str, Any] | None = None


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
        plain = asdict(self)
        for result in plain["results"]:
            if result["explain"] is None:
                del result["explain"]
        return plain
