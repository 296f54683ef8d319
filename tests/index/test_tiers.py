"""The merge policy: few segments, and no document written too often."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from fader.index.write.merge_policy import DELETED_SHARE, FLOOR, GROWTH, Size, choose_merges, merge_all

MUCH = 1 << 40
sizes = st.lists(
    st.tuples(st.integers(0, 1 << 24), st.floats(0, 1)).map(lambda s: Size(s[0], round(s[0] * s[1]))), max_size=12
)


def applied(segments: list[Size], groups: list[list[int]]) -> list[Size]:
    """The segments after a merge."""
    gone = {i for group in groups for i in group}
    new = [sum(segments[i].living for i in group) for group in groups]
    return [s for i, s in enumerate(segments) if i not in gone] + [Size(n, n) for n in new]


@settings(deadline=None)
@given(sizes, st.integers(1, 1 << 26))
def test_groups_are_apart_and_within_the_limit(given: list[Size], largest: int) -> None:
    """Each segment is in one group at most, and no group of several makes a segment beyond the limit."""
    for groups in (choose_merges(given, largest), merge_all(given, largest)):
        flat = [i for group in groups for i in group]
        assert len(flat) == len(set(flat))
        assert all(sum(given[i].living for i in g) <= largest for g in groups if len(g) > 1)


@settings(deadline=None)
@given(sizes)
def test_what_is_left_needs_no_merge(given: list[Size]) -> None:
    """At most two rounds; then each segment is much larger than all smaller ones, and little of any is deleted."""
    left = applied(given, choose_merges(given, MUCH))
    if choose_merges(left, MUCH):  # a segment written again alone is smaller, and may now belong to the others
        left = applied(left, choose_merges(left, MUCH))
    living = sorted(s.living for s in left)
    assert all(GROWTH * max(FLOOR, sum(living[:i])) < size for i, size in enumerate(living) if i)
    assert all(s.positions - s.living <= DELETED_SHARE * s.positions for s in left)


def test_many_small_adds_stay_few_segments_and_are_seldom_written() -> None:
    """A thousand adds of one unit to a hundred: few segments, and each unit written a few times for each of them."""
    unit, segments, written = 2 * FLOOR, [Size(100 * 2 * FLOOR, 100 * 2 * FLOOR)], 0
    for _ in range(1000):
        segments.append(Size(unit, unit))
        groups = choose_merges(segments, MUCH)
        written += sum(segments[i].living for group in groups for i in group)
        segments = applied(segments, groups)
        assert len(segments) <= math.log(1100, 1 + GROWTH) + 1
    assert written <= 1000 * unit * GROWTH * math.log(1100, 1 + GROWTH)


@settings(deadline=None)
@given(sizes)
def test_all_together_leaves_one_segment_without_deleted_documents(given: list[Size]) -> None:
    """Where the limit allows it."""
    left = applied(given, merge_all(given, MUCH))
    assert len(left) <= 1
    assert all(s.living == s.positions for s in left)
    assert merge_all(left, MUCH) == []
