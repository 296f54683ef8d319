"""Snippets cut by kernels out of pieces of UTF-8 are those that plain Python cuts out of whole texts.

Texts are of any Unicode, with words and gaps from one character to thousands, and long enough for several samples of
tokens; highlights are anywhere, near both ends and over each other, and also behind the end, where a text has lost
tokens. Whole contexts are compared on drawn collections, cut into segments, with phrases, stop words and stems.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fader
from contexts.drawn import SEGMENT_TOKENS, asked, built, examples, oracle_of
from fader.corpus.analysis import Analysis, spans
from fader.corpus.documents import Document
from fader.corpus.tokenise import batch_bytes, scan_tokens
from fader.errors import DamagedError
from fader.index import excerpts as reading
from fader.index.excerpts import Excerpts, Wanted
from fader.index.textstore import TextStore, TextWriter
from fader.index.tokensamples import sample_tokens
from fader.search.cutting import ABSENT, AROUND, Marks, cut_texts, find_tokens
from fader.search.snippets import cut_snippets
from oracles import snippets as oracle
from oracles.strategies import World, worlds

Spans = list[tuple[int, int]]
WORDS = ["a", "be", "été", "日本", "𝒜𝒷", "e\u0301", "١٢", "x" * 30, "y" * 599, "z" * 601, "ü" * 2500]
GAPS = [" ", " ", " ", ", ", "\n", "\t\r", " — ", " 🙂 ", "…", "-" * 25, "\u202e" * 90, "!" * 700]
words = st.one_of(st.sampled_from(WORDS[:5]), st.sampled_from(WORDS), st.text(min_size=1, max_size=4))
gaps = st.one_of(st.sampled_from(GAPS[:4]), st.sampled_from(GAPS))
quick = settings(deadline=None, max_examples=150)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Few different words and gaps, so that many of them are drawn quickly."""
    pool = [a + b for a, b in draw(st.lists(st.tuples(words, gaps), min_size=1, max_size=6))]
    places = draw(st.lists(st.integers(0, len(pool) - 1), max_size=12)) * draw(st.sampled_from([1, 1, 3, 30]))
    return draw(st.sampled_from(["", "", "?" * 50, "\n"])) + "".join(pool[i] for i in places) + draw(gaps | words)


@st.composite
def marked_texts(draw: st.DrawFn, lost: bool = False) -> tuple[str, Spans]:
    """A text and highlights in it; with `lost`, perhaps behind its end too."""
    text = draw(texts())
    count = len(spans(text)) + 3 * lost
    starts = st.one_of(st.integers(0, max(0, count - 1)), st.integers(0, 3), st.integers(max(0, count - 4), count))
    lengths = st.sampled_from([1, 1, 1, 2, 5, 40])
    drawn = draw(st.lists(st.tuples(starts, lengths), min_size=1, max_size=6))
    return text, [(a, a + n) for a, n in drawn if a + n <= count]


def plain(text: str, marks: Spans) -> tuple[str, list[tuple[int, int] | None]]:
    """What the oracle cuts, and where it puts each mark; None for one that the text does not have."""
    tokens = oracle._Tokens(text)
    inside = [i for i, (_start, end) in enumerate(marks) if end <= len(tokens)]
    shown, placed = oracle._cut(text, tokens, [oracle._Mark(*marks[i], None, 0) for i in inside])
    found: list[tuple[int, int] | None] = [None] * len(marks)
    for i, (_mark, a, b) in zip(inside, placed, strict=True):
        found[i] = a, b
    return shown, found


def wanted_of(many: list[Spans]) -> Wanted:
    """The tokens that snippets may show."""
    flat = [mark for marks in many for mark in marks]
    at = np.cumsum([0, *(len(marks) for marks in many)])
    low = np.array([max(0, start - AROUND) for start, _end in flat], dtype=np.int64)
    return Wanted(at, low, np.array([end + AROUND for _start, end in flat], dtype=np.int64))


