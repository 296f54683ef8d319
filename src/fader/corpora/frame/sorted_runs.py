"""Sorted runs on disk: lines whose first cell is an id, merged with memory that does not grow with them.

Lines of one id come in the order of the runs, and within a run in the order they were given. UTF-8 sorts by bytes as by
code points. Knows nothing of what the other cells mean.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from fader.jobs.files import sync_file

AT_ONCE = 200  # files open at a time


def identifier(line: bytes) -> bytes:
    """The first cell of a line."""
    return line.split(b"\t", 1)[0]


def write_run(path: Path, lines: Iterable[bytes]) -> None:
    """Lines, sorted by id, to a file that is on the disk when this returns."""
    with open(path, "wb") as file:
        file.writelines(line + b"\n" for line in sorted(lines, key=identifier))
        sync_file(file)


def merge_runs(paths: Sequence[Path]) -> Iterator[tuple[str, list[list[str]]]]:
    """Each id once, in order, with the other cells of its lines."""
    with ExitStack() as stack:
        for name, lines in groupby(_lines(_reduce_files(paths), stack), key=identifier):
            yield name.decode(), [line.decode().split("\t")[1:] for line in lines]


def _lines(paths: Sequence[Path], stack: ExitStack) -> Iterator[bytes]:
    files = [stack.enter_context(path.open("rb")) for path in paths]
    return heapq.merge(*(map(itemgetter(slice(-1)), file) for file in files), key=identifier)


def _reduce_files(paths: Sequence[Path]) -> list[Path]:
    """The same lines in no more files than may be open: neighbours are merged into one beside the first of them."""
    now = list(paths)
    level = 0
    while len(now) > AT_ONCE:
        level += 1
        groups = [now[i : i + AT_ONCE] for i in range(0, len(now), AT_ONCE)]
        now = [group[0].with_name(f"{group[0].name}.merged{level}") for group in groups]
        for group, path in zip(groups, now, strict=True):
            with ExitStack() as stack, open(path, "wb") as file:
                file.writelines(line + b"\n" for line in _lines(group, stack))
    return now
