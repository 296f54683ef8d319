"""Hypothesis strategies for small collections in which everything that can collide does.

A collection draws a vocabulary of a few surface forms, so that words repeat, phrases overlap themselves and
several spellings of one token meet. Sizes stay small: a counterexample should be read at a glance.
Only cases to which the specification gives one answer are drawn; what it leaves open is not tested by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

PLAIN = ["a", "b", "c"]

# Each is at least one token; several spell the same token.
SURFACES = [
    "A",
    "é",
    "e\u0301",
    "E\u0301",
    "straße",
    "STRASSE",
    "strasse",
    "𝔘𝔫𝔦",
    "𐐀",
    "𐐨",
    "中文",
    "漢",
    "سلام",
    "שָׁלוֹם",
    "שלום",
    "19",
    "１９",
    "Ⅷ",
    "x²",
    "covid-19",
    "don't",
    "don’t",
    "İ",
    "ΟΔΟΣ",
    "οδος",
    "οδός",
    "α\u0345",
    "ᾳ",
    "\u1e9b\u0323",
    "각",
    "\u1100\u1161\u11a8",
    "\ufe0f",
]

# None of these is a letter, mark or number, but for the variation selector of the heart and of the keycap,
# which is a mark and so a token of its own or the tail of one.
GLUE = [
    " ",
    " ",
    " ",
    "  ",
    ", ",
    "-",
    "'",
    ". ",
    "\n",
    " 🙂 ",
    "🙂",
    " ❤\ufe0f ",
    "\u200d",
    "\u00a0",
    "_",
    "(",
]

UNKNOWN = ["zzz", "ω", "zzz-a", "𝔷"]

STOPWORDS = ["a", "é", "19"]

# Code point order differs from the order of numbers, of creation and of case-insensitive comparison.
ENTITY_IDS = ["E2", "E10", "e1", "Ö", "𝔈"]
DOCUMENT_IDS = ["d10", "d2", "D1", "é", "00", "0", "x y", "𝔡", "z"]
UNKNOWN_ENTITY = "nobody"

# Multiples of 1/8 survive single precision, so that a stored confidence can be compared exactly.
CONFIDENCES = [0.0, 0.125, 0.5, 0.875, 1.0]


@dataclass(frozen=True)
class World:
    """A collection and queries to put to it."""

    corpus: list[dict[str, Any]]
    entities: list[dict[str, Any]]
    types: list[dict[str, Any]]
    queries: list[str]
    answer_types: list[str | None]


class Choices:
    """Choices that are read off bytes; the first is made where there are no more.

    One draw of many bytes costs hypothesis a fraction of what a draw for every choice costs, and shrinks as well:
    towards first choices.
    """

    def __init__(self, data: bytes) -> None:
        self._left = iter(data)

    def below(self, end: int) -> int:
        return next(self._left, 0) % end

    def between(self, least: int, most: int) -> int:
        return least + self.below(most - least + 1)

    def one_in(self, number: int) -> bool:
        """Rarely; the first choice is not to."""
        return self.below(number) == number - 1

    def of(self, given: Sequence[T]) -> T:
        return given[self.below(len(given))]

    def some(self, given: Sequence[T], least: int, most: int) -> list[T]:
        """Different ones, in any order."""
        left, found = list(given), []
        for _each in range(self.between(least, min(most, len(left)))):
            found.append(left.pop(self.below(len(left))))
        return found


def choices(size: int) -> st.SearchStrategy[Choices]:
    """As many choices as there are bytes."""
    return st.binary(min_size=size, max_size=size).map(Choices)


def vocabulary_of(choose: Choices, surfaces: list[str]) -> list[str]:
    """A few surface forms, plain letters among them."""
    return choose.some(PLAIN, 1, 2) + choose.some(surfaces, 0, 3)


def mention_of(choose: Choices, length: int, words: list[tuple[int, int]], entities: list[str]) -> dict[str, Any]:
    """A mention: of whole words, of any characters, or one that has to be skipped."""
    kinds = ["invalid"]
    if length:
        kinds = ["characters", "characters", "edges", "invalid"]
    if words:
        kinds = ["words"] * 12 + kinds
    kind, entity = choose.of(kinds), choose.of(entities)
    if kind == "words":
        first = choose.below(len(words))
        last = min(first + choose.of([0, 0, 0, 0, 1, 2]), len(words) - 1)
        start, end = words[first][0], words[last][1]
    elif kind == "characters":
        # It may cut a word, cover punctuation only (and be skipped), or lie inside another mention.
        start = choose.below(length)
        end = choose.between(start + 1, min(start + 5, length))
    elif kind == "edges":
        start, end = choose.of([(0, length), (0, 1), (length - 1, length)])
    else:
        start, end = choose.of(
            [(-1, max(length, 1)), (0, length + 1), (length, length + 2), (0, 0), (length, 0), (-3, -1)]
        )
    if choose.one_in(16):
        entity = UNKNOWN_ENTITY
    mention: dict[str, Any] = {"start": start, "end": end, "entity": entity}
    if choose.one_in(2):
        mention["confidence"] = choose.of(CONFIDENCES)
    return mention


def document_of(choose: Choices, identifier: str, vocabulary: list[str], entities: list[str]) -> dict[str, Any]:
    """A text of a few words between all kinds of separators, with up to six mentions."""
    least = choose.of([0, 1, 4, 6])
    text, words = choose.of(["", "", "", " ", "🙂", "-", "\ufeff"]), []
    for _word in range(choose.between(least, max(2 * least, 1))):
        word = choose.of(vocabulary)
        words.append((len(text), len(text) + len(word)))
        # Without any separator the next word runs on, and two make one token.
        text += word + ("" if choose.one_in(16) else choose.of(GLUE))
    found = [mention_of(choose, len(text), words, entities) for _mention in range(choose.between(0, 6))]
    record: dict[str, Any] = {"id": identifier, "text": text}
    if found or choose.one_in(2):
        record["mentions"] = found
    if choose.one_in(4):
        # Stored, not searched: only `text` holds words.
        record["title"] = " ".join(vocabulary)
    return record


def types_of(choose: Choices) -> list[dict[str, Any]]:
    """No types, a drawn DAG, or the diamond; a subtype may come before or after its supertypes."""
    if choose.one_in(2):
        edges = {"T0": [], "T1": ["T0"], "T2": ["T0"], "T3": ["T1", "T2"], "T4": []}
    else:
        edges = {}
        for number in range(choose.between(0, 5)):
            edges[f"T{number}"] = choose.some([f"T{other}" for other in range(number)], 0, 3)
    order = choose.some(sorted(edges), len(edges), len(edges))
    return [{"id": name, "name": f"kind-{name}", "supertypes": edges[name]} for name in order]


def catalog_of(choose: Choices, types: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One to five entities, some without any type."""
    names = sorted(record["id"] for record in types)
    return [
        {"id": identifier, "name": f"name of {identifier}", "types": choose.some(names, 0, 3), "aliases": []}
        for identifier in choose.some(ENTITY_IDS, 1, 5)
    ]