def cut(excerpts: Excerpts, many: list[Spans]) -> list[tuple[str, list[tuple[int, int] | None]]]:
    """What the kernels cut."""
    at = wanted_of(many).at
    flat = np.array([mark for marks in many for mark in marks], dtype=np.int64).reshape(-1, 2)
    marks = Marks(at, flat[:, 0].copy(), flat[:, 1].copy(), excerpts.piece)
    shown, placed = cut_texts(excerpts, find_tokens(excerpts, at), marks)
    spans_of = [None if a == ABSENT else (a, b) for a, b in placed]
    return [(text, spans_of[at[d] : at[d + 1]]) for d, text in enumerate(shown)]


@quick
@given(st.lists(marked_texts(lost=True), min_size=1, max_size=4))
def test_cut_from_whole_texts(given: list[tuple[str, Spans]]) -> None:
    """Several at once; highlights that a text does not have are left out."""
    given = [(text, marks) for text, marks in given if marks]
    many = [marks for _text, marks in given]
    excerpts = Excerpts.of_texts([text.encode() for text, _marks in given], wanted_of(many))
    assert cut(excerpts, many) == [plain(text, marks) for text, marks in given]


@dataclass
class Place:
    """As much of a segment as excerpts need."""

    text: TextStore
    base: Any


@contextmanager
def stored(given: list[str]) -> Iterator[Place]:
    """A segment with some texts, in the order of their arrival backwards."""
    encoded = [text.encode() for text in given]
    buf, ends = batch_bytes(encoded)
    begin, _end, tokens_end = scan_tokens(buf, ends)
    samples = sample_tokens(buf, ends, begin, tokens_end)
    with tempfile.TemporaryDirectory() as folder:
        writer = TextWriter(Path(folder) / "text", None)
        writer.add([Document(f"d{9 - i}", text, []) for i, text in enumerate(given)], encoded, samples)
        entry = writer.close(np.arange(len(given))[::-1].copy())
        lengths = np.diff(tokens_end, prepend=0)[::-1] + 1
        yield Place(TextStore(Path(folder) / "text", entry), np.cumsum([0, *lengths]).astype(np.int32))


