"""Answers in short."""

from __future__ import annotations

from pathlib import Path

import fader


def answers(index: Path, query: str) -> list[tuple[str, float]]:
    """Names and scores."""
    return [(result.name, result.score) for result in fader.open(index).search(query).results]
