"""What makes long runs resumable: a work folder that one run at a time enters, files that are whole or as before, and
results of several processes in the order of the work.

Worker processes end with their parent, however it ends. Knows nothing of what is done.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

from fader.errors import StorageError

LOCK = "lock"
AHEAD = 3  # pieces of work under way for each process

Work = TypeVar("Work")
Done = TypeVar("Done")


@contextmanager
def locked(work: Path, out: Path) -> Iterator[None]:
    """The work folder of an output, made where it is not there; one run at a time."""
    work.mkdir(parents=True, exist_ok=True)
    with open(work / LOCK, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StorageError(f"{out}: another run is writing here; wait for it, or choose another output") from None
        yield


@contextmanager
def storage_errors(out: Path) -> Iterator[None]:
    """System errors while writing in the project's words."""
    try:
        yield
    except (FileExistsError, NotADirectoryError):
        raise StorageError(f"{out}: is not a folder; choose another place") from None
    except OSError as error:
        kept = "what is done is kept, and the same command goes on from there"
        raise StorageError(f"{out}: cannot be written: {error.strerror or error}; {kept}") from None


def stamp(path: str) -> list[int]:
    """Size and time of change of a file; standard input is never the same again."""
    if path == "-":
        return [time.time_ns(), os.getpid()]
    found = os.stat(path)
    return [found.st_size, found.st_mtime_ns]


def sync(file: IO[Any]) -> None:
    """Put what was written on the disk itself."""
    file.flush()
    os.fsync(file.fileno())


def write_whole(path: Path, data: bytes) -> None:
    """A file that is there with all its bytes or not at all."""
    beside = path.with_name(path.name + ".new")
    with open(beside, "wb") as file:
        file.write(data)
        sync(file)
    os.replace(beside, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make new names in a folder survive a power loss."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def in_order(
    rest: Iterator[Work], make: Callable[[], Callable[[Work], Done]], label: Callable[[Work], Any], processes: int
) -> Iterator[tuple[Any, Done]]:
    """The label and the result of each piece of work, in order; `make` gives each process its worker.

    Only a few pieces are under way at a time; a label is what is kept of a piece, which may be large.
    """
    if processes == 1:
        worker = make()
        for piece in rest:
            yield label(piece), worker(piece)
        return
    # Spawned, not forked: the parent may have threads.
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _start, (make,))
    waiting: deque[tuple[Any, Future[Done]]] = deque()
    try:
        for piece in rest:
            waiting.append((label(piece), pool.submit(_work, piece)))
            if len(waiting) > AHEAD * processes:
                yield _taken(waiting)
        while waiting:
            yield _taken(waiting)
    finally:
        pool.shutdown(cancel_futures=True)


def _taken(waiting: deque[tuple[Any, Future[Done]]]) -> tuple[Any, Done]:
    label, future = waiting.popleft()
    try:
        return label, future.result()
    except BrokenProcessPool:
        remedy = "it may have run out of memory: run the same command with fewer --processes; it goes on where it was"
        guard = "a script that asks for several must do so under `if __name__ == '__main__':`"
        raise StorageError(f"a worker process ended; {remedy} ({guard})") from None


_worker: Callable[[Any], Any] | None = None


def _start(make: Callable[[], Callable[[Any], Any]]) -> None:
    """Begin a worker process."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is told too, and ends the workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = make()


def _end_with_parent() -> None:
    """A parent that was killed cannot end its workers, which would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(piece: Any) -> Any:
    assert _worker is not None
    return _worker(piece)