def literal_of(choose: Choices, vocabulary: list[str], texts: list[str]) -> str:
    """A word or a quoted phrase, optional, required or forbidden; half of the phrases are quotations."""

    def word() -> str:
        return choose.of(UNKNOWN if choose.one_in(8) else vocabulary)

    sign = choose.of(["", "", "", "", "", "+", "+", "-"])
    kind = choose.of(["word", "word", "phrase", "quotation"])
    if kind == "word":
        return sign + word()
    if kind == "quotation":
        # Cut at white space, so that it has the tokens of the text; no text of this module has a quote in it.
        pieces = choose.of(texts).split()
        if len(pieces) > 1:
            start = choose.below(len(pieces) - 1)
            return f'{sign}"{" ".join(pieces[start : start + choose.between(2, 3)])}"'
    space = choose.of([" ", " ", "  ", "-", ", "])
    return f'{sign}"{space.join(word() for _word in range(choose.between(1, 3)))}"'


_heads, _documents, _queries = choices(96), choices(96), choices(52)


@st.composite
def worlds(draw: st.DrawFn, surfaces: list[str] = SURFACES, query_count: int = 12) -> World:
    """A collection of one to eight documents and `query_count` queries with an answer type each, or none.

    A query has one to four literals; some contradict themselves or forbid everything, and must be refused.
    """
    choose = draw(_heads)
    vocabulary = vocabulary_of(choose, surfaces)
    types = types_of(choose)
    entities = catalog_of(choose, types)
    known = [record["id"] for record in entities]
    identifiers = choose.some(DOCUMENT_IDS, 1, 8)
    corpus = [document_of(draw(_documents), identifier, vocabulary, known) for identifier in identifiers]
    names = [record[key] for record in sorted(types, key=lambda record: record["id"]) for key in ("id", "name")]
    texts, queries, answer_types = [record["text"] for record in corpus], [], []
    for _query in range(query_count):
        choose = draw(_queries)
        answer_types.append(choose.of(names) if names and choose.one_in(2) else None)
        queries.append(" ".join(literal_of(choose, vocabulary, texts) for _each in range(choose.between(1, 4))))
    return World(corpus, entities, types, queries, answer_types)


# Texts for the analysis alone: whatever Unicode has, and the neighbours that normalisation joins or splits.
texts = st.one_of(
    st.text(max_size=30),
    st.text(st.characters(categories=["L", "M", "N", "Zs", "P"]), max_size=30),
    st.lists(st.sampled_from(PLAIN + SURFACES + GLUE + ["\u0301", "\u0345", "ß", "ŉ", "ﬁ"]), max_size=12).map("".join),
)


# Query texts of which the specification says whether they are refused. White space keeps the items apart, and
# at most one item has a quote too many, so that an odd number of quotes is the only trouble with quotes.
_signed = st.builds(
    str.__add__,
    st.sampled_from(["", "+", "-"]),
    st.sampled_from(["a", "b", "c", '"a"', '"a b"', '"b a"', '"a, b!"', '"c a b"', '"+a -b"', '" a "', '"a\tb"']),
)
_bare = st.sampled_from(
    [
        "a",
        "b",
        "c",
        "A",
        "covid-19",
        "don't",
        "zzz",
        "é",
        "e\u0301",
        "a-b",
        "b_a",
        "c++",
        "(a)",
        "+zzz",
        "-zzz",
    ]
)
_without_token = st.sampled_from(["--", "+", "-", '""', '+""', '"--"', "!?", "🙂", '-" "'])
_unbalanced = st.sampled_from(['"', '"a', 'a"', '+"b', '-"'])
_spoilers = st.one_of(_without_token, _unbalanced)


@st.composite
def _query_texts(draw: st.DrawFn) -> str:
    items = draw(st.lists(st.one_of(_signed, _bare), max_size=6))
    if draw(st.integers(0, 4)) == 0:
        items.insert(draw(st.integers(0, len(items))), draw(_spoilers))
    space = draw(st.sampled_from([" ", "  ", "\t", "\n "]))
    before, after = draw(st.sampled_from([("", ""), (" ", ""), ("", " "), ("\n", "\t")]))
    return before + space.join(items) + after


query_texts = _query_texts()
