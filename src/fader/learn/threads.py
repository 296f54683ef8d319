"""Who may use which processors while weights are sought: BLAS has one, and a fit has all unless others run beside it.

An optimiser's matrices have a hundred rows; threads of BLAS wait there for each other longer than they compute, and
take the processors from folds that run side by side. Sums also come out in other last bits with another number of
threads, and must not. The setting is the process's, so whoever comes first makes it and whoever goes last undoes it,
from whatever thread. Whether work runs side by side is a mark of each thread. Knows nothing of what is computed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import threadpoolctl

_lock = threading.Lock()
_state: dict[str, Any] = {"users": 0, "limit": None}
_thread = threading.local()


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def side_by_side() -> Iterator[None]:
    """What this thread does inside runs beside the like of it in other threads."""
    before = getattr(_thread, "beside", False)
    _thread.beside = True
    try:
        yield
    finally:
        _thread.beside = before


def threads() -> int:
    """How many threads a computation may use: one where others run beside it."""
    return 1 if getattr(_thread, "beside", False) else cores()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """One thread of BLAS, as long as anybody is inside."""
    with _lock:
        _state["users"] += 1
        if _state["users"] == 1:
            _take_over()
            _state["limit"] = threadpoolctl.ThreadpoolController().select(user_api="blas").limit(limits=1)
    try:
        yield
    finally:
        with _lock:
            _state["users"] -= 1
            if _state["users"] == 0:
                _take_over()
                _state["limit"].restore_original_limits()
                _take_over()


def _take_over() -> None:
    """Let any thread set the limit next: threadpoolctl, from 3.8 on, obeys the thread that did so first alone, and
    passes over all others without a word as long as that one lives."""
    clear = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)
