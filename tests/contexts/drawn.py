"""Drawn collections: their index, their oracle, and how many of them are tried."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings

import fader
from oracles.bruteforce import BruteForce, RefusedError
from oracles.strategies import World

SEGMENT_TOKENS = (1, 5, 1000)


def examples(share: float = 1.0) -> Callable[[Any], Any]:
    """The settings of every property here. Building an index is slow by hypothesis' standards, and varies."""
    usual = "30" if os.environ.get("CI") else "60"
    number = max(1, int(int(os.environ.get("FADER_EXAMPLES", usual)) * share))
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    return settings(max_examples=number, deadline=None, suppress_health_check=slow, print_blob=True)


@contextmanager
def built(world: World, **options: Any) -> Iterator[Any]:
    """The engine's index of a world."""
    with tempfile.TemporaryDirectory() as folder:
        yield fader.build(
            Path(folder) / "index",
            corpus=world.corpus,
            entities=world.entities,
            types=world.types,
            **options,
        )


def oracle_of(world: World, **options: Any) -> BruteForce:
    """The oracle's view of a world."""
    return BruteForce(world.corpus, world.entities, world.types, **options)


def asked(world: World, oracle: BruteForce) -> list[tuple[str, str | None]]:
    """The (query, type) pairs of a world that the specification gives a meaning to."""
    pairs = []
    for query, answer_type in zip(world.queries, world.answer_types, strict=True):
        try:
            oracle.parse(query)
        except RefusedError:
            continue
        pairs.append((query, answer_type))
    return pairs


def summary(contexts: Any) -> dict[str, Any]:
    """All that a contexts table states, in plain values.

    Mentions may repeat with different confidences. Their order is not specified, so rows are compared sorted,
    and the order of their keys apart.
    """
    rows = [
        (str(entity), str(doc), int(start), int(end), float(confidence), tuple(distances), tuple(sides))
        for entity, doc, start, end, confidence, distances, sides in contexts.rows()
    ]
    return {
        "keys": [row[:4] for row in rows],
        "rows": sorted(rows),
        "matched_documents": int(contexts.matched_documents),
        "df": [int(value) for value in contexts.df],
        "cf": [int(value) for value in contexts.cf],
        "documents": int(contexts.statistics.documents),
    }
