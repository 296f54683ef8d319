"""What runs jobs: this process, threads of it, or several processes.

Processes are spawned, take a few items ahead, give results in the order of items, and end with their parent, however it
ends. The runner on Ray is `fader.cluster.jobs.scheduler.OnRay`, whose results come in any order. Knows nothing of what
is done.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from fader import errors
from fader.errors import ClusterError, FaderError, StorageError, UsageError

AHEAD = 3  # items under way for each process

Item = TypeVar("Item")
Result = TypeVar("Result")
Work = Callable[[], Callable[[Item], Result]]
Take = Callable[[Item, Result], None]


@dataclass(frozen=True)
class Failure:
    """A result that stands for an error, so that it crosses processes in our words.

    `name` is the item's for messages, `kind` a class of `fader.errors`; with `again`, another try may succeed.
    """

    name: str
    kind: str
    message: str
    again: bool = False

    def to_error(self) -> FaderError:
        """The error to raise; one that may pass names what was being done."""
        made: FaderError = getattr(errors, self.kind, FaderError)(self.message)
        return ClusterError(f"{self.name}: {made}") if self.again else made


def count_cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Runner(Protocol[Item]):
    """Runs the items of a job."""

    def run(self, work: Work[Item, Result], items: Iterable[Item], take: Take[Item, Result]) -> None:
        """Do all items and hand each result to `take`, in this thread; raise the first error."""
        ...


def choose_runner(processes: int) -> Runner[Any]:
    """The runner for a number of processes."""
    if processes < 1:
        raise UsageError(f"processes must be 1 or more, not {processes}")
    return InProcess() if processes == 1 else Processes(processes)


class InProcess:
    """Does items here, one after another."""

    def run(self, work: Work[Item, Result], items: Iterable[Item], take: Take[Item, Result]) -> None:
        worker = work()
        for item in items:
            take(item, _check_result(worker(item)))


@dataclass(frozen=True)
class Threads:
    """Does items in threads, for work that waits; results are taken as they come. `stop` hears of the first error."""

    count: int
    stop: Callable[[BaseException], None] = lambda _error: None

    def run(self, work: Work[Item, Result], items: Iterable[Item], take: Take[Item, Result]) -> None:
        worker, pool = work(), ThreadPoolExecutor(self.count)
        try:
            running = {pool.submit(worker, item): item for item in items}
            for future in as_completed(running):
                take(running[future], _check_result(future.result()))
        except BaseException as error:
            self.stop(error)
            raise
        finally:
            pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class Processes:
    """Does items in several processes; results are taken in the order of items."""

    count: int

    def run(self, work: Work[Item, Result], items: Iterable[Item], take: Take[Item, Result]) -> None:
        # Spawned, not forked: the parent may have threads.
        pool = ProcessPoolExecutor(self.count, multiprocessing.get_context("spawn"), _start_worker, (work,))
        waiting: deque[tuple[Item, Future[Result]]] = deque()

        def take_first() -> None:
            item, future = waiting.popleft()
            take(item, _check_result(future.result()))

        try:
            for item in items:
                with _block_interrupts():
                    waiting.append((item, pool.submit(_work_on, item)))
                if len(waiting) > AHEAD * self.count:
                    take_first()
            while waiting:
                take_first()
        except BrokenProcessPool:
            remedy = "it may have run out of memory: run the same command with fewer --processes"
            guard = "a script that asks for several must do so under `if __name__ == '__main__':`"
            raise StorageError(f"a worker process ended; {remedy}; it goes on where it was ({guard})") from None
        finally:
            pool.shutdown(cancel_futures=True)


def _check_result(result: Result) -> Result:
    if isinstance(result, Failure):
        raise result.to_error()
    return result


@contextmanager
def _block_interrupts() -> Iterator[None]:
    """Keep Ctrl-C from processes that are started here, from their first moment on; this one gets it a little later."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_worker: Callable[[Any], Any] | None = None  # the function of this worker process


def _start_worker(work: Work[Any, Any]) -> None:
    """Begin a worker process."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends the workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = work()


def _end_with_parent() -> None:
    """A parent that was killed cannot end its workers, which would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work_on(item: Any) -> Any:
    assert _worker is not None
    return _worker(item)
