"""How much of a long test is run: a small part in CI, all of it with FADER_DOSE=1.

FADER_DOSE=1 python -m pytest tests/durability
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

DEFAULT = 0.01
T = TypeVar("T")


def some(values: Sequence[T], least: int) -> list[T]:
    """The first of some cases by default, all of them with FADER_DOSE=1."""
    return list(values[: dose(len(values), least)])


def dose(full: int, least: int) -> int:
    """So many of `full` cases, but `least` at least."""
    return max(least, round(full * float(os.environ.get("FADER_DOSE", DEFAULT))))
