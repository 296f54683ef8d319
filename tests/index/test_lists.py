"""Sorted lists come back as they were stored, whole, in part, or intersected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fader.index.encoding.list_writer import encode_lists, write_lists
from fader.index.encoding.lists import Lists
from index.stored import stored

I32 = NDArray[np.int32]
LIMIT = 1 << 30
SIZES = (0, 1, 2, 127, 128, 129, 255, 256, 257, 1000)


def made(size: int, style: str, seed: int) -> I32:
    """`size` strictly increasing values below LIMIT."""
    random = np.random.default_rng(seed)
    if style == "consecutive":
        values = int(random.integers(0, LIMIT - size)) + np.arange(size)
    elif style == "dense":
        values = np.cumsum(random.integers(1, 5, size)) - 1
    elif style == "huge gap":
        gaps = np.ones(size, dtype=np.int64)
        if size:
            gaps[int(random.integers(0, size))] = LIMIT - size
        values = np.cumsum(gaps) - 1
    elif style == "mixed":
        values = np.cumsum(1 << random.integers(0, 20, size)) - 1
    else:
        values = np.sort(random.choice(LIMIT // 1024, size, replace=False)) * 1024
    assert size == 0 or (values[0] >= 0 and values[-1] < LIMIT and (np.diff(values) > 0).all())
    return values.astype(np.int32)


lists = st.builds(
    made,
    st.one_of(st.sampled_from(SIZES), st.integers(0, 300)),
    st.sampled_from(["consecutive", "dense", "huge gap", "mixed", "spread"]),
    st.integers(0, 1 << 16),
)


@contextmanager
def stored_lists(many: list[I32], extra: list[int]) -> Iterator[Lists]:
    values = np.concatenate([np.empty(0, dtype=np.int32), *many])
    at = np.array([0, *accumulate(v.size for v in many)], dtype=np.int64)
    encoded = encode_lists(values, at, np.array(extra, dtype=np.int32))
    with stored(lambda writer: write_lists(writer, "numbers", encoded)) as container:
        yield Lists(container, "numbers")


def between_sentinels(values: I32) -> list[int]:
    """The values without the sentinels, which lie below and above all of them."""
    assert values[0] < 0
    assert values[-1] > LIMIT
    return values[1:-1].tolist()


@settings(deadline=None)
@given(st.lists(st.tuples(lists, st.integers(0, LIMIT)), max_size=6))
def test_lists_come_back(given: list[tuple[I32, int]]) -> None:
    """Values, counts and the number beside each list, whatever stands before and behind it."""
    many, extra = [values for values, _extra in given], [number for _values, number in given]
    with stored_lists(many, extra) as found:
        assert len(found) == len(many)
        for i, values in enumerate(many):
            assert found.values(i).tolist() == values.tolist()
            assert between_sentinels(found.decode_bounded(i)) == values.tolist()
            count, beside = found.head(i)
            assert count == values.size
            assert beside == (extra[i] if values.size else 0)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("style", ["consecutive", "dense", "huge gap", "mixed", "spread"])
def test_every_size_in_every_style(size: int, style: str) -> None:
    """Around the borders of blocks nothing is lost: none, one, all but one, a block, one more, many."""
    values = made(size, style, 1)
    with stored_lists([made(130, "dense", 2), values, made(3, "spread", 3)], [1, 2, 3]) as found:
        assert found.values(1).tolist() == values.tolist()
        assert found.retain(1, values, 0).tolist() == values.tolist()
        assert between_sentinels(found.within(1, values, values + 1)) == values.tolist()


@st.composite
def with_ranges(draw: st.DrawFn) -> tuple[I32, I32, I32]:
    """A list and sorted, disjoint ranges, most of which begin or end at one of its values."""
    values = draw(lists)
    near = st.integers(0, LIMIT - 1)
    if values.size:
        places = st.integers(0, values.size - 1)
        near = st.one_of(st.builds(lambda i, by: max(0, int(values[i]) + by), places, st.integers(-2, 2)), near)
    points = sorted(draw(st.lists(near, max_size=12, unique=True)))
    points = points[: len(points) // 2 * 2]
    return values, np.array(points[::2], dtype=np.int32), np.array(points[1::2], dtype=np.int32)


@settings(deadline=None, max_examples=200)
@given(with_ranges())
def test_within_gives_at_least_the_values_in_the_ranges(case: tuple[I32, I32, I32]) -> None:
    """Sorted values of the list, every one that lies in a range [low, high) among them, between sentinels."""
    values, low, high = case
    with stored_lists([made(200, "dense", 5), values], [0, 0]) as lists_found:
        found = between_sentinels(lists_found.within(1, low, high))
    assert all(a < b for a, b in pairwise(found))
    assert set(found) <= set(values.tolist())
    wanted = {v for v in values.tolist() for a, b in zip(low, high, strict=True) if a <= v < b}
    assert wanted <= set(found)


@st.composite
def with_starts(draw: st.DrawFn) -> tuple[I32, I32, int]:
    """A list, sorted starts of which some are `offset` before one of its values, and that offset."""
    values = draw(lists)
    offset = draw(st.integers(0, 5))
    starts = set(draw(st.lists(st.integers(0, LIMIT - 1), max_size=5)))
    if values.size:
        taken = draw(st.lists(st.integers(0, values.size - 1), max_size=20))
        starts |= {int(values[i]) + draw(st.integers(-1, 1)) - offset for i in taken}
    return values, np.array(sorted(s for s in starts if s >= 0), dtype=np.int32), offset


@settings(deadline=None, max_examples=200)
@given(with_starts())
def test_retain_keeps_the_starts_that_the_list_continues(case: tuple[I32, I32, int]) -> None:
    """Those starts, in order, for which start + offset is in the list."""
    values, starts, offset = case
    with stored_lists([made(200, "dense", 5), values, made(9, "dense", 6)], [0, 0, 0]) as found:
        retained = found.retain(1, starts, offset).tolist()
    members = set(values.tolist())
    assert retained == [s for s in starts.tolist() if s + offset in members]


@settings(deadline=None, max_examples=50)
@given(lists, lists, st.integers(0, 3))
def test_retain_of_another_list_is_an_intersection(first: I32, second: I32, offset: int) -> None:
    """Postings of a phrase: the starts of one list that another continues."""
    with stored_lists([first, second], [0, 0]) as found:
        retained = found.retain(1, found.values(0), offset).tolist()
    assert retained == sorted(set(first.tolist()) & {v - offset for v in second.tolist()})
