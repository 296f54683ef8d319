"""Hardwired proximity: every matched literal adds IDF(t)/IDF(q) times a decay of its distance.

    f_q(x, e) = sum over t matched in x of IDF(t)/IDF(q) * k(l(t)),   with r = l/width

    gaussian   exp(-r^2 / 2)
    triangle   1 - r                  and 0 beyond the width
    cosine     (1 + cos(pi r)) / 2    and 0 beyond the width
    circle     sqrt(1 - r^2)          and 0 beyond the width
    step       1 up to the width, 0 beyond: a passage
    inverse    1 / (1 + r)

Golden case: one literal of all the IDF at distance 10 with width 10 scores exp(-1/2), 0, 0, 0, 1 and 1/2; at distance
0 it scores 1. Proximity kernels in entity search: Petkova & Croft, "Proximity-based document representation for named
entity retrieval", CIKM 2007; the shapes: Lv & Zhai, "Positional language models for information retrieval", SIGIR
2009. Knows nothing of aggregation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.features.base import F64, I32, Block, Columns, FeatureMap, Piece
from fader.features.checks import check_choice, check_idf
from fader.features.fused import DistanceTable, Term, TermMaker
from fader.kernel import kernel

SHAPES = ("gaussian", "triangle", "cosine", "circle", "step", "inverse")
_GAUSSIAN, _TRIANGLE, _COSINE, _CIRCLE, _STEP, _INVERSE = range(6)
NEAR = 510


@kernel
def _decay_share(share: float, d: int, shape: int, width: float) -> float:
    """The share times the decay of distance d."""
    r = d / width
    value = 0.0
    if shape == _INVERSE:
        value = share / (1.0 + r)
    elif shape == _GAUSSIAN:
        value = share * math.exp(-0.5 * r * r)
    elif r > 1.0:
        value = 0.0
    elif shape == _STEP:
        value = share
    elif shape == _TRIANGLE:
        value = share * (1.0 - r)
    elif shape == _COSINE:
        value = share * (1.0 + math.cos(math.pi * r)) / 2.0
    elif shape == _CIRCLE:
        value = share * math.sqrt(1.0 - r * r)
    return value


@kernel
def _add_decayed(distances: I32, perplexity: F64, shape: int, width: float, out: F64) -> None:
    """Add the literals one after the other, in query order, so that the sum does not depend on anything else.

    Near distances are looked up; `table[0]` stands for an absent literal.
    """
    U = np.uintp
    out[:] = 0.0
    table = np.empty(NEAR + 2)
    for t in range(distances.shape[0]):
        table[0] = 0.0
        for d in range(NEAR + 1):
            table[d + 1] = _decay_share(perplexity[t], d, shape, width)
        row = distances[t]
        for k in range(row.size):
            d = row[U(k)]
            if d <= NEAR:
                out[U(k)] += table[U(d + 1)]
            else:
                out[U(k)] += _decay_share(perplexity[t], d, shape, width)


@kernel
def _fill_decays(perplexity: F64, shape: int, width: float, table: F64) -> None:
    """`table[t, d + 1]` is literal t's share times the decay of distance d; 0 beyond a width that cuts."""
    for t in range(table.shape[0]):
        for d in range(table.shape[1] - 1):
            table[t, d + 1] = _decay_share(perplexity[t], d, shape, width)
            if d > width and shape != _GAUSSIAN and shape != _INVERSE:
                break


def decays(shape: str, width: float, distances: I32) -> F64:
    """k(l) of each of some distances; 0 where one is below 0."""
    return _decays(distances[None], np.ones(1), shape, width)


def _decays(distances: I32, perplexity: F64, shape: str, width: float) -> F64:
    out = np.empty(distances.shape[1])
    _add_decayed(distances, perplexity, SHAPES.index(shape), float(width), out)
    return out


def check_decay(owner: str, width: float, idf: str) -> None:
    """Refuse a width or an IDF variant that is none."""
    check_idf(owner, idf)
    if not 0 < width < float("inf"):
        raise UsageError(f"{owner}: width must be a number of tokens above 0, not {width}")


@dataclass(frozen=True)
class Kernel(FeatureMap):
    """A decay of distance with a fixed shape and width (tokens)."""

    name: ClassVar[str] = "kernel"
    shape: str = "inverse"
    width: float = 10.0
    idf: str = "log"

    def __post_init__(self) -> None:
        check_choice(self.name, "shape", self.shape, SHAPES)
        check_decay(self.name, self.width, self.idf)

    @property
    def size(self) -> int:
        return 1

    def labels(self) -> list[str]:
        return [f"{self.shape} decay, width {self.width:g}"]

    def blocks(self, contexts: Contexts) -> list[Block]:
        column = self._values(contexts.distances, contexts.statistics.perplexity(self.idf))[:, None]
        return [Columns(column, np.arange(len(contexts), dtype=np.int32))]

    def score(self, contexts: Contexts, w: F64) -> F64:
        values = self._values(contexts.distances, contexts.statistics.perplexity(self.idf))
        return values if w[0] == 1.0 else values * w[0]

    def _values(self, distances: I32, perplexity: F64) -> F64:
        return _decays(distances, perplexity, self.shape, self.width)

    def prepare_terms(self, w: F64) -> TermMaker:
        shape, scale = SHAPES.index(self.shape), float(w[0])

        def make(statistics: Statistics, farthest: int) -> tuple[Term, ...]:
            perplexity = statistics.perplexity(self.idf)
            table = np.zeros((perplexity.size, farthest + 2))
            _fill_decays(perplexity, shape, float(self.width), table)
            return (DistanceTable(table, scale),)

        return make

    def by_literal(self, contexts: Contexts, rows: I32, w: F64) -> F64:
        distances = np.ascontiguousarray(contexts.distances[:, rows])
        perplexity = contexts.statistics.perplexity(self.idf)
        one = [self._values(distances[t : t + 1], perplexity[t : t + 1]) for t in range(perplexity.size)]
        return np.stack(one) * float(w[0])

    def pieces(self, contexts: Contexts, row: int, w: F64) -> list[Piece]:
        values = self.by_literal(contexts, np.array([row], dtype=np.int32), w)[:, 0]
        return [Piece(self.name, t, self.labels()[0], float(v)) for t, v in enumerate(values) if v]
