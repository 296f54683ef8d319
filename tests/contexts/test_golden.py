"""Cases worked out by hand from the specification, put to the engine and to the oracle alike.

The property tests compare two programs; these say which numbers both have to give. Texts are short enough to
count tokens with a finger: positions start at 0, a mention is the token span [s, e), adjacent is distance 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from oracles.bruteforce import BruteForce, RefusedError

Row = tuple[str, str, int, int, float, tuple[int, ...], tuple[int, ...]]
Build = Callable[..., Any]

ENTITIES = [
    {"id": "E", "name": "e", "types": [], "aliases": []},
    {"id": "F", "name": "f", "types": [], "aliases": []},
]


def document(identifier: str, text: str, *marked: str | tuple[str, str], **fields: Any) -> dict[str, Any]:
    """A corpus record. Each of `marked` is a mention where that string first occurs, of E or as named."""
    mentions = []
    for mark in marked:
        surface, entity = (mark, "E") if isinstance(mark, str) else mark
        start = text.index(surface)
        mentions.append({"start": start, "end": start + len(surface), "entity": entity, **fields})
    return {"id": identifier, "text": text, "mentions": mentions}


@pytest.fixture(params=["engine", "oracle"])
def build(request: pytest.FixtureRequest, tmp_path: Path) -> Build:
    """Builds a collection with the engine or with the oracle; both answer the same calls."""

    def make(
        corpus: list[dict[str, Any]],
        entities: list[dict[str, Any]] = ENTITIES,
        types: list[dict[str, Any]] | None = None,
        **options: Any,
    ) -> Any:
        if request.param == "oracle":
            return BruteForce(corpus, entities, types or [], **options)
        import fader

        return fader.build(tmp_path / "index", corpus=corpus, entities=entities, types=types or [], **options)

    return make


def rows(contexts: Any) -> list[Row]:
    """The rows in plain values."""
    return [(*row[:5], tuple(row[5]), tuple(row[6])) for row in contexts.rows()]


def one(contexts: Any) -> Row:
    """The only row."""
    (row,) = rows(contexts)
    return row


def test_adjacent_words_are_at_distance_1(build: Build) -> None:
    """alpha [0,1), beta [1,2), gamma [2,3): 1 - 1 + 1 = 1 to the left and 2 - 2 + 1 = 1 to the right."""
    index = build([document("d", "alpha beta gamma", "beta", confidence=0.5)])
    assert rows(index.contexts("alpha gamma")) == [("E", "d", 1, 2, 0.5, (1, 1), (-1, 1))]


def test_phrase_distances_run_from_its_near_end(build: Build) -> None:
    """new0 york1 city2 is3 far4 from5 paris6.

    To paris [6,7), "new york" [0,2) is at 6 - 2 + 1 = 5 and "far from" [4,6) is adjacent, both on the left.
    To new [0,1), "new york" overlaps, and "far from" is at 4 - 1 + 1 = 4 on the right.
    """
    index = build([document("d", "new york city is far from paris", ("paris", "E"), ("new", "F"))])
    assert [row[5:] for row in rows(index.contexts('"new york" "far from"'))] == [
        ((5, 1), (-1, -1)),
        ((0, 4), (0, 1)),
    ]


def test_overlapping_occurrences_count_or_are_ignored(build: Build) -> None:
    """varicella0 vaccine1 against2 chicken3 pox4 vaccine5, with the mention [0,2).

    vaccine overlaps at 1, and beside the mention stands at 5: 5 - 2 + 1 = 4. "vaccine against" [1,3) overlaps
    in part and has no other occurrence. chicken: 3 - 2 + 1 = 2.
    """
    index = build([document("d", "varicella vaccine against chicken pox vaccine", "varicella vaccine")])
    query = 'vaccine chicken "vaccine against"'
    assert one(index.contexts(query))[5:] == ((0, 2, 0), (0, 1, 0))
    assert one(index.contexts(query, overlap=False))[5:] == ((4, 2, -1), (1, 1, 0))


def test_ignoring_overlap_does_not_change_which_documents_match(build: Build) -> None:
    """The only occurrence lies in the mention: the document still matches, and its context has all absent."""
    index = build([document("d", "varicella vaccine", "varicella vaccine")])
    contexts = index.contexts("+vaccine", overlap=False)
    assert (contexts.matched_documents, list(contexts.df), list(contexts.cf)) == (1, [1], [1])
    assert one(contexts)[5:] == ((-1,), (0,))


def test_left_wins_a_tie(build: Build) -> None:
    """x0 y1 m2 y3 x4 z5 z6: x is at 2 and y at 1 on both sides, z at 5 - 3 + 1 = 3 on the right only."""
    index = build([document("d", "x y m y x z z", "m")])
    assert one(index.contexts("x y z"))[5:] == ((2, 1, 3), (-1, -1, 1))


def test_a_phrase_may_overlap_itself(build: Build) -> None:
    """a0 a1 a2 m3 a4 a5: "a a" occurs at [0,2), [1,3) and [4,6), so cf = 3, df = 1.

    The last two are adjacent to m, one on each side: 1, left. "a a a" occurs at [0,3) only, not across m.
    """
    index = build([document("d", "a a a m a a", "m"), document("other", "a")])
    contexts = index.contexts('"a a" "a a a" a')
    assert list(contexts.df) == [1, 1, 2]
    assert list(contexts.cf) == [3, 1, 6]
    assert one(index.contexts('+"a a" "a a a" a'))[5:] == ((1, 1, 1), (-1, -1, -1))


def test_required_and_forbidden(build: Build) -> None:
    """A document matches if it has all required literals, no forbidden one, and at least one at all."""
    index = build(
        [
            document("1", "m a b", "m"),
            document("2", "m a", "m"),
            document("3", "m b c", "m"),
            document("4", "m a b c", "m"),
            document("5", "m", "m"),
            document("6", "m b a", "m"),
        ]
    )

    def matching(query: str) -> list[str]:
        contexts = index.contexts(query)
        found = [row[1] for row in rows(contexts)]
        assert contexts.matched_documents == len(found)
        return found

    assert matching("a b") == ["1", "2", "3", "4", "6"]
    assert matching("+a b") == ["1", "2", "4", "6"]
    assert matching("+a +b") == ["1", "4", "6"]
    assert matching("a b -c") == ["1", "2", "6"]
    assert matching('+a -"a b"') == ["2", "6"]
    # The same literal twice: required wins over optional, forbidden too.
    assert matching("a b +b") == ["1", "3", "4", "6"]
    assert matching("a b -b") == ["2"]
    # Forbidden literals have no column.
    assert rows(index.contexts("c -a")) == [("E", "3", 0, 1, 1.0, (2,), (1,))]


def test_document_policy_counts_the_best_mention_of_a_document(build: Build) -> None:
    """m0 a1 m2 c3 c4 b5 and m0 b1: three mentions are three rows, but two documents are |S_e| = 2.

    N = 2, df(a) = 1, df(b) = 2, so IDF(a) = ln 3, IDF(b) = ln 2, IDF(q) = ln 6.
    d1: the mention [0,1) has a at 1 and b at 5 - 1 + 1 = 5; [2,3) has a at 1 and b at 5 - 3 + 1 = 3: better.
    d2: b at 1, a absent.
    """
    first = document("d1", "m a m c c b", "m")
    first["mentions"].append({"start": 4, "end": 5, "entity": "E"})
    index = build([first, document("d2", "m b", "m")])

    assert rows(index.contexts("a b")) == [
        ("E", "d1", 0, 1, 1.0, (1, 5), (1, 1)),
        ("E", "d1", 2, 3, 1.0, (1, 3), (-1, 1)),
        ("E", "d2", 0, 1, 1.0, (-1, 1), (0, 1)),
    ]
    share_a, share_b = math.log(3) / math.log(6), math.log(2) / math.log(6)
    ranking = index.rank("a b", k=10, model="proximity")
    expected = (share_a / 1.1 + share_b / 1.3) + share_b / 1.1
    assert list(ranking.entities) == ["E"]
    assert list(ranking.scores) == pytest.approx([expected], rel=1e-12)
    assert list(ranking.support) == [2]
    assert list(index.rank("a b", k=10, model="count").scores) == [2.0]


def test_equal_scores_are_ordered_by_id_descending(build: Build) -> None:
    """E and F stand on the two sides of x, each at distance 1: V = 1 / 1.1 for both, and F comes first."""
    index = build([document("d", "m x n", ("m", "E"), ("n", "F"))])
    for model, score in (("proximity", 1 / 1.1), ("count", 1.0)):
        ranking = index.rank("x", k=10, model=model)
        assert list(ranking.entities) == ["F", "E"]
        assert list(ranking.scores) == pytest.approx([score, score], rel=1e-12)
        assert list(index.rank("x", k=1, model=model).entities) == ["F"]


def test_df_of_a_phrase_is_counted(build: Build) -> None:
    """ "a b" is adjacent and in order in two documents, three times; both words are in all five."""
    texts = ["a b", "b a", "a c b", "a b a b", "b, c. a"]
    index = build([document(f"d{at}", text) for at, text in enumerate(texts)])
    contexts = index.contexts('"a b" a b "b a"')
    assert list(contexts.df) == [2, 5, 5, 2]
    assert list(contexts.cf) == [3, 6, 6, 2]
    assert contexts.statistics.documents == 5
    assert contexts.statistics.tokens == 2 + 2 + 3 + 4 + 3


def test_a_word_that_splits_is_a_phrase(build: Build) -> None:
    """covid-19 is "covid 19": it matches COVID-19 and covid 19, not covid 1 19; and don't is "don t"."""
    index = build(
        [
            document("1", "COVID-19 m", "m"),
            document("2", "m: covid 19", "m"),
            document("3", "covid 1 19 m", "m"),
            document("4", "Don’t, m", "m"),
        ]
    )
    contexts = index.contexts("covid-19 don't")
    assert list(contexts.df) == [2, 1]
    assert [row[1:] for row in rows(contexts)] == [
        ("1", 2, 3, 1.0, (1, -1), (-1, 0)),
        ("2", 0, 1, 1.0, (1, -1), (1, 0)),
        ("4", 2, 3, 1.0, (-1, 1), (0, -1)),
    ]
    # The hyphen inside a word is no sign, and the phrase is one literal however it is written.
    assert list(index.contexts('covid-19 "covid 19"').df) == [2]


