"""The specification as a slow program: raw text and a query in, contexts and a ranking out.

Plain Python, standard library only, and nothing of Fader is imported: an error of the engine cannot hide
in code that both share. Every function is the naive loop over the sentence of semantics.md (or interface.md)
that its docstring cites, so it is to be read beside the specification. It knows nothing about indexes,
segments or speed: every query walks over every document again.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ABSENT = -1
LEFT, OVERLAP, RIGHT = -1, 0, 1

# Letters that are read as others, though Unicode does not take them apart.
LETTERS = {"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe"}
MAX_LITERALS = 64
MAX_CHARACTERS = 2000

Record = Mapping[str, Any]
Span = tuple[int, int]
Row = tuple[str, str, int, int, float, tuple[int, ...], tuple[int, ...]]


class RefusedError(Exception):
    """The query has no meaning under the specification."""


# ---------------------------------------------------------------------------------------------- text


@dataclass(frozen=True)
class Token:
    """One position of a text. `term` is None for a stop word: it holds its position and matches nothing."""

    term: str | None
    start: int
    end: int


def is_token_character(character: str) -> bool:
    """Section 1, Tokens: the general categories L, M and N."""
    return unicodedata.category(character)[0] in "LMN"


def normalise(run: str) -> str:
    """Section 1, Tokens: NFC(casefold(NFC(run))), of more than 30 combining marks in a row the first 30."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", cut_marks(run)).casefold())


def cut_marks(text: str) -> str:
    """Section 1, Tokens: a character is dropped if it and the 30 before it all combine."""
    combines = [unicodedata.combining(c) > 0 for c in text]
    return "".join(c for i, c in enumerate(text) if i < 30 or not all(combines[i - 30 : i + 1]))


def tokenise(text: str, stemmer: Callable[[str], str] | None = None, stopwords: Collection[str] = ()) -> list[Token]:
    """Section 1, Tokens: maximal runs of token characters, normalised; the place in the list is the position.

    Offsets are code points of the raw text. Stop words are recognised on the normalised token, unstemmed.
    """
    runs: list[Span] = []
    begin: int | None = None
    for at, character in enumerate(text):
        if is_token_character(character):
            if begin is None:
                begin = at
        elif begin is not None:
            runs.append((begin, at))
            begin = None
    if begin is not None:
        runs.append((begin, len(text)))

    tokens = []
    for start, end in runs:
        term = normalise(text[start:end])
        if term in stopwords:
            tokens.append(Token(None, start, end))
        else:
            tokens.append(Token(term if stemmer is None else stemmer(term), start, end))
    return tokens


