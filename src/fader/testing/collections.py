"""The contract of a collection: it answers as another one that holds the same commit, bit for bit.

Statistics, stored documents, contexts with every column, rankings with their evidence, the rows of some entities,
whole answers, and `refresh` are compared. Queries are drawn from the stored texts unless they are given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from itertools import pairwise
from typing import Any

import numpy as np

from fader.contexts.columns import DocumentValues, Positions
from fader.contexts.match import MatchOptions
from fader.contexts.query import Query
from fader.contexts.table import Contexts
from fader.index.segment import DocumentMentions
from fader.rank.system import System
from fader.search.collection import Collection, RankedContexts
from fader.search.index import Index
from fader.search.models import resolve_model
from fader.testing.expect import expect

MODELS = ("default", "paper", "proximity", "voting")  # a cascade, features, contexts one by one, a ranking of documents
COLUMNS = ("entity", "document", "distances", "sides", "start", "end", "confidence")
DRAWN = 4  # documents whose texts queries are drawn from
FEW = 2  # rows of an entity, where not all are needed
MANY = 1_000_000  # more entities than a query has


def check_collection(
    collection: Collection,
    reference: Collection,
    queries: Iterable[tuple[str, str | None]] | None = None,
    models: Sequence[Any] = MODELS,
) -> None:
    """Compare a collection with a reference that holds the same commit: that of `fader.open(folder)`, say.

    A query is a text and an answer type, or None.
    """
    _check_statistics(collection, reference)
    _check_documents(collection, reference)
    asked = list(draw_queries(reference) if queries is None else queries)
    expect(bool(asked), "no document has a text with words to ask for; give queries")
    for text, kind in asked:
        query = Index(reference).parse(text, kind)
        every_way = MatchOptions(stem=True, entities=True, relax=True)
        for options in (MatchOptions(), MatchOptions(overlap=False, window=3), every_way):
            one, other = collection.contexts(query, options), reference.contexts(query, options)
            expect_equal_contexts(one, other, f"contexts of {text!r}")
            some = np.unique(other.entity)[::2]
            rows = collection.rows(query, options, some), reference.rows(query, options, some)
            expect_equal_contexts(*rows, f"rows of every second entity of {text!r}", whole=False)
        for model in models:
            system = resolve_model(model, reference).system
            _check_evidence(collection, reference, query, system)
            answers = [
                Index(c).search(query, k=5, model=model, snippets=2, explain=True) for c in (collection, reference)
            ]
            plain = [asdict(answer) | {"took_ms": 0} for answer in answers]
            expect(plain[0] == plain[1], f"the answer to {text!r} by {system} is not that of the reference")
    newest, expected = collection.refresh(), reference.refresh()
    expect(newest.commit == expected.commit, f"refresh opens commit {newest.commit}, not {expected.commit}")
    if expected is reference:
        expect(newest is collection, "refresh opens the same commit again; return the collection itself")


def draw_queries(reference: Collection) -> list[tuple[str, str | None]]:
    """Words, required words, phrases and words that nothing has, with and without the type of an entity."""
    found: list[tuple[str, str | None]] = []
    numbers = range(0, reference.documents, max(1, reference.documents // DRAWN))[:DRAWN]
    for n, stored in enumerate(reference.read_documents(numbers)):
        tokens = [token for token in reference.analysis.tokens(stored.text) if token.term is not None]
        words = [word for token in tokens if (word := stored.text[token.start : token.end]).isalnum()]
        if not words:
            continue
        first, middle, last = words[0], words[len(words) // 2], words[-1]
        types = reference.catalog.types_of(n) if n < len(reference.catalog.entity_ids) else []
        kind = types[0] if types else None
        found += [
            (f"{first} {middle} {last}", None),
            (f"+{middle} {first}", kind),
            (f"{last} nowhereinthiscorpus", None),
        ]
        found += [(f'"{one} {two}"', None) for one, two in pairwise(words)][:1]
    return found


def expect_equal_contexts(found: Contexts, expected: Contexts, what: str, whole: bool = True) -> None:
    """Every column and every statistic of two tables; the documents that match only where the tables are `whole`."""
    facts = [(t.df, t.cf, t.statistics.documents, t.statistics.tokens) for t in (found, expected)]
    expect(facts[0] == facts[1], f"{what}: statistics {facts[0]}, not {facts[1]}")
    for name in COLUMNS:
        _expect_equal(getattr(found, name), getattr(expected, name), f"{what}: column {name}")
    expect(found.document_ids() == expected.document_ids(), f"{what}: other document ids")
    expect(found.entity_ids() == expected.entity_ids(), f"{what}: other entity ids")
    if not whole:
        return
    said = [(t.matched_documents, t.warnings, t.empty_because) for t in (found, expected)]
    expect(said[0] == said[1], f"{what}: matched documents and warnings {said[0]}, not {said[1]}")
    _expect_equal(found.entity_documents[found.slot], expected.entity_documents[expected.slot], f"{what}: documents")
    for part, kind in (("documents", DocumentValues), ("matching", DocumentValues), ("positions", Positions)):
        for field in fields(kind):
            one, other = (getattr(getattr(t, part), field.name) for t in (found, expected))
            _expect_equal(one, other, f"{what}: {part}.{field.name}")


def _check_statistics(collection: Collection, reference: Collection) -> None:
    for name in ("commit", "origin", "documents", "tokens", "mentions", "manifest"):
        found, expected = getattr(collection, name), getattr(reference, name)
        expect(found == expected, f"{name} is {found}, not {expected}")
    expect(collection.analysis.to_dict() == reference.analysis.to_dict(), "texts are analysed otherwise")
    _expect_equal(collection.entity_documents, reference.entity_documents, "entity_documents")
    for names in ("entity_ids", "entity_names", "type_ids", "type_names"):
        one, other = getattr(collection.catalog, names), getattr(reference.catalog, names)
        same = len(one) == len(other) and all(one[i] == other[i] for i in _sample(len(other)))
        expect(same, f"catalog.{names} has other names")


def _check_documents(collection: Collection, reference: Collection) -> None:
    numbers = _sample(reference.documents)
    ids = reference.document_ids(numbers)
    expect(collection.document_ids(numbers) == ids, "document_ids gives other ids")
    stored = zip(collection.read_documents(numbers), reference.read_documents(numbers), strict=True)
    for found, expected in stored:
        expect(found == expected, f"read_documents gives {found}, not {expected}")
    for n in numbers:
        one, other = collection.read_mentions(n), reference.read_mentions(n)
        for field in fields(DocumentMentions):
            _expect_equal(getattr(one, field.name), getattr(other, field.name), f"read_mentions: {field.name} of {n}")
    expect([collection.find_document(i) for i in ids] == list(numbers), "find_document gives other numbers")
    expect(collection.find_document("\x00") == -1, "find_document finds a document that is not there; return -1")


def _check_evidence(collection: Collection, reference: Collection, query: Query, system: System) -> None:
    """Rankings of any length, with all rows of the best entities, a few of them, those of one entity, or none."""
    options = system.view.match_options()
    every = reference.evidence(query, options, system, MANY)
    what = f"evidence for {query.text!r} by {system}"
    for k in (1, 3, MANY):
        _expect_equal_rankings(collection.evidence(query, options, system, k), every, k, what)
        bare = collection.evidence(query, options, system, k, with_rows=False)
        _expect_equal_rankings(bare, every, k, what, with_rows=False)
        few = collection.evidence(query, options, system, k, best=FEW)
        _expect_equal_rankings(few, every, k, what, with_rows=False)
        for i in range(few.ranking.entity.size):
            rows = few.ranking.rows_of(i)
            sent = _list_rows(few.contexts, rows[rows >= 0])
            expected = _list_rows(every.contexts, every.ranking.rows_of(i))
            enough = len(sent) >= min(FEW, len(expected)) and set(sent) <= set(expected)
            expect(enough, f"{what}: fewer than {FEW} of the rows, or other rows, of the entity at rank {i + 1}")
    for i, entity in enumerate(every.ranking.entity.tolist()[-2:], max(0, every.ranking.entity.size - 2)):
        found = collection.evidence(query, options, system, 1, entity=entity)
        place = int(np.searchsorted(found.ranking.evidence.entity, entity))
        at = found.ranking.evidence.at
        rows = found.ranking.evidence.row[int(at[place]) : int(at[place + 1])]
        expected = _list_rows(every.contexts, every.ranking.rows_of(i))
        expect(_list_rows(found.contexts, rows) == expected, f"{what}: other rows of the entity {entity}")


def _expect_equal_rankings(
    found: RankedContexts, every: RankedContexts, k: int, what: str, with_rows: bool = True
) -> None:
    one, other = found.ranking, every.ranking
    for name in ("entity", "score", "support"):
        _expect_equal(getattr(one, name), getattr(other, name)[:k], f"{what}: {name} of the {k} best")
    if with_rows:
        _expect_equal(one.values, other.values, f"{what}: values of all candidates")
    counts = [(r.ranking.candidates, r.total) for r in (found, every)]
    expect(counts[0] == counts[1], f"{what}: candidates and contexts {counts[0]}, not {counts[1]}")
    for i in range(one.entity.size if with_rows else 0):
        rows = [_list_rows(r.contexts, r.ranking.rows_of(i)) for r in (found, every)]
        expect(rows[0] == rows[1], f"{what}: other rows of the entity at rank {i + 1}")
        _expect_equal(one.scores_of(i), other.scores_of(i), f"{what}: scores of the rows at rank {i + 1}")


def _list_rows(contexts: Contexts, rows: Any) -> list[tuple[Any, ...]]:
    expect(np.all(rows >= 0), "rows that were asked for are missing")
    columns = (contexts.entity, contexts.document, contexts.start, contexts.end, contexts.confidence)
    return [
        (*(column[row].item() for column in columns), *contexts.distances[:, row].tolist()) for row in rows.tolist()
    ]


def _sample(size: int) -> range:
    """A hundred numbers or so, evenly spaced."""
    return range(0, size, max(1, size // 100))


def _expect_equal(found: Any, expected: Any, what: str) -> None:
    if not np.array_equal(found, expected):
        raise AssertionError(f"{what}: {np.asarray(found)}, not {np.asarray(expected)}")
