"""Kind: the candidate's types.

    direct   1 where the answer type is one of its own types, not only above one
    depth    levels from the answer type down to the lowest of its types, over 5; 0 without an answer type
    number   ln(1 + number of its types)
    share    sum of perplexity(t) over the literals that the name of a type of it has all terms of

Golden case: types `poet` below `person` and the answer type person: 0, 1/5, ln 2. Knows nothing of contexts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.arrays import F64
from fader.contexts.table import Contexts
from fader.entityfeatures.base import EntityMap


@dataclass(frozen=True)
class Kind(EntityMap):
    """What the candidate is."""

    name: ClassVar[str] = "kind"
    columns: ClassVar[tuple[str, ...]] = ("direct", "depth", "number", "share")

    def compute(self, contexts: Contexts) -> F64:
        found, share = contexts.details, contexts.statistics.perplexity()
        return np.stack([found.direct, found.depth / 5, np.log1p(found.types), share @ found.type_has], axis=1)
