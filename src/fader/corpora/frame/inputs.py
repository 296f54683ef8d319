"""Sources in raw pieces: lines, groups of lines, byte streams cut at a mark, or whole files; any compression.

A source that is damaged or cut short gives what it holds up to there and a fault; the next source follows. Pieces are
of bounded size unless a single record is larger, and a record beyond the limit on lines is passed over with a fault.
Knows nothing of what is in the pieces.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from os.path import basename

from fader.corpora.frame.base import Batch
from fader.corpora.frame.faults import at
from fader.corpus.documents import Faults
from fader.corpus.readers import LongLine, display_name, file_size, read_batches, read_chunks, too_long, without_mark
from fader.errors import InputError
from fader.limits import Limits

PIECE = 1 << 20  # bytes of a piece, about
CUT = "sources damaged or cut short"
BROKEN = "lines that are not UTF-8"
OVER = "records over a limit"
HEAD = 1 << 20  # bytes of a source by which its layout is known
_PACKED = (".gz", ".bz2", ".zst")


def expand_folders(sources: Sequence[str]) -> list[str]:
    """The sources with each folder replaced by the files below it, hidden ones left out, in the order of paths."""
    found: list[str] = []
    for source in sources:
        if not os.path.isdir(source):
            found.append(source)
            continue
        below: list[str] = []
        for folder, folders, names in os.walk(source):
            folders[:] = [name for name in folders if not name.startswith(".")]
            below.extend(os.path.join(folder, name) for name in names if not name.startswith("."))
        if not below:
            raise InputError(f"{source}: a folder without files; give a file, or a folder that has some")
        found.extend(sorted(below))
    return found


def line_batches(sources: Sequence[str], faults: Faults, size: int | None = None) -> Iterator[Batch]:
    """Cut whole lines: the payload is a list of bytes without line ends, the place the first line's number."""
    return group_batches(sources, faults, None, size)


def group_batches(
    sources: Sequence[str], faults: Faults, opens: Callable[[bytes], object] | None, size: int | None = None
) -> Iterator[Batch]:
    """Pieces of whole lines that are cut only before a line that opens a record (`opens` gives a true value)."""
    limits, size = Limits.from_environment(), size or PIECE
    for source in sources:
        held: list[bytes] = []
        first, weight, consumed, number = 1, 0, 0, 0
        try:
            for start, lines, consumed in read_batches(source, limits):
                for number, raw in enumerate(lines, start):
                    line = raw
                    if isinstance(line, LongLine):
                        faults.add(OVER, f"{at(display_name(source), number)}: {too_long(line, limits)}")
                        line = b""
                    if weight >= size and (opens is None or opens(line)):
                        yield Batch(display_name(source), first, held, consumed)
                        held, first, weight = [], number, 0
                    held.append(line)
                    weight += len(line) + 1
        except InputError as error:
            report_cut(faults, source, error, number > 0)
        if held:
            yield Batch(display_name(source), first, held, consumed)


def mark_batches(sources: Sequence[str], faults: Faults, mark: bytes, size: int | None = None) -> Iterator[Batch]:
    """Pieces of bytes that end right behind a mark, such as `</page>`; the last of a source may lack it.

    The place is the offset of the first byte in the uncompressed source, from 0.
    """
    limit, size = Limits.from_environment().line_bytes, size or PIECE
    for source in sources:
        held = bytearray()
        place, consumed, some, passing = 0, 0, False, False
        try:
            for chunk, consumed in read_chunks(source):
                some = True
                searched = max(0, len(held) - len(mark))
                held += chunk
                while len(held) >= size:
                    end = held.find(mark, max(size - len(mark), searched))
                    if end < 0:
                        break
                    end += len(mark)
                    if not passing:
                        yield Batch(display_name(source), place, bytes(held[:end]), consumed)
                    place, searched, passing = place + end, 0, False
                    del held[:end]
                if len(held) > limit + size:
                    if not passing:
                        report_excess(faults, source, place, mark)
                    passing = True
                    place += len(held) - len(mark)
                    del held[: len(held) - len(mark)]
        except InputError as error:
            report_cut(faults, source, error, some)
        if held.strip() and not passing:
            yield Batch(display_name(source), place, bytes(held), consumed)


