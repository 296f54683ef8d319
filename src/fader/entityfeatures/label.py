"""Label: the query's words in the candidate's name, and whether the query names the candidate itself.

    share       sum of perplexity(t) over the literals that the name has all terms of
    precision   part of the name's different terms that some literal has
    length      min(different terms of the name, 5) / 5
    asked       1 where a literal of the query names the candidate: it is seldom its own answer

Golden case: the name `red wine` for `wine`: 1, 1/2, 2/5, 0. Knows nothing of contexts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.arrays import F64
from fader.contexts.table import Contexts
from fader.entityfeatures.base import EntityMap


@dataclass(frozen=True)
class Label(EntityMap):
    """The candidate's name."""

    name: ClassVar[str] = "label"
    columns: ClassVar[tuple[str, ...]] = ("share", "precision", "length", "asked")

    def compute(self, contexts: Contexts) -> F64:
        found, share = contexts.details, contexts.statistics.perplexity()
        precision, length = found.hits / np.maximum(1, found.terms), np.minimum(found.terms, 5) / 5
        return np.stack([share @ found.has, precision, length, found.asked], axis=1)
