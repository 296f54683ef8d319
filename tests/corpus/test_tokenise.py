"""The compiled tokeniser is the twin of the plain definition: same tokens, same characters, same terms."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpus.analysis import normalise, spans
from fader.corpus.tokenise import RawVocabulary, batch_bytes, character_spans
from oracles.strategies import texts

Tokens = list[list[tuple[str, int, int]]]

# Runs of one letter with another end: equal in the bytes that a table may keep, different behind them.
lengths = st.sampled_from([1, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 130])
long_runs = st.builds(
    lambda letter, length, end: letter * length + end,
    st.sampled_from(["a", "A", "é", "𝔘", "中"]),
    lengths,
    st.sampled_from(["", "b", "c", "B", "é", "\u0301", "𐐀"]),
)
documents = st.one_of(
    texts,
    st.text(max_size=40),
    st.lists(st.one_of(long_runs, st.sampled_from(["x", "🙂", "\u0301"])), max_size=8).map(" ".join),
    # Longer than a stretch that is scanned as ASCII, with other characters on its borders.
    st.builds(lambda n, middle: "ab " * 84 + "a" * n + middle + "b cd" * 80, st.integers(0, 8), long_runs),
)
batches = st.lists(st.lists(documents, max_size=6), max_size=4)


def tokens_of(vocabulary: RawVocabulary, batch: list[str]) -> tuple[list[list[tuple[int, int, int]]], int]:
    """Per document its tokens as raw numbers with characters [first, last)."""
    buf, bytes_end = batch_bytes([text.encode() for text in batch])
    tokens = vocabulary.tokenise(buf, bytes_end)
    first, last = character_spans(buf, bytes_end, tokens.begin, tokens.end, tokens.ends)
    rows = list(zip(tokens.raw.tolist(), first.tolist(), last.tolist(), strict=True))
    starts = [0, *tokens.ends.tolist()]
    return [rows[a:b] for a, b in itertools.pairwise(starts)], len(rows)


def expected(batch: list[str]) -> Tokens:
    return [[(normalise(text[a:b]), a, b) for a, b in spans(text)] for text in batch]


@settings(deadline=None, max_examples=200)
@given(batches)
def test_tokens_are_those_of_the_definition(given: list[list[str]]) -> None:
    """Batch after batch: every token is there once, with its characters, and its run normalises to its term."""
    vocabulary = RawVocabulary()
    found = []
    for batch in given:
        documents, count = tokens_of(vocabulary, batch)
        assert count == sum(map(len, documents))
        found.append(documents)
    terms = [normalise(run.decode()) for run in vocabulary.runs()]
    named = [[[(terms[n], a, b) for n, a, b in tokens] for tokens in documents] for documents in found]
    assert named == [expected(batch) for batch in given]


@settings(deadline=None)
@given(batches)
def test_raw_numbers_are_those_of_distinct_runs_in_order_of_first_sight(given: list[list[str]]) -> None:
    """A run has one number for good; ASCII runs are told apart in lower case, others as they stand."""
    vocabulary = RawVocabulary()
    numbers: dict[str, int] = {}
    for batch in given:
        documents, _count = tokens_of(vocabulary, batch)
        for text, tokens in zip(batch, documents, strict=True):
            for number, a, b in tokens:
                run = text[a:b].lower() if text[a:b].isascii() else text[a:b]
                assert numbers.setdefault(run, len(numbers)) == number
    assert [run.decode() for run in vocabulary.runs()] == list(numbers)
    assert vocabulary.size == len(numbers)


def test_the_tables_grow() -> None:
    """More distinct runs than any table has room for at first, short and long, keep their numbers."""
    words = [f"{'long' * 20 if i % 100 == 0 else 'w'}{i}{'é' if i % 3 == 0 else ''}" for i in range(150_000)]
    vocabulary = RawVocabulary()
    first: list[Any] = []
    for at in range(0, len(words), 20_000):
        documents, _count = tokens_of(vocabulary, [" ".join(words[at : at + 20_000])])
        first += [number for number, _a, _b in documents[0]]
    assert first == list(range(len(words)))
    again, _count = tokens_of(vocabulary, [" ".join(words)])
    assert [number for number, _a, _b in again[0]] == first
    assert [run.decode() for run in vocabulary.runs()] == words


def test_no_documents_have_no_tokens() -> None:
    """An empty batch, and a batch of empty texts."""
    vocabulary = RawVocabulary()
    assert tokens_of(vocabulary, []) == ([], 0)
    assert tokens_of(vocabulary, ["", ""]) == ([[], []], 0)
    assert vocabulary.runs() == []


def test_batch_bytes_lays_texts_end_to_end() -> None:
    """One UTF-8 buffer, and the end of each text in it."""
    buf, ends = batch_bytes(["é".encode(), b"", b"ab"])
    assert buf.tobytes().decode() == "éab"
    assert ends.tolist() == [2, 2, 4]
    assert buf.dtype == np.uint8


def test_documents_without_a_byte_between_their_tokens() -> None:
    """Batches of one-letter documents have as many tokens as bytes."""
    vocabulary = RawVocabulary()
    for count in (1, 3, 100, 1000):
        batch = list(itertools.islice(itertools.cycle("abcA1"), count))
        documents, found = tokens_of(vocabulary, batch)
        assert found == count
        assert [len(tokens) for tokens in documents] == [1] * count
    assert vocabulary.runs() == [b"a", b"b", b"c", b"1"]
