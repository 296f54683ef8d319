"""Collection statistics of a query's literals, and the IDF they give.

Counts are sums over segments, so they do not depend on how the collection was cut. Knows nothing of storage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader.lazy import cached_property

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Statistics:
    """N documents, their tokens, and per positive literal its document and collection frequency."""

    documents: int
    tokens: int
    df: NDArray[np.int64]
    cf: NDArray[np.int64]

    @property
    def average_length(self) -> float:
        return self.tokens / self.documents if self.documents else 0.0

    def idf(self, variant: str = "log") -> F64:
        """`ln(1 + N/df)` ("log") or `N/df` ("paper"); 0 for a literal that occurs nowhere."""
        return self._log_idf if variant == "log" else self._ratio

    @cached_property
    def _ratio(self) -> F64:
        return np.divide(self.documents, self.df, out=np.zeros(self.df.size), where=self.df > 0)

    @cached_property
    def _log_idf(self) -> F64:
        return np.log1p(self._ratio)

    def perplexity(self, variant: str = "log") -> F64:
        """IDF(t)/IDF(q): each literal's share of the query's information; all 0 where nothing is known."""
        idf = self.idf(variant)
        total = float(np.add.reduce(idf))
        return idf / total if total > 0 else idf
