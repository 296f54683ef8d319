"""The engine against the brute-force oracle, on drawn collections and through the public interface only.

Each example builds indexes in a temporary folder and puts a dozen queries to them. The environment variable
FADER_EXAMPLES raises the number of examples of each property for a long run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fader
from contexts.drawn import SEGMENT_TOKENS, asked, built, examples, oracle_of, summary
from fader.errors import FaderError, QueryError
from oracles import strategies
from oracles.bruteforce import BruteForce, Ranking, RefusedError
from oracles.strategies import World, worlds

PLANS = (None, "type", "document")


def check_ranking(found: Any, expected: Ranking) -> None:
    """The same entities, support and scores; the same order but where scores are equal to rounding."""
    entities, scores = list(found.entities), [float(score) for score in found.scores]
    by_entity = dict(zip(expected.entities, expected.scores, strict=True))
    assert sorted(entities) == sorted(expected.entities)
    assert dict(zip(entities, found.support, strict=True)) == dict(
        zip(expected.entities, expected.support, strict=True)
    )
    assert dict(zip(entities, scores, strict=True)) == pytest.approx(by_entity, rel=1e-12, abs=0)
    for place in range(1, len(entities)):
        before, after = entities[place - 1], entities[place]
        assert by_entity[before] > by_entity[after] - 1e-9
        assert scores[place - 1] > scores[place] or (scores[place - 1] == scores[place] and before > after)


@examples()
@given(worlds(), st.sampled_from((None, *SEGMENT_TOKENS)), st.sampled_from(PLANS))
def test_contexts_equal_the_oracles(world: World, segment_tokens: int | None, plan: str | None) -> None:
    """Rows, their order, matched documents, df, cf, N and the token count are those of the specification."""
    oracle = oracle_of(world)
    with built(world, segment_tokens=segment_tokens) as index:
        for query, answer_type in asked(world, oracle):
            expected = oracle.contexts(query, answer_type)
            found = index.contexts(query, type=answer_type, plan=plan)
            assert summary(found) == summary(expected), (query, answer_type)
            assert found.statistics.tokens == expected.statistics.tokens


@examples()
@given(worlds(), st.sampled_from(SEGMENT_TOKENS))
def test_both_plans_give_the_same_contexts(world: World, segment_tokens: int) -> None:
    """A plan is a way to the answer: starting from the type or from the documents gives the same table."""
    oracle = oracle_of(world)
    with built(world, segment_tokens=segment_tokens) as index:
        for query, answer_type in asked(world, oracle):
            for overlap, window in ((True, None), (False, None), (True, 2), (False, 3)):
                options = {"type": answer_type, "overlap": overlap, "window": window}
                by_type = index.contexts(query, plan="type", **options)
                by_document = index.contexts(query, plan="document", **options)
                chosen = index.contexts(query, plan=None, **options)
                assert by_type.rows() == by_document.rows() == chosen.rows(), (query, options)
                assert summary(by_type) == summary(by_document) == summary(chosen), (query, options)


@examples()
@given(worlds())
def test_segmentation_changes_nothing(world: World) -> None:
    """However the collection is cut: bit for bit the same rows, statistics, ranking and scores."""
    oracle = oracle_of(world)
    answers = []
    for segment_tokens in SEGMENT_TOKENS:
        with built(world, segment_tokens=segment_tokens) as index:
            answer = []
            for query, answer_type in asked(world, oracle):
                contexts = index.contexts(query, type=answer_type)
                ranking = index.rank(query, type=answer_type, k=1000, model="proximity")
                answer.append(
                    (
                        query,
                        contexts.rows(),
                        summary(contexts),
                        list(ranking.entities),
                        [float(score).hex() for score in ranking.scores],
                        list(ranking.support),
                    )
                )
            answers.append(answer)
    assert answers[0] == answers[1] == answers[2]


@examples()
@given(
    worlds(),
    st.sampled_from(SEGMENT_TOKENS),
    st.booleans(),
    st.one_of(st.none(), st.integers(0, 6)),
    st.sampled_from(PLANS),
)
def test_overlap_and_window(
    world: World, segment_tokens: int, overlap: bool, window: int | None, plan: str | None
) -> None:
    """Overlapping occurrences can be ignored, and literals beyond the window are absent.

    Neither changes which documents match nor df and cf. A mention that the window leaves without any literal
    is no context; without a window every mention of a matching document is one.
    """
    oracle = oracle_of(world)
    with built(world, segment_tokens=segment_tokens) as index:
        for query, answer_type in asked(world, oracle):
            expected = oracle.contexts(query, answer_type, overlap=overlap, window=window)
            found = index.contexts(query, type=answer_type, plan=plan, overlap=overlap, window=window)
            assert summary(found) == summary(expected), (query, answer_type)


@examples()
@given(worlds(), st.sampled_from(SEGMENT_TOKENS))
def test_proximity_ranking(world: World, segment_tokens: int) -> None:
    """V(e) = sum over documents of the best mention's sum_t IDF(t)/IDF(q) / (1 + l(t)/10)."""
    oracle = oracle_of(world)
    with built(world, segment_tokens=segment_tokens) as index:
        for query, answer_type in asked(world, oracle):
            found = index.rank(query, type=answer_type, k=1000, model="proximity")
            check_ranking(found, oracle.rank(query, answer_type, model="proximity"))


