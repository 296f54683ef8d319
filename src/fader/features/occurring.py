"""Where literals occur in the documents of a table, as kernels read it: searches in short ascending lists. No part."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fader.kernel import inner_kernel

I32 = NDArray[np.int32]


@inner_kernel
def find_first(values: I32, begin: int, end: int, least: int) -> int:
    """The place of the first of `values[begin:end]`, which ascend, that is not below `least`; `end` where none is."""
    U = np.uintp
    while begin < end:
        middle = (begin + end) >> 1
        if values[U(middle)] < least:
            begin = middle + 1
        else:
            end = middle
    return begin
