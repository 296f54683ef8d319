"""A snippet is short whatever the text is, and its offsets still point at the right characters.

Texts have words and gaps of hundreds or thousands of characters beside ordinary ones. The oracle knows where each word
of a text stands, because it put it there; literals are unique in their document, so that it knows which one is meant.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fader
from fader.search.answer import Snippet
from fader.search.cutting import AROUND, BEYOND, CHARACTERS, LEAST_AROUND
from oracles.strategies import Choices, choices

LITERALS = ("alpha", "beta", "g" * 700, "delta")
SIZES = [1, 3, 6, 6, 6, 60, 130, 599, 600, 601, 2000]
GAPS = [" ", " ", " ", " ", ", ", "\n", "\t", " 🙂 ", " " * 90, "-" * 130, "!" * 700, "\u202e"]
slow = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@dataclass(frozen=True)
class Text:
    """A text, where its words stand, the words that are mentioned, and where each literal is."""

    text: str
    words: list[tuple[int, int]]
    mention: tuple[int, int]
    literals: dict[str, int]


def text_of(choose: Choices) -> Text:
    """Up to forty words, some of them literals, some of them mentioned."""
    size = choose.between(1, 40)
    words = [chr(ord("h") + i % 18) * choose.of(SIZES) for i in range(size)]
    literals = dict(zip(LITERALS, choose.some(range(size), 1, 4), strict=False))
    for literal, place in literals.items():
        words[place] = choose.of([literal, literal.upper()])
    text, spans = choose.of(["", " ", "?" * 50]), []
    for word in words:
        spans.append((len(text), len(text) + len(word)))
        text += word + choose.of(GAPS)
    first = choose.below(size)
    return Text(text, spans, (first, min(size - 1, first + choose.of([0, 0, 1, 2, 30]))), literals)


drawn_texts = choices(100).map(text_of)


def flat(text: str) -> str:
    return text.translate({ord(c): " " for c in "\n\t\r"})


def indexed(texts: list[Text], folder: Path) -> fader.Index:
    corpus = [
        {"id": f"d{i}", "text": t.text, "mentions": [
            {"start": t.words[t.mention[0]][0], "end": t.words[t.mention[1]][1], "entity": "E"}]}
        for i, t in enumerate(texts)
    ]  # fmt: skip
    return fader.build(folder, corpus=corpus, entities=[{"id": "E"}], types=[])


def check(t: Text, snippet: Snippet) -> None:
    """One snippet against its text."""
    shown, whole = snippet.snippet, flat(t.text)
    surface = whole[t.words[t.mention[0]][0] : t.words[t.mention[1]][1]]
    check_highlight(shown, snippet.mention, surface, t.words[t.mention[0]])
    assert sorted(m.literal for m in snippet.matches) == sorted(t.literals)
    for match in snippet.matches:
        a, b = t.words[t.literals[match.literal]]
        check_highlight(shown, match.at, whole[a:b], (a, b))
        assert shown[slice(*match.at)].casefold() == match.literal[: match.at[1] - match.at[0]]
    # Pieces of the text, in its order, none twice; an ellipsis is in no text here.
    at = 0
    for piece in shown.split("…"):
        assert whole.find(piece.strip(" "), at) >= 0
        at = whole.find(piece.strip(" "), at) + len(piece.strip(" "))
    marks = 1 + len(t.literals)
    margin = max(LEAST_AROUND, CHARACTERS // (2 * marks))
    assert len(shown) <= marks * (CHARACTERS + 3 * margin + 2 * BEYOND + 3) + 4
    check_cuts(shown, snippet)


def check_highlight(shown: str, at: tuple[int, int], surface: str, first_word: tuple[int, int]) -> None:
    """The whole surface text, or of one that is too long the beginning: whole words, or 600 characters of the first."""
    a, b = at
    assert 0 <= a < b <= len(shown)
    assert surface.startswith(shown[a:b])
    assert "…" not in shown[a:b]
    if len(surface) <= CHARACTERS:
        assert shown[a:b] == surface
    else:
        assert b - a >= min(CHARACTERS, first_word[1] - first_word[0])


def check_cuts(shown: str, snippet: Snippet) -> None:
    """A word is cut only where the highlight that it is in is too long to be shown."""
    highlights = [snippet.mention, *(m.at for m in snippet.matches)]
    for i, character in enumerate(shown):
        if character != "…":
            continue
        assert i == 0 or shown[i - 1] == " " or any(a < i <= b and b - a >= CHARACTERS for a, b in highlights)
        assert shown[i + 1 : i + 2] in ("", " ")


@slow
@given(st.lists(drawn_texts, min_size=1, max_size=3))
def test_offsets_are_exact_and_snippets_short(texts: list[Text]) -> None:
    """Of every context of drawn texts."""
    with tempfile.TemporaryDirectory() as folder:
        index = indexed(texts, Path(folder) / "index")
        items = index.evidence(" ".join(LITERALS), "E", model="paper", limit=100).contexts.items
        assert len(items) == len(texts)
        for item in items:
            plain: Any = item
            check(texts[int(item.doc[1:])], plain)


def text_of(words: list[str], mention: tuple[int, int], literals: dict[str, int], gap: str = " ") -> Text:
    text, spans = "", []
    for word in words:
        spans.append((len(text), len(text) + len(word)))
        text += word + gap
    return Text(text, spans, mention, literals)


def one(t: Text, tmp_path: Path, query: str = "alpha") -> Snippet:
    (result,) = indexed([t], tmp_path / "index").search(query).results
    check(t, result.evidence[0])
    return result.evidence[0]


def test_a_huge_word_beside_the_mention_is_left_out(tmp_path: Path) -> None:
    """With an ellipsis in its place, between whole words."""
    snippet = one(text_of(["x" * 100_000, "Name", "alpha", "y" * 100_000, "z"], (1, 1), {"alpha": 2}), tmp_path)
    assert snippet.snippet == "… Name alpha …"


def test_a_huge_mention_is_cut(tmp_path: Path) -> None:
    """Its first 600 characters are shown, and the offsets say so; the match has a piece of its own."""
    snippet = one(text_of(["n" * 100_000, "alpha", "rest"], (0, 0), {"alpha": 1}), tmp_path)
    assert snippet.snippet == "n" * 600 + " … alpha rest "
    assert (snippet.mention, snippet.matches[0].distance) == ((0, 600), 1)


def test_a_mention_of_many_words_is_cut_between_them(tmp_path: Path) -> None:
    words = ["alpha", *["seven77"] * 200]
    snippet = one(text_of(words, (1, 200), {"alpha": 0}), tmp_path)
    assert snippet.snippet == "alpha" + " seven77" * 75 + " …"
    assert snippet.mention == (6, 6 + 8 * 75 - 1)


def test_a_literal_deep_in_a_long_mention_is_shown_by_itself(tmp_path: Path) -> None:
    """The mention's highlight ends with the piece in which it begins."""
    words = ["seven77"] * 300 + ["alpha"] + ["seven77"] * 10
    snippet = one(text_of(words, (0, 310), {"alpha": 300}), tmp_path)
    assert snippet.snippet.count("…") == 2
    assert snippet.matches[0].distance == 0
    assert snippet.mention == (0, 8 * 75 - 1)


