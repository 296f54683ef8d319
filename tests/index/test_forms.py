"""Mentions at some positions, counted by entity, against a look at every mention."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.index.encoding.packed import Packed, write_packed
from fader.index.format import FileWriter
from fader.index.forms import MentionStarts
from index.stored import stored

COLUMNS = ("start", "length", "entity")
mentions = st.tuples(st.integers(0, 700), st.integers(1, 3), st.integers(0, 40))


@settings(deadline=None, max_examples=100)
@given(st.lists(mentions, max_size=300), st.lists(st.integers(0, 700), unique=True, max_size=400), st.integers(1, 3))
def test_forms_are_counted(rows: list[tuple[int, int, int]], starts: list[int], length: int) -> None:
    """Any mentions, several at one position among them, and any positions."""
    rows.sort()

    def write(writer: FileWriter) -> None:
        for place, name in enumerate(COLUMNS):
            write_packed(writer, name, np.array([row[place] for row in rows], dtype=np.int32))

    with stored(write) as container:
        found = MentionStarts(*(Packed(container, name) for name in COLUMNS), 701)
        entities, counts = found.count_forms(np.array(sorted(starts), dtype=np.int32), length)
    expected = Counter(entity for start, size, entity in rows if start in starts and size == length)
    assert list(zip(entities.tolist(), counts.tolist(), strict=True)) == sorted(expected.items())
