"""What a Contexts table finds only when it is asked for, against the brute-force oracle and plain loops.

Matching documents, every occurrence, how many documents mention an entity, and the table of some rows; on drawn
collections that are cut into segments, with phrases, required and forbidden literals, windows and empty answers.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contexts.drawn import SEGMENT_TOKENS, asked, built, examples, oracle_of
from fader.contexts import nearest
from fader.contexts.match import SegmentMatch
from fader.contexts.table import Contexts
from fader.index.encoding.lists import HIGHEST, LOWEST
from oracles.bruteforce import BruteForce, Document, Matching, document_matches, occurrences
from oracles.strategies import World, worlds

OPTIONS = st.sampled_from([{}, {}, {"window": 2}, {"window": 0}, {"overlap": False}, {"overlap": False, "window": 3}])


def named(oracle: BruteForce, index: Any, numbers: Any) -> list[Document]:
    """The oracle's documents behind an index's numbers."""
    by_id = {document.id: document for document in oracle.documents}
    return [by_id[name] for name in index.collection.document_ids(numbers.tolist())]


def check_values(values: Any, documents: list[Document], literals: Any, contexts: Contexts) -> None:
    """tf of every literal, tokens, different terms and squared counts of documents, which ascend; rows fit."""
    assert values.counts.tolist() == [[len(occurrences(t, d, Matching())) for d in documents] for t in literals]
    terms = [[token.term for token in document.tokens] for document in documents]
    assert values.length.tolist() == [len(of) for of in terms]
    assert values.distinct.tolist() == [len(set(of)) for of in terms]
    assert values.square.tolist() == [sum(of.count(term) ** 2 for term in set(of)) for of in terms]
    assert values.prior.tolist() == [1.0] * len(documents)
    assert (np.diff(values.number) > 0).all()
    assert values.number[values.row].tolist() == contexts.document.tolist()


@examples()
@given(worlds(), st.sampled_from((None, *SEGMENT_TOKENS)), OPTIONS)
def test_documents_that_match(world: World, segment_tokens: int | None, options: dict[str, Any]) -> None:
    """`matching` are all of the specification's, with a context or without, whatever the window or the answer type;
    `documents` are those that have a context."""
    oracle = oracle_of(world)
    with built(world, segment_tokens=segment_tokens) as index:
        for query, answer_type in asked(world, oracle):
            found, parsed = index.contexts(query, type=answer_type, **options), oracle.parse(query)
            matching = named(oracle, index, found.matching.number)
            expected = {d.id for d in oracle.documents if document_matches(parsed, d, Matching())}
            assert {d.id for d in matching} == expected, query
            assert len(matching) == len(expected) == found.matched_documents
            check_values(found.matching, matching, parsed.literals, found)
            having = named(oracle, index, found.documents.number)
            assert {d.id for d in having} == set(found.document_ids())
            check_values(found.documents, having, parsed.literals, found)


@examples()
@given(worlds(), st.sampled_from((None, *SEGMENT_TOKENS)), OPTIONS)
def test_every_occurrence_is_there(world: World, segment_tokens: int | None, options: dict[str, Any]) -> None:
    """Of every literal in every document that has a context, ascending, also beyond the window; a phrase as long as it
    is."""
    oracle = oracle_of(world)
    with built(world, segment_tokens=segment_tokens) as index:
        for query, answer_type in asked(world, oracle):
            found, literals = index.contexts(query, type=answer_type, **options), oracle.parse(query).literals
            documents, positions = named(oracle, index, found.documents.number), found.positions
            assert positions.at.shape == (len(literals), len(documents) + 1)
            assert positions.length.tolist() == [literal[-1][0] + 1 for literal in literals]
            for t, literal in enumerate(literals):
                for j, document in enumerate(documents):
                    starts = positions.start[positions.at[t, j] : positions.at[t, j + 1]].tolist()
                    assert starts == [a for a, _b in occurrences(literal, document, Matching())], query
            assert positions.start.size == found.documents.counts.sum()


@examples()
@given(worlds(), st.sampled_from((None, *SEGMENT_TOKENS)), OPTIONS)
def test_documents_that_mention_an_entity(world: World, segment_tokens: int | None, options: dict[str, Any]) -> None:
    """Of the whole collection, whether they match the query or not; twice in a document counts once."""
    oracle = oracle_of(world)
    expected = {
        entity: sum(any(m.entity == entity for m in d.mentions) for d in oracle.documents)
        for entity in oracle.entity_types
    }
    with built(world, segment_tokens=segment_tokens) as index:
        ids = index.collection.catalog.entity_ids
        assert {ids[e]: int(n) for e, n in enumerate(index.collection.entity_documents)} == expected
        for query, answer_type in asked(world, oracle):
            found = index.contexts(query, type=answer_type, **options)
            counted = dict(zip((ids[int(e)] for e in found.entities), found.entity_documents.tolist(), strict=True))
            assert counted == {entity: expected[entity] for entity in counted}
            assert set(found.entity_ids()) <= set(counted)


def plain(contexts: Contexts) -> list[tuple[Any, ...]]:
    """The rows in their order, with everything that belongs to a row."""
    documents, matching = contexts.documents, contexts.matching
    columns = (
        contexts.entity_ids(), contexts.document_ids(), contexts.start, contexts.end, contexts.confidence,
        contexts.entity, contexts.document, contexts.distances.T, contexts.sides.T,
        documents.number[documents.row], documents.counts[:, documents.row].T, documents.length[documents.row],
        matching.number[matching.row], matching.counts[:, matching.row].T, matching.square[matching.row],
        contexts.entity_documents[contexts.slot],
    )  # fmt: skip
    lists = [column if isinstance(column, list) else column.tolist() for column in columns]
    return [tuple(map(str, row)) for row in zip(*lists, strict=True)]


def check_taken(whole: Contexts, rows: list[int]) -> Contexts:
    """Some rows are those rows and nothing else changes."""
    taken, every = whole.take(np.array(rows, dtype=np.int32)), plain(whole)
    assert len(taken) == len(rows)
    assert plain(taken) == [every[x] for x in rows]
    for name in ("query", "statistics", "entities", "plan", "matched_documents", "warnings", "empty_because"):
        assert getattr(taken, name) is getattr(whole, name) or getattr(taken, name) == getattr(whole, name)
    assert taken.distances.flags.c_contiguous
    assert taken.sides.flags.c_contiguous
    assert taken.groups.entity.tolist() == sorted({int(whole.entity[x]) for x in rows})
    for i, entity in enumerate(taken.groups.entity.tolist()):
        mine = taken.groups.order[taken.groups.at[i] : taken.groups.at[i + 1]].tolist()
        assert mine == [place for place, x in enumerate(rows) if whole.entity[x] == entity]
    for name in (f.name for f in fields(whole.positions)):
        assert getattr(taken.positions, name).tolist() == getattr(whole.positions, name).tolist()
    assert taken.documents.number.tolist() == whole.documents.number.tolist()
    assert taken.matching.number.tolist() == whole.matching.number.tolist()
    return taken


@examples(0.5)
@given(worlds(), st.sampled_from(SEGMENT_TOKENS), OPTIONS, st.randoms(use_true_random=False))
def test_some_rows_are_a_table(world: World, segment_tokens: int, options: dict[str, Any], random: Any) -> None:
    """Any rows, none and all; columns that were found already and columns that were not; some rows of some rows."""
    oracle = oracle_of(world)
    with built(world, segment_tokens=segment_tokens) as index:
        for query, answer_type in asked(world, oracle)[:5]:
            whole = index.contexts(query, type=answer_type, **options)
            n = len(whole)
            rows = sorted(random.sample(range(n), random.randint(0, n)))
            early = index.contexts(query, type=answer_type, **options).take(np.array(rows, dtype=np.int32))
            taken = check_taken(whole, rows)
            assert plain(early) == plain(taken)
            check_taken(taken, sorted(random.sample(range(len(rows)), random.randint(0, len(rows)))))
            check_taken(whole, [])
            assert plain(check_taken(whole, list(range(n)))) == plain(whole)


GOLDEN = World(
    corpus=[
        {"id": "d0", "text": "x a b a b y", "mentions": [{"start": 0, "end": 1, "entity": "X"}]},
        {"id": "d1", "text": "a b", "mentions": []},
        {"id": "d2", "text": "b x x a", "mentions": [{"start": 2, "end": 3, "entity": "X"},
                                                      {"start": 4, "end": 5, "entity": "X"}]},
        {"id": "d3", "text": "a b c x", "mentions": [{"start": 6, "end": 7, "entity": "X"}]},
        {"id": "d4", "text": "y", "mentions": [{"start": 0, "end": 1, "entity": "Y"}]},
    ],
    entities=[{"id": e, "name": e, "types": []} for e in ("X", "Y")], types=[], queries=[], answer_types=[],
)  # fmt: skip


@pytest.mark.parametrize("segment_tokens", [1, 1000])
def test_late_columns_by_hand(segment_tokens: int) -> None:
    """`+"a b" b -c`: d0 and d1 match, of which d0 has the only context; X is in three documents, twice in one."""
    with built(GOLDEN, segment_tokens=segment_tokens) as index:
        found = index.contexts('+"a b" b -c')
        assert (found.matching.number.tolist(), found.documents.number.tolist()) == ([0, 1], [0])
        assert found.matching.counts.tolist() == [[2, 1], [2, 1]]
        assert (found.matching.length.tolist(), found.matching.row.tolist()) == ([6, 2], [0])
        assert found.positions.at.tolist() == [[0, 2], [2, 4]]
        assert found.positions.start.tolist() == [1, 3, 2, 4]
        assert found.positions.length.tolist() == [2, 1]
        assert found.entity_documents[found.slot].tolist() == [3]
        assert index.collection.entity_documents.tolist() == [3, 1]
        nothing = index.contexts("+zzz a")
        assert (len(nothing), nothing.matching.number.size, nothing.documents.number.size) == (0, 0, 0)
        assert (nothing.positions.at.tolist(), nothing.positions.start.size) == ([[0], [0]], 0)
        assert len(nothing.take(np.empty(0, dtype=np.int32))) == 0


@pytest.mark.parametrize("segment_tokens", [1, 1000])
def test_few_rows_are_found_without_the_others(segment_tokens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No whole column is read for them, in one segment or in several."""
    with built(GOLDEN, segment_tokens=segment_tokens) as index:
        whole = plain(index.contexts("a b"))
        assert len(whole) == 4
        for name in ("sides", "start", "end", "confidence"):
            monkeypatch.delattr(SegmentMatch, f"read_{name}")
        for rows in ([0], [2], [0, 3], [1, 2]):
            assert plain(index.contexts("a b").take(np.array(rows, dtype=np.int32))) == [whole[x] for x in rows]


