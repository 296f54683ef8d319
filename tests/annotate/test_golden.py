"""Cases worked out by hand: rules, overlaps, choices, confidences."""

from __future__ import annotations

from typing import Any

import pytest

from fader.corpora.annotate import Annotator
from fader.corpora.annotate.annotator import Mention, english_words
from fader.errors import UsageError

CATALOG: list[dict[str, Any]] = [
    {"id": "curie", "name": "Marie Curie", "types": ["physicist"], "aliases": ["Curie", "M. Curie"]},
    {"id": "warsaw", "name": "Warsaw", "types": ["city"]},
    {"id": "warsaw_in", "name": "Warsaw (Indiana)", "types": ["town"]},
    {"id": "dc", "name": "Washington, D.C."},
    {"id": "washington", "name": "Washington"},
    {"id": "us", "name": "US"},
    {"id": "nasa", "name": "NASA"},
    {"id": "time", "name": "Time"},
    {"id": "new_york", "name": "New York"},
    {"id": "times", "name": "New York Times"},
    {"id": "york", "name": "York"},
    {"id": "times_square", "name": "Times Square"},
]


def annotator(**options: Any) -> Annotator:
    return Annotator.from_files(CATALOG, **options)


def spans(text: str, **options: Any) -> list[tuple[str, str]]:
    return [(text[m.start : m.end], m.entity) for m in annotator(**options).annotate(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Marie Curie, born in Warsaw.", [("Marie Curie", "curie"), ("Warsaw", "warsaw")]),
        ("MARIE CURIE and marie curie", [("MARIE CURIE", "curie"), ("marie curie", "curie")]),
        ("Marie-Curie; Marie\nCurie", [("Marie-Curie", "curie"), ("Marie\nCurie", "curie")]),
        ("Marie. Curie", [("Curie", "curie")]),
        ("Marie\n\nCurie", [("Curie", "curie")]),
        ("Curies Mariecurie", []),
        ("Give us the US.", [("US", "us")]),
        ("nasa, Nasa, NASA", [("NASA", "nasa")]),
        ("time flies in Time", [("Time", "time")]),
        ("Washington, D.C.", [("Washington, D.C", "dc")]),
        ("Washington D.C. then Washington, Dallas", [("Washington D.C", "dc"), ("Washington", "washington")]),
        ("Washington; D.C.", [("Washington", "washington")]),
        ("", []),
        ("... !?", []),
    ],
)
def test_rules(text: str, expected: list[tuple[str, str]]) -> None:
    assert spans(text) == expected


def test_overlaps() -> None:
    """Of names that overlap: the longest from the left; those that do not cross; all."""
    text = "New York Times Square"
    times = ("New York Times", "times")
    inner = [("New York", "new_york"), ("York", "york")]
    assert spans(text) == [times]
    assert spans(text, overlaps="nested") == [times, *inner]
    assert spans(text, overlaps="all") == [times, *inner, ("Times Square", "times_square")]


def test_characters_count_code_points() -> None:
    text = "\U0001d11e Émile 東京 Marie Curie"
    assert [(m.start, m.end) for m in annotator().annotate(text)] == [(11, 22)]


def test_combining_marks_match_composed_ones() -> None:
    names = [{"id": "z", "name": "Zoë Åkesson"}]
    found = Annotator.from_files(names).annotate("Zoe\u0308 A\u030akesson")
    assert [(m.start, m.end) for m in found] == [(0, 13)]


def test_context_words_choose() -> None:
    """Without context the entity whose name it is; with the other's word in the text, the other."""
    assert annotator().annotate("Warsaw")[0].entity == "warsaw"
    found = annotator().annotate("Warsaw is in Indiana")[0]
    assert found.entity == "warsaw_in"
    assert annotator().annotate("Warsaw" + " x" * 51 + " Indiana")[0].entity == "warsaw"


def test_confidences() -> None:
    """Kind of name; common words at a sentence's start half as sure; a missing capital three quarters."""
    values = {
        text: annotator().annotate(text)[0].confidence for text in ("Marie Curie", "marie curie", "the Time", "Time")
    }
    assert values == {"Marie Curie": 0.9, "marie curie": 0.675, "the Time": 0.4, "Time": 0.2}
    # Of two candidates with priors 2/3 and 1/3, no context words:
    assert annotator().annotate("Warsaw")[0].confidence == pytest.approx(0.8 * 2 / 3, abs=5e-4)


CAPITALS = [
    {"id": "band", "name": "The Who"},
    {"id": "health", "name": "World Health Organization", "aliases": ["WHO"]},
    {"id": "time", "name": "Time (magazine)", "aliases": ["TIME"]},
    {"id": "series", "name": "House (TV series)"},
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The WHO said", [("WHO", "health", 0.6)]),
        ("The Who said", [("The Who", "band", 0.35)]),
        ("SEE THE WHO", [("THE WHO", "band", 0.7)]),
        ("TIME magazine", [("TIME", "time", 0.8)]),
        ("Time said", [("Time", "time", 0.2)]),
        ("in a house, in House", [("House", "series", 0.4)]),
    ],
)
def test_capitals(text: str, expected: list[tuple[str, str, float]]) -> None:
    """All capitals beside small letters are no common words; a name all in capitals is none either."""
    found = Annotator.from_files(CAPITALS).annotate(text)
    assert [(text[m.start : m.end], m.entity, m.confidence) for m in found] == expected


def test_the_plainest_words_are_common() -> None:
    plain = {"house", "school", "river", "island", "court", "army", "society", "west", "march", "only", "time"}
    assert plain <= set(english_words())


def test_least_confidence_leaves_out_and_changes_nothing_else() -> None:
    text = "Time was in Warsaw with Marie Curie"
    every = annotator().annotate(text)
    assert annotator(min_confidence=0.5).annotate(text) == [m for m in every if m.confidence >= 0.5]


def test_lower_case_catalogs_say_nothing_of_case() -> None:
    """Where a quarter of the names have no capital, such names match in any case, short ones too."""
    names = [{"id": "p53", "name": "p53"}, {"id": "il", "name": "il-2"}, {"id": "x", "name": "Xanax"}]
    found = Annotator.from_files(names).annotate("P53, IL-2, xanax")
    assert [m.entity for m in found] == ["p53", "il", "x"]


def test_no_common_words() -> None:
    assert spans("time flies", common_words=()) == [("time", "time")]


def test_a_mention_is_a_plain_tuple() -> None:
    assert annotator().annotate("York") == [Mention(0, 4, "york", 0.8)]


@pytest.mark.parametrize("options", [{"overlaps": "some"}, {"min_confidence": 1.5}])
def test_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        annotator(**options)
