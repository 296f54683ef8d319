"""Literals by stem, by the entity that they name, and relaxed ones, against the brute-force oracle."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

import fader
from contexts.drawn import SEGMENT_TOKENS, asked, built, examples, oracle_of, summary
from fader.errors import QueryError
from oracles.strategies import World, worlds

STEM = Stemmer.Stemmer("english").stemWord
FORMS = ["run", "runs", "Running", "runner", "city", "cities", "citi", "dying", "die", "é", "E\u0301"]


@st.composite
def named_worlds(draw: st.DrawFn) -> World:
    """A world whose entities are called like its words, with exact literals and written entities in its queries."""
    world = draw(worlds(FORMS))
    texts = [record["text"] for record in world.corpus]
    called = st.sampled_from(FORMS + [" ".join(text.split()[:2]) for text in texts if text.split()])
    entities = [
        {**record, "name": draw(called), "aliases": draw(st.lists(called, max_size=1))} for record in world.entities
    ]
    ids = st.sampled_from([record["id"] for record in entities])
    more = st.one_of(
        st.just(""),
        ids.map(lambda e: f' entity:"{e}"'),
        ids.map(lambda e: f' +entity:"{e}"'),
        ids.map(lambda e: f' -entity:"{e}"'),
        st.sampled_from(FORMS).map(lambda word: f" ={word}"),
        st.sampled_from(FORMS).map(lambda word: f' -="{word}"'),
        called.map(lambda name: f' "{name}"'),
    )
    return replace(world, entities=entities, queries=[query + draw(more) for query in world.queries])


def check(index: Any, oracle: Any, world: World, seed: int) -> None:
    """Every query of a world, under drawn ways to match its literals."""
    draw = random.Random(seed)
    for query, answer_type in asked(world, oracle):
        stem, entities, relax = (draw.random() < 0.6 for _way in range(3))
        expected = oracle.contexts(query, answer_type, stem=STEM if stem else None, entities=entities, relax=relax)
        found = index.contexts(query, type=answer_type, stem=stem, entities=entities, relax=relax)
        assert summary(found) == summary(expected), (query, answer_type, stem, entities, relax)


@examples()
@given(named_worlds(), st.sampled_from((None, *SEGMENT_TOKENS)), st.integers(0, 2**20))
def test_contexts_equal_the_oracles(world: World, segment_tokens: int | None, seed: int) -> None:
    """Rows, matched documents, df and cf follow from the union of exact forms, stems and mentions."""
    with built(world, segment_tokens=segment_tokens) as index:
        check(index, oracle_of(world), world, seed)


@examples(0.5)
@given(named_worlds(), st.integers(0, 2**20))
def test_histories(world: World, seed: int) -> None:
    """Additions and deletions leave the entity of a literal and its occurrences those of the living documents."""
    draw = random.Random(seed)
    with built(replace(world, corpus=world.corpus[:2])) as index:
        folder = index.collection.folder
        for document in world.corpus[2:]:
            fader.add(folder, [document])
        ids = sorted({d["id"] for d in world.corpus})
        gone = set(draw.sample(ids, len(ids) // 2))
        fader.delete(folder, gone)
        left = replace(world, corpus=[d for d in world.corpus if d["id"] not in gone])
        check(fader.open(folder), oracle_of(left), left, seed)


@examples(0.5)
@given(named_worlds())
def test_names_equal_the_oracles(world: World) -> None:
    """The entity that a literal names, and its confidence, are those of the counts."""
    oracle = oracle_of(world)
    with built(world, segment_tokens=SEGMENT_TOKENS[0]) as index:
        for query, _type in asked(world, oracle):
            named = index.collection.name_entities(index.parse(query))
            for literal in (*named.literals, *named.forbidden):
                if literal.exact or not literal.terms:
                    continue
                key = tuple(zip(literal.offsets, literal.terms, strict=True))
                expected = oracle.named_entity(key, literal.text)
                assert (literal.entity and (literal.entity, literal.confidence)) == expected, query


CORPUS = [
    {
        "id": "d1",
        "text": "Vitamin C cures scurvy. Ascorbic acid is cheap.",
        "mentions": [
            {"start": 0, "end": 9, "entity": "C"},
            {"start": 16, "end": 22, "entity": "S"},
            {"start": 24, "end": 37, "entity": "C"},
        ],
    },
    {
        "id": "d2",
        "text": "Scurvy needs vitamin C",
        "mentions": [{"start": 0, "end": 6, "entity": "S"}, {"start": 13, "end": 22, "entity": "C"}],
    },
    {"id": "d3", "text": "general general general motors", "mentions": [{"start": 0, "end": 7, "entity": "S"}]},
    {"id": "d4", "text": "general news of cures", "mentions": []},
]
ENTITIES = [{"id": "C", "name": "ascorbic acid", "types": ["t"]}, {"id": "S", "name": "scurvy", "types": ["t"]}]


@pytest.fixture(scope="module")
def index(tmp_path_factory: Any) -> Any:
    return fader.build(tmp_path_factory.mktemp("named") / "index", CORPUS, ENTITIES, [{"id": "t", "name": "thing"}])


def rows(contexts: Any) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(entity, doc, tuple(distances)) for entity, doc, _s, _e, _c, distances, _sides in contexts.rows()]


def test_a_named_entity_is_found_in_other_words(index: Any) -> None:
    """The literal "ascorbic acid" occurs where the text says "vitamin C"; `=` keeps to the words."""
    assert index.contexts('"ascorbic acid"').df == [1]
    found = index.contexts('"ascorbic acid"', entities=True)
    assert (found.df, found.cf) == ([2], [3])
    assert ("S", "d2", (2,)) in rows(found)
    assert found.query.literals[0].entity == "C"
    assert index.contexts('="ascorbic acid"', entities=True).df == [1]
    assert index.contexts("entity:C").cf == [3]
    assert index.contexts("scurvy -entity:C").matched_documents == 0


def test_a_word_that_no_text_has_may_name_an_entity(tmp_path: Path) -> None:
    """It occurs where the entity is mentioned in other words."""
    entities = [{"id": "C", "name": "antiscorbutic"}, {"id": "S", "name": "scurvy"}]
    found = fader.build(tmp_path / "index", CORPUS, entities, []).contexts("+antiscorbutic", entities=True)
    assert (found.df, found.cf) == ([2], [3])


def test_a_common_word_names_nothing(index: Any) -> None:
    """One of four occurrences of "general" is a mention: too few."""
    assert index.contexts("general", entities=True).query.literals[0].entity is None


def test_relaxed_literals_are_stated(index: Any) -> None:
    """A relaxed + excludes nothing, is still known as required, and the answer says so."""
    strict, relaxed = index.contexts("+general cures"), index.contexts("+general cures", relax=True)
    assert (strict.matched_documents, relaxed.matched_documents) == (2, 3)
    assert relaxed.query.required == (True, False)
    assert any('"+general"' in warning for warning in relaxed.warnings)
    assert not index.contexts("+nowhere cures").matched_documents
    assert index.contexts("+nowhere cures", relax=True).matched_documents == 2


def test_an_unknown_entity_is_refused(index: Any) -> None:
    """An id that the catalog lacks is an error that names it."""
    with pytest.raises(QueryError, match="unknown entity"):
        index.contexts("entity:nobody")


def test_evidence_shows_the_mention(index: Any) -> None:
    """The match of "ascorbic acid" is "vitamin C" where the text says so, and the answer names the entity."""
    answer = index.search('"ascorbic acid" needs', k=5, model="literals(proximity)", snippets=5)
    shown = {r.entity: s for r in answer.results for s in r.evidence if s.doc == "d2"}
    for entity in ("S", "C"):
        spans = {m.literal: shown[entity].snippet[slice(*m.at)] for m in shown[entity].matches}
        assert spans["ascorbic acid"] == "vitamin C"
    assert [(one.entity, one.confidence) for one in answer.query.literals] == [("C", 1.0), (None, 1.0)]
    off = index.search(index.parse('"ascorbic acid" needs', entity_literals=False), model="literals(proximity)")
    assert [one.entity for one in off.query.literals] == [None, None]
    assert all(
        m.literal != "ascorbic acid" for r in off.results for s in r.evidence if s.doc == "d2" for m in s.matches
    )


@pytest.mark.parametrize("stemmer", [None, "english"])
def test_exact_forms_under_both_analyses(tmp_path: Path, stemmer: str | None) -> None:
    """Words tell the forms of a word apart, and `=` keeps a question's stems out; stems cannot, which is said."""
    texts = {"run": "Ada runs.", "running": "Bob is running.", "ran": "Cid ran."}
    corpus = [
        {"id": n, "text": text, "mentions": [{"start": 0, "end": 3, "entity": text[:3]}]} for n, text in texts.items()
    ]
    people = [{"id": name, "name": name, "types": []} for name in ("Ada", "Bob", "Cid")]
    index = fader.build(tmp_path / "index", corpus, people, [], stemmer=stemmer)
    exact, by_stem = index.search("=runs"), index.search("runs", model="literals(plm,stem=true)")
    assert {r.entity for r in by_stem.results} == {"Ada", "Bob"}
    assert {r.entity for r in index.search("=runs", model="literals(plm,stem=true)").results} == (
        {"Ada", "Bob"} if stemmer else {"Ada"}
    )
    assert {r.entity for r in exact.results} == ({"Ada", "Bob"} if stemmer else {"Ada"})
    assert [w for w in exact.warnings if "= cannot tell a word's forms apart" in w] == (
        exact.warnings if stemmer else []
    )
    assert bool(exact.warnings) == bool(stemmer)
    marked = {word for r in by_stem.results for e in r.evidence for word in ("runs", "running") if word in e.snippet}
    assert marked == {"runs", "running"}
