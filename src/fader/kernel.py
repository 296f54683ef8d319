"""The one way kernels are compiled: cached on disk, without the interpreter lock.

A kernel is a private function on arrays below a thin typed function; `kernel.py_func` runs it uncompiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called."""
    return njit(cache=True, nogil=True)(function)


def inline_kernel(function: Callable[..., Any]) -> Any:
    """The same, put into its callers: for the few lines that every element of an array goes through."""
    return njit(cache=True, nogil=True, inline="always")(function)
