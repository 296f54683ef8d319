"""Integers of variable length: seven bits a byte, the lowest first, the top bit set on all but the last.

Kernels to be put into other kernels; knows nothing of what the integers mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.kernel import inline_kernel

U8 = NDArray[np.uint8]
MOST_BITS = 35


@inline_kernel
def put_varint(out: U8, at: int, value: int) -> int:
    """Write a value at `at`; returns the place behind it."""
    while value >= 128:
        out[at] = np.uint8((value & 127) | 128)
        value >>= 7
        at += 1
    out[at] = np.uint8(value)
    return at + 1


@inline_kernel
def get_varint(data: U8, at: int) -> Any:
    """The value at `at`, and the place behind it; what would lie behind the data counts as 0."""
    value = np.int64(0)
    shift = 0
    while shift < MOST_BITS and at < data.size:
        byte = np.int64(data[at])
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
    return value, at
