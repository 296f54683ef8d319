"""What a feature map adds to the score of a context, as data: terms that are computed while contexts are matched.

    score(x) = sum over terms, in order

A term reads the distances of a mention's literals, its document's counts, its entity or the mention itself, and must
give the bits that the map's own `score` gives for the same context. Distances come as codes: 0 for an absent literal,
l(t) + 1 otherwise. An `Around` term reads all occurrences of the literals in the document instead; a scoring has one of
these, or a `ConfidenceColumn`. Knows no kernel that reads the terms.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader.contexts.statistics import Statistics

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


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


@dataclass(frozen=True, slots=True, eq=False)
class Propagation:
    """ln of the query's likelihood where every occurrence reaches the mention: `systems.plm`.

    `decay` is k(l), `mass` its sums from l = 1 on, `share` mu p(t|C) of the literals that the collection has.
    """

    decay: F64
    mass: F64
    reach: int
    mu: float
    share: F64
    known: I64


@dataclass(frozen=True, slots=True, eq=False)
class Covering:
    """How densely and in which order literals stand in the smallest window around: `systems.entityengine`."""

    perplexity: F64
    order: float
    cap: float


@dataclass(frozen=True, slots=True, eq=False)
class NearShares:
    """ln of the query's likelihood near the mentions of an entity in a document, all alike: `systems.balog2`.

    `sizes` are those of windows, of weight `weight` each; `whole` is the weight of the whole document. A document of
    length n is smoothed by beta / (beta + n), with the `share` p(t|C) of the literals that the collection has.
    """

    sizes: I64
    weight: float
    whole: float
    beta: float
    share: F64
    known: I64


Around = Propagation | Covering | NearShares
Term = DistanceTable | Staircase | DocumentSum | EntityColumn | ConfidenceColumn | Addend | Around
# The terms of a query, from its statistics and the largest distance that there can be.
TermMaker = Callable[[Statistics, int], tuple[Term, ...]]


def add_constant(value: float) -> TermMaker:
    """The maker of one addend, whatever the query."""
    terms = (Addend(value),)
    return lambda _statistics, _farthest: terms
