"""Who is told when kernels are compiled, which takes seconds, once per machine.

The command line says here what it wants to hear before numba is loaded, which `fader --help` does without. Knows
nothing of numba.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Watcher(Protocol):
    """Is told when a kernel begins and ends to be compiled; what it calls is compiled with it."""

    def began(self, name: str) -> None: ...

    def ended(self) -> None: ...


_watchers: list[Watcher] = []


@contextmanager
def watch(watcher: Watcher) -> Iterator[None]:
    """Tell a watcher of everything that is compiled meanwhile."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def began(name: str) -> None:
    """Pass on that a kernel begins to be compiled."""
    for watcher in _watchers:
        watcher.began(name)


def ended() -> None:
    """Pass on that it is compiled."""
    for watcher in _watchers:
        watcher.ended()
