"""Feature vectors written out, in plain Python, from the sentences of the specification.

A context is a list of `Match`es, one for each literal that it has. Nothing of Fader is imported. Vectors are in the
order of weights: rows ascend with IDF, columns with nearness, the right side behind the left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Vector = list[float]


@dataclass(frozen=True)
class Match:
    """A literal of a context: its share of IDF(q), its distance, and whether it is on the right."""

    share: float
    distance: int
    right: bool


Context = Sequence[Match]


def shares_of(documents: int, df: Sequence[int], idf: str) -> list[float]:
    """IDF(t)/IDF(q); literals that occur nowhere are left out of both."""
    each = [0.0 if n == 0 else documents / n if idf == "paper" else math.log(1 + documents / n) for n in df]
    return [e / sum(each) for e in each]


@dataclass(frozen=True)
class Plane:
    """Edges of the axes; `sides` are 1 or 2 copies."""

    distances: Sequence[int]
    shares: Sequence[float]
    sides: int = 1

    def column(self, distance: int) -> int:
        """The first edge >= l, counted from the farthest; 0 where there is none."""
        for k, edge in enumerate(self.distances):
            if distance <= edge:
                return len(self.distances) - k
        return 0

    def row(self, share: float) -> int:
        """The largest i with share >= s_i."""
        return max(i for i, edge in enumerate(self.shares) if i == 0 or share >= edge - 1e-9)

    def vector(self, context: Context, fires: Callable[[Context, int, int], float]) -> Vector:
        """A value a cell, each side by itself where sides are told apart."""
        out = []
        for side in range(self.sides):
            mine = [m for m in context if self.sides == 1 or m.right == bool(side)]
            columns = range(len(self.distances) + 1)
            out += [fires(mine, i, j) for i in range(len(self.shares)) for j in columns]
        return out

    def grid(self, context: Context) -> Vector:
        """Every matched literal adds 1 to one cell."""
        return self.vector(
            context, lambda ms, i, j: sum((self.row(m.share), self.column(m.distance)) == (i, j) for m in ms)
        )

    def rectangle(self, context: Context) -> Vector:
        """Cells count how many literals fire them: those with no less IDF and no less nearness."""
        return self.vector(
            context, lambda ms, i, j: sum(i <= self.row(m.share) and j <= self.column(m.distance) for m in ms)
        )

    def union(self, context: Context) -> Vector:
        """0/1."""
        return [float(v > 0) for v in self.rectangle(context)]

    def coverage(self, context: Context) -> Vector:
        """Cell (i, j) fires when the share of IDF(q) matched within d_j is at least s_i, and anything is."""

        def fires(ms: Context, i: int, j: int) -> float:
            reach = math.inf if j == 0 else self.distances[len(self.distances) - j]
            within = [m.share for m in ms if m.distance <= reach]
            return float(bool(within) and sum(within) >= self.shares[i] - 1e-9)

        return self.vector(context, fires)

    def idfupto(self, context: Context) -> Vector:
        """The share of IDF(q) matched within d_j, the farthest edge first."""
        out = []
        for side in range(self.sides):
            mine = [m for m in context if self.sides == 1 or m.right == bool(side)]
            out += [sum(m.share for m in mine if m.distance <= edge) for edge in reversed(self.distances)]
        return out