def test_spellings_of_one_token(build: Build) -> None:
    """Composed and decomposed accents, case, ß and ss, final sigma: NFC(casefold(NFC(run))) unites them."""
    index = build(
        [
            document("1", "Cafe\u0301 m", "m"),
            document("2", "CAFÉ m", "m"),
            document("3", "cafe m", "m"),
            document("4", "STRASSE ΟΔΟΣ", "STRASSE"),
            document("5", "straße οδος", "straße"),
        ]
    )
    assert [row[1] for row in rows(index.contexts("café"))] == ["1", "2"]
    assert [row[1] for row in rows(index.contexts("cafe\u0301"))] == ["1", "2"]
    assert list(index.contexts("Straße οδοσ").df) == [2, 2]
    # Offsets are code points of the raw text: the decomposed é takes two, the astral letters one each.
    assert [tuple(token) for token in index.analyze("Cafe\u0301 𝔘𝔫🙂x")] == [
        ("café", 0, 5),
        ("𝔘𝔫", 6, 8),
        ("x", 9, 10),
    ]


def test_a_mention_that_cuts_words_covers_them(build: Build) -> None:
    """hello0 wide1 world2: the characters "lo wide wo" overlap all three tokens; "wid" overlaps wide only."""
    index = build([document("d", "hello wide world", ("lo wide wo", "E"), ("wid", "F"))])
    assert rows(index.contexts("world")) == [
        ("E", "d", 0, 3, 1.0, (0,), (0,)),
        ("F", "d", 1, 2, 1.0, (1,), (1,)),
    ]


