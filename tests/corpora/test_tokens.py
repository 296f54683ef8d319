"""Labels of tokens: all schemes say the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpora.parsers.text.tokens import NIL, OUTSIDE, Label, TokenText, find_labelled

# Lengths of runs: negative outside, positive a mention; with a type each.
RUNS = st.lists(st.tuples(st.sampled_from([-2, -1, 1, 2, 3]), st.sampled_from("XY")), max_size=8)


def letters(size: int, scheme: str, after_same: bool) -> str:
    if scheme == "IOB1":
        return ("B" if after_same else "I") + "I" * (size - 1)
    if scheme in ("IOBES", "BILOU") and size == 1:
        return "S" if scheme == "IOBES" else "U"
    last = {"IOBES": "E", "BILOU": "L"}.get(scheme, "I")
    return "B" + "I" * (size - 2) + last if size > 1 else "B"


@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "IOBES", "BILOU"])
@settings(deadline=None)
@given(runs=RUNS)
def test_schemes(scheme: str, runs: list[tuple[int, str]]) -> None:
    """Mentions written in a scheme are read back, adjacent ones of one type too."""
    labels: list[Label] = []
    expected, before = [], ""
    for size, kind in runs:
        if size < 0:
            labels += [OUTSIDE] * -size
            before = ""
            continue
        expected.append((len(labels), len(labels) + size, kind))
        labels += [Label(letter, kind) for letter in letters(size, scheme, before == kind)]
        before = kind
    assert [(first, end, label.kind) for first, end, label in find_labelled(labels)] == expected


def test_entities_of_labels() -> None:
    """An entity named only at the beginning holds for the mention; another one begins another."""
    labels = [Label("B", "X", "1"), Label("I", "X", NIL), Label("I", "X", "1"), Label("I", "X", "2")]
    assert [(a, b, label.entity) for a, b, label in find_labelled(labels)] == [(0, 3, "1"), (3, 4, "2")]


def test_text() -> None:
    """Blanks between tokens, line ends between sentences, nothing where a source says so."""
    text = TokenText()
    for token, blank in (("Ada", False), ("'s", True), ("day", True)):
        text.add(token, blank)
    text.end_sentence()
    text.add("So")
    assert text.text == "Ada's day\nSo"
    assert [text.text[a:b] for a, b in text.spans] == ["Ada", "'s", "day", "So"]
