"""JSON files of any size in pieces: one object per line, an array of objects, an array inside an object, or an object
of arrays.

How records are enclosed is seen once, at the head of a source. Then depth is counted with arrays, outside of strings,
and a source is cut behind a record; where records are lines, before a line that opens one, so that a broken line costs
no other. A string ends at the end of its line at the latest, for JSON has no line ends in strings. In a worker,
`read_objects` gives the records of a piece; one that cannot be read is a fault, and reading goes on at the next line
that opens one. What stands between records and belongs to none is a fault too. Knows nothing of what records mean.

Why by hand: decoders want the whole file (`json.load` reads 158 MB a second, and holds all of it), so that neither
memory would be bounded nor work shared among processes. The cutter alone scans 29 MB a second, in the parent process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fader.corpora.frame import inputs
from fader.corpora.frame.base import Batch
from fader.corpora.frame.faults import at
from fader.corpus.documents import Faults
from fader.corpus.readers import display_name, read_chunks
from fader.errors import InputError, quote
from fader.limits import Limits

UNREADABLE = "records that are not JSON"
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_MARK = b"\xef\xbb\xbf"
_RESUME = re.compile(r"\n[\s,]*(?=\{)")
_LINE = re.compile(rb"\n(?=\{)")
_KEYED = re.compile(rb'\{\s*"(?:[^"\\\n]|\\.)*"\s*:\s*\[\s*[\[\]]')
_decoder = json.JSONDecoder()


class _Shape(NamedTuple):
    """How a source holds its records: what ends one, at which depth of brackets, and where the first may begin."""

    ends: int
    level: int
    start: int = 0


_OBJECTS, _ARRAYS, _LINES = ord("}"), ord("]"), ord("\n")


def cut_json(sources: Sequence[str], faults: Faults, within: bytes = b"", keyed: bool = False) -> Iterator[Batch]:
    """Pieces of JSON that end behind a record.

    `within` is a pattern of the keys whose array holds the records, as in `{"documents": [...]}`; without such a key,
    or with an array at the top, the outermost objects are the records. With `keyed`, an object of arrays that takes
    more than a line is cut behind its arrays, each piece being an object again. The place is the first byte's offset,
    from 0.
    """
    for source in sources:
        chunks = _Chunks(source, faults)
        for place, piece in cut_json_pieces(chunks, partial(inputs.report_excess, faults, source), within, keyed):
            yield Batch(display_name(source), place, piece, chunks.consumed)


def cut_json_pieces(
    chunks: Iterable[bytes], over: Callable[[int, bytes], None], within: bytes = b"", keyed: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Cut a stream of bytes the same way, with places; `over` gets the place of a record over the limit."""
    limit = Limits.from_environment().line_bytes
    cutter: _Cutter | None = None
    for chunk in chunks:
        if cutter is None:
            cutter = _Cutter(_find_shape(chunk, within, keyed))
        for place, piece in cutter.cut(chunk, inputs.PIECE):
            yield place, cutter.close_piece(piece)
        if len(cutter.held) > limit:
            over(cutter.place, b"end of a record")
            return
    if cutter is not None:
        yield from cutter.rest()


class _Chunks:
    """The bytes of a source, up to where it is damaged, and how much of the file has been read."""

    def __init__(self, source: str, faults: Faults) -> None:
        self._source, self._faults = source, faults
        self.consumed = 0

    def __iter__(self) -> Iterator[bytes]:
        some = False
        try:
            for chunk, consumed in read_chunks(self._source):
                self.consumed, some = consumed, True
                yield chunk
        except InputError as error:
            inputs.report_cut(self._faults, self._source, error, some)


def _find_shape(head: bytes, within: bytes, keyed: bool) -> _Shape:
    """How records are enclosed, by the first bytes of a source."""
    begin = head.removeprefix(_MARK).lstrip()
    if begin[:1] == b"[":
        return _Shape(_OBJECTS, 1)
    line, _end, more = begin.partition(b"\n")
    try:
        lines = isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        lines = False
    if lines and more.lstrip()[:1] == b"{":
        return _Shape(_LINES, 0)
    found = re.search(rb'"(?:' + within + rb')"\s*:\s*(?=\[\s*[{\]])', head[: 1 << 20]) if within else None
    if found is not None:
        before = _Cutter(_Shape(_OBJECTS, 0))
        before.depths(head[: found.start()])
        if before.depth == 1:
            return _Shape(_OBJECTS, 2, found.end())
    if lines:
        return _Shape(_LINES, 0)
    return _Shape(_ARRAYS, 1) if keyed and _KEYED.match(begin) else _Shape(_OBJECTS, 0)