def test_mentions_that_say_nothing_are_skipped(build: Build) -> None:
    """No token, outside the text, empty, reversed, unknown entity: skipped, and the good mention stays."""
    record = document("d", "a, -- b", "b", "--")
    for start, end in ((-1, 3), (0, 8), (7, 9), (2, 2), (4, 1)):
        record["mentions"].append({"start": start, "end": end, "entity": "E"})
    record["mentions"].append({"start": 0, "end": 1, "entity": "nobody"})
    index = build([record])
    assert rows(index.contexts("a")) == [("E", "d", 1, 2, 1.0, (1,), (-1,))]


def test_types_reach_through_a_diamond_once(build: Build) -> None:
    """bottom -> left, right -> top: the entity is a top by two paths and has one context."""
    types = [
        {"id": "bottom", "name": "Bottom", "supertypes": ["left", "right"]},
        {"id": "left", "name": "Left", "supertypes": ["top"]},
        {"id": "right", "name": "Right", "supertypes": ["top"]},
        {"id": "top", "name": "Top", "supertypes": []},
    ]
    entities = [
        {"id": "E", "name": "e", "types": ["bottom"], "aliases": []},
        {"id": "F", "name": "f", "types": ["left"], "aliases": []},
        {"id": "G", "name": "g", "types": [], "aliases": []},
    ]
    index = build([document("d", "a e f g", ("e", "E"), ("f", "F"), ("g", "G"))], entities, types)

    def answers(answer_type: str | None) -> list[str]:
        return [row[0] for row in rows(index.contexts("a", type=answer_type))]

    assert answers("top") == ["E", "F"]
    assert answers("left") == ["E", "F"]
    assert answers("right") == ["E"]
    assert answers("Bottom") == ["E"]
    assert answers(None) == ["E", "F", "G"]
    assert [row[0] for row in rows(index.contexts("type:right a"))] == ["E"]


