"""Small tables of contexts, written as distances."""

from __future__ import annotations

import numpy as np

from contracts.tables import TableColumns


def table(distances: list[list[int]], df: list[int], sides: list[list[int]] | None = None) -> TableColumns:
    """A table with a row of `distances` a literal."""
    cells = np.array(distances, dtype=np.int32)
    place = np.arange(cells.shape[1], dtype=np.int32) % np.int32(10)
    side = np.zeros_like(cells) if sides is None else np.array(sides)
    return TableColumns(3 * place, place, place, cells, side.astype(np.int8), np.ones(place.size), df)
