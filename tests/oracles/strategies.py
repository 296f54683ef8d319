"""Hypothesis strategies for small collections in which everything that can collide does.

A collection draws a vocabulary of a few surface forms, so that words repeat, phrases overlap themselves and
several spellings of one token meet. Sizes stay small: a counterexample should be read at a glance.
Only cases to which the specification gives one answer are drawn; what it leaves open is not tested by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

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


@st.composite
def vocabularies(draw: st.DrawFn, surfaces: list[str]) -> list[str]:
    """A few surface forms, plain letters among them."""
    plain = draw(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=2, unique=True))
    return plain + draw(st.lists(st.sampled_from(surfaces), max_size=3, unique=True))


@st.composite
def mentions(draw: st.DrawFn, length: int, words: list[tuple[int, int]], entities: list[str]) -> dict[str, Any]:
    """A mention: of whole words, of any characters, or one that has to be skipped."""
    kinds = ["invalid"]
    if length:
        kinds = ["characters", "characters", "edges", "invalid"]
    if words:
        kinds = ["words"] * 12 + kinds
    kind = draw(st.sampled_from(kinds))
    entity = draw(st.sampled_from(entities))
    if kind == "words":
        first = draw(st.integers(0, len(words) - 1))
        last = min(first + draw(st.sampled_from([0, 0, 0, 0, 1, 2])), len(words) - 1)
        start, end = words[first][0], words[last][1]
    elif kind == "characters":
        # It may cut a word, cover punctuation only (and be skipped), or lie inside another mention.
        start = draw(st.integers(0, length - 1))
        end = draw(st.integers(start + 1, min(start + 5, length)))
    elif kind == "edges":
        start, end = draw(st.sampled_from([(0, length), (0, 1), (length - 1, length)]))
    else:
        start, end = draw(
            st.sampled_from(
                [(-1, max(length, 1)), (0, length + 1), (length, length + 2), (0, 0), (length, 0), (-3, -1)]
            )
        )
    if draw(st.integers(0, 15)) == 0:
        entity = UNKNOWN_ENTITY
    mention: dict[str, Any] = {"start": start, "end": end, "entity": entity}
    if draw(st.booleans()):
        mention["confidence"] = draw(st.sampled_from(CONFIDENCES))
    return mention


@st.composite
def documents(draw: st.DrawFn, identifier: str, vocabulary: list[str], entities: list[str]) -> dict[str, Any]:
    """A text of a few words between all kinds of separators, with up to six mentions."""
    least = draw(st.sampled_from([0, 1, 4, 6]))
    drawn = draw(st.lists(st.sampled_from(vocabulary), min_size=least, max_size=max(2 * least, 1)))
    text = draw(st.sampled_from(["", "", "", " ", "🙂", "-", "\ufeff"]))
    words = []
    for word in drawn:
        words.append((len(text), len(text) + len(word)))
        # Without any separator the next word runs on, and two make one token.
        text += word + (draw(st.sampled_from(GLUE)) if draw(st.integers(0, 15)) else "")
    found = draw(st.lists(mentions(len(text), words, entities), max_size=6))
    record: dict[str, Any] = {"id": identifier, "text": text}
    if found or draw(st.booleans()):
        record["mentions"] = found
    if draw(st.integers(0, 3)) == 0:
        # Stored, not searched: only `text` holds words.
        record["title"] = " ".join(vocabulary)
    return record


@st.composite
def type_graphs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """No types, a drawn DAG, or the diamond; a subtype may come before or after its supertypes."""
    if draw(st.booleans()):
        edges = {"T0": [], "T1": ["T0"], "T2": ["T0"], "T3": ["T1", "T2"], "T4": []}
    else:
        edges = {}
        for number in range(draw(st.integers(0, 5))):
            above = [f"T{other}" for other in range(number)]
            edges[f"T{number}"] = draw(st.lists(st.sampled_from(above), unique=True, max_size=3)) if above else []
    order = draw(st.permutations(sorted(edges)))
    return [{"id": name, "name": f"kind-{name}", "supertypes": edges[name]} for name in order]


@st.composite
def catalogs(draw: st.DrawFn, types: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One to five entities, some without any type."""
    identifiers = draw(st.lists(st.sampled_from(ENTITY_IDS), min_size=1, max_size=5, unique=True))
    names = sorted(record["id"] for record in types)
    return [
        {
            "id": identifier,
            "name": f"name of {identifier}",
            "types": draw(st.lists(st.sampled_from(names), unique=True, max_size=3)) if names else [],
            "aliases": [],
        }
        for identifier in identifiers
    ]


@st.composite
def literals(draw: st.DrawFn, vocabulary: list[str], texts: list[str]) -> str:
    """A word or a quoted phrase, optional, required or forbidden; half of the phrases are quotations."""
    sign = draw(st.sampled_from(["", "", "", "", "", "+", "+", "-"]))
    known = st.sampled_from(vocabulary)
    words = st.one_of(known, known, known, known, known, known, known, st.sampled_from(UNKNOWN))
    kind = draw(st.sampled_from(["word", "word", "phrase", "quotation"]))
    if kind == "word":
        return sign + draw(words)
    if kind == "quotation":
        # Cut at white space, so that it has the tokens of the text; no text of this module has a quote in it.
        pieces = draw(st.sampled_from(texts)).split()
        if len(pieces) > 1:
            start = draw(st.integers(0, len(pieces) - 2))
            return f'{sign}"{" ".join(pieces[start : start + draw(st.integers(2, 3))])}"'
    space = draw(st.sampled_from([" ", " ", "  ", "-", ", "]))
    return f'{sign}"{space.join(draw(st.lists(words, min_size=1, max_size=3)))}"'


def queries(vocabulary: list[str], texts: list[str]) -> st.SearchStrategy[str]:
    """One to four literals; some queries contradict themselves or forbid everything, and must be refused."""
    return st.lists(literals(vocabulary, texts), min_size=1, max_size=4).map(" ".join)


@st.composite
def worlds(draw: st.DrawFn, surfaces: list[str] = SURFACES, query_count: int = 12) -> World:
    """A collection of one to eight documents and `query_count` queries with an answer type each, or none."""
    vocabulary = draw(vocabularies(surfaces))
    types = draw(type_graphs())
    entities = draw(catalogs(types))
    known = [record["id"] for record in entities]
    identifiers = draw(st.lists(st.sampled_from(DOCUMENT_IDS), min_size=1, max_size=8, unique=True))
    corpus = [draw(documents(identifier, vocabulary, known)) for identifier in identifiers]
    names = [record[key] for record in sorted(types, key=lambda record: record["id"]) for key in ("id", "name")]
    answer_type = st.none() | st.sampled_from(names) if names else st.none()
    count = {"min_size": query_count, "max_size": query_count}
    return World(
        corpus=corpus,
        entities=entities,
        types=types,
        queries=draw(st.lists(queries(vocabulary, [record["text"] for record in corpus]), **count)),
        answer_types=draw(st.lists(answer_type, **count)),
    )


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
