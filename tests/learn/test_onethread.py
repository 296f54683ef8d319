"""BLAS has one thread for as long as anybody is inside, whichever threads come and go."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from fader.learn.threads import one_blas_thread, side_by_side, threads


def blas() -> list[int]:
    """How many threads each BLAS of this process has."""
    np.dot(np.eye(2), np.eye(2))
    return [library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()]


@pytest.fixture(autouse=True)
def three() -> Iterator[None]:
    """Three threads of BLAS before and after, on any machine."""
    with threadpool_limits(3, user_api="blas"):
        if set(blas()) != {3}:
            pytest.skip("the number of this BLAS's threads cannot be set")
        yield
        assert set(blas()) == {3}


def elsewhere(work: Callable[[], object]) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


def inside() -> None:
    with one_blas_thread():
        assert set(blas()) == {1}
        with one_blas_thread():
            assert set(blas()) == {1}
        assert set(blas()) == {1}
    assert set(blas()) == {3}


def test_every_thread_can_ask_for_it() -> None:
    """Also when another one, which lives on, asked before."""
    inside()
    elsewhere(inside)
    inside()


def test_the_last_to_go_undoes_what_the_first_did() -> None:
    """The first goes before another thread has done; the setting stays until that goes."""
    came, may_go = threading.Event(), threading.Event()

    def long() -> None:
        with one_blas_thread():
            came.set()
            assert may_go.wait(60)
            assert set(blas()) == {1}
        assert set(blas()) == {3}

    with ThreadPoolExecutor(1) as pool:
        with one_blas_thread():
            running = pool.submit(long)
            assert came.wait(60)
        assert set(blas()) == {1}
        may_go.set()
        running.result()


def test_side_by_side_is_a_mark_of_a_thread() -> None:
    """What runs beside its like has one thread; others know nothing of it."""
    every = threads()
    with side_by_side():
        assert threads() == 1
        seen: list[int] = []
        elsewhere(lambda: seen.append(threads()))
        assert seen == [every]
    assert threads() == every
