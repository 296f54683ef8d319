"""Progress of long work: a bar on a terminal or in a notebook, plain lines elsewhere, nothing when quiet.

Knows nothing of the work itself: a task is a name and two numbers.
"""

from __future__ import annotations

import html
import importlib
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

LINE_EVERY_SECONDS = 10.0
DRAW_EVERY_SECONDS = 0.2
QUICK_SECONDS = 0.5  # work that takes less has no bar in a notebook


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


class NotebookBar:
    """A bar below the cell of a notebook, for as long as the work goes on."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._next = time.monotonic() + QUICK_SECONDS
        self._shown: Any = None

    def update(self, done: float, total: float | None = None, note: str = "") -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + DRAW_EVERY_SECONDS
            value = f' value="{min(done / total, 1.0):.3f}"' if total else ""
            self._show(f"{html.escape(self._title)} <progress{value}></progress> <small>{html.escape(note)}</small>")

    def close(self) -> None:
        """Take it away."""
        if self._shown is not None:
            self._show("")

    def _show(self, markup: str) -> None:
        notebook: Any = importlib.import_module("IPython.display")  # there, as this is a notebook
        page = notebook.HTML(markup)
        if self._shown is None:
            self._shown = notebook.display(page, display_id=True)
        else:
            self._shown.update(page)


def in_notebook() -> bool:
    """Whether what this process does is seen in a notebook; imports nothing for it."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


@contextmanager
def watch(title: str, given: Progress | None) -> Iterator[Progress | None]:
    """What is given to a call of the library; without it a bar in a notebook, and nothing elsewhere."""
    if given is not None or not in_notebook():
        yield given
        return
    bar = NotebookBar(title)
    try:
        yield bar
    finally:
        bar.close()


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