def test_huge_gaps_are_left_out(tmp_path: Path) -> None:
    """What is between two words is not shown where it is long, though no word is left out."""
    snippet = one(text_of(["alpha", "Name", "other"], (1, 1), {"alpha": 0}, gap="!" * 5000), tmp_path)
    assert snippet.snippet == "alpha … Name …"


def test_ordinary_text_has_eight_words_on_each_side(tmp_path: Path) -> None:
    """The limit is far from what is usual."""
    words = ["left"] * 20 + ["alpha", "Name"] + ["right"] * 20
    snippet = one(text_of(words, (21, 21), {"alpha": 20}), tmp_path)
    assert snippet.snippet == "… " + "left " * AROUND + "alpha Name" + " right" * AROUND + " …"


@pytest.mark.parametrize("literals", [1, 5, 30, 64])
def test_many_far_matches_share_the_room(tmp_path: Path, literals: int) -> None:
    """All are shown, each with less around it the more there are."""
    names = [f"w{i}" for i in range(literals)]
    words = [w for name in names for w in (["fill"] * 30 + [name])] + ["Name"]
    t = text_of(words, (len(words) - 1, len(words) - 1), {name: 31 * i + 30 for i, name in enumerate(names)})
    snippet = one(t, tmp_path, " ".join(names))
    assert len(snippet.matches) == literals
    assert len(snippet.snippet) < 700 + 60 * literals
