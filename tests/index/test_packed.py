"""Columns of integers come back, whole or row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fader.index.encoding.packed import Packed, write_packed
from index.stored import stored

I32 = NDArray[np.int32]


def column(size: int, low: int, width: int, seed: int) -> I32:
    high = min(low + (1 << width), 1 << 31)
    return np.random.default_rng(seed).integers(low, high, size).astype(np.int32)


columns = st.builds(
    column,
    st.one_of(st.sampled_from([0, 1, 127, 128, 129, 256, 1000]), st.integers(0, 300)),
    st.sampled_from([0, 1, 77, 1 << 30, -1, -(1 << 31)]),
    st.integers(0, 32),
    st.integers(0, 1 << 16),
)


@settings(deadline=None, max_examples=200)
@given(columns, st.data())
def test_columns_come_back(values: I32, data: st.DataObject) -> None:
    """All rows, or any rows in any order, of columns of any width."""
    row = st.integers(0, max(0, values.size - 1))
    rows = np.array(data.draw(st.lists(row, max_size=9 if values.size else 0)), dtype=np.int32)
    with stored(lambda writer: write_packed(writer, "column", values)) as container:
        packed = Packed(container, "column")
        assert packed.rows == values.size
        assert packed.all().tolist() == values.tolist()
        assert packed.gather(rows).tolist() == values[rows].tolist()


@pytest.mark.parametrize("ends", [(0, 0), (0, 1), (0, (1 << 31) - 1), (-(1 << 31), (1 << 31) - 1)])
def test_both_ends_of_a_range_fit(ends: tuple[int, int]) -> None:
    """The smallest and the largest integer of a block, side by side."""
    values = np.array(ends * 70, dtype=np.int32)
    with stored(lambda writer: write_packed(writer, "column", values)) as container:
        assert Packed(container, "column").all().tolist() == values.tolist()


def test_two_columns_share_a_file() -> None:
    """Each is found by its name."""
    with stored(lambda w: [write_packed(w, n, np.arange(i, 200, dtype=np.int32)) for i, n in enumerate("ab")]) as c:
        assert Packed(c, "a").all().tolist() == list(range(200))
        assert Packed(c, "b").all().tolist() == list(range(1, 200))
