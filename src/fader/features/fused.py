"""What a feature map adds to the score of a context, as data: terms that are computed while contexts are matched.

    score(x) = sum over terms, in order

A term reads the distances of a mention's literals, its document's counts, its entity or the mention itself, and must
give the bits that the map's own `score` gives for the same context. Distances come as codes: 0 for an absent literal,
l(t) + 1 otherwise. Knows no kernel that reads the terms.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader.contexts.statistics import Statistics

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class DistanceTable:
    """scale * sum over t of table[t, code], literals added in order; a code beyond the last place means the last.

    Where sides are `signed`, the second half of a row is for literals to the right.
    """

    table: F64
    scale: float = 1.0
    signed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Staircase:
    """The value of the cells that a staircase of corners fires: `features.cellmaps.staircase`.

    `place` maps codes to columns. Coverage has the `perplexity` of each literal, the union of rectangles its `row`.
    """

    place: I32
    columns: int
    copies: int
    cells: int
    values: F64
    shares: F64
    perplexity: F64 | None = None
    row: I32 | None = None


@dataclass(frozen=True, slots=True, eq=False)
class DocumentSum:
    """Weighted columns of NoProx; `column` has the place of each column's kind in `noprox.NAMES`."""

    column: I32
    weight: F64
    literal: F64  # (3, literals)
    squares: float  # sum of squared IDFs
    total: float  # sum of IDFs
    average: float  # length of documents


@dataclass(frozen=True, slots=True, eq=False)
class EntityColumn:
    """A value per entity; `values` makes it from the count of documents that mention each entity.

    Columns with equal keys have equal values in one collection.
    """

    key: Hashable
    values: Callable[[I32], F64]


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceColumn:
    """The mention's annotation confidence times a weight."""

    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class Addend:
    """The same value for every context."""

    value: float


Term = DistanceTable | Staircase | DocumentSum | EntityColumn | ConfidenceColumn | Addend
# The terms of a query, from its statistics and the largest distance that there can be.
TermMaker = Callable[[Statistics, int], tuple[Term, ...]]


def add_constant(value: float) -> TermMaker:
    """The maker of one addend, whatever the query."""
    terms = (Addend(value),)
    return lambda _statistics, _farthest: terms
