"""The oracle against numbers worked out by hand: a judge has to be judged too.

The golden cases of tests/contexts run on the oracle as well; here are the pieces that no call of the engine
shows on its own.
"""

from __future__ import annotations

import math

import pytest

from oracles import bruteforce
from oracles.bruteforce import LEFT, OVERLAP, RIGHT, BruteForce, RefusedError, tokenise


def terms(text: str) -> list[str | None]:
    """The terms of a text, without offsets."""
    return [token.term for token in tokenise(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("-- !?", []),
        ("Covid-19, don't", ["covid", "19", "don", "t"]),
        ("STRASSE straße", ["strasse", "strasse"]),
        ("Cafe\u0301 CAFÉ", ["café", "café"]),
        ("𝔘𝔫𝔦🙂x", ["𝔘𝔫𝔦", "x"]),
        ("a_b", ["a", "b"]),
        ("x² Ⅷ", ["x²", "ⅷ"]),
        # U+FE0F is of category Mn, so it is a token of its own beside a heart, which is of category So.
        ("\u2764\ufe0f", ["\ufe0f"]),
        ("中文 漢", ["中文", "漢"]),
    ],
)
def test_tokens_are_maximal_runs_of_letters_marks_and_numbers(text: str, expected: list[str]) -> None:
    """A token is a maximal run of L, M, N characters, as NFC(casefold(NFC(run)))."""
    assert terms(text) == expected


def test_offsets_are_code_points_of_the_raw_text() -> None:
    """Offsets refer to the text before normalisation, and an astral character counts as one."""
    assert [(t.start, t.end) for t in tokenise("𝔘 e\u0301 ß")] == [(0, 1), (2, 4), (5, 6)]


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ((0, 1), (5, LEFT)),
        ((3, 5), (1, LEFT)),
        ((3, 6), (0, OVERLAP)),
        ((5, 6), (0, OVERLAP)),
        ((0, 99), (0, OVERLAP)),
        ((7, 8), (1, RIGHT)),
        ((9, 12), (3, RIGHT)),
    ],
)
def test_distance_to_the_mention_5_7(span: tuple[int, int], expected: tuple[int, int]) -> None:
    """Left: s - b + 1. Right: a - e + 1. Overlap: 0. Adjacent = 1."""
    assert bruteforce.distance(span, (5, 7)) == expected


def test_types_are_reached_through_every_path_of_a_diamond() -> None:
    """T matches if it is reachable from a direct type, itself included."""
    edges = {"bottom": ["left", "right"], "left": ["top"], "right": ["top"], "top": [], "other": ["top"]}
    assert bruteforce.reachable_types(["bottom"], edges) == {"bottom", "left", "right", "top"}
    assert bruteforce.reachable_types(["left"], edges) == {"left", "top"}
    assert bruteforce.reachable_types([], edges) == set()


def word(*texts: str) -> bruteforce.Literal:
    """The literal of adjacent terms."""
    return tuple(enumerate(texts))


def test_query_signs_phrases_and_repetition() -> None:
    """The same literal counts once at its first place; required and forbidden both win over optional."""
    query = bruteforce.parse('a +"b c" covid-19 -d +A "a" d', tokenise)
    assert query.literals == [word("a"), word("b", "c"), word("covid", "19")]
    assert query.required == {word("a"), word("b", "c")}
    assert query.forbidden == [word("d")]
    assert bruteforce.parse("type:T x", tokenise).type == "T"


@pytest.mark.parametrize("text", ["", " ", "-a", "a -a", "+a -a", "a --", "a +", '"a', 'a ""', "type:T"])
def test_queries_without_meaning_are_refused(text: str) -> None:
    """Empty, only forbidden, contradictory, unbalanced, or a literal without any token."""
    with pytest.raises(RefusedError):
        bruteforce.parse(text, tokenise)


def test_stop_words_hold_their_position() -> None:
    """A phrase over a stop word has a gap that any token fills, and its span covers the gap."""
    world = BruteForce([{"id": "d", "text": "state the art, state art"}], [], [], stopwords={"the", "of"})
    (literal,) = world.parse('"state of art"').literals
    assert literal == ((0, "state"), (2, "art"))
    assert bruteforce.occurrences(literal, world.documents[0], bruteforce.Matching()) == [(0, 3)]
    assert world.parse('"the art"').literals == [word("art")]


def test_both_idf_variants_and_both_policies() -> None:
    """N = 2, df(x) = 1, df(y) = 2: shares by ln 3 : ln 2, or by 2 : 1 as in the paper."""
    corpus = [
        # e at 0, x at 1 (distance 1), e at 2 (x: 1, y: 1), y at 3. From e at 0, y is at distance 3.
        {
            "id": "1",
            "text": "e x e y",
            "mentions": [{"start": 0, "end": 1, "entity": "E"}, {"start": 4, "end": 5, "entity": "E"}],
        },
        {"id": "2", "text": "y"},
    ]
    world = BruteForce(corpus, [{"id": "E", "name": "e"}], [])
    near, far = 1 / 1.1, 1 / 1.3
    log_x, log_y = math.log(3) / math.log(6), math.log(2) / math.log(6)

    assert world.rank("x y", idf="paper").scores == pytest.approx([near])
    assert world.rank("x y", idf="paper", policy="mention").scores == pytest.approx([near + 2 / 3 * near + 1 / 3 * far])
    assert world.rank("x y").scores == pytest.approx([near])
    assert world.rank("x y", policy="mention").scores == pytest.approx([near + log_x * near + log_y * far])
    assert world.rank("x y", policy="mention").support == [2]
    assert world.rank("x y", policy="mention", model="count").scores == [2.0]
    assert world.rank("x y", model="count").scores == [1.0]
    # In a window of 2 the first mention loses y; its x stays.
    assert world.rank("x y", policy="mention", window=2).scores == pytest.approx([near + log_x * near])


def test_the_first_of_equally_good_mentions_stands_for_the_document() -> None:
    """Document policy: ties go to the first mention in the text."""
    rows: list[bruteforce.Row] = [
        ("E", "d", 0, 1, 1.0, (1,), (1,)),
        ("E", "d", 2, 3, 1.0, (1,), (-1,)),
        ("E", "f", 5, 6, 1.0, (7,), (-1,)),
        ("E", "f", 9, 10, 1.0, (3,), (-1,)),
    ]
    assert bruteforce.best_per_document(rows, lambda row: -row[5][0]) == [rows[0], rows[3]]
