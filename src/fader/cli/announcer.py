"""What people see while kernels are compiled, which happens once per machine: on standard error, unless quiet.

The first line comes with the first kernel. Then a terminal shows which kernel is being compiled, and a log gets a line
every ten seconds.
"""

from __future__ import annotations

import sys
import time

LINE_EVERY_SECONDS = 10.0
ERASE = "\r\x1b[K"


class Announcer:
    """Says that a command compiles, and how far it is; a `compiling.Watcher`."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self._said = False
        self._began = self._next = 0.0
        self._done = 0

    def announce(self) -> None:
        """Say that kernels are compiled, if nobody has said so; beforehand, where other processes compile."""
        if self.quiet or self._said:
            return
        self._said, self._began = True, time.monotonic()
        self._next = self._began + LINE_EVERY_SECONDS
        self._write("Compiling kernels, once per machine, which takes 10 to 40 seconds.\n")

    def began(self, name: str) -> None:
        self.announce()
        now = time.monotonic()
        if self.quiet:
            return
        if sys.stderr.isatty():
            self._write(f"{ERASE}  {self._done} compiled in {now - self._began:.0f} s, now {name}")
        elif now >= self._next:
            self._next = now + LINE_EVERY_SECONDS
            self._write(f"Compiling: {self._done} kernels in {now - self._began:.0f} s, now {name}\n")

    def ended(self) -> None:
        self._done += 1
        if not self.quiet and sys.stderr.isatty():
            self._write(ERASE)

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
