"""Lines of text files, plain, gzip or zstandard, or standard input, in bounded memory.

A damaged or cut file gives a clear error that names the last whole line before the damage.
Knows nothing of what the lines mean.
"""

from __future__ import annotations

import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO

from fader.errors import InputError, quoted

CHUNK = 1 << 22
ZSTD_INPUT = 1 << 13  # small, because a frame's pieces cannot be limited in what they expand to


def display_name(path: str | Path) -> str:
    """The name by which messages call the file."""
    return "<stdin>" if str(path) == "-" else str(path)


def read_batches(path: str | Path) -> Iterator[tuple[int, list[bytes], int]]:
    """Yield `(number of the first line, lines without their ends, compressed bytes read so far)`."""
    first, rest = 1, b""
    try:
        for chunk, consumed in _chunks(path):
            parts = (rest + chunk).split(b"\n")
            rest = parts.pop()
            if parts:
                yield first, parts, consumed
                first += len(parts)
    except (_TruncatedError, zlib.error, _zstd_error()) as error:
        at = f"{display_name(path)}: damaged or cut short after line {first - 1}"
        raise InputError(f"{at} ({error}); get a whole copy of the file") from None
    if rest:
        yield first, [rest], file_size(path)


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield `(line number, text)`; text that is not UTF-8 is an error with the line's number."""
    for first, lines, _consumed in read_batches(path):
        for number, line in enumerate(lines, first):
            if number == 1 and line.startswith(b"\xef\xbb\xbf"):
                line = line[3:]
            try:
                yield number, line.decode("utf-8").rstrip("\r")
            except UnicodeDecodeError as error:
                message = f"{display_name(path)}:{number}: not UTF-8 at byte {error.start + 1}"
                raise InputError(f"{message}; save the file as UTF-8") from None


def check_readable(source: object) -> None:
    """Refuse at once a path that cannot be read; anything else than a path is left to its reader."""
    if isinstance(source, str | Path) and str(source) != "-":
        with _named_errors(display_name(source)):
            if not stat.S_ISFIFO(os.stat(source).st_mode):  # a pipe can be opened only once
                open(source, "rb").close()


@contextmanager
def _named_errors(name: str) -> Iterator[None]:
    """System errors in the project's words."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{name}: no such file; check the path") from None
    except IsADirectoryError:
        raise InputError(f"{name}: is a folder; give a file") from None
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from None


def file_size(path: str | Path) -> int:
    """Bytes of the file as it lies on disk; 0 for standard input."""
    return 0 if str(path) == "-" else os.path.getsize(path)


def _chunks(path: str | Path) -> Iterator[tuple[bytes, int]]:
    """Decompressed chunks with the count of raw bytes read."""
    with _named_errors(display_name(path)), _open_raw(path) as raw:
        stream = _Decompressed(raw)
        while chunk := stream.read():
            yield chunk, stream.consumed()


def _open_raw(path: str | Path) -> AbstractContextManager[BinaryIO]:
    if str(path) == "-":
        return nullcontext(sys.stdin.buffer)
    return open(path, "rb")


class _TruncatedError(Exception):
    """A compressed stream that ends before its end mark."""


def _zstd_error() -> type[Exception]:
    import zstandard

    return zstandard.ZstdError


class _Decompressed:
    """A stream that undoes gzip or zstandard, recognised by content, never by file name."""

    def __init__(self, raw: BinaryIO) -> None:
        head = raw.peek(4)[:4] if isinstance(raw, io.BufferedReader) else b""
        skippable = head[1:] == b"\x2a\x4d\x18" and head[0] & 0xF0 == 0x50
        self._raw = raw
        self._read_bytes = 0
        if head[:2] == b"\x1f\x8b":
            self._next = self._gzip()
        elif head == b"\x28\xb5\x2f\xfd" or skippable:
            self._next = self._zstd()
        else:
            self._next = self._plain()

    def read(self) -> bytes:
        return next(self._next, b"")

    def consumed(self) -> int:
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

    def _zstd(self) -> Iterator[bytes]:
        import zstandard

        frame = None
        while data := self._input(ZSTD_INPUT):
            while data:
                if frame is None:
                    frame = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()
                out = frame.decompress(data)
                data = frame.unused_data
                if out:
                    yield out
                if frame.eof:
                    frame = None
                else:
                    break
        if frame is not None:
            raise _TruncatedError("the zstandard stream has no end mark")


def shown_line(line: bytes) -> str:
    """The start of a raw line, fit for a message."""
    return quoted(line[:60].decode("utf-8", "replace"), 60)