def whole_files(sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
    """A piece per source: all its bytes; the place is 0."""
    limit = Limits.from_environment().line_bytes
    for source in sources:
        held = bytearray()
        try:
            for chunk, _consumed in read_chunks(source):
                held += chunk
                if len(held) > limit:
                    break
        except InputError as error:
            report_cut(faults, source, error, bool(held))
        if len(held) > limit:
            report_excess(faults, source, 0, b"its end")
        elif held:
            yield Batch(display_name(source), 0, bytes(held), file_size(source))


def decode_line(line: bytes, number: int, source: str, faults: Faults) -> str | None:
    """A line as text, without byte order mark and carriage return; None, and a fault, where it is not UTF-8."""
    try:
        return without_mark(line, number).decode("utf-8").rstrip("\r")
    except UnicodeDecodeError as error:
        faults.add(BROKEN, f"{at(source, number)}: not UTF-8 at byte {error.start + 1}; save the file as UTF-8")
        return None


def decode_lines(numbered: Iterable[tuple[int, bytes]], source: str, faults: Faults) -> Iterator[tuple[int, str]]:
    """The lines that are UTF-8, as text, with their numbers; each of the others is a fault."""
    for number, raw in numbered:
        if (line := decode_line(raw, number, source, faults)) is not None:
            yield number, line


def report_cut(faults: Faults, source: str, error: InputError, some: bool) -> None:
    """A damaged source is a fault; one that cannot be read at all is an error whatever the policy."""
    if not some and "damaged or cut short" not in str(error):
        raise error
    faults.add(CUT, str(error))


def report_excess(faults: Faults, source: str, place: int, mark: bytes) -> None:
    """A record that has no end within the limit is a fault."""
    limits = Limits.from_environment()
    what = f"no {mark.decode('ascii', 'replace')} within {limits.line_bytes:,} bytes"
    faults.add(OVER, f"{at(display_name(source), place, 'byte')}: {what}; {limits.at_most('line_bytes')}")


def companion_lines(path: str, faults: Faults) -> Iterator[tuple[int, bytes, int]]:
    """Read the lines of a file that an option names, with their numbers and the bytes of the file that were read.

    As with sources, a line over the limit, or an early end, is a fault, and the other lines are read.
    """
    limits, number = Limits.from_environment(), 0
    try:
        for first, lines, consumed in read_batches(path, limits):
            for number, line in enumerate(lines, first):
                if isinstance(line, LongLine):
                    faults.add(OVER, f"{at(display_name(path), number)}: {too_long(line, limits)}")
                else:
                    yield number, line, consumed
    except InputError as error:
        report_cut(faults, path, error, number > 0)


def head(source: str, size: int = HEAD) -> bytes:
    """The first bytes of a source, uncompressed, without byte order mark; none if it cannot be read.

    Its cutter will tell of that. Standard input cannot be looked at without losing what was read.
    """
    begin = b""
    if source != "-":
        with closing(read_chunks(source)) as chunks, suppress(InputError):  # type: ignore[type-var]
            while len(begin) < size and (chunk := next(chunks, (b"", 0))[0]):
                begin += chunk
    return begin[:size].removeprefix(b"\xef\xbb\xbf")


def stem(source: str, *suffixes: str) -> str:
    """The name of a source without folder, compression and one of the suffixes (any one, if none are given)."""
    name = plain(basename(source))
    if suffixes:
        return next((name.removesuffix(s) for s in suffixes if name.endswith(s)), name)
    return name.rpartition(".")[0] or name


def plain(source: str) -> str:
    """A path without the suffix of a compression."""
    return next((source.removesuffix(s) for s in _PACKED if source.endswith(s)), source)
