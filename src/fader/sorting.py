"""Sorting inside of kernels, without the seconds that numba's own sort takes to compile."""

from __future__ import annotations

from typing import Any

from fader.kernel import inner_kernel

FEW = 24


@inner_kernel
def sort_part(values: Any, begin: int, end: int) -> None:
    """Sort values[begin:end] in place: by insertion where they are few, as a heap where they are many."""
    n = end - begin
    if n <= FEW:
        for i in range(begin + 1, end):
            value, j = values[i], i
            while j > begin and values[j - 1] > value:
                values[j] = values[j - 1]
                j -= 1
            values[j] = value
        return
    for phase in range(n // 2 + n):
        low, size = (n // 2 - 1 - phase, n) if phase < n // 2 else (0, n - 1 - (phase - n // 2))
        if phase >= n // 2:
            values[begin], values[begin + size] = values[begin + size], values[begin]
        parent, value = low, values[begin + low]
        while 2 * parent + 1 < size:
            child = 2 * parent + 1
            if child + 1 < size and values[begin + child + 1] > values[begin + child]:
                child += 1
            if values[begin + child] <= value:
                break
            values[begin + parent] = values[begin + child]
            parent = child
        if size > 0:
            values[begin + parent] = value
