"""Passages for retrievers: a snippet per entity, or several, with the entity beside it. Knows no framework."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fader.search.index import Index
from fader.search.models import DEFAULT


@dataclass(frozen=True, slots=True)
class Passage:
    """A snippet, the score of its entity, and what is known of both."""

    id: str
    text: str
    score: float
    metadata: dict[str, Any]


def find_passages(
    index: Index,
    query: str,
    *,
    type: str | None = None,
    k: int = 10,
    snippets: int = 1,
    model: Any = DEFAULT,
    ask: bool = False,
) -> Iterator[Passage]:
    """The passages of a query's best entities; with `ask` the query is a question in plain words."""
    found: Any
    if ask:
        found = index.ask(query, k, model, type=type, snippets=snippets)
    else:
        found = index.search(query, type, k, model, snippets=snippets)
    for result in found.results:
        for shown in result.evidence:
            about = {
                "entity": result.entity,
                "name": result.name,
                "types": list(result.types),
                "rank": result.rank,
                "score": result.score,
                "document": shown.doc,
                "title": shown.title,
                "url": shown.url,
                "mention": list(shown.mention),
            }
            yield Passage(f"{result.entity}/{shown.doc}/{shown.tokens[0]}", shown.snippet, result.score, about)
