"""Rectangle features: a literal in cell (i, j) fires every cell with no more IDF and no more nearness.

    f_i'j'(x, e) = how many literals t of x have i' <= i_t and j' <= j_t            (overlap=sum)
    f_i'j'(x, e) = 1 if any has                                                     (overlap=union)

With W the 2-D prefix sum of w, w . f = sum_t W[i_t, j_t]: a look-up; the union is a staircase (staircase.py). From
w >= 0 follows that more IDF and more nearness are never worth less. The regulariser is the ridge w.w, or with
`regulariser=smooth` the smoothness of W (prefix.py), which makes it the grid under monotonicity constraints. Golden
case: all w = 1, one literal in cell (1, 2) scores 2 * 3 = 6; another one in the same cell makes it 12, the union
still 6. Of the paper's section on perplexity-proximity features; its best with noprox. Knows nothing of training.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from fader.contexts.statistics import Statistics
from fader.features.base import F64, I32, Codes
from fader.features.cellmaps.cellmap import CellMap
from fader.features.cellmaps.cells import I8
from fader.features.cellmaps.prefix import prefix_sum, reverse_prefix_sum, smoothness_of_increments
from fader.features.cellmaps.staircase import prepare_staircase, union
from fader.features.checks import check_choice
from fader.features.fused import TermMaker


@dataclass(frozen=True)
class Rectangle(CellMap):
    """One weight a corner; rectangles of several literals add up or unite."""

    name: ClassVar[str] = "rectangle"
    overlap: str = "sum"
    regulariser: str = "ridge"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.name, "overlap", self.overlap, ("sum", "union"))
        check_choice(self.name, "regulariser", self.regulariser, ("ridge", "smooth"))

    @property
    def additive(self) -> bool:
        return self.overlap == "sum"

    def expand(self, w: F64) -> F64:
        return prefix_sum(w, self.axes)

    def collapse(self, cells: F64) -> F64:
        return reverse_prefix_sum(cells, self.axes)

    def penalty(self) -> F64:
        return super().penalty() if self.regulariser == "ridge" else smoothness_of_increments(self.axes)

    def encode_cells(self, statistics: Statistics, distances: I32, sides: I8) -> Codes:
        if self.additive:
            return super().encode_cells(statistics, distances, sides)
        return union(self.axes, self.axes.row_of(statistics.perplexity(self.idf)), distances, sides)

    def prepare_terms(self, w: F64) -> TermMaker | None:
        if self.additive:
            return super().prepare_terms(w)
        whole, axes, idf = prepare_staircase(self.axes, self.expand(w)), self.axes, self.idf
        return lambda statistics, _farthest: (replace(whole, row=axes.row_of(statistics.perplexity(idf))),)