@examples()
@given(worlds(), st.sampled_from(SEGMENT_TOKENS))
def test_count_ranking(world: World, segment_tokens: int) -> None:
    """`count` is |S_e|: the documents of e under the document policy. Ties by id, descending; all exact."""
    oracle = oracle_of(world)
    with built(world, segment_tokens=segment_tokens) as index:
        for query, answer_type in asked(world, oracle):
            found = index.rank(query, type=answer_type, k=1000, model="count")
            expected = oracle.rank(query, answer_type, model="count")
            assert list(found.entities) == expected.entities, query
            assert [float(score) for score in found.scores] == expected.scores
            assert list(found.support) == expected.support


@examples(0.5)
@given(worlds(), st.integers(1, 4), st.sampled_from(["proximity", "count"]))
def test_the_first_k_are_the_head_of_the_whole_ranking(world: World, k: int, model: str) -> None:
    """The first k have the ids, scores and support of the full ranking, bit for bit."""
    oracle = oracle_of(world)
    with built(world, segment_tokens=5) as index:
        for query, answer_type in asked(world, oracle):
            whole = index.rank(query, type=answer_type, k=1000, model=model)
            head = index.rank(query, type=answer_type, k=k, model=model)
            assert list(head.entities) == list(whole.entities)[:k]
            assert list(head.scores) == list(whole.scores)[:k]
            assert list(head.support) == list(whole.support)[:k]


@examples(0.5)
@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_changes_nothing(world: World, random: Any) -> None:
    """Rows do not depend on the order of documents, mentions, entities or types in the input."""
    oracle = oracle_of(world)
    corpus = [dict(record) for record in world.corpus]
    for record in corpus:
        if "mentions" in record:
            record["mentions"] = random.sample(record["mentions"], len(record["mentions"]))
    shuffled = World(
        corpus=random.sample(corpus, len(corpus)),
        entities=random.sample(world.entities, len(world.entities)),
        types=random.sample(world.types, len(world.types)),
        queries=world.queries,
        answer_types=world.answer_types,
    )
    with built(shuffled, segment_tokens=5) as index:
        for query, answer_type in asked(world, oracle):
            assert summary(index.contexts(query, type=answer_type)) == summary(oracle.contexts(query, answer_type))


@examples(0.5)
@given(worlds())
def test_an_opened_index_answers_like_the_built_one(world: World) -> None:
    """What `build` returns and what `open` reads from the folder are the same index."""
    oracle = oracle_of(world)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        fader.build(path, corpus=world.corpus, entities=world.entities, types=world.types, segment_tokens=5)
        index = fader.open(path)
        for query, answer_type in asked(world, oracle):
            found = index.contexts(query, type=answer_type)
            assert summary(found) == summary(oracle.contexts(query, answer_type))
            check_ranking(index.rank(query, type=answer_type, model="proximity"), oracle.rank(query, answer_type))


@examples(0.5)
@given(worlds())
def test_a_type_inside_the_query_is_the_type_option(world: World) -> None:
    """`type:T` in the query means `type="T"`, by id or by name, before or after the literals."""
    oracle = oracle_of(world)
    with built(world, segment_tokens=5) as index:
        for query, answer_type in asked(world, oracle):
            if answer_type is None:
                continue
            expected = summary(oracle.contexts(query, answer_type))
            assert summary(index.contexts(f"type:{answer_type} {query}")) == expected
            assert summary(index.contexts(f"{query} type:{answer_type}")) == expected
        with pytest.raises(FaderError):
            index.contexts("a", type="no such type")
        with pytest.raises(FaderError):
            index.contexts("type:no-such-type a")


