"""The contract of systems that learn.

A learner is a system with two more properties: `fit` and `is_fitted`. A fitted learner is the same value with what it
learned filled in, so that it can be written down and read back. It keeps of each query what training needs (`encode`),
and learns from that and the judgments alone. Knows nothing of how queries are cut into folds.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.measures import Judgments
from fader.rank.system import F64, I64, System


@dataclass(frozen=True)
class Example:
    """A query to learn from: what was kept of it, and its judgments, in the order of its candidates."""

    query: Any
    judgments: Judgments


class Learner(System):
    """A system that must be trained before it ranks.

    `learned` names the fields that training fills in. `values_of(encode(contexts))` of a fitted learner are the values
    by which it ranks, in the order of candidates.
    """

    @property
    @abstractmethod
    def is_fitted(self) -> bool:
        """Whether it can rank."""

    @abstractmethod
    def encode(self, contexts: Contexts) -> Any:
        """What training needs of a query, whatever was learned; has `entity`, the candidates' numbers."""

    @abstractmethod
    def take_candidates(self, query: Any, places: I64) -> Any:
        """The encoded query with some candidates only, given by their places in `entity`, ascending."""

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

    def check_fitted(self) -> None:
        """Refuse to rank before training."""
        if not self.is_fitted:
            raise UsageError(
                f"{self}: must be trained before it can rank; make a model with `fader train --system {self}` and give "
                "its file"
            )
