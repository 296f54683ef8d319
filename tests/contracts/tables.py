"""Hypothesis strategies for the tables of `fader.testing`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from fader.testing.tables import ENTITIES, LENGTH, WORDS, TableColumns, contexts_of, document_values, sides_of

__all__ = ["ENTITIES", "LENGTH", "WORDS", "TableColumns", "contexts_of", "document_values", "sides_of", "tables"]


def picked(draw: st.DrawFn, values: Sequence[int], *shape: int) -> NDArray[np.int32]:
    """An array of drawn values; one draw of bytes, because a draw a value takes most of a test's time."""
    size = math.prod(shape)
    drawn = np.frombuffer(draw(st.binary(min_size=size, max_size=size)), dtype=np.uint8)
    return np.array(values, dtype=np.int32)[drawn % len(values)].reshape(shape)


@st.composite
def tables(draw: st.DrawFn, least: int = 0, bare: bool = False) -> TableColumns:
    """The columns of a table with `least` rows or more."""
    literals = draw(st.integers(1, len(WORDS)))
    df = picked(draw, range(1, 51), literals).tolist()
    if literals > 1 and draw(st.booleans()):
        df[0] = 0
    size = draw(st.integers(least, 25))
    place = np.sort(picked(draw, range(10), size) * np.int32(31) + picked(draw, range(31), size))
    distances = picked(draw, [-1, -1, 0, 1, 1, 2, 5, 10, 300], literals, size)
    distances[np.array(df) == 0] = -1
    if not bare and size:
        distances[-1, (distances < 0).all(axis=0)] = draw(st.integers(0, 9))
    return TableColumns(
        entity=picked(draw, range(0, 24, 3), size),
        document=place // np.int32(31),
        start=place % np.int32(31),
        distances=distances,
        sides=sides_of(distances),
        confidence=np.linspace(1, 0.5, size),
        df=df,
    )
