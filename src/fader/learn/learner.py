"""The contract of systems that learn something else than the weights of a feature map.

A learner is a value; a trained one is the same value with what it learned filled in, so that it can be written down
and read back. It keeps of each query what training needs (`encode`), and learns from that and the judgments alone.
Knows nothing of how queries are cut into folds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.measures import Judgments

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class Encoded(Protocol):
    """What a learner keeps of a query: its candidates' numbers, ascending, and whatever else it wants."""

    @property
    def entity(self) -> I32: ...


@dataclass(frozen=True)
class Example:
    """A query to learn from: what was kept of it, and its judgments, in the order of its candidates."""

    query: Any
    judgments: Judgments


class Learner(ABC):
    """A system that must be trained before it ranks.

    `learned` names the fields that training fills in. `values_of(encode(contexts))` of a trained one are the values of
    `rank(contexts)`, in the order of candidates.
    """

    learned: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def trained(self) -> bool:
        """Whether it can rank."""

    @abstractmethod
    def encode(self, contexts: Contexts) -> Any:
        """What training needs of a query; has `entity`. Does not depend on what was learned."""

    @abstractmethod
    def thinned(self, query: Any, places: I64) -> Any:
        """The same of some candidates only, given by their places in `entity`, ascending."""

    @property
    def encoding(self) -> Hashable:
        """Learners of the same encoding keep the same of a query."""
        return str(self)

    @abstractmethod
    def fit(self, examples: Sequence[Example], seed: int) -> Self:
        """The same system, trained; each example has a good and a bad candidate. Deterministic for a seed."""

    @abstractmethod
    def values_of(self, query: Any) -> F64:
        """Values of a query's candidates, by what was learned."""

    def untrained(self) -> NoReturn:
        """Refuse to rank."""
        raise UsageError(
            f"{self}: must be trained before it can rank; make a model with `fader train --system {self}` and give its "
            "file"
        )
