"""Smallest covering windows by trying every window: what the oracles of window-based systems share."""

from __future__ import annotations

import math

from contracts.worlds import Mention, World


def literals_of(world: World, document: int) -> list[int]:
    return [t for t in range(world.literals) if world.starts(document, t)]


def fits(world: World, document: int, begin: int, end: int) -> bool:
    """Whether tokens [begin, end) hold each literal of the document whole."""
    return all(
        any(begin <= s and s + world.length_of(t) <= end for s in world.starts(document, t))
        for t in literals_of(world, document)
    )


def window(world: World, document: int, mention: Mention) -> tuple[int, int]:
    """Begin and size of the smallest window; of several the one that begins last."""
    tokens = len(world.documents[document].tokens)
    found = [
        (end - begin, -begin)
        for begin in range(mention.start + 1)
        for end in range(mention.end, tokens + 1)
        if fits(world, document, begin, end)
    ]
    size, begin = min(found)
    return -begin, size


def shares_of_idf(world: World) -> list[float]:
    idf = [math.log(1 + len(world.documents) / n) if n else 0.0 for n in world.df]
    return [i / sum(idf) for i in idf] if sum(idf) else idf