@given(
    st.integers(1, 3), st.lists(st.integers(0, 60), min_size=1, max_size=40), st.lists(st.integers(0, 60), max_size=9)
)
def test_searching_for_sides_is_merging(length: int, at: list[int], starts: list[int]) -> None:
    """Few mentions are searched among the occurrences, many are merged with them."""
    occurrences = np.array([LOWEST, *sorted(set(at)), HIGHEST], dtype=np.int32)
    place = np.array([(s, s + 1, s // 20 * 20, s // 20 * 20 + 20) for s in sorted(starts)], dtype=np.int32).reshape(
        -1, 4
    )
    distance = np.empty(len(starts), dtype=np.int32)
    nearest.distances(place, occurrences, length, distance)
    merged, searched = np.zeros((2, len(starts)), dtype=np.int8)
    nearest._sides(place, occurrences, length, distance, merged)
    nearest._sides_of_few(place, occurrences, length, distance, searched)
    assert merged.tolist() == searched.tolist()
    assert all((d > 0) == (side != 0) for d, side in zip(distance.tolist(), merged.tolist(), strict=True))


def test_what_is_shared_is_made_once() -> None:
    """By key, also where it is nothing; a table of some rows makes its own."""
    made: list[str] = []

    def make(name: str) -> Any:
        return lambda: made.append(name)

    with built(GOLDEN) as index:
        table = index.contexts("a")
        assert [table.compute_once("one", make("one")) for _ in range(3)] == [None] * 3
        table.compute_once(("two", 1), make("two"))
        taken = table.take(np.array([0], dtype=np.int32))
        taken.compute_once("one", make("other"))
        table.compute_once("one", make("never"))
    assert made == ["one", "two", "other"]
