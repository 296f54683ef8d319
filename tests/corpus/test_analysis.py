"""Text to terms: maximal runs of letters, marks and numbers, normalised, stemmed and stopped."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fader.corpus.analysis import Analysis, normalise, read_stopwords, spans
from fader.errors import UsageError
from oracles import bruteforce
from oracles.strategies import texts

anything = st.one_of(texts, st.text(st.characters(max_codepoint=127), max_size=30))


def is_token_character(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"


@given(anything)
def test_spans_are_the_maximal_runs(text: str) -> None:
    """Inside a span all characters are of L, M or N, outside none is, and no two spans touch."""
    inside = [False] * len(text)
    before = -1
    for start, end in spans(text):
        assert before < start < end
        inside[start:end] = [True] * (end - start)
        before = end
    assert inside == [is_token_character(c) for c in text]


@given(anything)
def test_a_term_is_nfc_casefold_nfc(text: str) -> None:
    """Composed and decomposed spellings are one term."""
    assert normalise(text) == bruteforce.normalise(text)
    for form in ("NFC", "NFD"):
        assert normalise(unicodedata.normalize(form, text)) == normalise(text)


@pytest.mark.parametrize("spellings", ["STRASSE straße Straße", "É é E\u0301 e\u0301", "ΟΔΟΣ οδος οδοσ", "Ⅷ ⅷ", "𐐀 𐐨"])
def test_spellings_of_one_term(spellings: str) -> None:
    """Upper and lower case, sharp s, accents, final sigma, beyond the basic plane."""
    assert len({token.term for token in Analysis().tokens(spellings)}) == 1


@given(anything)
def test_tokens_are_the_oracles(text: str) -> None:
    """Terms and character offsets as in the specification, plain and with stop words."""
    for stopwords in ((), ("A", "É", "strasse")):
        expected = bruteforce.tokenise(text, stopwords={bruteforce.normalise(w) for w in stopwords})
        found = Analysis(stopwords=stopwords).tokens(text)
        assert [tuple(t) for t in found] == [(t.term, t.start, t.end) for t in expected]


def test_stop_words_keep_their_place() -> None:
    """A stop word has no term, whatever its case, but its token is there."""
    tokens = Analysis(stopwords=("The", "of")).tokens("THE origin of the")
    assert [t.term for t in tokens] == [None, "origin", None, None]


def test_stop_words_are_recognised_before_stemming() -> None:
    """Stopping `having` does not stop `have`, though both have one stem."""
    analysis = Analysis("english", ("having",))
    assert [t.term for t in analysis.tokens("having have Vaccines")] == [None, "have", "vaccin"]


def test_an_unknown_stemmer_is_wrong_usage() -> None:
    """The message names the value, and the nearest known one or, where none is near, all known ones."""
    with pytest.raises(UsageError, match='unknown stemmer "englsh"; did you mean "english"'):
        Analysis("englsh")
    with pytest.raises(UsageError, match=r'unknown stemmer "klingon"; known: .*german'):
        Analysis("klingon")


def test_an_analysis_survives_being_written() -> None:
    """What the index records makes the same analysis again."""
    analysis = Analysis("english", ("The", "É"))
    assert Analysis.from_dict(analysis.to_dict()) == analysis


def test_stop_word_files_have_comments() -> None:
    """One word a line; `#` opens a comment; spellings of one word are one."""
    assert read_stopwords(["the # article", "# nothing", "", " The ", "É", "E\u0301"]) == ("the", "é")
