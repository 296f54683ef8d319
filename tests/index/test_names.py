"""Labels are folded, cut into words, stored and found as a plain reading of the definition says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.errors import DamagedError
from fader.index import names
from fader.index.format import Container
from fader.index.names import InMemory, Labels, StoredNames, fold, words_of, write_names
from fader.index.verify.catalog import _check_names
from index.damage import Sealed
from index.plain_names import HOSTILE, plain_fold, plain_words
from index.stored import stored

label = st.text(max_size=8) | st.text("aAbé ßİ-\u0301", max_size=6) | st.sampled_from(HOSTILE)
things = st.lists(st.lists(label, min_size=1, max_size=4), max_size=12)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Albert  Einstein ", "albert einstein"),
        ("Café", "cafe"),
        ("Cafe\u0301", "cafe"),
        ("İSTANBUL", "istanbul"),
        ("ıssız", "issiz"),
        ("Straße", "strasse"),
        ("Łódź", "lodz"),
        ("Ångström", "angstrom"),
        ("Ærø", "aero"),
        ("ﬁn", "fin"),
        ("ＡＢＣ　１２", "abc 12"),
        ("שָׁלוֹם", "שלום"),
        ("दिल्ली", "दिलली"),
        ("ΑΘΉΝΑ", "αθηνα"),
        ("a\tb\u00a0c\n", "a b c"),
        ("C++", "c++"),
        ("\u0301", ""),
    ],
)
def test_folding(text: str, folded: str) -> None:
    """Case, accents, width and ligatures do not matter; other signs do, and vowel signs of Indian scripts."""
    assert fold(text) == folded


def test_a_syllable_begins_with_its_letters() -> None:
    """Hangul is taken apart, so that a syllable is found while it is being typed."""
    assert fold("각").startswith(fold("가"))
    assert fold("가").startswith(fold("ㄱ"))


@settings(deadline=None)
@given(label)
def test_folding_is_as_defined(text: str) -> None:
    """And folding again changes nothing; words are runs of letters, marks and numbers."""
    folded = fold(text)
    assert folded == plain_fold(text)
    assert fold(folded) == folded
    assert words_of(folded) == plain_words(folded)


def rows_of(given: Sequence[Sequence[str]]) -> list[tuple[str, int]]:
    return sorted({(plain_fold(text), i) for i, each in enumerate(given) for text in each})


@settings(deadline=None)
@given(things, st.lists(label, max_size=4))
def test_labels_and_words_are_found(given: list[list[str]], asked: list[str]) -> None:
    """Rows are the distinct pairs of folded label and thing, in order; a name's row is its own."""
    rows = rows_of(given)
    found = StoredNames.of(given)
    assert list(zip(found.labels, found.owner.tolist(), strict=True)) == rows
    assert [rows[r] for r in found.name_row] == [(plain_fold(each[0]), i) for i, each in enumerate(given)]
    assert list(found.words) == sorted({word for text, _i in rows for word in plain_words(text)})
    for text in {*asked, *(each[0] for each in given)}:
        key = plain_fold(text)
        assert list(range(*found.equal(key))) == [r for r, (x, _i) in enumerate(rows) if x == key]
        assert list(range(*found.beginning(key))) == [r for r, (x, _i) in enumerate(rows) if x.startswith(key)]
        having = [(r, w) for r, (x, _i) in enumerate(rows) for w in set(plain_words(x)) if w.startswith(key)]
        assert sorted(found.with_word(key).tolist()) == sorted(r for r, _word in having)


@settings(deadline=None)
@given(things)
def test_names_are_stored_as_they_are_made_in_memory(given: list[list[str]]) -> None:
    """The same arrays, which pass their checks."""
    memory = InMemory()
    write_names(memory, "x", Labels.of(given))
    with stored(lambda writer: write_names(writer, "x", Labels.of(given))) as container:
        for name in ("x_folded", "x_folded_of", "x_folded_name", "x_word", "x_rows_at", "x_rows"):
            np.testing.assert_array_equal(container[name], memory[name])
            assert container[name].dtype == memory[name].dtype
        assert container.meta == memory.meta
        _check_names(container, "x", len(given))


def test_pieces_in_which_labels_are_cut_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece is a label at least, however long that is."""
    given = [[f"thing number {i}", "the " * (i % 40)] for i in range(200)]
    whole = StoredNames.of(given)
    monkeypatch.setattr(names, "BATCH", 50)
    pieces = StoredNames.of(given)
    assert list(pieces.words) == list(whole.words)
    for word in ("", "t", "number", "1", "17"):
        assert pieces.with_word(word).tolist() == whole.with_word(word).tolist()


def test_the_order_of_popularity() -> None:
    """Most popular first, then by folded name, then by number."""
    found = StoredNames.of([["b"], ["A"], ["a"], ["z", "a"], ["É"]])
    assert found.by_popularity(np.array([1, 1, 1, 7, 1])).tolist() == [3, 1, 2, 0, 4]
    assert StoredNames.of([]).by_popularity(np.zeros(0, dtype=np.int32)).tolist() == []


@settings(deadline=None)
@given(things, st.integers(0, 10), st.integers(0, 10_000), st.integers(1, 255))
def test_changed_names_are_refused_or_read(given: list[list[str]], which: int, byte: int, bits: int) -> None:
    """Whatever passes has rows, things and words inside of their bounds."""
    with stored(lambda writer: write_names(writer, "x", Labels.of(given))) as whole:
        sealed = Sealed(whole.path)
        full = sorted(name for name, values in sealed.arrays.items() if values.size)
        raw = sealed.arrays[full[which % len(full)]].view(np.uint8)
        raw[byte % raw.size] ^= bits
        sealed.seal(manifests=False)
        container = Container(whole.path, "test")
        try:
            _check_names(container, "x", len(given))
        except DamagedError:
            return
        found = StoredNames(container, "x", len(given))
        assert sorted(set(found.owner.tolist())) == list(range(len(given)))
        assert found.owner[found.name_row].tolist() == list(range(len(given)))
        for word in found.words:
            a, b = found.words.equal(word)
            assert b == a + 1
            assert set(found.with_word(word).tolist()) <= set(range(len(found.labels)))
        assert sorted(found.by_popularity(np.zeros(len(given), dtype=np.int32)).tolist()) == list(range(len(given)))
