"""Cuts a corpus into pieces that tasks can read independently, and reads their lines.

A *span* is a whole file, or a byte range of an uncompressed one; the lines that begin in it belong to it. A *piece* is
a list of adjacent spans; pieces have about the same size. Compressed files are not cut, since they can be read only
from their start.

Lines of a span are numbered from 1 at the start of a file, else from 2: only the first line of a file has the number 1,
and may begin with a byte order mark. The line number in the file is known when the lines of all spans before have been
counted (`Lines`). Until then the place of a line is `@SPAN:NUMBER`. Knows nothing of the contents of lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO, NamedTuple

from fader.cluster.storage import SourceFile, open_source, reading
from fader.corpus.readers import LineCutter, batches_of, is_compressed
from fader.limits import Limits

PIECE_BYTES = 256 << 20
CHUNK = 1 << 22
THREADS = 16
WINDOWS, WINDOW_BYTES = 32, 1 << 17  # parts of a span that are sampled for ids
_PLACE = re.compile(r"@([0-9]+):([0-9]+)")


class Span(NamedTuple):
    """A whole file, or a byte range of an uncompressed one."""

    source: int  # the number of the file
    start: int
    end: int  # the byte behind the last
    whole: bool


def cut(sources: Sequence[SourceFile], piece_bytes: int) -> tuple[list[Span], list[list[int]]]:
    """The spans of all sources, in order, and the pieces as lists of spans."""
    with ThreadPoolExecutor(THREADS) as pool:
        wholes = list(pool.map(lambda source: source.bytes <= piece_bytes or _is_compressed(source), sources))
    spans: list[Span] = []
    for number, (source, whole) in enumerate(zip(sources, wholes, strict=True)):
        size = source.bytes
        starts = [0] if whole else range(0, size, piece_bytes)
        spans += [Span(number, a, size if whole else min(a + piece_bytes, size), whole) for a in starts]
    pieces: list[list[int]] = []
    quota = 0
    for number, (_source, a, b, _whole) in enumerate(spans):
        if not pieces or b - a > quota:
            pieces.append([])
            quota = piece_bytes
        pieces[-1].append(number)
        quota -= b - a
    return spans, pieces


def _is_compressed(source: SourceFile) -> bool:
    with reading(source.path), open_source(source.path) as file:
        return is_compressed(file.read(4))


def first_number(span: Span) -> int:
    """The number of the first line of a span."""
    return 1 if span.start == 0 else 2


def lines_of(span: Span, source: SourceFile, limits: Limits) -> Iterator[tuple[int, list[bytes]]]:
    """Batches of lines, each with the number of its first line; a line over the limit is a `LongLine`."""
    with reading(source.path), open_source(source.path) as file:
        if span.whole:
            for first, lines, _consumed in batches_of(file, source.shown, limits):
                yield first, lines
        else:
            yield from _of_range(file, span, limits)


def _of_range(file: BinaryIO, span: Span, limits: Limits) -> Iterator[tuple[int, list[bytes]]]:
    """The lines that begin in [start, end) of an uncompressed file; the last one may end behind it."""
    _number, start, end, _whole = span
    number = first_number(span)
    file.seek(max(0, start - 1))
    skipping = start > 0  # bytes before the first line end belong to the previous span
    at, cutter = max(0, start - 1), LineCutter(limits.line_bytes)
    while at < end and (chunk := file.read(min(CHUNK, end - at))):
        at += len(chunk)
        if skipping:
            found = chunk.find(b"\n")
            if found < 0:
                continue
            chunk, skipping = chunk[found + 1 :], False
        lines = cutter.cut(chunk) if chunk else []
        if lines:
            yield number, lines
            number += len(lines)
    if skipping or not cutter.size:
        return
    while chunk := file.read(1 << 16):
        rest, ended, _behind = chunk.partition(b"\n")
        lines = cutter.cut(rest + ended)
        if ended:
            yield number, lines
            return
    yield number, [cutter.last()]


def windows_of(span: Span, source: SourceFile) -> tuple[list[Span], float]:
    """Short spans to sample a long one, and the factor of its size; a compressed file is not divided."""
    number, start, end, whole = span
    size = end - start
    if size <= 2 * WINDOWS * WINDOW_BYTES or (whole and _is_compressed(source)):
        return [span], 1.0
    starts = [start + n * (size // WINDOWS) for n in range(WINDOWS)]
    return [Span(number, a, a + WINDOW_BYTES, False) for a in starts], size / (WINDOWS * WINDOW_BYTES)


class Lines:
    """Maps a span and a line number in it to a file name and a line number in the file."""

    def __init__(self, spans: Sequence[Span], sources: Sequence[SourceFile], counts: Mapping[int, int]) -> None:
        self._spans, self._sources, self._before = spans, sources, list[int]()
        source, before = -1, 0
        for number, span in enumerate(spans):
            before = before if span.source == source else 0
            source = span.source
            self._before.append(before)
            before += counts.get(number, 0)

    def place(self, span: int, number: int) -> str:
        """`corpus.jsonl:17`."""
        found = self._spans[span]
        line = self._before[span] + number - first_number(found) + 1
        return f"{self._sources[found.source].shown}:{line}"

    def restore_place(self, message: str) -> tuple[tuple[int, int], str]:
        """The sort key of a message that begins with `@SPAN:NUMBER`, and the message with the real place."""
        match = _PLACE.match(message)
        if match is None:
            return (len(self._spans), 0), message
        span, number = int(match[1]), int(match[2])
        return (span, number), self.place(span, number) + message[match.end() :]


def place_of(span: int, number: int) -> str:
    """The place of a line whose number in its file is not known yet."""
    return f"@{span}:{number}"
