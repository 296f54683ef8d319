"""The smallest window that covers a mention and the literals of its context."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from contracts.worlds import Document, Mention, World, worlds
from fader.contexts.table import Contexts
from fader.systems.shared.covering import smallest_windows
from systems.windows import literals_of, window


@settings(deadline=None)
@given(worlds(least=1))
def test_windows_are_those_found_by_trying_all(world: World) -> None:
    """Begin, size, and the tokens that its literals need."""
    found = smallest_windows(world.contexts())
    for x, (document, mention) in enumerate(world.rows):
        assert (found.begin[x], found.size[x]) == window(world, document, mention)
        assert found.held[x] == sum(world.length_of(t) for t in literals_of(world, document))


def test_golden() -> None:
    """`a x M y b a`: from M to the second a."""
    world = World((Document((0, 5, 6, 7, 1, 0), (Mention(2, 3, 0),)),), 2)
    found = smallest_windows(world.contexts())
    assert (found.begin.tolist(), found.size.tolist(), found.held.tolist()) == ([2], [4], [2])


def changed(contexts: Contexts, distances: list[list[int]]) -> Contexts:
    """The table as another way of matching would give it."""
    contexts.distances = np.array(distances, dtype=np.int32)
    return contexts


def test_ignored_overlaps_are_not_covered() -> None:
    """`a [a] x a`: where the a inside the mention is ignored, the one before it is the nearest."""
    world = World((Document((5, 0, 0, 5, 0), (Mention(2, 3, 0),)),), 1)
    assert smallest_windows(world.contexts()).size.tolist() == [1]
    beside = smallest_windows(changed(world.contexts(), [[1]]))
    assert (beside.begin.tolist(), beside.size.tolist()) == ([1], [2])


@pytest.mark.parametrize("mention", [Mention(3, 4, 0), Mention(2, 4, 0)])
def test_ignored_phrases_that_reach_into_the_mention(mention: Mention) -> None:
    """A phrase that begins before the mention and ends in it overlaps it too."""
    world = World((Document((0, 5, 2, 3, 5, 5, 2, 3), (mention,)),), 3)
    assert smallest_windows(world.contexts()).size.tolist() == [4]
    assert smallest_windows(changed(world.contexts(), [[3], [-1], [3]])).size.tolist() == [8]


def test_absent_literals_are_left_out() -> None:
    """What lies beyond a window given to the matching is no literal of the context; without any there is no window."""
    world = World((Document((0, 5, 5, 6, 1), (Mention(3, 4, 0),)),), 2)
    assert smallest_windows(changed(world.contexts(), [[-1], [1]])).size.tolist() == [2]
    none = smallest_windows(changed(world.contexts(), [[-1], [-1]]))
    assert (none.size.tolist(), none.held.tolist()) == ([1], [0])
