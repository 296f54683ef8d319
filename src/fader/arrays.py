"""Types of arrays, named by the kind and the bits of their numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BOOL = NDArray[np.bool_]
U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
