"""Breaking cycles: what stays has none, what is removed was on one, and only the set of edges counts."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpora.frame.hierarchy import Edge, break_cycles

EDGES = st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), max_size=25)


def sorter(edges: list[Edge]) -> TopologicalSorter[str]:
    graph: TopologicalSorter[str] = TopologicalSorter()
    for below, above in edges:
        graph.add(below, above)
    return graph


@settings(deadline=None, max_examples=200)
@given(EDGES, st.randoms(use_true_random=False))
def test_break_cycles(edges: list[Edge], random: object) -> None:
    """No cycle is left; every removed edge would close one; the order of the edges does not matter."""
    kept, removed = break_cycles(edges)
    sorter(kept).prepare()
    assert sorted([*kept, *removed]) == sorted(set(edges))
    for edge in removed:
        if edge[0] != edge[1]:
            with pytest.raises(CycleError):
                sorter([*kept, edge]).prepare()
    random.shuffle(edges)  # type: ignore[attr-defined]
    assert break_cycles(edges) == (kept, removed)


def test_golden() -> None:
    """The walk starts from the smallest id."""
    assert break_cycles([("a", "b"), ("b", "a"), ("c", "a")]) == ([("a", "b"), ("c", "a")], [("b", "a")])
    assert break_cycles([("x", "x")]) == ([], [("x", "x")])
    assert break_cycles([]) == ([], [])


def test_long_cycle() -> None:
    """A cycle of a hundred thousand types does not exhaust the stack."""
    n = 100_000
    kept, removed = break_cycles([(str(i), str((i + 1) % n)) for i in range(n)])
    assert len(removed) == 1
    assert len(kept) == n - 1
