"""A document as data: its text with sentences and mentions, and where the literals of a query occur in it.

All places are characters [start, end) of the text; `tokens` of a mention are those that a snippet has too, so that a
snippet leads to its passage. Of a text that is longer than 2,000,000 characters the beginning is given. Literals match
as they do in a search: by their terms, by their stems where the index has none, and the mentions of an entity that is
written `entity:ID`. Knows nothing of scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from fader import budget
from fader.contexts.query import Literal, Query
from fader.corpus.analysis import Analysis, spans
from fader.corpus.sentences import find_sentences
from fader.corpus.tokenise import batch_bytes, scan_tokens
from fader.errors import CatalogError, quote
from fader.index.stems import stemmer
from fader.search.collection import Collection

MOST_CHARACTERS = 2_000_000
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DocumentMention:
    """A mention: its entity, its characters (None where no text is kept), its tokens and its confidence."""

    entity: str
    name: str
    at: Span | None
    tokens: Span
    confidence: float


@dataclass(frozen=True, slots=True)
class DocumentMatch:
    """An occurrence of a literal."""

    literal: str
    at: Span


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A document; `characters` counts those of the whole text, of which `text` may be the beginning."""

    id: str
    title: str
    url: str
    characters: int
    text: str
    sentences: list[Span]
    mentions: list[DocumentMention]
    matches: list[DocumentMatch]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def read_document(collection: Collection, doc_id: str, query: Query | None = None) -> DocumentPage:
    """The document with an id."""
    number = collection.find_document(doc_id) if isinstance(doc_id, str) else -1
    if number < 0:
        raise CatalogError(f"no document {quote(doc_id)}; search results name documents by id")
    budget.check()
    stored = collection.read_documents([number])[0]
    text = stored.text[:MOST_CHARACTERS]
    tokens = spans(text)
    budget.check()
    mentions = _list_mentions(collection, number, tokens)
    matches: list[DocumentMatch] = []
    if query is not None:
        found = set(_find_matches(collection.analysis, text, tokens, query, mentions))
        matches = sorted(found, key=lambda match: (match.at, match.literal))
    sentences = _find_sentences(text, tokens)
    return DocumentPage(stored.id, stored.title, stored.url, len(stored.text), text, sentences, mentions, matches)


def _list_mentions(collection: Collection, number: int, tokens: list[Span]) -> list[DocumentMention]:
    found, catalog = collection.read_mentions(number), collection.catalog
    columns = zip(
        found.entity.tolist(), found.start.tolist(), found.end.tolist(), found.confidence.tolist(), strict=True
    )
    return [
        DocumentMention(
            catalog.entity_ids[entity],
            catalog.entity_names[entity],
            (tokens[start][0], tokens[end - 1][1]) if end <= len(tokens) else None,
            (start, end),
            confidence,
        )
        for entity, start, end, confidence in columns
    ]


def _find_sentences(text: str, tokens: list[Span]) -> list[Span]:
    """The sentences, each up to where the next one begins."""
    if not tokens:
        return []
    data, ends = batch_bytes([text.encode("utf-8")])
    begin, end, tokens_end = scan_tokens(data, ends)
    gaps = find_sentences(data, begin, end, tokens_end).gap
    firsts = [0, *(tokens[i][0] for i in np.cumsum(gaps).tolist() if i < len(tokens))]
    return list(pairwise([*firsts, len(text)]))


def _find_matches(
    analysis: Analysis, text: str, tokens: list[Span], query: Query, mentions: list[DocumentMention]
) -> Iterator[DocumentMatch]:
    term = lru_cache(100_000)(analysis.term)
    terms = [term(text[a:b]) for a, b in tokens]
    budget.check()
    stems = None
    for literal in query.literals:
        if literal.entity is not None:
            own = (mention.at for mention in mentions if mention.entity == literal.entity)
            yield from (DocumentMatch(literal.text, at) for at in own if at is not None)
        wanted = list(literal.terms)
        yield from _occurrences(literal, wanted, terms, tokens)
        if analysis.stems and not literal.exact:
            stem = lru_cache(100_000)(stemmer(analysis.stems))
            stems = stems or [one and stem(one) for one in terms]
            yield from _occurrences(literal, [stem(one) for one in wanted], stems, tokens)
        budget.check()


def _occurrences(
    literal: Literal, wanted: list[str], terms: list[str | None], tokens: list[Span]
) -> Iterator[DocumentMatch]:
    """Where terms stand at the offsets of a literal."""
    if not wanted:
        return
    placed = list(zip(wanted, literal.offsets, strict=True))
    for i, first in enumerate(terms):
        if first != wanted[0] or i + literal.length > len(terms):
            continue
        if all(terms[i + offset] == one for one, offset in placed):
            yield DocumentMatch(literal.text, (tokens[i][0], tokens[i + literal.length - 1][1]))
