"""Work side by side, and which processors it may use: BLAS has one, and a fit has all unless others run beside it.

An optimiser's matrices have a hundred rows; threads of BLAS wait there for each other longer than they compute, and
take the processors from folds that run side by side. Sums also have other last bits with another number of threads,
which must not be. The limit holds for the process, so the first thread to need it sets it and the last one lifts it.
Whether work runs side by side is a mark of each thread. Knows nothing of what is computed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import threadpoolctl

from fader.jobs.runners import count_cores
from fader.progress import Progress

T = TypeVar("T")
R = TypeVar("R")
_lock = threading.Lock()


@dataclass
class _BlasLimit:
    """How many need one thread of BLAS, and what restores the others."""

    users: int = 0
    limit: Any = None


_blas = _BlasLimit()
_thread = threading.local()


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
    return 1 if getattr(_thread, "beside", False) else count_cores()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """One thread of BLAS, as long as anybody is inside."""
    with _lock:
        _blas.users += 1
        if _blas.users == 1:
            _take_over()
            _blas.limit = threadpoolctl.ThreadpoolController().select(user_api="blas").limit(limits=1)
    try:
        yield
    finally:
        with _lock:
            _blas.users -= 1
            if _blas.users == 0:
                _take_over()
                _blas.limit.restore_original_limits()
                _take_over()


def _take_over() -> None:
    """Let any thread set the limit next: threadpoolctl, from 3.8 on, obeys the thread that did so first alone, and
    passes over all others without a word as long as that one lives."""
    clear = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


class Pool(Protocol):
    """Works in place of threads of this process: on other machines, say. `systems` systems may be trained at once."""

    @property
    def systems(self) -> int: ...

    def each(self, work: Callable[[T], R], items: Sequence[T], progress: Progress, note: str) -> list[R]:
        """`work` of every item, in order; it may be done elsewhere, on copies of what it holds."""
        ...

    def stop(self, reason: BaseException) -> None:
        """Give up what is under way in all threads."""
        ...


Workers = int | Pool  # so many threads, or a pool


def in_parallel(work: Callable[[T], R], items: Sequence[T], workers: Workers, progress: Progress, note: str) -> list[R]:
    """Results in order. Threads, as compiled kernels run without the interpreter's lock and share the dataset."""
    if not isinstance(workers, int):
        return workers.each(work, items, progress, note)
    workers = max(1, min(workers, len(items)))

    def alone(item: T) -> R:
        with side_by_side() if workers > 1 else nullcontext():
            return work(item)

    results: list[R] = []
    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        for done, result in enumerate(pool.map(alone, items), 1):
            results.append(result)
            progress.update(done, len(items), note)
    return results