@quick
@given(st.lists(marked_texts(), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_cut_from_excerpts(given: list[tuple[str, Spans]], random: Any) -> None:
    """The pieces that are read hold all that is shown, whatever is between them."""
    with stored([text for text, _marks in given]) as segment:
        asked = [(i, *item) for i, item in enumerate(given) if item[1]]
        random.shuffle(asked)
        places: Any = [(segment, len(given) - 1 - i) for i, _text, _marks in asked]
        many = [marks for _i, _text, marks in asked]
        excerpts, _heads = reading.read_excerpts(places, wanted_of(many), Analysis().unicode)
        assert cut(excerpts, many) == [plain(text, marks) for _i, text, marks in asked]
        assert len(excerpts.data) <= sum(len(text.encode()) for _i, text, _marks in asked)


def test_little_of_a_long_text_is_read() -> None:
    """About the words around each highlight, and those of the sample before and behind."""
    text = " ".join(f"word{i}" for i in range(100_000))
    marks = [(50_000, 50_001), (70_000, 70_003), (50_100, 50_101), (0, 1), (99_999, 100_000)]
    with stored([text]) as segment:
        places: Any = [(segment, 0)]
        excerpts, _heads = reading.read_excerpts(places, wanted_of([marks]), Analysis().unicode)
        assert cut(excerpts, [marks]) == [plain(text, marks)]
        assert excerpts.token.size == 4
        assert len(excerpts.data) < 10 * 64 * len("word50000 ")


def test_a_text_in_another_unicode_is_read_whole() -> None:
    """Its samples are of other tokens."""
    with stored(["a b c"]) as segment:
        places: Any = [(segment, 0)]
        excerpts, _heads = reading.read_excerpts(places, wanted_of([[(1, 2)]]), "1.0.0")
        assert excerpts.tokens.tolist() == [reading.UNKNOWN]
        assert cut(
            excerpts,
            [
                [(1, 2)],
            ],
        ) == [plain("a b c", [(1, 2)])]


@pytest.mark.parametrize("data", [b"a b \xff c", b"a \x80b c", "a é c".encode()[:-3], b"\xf7\xbf\xbf\xbf a b c"])
def test_bytes_that_are_no_text_are_damage(data: bytes) -> None:
    """Told before they are walked over."""
    excerpts = Excerpts.of_texts([data], wanted_of([[(1, 2)]]))
    with pytest.raises(DamagedError, match="not UTF-8"):
        cut(excerpts, [[(1, 2)]])


def test_samples_that_are_none_are_damage() -> None:
    """A piece that begins inside of a character, or lacks tokens."""
    at, zeros = np.array([0, 1, 4]), np.zeros(2, dtype=np.int64)
    inside = Excerpts("é b".encode(), at, zeros, zeros, np.array([0, 1]), np.array([2, 2]))
    with pytest.raises(DamagedError, match="not where characters begin"):
        cut(inside, [[(0, 1)], [(0, 1)]])
    lacking = Excerpts(b"a b", np.array([0, 3]), zeros[:1], zeros[:1], np.zeros(1, dtype=np.int64), np.array([9]))
    with pytest.raises(DamagedError, match="lacks tokens"):
        cut(lacking, [[(5, 6)]])


def check(index: Any, query: str, answer_type: str | None, **options: Any) -> int:
    """All snippets of a query, of a table of which nothing was read before; how many there are."""
    contexts = index.contexts(query, answer_type, **options)
    rows = list(range(len(contexts)))[::-1]
    shares = [float(row) for row in rows]
    expected = oracle.cut_snippets(index.collection, contexts, rows, shares)
    again = index.contexts(query, answer_type, **options)
    assert cut_snippets(index.collection, again, rows, shares) == expected
    some = rows[::3]
    assert cut_snippets(index.collection, index.contexts(query, answer_type, **options), some, [0.5] * len(some)) == [
        replace(snippet, score=0.5) for snippet in expected[::3]
    ]
    return len(rows)


@examples(0.5)
@given(worlds(), st.sampled_from(SEGMENT_TOKENS), st.sampled_from([{}, {"window": 3}, {"overlap": False}]))
def test_every_context_is_cut_alike(world: World, segment_tokens: int, options: dict[str, Any]) -> None:
    """With phrases and overlaps, of one segment and of several."""
    bruteforce = oracle_of(world)
    with built(world, segment_tokens=segment_tokens) as index:
        for query, answer_type in asked(world, bruteforce):
            check(index, query, answer_type, **options)


@pytest.mark.parametrize("store_text", [True, False])
def test_overlaps_with_stop_words_and_stems(tmp_path: Path, store_text: bool) -> None:
    """An occurrence that overlaps the mention is found by its terms; without texts nothing is shown."""
    text = "The Houses of the Parliament were housing the parliaments of the house. " * 20
    at = [i for i in range(len(text)) if text.startswith("Houses of the Parliament", i)]
    mentions = [{"start": i + a, "end": i + b, "entity": "E"} for i in at for a, b in ((0, 6), (0, 24), (14, 24))]
    corpus = [{"id": "d", "text": text, "mentions": mentions}, {"id": "e", "text": "house " + text, "mentions": []}]
    index = fader.build(
        tmp_path / "index", corpus, [{"id": "E"}], [], stemmer="english", stopwords=["of", "the"], store_text=store_text
    )
    for query in ("house", '"house of the parliament"', '"housing the parliaments" parliament', "parliament -nothing"):
        assert check(index, query, None) == 60
        assert all(r.evidence[0].snippet for r in index.search(query).results) == store_text


def test_many_literals(tmp_path: Path) -> None:
    """As many as a query may have, near and far."""
    names = [f"lit{i}" for i in range(64)]
    text = "name " + " ".join(f"{name} {'filler ' * (i % 30)}" for i, name in enumerate(names))
    mentions = [{"start": 0, "end": 4, "entity": "E"}]
    index = fader.build(tmp_path / "index", [{"id": "d", "text": text, "mentions": mentions}], [{"id": "E"}], [])
    assert check(index, " ".join(names), None) == 1
