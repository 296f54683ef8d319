"""Sorting, folding and numbering of many strings at once: what plain Python does with them one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fader.corpus.strings import (
    KEY_BYTES,
    KEY_ROUNDS,
    find_foreign,
    join_strings,
    lower_strings,
    sort_distinct,
    sort_strings,
)
from fader.corpus.tokenise import NameNumbers

# Beginnings that take several rounds to tell apart, ends with zeros, and strings that come again.
beginnings = st.sampled_from(
    ["", "a", "ab" * 3, "x" * KEY_BYTES, "y" * (2 * KEY_BYTES), "é" * 30, "z" * (KEY_BYTES * KEY_ROUNDS)]
)
strings = st.lists(
    st.builds(
        lambda a, b: a + b, beginnings, st.one_of(st.text(max_size=4), st.sampled_from(["\0", "\0\0", "b", "ba"]))
    ),
    max_size=30,
)
many_blanks = st.text(st.sampled_from("aB \t\n\x0b\x0c\r\x1c\x1f\x85\xa0éÉİßꭰ1"), max_size=12)


@settings(deadline=None)
@given(strings)
@example(["z" * 200 + "b", "z" * 200 + "a", "z" * 200 + "b", "z" * 200])
def test_strings_are_sorted_as_python_sorts_them(given: list[str]) -> None:
    """By code points; equal ones stay in order."""
    data, at = join_strings(given)
    assert sort_strings(data, at[:-1], at[1:]).tolist() == sorted(range(len(given)), key=given.__getitem__)


@settings(deadline=None)
@given(strings, st.data())
def test_distinct_strings_are_numbered(given: list[str], data: st.DataObject) -> None:
    """Among those that are kept; the others have no number."""
    kept = data.draw(st.lists(st.booleans(), min_size=len(given), max_size=len(given)))
    *joined, place = sort_distinct(*join_strings(given), np.array(kept, dtype=bool))
    expected = sorted({text for text, is_kept in zip(given, kept, strict=True) if is_kept})
    ends = joined[1].tolist()
    assert [joined[0][a:b].tobytes().decode() for a, b in pairwise(ends)] == expected
    assert place.tolist() == [expected.index(t) if k else -1 for t, k in zip(given, kept, strict=True)]


@settings(deadline=None)
@given(st.lists(many_blanks, max_size=8))
def test_strings_in_lower_case(given: list[str]) -> None:
    """ASCII by the kernel, the rest by the function that is given."""
    joined = join_strings(given)
    for squeeze in (False, True):
        data, at = lower_strings(*joined, str.casefold, squeeze)
        found = [data[a:b].tobytes().decode() for a, b in pairwise(at.tolist())]
        ascii_made = [" ".join(t.lower().split()) if squeeze else t.lower() for t in given]
        assert found == [a if t.isascii() else t.casefold() for t, a in zip(given, ascii_made, strict=True)]
    assert find_foreign(*joined).tolist() == [i for i, text in enumerate(given) if not text.isascii()]


@settings(deadline=None)
@given(st.lists(st.text(min_size=1, max_size=20), unique=True, max_size=20), st.lists(st.text(max_size=3), max_size=20))
def test_names_are_found_by_their_bytes(names: list[str], others: list[str]) -> None:
    """Again and again, whatever else was asked for."""
    numbers = NameNumbers(*join_strings(names))
    asked = [*others, *names, *others]
    for _ in range(2):
        assert numbers.find(*join_strings(asked)).tolist() == [names.index(t) if t in names else -1 for t in asked]
