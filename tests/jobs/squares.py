"""A job of the tests: squares of numbers, kept one by one or appended to a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from fader.jobs.growing import GrowingFiles
from fader.jobs.job import Job, KeptResults
from fader.jobs.journal import Journal

KEY = {"version": "1", "numbers": 20}


@dataclass(frozen=True)
class Number:
    """An item."""

    n: int

    @property
    def entry(self) -> str:
        return f"{self.n:06d}"


def square(item: Number) -> bytes:
    """What is done with a number; -1 kills its process."""
    if item.n < 0:
        os._exit(1)
    return str(item.n**2).encode()


def make_worker() -> Callable[[Number], bytes]:
    return square


def kept_job(numbers: Iterable[int] = range(20)) -> Job[Number, bytes, bytes]:
    """Squares kept one by one, joined by commas."""
    items = [Number(n) for n in numbers]
    return Job(KEY, items, make_worker, lambda journal: KeptResults(journal, lambda results: b",".join(results)))


class Appended:
    """The join of a growing job: three squares a part."""

    def __init__(self, journal: Journal, folder: Path) -> None:
        self._growing, self._folder = GrowingFiles(journal, folder, ["out"]), folder
        self._growing.restore()
        self._held: list[bytes] = []

    def choose_left(self, items: Iterable[Number]) -> Iterator[Number]:
        return islice(items, self._growing.parts * 3, None)

    def take(self, item: Number, result: bytes) -> None:
        self._held.append(result + b",")
        if len(self._held) == 3:
            self._end_part()

    def _end_part(self) -> None:
        self._growing.end_part({"out": b"".join(self._held)}, b"")
        self._held = []

    def finish(self) -> bytes:
        if self._held:
            self._end_part()
        return (self._folder / "out").read_bytes()


def growing_job(folder: Path) -> Job[Number, bytes, bytes]:
    """Squares appended to a file."""
    return Job(KEY, [Number(n) for n in range(20)], make_worker, lambda journal: Appended(journal, folder))
