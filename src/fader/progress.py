"""Progress of long work: a bar on a terminal, plain lines elsewhere, nothing when quiet.

Knows nothing of the work itself: a task is a name and two numbers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

LINE_EVERY_SECONDS = 10.0


class Progress(Protocol):
    """Receives the progress of long work."""

    def update(self, done: float, total: float | None = None, note: str = "") -> None: ...


class Silent:
    """Reports nothing."""

    def update(self, done: float, total: float | None = None, note: str = "") -> None:
        return None


class ProgressLines:
    """A plain line every ten seconds, for logs and pipes."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._next = time.monotonic() + LINE_EVERY_SECONDS

    def update(self, done: float, total: float | None = None, note: str = "") -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + LINE_EVERY_SECONDS
        share = f"{100 * done / total:.0f}%" if total else f"{done:,.0f}"
        print(f"{self._title}: {share} {note}".rstrip(), file=sys.stderr, flush=True)


class Bar:
    """A Rich progress bar on a terminal."""

    def __init__(self, title: str) -> None:
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[note]}"),
        )
        self.rich = RichProgress(*columns, transient=True, console=_stderr_console())
        self._task = self.rich.add_task(title, total=None, note="")

    def update(self, done: float, total: float | None = None, note: str = "") -> None:
        self.rich.update(self._task, completed=done, total=total, note=note)


def _stderr_console() -> Any:
    from rich.console import Console

    return Console(stderr=True)


@contextmanager
def progress(title: str, quiet: bool = False) -> Iterator[Progress]:
    """A reporter that suits standard error: a bar on a terminal, lines elsewhere, or nothing."""
    if quiet:
        yield Silent()
    elif sys.stderr.isatty():
        bar = Bar(title)
        with bar.rich:
            yield bar
    else:
        yield ProgressLines(title)
