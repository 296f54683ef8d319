"""Hardwired proximity: every matched literal adds IDF(t)/IDF(q) times a decay of its distance.

    f_q(x, e) = sum over t matched in x of IDF(t)/IDF(q) * k(l(t)),     inverse distance: k(l) = 1 / (1 + l/width)

Golden case: one literal of all the IDF at distance 10 with width 10 scores 1/2; at distance 0 it scores 1.
Proximity kernels in entity search: Petkova & Croft, "Proximity-based document representation for named entity
retrieval", CIKM 2007. Knows nothing of aggregation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fader.contexts.table import Contexts
from fader.errors import UsageError, quoted
from fader.features.base import F64, I32
from fader.kernel import kernel

SHAPES = ("inverse",)
NEAR = 510


@kernel
def _inverse(distances: I32, perplexity: F64, width: float, out: F64) -> None:
    """Add the literals one after the other, in query order, so that the sum does not depend on anything else.

    Near distances are looked up; `table[0]` stands for an absent literal.
    """
    U = np.uintp
    out[:] = 0.0
    table = np.empty(NEAR + 2)
    for t in range(distances.shape[0]):
        table[0] = 0.0
        for d in range(NEAR + 1):
            table[d + 1] = perplexity[t] / (1.0 + d / width)
        row = distances[t]
        for k in range(row.size):
            d = row[U(k)]
            if d <= NEAR:
                out[U(k)] += table[U(d + 1)]
            else:
                out[U(k)] += perplexity[t] / (1.0 + d / width)


def check_decay(owner: str, width: float, idf: str) -> None:
    """Refuse a width or an IDF variant that is none."""
    if idf not in ("log", "paper"):
        raise UsageError(f"{owner}: idf must be log or paper, not {quoted(idf)}")
    if not 0 < width < float("inf"):
        raise UsageError(f"{owner}: width must be a number of tokens above 0, not {width}")


@dataclass(frozen=True)
class Kernel:
    """A decay of distance with a fixed shape and width (tokens)."""

    name: ClassVar[str] = "kernel"
    shape: str = "inverse"
    width: float = 10.0
    idf: str = "log"

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise UsageError(f"kernel: shape must be one of {', '.join(SHAPES)}, not {quoted(self.shape)}")
        check_decay(self.name, self.width, self.idf)

    def score(self, contexts: Contexts) -> F64:
        out = np.empty(len(contexts), dtype=np.float64)
        _inverse(contexts.distances, contexts.statistics.perplexity(self.idf), self.width, out)
        return out

    def by_literal(self, contexts: Contexts, rows: I32) -> F64:
        distances: NDArray[np.int32] = contexts.distances[:, rows]
        share = contexts.statistics.perplexity(self.idf)[:, None]
        return np.where(distances >= 0, share / (1.0 + np.maximum(distances, 0) / self.width), 0.0)
