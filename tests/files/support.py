"""Answers in short."""

from __future__ import annotations

from pathlib import Path

import fader


def people(folder: Path) -> Path:
    """A catalog of three."""
    path = folder / "people.csv"
    path.write_text("name,type\nGrace Hopper,admiral\nAda Lovelace,countess\nBob Ross,painter\n")
    return path


def answers(index: Path, query: str) -> list[tuple[str, float]]:
    """Names and scores."""
    return [(result.name, result.score) for result in fader.open(index).search(query).results]
