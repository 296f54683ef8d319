"""Segments to groups: every segment once, neighbours together, and no group much heavier than it must be."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.cluster.shards.groups import documents_in, plan
from fader.errors import UsageError
from fader.index.format import FileEntry
from fader.index.manifest import PartEntries, SegmentEntry


def manifest(tokens: list[int]) -> Any:
    file = FileEntry(1, "0" * 16)
    files = PartEntries(file, file, file, file)
    segments = (
        SegmentEntry(documents=1 + n // 10, files=files, mentions=0, name=f"00000001-{i}", terms=0, tokens=n)
        for i, n in enumerate(tokens)
    )
    return SimpleNamespace(segments=tuple(segments))


@settings(deadline=None)
@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=40), st.integers(1, 50))
def test_a_plan_covers_every_segment_once(tokens: list[int], groups: int) -> None:
    """In the order of the manifest, no group empty, as many groups as were asked for if there are segments enough."""
    found = plan(manifest(tokens), groups)
    assert [s for group in found for s in group] == list(range(len(tokens)))
    assert len(found) == min(groups, len(tokens))
    assert all(found)


@settings(deadline=None)
@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=40), st.integers(1, 8))
def test_a_plan_is_balanced(tokens: list[int], groups: int) -> None:
    """No group has more than a fair share and its largest segment."""
    found = plan(manifest(tokens), groups)
    fair = sum(n + 1 for n in tokens) / len(found)
    assert all(sum(tokens[s] + 1 for s in group) <= fair + max(tokens) + 1 for group in found)


def test_golden() -> None:
    """Even ones evenly; a heavy one by itself."""
    assert plan(manifest([5] * 6), 3) == [[0, 1], [2, 3], [4, 5]]
    assert plan(manifest([1, 1, 100, 1, 1]), 3) == [[0, 1], [2], [3, 4]]
    assert plan(manifest([7]), 8) == [[0]]
    assert documents_in(manifest([10, 20]), [1]) == 3
    with pytest.raises(UsageError, match="one shard group at least"):
        plan(manifest([1]), 0)
