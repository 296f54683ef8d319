"""JSON files of any size in pieces: one object a line, an array of objects, or an array inside an object.

The place of the records is found once, at the head of a source: how many brackets enclose them. Then depth is counted
with arrays, outside of strings, and a source is cut behind a record. In a worker, `objects` gives the records of a
piece; one that cannot be read is a fault, and reading goes on at the next line that opens one. Knows nothing of what
records mean.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fader.corpus.documents import Faults
from fader.corpus.readers import display_name, read_chunks
from fader.errors import InputError
from fader.importers import inputs
from fader.importers.base import Batch
from fader.importers.faults import at
from fader.limits import Limits

UNREADABLE = "records that are not JSON"
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_MARK = b"\xef\xbb\xbf"
_RESUME = re.compile(r"\n[\s,]*(?=\{)")
_decoder = json.JSONDecoder()


def json_batches(sources: Sequence[str], faults: Faults, within: bytes = b"") -> Iterator[Batch]:
    """Pieces of JSON that end behind a record.

    `within` is a pattern of the keys whose array holds the records, as in `{"documents": [...]}`; without such a key,
    or with an array at the top, the outermost objects are the records. The place is the first byte's offset, from 0.
    """
    limit = Limits.from_environment().line_bytes
    for source in sources:
        cutter: _Cutter | None = None
        consumed, some = 0, False
        try:
            for chunk, consumed in read_chunks(source):
                if cutter is None:
                    cutter = _Cutter(*_level(chunk, within))
                some = True
                for place, piece in cutter.cut(chunk, inputs.PIECE):
                    yield Batch(display_name(source), place, piece, consumed)
                if len(cutter.held) > limit:
                    inputs._over(faults, source, cutter.place, b"end of a record")
                    break
        except InputError as error:
            inputs._cut(faults, source, error, some)
        if cutter is not None and len(cutter.held) <= limit and (rest := cutter.rest()).strip():
            yield Batch(display_name(source), cutter.place, rest, consumed)


def _level(head: bytes, within: bytes) -> tuple[int, int]:
    """How many brackets enclose a record, and where the array that holds them begins."""
    if head.removeprefix(_MARK).lstrip()[:1] == b"[":
        return 1, 0
    found = re.search(rb'"(?:' + within + rb')"\s*:\s*(?=\[\s*[{\]])', head[: 1 << 20]) if within else None
    if found is not None:
        before = _Cutter(0, 0)
        before.depths(head[: found.start()])
        if before.depth == 1:
            return 2, found.end()
    return 0, 0


class _Cutter:
    """Cuts a stream behind records at a depth of brackets."""

    def __init__(self, level: int, start: int) -> None:
        self._level = level
        self._start = start  # bytes before the records
        self.held = bytearray()
        self.place = 0
        self.depth = 0
        self._last = 0  # where the last record ends in what is held
        self._inside = 0  # 1: within a string
        self._escape = b""  # a backslash at the end of a chunk

    def cut(self, chunk: bytes, size: int) -> Iterator[tuple[int, bytes]]:
        """The pieces, with their places, that a further chunk completes."""
        ends = self.depths(chunk) + len(self.held)
        self.held += chunk
        if ends.size:
            self._last = int(ends[-1])
        if self._start:
            ends = ends[ends > self._start] - self._start
            self._drop(self._start)
            self._start = 0
        gone = 0
        while ends.size:
            k = int(np.searchsorted(ends, size + gone))
            if k >= ends.size:
                break
            end = int(ends[k]) - gone
            yield self.place, bytes(self.held[:end])
            self._drop(end)
            gone += end
            ends = ends[k + 1 :]

    def rest(self) -> bytes:
        """What is held at the end, without what follows the last record in a source that is whole."""
        return bytes(self.held[: self._last] if self.depth <= 0 else self.held)

    def _drop(self, size: int) -> None:
        del self.held[:size]
        self.place, self._last = self.place + size, max(0, self._last - size)

    def depths(self, chunk: bytes) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The offsets behind the records that end in a chunk."""
        plain = self._escape + chunk
        shift = len(self._escape)
        plain = _ESCAPE.sub(b"__", plain)
        self._escape = b"\\" if plain.endswith(b"\\") else b""
        codes = np.frombuffer(plain, dtype=np.uint8)
        inside = (np.cumsum(codes == ord('"'), dtype=np.int64) + self._inside) & 1
        steps = np.zeros(codes.size, dtype=np.int64)
        steps[(codes == ord("{")) | (codes == ord("["))] = 1
        steps[(codes == ord("}")) | (codes == ord("]"))] = -1
        steps[inside == 1] = 0
        depth = np.cumsum(steps) + self.depth
        ends = np.flatnonzero((codes == ord("}")) & (steps == -1) & (depth == self._level)) + 1 - shift
        if codes.size:
            self.depth, self._inside = int(depth[-1]), int(inside[-1])
        return ends


def objects(batch: Batch, faults: Faults) -> Iterator[tuple[str, Any]]:
    """The records of a piece, each with how a message about it begins; those that cannot be read are faults."""
    data = batch.payload.removeprefix(_MARK) if batch.place == 0 else batch.payload
    skipped = len(batch.payload) - len(data) + batch.place
    try:
        text, broken = data.decode("utf-8"), False
    except UnicodeDecodeError:
        text, broken = data.decode("latin-1"), True  # a character a byte: only to find where records begin and end
    position, before, offset = text.find("{"), 0, skipped
    while position >= 0:
        offset += position - before if broken else len(text[before:position].encode())
        before = position
        place = at(batch.source, offset, "byte")
        try:
            value, end = _decoder.raw_decode(text, position)
            if broken:
                value = json.loads(data[position:end].decode("utf-8"))
        except UnicodeDecodeError as error:
            faults.add("records that are not UTF-8", f"{place}: not UTF-8 at its byte {error.start + 1}; save as UTF-8")
        except (ValueError, RecursionError) as error:
            faults.add(UNREADABLE, f"{place}: {_why(error, position)}; mend it or get a whole copy")
            resumed = _RESUME.search(text, position)
            position = resumed.end() if resumed else -1
            continue
        else:
            yield place, value
        position = text.find("{", end)


def _why(error: Exception, start: int) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.removesuffix(' at')} at its character {error.pos - start + 1:,}"
    return "brackets are nested too deeply" if isinstance(error, RecursionError) else str(error)
