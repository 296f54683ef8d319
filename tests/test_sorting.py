"""Sorting inside of kernels."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fader.sorting import FEW, sort_part

numbers = st.lists(st.integers(-3, 1 << 30), max_size=4 * FEW)


@given(numbers, numbers, numbers)
def test_a_part_is_sorted_and_the_rest_stays(before: list[int], part: list[int], behind: list[int]) -> None:
    """Few numbers and many, equal ones among them."""
    values = np.array(before + part + behind, dtype=np.int32)
    sort = getattr(sort_part, "py_func", sort_part)
    sort(values, len(before), len(before) + len(part))
    assert values.tolist() == before + sorted(part) + behind
