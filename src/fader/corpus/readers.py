"""Lines of text files, plain, gzip, bzip2 or zstandard, or standard input, in bounded memory.

Of a line that is longer than the limit only the start is kept, whatever a compressed file expands to. A damaged or cut
file gives a clear error that names the last whole line before the damage. Knows nothing of what the lines mean.
"""

from __future__ import annotations

import bz2
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO, NamedTuple

from fader.errors import InputError, quote
from fader.limits import Limits

CHUNK = 1 << 22
ZSTD_STEP = 512  # bytes taken at once: what they expand to cannot be limited, and is 32,768 times as much at most
SHOWN = 60  # bytes of a line that a message shows


class LongLine(bytes):
    """The start of a line that is longer than the limit; `size` is what the line has."""

    size: int


def display_name(path: str | Path) -> str:
    """The name by which messages call the file."""
    return "<stdin>" if str(path) == "-" else str(path)


def read_batches(path: str | Path, limits: Limits | None = None) -> Iterator[tuple[int, list[bytes], int]]:
    """Yield `(number of the first line, lines without their ends, compressed bytes read so far)`.

    A line over the limit is a `LongLine`. Without limits given, those of the environment hold.
    """
    with _translate_errors(display_name(path)), _open_raw(path) as raw:
        yield from batches_of(raw, display_name(path), limits)


def batches_of(raw: BinaryIO, name: str, limits: Limits | None = None) -> Iterator[tuple[int, list[bytes], int]]:
    """What `read_batches` yields, of a stream that is open already; `name` is what messages call it."""
    first, cutter = 1, LineCutter((limits or Limits.from_environment()).line_bytes)
    stream = _Decompressed(raw)
    try:
        while chunk := stream.read():
            lines = cutter.cut(chunk)
            if lines:
                yield first, lines, stream.count_consumed()
                first += len(lines)
    except _DAMAGES as error:
        raise _cut_short(name, first, error) from None
    if cutter.size:
        yield first, [cutter.last()], stream.count_consumed()


class LineBlock(NamedTuple):
    """Lines that are read together, each with its end, and how far in the input they reach.

    Where the first one is over the limit, an empty line stands for it in `data`, and it is `long`.
    """

    first: int
    data: bytes
    long: LongLine | None
    consumed: int


def read_blocks(path: str | Path, limits: Limits) -> Iterator[LineBlock]:
    """The same lines as `read_batches` yields, not cut into lines."""
    name = display_name(path)
    with _translate_errors(name), _open_raw(path) as raw:
        first, cutter, stream = 1, LineCutter(limits.line_bytes), _Decompressed(raw)
        try:
            while chunk := stream.read():
                data, long = cutter.cut_block(chunk)
                if data:
                    yield LineBlock(first, data, long, stream.count_consumed())
                    first += data.count(b"\n")
        except _DAMAGES as error:
            raise _cut_short(name, first, error) from None
        if cutter.size:
            data, long = cutter.cut_block(b"\n")
            yield LineBlock(first, data, long, stream.count_consumed())


def _cut_short(name: str, first: int, error: Exception) -> InputError:
    at = f"{name}: damaged or cut short after line {first - 1}"
    return InputError(f"{at} ({error}); get a whole copy of the file")


def is_compressed(head: bytes) -> bool:
    """Whether a stream that begins so is undone before it is read as lines."""
    return _compression(head[:4]) is not None


def _compression(head: bytes) -> str | None:
    """How a stream is compressed that begins with these four bytes, or fewer if it has no more; None if it is not."""
    if head[:2] == b"\x1f\x8b":
        return "gzip"
    if head[:3] == b"BZh" and head[3:] in b"123456789":
        return "bzip2"
    skippable = head[1:] == b"\x2a\x4d\x18" and head[0] & 0xF0 == 0x50
    return "zstandard" if skippable or head == b"\x28\xb5\x2f\xfd" else None


