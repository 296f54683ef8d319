"""The memory that a query may take: claimed before arrays are made that grow with the collection.

    with allowance(limits):                              # of one query; nested ones are part of the outermost
        claim(rows * 8 * columns)                        # a LimitError where that is too much; held to the end
        with claimed(rows * 8):                          # held for the block
            ...
        claim_kept("scratch", size)                      # buffers of the thread: held to the end, counted once
        release_later(memo.clear)                        # called at the end of the block, or of the query

What is claimed is an estimate from above of what is allocated. The allowance belongs to the thread that set it; without
one nothing is counted. Knows nothing of what the memory is for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from fader.errors import LimitError
from fader.limits import Limits

REMEDY = "ask with rarer words or a narrower type"


class Allowance:
    """What a query holds, and the most that it held at a time, in bytes."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.held = self.most = 0
        self._kept: dict[Hashable, int] = {}
        self._releases: list[Callable[[], object]] = []

    def claim(self, size: int) -> None:
        """Hold so many bytes more; an error where they are too many."""
        check_memory(self.limits, self.held + size)
        self.held += size
        self.most = max(self.most, self.held)

    def claim_kept(self, key: Hashable, size: int) -> None:
        """Hold so many bytes under a key until the query ends, whatever block ends; of several sizes the largest."""
        more = size - self._kept.get(key, 0)
        if more > 0:
            self.claim(more)
            self._kept[key] = size

    @contextmanager
    def block(self, size: int) -> Iterator[None]:
        """Hold so many bytes, and what is claimed inside, for a block, and release what is to be released then."""
        before, outer = self.held - self._count_kept(), self._releases
        self.claim(size)
        self._releases = []
        try:
            yield
        finally:
            for release in self._releases:
                release()
            self.held, self._releases = before + self._count_kept(), outer

    def _count_kept(self) -> int:
        return sum(self._kept.values())

    def release_later(self, release: Callable[[], object]) -> None:
        """Call something at the end of the innermost block."""
        self._releases.append(release)


def check_memory(limits: Limits, needed: int) -> None:
    """Refuse what needs more bytes than a query may take."""
    most = limits.memory_mb
    if most is not None and needed > most << 20:
        raise LimitError(f"the query needs about {needed >> 20:,} MB; {limits.at_most('memory_mb')}; {REMEDY}")


_running: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextmanager
def allowance(limits: Limits) -> Iterator[Allowance]:
    """Count the memory of the block; inside of another one it is counted there."""
    outer = _running.get()
    if outer is not None:
        yield outer
        return
    mine = Allowance(limits)
    token = _running.set(mine)
    try:
        with mine.block(0):
            yield mine
    finally:
        _running.reset(token)


def claim(size: int) -> None:
    """Hold so many bytes until the query ends; without an allowance do nothing."""
    mine = _running.get()
    if mine is not None:
        mine.claim(size)


def claim_kept(key: Hashable, size: int) -> None:
    """Hold the bytes of a buffer that stays with the thread, whichever query made it; without an allowance nothing."""
    mine = _running.get()
    if mine is not None:
        mine.claim_kept(key, size)


@contextmanager
def claimed(size: int = 0) -> Iterator[None]:
    """Hold so many bytes, and what is claimed inside, for the block."""
    mine = _running.get()
    if mine is None:
        yield
        return
    with mine.block(size):
        yield


def release_later(release: Callable[[], object]) -> None:
    """Call something when the block of a query ends; without an allowance do nothing.

    What refers to itself would stay until it is collected, however large it is.
    """
    mine = _running.get()
    if mine is not None:
        mine.release_later(release)
