"""`fader.testing` accepts sound parts, and finds what is wrong with others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from fader.aggregate.base import F64, I64
from fader.aggregate.sum import Sum
from fader.contexts.table import Contexts
from fader.entityfeatures.base import EntityMap
from fader.features.kernel import Kernel
from fader.registry import discover, load_plugin
from fader.testing import check_aggregator, check_entity_map, check_feature_map, check_importer, check_system

PARTS = Path(__file__).parent / "my_parts.py"


def test_parts_of_a_user_pass(tmp_path: Path) -> None:
    """Those of the file that the other tests load."""
    load_plugin(PARTS)
    check_feature_map(discover("fader.features")["nearby"]())
    check_aggregator(discover("fader.aggregate")["topsum"](2))
    check_system(discover("fader.systems")["crowd"]())
    notes = tmp_path / "notes.tsv"
    notes.write_text("a\tThe [[E1|first]] one\nno tab\nb\t[[E2|second]]\n", encoding="utf-8")
    check_importer(discover("fader.corpora.formats")["bracketed"](), [notes])


@dataclass(frozen=True)
class Shifted(Kernel):
    """Scores that are not linear in the weights."""

    name: ClassVar[str] = "shifted"

    def score(self, contexts: Contexts, w: F64) -> F64:
        return super().score(contexts, w) + 1.0


@dataclass(frozen=True)
class Steep(Sum):
    """A gradient that is twice what it should be."""

    name: ClassVar[str] = "steep"

    def gradient(self, scores: F64, at: I64, upstream: F64) -> F64:
        return 2 * super().gradient(scores, at, upstream)


@dataclass(frozen=True)
class Sloppy(Sum):
    """Shares that are the values of other entities."""

    name: ClassVar[str] = "sloppy"

    def shares(self, scores: F64, at: I64) -> F64:
        return np.zeros(scores.size)


@dataclass(frozen=True)
class Holdings(EntityMap):
    """How many contexts an entity has."""

    name: ClassVar[str] = "holdings"
    columns: ClassVar[tuple[str, ...]] = ("log of contexts",)

    def compute(self, contexts: Contexts) -> F64:
        return np.log(np.diff(contexts.groups.at))[:, None]


@dataclass(frozen=True)
class Relative(Holdings):
    """The share of an entity among the contexts of all candidates."""

    name: ClassVar[str] = "relative"

    def compute(self, contexts: Contexts) -> F64:
        return np.diff(contexts.groups.at)[:, None] / len(contexts)


def test_an_entity_map_of_a_user_passes() -> None:
    """Without being registered."""
    check_entity_map(Holdings())


def test_what_is_wrong_is_said() -> None:
    """As an AssertionError with the rule that does not hold."""
    with pytest.raises(AssertionError, match="depend on the other candidates"):
        check_entity_map(Relative())
    with pytest.raises(AssertionError, match="literals do not add up to the score"):
        check_feature_map(Shifted())
    with pytest.raises(AssertionError, match="the gradient is not that of finite differences"):
        check_aggregator(Steep())
    with pytest.raises(AssertionError, match="do not add up"):
        check_aggregator(Sloppy())
