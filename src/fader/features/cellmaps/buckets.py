"""The axes of perplexity and proximity: which cell (i, j) a matched literal falls into.

    column j: of the distance edges 0 = d_0 < d_1 < ... the first one >= l(t); columns ascend with nearness, so that
              j = 0 is beyond all edges and j = C-1 is overlap, l(t) = 0
    row i:    the last of the share edges 0 = s_0 < s_1 < ... with IDF(t)/IDF(q) >= s_i, to a tolerance of 1e-9
    code:     i*C + j; with signed distances, the cells of the right side follow those of the left

Golden case: with distances 0, 1, 3 and shares 0, 0.3, a literal of share 0.1 + 0.2 at distance 2 is in cell (1, 1) of
2 x 4 cells. A shape RxC alone has shares i/R, and for distances 0 and a geometric ladder of whole numbers from 1 to
200, or beyond it where there are more columns than such numbers. Knows no Contexts table and no weights.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.errors import UsageError, quote

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]

TOLERANCE = 1e-9
FARTHEST = 200
LONGEST = 100_000  # tokens; look-up tables have an entry for every distance up to the last edge
SHARE_STEP = 1e-5  # the least step between shares, so that six digits tell them apart
MAX_CELLS = 4096  # a penalty has the square of it

_SHAPE = re.compile(r"([1-9]\d{0,5})x([1-9]\d{0,5})")


@dataclass(frozen=True)
class Axes:
    """Edges of both axes; `copies` is 2 where left and right have cells of their own."""

    distances: tuple[int, ...]
    shares: tuple[float, ...]
    copies: int = 1

    @property
    def rows(self) -> int:
        return len(self.shares)

    @property
    def columns(self) -> int:
        return len(self.distances) + 1

    @property
    def cells(self) -> int:
        return self.copies * self.rows * self.columns

    def column_table(self) -> I32:
        """The column of distance d at place d + 1, -1 for an absent literal; the last place is for all beyond."""
        d = np.arange(self.distances[-1] + 2)
        columns = self.columns - 1 - np.searchsorted(np.array(self.distances), d)
        return np.append(-1, columns).astype(np.int32)

    def row_of(self, share: F64) -> I32:
        """The row of each share of IDF(q)."""
        found = np.searchsorted(np.array(self.shares), share + TOLERANCE, side="right") - 1
        return np.maximum(0, found).astype(np.int32)

    def row_labels(self) -> list[str]:
        """What each row asks of the share of IDF(q)."""
        return [f">= {s:g}" for s in self.shares]

    def column_labels(self) -> list[str]:
        """What each column asks of the distance."""
        return ["anywhere", *(f"<= {d}" for d in self.distances[:0:-1]), "overlap"]

    def row_bands(self) -> list[str]:
        """The shares that fall into each row."""
        return [f"{a:g} to {b:g}" for a, b in zip(self.shares, (*self.shares[1:], 1.0), strict=True)]

    def column_bands(self) -> list[str]:
        """The distances that fall into each column."""
        bands = [(a + 1, b) for a, b in zip(self.distances[-2::-1], self.distances[:0:-1], strict=True)]
        inner = [f"{a} to {b}" if a < b else f"{b}" for a, b in bands]
        return [f"> {self.distances[-1]}", *inner, "overlap"]


def cell_labels(rows: Sequence[str], columns: Sequence[str], copies: int) -> list[str]:
    """A label a cell, in the order of codes."""
    far = [c if c.isalpha() else f"distance {c}" for c in columns]
    return by_side([f"IDF share {r}, {c}" for r in rows for c in far], copies)


def by_side(labels: Sequence[str], copies: int) -> list[str]:
    """The labels, repeated per side if there are two copies."""
    return list(labels) if copies == 1 else [f"{label}, {side}" for side in ("left", "right") for label in labels]


def ladder(count: int) -> tuple[int, ...]:
    """0 and `count` whole numbers that ascend strictly, about geometrically, from 1 to 200."""
    edges = [0]
    for k in range(count):
        step = round(FARTHEST ** (k / (count - 1))) if k else 1
        edges.append(max(edges[-1] + 1, step))
    return tuple(edges)


def even_shares_of(rows: int) -> tuple[float, ...]:
    """i / rows."""
    return tuple(i / rows for i in range(rows))


def axes_of(owner: str, shape: str, default: str, distances: Any, shares: Any, signed: bool) -> Axes:
    """The axes that parameters describe: edges where they are given, the shape for the rest.

    A shape that is not the default must agree with the edges.
    """
    rows, columns = _shape(owner, shape)
    far = check_distances(owner, distances) or ladder(columns - 2)
    share = check_shares(owner, shares) or even_shares_of(rows)
    axes = Axes(far, share, 1 + signed)
    found = f"{axes.rows}x{axes.columns}"
    if shape not in (default, found):
        raise UsageError(f"{owner}: shape is {shape}, but the edges make {found}; leave the shape out")
    if axes.cells > MAX_CELLS:
        raise UsageError(f"{owner}: {axes.cells:,} cells; at most {MAX_CELLS:,}, so give fewer edges")
    return axes


def _shape(owner: str, shape: object) -> tuple[int, int]:
    match = _SHAPE.fullmatch(shape) if isinstance(shape, str) else None
    rows, columns = (int(match[1]), int(match[2])) if match else (0, 0)
    if columns < 2 or rows * columns > MAX_CELLS:
        wanted = f"rows x columns like 10x12, with 2 columns or more and at most {MAX_CELLS:,} cells"
        raise UsageError(f"{owner}: shape must be {wanted}, not {quote(shape)}")
    return rows, columns


def check_distances(owner: str, distances: Any) -> tuple[int, ...]:
    """The distance edges as whole numbers; refuse what are none."""
    edges = _numbers(owner, "distances", distances)
    whole = all(0 <= d <= LONGEST and d == int(d) for d in edges)
    if edges and not (whole and edges[0] == 0 and _ascend(edges, 1)):
        wanted = f"whole numbers of tokens that begin with 0 and ascend, like 0/1/3/10, none above {LONGEST:,}"
        raise UsageError(f"{owner}: distances must be {wanted}, not {_quote_edges(edges)}")
    return tuple(int(d) for d in edges)


def check_shares(owner: str, shares: Any) -> tuple[float, ...]:
    """The share edges; refuse what are none."""
    edges = _numbers(owner, "shares", shares)
    if edges and not (edges[0] == 0 and edges[-1] <= 1 and _ascend(edges, SHARE_STEP)):
        wanted = f"shares of IDF(q) that begin with 0 and ascend to at most 1 in steps of {SHARE_STEP:g} or more"
        raise UsageError(f"{owner}: shares must be {wanted}, like 0/0.25/0.5, not {_quote_edges(edges)}")
    return edges


def _numbers(owner: str, key: str, values: Any) -> tuple[float, ...]:
    try:
        return tuple(float(v) for v in values)
    except (TypeError, ValueError):
        raise UsageError(f"{owner}: {key} must be numbers like 0/1/3/10, not {quote(values)}") from None


def _ascend(edges: tuple[float, ...], step: float) -> bool:
    return all(b - a >= step - TOLERANCE for a, b in pairwise(edges))


def _quote_edges(edges: tuple[float, ...]) -> str:
    return quote("/".join(f"{e:g}" for e in edges))
