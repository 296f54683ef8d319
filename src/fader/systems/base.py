"""The contract of a system, and the one way all of them put entities in order.

A system turns a Contexts table into a `Ranking`, and splits scores into contributions. It knows nothing of
storage, of texts or of who asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from fader.contexts.policy import Evidence
from fader.contexts.table import Contexts
from fader.parts import parse

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best entities: numbers, scores, |S_e|, and the place of each in `evidence`."""

    entity: I32
    score: F64
    support: I64
    place: I64
    evidence: Evidence
    candidates: int


@dataclass(frozen=True, slots=True)
class Contributions:
    """How one entity's score comes about: rows of the table, the share of each, and of its literals.

    `share.sum()` is the score; `literal[:, i].sum()` is `share[i]` (to rounding).
    """

    row: I32
    share: F64
    literal: F64


class System(Protocol):
    """Ranks the candidates of a query."""

    name: ClassVar[str]

    def rank(self, contexts: Contexts, k: int) -> Ranking: ...

    def explain(self, contexts: Contexts, ranking: Ranking, i: int) -> Contributions: ...


def order_entities(entity: I32, value: F64, k: int) -> I64:
    """The places of the k best, by score, then by id descending, as trec_eval breaks ties.

    Numbers are ranks of ids, so that the larger number is the larger id.
    """
    if k < value.size // 4:
        threshold = np.partition(value, value.size - k)[value.size - k]
        places = np.flatnonzero(value >= threshold)
    else:
        places = np.arange(value.size)
    return places[np.lexsort((-entity[places], -value[places]))][:k]


def system(text: str) -> Any:
    """The system that a text such as `proximity(width=20)` names."""
    return parse("fader.systems", text)