def read_chunks(path: str | Path) -> Iterator[tuple[bytes, int]]:
    """Yield `(decompressed bytes, compressed bytes read so far)`, for files that are not read by lines."""
    reached = 0
    with _translate_errors(display_name(path)), _open_raw(path) as raw:
        stream = _Decompressed(raw)
        try:
            while chunk := stream.read():
                yield chunk, stream.count_consumed()
                reached += len(chunk)
        except _DAMAGES as error:
            at = f"{display_name(path)}: damaged or cut short after byte {reached:,} of what it holds"
            raise InputError(f"{at} ({error}); get a whole copy of the file") from None


class LineCutter:
    """Cuts chunks into lines. The line that is not ended yet is kept in pieces, and only its start beyond the limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self.size = 0

    def cut(self, chunk: bytes) -> list[bytes]:
        """The lines that end in a chunk."""
        head, *lines = chunk.split(b"\n")
        self._grow(head)
        if not lines:
            return []
        ended, rest = self.last(), lines.pop()
        self._grow(rest)
        if len(chunk) > self._limit:
            lines = [check_length(line, self._limit) for line in lines]
        return [ended, *lines]

    def cut_block(self, chunk: bytes) -> tuple[bytes, LongLine | None]:
        """The lines that end in a chunk, each with its end; where the first is over the limit, it is given beside."""
        a, b = chunk.find(b"\n"), chunk.rfind(b"\n") + 1
        self._grow(chunk[:a] if b else chunk)
        if not b:
            return b"", None
        ended = self.last()
        self._grow(chunk[b:])
        return (chunk[a:b], ended) if isinstance(ended, LongLine) else (b"".join((ended, chunk[a:b])), None)

    def last(self) -> bytes:
        """What is kept, as a line; nothing is kept then."""
        line = check_length(b"".join(self._pieces), self._limit, self.size)
        self._pieces, self.size = [], 0
        return line

    def _grow(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self.size += len(piece)
        if self.size > self._limit:
            self._pieces = [b"".join(piece[:SHOWN] for piece in self._pieces)[:SHOWN]]


def check_length(line: bytes, limit: int, size: int | None = None) -> bytes:
    """The line, or its start as a `LongLine` where its size, if not given that of what is there, is over the limit."""
    size = len(line) if size is None else size
    if size <= limit:
        return line
    long = LongLine(line[:SHOWN])
    long.size = size
    return long


def too_long(line: LongLine, limits: Limits) -> str:
    """What is wrong with a line over the limit."""
    return f"a line of {line.size:,} bytes; {limits.at_most('line_bytes')}: {show_line(line)}"


def read_lines(
    path: str | Path, fault: Callable[[str], None] | None = None, limits: Limits | None = None
) -> Iterator[tuple[int, str]]:
    """Yield `(line number, text)`.

    A line that is not UTF-8 or too long goes to `fault`, which raises or passes it over; without one it is an error.
    """
    limits = limits or Limits.from_environment()
    for first, lines, _consumed in read_batches(path, limits):
        for number, line in enumerate(lines, first):
            place = f"{display_name(path)}:{number}"
            if isinstance(line, LongLine):
                _tell(fault, f"{place}: {too_long(line, limits)}")
                continue
            try:
                text = without_mark(line, number).decode("utf-8").rstrip("\r")
            except UnicodeDecodeError as error:
                _tell(fault, f"{place}: not UTF-8 at byte {error.start + 1}; save the file as UTF-8")
                continue
            yield number, text


def without_mark(line: bytes, number: int) -> bytes:
    """The line without a byte order mark before the first."""
    return line[3:] if number == 1 and line.startswith(b"\xef\xbb\xbf") else line


def _tell(fault: Callable[[str], None] | None, message: str) -> None:
    if fault is None:
        raise InputError(message)
    fault(message)


def check_readable(source: object) -> None:
    """Refuse at once a path that cannot be read; anything else than a path is left to its reader."""
    if isinstance(source, str | Path) and str(source) != "-":
        with _translate_errors(display_name(source)):
            if not stat.S_ISFIFO(os.stat(source).st_mode):  # a pipe can be opened only once
                open(source, "rb").close()


@contextmanager
def _translate_errors(name: str) -> Iterator[None]:
    """System errors in the project's words, as their cause: a caller may have to tell them from faults of the file."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{name}: no such file; check the path") from error
    except IsADirectoryError as error:
        raise InputError(f"{name}: is a folder; give a file") from error
    except (OSError, ValueError) as error:  # a name with a NUL or half a character is a ValueError
        raise InputError(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def file_size(path: str | Path) -> int:
    """Bytes of the file as it lies on disk; 0 for standard input."""
    return 0 if str(path) == "-" else os.path.getsize(path)


def _open_raw(path: str | Path) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if str(path) == "-" else open(path, "rb")


class _TruncatedError(Exception):
    """A compressed stream that ends before its end mark."""


class _DamagedError(Exception):
    """A compressed stream whose bytes make no sense."""


# What is raised where a compressed stream cannot be undone. A constant: a reader that is left amid a file looks at it
# when the interpreter ends, when nothing can be imported.
_DAMAGES = (_TruncatedError, _DamagedError, zlib.error)


class _Decompressed:
    """A stream that undoes gzip, bzip2 or zstandard, recognised by content, never by file name."""

    def __init__(self, raw: BinaryIO) -> None:
        head = raw.peek(4)[:4] if isinstance(raw, io.BufferedReader) else b""
        self._raw = raw
        self._read_bytes = 0
        kinds = {"gzip": self._gzip, "bzip2": self._bzip2, "zstandard": self._zstd, None: self._plain}
        self._next = kinds[_compression(head)]()

    def read(self) -> bytes:
        return next(self._next, b"")

    def count_consumed(self) -> int:
        return self._read_bytes

    def _input(self, size: int = CHUNK) -> bytes:
        data = self._raw.read(size)
        self._read_bytes += len(data)
        return data

    def _plain(self) -> Iterator[bytes]:
        while data := self._input():
            yield data

    def _gzip(self) -> Iterator[bytes]:
        member: zlib._Decompress | None = None
        while data := self._input(CHUNK // 4):
            while data:
                if member is None:
                    if not data.strip(b"\0"):
                        break  # padding after the last member, as tape archives leave it
                    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
                out = member.decompress(data, CHUNK)
                data = member.unused_data if member.eof else member.unconsumed_tail
                if out:
                    yield out
                if member.eof:
                    member = None
        if member is not None:
            raise _TruncatedError("the gzip stream has no end mark")

    def _bzip2(self) -> Iterator[bytes]:
        """What the streams hold, one after another, as dumps that can be read in pieces have them."""
        stream: bz2.BZ2Decompressor | None = None
        while data := self._input(CHUNK // 4):
            while data or (stream is not None and not stream.needs_input):
                if stream is None:
                    if not data.strip(b"\0"):
                        break
                    stream = bz2.BZ2Decompressor()
                try:
                    out = stream.decompress(data, CHUNK)
                except OSError as error:
                    raise _DamagedError(f"bzip2: {error}") from None
                data = stream.unused_data if stream.eof else b""
                if out:
                    yield out
                if stream.eof:
                    stream = None
        if stream is not None:
            raise _TruncatedError("the bzip2 stream has no end mark")

    def _zstd(self) -> Iterator[bytes]:
        """What the frames hold, gathered: they are decoded in small steps."""
        held, size = list[bytes](), 0
        try:
            for out in self._frames():
                held.append(out)
                size += len(out)
                if size >= CHUNK:
                    yield b"".join(held)
                    held, size = [], 0
        except _DAMAGES:
            if held:
                yield b"".join(held)
            raise
        if held:
            yield b"".join(held)

    def _frames(self) -> Iterator[bytes]:
        import zstandard

        frame = None
        while data := self._input(CHUNK // 4):
            at = 0
            while at < len(data):
                if frame is None:
                    frame = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()
                step = data[at : at + ZSTD_STEP]
                try:
                    out = frame.decompress(step)
                except zstandard.ZstdError as error:
                    raise _DamagedError(error) from None
                at += len(step) - len(frame.unused_data)
                if frame.eof:
                    frame = None
                if out:
                    yield out
        if frame is not None:
            raise _TruncatedError("the zstandard stream has no end mark")


def show_line(line: bytes) -> str:
    """The start of a raw line, fit for a message."""
    return quote(line[:SHOWN].decode("utf-8", "replace"), SHOWN)