@examples()
@given(worlds(), st.sampled_from(SEGMENT_TOKENS))
def test_stop_words_keep_their_positions(world: World, segment_tokens: int) -> None:
    """Stop words are not indexed but hold positions: distances stay, and phrases over them have gaps."""
    stopwords = strategies.STOPWORDS
    oracle = oracle_of(world, stopwords=stopwords)
    with built(world, segment_tokens=segment_tokens, stopwords=stopwords) as index:
        for query, answer_type in asked(world, oracle):
            found = index.contexts(query, type=answer_type)
            assert summary(found) == summary(oracle.contexts(query, answer_type)), query
            check_ranking(index.rank(query, type=answer_type, model="proximity"), oracle.rank(query, answer_type))


@examples(0.2)
@given(worlds())
def test_analyze_leaves_stop_words_out(world: World) -> None:
    """`analyze` gives tokens as indexed, and stop words are not indexed. Offsets show the gap."""
    oracle = oracle_of(world, stopwords=strategies.STOPWORDS)
    with built(world, stopwords=strategies.STOPWORDS) as index:
        for record in world.corpus:
            assert [tuple(token) for token in index.analyze(record["text"])] == oracle.analyze(record["text"])


INFLECTED = [
    "running",
    "Runs",
    "run",
    "vaccines",
    "Vaccine",
    "vaccination",
    "physics",
    "happily",
    "don't",
    "running-shoes",
]


@examples(0.5)
@given(worlds(surfaces=INFLECTED), st.sampled_from(SEGMENT_TOKENS))
def test_stemming(world: World, segment_tokens: int) -> None:
    """Documents and queries are stemmed alike, and literals that stem to the same tokens are one literal."""
    stemmer = pytest.importorskip("Stemmer").Stemmer("english").stemWord
    oracle = oracle_of(world, stemmer=stemmer)
    with built(world, segment_tokens=segment_tokens, stemmer="english") as index:
        for record in world.corpus:
            assert [tuple(token) for token in index.analyze(record["text"])] == oracle.analyze(record["text"])
        for query, answer_type in asked(world, oracle):
            found = index.contexts(query, type=answer_type)
            assert summary(found) == summary(oracle.contexts(query, answer_type)), query
            check_ranking(index.rank(query, type=answer_type, model="proximity"), oracle.rank(query, answer_type))


@pytest.fixture(scope="module")
def plain_world() -> World:
    """A collection in which every literal of `strategies.query_texts` has its own df, so that lists show."""
    texts = ["a"] * 2 + ["b b"] * 4 + ["c c c"] * 7 + ["a b"] * 9 + ["b a"] * 11 + ["c a b"] * 13
    texts += ["covid 19"] * 17 + ["don t"] * 19 + ["é"] * 23 + ["a, b, a"] * 3 + ["", "+"]
    corpus = [
        {"id": f"d{at}", "text": text, "mentions": [{"start": 0, "end": 1, "entity": "E"}]}
        for at, text in enumerate(texts)
    ]
    return World(corpus, [{"id": "E", "name": "e", "types": [], "aliases": []}], [], [], [])


@pytest.fixture(scope="module")
def plain_index(plain_world: World) -> Iterator[Any]:
    """The engine's index of `plain_world`."""
    with built(plain_world) as index:
        yield index


@pytest.fixture(scope="module")
def plain_oracle(plain_world: World) -> BruteForce:
    """The oracle's view of `plain_world`."""
    return oracle_of(plain_world)


@examples(20)
@given(query=strategies.query_texts)
def test_queries_are_understood_or_refused_alike(plain_index: Any, plain_oracle: BruteForce, query: str) -> None:
    """Engine and oracle find the same literals, with the same signs and in the same order, or both refuse.

    The literals show in df and cf, the signs in the number of matching documents and in the rows.
    """
    try:
        expected = summary(plain_oracle.contexts(query))
    except RefusedError:
        with pytest.raises(QueryError):
            plain_index.contexts(query)
    else:
        assert summary(plain_index.contexts(query)) == expected


@examples(20)
@given(text=strategies.texts)
def test_analyze_gives_the_tokens_with_their_offsets(plain_index: Any, plain_oracle: BruteForce, text: str) -> None:
    """Maximal runs of L, M and N, as NFC(casefold(NFC(run))), with code point offsets into the raw text."""
    assert [tuple(token) for token in plain_index.analyze(text)] == plain_oracle.analyze(text)


@examples()
@given(world=worlds())
def test_queries_of_worlds_are_refused_alike(world: World) -> None:
    """Also with phrases of every script: the engine refuses exactly what the oracle refuses."""
    oracle = oracle_of(world)
    meaningful = {query for query, _ in asked(world, oracle)}
    with built(world) as index:
        for query in world.queries:
            if query in meaningful:
                index.contexts(query)
                continue
            with pytest.raises(QueryError):
                index.contexts(query)
            with pytest.raises(QueryError):
                index.rank(query)
