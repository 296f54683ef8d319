"""Coverage features: the rectangle encoding of the curve of matched IDF over distance, so that literals reinforce.

    f_ij(x, e) = 1 if the share of IDF(q) matched within d_j is at least s_i, else 0; column 0 is any distance

Row 0, s_0 = 0, fires where anything at all is matched within d_j; otherwise it would be a constant. The cells that
fire are a staircase (staircase.py): where literals are added from near to far, the share reached at each column is a
corner. Two literals of half the IDF each, both near, reach rows that neither reaches alone: more than their sum.
Golden case: shares 0/0.5/1, distances 0/1, two literals of half the IDF at distances 0 and 1: overlap fires rows 0 and
1, the columns `<= 1` and `anywhere` fire all three. A variation on the paper's IdfUpto and rectangle features. Knows
nothing of training.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fader.contexts.statistics import Statistics
from fader.contexts.table import Contexts
from fader.features.base import F64, I32, Codes
from fader.features.cellmaps.cellmap import CellMap
from fader.features.cellmaps.cells import I8
from fader.features.cellmaps.edges import match_shares
from fader.features.cellmaps.prefix import prefix_sum, reverse_prefix_sum
from fader.features.cellmaps.staircase import coverage, prepare_staircase
from fader.features.fused import TermMaker


@dataclass(frozen=True)
class Coverage(CellMap):
    """One weight a corner of the curve; with sides apart, a curve a side."""

    name: ClassVar[str] = "coverage"

    @property
    def additive(self) -> bool:
        return False

    def row_labels(self) -> list[str]:
        return ["> 0", *super().row_labels()[1:]]

    def expand(self, w: F64) -> F64:
        return prefix_sum(w, self.axes)

    def collapse(self, cells: F64) -> F64:
        return reverse_prefix_sum(cells, self.axes)

    def encode_cells(self, statistics: Statistics, distances: I32, sides: I8) -> Codes:
        return coverage(self.axes, statistics.perplexity(self.idf), distances, sides)

    def prepare_terms(self, w: F64) -> TermMaker:
        whole, idf = prepare_staircase(self.axes, self.expand(w)), self.idf
        return lambda statistics, _farthest: (replace(whole, perplexity=statistics.perplexity(idf)),)

    def find_shown_cells(self, contexts: Contexts, row: int) -> NDArray[Any]:
        """The corner that the curve has reached with each literal, nearer ones and those before it included."""
        axes, perplexity = self.axes, contexts.statistics.perplexity(self.idf)
        own = super().find_shown_cells(contexts, row).astype(np.int64)
        distances, total = contexts.distances[:, row], np.zeros(axes.copies)
        for t in np.argsort(distances, kind="stable"):
            if distances[t] >= 0:
                copy, place = divmod(int(own[t]), axes.rows * axes.columns)
                total[copy] += perplexity[t]
                reached = int(axes.row_of(total[copy : copy + 1])[0])
                own[t] = (copy * axes.rows + reached) * axes.columns + place % axes.columns
        return own

    def shares_in(self, table: Contexts) -> tuple[F64, F64]:
        return match_shares(table, self.idf, self.signed)
