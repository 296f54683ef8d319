"""Title: what the title of the document says of the query, and whether the document is about the entity.

    share       sum of perplexity(t) over the literals that the title has all terms of
    precision   part of the title's different terms that some literal has
    about       1 where the document is about the entity: it has its id, or its title is the entity's name
    about, document   the same times the share of IDF(q) that the document has

Golden case: a document with the title `red wine` for `wine`: share 1, precision 1/2. Knows nothing of positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.contexts.table import Contexts
from fader.features.base import F64
from fader.features.family import ColumnFamily


@dataclass(frozen=True)
class Title(ColumnFamily):
    """The title of the mention's document."""

    name: ClassVar[str] = "title"
    columns: ClassVar[tuple[str, ...]] = ("share", "precision", "about", "about, document")

    def compute(self, contexts: Contexts) -> F64:
        titles, share, row = contexts.titles, contexts.statistics.perplexity(), contexts.matching.row
        out = np.empty((len(contexts), self.size))
        out[:, 0] = (share @ titles.has)[row]
        out[:, 1] = (titles.hits / np.maximum(1, titles.terms))[row]
        out[:, 2] = titles.about[row] == contexts.entity
        out[:, 3] = out[:, 2] * (share @ (contexts.matching.counts > 0))[row]
        return out
