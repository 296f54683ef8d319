"""Texts of nothing but combining marks take linear time: what is normalised never has many of them in a row.

Counted is what normal forms are asked for, as sorting the marks of a letter takes the square of their number. Dose:
texts of 16 million characters with FADER_DOSE=1.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fader
from dose import dose
from fader.corpora.annotate.scan import Scanner
from fader.corpus.analysis import MOST_MARKS, Analysis, cut_marks, normalise
from fader.index.names import fold
from oracles import bruteforce

BELOW, ABOVE = "\N{COMBINING DOT BELOW}", "\N{COMBINING ACUTE ACCENT}"
CHARACTERS = st.sampled_from(["a", "É", "ß", " ", "\u0344", "\u0345", BELOW, ABOVE, "\u034f", "\U0001d165"])


def hostile(size: int) -> str:
    """Marks in the order that takes most sorting, behind a letter."""
    return "a" + (ABOVE + BELOW) * (size // 2)


@pytest.fixture
def longest(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The most combining marks in a row of each text whose normal form is asked for."""
    seen: list[int] = []
    real: Callable[..., str] = unicodedata.normalize

    def counted(form: str, text: str) -> str:
        run = most = 0
        for c in text:
            run = run + 1 if unicodedata.combining(c) else 0
            most = max(most, run)
        seen.append(most)
        if most > 10 * MOST_MARKS:
            pytest.fail(f"{most} marks in a row are normalised at once")
        return real(form, text)

    monkeypatch.setattr(unicodedata, "normalize", counted)
    return seen


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("ask", [normalise, fold, lambda text: Analysis().tokens(text)])
def test_no_text_is_normalised_with_many_marks_in_a_row(longest: list[int], ask: Callable[[str], Any]) -> None:
    """The plain tokeniser and the labels, for a text as long as any."""
    ask(hostile(dose(16_000_000, least=100_000)))
    assert max(longest) in range(1, MOST_MARKS + 3)


def test_an_index_of_marks_is_built_and_asked(tmp_path: Path, longest: list[int]) -> None:
    """The compiled tokeniser, the annotator and `analyze` with 400,000 marks, a name with as many as it may have."""
    text = hostile(400_000)
    fader.build(tmp_path / "index", [{"id": "a", "text": f"one {text} two"}], [{"id": "e", "name": text[:20_000]}], [])
    index = fader.open(tmp_path / "index")
    assert index.collection.tokens == 3
    assert index.analyze(text)[0][0] == normalise(text)
    Scanner().scan([text.encode()])
    assert max(longest) in range(1, MOST_MARKS + 3)


@given(st.text(CHARACTERS, max_size=200))
def test_marks_are_cut_as_the_oracle_says(text: str) -> None:
    """And a text with no more than 30 of them in a row stays as it is."""
    assert cut_marks(text) == bruteforce.cut_marks(text)
    assert normalise(text) == bruteforce.normalise(text)


def test_the_first_marks_count() -> None:
    """30 in a row, any number of times; offsets are those of the whole run."""
    word = "a" + BELOW * MOST_MARKS + "b" + BELOW * MOST_MARKS
    assert cut_marks(word) == word
    assert cut_marks(word + BELOW + "c") == word + "c"
    assert [t[1:] for t in Analysis().tokens(f"x {word + BELOW} y")] == [(0, 1), (2, 65), (66, 67)]
