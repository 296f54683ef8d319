"""Evidence is exact: every offset of a snippet points at what it says, and contributions add up.

The text of each document is at hand, so that snippets are compared with the text itself; tokens come from the
brute-force oracle.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fader
from fader.contexts.query import Literal
from fader.errors import QueryError
from fader.search.answer import Answer, ContextShare, Result, Snippet
from oracles.bruteforce import is_token_character
from oracles.strategies import ENTITY_IDS, Choices, World, choices, worlds

MODELS = ("proximity", "count(policy=mention)")
slow = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@contextmanager
def built(world: World, **options: Any) -> Iterator[fader.Index]:
    with tempfile.TemporaryDirectory() as folder:
        parts = {"corpus": world.corpus, "entities": world.entities, "types": world.types}
        yield fader.build(Path(folder) / "index", **parts, **options)


def flat(text: str) -> str:
    """A text as snippets show it: line ends and tabs as blanks, so that offsets stay."""
    return text.translate({ord(c): " " for c in "\n\t\r"})


def check_snippet(
    index: fader.Index, text: str, context: ContextShare, row: Any, literals: tuple[Literal, ...], snippet: Snippet
) -> None:
    """One snippet against the text of its document and its row of the Contexts table."""
    shown = snippet.snippet
    tokens = index.collection.analysis.tokens(text)
    surface = flat(text[tokens[context.start].start : tokens[context.end - 1].end])
    assert shown[slice(*snippet.mention)] == surface

    distances, sides = row
    expected = [(lit, d) for lit, d in zip(literals, distances, strict=True) if d >= 0]
    assert [(m.literal, m.distance) for m in snippet.matches] == [(lit.text, d) for lit, d in expected]
    for (literal, distance), match in zip(expected, snippet.matches, strict=True):
        terms = [token.term for token in index.collection.analysis.tokens(shown[slice(*match.at)])]
        assert len(terms) == literal.length
        assert [terms[o] for o in literal.offsets] == list(literal.terms)
        side = sides[literals.index(literal)]
        check_distance(index, shown, snippet.mention, match.at, distance, side)

    for a, b in (snippet.mention, *(m.at for m in snippet.matches)):
        assert 0 <= a < b <= len(shown)
        assert "…" not in shown[a:b]
        for outside in (shown[a - 1 : a], shown[b : b + 1]):
            assert not outside or not is_token_character(outside), "a highlight ends inside a token"
    for piece in shown.split("…"):
        assert piece.strip(" ") in flat(text)


def check_distance(
    index: fader.Index, shown: str, mention: tuple[int, int], at: tuple[int, int], distance: int, side: int
) -> None:
    """Where nothing was left out between mention and match, the tokens between them give the distance."""
    if distance == 0:
        assert at[0] < mention[1]
        assert mention[0] < at[1]
        return
    left, right = (at, mention) if side < 0 else (mention, at)
    assert left[1] <= right[0]
    between = shown[left[1] : right[0]]
    if "…" not in between:
        assert len(index.collection.analysis.tokens(between)) == distance - 1


def check_explanation(result: Result) -> None:
    """Contributions of contexts, and of literals, make the score; those of its literals make a context's."""
    explain = result.explain
    assert explain is not None
    near = {"rel": 1e-9, "abs": 1e-12}
    assert explain.score == pytest.approx(result.score, **near)
    listed = sum(c.contribution for c in explain.contexts)
    assert listed + explain.others.contribution == pytest.approx(result.score, **near)
    assert len(explain.contexts) + explain.others.contexts == result.support
    assert sum(explain.literals.values()) == pytest.approx(result.score, **near)
    for context in explain.contexts:
        assert sum(part.contribution for part in context.literals) == pytest.approx(context.contribution, **near)


def check_answer(index: fader.Index, world: World, query: str, answer: Answer, snippets: int) -> None:
    """All results of an answer, each snippet beside the context that the explanation lists in its place."""
    texts = {record["id"]: record["text"] for record in world.corpus}
    contexts = index.contexts(query, answer.type)
    table = {row[:4]: row[5:] for row in contexts.rows()}
    for result in answer.results:
        check_explanation(result)
        assert result.explain is not None
        assert len(result.evidence) == min(snippets, result.support)
        for snippet, context in zip(result.evidence, result.explain.contexts, strict=False):
            assert snippet.doc == context.doc
            assert snippet.score == context.contribution
            row = table[result.entity, snippet.doc, context.start, context.end]
            assert [(p.literal, p.distance) for p in context.literals] == [
                (m.literal, m.distance) for m in snippet.matches
            ]
            check_snippet(index, texts[snippet.doc], context, row, contexts.query.literals, snippet)
        scores = [snippet.score for snippet in result.evidence]
        assert scores == sorted(scores, reverse=True)


