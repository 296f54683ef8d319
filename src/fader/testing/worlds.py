"""Whole small worlds without an index: documents with tokens and mentions, a query, and its Contexts table.

Everything in a table is found by plain loops over the tokens, so that document counts, positions and distances go
together, and oracles can be written over `World` alone. Some documents match without a mention, some entities have
one context, some literals occur nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader.contexts.columns import DocumentValues, EntityDetails, GivenColumns, Positions, SentenceStarts, Titles
from fader.contexts.query import parse_query
from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.corpus.analysis import Analysis
from fader.lazy import cached_property

# Token numbers of each literal; the third is a phrase.
LITERALS = (("alpha", (0,)), ("beta", (1,)), ('"gamma delta"', (2, 3)), ("epsilon", (4,)))
ENTITIES = 6


@dataclass(frozen=True)
class Mention:
    """Tokens [start, end) mean an entity."""

    start: int
    end: int
    entity: int
    confidence: float = 1.0


@dataclass(frozen=True)
class Document:
    """Tokens as small numbers, mentions in order of position."""

    tokens: tuple[int, ...]
    mentions: tuple[Mention, ...]
    prior: float = 1.0


@dataclass(frozen=True)
class World:
    """All documents, and how many of the literals the query has."""

    documents: tuple[Document, ...]
    literals: int

    def starts(self, document: int, literal: int) -> list[int]:
        """Where a literal begins in a document."""
        tokens, words = self.documents[document].tokens, LITERALS[literal][1]
        return [i for i in range(len(tokens) - len(words) + 1) if tokens[i : i + len(words)] == words]

    def tf(self, document: int, literal: int) -> int:
        return len(self.starts(document, literal))

    def length_of(self, literal: int) -> int:
        return len(LITERALS[literal][1])

    @cached_property
    def cf(self) -> list[int]:
        return [sum(self.tf(d, t) for d in range(len(self.documents))) for t in range(self.literals)]

    @cached_property
    def df(self) -> list[int]:
        return [sum(self.tf(d, t) > 0 for d in range(len(self.documents))) for t in range(self.literals)]

    @cached_property
    def tokens(self) -> int:
        return sum(len(d.tokens) for d in self.documents)

    @cached_property
    def matching(self) -> list[int]:
        """Documents with a literal."""
        return [d for d in range(len(self.documents)) if any(self.tf(d, t) for t in range(self.literals))]

    @cached_property
    def rows(self) -> list[tuple[int, Mention]]:
        """Every context: a document's number and a mention."""
        return [(d, m) for d in self.matching for m in self.documents[d].mentions]

    def distance(self, document: int, mention: Mention, literal: int) -> int:
        """Tokens from the mention's nearest end to the literal's nearest occurrence: 0 overlaps, -1 absent."""
        length, found = self.length_of(literal), []
        for s in self.starts(document, literal):
            if s + length <= mention.start:
                found.append(mention.start - s - length + 1)
            elif s >= mention.end:
                found.append(s - mention.end + 1)
            else:
                found.append(0)
        return min(found, default=-1)

    def side(self, document: int, mention: Mention, literal: int) -> int:
        """Where the nearest occurrence is: -1 left, also where one to the right is as near, 0 overlap or absent."""
        distance, length = self.distance(document, mention, literal), self.length_of(literal)
        if distance <= 0:
            return 0
        return -1 if mention.start - distance - length + 1 in self.starts(document, literal) else 1

    def documents_with(self, entity: int) -> int:
        """How many documents mention an entity."""
        return sum(any(m.entity == entity for m in d.mentions) for d in self.documents)

    def contexts(self) -> Contexts:
        """The table of the query."""
        rows = self.rows
        distances = [[self.distance(d, m, t) for d, m in rows] for t in range(self.literals)]
        sides = [[self.side(d, m, t) for d, m in rows] for t in range(self.literals)]
        entities = np.array(sorted({m.entity for _d, m in rows}), dtype=np.int32)
        given = GivenColumns(
            sides=np.array(sides, dtype=np.int8).reshape(self.literals, len(rows)),
            start=np.array([m.start for _d, m in rows], dtype=np.int32),
            end=np.array([m.end for _d, m in rows], dtype=np.int32),
            confidence=np.array([m.confidence for _d, m in rows], dtype=np.float64),
            documents=self._values(sorted({d for d, _m in rows})),
            matching=self._values(self.matching),
            positions=self._positions(sorted({d for d, _m in rows})),
            sentences=self._sentences(sorted({d for d, _m in rows})),
            titles=self._titles(),
            details=self._details(),
            entity_documents=np.array([self.documents_with(int(e)) for e in entities], dtype=np.int32),
        )
        return Contexts(
            query=parse_query(" ".join(text for text, _words in LITERALS[: self.literals]), Analysis()),
            statistics=Statistics(len(self.documents), self.tokens, np.array(self.df), np.array(self.cf)),
            slot=np.searchsorted(entities, [m.entity for _d, m in rows]).astype(np.int32),
            entities=entities,
            document=np.array([d for d, _m in rows], dtype=np.int32),
            distances=np.array(distances, dtype=np.int32).reshape(self.literals, len(rows)),
            plan="",
            matched_documents=len(self.matching),
            columns=given,
        )

    def sentence_starts(self, document: int) -> list[int]:
        """Sentences begin with the document and at tokens that are 1 or 4 by number."""
        return [i for i, token in enumerate(self.documents[document].tokens) if i == 0 or token in (1, 4)] or [0]

    def title(self, document: int) -> tuple[int, ...]:
        """The first two tokens."""
        return self.documents[document].tokens[:2]

    def about(self, document: int) -> int:
        """The entity of the first mention."""
        mentions = self.documents[document].mentions
        return mentions[0].entity if mentions else -1

    def label(self, entity: int) -> tuple[int, ...]:
        """The name of an entity: two tokens."""
        return (entity % 4, entity % 3 + 2)

    def has(self, tokens: tuple[int, ...], literal: int) -> bool:
        """Whether all of a literal's tokens are there."""
        return set(LITERALS[literal][1]) <= set(tokens)

    def hits(self, tokens: tuple[int, ...]) -> int:
        """How many different tokens are in a literal."""
        return len(set(tokens) & {token for _text, words in LITERALS[: self.literals] for token in words})

    def _sentences(self, numbers: list[int]) -> SentenceStarts:
        found = [self.sentence_starts(d) for d in numbers]
        at = np.cumsum([0, *map(len, found)])
        return SentenceStarts(at, np.array([start for starts in found for start in starts], dtype=np.int32))

    def _titles(self) -> Titles:
        titles = [self.title(d) for d in self.matching]
        about = [self.about(d) for d in self.matching]
        return Titles(np.array(about, dtype=np.int32), *self._count_terms(titles))

    def _details(self) -> EntityDetails:
        """An entity e has e % 3 types, whose names are `label(e + 1)`; e % 2 says whether directly, e is the depth."""
        e = np.arange(ENTITIES, dtype=np.int32)
        labels, types = [self.label(int(i)) for i in e], [self.label(int(i) + 1) for i in e]
        direct, asked = (e % 2).astype(np.uint8), (e == 3).astype(np.uint8)
        type_has = self._count_terms(types)[2]
        return EntityDetails(*self._count_terms(labels), e % 3, direct, e, type_has, asked)

    def _count_terms(
        self, labels: list[tuple[int, ...]]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]:
        """Of each label its different tokens, how many of them a literal has, and which literals it has."""
        has = [[self.has(label, t) for label in labels] for t in range(self.literals)]
        return (
            np.array([len(set(label)) for label in labels], dtype=np.int32),
            np.array([self.hits(label) for label in labels], dtype=np.int32),
            np.array(has, dtype=np.uint8).reshape(self.literals, len(labels)),
        )

    def _values(self, numbers: list[int]) -> DocumentValues:
        tokens = [self.documents[d].tokens for d in numbers]
        counts = [[self.tf(d, t) for d in numbers] for t in range(self.literals)]
        return DocumentValues(
            row=np.searchsorted(numbers, [d for d, _m in self.rows]).astype(np.int32),
            number=np.array(numbers, dtype=np.int32),
            counts=np.array(counts, dtype=np.int32).reshape(self.literals, len(numbers)),
            length=np.array([len(t) for t in tokens], dtype=np.int32),
            distinct=np.array([len(set(t)) for t in tokens], dtype=np.int64),
            square=np.array([sum(t.count(w) ** 2 for w in set(t)) for t in tokens], dtype=np.int64),
            prior=np.array([self.documents[d].prior for d in numbers], dtype=np.float64),
        )

    def _positions(self, numbers: list[int]) -> Positions:
        start: list[int] = []
        at = np.zeros((self.literals, len(numbers) + 1), dtype=np.int64)
        for t in range(self.literals):
            at[t, 0] = len(start)
            for j, d in enumerate(numbers):
                start += self.starts(d, t)
                at[t, j + 1] = len(start)
        length = np.array([self.length_of(t) for t in range(self.literals)], dtype=np.int32)
        return Positions(at, np.array(start, dtype=np.int32), length)


def draw_world(seed: int, count: int = 12, literals: int = 3) -> World:
    """A world by a seed: some documents with a few mentions each."""
    draw = np.random.default_rng(seed)
    found: list[Document] = []
    for _ in range(count):
        tokens = draw.integers(0, 9, size=int(draw.integers(4, 25)))
        places = np.sort(draw.integers(0, tokens.size, size=int(draw.integers(1, 5))))
        mentions = tuple(Mention(int(s), int(s) + 1, int(draw.integers(ENTITIES))) for s in places)
        found.append(Document(tuple(tokens.tolist()), mentions))
    return World(tuple(found), literals)