def test_window(build: Build) -> None:
    """m0 a1 x2 x3 b4 x5 n6: from m [0,1) a is at 1 and b at 4; from n [6,7) a is at 5 and b at 2."""
    index = build([document("d", "m a x x b x n", ("m", "E"), ("n", "F"))])
    wide = rows(index.contexts("a b", window=2))
    assert [(row[0], row[5], row[6]) for row in wide] == [("E", (1, -1), (1, 0)), ("F", (-1, 2), (0, -1))]
    # A mention without any literal in the window is no context, though its document matches.
    narrow = index.contexts("a b", window=1)
    assert [row[0] for row in rows(narrow)] == ["E"]
    assert narrow.matched_documents == 1
    assert [row[0] for row in rows(index.contexts("a b", window=0))] == []


def test_a_literal_that_occurs_nowhere(build: Build) -> None:
    """It keeps its place as absent and is left out of IDF(q): x gives 1 / 1.1. Required, nothing matches."""
    index = build([document("d", "m x", "m"), document("empty", "")])
    contexts = index.contexts("nowhere x")
    assert (list(contexts.df), list(contexts.cf)) == ([0, 1], [0, 1])
    assert one(contexts)[5:] == ((-1, 1), (0, 1))
    assert list(index.rank("nowhere x", k=10, model="proximity").scores) == pytest.approx([1 / 1.1], rel=1e-12)

    required = index.contexts("+nowhere x")
    assert (required.matched_documents, rows(required)) == (0, [])
    assert list(index.rank("+nowhere x", k=10, model="proximity").entities) == []
    assert list(index.rank("nowhere", k=10, model="count").entities) == []


def test_stop_words_leave_gaps(build: Build) -> None:
    """state0 of1 the2 art3 m4: with of and the stopped, "state in the art" wants any two tokens in between.

    The span is [0,4), so m [4,5) is adjacent; state alone is at 4 - 1 + 1 = 4.
    """
    index = build([document("d", "state of the art m", "m")], stopwords=("of", "the", "in"))
    contexts = index.contexts('"state in the art" state "state art"')
    assert list(contexts.df) == [1, 1, 0]
    assert one(contexts)[5:] == ((1, 4, -1), (-1, -1, 0))


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "-a",
        '-a -"b c"',
        "a -a",
        "+a -a",
        '+"a b" -a-b',
        "a --",
        '""',
        '"a b',
        'a "b" "',
        " ".join(f"w{number}" for number in range(65)),
        "a" * 2001,
    ],
)
def test_queries_that_are_refused(build: Build, query: str) -> None:
    """Empty, only forbidden, contradictory, without token, unbalanced, too many literals, too long."""
    from fader.errors import FaderError, QueryError

    assert issubclass(QueryError, FaderError)
    index = build([document("d", "a b m", "m")])
    with pytest.raises((QueryError, RefusedError)):
        index.contexts(query)


def test_the_longest_queries_that_are_not_refused(build: Build) -> None:
    """64 literals and 2,000 characters are within the limits."""
    index = build([document("d", "w7 m", "m")])
    assert one(index.contexts(" ".join(f"w{number}" for number in range(64))))[5][7] == 1
    assert one(index.contexts("w7 " + "a" * 1997))[5] == (1, -1)