class _Cutter:
    """Cuts a stream behind records at a depth of brackets."""

    def __init__(self, shape: _Shape) -> None:
        self._ends, self._level = shape.ends, shape.level
        self._start = shape.start  # bytes before the records
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

    def rest(self) -> Iterator[tuple[int, bytes]]:
        """What is held at the end, without what follows the last record in a source that is whole."""
        place, last = self.place, self._last
        whole, more = bytes(self.held[:last]), bytes(self.held[last:])
        if self._ends == _LINES or (self.depth > 0 and self._ends == _OBJECTS):
            whole, more = bytes(self.held), b""
        if whole.strip():
            yield place, self.close_piece(whole)
        if more.strip() and (self.depth > 0 or (self._level < 2 and self._ends == _OBJECTS)):
            yield place + last, more

    def close_piece(self, piece: bytes) -> bytes:
        """A piece that can be read by itself: one of an object of arrays becomes an object."""
        if self._ends != _ARRAYS:
            return piece
        return (piece.replace(b",", b"{", 1) if piece.lstrip()[:1] == b"," else piece) + b"}"

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
        if self._ends == _LINES:
            return np.array([found.start() + 1 - shift for found in _LINE.finditer(plain)], dtype=np.int64)
        # Whether a byte is in a string: how many quotation marks are before it on its line, even or odd.
        marks = np.cumsum(codes == ord('"'), dtype=np.int64) + self._inside
        before = np.where(codes == _LINES, marks, 0)
        inside = (marks - np.maximum.accumulate(before)) & 1
        steps = np.zeros(codes.size, dtype=np.int64)
        steps[(codes == ord("{")) | (codes == ord("["))] = 1
        steps[(codes == ord("}")) | (codes == ord("]"))] = -1
        steps[inside == 1] = 0
        depth = np.cumsum(steps) + self.depth
        ends = np.flatnonzero((codes == self._ends) & (steps == -1) & (depth == self._level)) + 1 - shift
        if codes.size:
            self.depth, self._inside = int(depth[-1]), int(inside[-1])
        return ends


def read_objects(batch: Batch, faults: Faults) -> Iterator[tuple[str, Any]]:
    """The records of a piece, each with how a message about it begins; those that cannot be read are faults."""
    piece = _JsonPiece(batch, faults)
    position = 0
    while (start := piece.text.find("{", position)) >= 0:
        piece.check(position, start)
        place, (value, end) = piece.place(start), piece.value(start)
        if value is not None:
            yield place, value
        position = end
    piece.check(position, len(piece.text))


class _JsonPiece:
    """The text of a piece, and the places of its characters in the source."""

    def __init__(self, batch: Batch, faults: Faults) -> None:
        self._data = batch.payload.removeprefix(_MARK) if batch.place == 0 else batch.payload
        self._source, self._faults = batch.source, faults
        try:
            self.text, self._broken = self._data.decode("utf-8"), False
        except UnicodeDecodeError:  # a character a byte: only to find where records begin and end
            self.text, self._broken = self._data.decode("latin-1"), True
        self._character, self._byte = 0, batch.place + len(batch.payload) - len(self._data)

    def place(self, position: int) -> str:
        """How a message about a position begins; positions must not decrease."""
        passed = self.text[self._character : position]
        self._byte += len(passed) if self._broken else len(passed.encode())
        self._character = position
        return at(self._source, self._byte, "byte")

    def value(self, start: int) -> tuple[Any, int]:
        """The object that begins at a position, None and a fault if it cannot be read; where to go on."""
        try:
            value, end = _decoder.raw_decode(self.text, start)
        except (ValueError, RecursionError) as error:
            why = "brackets are nested too deeply" if isinstance(error, RecursionError) else str(error)
            if isinstance(error, json.JSONDecodeError):
                why = f"{error.msg.removesuffix(' at')} at its character {error.pos - start + 1:,}"
            self._faults.add(UNREADABLE, f"{self.place(start)}: {why}; correct it, or get a whole copy")
            resumed = _RESUME.search(self.text, start)
            return None, resumed.end() if resumed else len(self.text)
        if not self._broken:
            return value, end
        try:
            return json.loads(self._data[start:end].decode("utf-8")), end
        except UnicodeDecodeError as error:
            what = f"not UTF-8 at its byte {error.start + 1}; save as UTF-8"
            self._faults.add("records that are not UTF-8", f"{self.place(start)}: {what}")
            return None, end

    def check(self, start: int, end: int) -> None:
        """Between records there are commas, and around them brackets; the rest is a fault."""
        stray = self.text[start:end].strip(" \t\r\n,[]")
        if stray:
            what = f"expected an object in braces, not {quote(stray, 40)}; give JSON, or one object per line"
            self._faults.add(UNREADABLE, f"{self.place(self.text.index(stray, start))}: {what}")
