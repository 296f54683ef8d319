"""The golden cases of the two systems that are a feature map and an aggregator: count and proximity."""

from __future__ import annotations

import pytest

from contracts.worlds import Document, Mention, World
from fader.rank.ranking import rank_entities
from fader.systems.base import parse_system

WORLD = World(
    (
        Document((0, 5, 6), (Mention(1, 2, 1),)),
        Document((0, *[6] * 9, 5), (Mention(10, 11, 1),)),
        Document((7, 5), (Mention(1, 2, 1),)),
    ),
    1,
)


@pytest.mark.parametrize(("text", "value"), [("count", 2), ("proximity", 1 / 1.1 + 1 / 2)])
def test_golden(text: str, value: float) -> None:
    """Beside a mention and 10 tokens from another; a document that does not match adds nothing."""
    ranking = rank_entities(parse_system(text), WORLD.contexts(), 9)
    assert ranking.score.tolist() == pytest.approx([value])
