"""Offsets in any unit, checked by the words of mentions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpora.parsers.text.spans import ELSEWHERE, UNITS, Linked, make_mentions, place_mentions
from fader.corpus.documents import Faults

WORDS = st.lists(st.text("abé𝒳ß-", min_size=1, max_size=6), min_size=2, max_size=12)


def offset(text: str, i: int, unit: str) -> int:
    if unit == "bytes":
        return len(text[:i].encode())
    return len(text[:i].encode("utf-16-le")) // 2 if unit == "UTF-16 units" else i


@settings(deadline=None)
@given(WORDS, st.sampled_from(UNITS))
def test_any_unit(words: list[str], unit: str) -> None:
    """Whatever unit the offsets of all words count in, each is found with its own words."""
    text, spans = " ".join(words), []
    at = 0
    for word in words:
        spans.append((at, at + len(word)))
        at += len(word) + 1
    given_ = [(offset(text, a, unit), offset(text, b, unit), text[a:b]) for a, b in spans]
    found = place_mentions(text, given_)
    assert all(span is not None and text[span[0] : span[1]] == w for span, w in zip(found.spans, words, strict=True))
    if unit == UNITS[0]:
        assert found.spans == spans
        assert (found.unit, found.moved) == (unit, 0)


@pytest.mark.parametrize(
    ("start", "words", "expected"),
    [(4, "Bayes", (6, 11)), (6, "Bayes", (6, 11)), (6, "Bates", None), (900, "Bayes", None), (-9, "naïve", (0, 5))],
)
def test_shifted(start: int, words: str, expected: tuple[int, int] | None) -> None:
    """A mention that is a little off is moved to its words; one whose words are not near has no place."""
    assert place_mentions("naïve Bayes", [(start, start + len(words), words)]).spans == [expected]


def test_white_space_and_no_words() -> None:
    """White space counts as equal to any other; offsets without words are believed, if they are in the text."""
    assert place_mentions("a\nb c", [(0, 3, "a b"), (4, 5, ""), (4, 9, ""), (3, 3, "")]).spans == [
        (0, 3),
        (4, 5),
        None,
        None,
    ]


def test_faults_and_counts() -> None:
    """What has no place is a fault that says what is there instead; every entity of a mention gets its own."""
    faults, counts = Faults(), dict[str, int]()
    given_ = [(0, 3, "Ada"), (4, 8, "Oak")]
    linked = [Linked(given_[0], ["a", "b"], "f:0", confidence=1), Linked(given_[1], ["c"], "f:1")]
    found, kept = make_mentions("Ada sang", linked, faults, counts)
    assert kept == {"a", "b"}
    assert [(m["entity"], m["confidence"]) for m in found] == [("a", 1), ("b", 1)]
    assert faults.examples[ELSEWHERE] == ['f:1: "Oak" is not at 4-8, where "sang" is']
