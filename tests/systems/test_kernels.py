"""Decays of distances as the feature map has them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fader.features.kernel import SHAPES, decays
from fader.systems.petkova import KERNELS
from fader.systems.shared.kernels import decays_up_to


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("gaussian", [1, math.exp(-1 / 8), math.exp(-1 / 2), math.exp(-3200)]),
        ("triangle", [1, 0.5, 0, 0]),
        ("cosine", [1, 0.5, 0, 0]),
        ("circle", [1, math.sqrt(0.75), 0, 0]),
        ("step", [1, 1, 1, 0]),
        ("inverse", [1, 1 / 1.5, 1 / 2, 1 / 81]),
    ],
)
def test_decays_are_those_of_the_shape(shape: str, expected: list[float]) -> None:
    """At distances 0, 5, 10 and 800 with width 10; an absent literal, -1, has none."""
    assert shape in SHAPES
    found = decays(shape, 10, np.array([0, 5, 10, 800, -1], dtype=np.int32))
    assert found.tolist() == pytest.approx([*expected, 0])


@pytest.mark.parametrize("shape", KERNELS)
def test_decays_up_to_a_distance(shape: str) -> None:
    """From 0 on; constant is 1 everywhere."""
    found = decays_up_to(4, shape, 3.0)
    every = np.arange(5, dtype=np.int32)
    assert found.tolist() == (np.ones(5) if shape == "constant" else decays(shape, 3.0, every)).tolist()
