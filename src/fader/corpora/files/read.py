"""Files to documents, whatever they are; what cannot be read is counted and named.

    for found in read_files(find_files(["notes"]).files, report, limits): found.file, found.documents

A document is a dictionary as a line of a corpus has it: `id`, `text`, `title`, and `spans` where a reader marks some.
Each file is read alone, so that what it gives depends on nothing else. Knows nothing of entities.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec

from fader.corpora.files import kinds, mail, plain, rows
from fader.corpora.files.apart import Apart
from fader.corpora.files.piece import DAMAGED, EMPTY, OVER, Piece, UnreadableError
from fader.corpora.files.walk import SourceFile
from fader.corpora.frame.archives import members
from fader.corpus.documents import Faults
from fader.corpus.readers import is_compressed, read_chunks
from fader.errors import InputError
from fader.limits import Limits
from fader.progress import Progress, Silent

ARCHIVES = 2  # archives in archives that are opened


@dataclass(slots=True)
class ReadReport:
    """How many files of each kind were read, how many documents they gave, and which gave none."""

    kinds: dict[str, int] = field(default_factory=dict)
    documents: int = 0
    faults: Faults = field(default_factory=Faults)

    @property
    def files(self) -> int:
        return sum(self.kinds.values())

    def describe(self) -> str:
        """For people: `read 12 files (7 text, 5 PDF): 14 documents`."""
        shown = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.kinds.items(), key=lambda k: -k[1]))
        few = f"{self.files:,} file{'' if self.files == 1 else 's'}"
        return f"{few}{f' ({shown})' if shown else ''}, {self.documents:,} document{'' if self.documents == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Found:
    """A file, its documents, and why there are none."""

    file: SourceFile
    documents: Iterator[dict[str, Any]]


def read_files(
    files: Iterable[SourceFile], report: ReadReport, limits: Limits, progress: Progress | None = None
) -> Iterator[Found]:
    """The documents of each file, to be read before the next is asked for."""
    reader = _Reader(report, limits)
    listed, shown = list(files), progress or Silent()
    try:
        for done, file in enumerate(listed, 1):
            yield Found(file, reader.read_source(file))
            shown.update(done, len(listed), f"{report.documents:,} documents")
    finally:
        reader.close()


class _Reader:
    """Reads files of all kinds."""

    def __init__(self, report: ReadReport, limits: Limits) -> None:
        self._report, self._limits = report, limits
        self._apart = Apart(limits)

    def close(self) -> None:
        self._apart.close()

    def read_source(self, file: SourceFile) -> Iterator[dict[str, Any]]:
        """The documents of a file that was found; a fault that is known already is counted."""
        if file.fault:
            self._report.faults.add(DAMAGED, f"{_printable(file.name)}: {file.fault}")
            return iter(())
        return self.read(file.path, file.name)

    def read(self, path: str, name: str, deep: int = ARCHIVES) -> Iterator[dict[str, Any]]:
        """The documents of a file; a fault ends it, and is counted."""
        said = _printable(name)
        try:
            head = self._head(path)
            kind = kinds.find_kind(path, name, head)
            if kind == kinds.ARCHIVE:
                yield from self._unpack(path, name, deep)
                return
            made = 0
            for piece in self._pieces(path, kind, head):
                if isinstance(piece, UnreadableError):
                    self._report.faults.add(piece.kind, f"{said}: {piece}")
                elif document := self._document(piece, name):
                    made += 1
                    self._report.documents += 1
                    yield document
            if made:
                self._report.kinds[kind] = self._report.kinds.get(kind, 0) + 1
        except UnreadableError as error:
            self._report.faults.add(error.kind, f"{said}: {error}")
        except InputError as error:
            self._report.faults.add(DAMAGED, str(error).replace(path, said, 1))
        except OSError as error:
            self._report.faults.add(DAMAGED, f"{said}: cannot be read: {error.strerror or error}")

    def _head(self, path: str) -> bytes:
        with closing(read_chunks(path)) as chunks:  # type: ignore[type-var]
            return next(chunks, (b"", 0))[0][: kinds.HEAD]

    def _pieces(self, path: str, kind: str, head: bytes) -> Iterator[Piece | UnreadableError]:
        if kind in (kinds.PDF, kinds.DOCX):
            with self._plain_file(path) as file:
                yield from self._apart.read(kind, file)
        elif kind == kinds.MBOX:
            with self._plain_file(path) as file:
                yield from mail.read_mailbox(file)
        elif kind == kinds.PARQUET:
            with self._plain_file(path) as file:
                yield from rows.read_parquet(file)
        elif kind == kinds.TABLE:
            yield from rows.read_table(path, self._limits)
        elif kind == kinds.JSON:
            yield from rows.read_json(path, head, self._limits)
        else:
            readers = {kinds.HTML: plain.read_page, kinds.MARKDOWN: plain.read_markdown, kinds.MAIL: mail.read_mail}
            # A text that is over the limit on characters whatever they are need not be unpacked.
            most = 4 * self._limits.document_characters if kind in (kinds.TEXT, kinds.MARKDOWN) else None
            try:
                yield readers.get(kind, plain.read_text)(self._whole(path, most))
            except RecursionError:
                raise UnreadableError(DAMAGED, "is nested too deeply") from None

    def _document(self, piece: Piece, name: str) -> dict[str, Any] | None:
        """The line of a corpus that a piece is; none, and a fault, where it is empty or over a limit."""
        identity = piece.id or f"{name}{piece.suffix}"
        if not piece.text.strip():
            self._report.faults.add(EMPTY, f"{_printable(identity)}: has no text")
            return None
        for what, size, limit in (
            ("a text", len(piece.text), "document_characters"),
            ("an id", len(identity), "id_characters"),
            ("a title", len(piece.title), "name_characters"),
        ):
            if size > getattr(self._limits, limit):
                has = f"{_printable(identity[:200])}: {what} of {size:,} characters"
                self._report.faults.add(OVER, f"{has}; {self._limits.at_most(limit)}")
                return None
        document = {"id": identity, "text": piece.text, "title": piece.title or _title(name, piece.suffix)}
        if piece.spans:
            document["spans"] = msgspec.to_builtins(piece.spans)
        return document | {key: value for key, value in piece.fields.items() if key not in document}

    def _whole(self, path: str, most: int | None = None) -> bytes:
        return b"".join(self._bounded((chunk for chunk, _consumed in read_chunks(path)), most))

    def _bounded(self, chunks: Iterable[bytes], most: int | None = None) -> Iterator[bytes]:
        """Chunks of a file, no more than its limit, nor than `most` bytes of a text."""
        size = 0
        for chunk in chunks:
            size += len(chunk)
            if size > self._limits.file_bytes:
                raise UnreadableError(OVER, f"holds more bytes than {self._limits.at_most('file_bytes')}")
            if most is not None and size > most:
                reason = f"a text of more than {most:,} bytes; {self._limits.at_most('document_characters')}"
                raise UnreadableError(OVER, reason)
            yield chunk

    @contextmanager
    def _plain_file(self, path: str) -> Iterator[str]:
        """The file itself where it is not compressed, else a copy that is not."""
        with open(path, "rb") as file:
            compressed = is_compressed(file.read(4))
        if compressed:
            with self._copy(chunk for chunk, _consumed in read_chunks(path)) as copy:
                yield copy
            return
        yield path

    @contextmanager
    def _copy(self, chunks: Iterable[bytes]) -> Iterator[str]:
        handle, copy = tempfile.mkstemp(prefix="fader-")
        try:
            with open(handle, "wb") as file:
                file.writelines(self._bounded(chunks))
            yield copy
        finally:
            os.unlink(copy)

    def _unpack(self, path: str, name: str, deep: int) -> Iterator[dict[str, Any]]:
        """The documents of an archive's members, each a file of its own."""
        if not deep:
            raise UnreadableError(OVER, f"is an archive {ARCHIVES} archives deep; unpack it")
        before, is_empty = self._report.faults.total, True
        with self._plain_file(path) as plain_path:
            for member in members(plain_path, self._report.faults):
                is_empty = False
                shown = f"{name}/{os.path.relpath(member.name, plain_path)}"
                try:
                    with self._copy(member.chunks) as copy:
                        yield from self.read(copy, shown, deep - 1)
                except UnreadableError as error:
                    self._report.faults.add(error.kind, f"{_printable(shown)}: {error}")
        if is_empty and self._report.faults.total == before:
            raise UnreadableError(EMPTY, "is an archive without files")


def _printable(name: str) -> str:
    """A name for a message, without control characters."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def _title(name: str, suffix: str) -> str:
    return os.path.basename(name) + suffix
