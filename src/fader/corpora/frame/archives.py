"""Archives as sources: the members of a tar file, of any compression, or of a zip file, in bounded memory.

Folders and links are no members; hidden ones are left out, as hidden files of folders are. An archive that is damaged
or cut short gives what it holds up to there, and a fault. Knows nothing of what members hold.
"""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, NamedTuple, cast

from fader.corpora.frame import inputs
from fader.corpora.frame.inputs import head
from fader.corpus.documents import Faults
from fader.corpus.readers import CHUNK, display_name, read_chunks
from fader.errors import InputError

TAR, ZIP = "tar", "zip"
LOCKED = "members that cannot be unpacked"
_BLOCK = 512  # bytes of the header of a member of a tar file
_STEP = 1 << 16
_DAMAGES = (InputError, tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError)
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # the second is of an empty one


class Member(NamedTuple):
    """A file in an archive: its name behind that of the archive, its bytes, and how much of the archive is before."""

    name: str
    chunks: Iterator[bytes]
    consumed: int


def archive_kind(source: str) -> str:
    """`tar` or `zip`, nothing if a source is neither; standard input is not looked at."""
    begin = head(source, _BLOCK)
    if begin.startswith(_ZIP):
        return ZIP
    try:
        tarfile.TarInfo.frombuf(begin, "utf-8", "surrogateescape")  # which checks the sum over the header
    except tarfile.HeaderError:
        return ""
    return TAR


def members(source: str, faults: Faults) -> Iterator[Member]:
    """The members of an archive, in its order; each is to be read before the next is asked for."""
    return _of_zip(source, faults) if archive_kind(source) == ZIP else _of_tar(source, faults)


def _of_tar(source: str, faults: Faults) -> Iterator[Member]:
    stream, name = _Stream(source), display_name(source)
    broken = _Broken(name, faults)
    try:
        with tarfile.open(fileobj=cast(IO[bytes], stream), mode="r|", bufsize=_STEP) as archive:
            while not broken.told and (info := archive.next()) is not None:
                archive.members.clear()  # type: ignore[attr-defined]  # which would grow with the archive
                file = archive.extractfile(info) if info.isreg() and not _hidden(info.name) else None
                if file is not None:
                    yield Member(f"{name}/{info.name}", _read(file, broken), stream.consumed)
            rest = archive.fileobj
            if not broken.told and rest and any(c.strip(b"\0") for c in iter(lambda: rest.read(CHUNK), b"")):
                broken.tell("a member has no header")
    except _DAMAGES as error:
        broken.tell(error)


def _of_zip(source: str, faults: Faults) -> Iterator[Member]:
    name = display_name(source)
    try:
        with zipfile.ZipFile(source) as archive:
            for info in archive.infolist():
                shown = f"{name}/{info.filename}"
                if info.is_dir() or _hidden(info.filename):
                    continue
                try:
                    file = archive.open(info)
                except (RuntimeError, NotImplementedError):
                    faults.add(LOCKED, f"{shown}: is encrypted, or packed in a rare way; unpack the archive yourself")
                except zipfile.BadZipFile as error:
                    _Broken(shown, faults).tell(error)
                else:
                    with file:
                        yield Member(shown, _read(file, _Broken(shown, faults)), info.header_offset)
    except zipfile.BadZipFile as error:
        _Broken(name, faults).tell(error)


class _Broken:
    """Tells that an archive is damaged, once."""

    def __init__(self, name: str, faults: Faults) -> None:
        self._name, self._faults = name, faults
        self.told = False

    def tell(self, error: object) -> None:
        """`error` is what was raised, or what is wrong."""
        if not self.told:
            self.told = True
            what = f"{self._name}: damaged or cut short ({error}); get a whole copy of the file"
            self._faults.add(inputs.CUT, str(error) if isinstance(error, InputError) else what)


def _read(file: IO[bytes], broken: _Broken) -> Iterator[bytes]:
    """The bytes of a member, as many as there are."""
    try:
        while chunk := file.read(CHUNK):
            yield chunk
    except _DAMAGES as error:
        broken.tell(error)


def _hidden(name: str) -> bool:
    return any(part.startswith(".") and part not in (".", "..") for part in name.split("/"))


class _Stream:
    """What a source holds, uncompressed, as a file that is read once."""

    def __init__(self, source: str) -> None:
        self._chunks = read_chunks(source)
        self._chunk, self._at = b"", 0
        self.consumed = 0

    def read(self, size: int) -> bytes:
        """At most so many bytes; none at the end."""
        if self._at >= len(self._chunk):
            self._chunk, self.consumed = next(self._chunks, (b"", self.consumed))
            self._at = 0
        self._at += size
        return self._chunk[self._at - size : self._at]