def check_world(world: World, model: str, **options: Any) -> int:
    """Put a world's queries to its index; how many snippets were seen."""
    seen = 0
    with built(world, **options) as index:
        for query, answer_type in zip(world.queries, world.answer_types, strict=True):
            try:
                answer = index.search(query, answer_type, k=1000, model=model, snippets=3, explain=True)
            except QueryError:
                continue
            check_answer(index, world, query, answer, 3)
            seen += sum(len(result.evidence) for result in answer.results)
    return seen


ANALYSES: list[dict[str, Any]] = [{}, {"stopwords": ["a", "é"]}, {"stemmer": "english"}, {"segment_tokens": 5}]


@slow
@given(worlds(), st.sampled_from(MODELS), st.sampled_from(ANALYSES))
def test_evidence_of_drawn_collections(world: World, model: str, options: dict[str, Any]) -> None:
    """Mentions, matches and distances of every snippet are those of the text and of the Contexts table."""
    check_world(world, model, **options)


WORDS = ["alpha", "Beta", "straße", "e\u0301", "𝔘x", "x", "y", "z", "the"]
SEPARATORS = [" ", " ", " ", "\n", "\t", "\r\n", ", ", "-", " 🙂 ", "\u2028"]
QUERIES = ["alpha", "alpha beta", '"alpha beta"', '"x y" strasse', "+é y z", '"x the z" alpha', '"y y" "z y x"']


def long_text_of(choose: Choices, number: int) -> dict[str, Any]:
    """A document of up to a hundred words, with up to six mentions."""
    text, places, mentions = "", [], []
    count = choose.between(20, 100)
    for _word in range(count):
        word = choose.of(WORDS)
        places.append((len(text), len(text) + len(word)))
        text += word + choose.of(SEPARATORS)
    for _mention in range(choose.between(0, 6)):
        first = choose.below(count)
        start, end = places[first][0], places[min(count - 1, first + choose.between(0, 2))][1]
        mentions.append({"start": start, "end": end, "entity": choose.of(ENTITY_IDS[:2])})
    return {"id": f"d{number}", "text": text, "mentions": mentions}


@st.composite
def long_worlds(draw: st.DrawFn) -> World:
    """Texts of up to a hundred words, so that snippets are cut and joined."""
    corpus = [long_text_of(draw(choices(222)), number) for number in range(draw(st.integers(1, 3)))]
    entities = [{"id": name, "name": name} for name in ENTITY_IDS[:2]]
    queries = draw(st.lists(st.sampled_from(QUERIES), min_size=1, max_size=4))
    return World(corpus, entities, [], queries, [None] * len(queries))


@slow
@given(long_worlds(), st.sampled_from(MODELS), st.sampled_from([{}, {"stopwords": ["the"]}]))
def test_evidence_of_long_documents(world: World, model: str, options: dict[str, Any]) -> None:
    """The same where snippets leave most of the text out."""
    check_world(world, model, **options)


def test_far_matches_are_joined_by_an_ellipsis() -> None:
    """The mention and the match, each with words around, and marks where text was left out."""
    text = " ".join(["left"] * 30 + ["needle"] + ["middle"] * 40 + ["Einstein"] + ["right"] * 30)
    start = text.index("Einstein")
    corpus = [{"id": "d", "text": text, "mentions": [{"start": start, "end": start + 8, "entity": "E"}]}]
    world = World(corpus, [{"id": "E"}], [], ["needle"], [None])
    assert check_world(world, "proximity") == 1
    with built(world) as index:
        (result,) = index.search("needle").results
    (snippet,) = result.evidence
    assert snippet.snippet.count("…") == 3
    assert snippet.snippet.startswith("… left")
    assert snippet.snippet.endswith("right …")
    assert (snippet.matches[0].distance, len(snippet.snippet) < len(text)) == (41, True)


def test_without_texts_there_is_evidence_without_snippets() -> None:
    """Scores and documents are still known; what was not stored cannot be shown."""
    corpus = [{"id": "d", "text": "Einstein alpha", "mentions": [{"start": 0, "end": 8, "entity": "E"}]}]
    with built(World(corpus, [{"id": "E"}], [], [], []), store_text=False) as index:
        (result,) = index.search("alpha", explain=True).results
    check_explanation(result)
    assert [(s.doc, s.snippet, s.matches) for s in result.evidence] == [("d", "", [])]