def fold(label: str) -> str:
    """The label of an entity, or a literal, without case, accents and needless blanks."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", cut_marks(label)).casefold())
    plain = "".join(c for c in apart if not unicodedata.combining(c))
    return " ".join("".join(LETTERS.get(c, c) for c in plain).split())


# ------------------------------------------------------------------------------------------ documents


@dataclass(frozen=True)
class Mention:
    """Section 1, Mentions: the token span [start, end) of an entity."""

    start: int
    end: int
    entity: str
    confidence: float


@dataclass(frozen=True)
class Document:
    """A document after analysis."""

    id: str
    tokens: list[Token]
    mentions: list[Mention]


def read_mentions(record: Record, tokens: Sequence[Token], entities: Collection[str]) -> list[Mention]:
    """Section 1, Mentions: the tokens which overlap the character span.

    A span that covers no token, lies outside the text (or is empty or reversed), or names an unknown entity
    is skipped. A missing confidence is 1.
    """
    mentions = []
    for raw in record.get("mentions", ()):
        start, end = raw["start"], raw["end"]
        if start < 0 or end > len(record["text"]) or start >= end:
            continue
        if raw["entity"] not in entities:
            continue
        covered = [at for at, token in enumerate(tokens) if token.start < end and start < token.end]
        if not covered:
            continue
        confidence = float(raw.get("confidence", 1.0))
        mentions.append(Mention(covered[0], covered[-1] + 1, raw["entity"], confidence))
    return mentions


# ---------------------------------------------------------------------------------------------- types


def reachable_types(direct: Sequence[str], supertypes: Mapping[str, Sequence[str]]) -> set[str]:
    """Section 1, Types: every type that a path of zero or more supertype edges leads to."""
    seen: set[str] = set()
    todo = list(direct)
    while todo:
        here = todo.pop()
        if here not in seen:
            seen.add(here)
            todo.extend(supertypes.get(here, ()))
    return seen


def resolve_type(name: str, types: Sequence[Record]) -> str:
    """interface.md section 2: a type is given by id or by name; an ambiguous name is an error."""
    if any(record["id"] == name for record in types):
        return name
    named = [record["id"] for record in types if record.get("name") == name]
    if len(named) != 1:
        raise RefusedError(f"type {name!r} is {'ambiguous' if named else 'unknown'}")
    return named[0]


# -------------------------------------------------------------------------------------------- queries

OPTIONAL, REQUIRED, FORBIDDEN = "", "+", "-"

# A literal: its terms, each with its offset from the first. Stop words leave a gap in the offsets. An entity that is
# written as such is one pair of ENTITY and its id.
Literal = tuple[tuple[int, str], ...]
ENTITY = -1


@dataclass
class Query:
    """A parsed query: what to look for, in query order; what must not occur; the answer type it names."""

    literals: list[Literal] = field(default_factory=list)
    required: set[Literal] = field(default_factory=set)
    forbidden: list[Literal] = field(default_factory=list)
    type: str | None = None
    exact: set[Literal] = field(default_factory=set)
    text: dict[Literal, str] = field(default_factory=dict)


def split_query(text: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    """interface.md section 2: the (sign, kind, words) items of a query and the values of its `type:` items.

    The kind is `=` for an exact literal, `entity:` for an entity by its id, and empty for any other.
    """
    items: list[tuple[str, str, str]] = []
    types: list[str] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        sign = OPTIONAL
        if text[at] in (REQUIRED, FORBIDDEN):
            sign = text[at]
            at += 1
        kind = next((k for k in ("=", "entity:") if text.startswith(k, at)), "")
        at += len(kind)
        if at < len(text) and text[at] == '"':
            close = text.find('"', at + 1)
            if close < 0:
                raise RefusedError(f"the quote at {at} is not closed")
            items.append((sign, kind, text[at + 1 : close].strip()))
            at = close + 1
            continue
        stop = at
        while stop < len(text) and not text[stop].isspace() and text[stop] != '"':
            stop += 1
        word = text[at:stop]
        at = stop
        if sign == OPTIONAL and not kind and word.startswith("type:"):
            types.append(word.removeprefix("type:"))
        else:
            items.append((sign, kind, word))
    return items, types


def make_literal(tokens: Sequence[Token]) -> Literal:
    """Section 1, Literals: a word or phrase as terms at offsets; a text without any token is an error."""
    kept = [(position, token.term) for position, token in enumerate(tokens) if token.term is not None]
    if not kept:
        raise RefusedError("a literal has no token")
    first = kept[0][0]
    return tuple((position - first, term) for position, term in kept)


def parse(text: str, analyse: Callable[[str], list[Token]]) -> Query:
    """interface.md section 2 and semantics.md section 1, Literals.

    The same literal twice counts once, at its first place: required wins over optional, forbidden wins over
    optional, required and forbidden at once is an error.
    """
    if len(text) > MAX_CHARACTERS:
        raise RefusedError("too long")
    items, types = split_query(text)
    if len(types) > 1 or "" in types:
        raise RefusedError("type: must be given once, with a value")
    if len(items) > MAX_LITERALS:
        raise RefusedError("too many literals")

    signs: dict[Literal, set[str]] = {}
    query = Query(type=types[0] if types else None)
    for sign, kind, words in items:
        literal = ((ENTITY, words),) if kind == "entity:" else make_literal(analyse(words))
        signs.setdefault(literal, set()).add(sign)
        query.text.setdefault(literal, words)
        if kind == "=":
            query.exact.add(literal)

    for literal, seen in signs.items():
        if REQUIRED in seen and FORBIDDEN in seen:
            raise RefusedError("required and forbidden at once")
        if FORBIDDEN in seen:
            query.forbidden.append(literal)
            continue
        query.literals.append(literal)
        if REQUIRED in seen:
            query.required.add(literal)
    if not query.literals:
        raise RefusedError("nothing to look for")
    return query


# ------------------------------------------------------------------------------------------- matching


@dataclass
class Matching:
    """How literals are matched: those that match by a stem, the entity that each one names, whether + excludes."""

    stem: Callable[[str], str] | None = None
    exact: Collection[Literal] = ()
    named: Mapping[Literal, str] = field(default_factory=dict)
    relax: bool = False

    def same(self, literal: Literal, term: str, other: str | None) -> bool:
        """Whether a token's term counts as the literal's."""
        if self.stem is None or literal in self.exact or other is None:
            return term == other
        return self.stem(term) == self.stem(other)


def length_of(literal: Literal) -> int:
    """Section 1, Literals: tokens from the first term to the last; 1 for an entity."""
    return max(0, literal[-1][0]) + 1


def occurrences(literal: Literal, document: Document, how: Matching) -> list[Span]:
    """Section 1, Literals: all token spans [a, b) where the literal occurs; they may overlap each other.

    docs/semantics.md, Literals that name entities: also from the first token of a mention of the named entity on, or so
    much earlier that it ends in the document; each span once.
    """
    length, tokens = length_of(literal), document.tokens
    found = set()
    for a in range(len(tokens) - length + 1):
        if literal[0][0] != ENTITY and all(how.same(literal, term, tokens[a + o].term) for o, term in literal):
            found.add((a, a + length))
        for mention in document.mentions:
            if mention.entity == how.named.get(literal) and min(mention.start, len(tokens) - length) == a:
                found.add((a, a + length))
    return sorted(found)


def document_matches(query: Query, document: Document, how: Matching) -> bool:
    """Section 1, Matching documents: all required, no forbidden, and at least one literal not forbidden."""
    for literal in query.required:
        if not how.relax and not occurrences(literal, document, how):
            return False
    for literal in query.forbidden:
        if occurrences(literal, document, how):
            return False
    return any(occurrences(literal, document, how) for literal in query.literals)


def distance(span: Span, mention: Span) -> tuple[int, int]:
    """Section 1, Distance: (distance, side) of a literal's span to a mention's."""
    (a, b), (s, e) = span, mention
    if a < e and s < b:
        return 0, OVERLAP
    if b <= s:
        return s - b + 1, LEFT
    return a - e + 1, RIGHT


def nearest(spans: Sequence[Span], mention: Span, overlap: bool) -> tuple[int, int]:
    """Section 1, Distance: l(t) and its side; on a tie left wins.

    Without `overlap` the occurrences that overlap the mention are ignored.
    """
    measured = [distance(span, mention) for span in spans]
    if not overlap:
        measured = [(length, side) for length, side in measured if side != OVERLAP]
    if not measured:
        return ABSENT, 0
    # Left is -1 and right is 1, so the smallest pair is the nearest one, and the left one on a tie.
    return min(measured)


# ------------------------------------------------------------------------------------------ collection


@dataclass(frozen=True)
class Statistics:
    """Section 1, Statistics: N, and the number of token positions."""

    documents: int
    tokens: int


@dataclass
class Contexts:
    """All contexts of a query (every mention), and the statistics that features need."""

    table: list[Row]
    matched_documents: int
    df: list[int]
    cf: list[int]
    statistics: Statistics

    def rows(self) -> list[Row]:
        """The contexts, sorted by entity, document, start, end."""
        return list(self.table)


@dataclass
class Ranking:
    """Entities in rank order with V(e) and |S_e|."""

    entities: list[str]
    scores: list[float]
    support: list[int]


def idf_log(documents: int, df: int) -> float:
    """Section 1, Statistics: ln(1 + N/df), the default."""
    return math.log(1 + documents / df)


def idf_paper(documents: int, df: int) -> float:
    """Section 1, Statistics: N/df, as the paper has it."""
    return documents / df


IDF: dict[str, Callable[[int, int], float]] = {"log": idf_log, "paper": idf_paper}


def inverse_distance(length: int) -> float:
    """Section 2, Kernels: inverse distance with width 10."""
    return 1 / (1 + length / 10)


def context_score(distances: Sequence[int], df: Sequence[int], idf: Callable[[int], float]) -> float:
    """Section 2, Kernels: sum_t IDF(t)/IDF(q) k(l(t)).

    A literal with df = 0 is in neither sum; one that is absent from the context adds nothing.
    """
    idf_query = sum(idf(frequency) for frequency in df if frequency > 0)
    score = 0.0
    for length, frequency in zip(distances, df, strict=True):
        if frequency > 0 and length != ABSENT:
            score += idf(frequency) / idf_query * inverse_distance(length)
    return score


class BruteForce:
    """A collection as a list of analysed documents; the engine's calls are answered by going through all."""

    def __init__(
        self,
        corpus: Sequence[Record],
        entities: Sequence[Record],
        types: Sequence[Record],
        stemmer: Callable[[str], str] | None = None,
        stopwords: Collection[str] = (),
    ) -> None:
        self.stemmer = stemmer
        self.stopwords = frozenset(stopwords)
        self.types = types
        supertypes = {record["id"]: record.get("supertypes", ()) for record in types}
        self.entity_types = {record["id"]: reachable_types(record.get("types", ()), supertypes) for record in entities}
        self.labels = {
            record["id"]: {fold(label) for label in (record.get("name") or record["id"], *record.get("aliases", ()))}
            for record in entities
        }
        self.documents = []
        for record in corpus:
            tokens = self.tokens(record["text"])
            self.documents.append(
                Document(record["id"], tokens, read_mentions(record, tokens, self.entity_types.keys()))
            )

    def tokens(self, text: str) -> list[Token]:
        """Section 1, Tokens: documents and queries go through the same analysis."""
        return tokenise(text, self.stemmer, self.stopwords)

    def analyze(self, text: str) -> list[tuple[str, int, int]]:
        """interface.md section 3: tokens as indexed, with their character offsets."""
        return [(token.term, token.start, token.end) for token in self.tokens(text) if token.term is not None]

    def parse(self, text: str) -> Query:
        """The query under this collection's analysis."""
        return parse(text, self.tokens)

    def statistics(self) -> Statistics:
        """Section 1, Statistics: N counts every document, the empty ones too."""
        return Statistics(len(self.documents), sum(len(document.tokens) for document in self.documents))

    def df(self, literal: Literal, how: Matching) -> int:
        """Section 1, Statistics: documents containing the literal."""
        return sum(1 for document in self.documents if occurrences(literal, document, how))

    def cf(self, literal: Literal, how: Matching) -> int:
        """Section 1, Statistics: occurrences of the literal in the collection."""
        return sum(len(occurrences(literal, document, how)) for document in self.documents)

    def named_entity(self, literal: Literal, text: str) -> tuple[str, float] | None:
        """docs/semantics.md, Literals that name entities: the entity and its share of the counts."""
        counts: dict[str, int] = {}
        total = 0
        for document in self.documents:
            for a, b in occurrences(literal, document, Matching()):
                total += 1
                for mention in document.mentions:
                    if (mention.start, mention.end) == (a, b):
                        counts[mention.entity] = counts.get(mention.entity, 0) + 1
        for entity, labels in self.labels.items():
            if fold(text) in labels:
                counts[entity] = counts.get(entity, 0) + 1
        whole = sum(counts.values())
        best = min(counts, key=lambda entity: (-counts[entity], entity), default=None)
        if best is None or counts[best] < whole / 2 or (len(literal) == 1 and 10 * whole < 3 * total):
            return None
        return best, counts[best] / whole

    def matching(self, query: Query, stem: Callable[[str], str] | None, entities: bool, relax: bool) -> Matching:
        """The rules by which the literals of a query are matched."""
        named = {literal: literal[0][1] for literal in query.text if literal[0][0] == ENTITY}
        for literal, text in query.text.items():
            if entities and literal not in named and literal not in query.exact:
                found = self.named_entity(literal, text)
                if found is not None:
                    named[literal] = found[0]
        return Matching(stem, query.exact, named, relax)

    def contexts(
        self,
        text: str,
        type: str | None = None,
        overlap: bool = True,
        window: int | None = None,
        stem: Callable[[str], str] | None = None,
        entities: bool = False,
        relax: bool = False,
    ) -> Contexts:
        """Section 1, Contexts: every mention of a type-matching entity in a matching document.

        With a window, a literal farther than `window` is absent, and a mention that no literal is left for is
        no context.
        """
        query = self.parse(text)
        how = self.matching(query, stem, entities, relax)
        wanted = type if type is not None else query.type
        if wanted is not None:
            wanted = resolve_type(wanted, self.types)

        rows: list[Row] = []
        matched = 0
        for document in self.documents:
            if not document_matches(query, document, how):
                continue
            matched += 1
            for mention in document.mentions:
                if wanted is not None and wanted not in self.entity_types[mention.entity]:
                    continue
                vector = []
                for literal in query.literals:
                    spans = occurrences(literal, document, how)
                    length, side = nearest(spans, (mention.start, mention.end), overlap)
                    if window is not None and length > window:
                        length, side = ABSENT, 0
                    vector.append((length, side))
                if window is not None and all(length == ABSENT for length, _ in vector):
                    continue
                rows.append(
                    (
                        mention.entity,
                        document.id,
                        mention.start,
                        mention.end,
                        mention.confidence,
                        tuple(length for length, _ in vector),
                        tuple(side for _, side in vector),
                    )
                )
        rows.sort(key=lambda row: row[:4])
        return Contexts(
            table=rows,
            matched_documents=matched,
            df=[self.df(literal, how) for literal in query.literals],
            cf=[self.cf(literal, how) for literal in query.literals],
            statistics=self.statistics(),
        )

    def rank(
        self,
        text: str,
        type: str | None = None,
        k: int = 1000,
        model: str = "proximity",
        policy: str = "document",
        idf: str = "log",
        overlap: bool = True,
        window: int | None = None,
    ) -> Ranking:
        """V(e) = the sum of context scores over S_e, or |S_e| for `count` (section 3).

        Equal values are ordered by entity id, descending (section 5).
        """
        found = self.contexts(text, type, overlap, window)
        number = found.statistics.documents

        def score(row: Row) -> float:
            return context_score(row[5], found.df, lambda df: IDF[idf](number, df))

        chosen = found.rows() if policy == "mention" else best_per_document(found.rows(), score)
        support: dict[str, int] = {}
        value: dict[str, float] = {}
        for row in chosen:
            entity = row[0]
            support[entity] = support.get(entity, 0) + 1
            value[entity] = value.get(entity, 0.0) + (1.0 if model == "count" else score(row))

        # Two stable sorts: Python cannot negate a string.
        order = sorted(value, reverse=True)
        order.sort(key=lambda entity: -value[entity])
        order = order[:k]
        return Ranking(order, [value[entity] for entity in order], [support[entity] for entity in order])


def best_per_document(rows: Sequence[Row], score: Callable[[Row], float]) -> list[Row]:
    """Section 1, Contexts, document policy: an entity's best mention in each document; ties: the first.

    The rows come sorted by start within an entity and document, so the first seen is the first in the text.
    """
    best: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = (row[0], row[1])
        if key not in best or score(row) > score(best[key]):
            best[key] = row
    return list(best.values())
