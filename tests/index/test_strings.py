"""Stored strings come back, and sorted ones are found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.index.encoding.strings import SortedStrings, Strings, prefix_range, write_sorted, write_strings
from index.stored import stored

words = st.one_of(
    st.text(max_size=12),
    st.text("ab", max_size=6),
    st.sampled_from(["", "é", "e\u0301", "\uffff", "\U00010000", "𝔘", "\0", "a\0", "ab" * 200]),
)


@settings(deadline=None)
@given(st.lists(words, max_size=40))
def test_strings_come_back_in_their_order(given: list[str]) -> None:
    """Any Unicode, empty strings and repetitions included, one at a time or all."""
    with stored(lambda writer: write_strings(writer, "names", given)) as container:
        strings = Strings(container, "names")
        assert len(strings) == len(given)
        assert list(strings) == given
        assert [strings[i] for i in range(len(given))] == given
        numbers = np.arange(len(given))[::-2].astype(np.int64)
        assert strings.take(numbers) == given[::-2]


@settings(deadline=None)
@given(st.sets(words, max_size=60), st.lists(words, max_size=10))
def test_sorted_strings_are_found(given: set[str], others: list[str]) -> None:
    """They come back in order, and each is found at its place.

    Prefixes, extensions and others are found only where they are there themselves.
    """
    known = sorted(given)
    asked = {*others, *known, "\ud800", *(s[:-1] for s in known), *(s + "a" for s in known), *(s + "\0" for s in known)}
    with stored(lambda writer: write_sorted(writer, "names", known)) as container:
        strings = SortedStrings(container, "names")
        assert len(strings) == len(known)
        assert list(strings) == [strings[i] for i in range(len(known))] == known
        assert strings.take([*range(len(known))[::-3], *range(len(known))]) == [*known[::-3], *known]
        for outside in (-1, len(known)):
            with pytest.raises(IndexError):
                strings.take([outside])
        for wanted in asked:
            assert strings.find(wanted) == (known.index(wanted) if wanted in given else -1)


@settings(deadline=None)
@given(st.lists(words, max_size=60), st.lists(words, max_size=10))
def test_equal_strings_and_those_that_begin_alike_are_ranges(given: list[str], others: list[str]) -> None:
    """Also where strings are repeated, within a block and beyond it."""
    known = sorted(given)
    asked = {*others, *known, "", "\ud800", *(s[:-1] for s in known), *(s + "a" for s in known)}
    with stored(lambda writer: write_sorted(writer, "names", known)) as container:
        strings = SortedStrings(container, "names")
        for wanted in asked:
            assert list(range(*strings.equal(wanted))) == [i for i, s in enumerate(known) if s == wanted]
            assert list(range(*strings.beginning(wanted))) == [i for i, s in enumerate(known) if s.startswith(wanted)]


def test_many_strings_are_found() -> None:
    """Also beyond the borders of whatever blocks they are stored in."""
    known = sorted(f"{i * 7919 % 10007}" for i in range(3000))
    with stored(lambda writer: write_sorted(writer, "names", known)) as container:
        strings = SortedStrings(container, "names")
        assert list(strings) == known
        assert [strings.find(s) for s in known] == list(range(3000))
        assert strings.find("x") == strings.find("") == strings.find(known[1500] + "0000") == -1


def test_bytes_and_strings_are_stored_alike() -> None:
    """A string is its UTF-8."""
    given = ["a", "é".encode()]
    with stored(
        lambda writer: [write_strings(writer, "plain", given), write_sorted(writer, "sorted", given)]
    ) as container:
        assert list(Strings(container, "plain")) == list(SortedStrings(container, "sorted")) == ["a", "é"]


below_the_last = st.text(st.one_of(st.sampled_from("ab\0\uffff"), st.characters(max_codepoint=0x10FFFE)), max_size=4)


@given(st.sets(below_the_last, max_size=20), below_the_last)
def test_prefix_ranges_hold_the_keys_that_start_so(keys: set[str], prefix: str) -> None:
    """The rows [a, b) are exactly those that begin with the prefix."""
    known = sorted(keys)
    a, b = prefix_range(len(known), known.__getitem__, prefix)
    assert known[a:b] == [k for k in known if k.startswith(prefix)]


def test_the_last_code_point_is_a_character_like_others() -> None:
    """A key that goes on with U+10FFFF starts with its prefix too."""
    known = ["a", "a\U0010ffff", "b"]
    assert prefix_range(3, known.__getitem__, "a") == (0, 2)
