"""The container every file of an index is: plain arrays, a table of contents, a checksum footer.

    file   := array* toc footer
    array  := elements, little-endian, padded with zeros to a multiple of 64 bytes
    toc    := JSON {"kind": str, "arrays": {name: [dtype, length, offset]}, "sums": {name: xxh3(array)}, "meta": {...}}
    footer := magic[8] version:u32 0:u32 toc_offset:u64 toc_length:u64 file_length:u64
              xxh3(arrays):u64 xxh3(toc):u64 xxh3(the footer so far):u64          (64 bytes)

Opening checks the footer, the types in the table of contents and that every array lies inside the file, so that a
hostile or cut file can never make a map larger than itself. An array is compared with its checksum when it is first
used, so that nothing is answered from a damaged one. Only what carries checksums of its own (`slice`) is read without.
A file without sums, as before version 5, is read through when it is opened. `verify` compares the whole.
Files are written once, synced, and never changed. Knows nothing of what the arrays mean.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import stat
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import xxhash
from msgspec import Meta, Struct
from numpy.typing import NDArray

from fader.errors import DamagedError, StorageError, VersionError
from fader.jobs.files import sync_and_close

VERSION = 5  # what is written
OLDEST = 1  # what is still read
WITH_NAMES = 3  # from here on a catalog stores labels and their words for completion
WITH_FRAMES = 4  # from here on texts stand in small frames, with samples of their tokens
MAGIC = b"FADERIDX"
ALIGN = 64
_FOOTER = struct.Struct("<8sIIQQQQQQ")
_DTYPES = {"u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"}
Array = NDArray[Any]
Count = Annotated[int, Meta(ge=0, lt=1 << 40)]
Checksum = Annotated[str, Meta(pattern=r"\A[0-9a-f]{16}\Z")]


class FileEntry(Struct, frozen=True):
    """What a manifest says of a file: its size and the checksum of its footer."""

    bytes: Count
    xxh3: Checksum


class FileWriter:
    """Writes one container; nothing is valid until `close` has put the footer and synced."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path = path
        self._kind = kind
        self._file = open(path, "xb")  # noqa: SIM115  closed by close() or abort()
        self._sum, self._array_sum = xxhash.xxh3_64(), xxhash.xxh3_64()
        self._at = 0
        self._sums: dict[str, str] = {}
        self._arrays: dict[str, tuple[str, int, int]] = {}
        self._open: tuple[str, np.dtype[Any], int] | None = None
        self.meta: dict[str, Any] = {}

    def array(self, name: str, values: Array) -> None:
        """Write one whole array."""
        self.begin(name, values.dtype)
        self.append(values)
        self.end()

    def begin(self, name: str, dtype: np.dtype[Any] | type) -> None:
        """Open an array that is written in pieces."""
        self._open = (name, np.dtype(dtype).newbyteorder("<"), self._at)
        self._array_sum.reset()

    def append(self, values: Array | bytes) -> None:
        """The next piece of the open array."""
        assert self._open is not None
        if isinstance(values, np.ndarray):
            data = np.ascontiguousarray(values, dtype=self._open[1]).tobytes()
        else:
            data = values
        self._write(data)
        self._array_sum.update(data)

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._sum.update(data)
        self._at += len(data)

    def end(self) -> None:
        """Close the open array and pad it."""
        assert self._open is not None
        name, dtype, start = self._open
        self._arrays[name] = (dtype.str[1:], (self._at - start) // dtype.itemsize, start)
        self._sums[name] = self._array_sum.hexdigest()
        self._write(b"\0" * (-self._at % ALIGN))
        self._open = None

    def close(self) -> FileEntry:
        """Finish and sync the file; returns its entry for the manifest."""
        contents = {"kind": self._kind, "arrays": self._arrays, "sums": self._sums, "meta": self.meta}
        toc = json.dumps(contents).encode()
        length = self._at + len(toc) + _FOOTER.size
        sums = (self._sum.intdigest(), xxhash.xxh3_64_intdigest(toc))
        head = _FOOTER.pack(MAGIC, VERSION, 0, self._at, len(toc), length, *sums, 0)[:-8]
        footer = head + struct.pack("<Q", xxhash.xxh3_64_intdigest(head))
        self._file.write(toc + footer)
        sync_and_close(self._file)
        return FileEntry(length, f"{xxhash.xxh3_64_intdigest(footer):016x}")

    def abort(self) -> None:
        """Leave the file as it is; the caller removes the folder."""
        self._file.close()


@contextmanager
def writing(path: Path, kind: str) -> Iterator[FileWriter]:
    """A writer whose file handle is released whatever happens."""
    writer = FileWriter(path, kind)
    try:
        yield writer
    finally:
        writer.abort()


class Container:
    """A mapped file: its arrays by name, read-only."""

    def __init__(self, path: Path, kind: str, expected: FileEntry | None = None) -> None:
        self.path = path
        self._map = _map_file(path)
        self.version, self._data_end, self._data_sum = _read_footer(path, self._map)
        if expected is not None:
            _check_expected(path, self._map, expected)
        toc = self._read_toc(kind)
        self.meta: dict[str, Any] = toc["meta"]
        self._places: dict[str, tuple[str, int, int]] = toc["arrays"]
        self._sums: dict[str, str] | None = toc.get("sums")
        self._arrays: dict[str, Array] = {}
        if self._sums is None:
            self.verify()

    def _read_toc(self, kind: str) -> dict[str, Any]:
        try:
            toc = json.loads(self._map[self._data_end : len(self._map) - _FOOTER.size].decode("utf-8"))
        except (ValueError, RecursionError):
            raise DamagedError(f"{self.path}: its table of contents is no JSON that can be read") from None
        if not isinstance(toc, dict) or not all(isinstance(toc.get(key), dict) for key in ("arrays", "meta")):
            raise DamagedError(f"{self.path}: its table of contents lacks arrays or values")
        if toc.get("kind") != kind:
            raise DamagedError(f"{self.path}: holds {toc.get('kind')!r} where {kind!r} was expected")
        for name, place in toc["arrays"].items():
            if not _lies_inside(place, self._data_end):
                raise DamagedError(f"{self.path}: array {name!r} does not lie inside the file")
        if "sums" in toc and not _are_sums(toc["sums"], toc["arrays"]):
            raise DamagedError(f"{self.path}: the checksums of arrays in its table of contents are of no kind")
        return toc

    def _place(self, name: str) -> tuple[str, int, int]:
        if name not in self._places:
            raise DamagedError(f"{self.path}: array {name!r} is missing")
        return self._places[name]

    def __getitem__(self, name: str) -> Array:
        found = self._arrays.get(name)
        if found is None:
            dtype, length, offset = self._place(name)
            found = np.frombuffer(self._map, dtype="<" + dtype, count=length, offset=offset)
            if self._sums is not None and xxhash.xxh3_64_hexdigest(found.view(np.uint8).data) != self._sums[name]:
                raise self._mismatch(f"array {name!r}: ")
            self._arrays[name] = found
        return found

    def sizes(self) -> dict[str, int]:
        """Bytes of each array."""
        return {name: np.dtype(dtype).itemsize * length for name, (dtype, length, _at) in self._places.items()}

    def slice(self, name: str, start: int, end: int) -> bytes:
        """Bytes [start, end) of a byte array, which is compared with its checksum only where it was asked for before.

        For arrays that carry checksums of their own.
        """
        _dtype, length, offset = self._place(name)
        if not 0 <= start <= end <= length:
            raise DamagedError(f"{self.path}: bytes {start}-{end} lie outside array {name!r}")
        return self._map[offset + start : offset + end]

    def slices(self, name: str, starts: Sequence[int], ends: Sequence[int]) -> list[bytes]:
        """The same for several pieces."""
        _dtype, length, offset = self._place(name)
        for start, end in zip(starts, ends, strict=True):
            if not 0 <= start <= end <= length:
                raise DamagedError(f"{self.path}: bytes {start}-{end} lie outside array {name!r}")
        whole = self._map
        return [whole[offset + start : offset + end] for start, end in zip(starts, ends, strict=True)]

    def verify(self) -> None:
        """Compare the arrays' checksum with the footer's."""
        with memoryview(self._map) as view, view[: self._data_end] as data:
            if xxhash.xxh3_64_intdigest(data) != self._data_sum:
                raise self._mismatch("")

    def _mismatch(self, where: str) -> DamagedError:
        remedy = "the file is damaged: restore it or rebuild"
        return DamagedError(f"{self.path}: {where}checksum does not match; {remedy}")


def _lies_inside(place: object, end: int) -> bool:
    """Whether a place in a table of contents is that of a plain, aligned array before `end`."""
    if not isinstance(place, list) or len(place) != 3:
        return False
    dtype, length, offset = place
    if not isinstance(dtype, str) or dtype not in _DTYPES or type(length) is not int or type(offset) is not int:
        return False
    return min(length, offset) >= 0 and offset % ALIGN == 0 and offset + length * np.dtype(dtype).itemsize <= end


def _are_sums(sums: object, arrays: dict[str, Any]) -> bool:
    """Whether a table of contents has a checksum of each array."""
    return isinstance(sums, dict) and sums.keys() == arrays.keys() and all(isinstance(v, str) for v in sums.values())


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting: what is a pipe and no file must not hold the reader up."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _map_file(path: Path) -> mmap.mmap:
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise DamagedError(f"{path}: is no plain file; restore it or rebuild")
            if status.st_size < _FOOTER.size:
                raise DamagedError(f"{path}: too short to be a file of an index; it was cut")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise DamagedError(f"{path}: missing; the index is not whole: restore the file or rebuild") from None
    except OSError as error:
        remedy = "; allow more open files (ulimit -n)" if error.errno == errno.EMFILE else ""
        raise StorageError(f"{path}: cannot be read: {error.strerror}{remedy}") from None


def check_version(path: Path, version: object) -> None:
    """Refuse a format that this release does not read."""
    if isinstance(version, bool) or not isinstance(version, int) or not OLDEST <= version <= VERSION:
        reads = f"this release reads {OLDEST} to {VERSION}"
        raise VersionError(f"{path}: format version {version}; {reads}; rebuild the index")


def _read_footer(path: Path, data: mmap.mmap) -> tuple[int, int, int]:
    """The format's version, where the arrays end, and their checksum."""
    raw = data[-_FOOTER.size :]
    magic, version, zero, toc_at, toc_length, length, data_sum, toc_sum, own_sum = _FOOTER.unpack(raw)
    if magic != MAGIC or own_sum != xxhash.xxh3_64_intdigest(raw[:-8]):
        raise DamagedError(f"{path}: its footer is damaged, or it was cut or extended")
    check_version(path, version)
    if length != len(data) or toc_at + toc_length + _FOOTER.size != length or zero:
        raise DamagedError(f"{path}: {len(data)} bytes where {length} were written")
    if xxhash.xxh3_64_intdigest(data[toc_at : toc_at + toc_length]) != toc_sum:
        raise DamagedError(f"{path}: its table of contents is damaged")
    return version, toc_at, data_sum


def _check_expected(path: Path, data: mmap.mmap, expected: FileEntry) -> None:
    own = f"{xxhash.xxh3_64_intdigest(data[-_FOOTER.size :]):016x}"
    if len(data) != expected.bytes or own != expected.xxh3:
        raise DamagedError(f"{path}: is not the file that the commit names; restore it or rebuild")
