"""BLAS kept to one thread while weights are sought.

An optimiser's matrices have a hundred rows; threads of BLAS wait there for each other longer than they compute, and
take the processors from folds that run side by side. The setting is the process's, so whoever comes first makes it and
whoever goes last undoes it. Knows nothing of what is computed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_limits

_lock = threading.Lock()
_state: dict[str, Any] = {"users": 0, "limit": None}


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """One thread of BLAS, as long as anybody is inside."""
    with _lock:
        _state["users"] += 1
        if _state["users"] == 1:
            _state["limit"] = threadpool_limits(1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _state["users"] -= 1
            if _state["users"] == 0:
                _state["limit"].restore_original_limits()
