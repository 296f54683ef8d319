"""Grid features: every matched literal adds 1 to its cell of perplexity x proximity, so it is worth what w says there.

    f_ij(x, e) = how many literals t of x have IDF(t)/IDF(q) in row i and l(t) in column j
    w . f      = sum over t of w[i_t, j_t]

The regulariser is the paper's smoothness, sum (w_ij - w_i-1,j)^2 + (w_ij - w_i,j-1)^2, and a little ridge that makes
it definite (prefix.py). With `monotone` the weights are increments u >= 0 and w is their 2-D prefix sum, so that more
IDF and more nearness are never worth less: the paper's constraints w_i+1,j >= w_ij and w_i,j+1 >= w_ij without a
constrained solver; the smoothness is still that of w. Golden case: one literal of all the IDF that overlaps the
mention is in the last cell of the last row. Of the paper's section on perplexity-proximity features. Knows nothing
of training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fader.features.base import F64
from fader.features.cellmaps.buckets import cell_labels
from fader.features.cellmaps.cellmap import CellMap
from fader.features.cellmaps.prefix import prefix_sum, reverse_prefix_sum, smoothness, smoothness_of_increments
from fader.features.checks import check_flag


@dataclass(frozen=True)
class Grid(CellMap):
    """One weight a cell, smooth over the grid."""

    name: ClassVar[str] = "grid"
    monotone: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag(self.name, "monotone", self.monotone)

    def labels(self) -> list[str]:
        axes = self.axes
        return super().labels() if self.monotone else cell_labels(axes.row_bands(), axes.column_bands(), axes.copies)

    def expand(self, w: F64) -> F64:
        return prefix_sum(w, self.axes) if self.monotone else w

    def collapse(self, cells: F64) -> F64:
        return reverse_prefix_sum(cells, self.axes) if self.monotone else cells

    def penalty(self) -> F64:
        return smoothness_of_increments(self.axes) if self.monotone else smoothness(self.axes)

    def start(self) -> F64:
        """The same surface in either parametrisation: rising evenly to the near and rare corner."""
        even = super().start()
        return even if self.monotone else prefix_sum(even, self.axes)
