"""How a contract says what does not hold: AssertionError with what was expected and what was found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def expect(holds: Any, message: str) -> None:
    """Raise AssertionError unless something holds."""
    if not np.all(holds):
        raise AssertionError(message)


def expect_close(found: ArrayLike, expected: ArrayLike, message: str, rel: float = 1e-9, tiny: float = 1e-12) -> None:
    """Raise AssertionError unless numbers are the same but for rounding."""
    one, two = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    if one.shape != two.shape:
        raise AssertionError(f"{message}: shape {one.shape}, not {two.shape}")
    far = ~(np.abs(one - two) <= np.maximum(rel * np.abs(two), tiny))
    if far.any():
        at = tuple(int(i[0]) for i in np.nonzero(far)) if one.ndim else ()
        raise AssertionError(f"{message}: {float(one[at])!r}, not {float(two[at])!r}")
